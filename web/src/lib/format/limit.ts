// Limits in forms: an empty field is no limit. Money is entered in dollars and stored in millionths.

export const micro = 1e6;

export function limit_text(value: number | null | undefined, unit = 1): string {
  return value === null || value === undefined ? "" : String(value / unit);
}

export function read_limit(text: string, unit = 1): number | null {
  return text.trim() === "" ? null : Math.round(Number(text) * unit);
}
