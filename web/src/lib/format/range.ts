// The time range in the address bar: "24h", or "2026-11-01T00:00Z..2026-11-02T00:00Z", or "all".

export type Range =
  | { kind: "last"; text: string; milliseconds: number }
  | { kind: "between"; after: string; before: string }
  | { kind: "all" };

const unit_milliseconds: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const unit_names: Record<string, string> = { m: "min", h: "h", d: "d" };

export const usual_ranges = ["15m", "1h", "6h", "24h", "7d", "30d", "all"];

/** Null when the text is not a range. */
export function parse_range(text: string): Range | null {
  if (text === "all") return { kind: "all" };
  const last = /^(\d{1,4})([mhd])$/.exec(text);
  if (last) {
    const milliseconds = Number(last[1]) * (unit_milliseconds[last[2] ?? ""] ?? 0);
    return milliseconds > 0 ? { kind: "last", text, milliseconds } : null;
  }
  const [after, before] = text.split("..");
  if (!after || !before || !(Date.parse(after) < Date.parse(before))) return null;
  return { kind: "between", after, before };
}

export function range_title(range: Range): string {
  if (range.kind === "all") return "All time";
  if (range.kind === "last") return `Last ${range.text.slice(0, -1)} ${unit_names[range.text.slice(-1)]}`;
  const short = (time: string) => new Date(time).toISOString().slice(0, 16).replace("T", " ");
  return `${short(range.after)} – ${short(range.before)}`;
}

/** The bounds for the server; a missing bound is open. */
export function range_bounds(range: Range, now: number): { after?: string; before?: string } {
  if (range.kind === "all") return {};
  if (range.kind === "last") return { after: new Date(now - range.milliseconds).toISOString() };
  return { after: new Date(range.after).toISOString(), before: new Date(range.before).toISOString() };
}

/** The next longer of the usual ranges; null when there is none. */
export function wider_range(text: string): { value: string; title: string } | null {
  const range = parse_range(text);
  if (range?.kind !== "last") return range?.kind === "between" ? { value: "all", title: "whole time" } : null;
  const value = usual_ranges.find((usual) => {
    const one = parse_range(usual);
    return one?.kind === "all" || (one?.kind === "last" && one.milliseconds > range.milliseconds);
  });
  if (!value) return null;
  return { value, title: value === "all" ? "whole time" : range_title(parse_range(value) ?? range).toLowerCase() };
}
