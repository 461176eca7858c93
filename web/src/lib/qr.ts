// QR codes (ISO/IEC 18004) for short texts: byte mode, error correction level L, versions 1 to 20. Pure.

/** Per version 1 to 20 at level L: error correction bytes of a block, and number of blocks. */
const correction_bytes = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28];
const block_counts = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8];

const bit = (value: number, at: number) => ((value >>> at) & 1) === 1;

/** Multiplication in the field of 256 elements with the polynomial 0x11d. */
function multiply(x: number, y: number): number {
  let product = 0;
  for (let at = 7; at >= 0; at--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    if (bit(y, at)) product ^= x;
  }
  return product;
}

/** The remainder of the data by the generator polynomial of this degree: its error correction bytes. */
function correction(data: number[], degree: number): number[] {
  const generator = new Array<number>(degree).fill(0);
  generator[degree - 1] = 1;
  let root = 1;
  for (let i = 0; i < degree; i++) {
    for (let at = 0; at < degree; at++) {
      generator[at] = multiply(generator[at] ?? 0, root) ^ (at + 1 < degree ? (generator[at + 1] ?? 0) : 0);
    }
    root = multiply(root, 2);
  }
  const rest = new Array<number>(degree).fill(0);
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0);
    rest.push(0);
    for (let at = 0; at < degree; at++) rest[at] = (rest[at] ?? 0) ^ multiply(generator[at] ?? 0, factor);
  }
  return rest;
}

/** Modules that carry data and error correction. */
function raw_modules(version: number): number {
  let modules = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const aligned = Math.floor(version / 7) + 2;
    modules -= (25 * aligned - 10) * aligned - 55;
    if (version >= 7) modules -= 36;
  }
  return modules;
}

function data_bytes(version: number): number {
  return Math.floor(raw_modules(version) / 8) - (correction_bytes[version - 1] ?? 0) * (block_counts[version - 1] ?? 0);
}

/** The data with its header and padding. */
function padded(bytes: Uint8Array, version: number): number[] {
  const bits: boolean[] = [];
  const add = (value: number, length: number) => {
    for (let at = length - 1; at >= 0; at--) bits.push(bit(value, at));
  };
  add(4, 4); // byte mode
  add(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) add(byte, 8);
  const capacity = data_bytes(version) * 8;
  add(0, Math.min(4, capacity - bits.length));
  add(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < capacity; pad ^= 0xec ^ 0x11) add(pad, 8);
  const data: number[] = [];
  for (let at = 0; at < bits.length; at += 8) {
    data.push(bits.slice(at, at + 8).reduce((value, one) => value * 2 + (one ? 1 : 0), 0));
  }
  return data;
}

/** The blocks with their error correction, interleaved. */
function interleaved(data: number[], version: number): number[] {
  const count = block_counts[version - 1] ?? 1;
  const degree = correction_bytes[version - 1] ?? 0;
  const total = Math.floor(raw_modules(version) / 8);
  const short_blocks = count - (total % count);
  const short_length = Math.floor(total / count) - degree;
  const blocks: { data: number[]; correction: number[] }[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const part = data.slice(at, at + short_length + (i < short_blocks ? 0 : 1));
    at += part.length;
    blocks.push({ data: part, correction: correction(part, degree) });
  }
  const all: number[] = [];
  for (let i = 0; i <= short_length; i++) {
    for (const block of blocks) {
      const byte = block.data[i];
      if (byte !== undefined) all.push(byte);
    }
  }
  for (let i = 0; i < degree; i++) for (const block of blocks) all.push(block.correction[i] ?? 0);
  return all;
}

function alignment_places(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  const places = [6];
  for (let at = version * 4 + 10; places.length < count; at -= step) places.splice(1, 0, at);
  return places;
}

class Grid {
  readonly size: number;
  readonly dark: boolean[][];
  private readonly fixed: boolean[][];

  constructor(private readonly version: number) {
    this.size = version * 4 + 17;
    const rows = () => Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false));
    this.dark = rows();
    this.fixed = rows();
    this.draw_patterns();
  }

  set(x: number, y: number, dark: boolean): void {
    const row = this.dark[y];
    const fixed = this.fixed[y];
    if (!row || !fixed || x < 0 || x >= this.size) return;
    row[x] = dark;
    fixed[x] = true;
  }

  private square(x: number, y: number, reach: number, light: number[]): void {
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        this.set(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
      }
    }
  }

  private draw_patterns(): void {
    for (let i = 0; i < this.size; i++) {
      this.set(6, i, i % 2 === 0);
      this.set(i, 6, i % 2 === 0);
    }
    for (const [x, y] of [
      [3, 3],
      [this.size - 4, 3],
      [3, this.size - 4],
    ] as const) {
      this.square(x, y, 4, [2, 4]);
    }
    const places = alignment_places(this.version);
    const last = places.length - 1;
    places.forEach((x, i) => {
      places.forEach((y, j) => {
        const in_corner = (i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0);
        if (!in_corner) this.square(x, y, 2, [1]);
      });
    });
    this.draw_format(0); // reserves the place
    this.draw_version();
  }

  draw_format(mask: number): void {
    const data = (1 << 3) | mask; // level L
    let rest = data;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
    const bits = ((data << 10) | rest) ^ 0x5412;
    for (let i = 0; i <= 5; i++) this.set(8, i, bit(bits, i));
    this.set(8, 7, bit(bits, 6));
    this.set(8, 8, bit(bits, 7));
    this.set(7, 8, bit(bits, 8));
    for (let i = 9; i < 15; i++) this.set(14 - i, 8, bit(bits, i));
    for (let i = 0; i < 8; i++) this.set(this.size - 1 - i, 8, bit(bits, i));
    for (let i = 8; i < 15; i++) this.set(8, this.size - 15 + i, bit(bits, i));
    this.set(8, this.size - 8, true);
  }

  private draw_version(): void {
    if (this.version < 7) return;
    let rest = this.version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (this.version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const a = this.size - 11 + (i % 3);
      const b = Math.floor(i / 3);
      this.set(a, b, bit(bits, i));
      this.set(b, a, bit(bits, i));
    }
  }

  /** In columns of two from the right, upwards and downwards in turn, with mask 0. */
  draw_data(bytes: number[]): void {
    let at = 0;
    for (let right = this.size - 1; right >= 1; right -= 2) {
      if (right === 6) right = 5;
      const upwards = ((right + 1) & 2) === 0;
      for (let step = 0; step < this.size; step++) {
        const y = upwards ? this.size - 1 - step : step;
        for (const x of [right, right - 1]) {
          const row = this.dark[y];
          if (!row || this.fixed[y]?.[x]) continue;
          const dark = at < bytes.length * 8 && bit(bytes[at >>> 3] ?? 0, 7 - (at & 7));
          at++;
          row[x] = dark !== ((x + y) % 2 === 0);
        }
      }
    }
  }
}

/** The modules of the code by row, true for dark; null for a text that is too long (858 bytes). */
export function qr_code(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text);
  for (let version = 1; version <= correction_bytes.length; version++) {
    const needed = 4 + (version < 10 ? 8 : 16) + bytes.length * 8;
    if (needed > data_bytes(version) * 8) continue;
    const grid = new Grid(version);
    grid.draw_data(interleaved(padded(bytes, version), version));
    grid.draw_format(0);
    return grid.dark;
  }
  return null;
}

/** The dark modules as the path of an SVG picture whose unit is one module. */
export function qr_path(modules: boolean[][]): string {
  let path = "";
  modules.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (dark) path += `M${x} ${y}h1v1h-1z`;
    });
  });
  return path;
}
