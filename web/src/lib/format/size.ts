// Sizes in forms: "500 MiB", "2g", "1.5 GB" (all powers of 1024, as in the server's settings).

const units: Record<string, number> = { "": 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Bytes; null for an empty text, undefined for an invalid size. */
export function parse_size(text: string): number | null | undefined {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === "") return null;
  const found = /^(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?$/.exec(trimmed);
  const unit = units[found?.[2] ?? ""];
  if (!found || unit === undefined) return undefined;
  const bytes = Math.round(Number(found[1]) * unit);
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}
