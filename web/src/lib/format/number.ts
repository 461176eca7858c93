// Numbers for display: short, with unit; the exact value is for hover and copy.

function trimmed(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.0+$/, "");
}

/** 999, 12.4k, 3.1M */
export function short_count(value: number): string {
  const size = Math.abs(value);
  if (size < 1000) return String(value);
  if (size < 999_950) return `${trimmed(value / 1000, 1)}k`;
  if (size < 999_950_000) return `${trimmed(value / 1e6, 1)}M`;
  return `${trimmed(value / 1e9, 1)}G`;
}

/** 1,234,567 */
export function exact_count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** 512 B, 1.5 KiB, 3 GiB */
export function byte_size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : trimmed(value, 1)} ${units[unit]}`;
}

/** 0.8 ms, 340 ms, 1.2 s, 4 min 5 s, 2 h 10 min */
export function duration(milliseconds: number): string {
  if (milliseconds < 10) return `${trimmed(milliseconds, 1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${trimmed(milliseconds / 1000, 1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ""}`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ""}`;
}

/** Of a span: 340 µs, then as above. */
export function span_duration(nanoseconds: number): string {
  if (nanoseconds > 0 && nanoseconds < 999_500) return `${Math.max(1, Math.round(nanoseconds / 1000))} µs`;
  return duration(nanoseconds / 1e6);
}

/** Money is micro-USD, also parts of one: $0, $0.0312 below a dollar, $12.40 above, and two digits of what is less than
 * $0.001: $0.000046, $0.00000016. */
export function money(micro_usd: number): string {
  const usd = micro_usd / 1e6;
  if (usd === 0) return "$0";
  const rounded = Number(usd.toPrecision(2));
  if (rounded !== 0 && Math.abs(rounded) < 0.001) return `$${rounded.toFixed(9).replace(/0+$/, "")}`;
  return Math.abs(usd) < 1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${exact_count(value)} ${value === 1 ? one : many}`;
}
