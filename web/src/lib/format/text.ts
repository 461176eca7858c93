// Text functions that several pages share.

/** Ids keep their kind and both ends: "key_01JD…8F3K". The whole id is what gets copied. Addresses stay whole. */
export function short_id(id: string): string {
  if (id.includes("@")) return id;
  const mark = id.indexOf("_");
  const head = mark >= 0 ? mark + 1 : 0;
  if (id.length - head <= 12) return id;
  return `${id.slice(0, head + 4)}…${id.slice(-4)}`;
}

/** Two letters for an avatar: from the name, else from the address. */
export function initials(name: string): string {
  const words = name
    .replace(/@.*/, "")
    .split(/[\s._-]+/)
    .filter((word) => word !== "");
  const first = words[0] ?? "?";
  const last = words.length > 1 ? (words[words.length - 1] ?? "") : "";
  return ([...first][0] ?? "?").toUpperCase() + ([...last][0] ?? "").toUpperCase();
}

/** "Chrome on Linux" from a user agent; the text itself when nothing is recognised. */
export function browser_name(user_agent: string): string {
  const browsers: [RegExp, string][] = [
    [/Edg\//, "Edge"],
    [/Firefox\//, "Firefox"],
    [/(Headless)?Chrom(e|ium)\//, "Chrome"],
    [/Safari\//, "Safari"],
    [/^curl\//, "curl"],
    [/^hone/, "hone command line"],
  ];
  const systems: [RegExp, string][] = [
    [/Windows/, "Windows"],
    [/Android/, "Android"],
    [/iPhone|iPad/, "iOS"],
    [/Mac OS X/, "macOS"],
    [/Linux|X11/, "Linux"],
  ];
  const browser = browsers.find(([pattern]) => pattern.test(user_agent))?.[1];
  const system = systems.find(([pattern]) => pattern.test(user_agent))?.[1];
  if (!browser) return user_agent || "unknown client";
  return system ? `${browser} on ${system}` : browser;
}

/** A value safe inside single quotes of a POSIX shell. */
export function shell_quote(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
