// A ZIP archive of uncompressed files, for downloading several files in one.

export interface ZipEntry {
  name: string;
  content: Uint8Array;
  time: Date;
}

const table = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (table[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

/** A safe file name: it cannot leave the folder into which the archive is unpacked. */
export function safe_name(name: string): string {
  const parts = name
    .split(/[/\\]/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no name of a file should hold them
    .map((part) => part.replace(/[\u0000-\u001f\u007f:*?"<>|]/g, "_").trim())
    .filter((part) => part !== "" && part !== "." && part !== "..");
  return parts.join("/") || "unnamed";
}

/** The second of the same name is "a (2).txt". */
export function unique_names(names: string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    const dot = name.lastIndexOf(".");
    const at = dot > name.lastIndexOf("/") + 1 ? dot : name.length;
    let free = name;
    for (let count = 2; used.has(free.toLowerCase()); count++)
      free = `${name.slice(0, at)} (${count})${name.slice(at)}`;
    used.add(free.toLowerCase());
    return free;
  });
}

function dos_time(time: Date): number {
  const date =
    ((Math.max(1980, time.getUTCFullYear()) - 1980) << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate();
  const clock = (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1);
  return ((date << 16) | clock) >>> 0;
}

/** The fields that the entry's header and its directory entry share. */
function common(entry: ZipEntry, name: Uint8Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(26));
  view.setUint16(0, 20, true); // version that can read it
  view.setUint16(2, 0x0800, true); // names are UTF-8
  view.setUint32(6, dos_time(entry.time), true);
  view.setUint32(10, crc32(entry.content), true);
  view.setUint32(14, entry.content.length, true);
  view.setUint32(18, entry.content.length, true);
  view.setUint16(22, name.length, true);
  return new Uint8Array(view.buffer);
}

function number(value: number, bytes: 2 | 4): Uint8Array {
  const view = new DataView(new ArrayBuffer(bytes));
  if (bytes === 2) view.setUint16(0, value, true);
  else view.setUint32(0, value, true);
  return new Uint8Array(view.buffer);
}

/** For less than 4 GiB and 65,535 entries. */
export function zip(entries: ZipEntry[]): Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = new TextEncoder().encode(entry.name);
    const shared = common(entry, name);
    const local = [number(0x04034b50, 4), shared, name, entry.content];
    directory.push(number(0x02014b50, 4), number(20, 2), shared, new Uint8Array(10), number(offset, 4), name);
    parts.push(...local);
    offset += local.reduce((sum, part) => sum + part.length, 0);
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = [number(0x06054b50, 4), new Uint8Array(4), number(entries.length, 2), number(entries.length, 2)];
  return [
    ...parts,
    ...directory,
    ...end,
    number(size, 4),
    number(offset, 4),
    number(0, 2),
  ] as Uint8Array<ArrayBuffer>[];
}
