// Many events on a short time line: marks counted in columns of equal duration.

export interface Mark {
  /** Milliseconds since 1970. */
  time: number;
  kind: string;
  why: string;
}

export interface StripColumn {
  from: number;
  to: number;
  /** How many of each kind. */
  counts: Record<string, number>;
  total: number;
  reasons: string[];
}

export function to_strip(marks: Mark[], from: number, to: number, columns: number): StripColumn[] {
  const length = (to - from) / columns;
  const strip: StripColumn[] = Array.from({ length: columns }, (_, index) => ({
    from: from + index * length,
    to: from + (index + 1) * length,
    counts: {},
    total: 0,
    reasons: [],
  }));
  for (const { time, kind, why } of marks) {
    if (time < from || time > to) continue;
    const column = strip[Math.min(columns - 1, Math.floor((time - from) / length))];
    if (!column) continue;
    column.counts[kind] = (column.counts[kind] ?? 0) + 1;
    column.total += 1;
    if (why !== "" && !column.reasons.includes(why)) column.reasons.push(why);
  }
  return strip;
}

export interface Stretch {
  state: string;
  from: number;
  to: number;
}

/** States over time from their changes (oldest first): each lasts until the next. Clipped to the window. */
export function to_stretches(changes: { time: number; state: string }[], from: number, to: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const [index, change] of changes.entries()) {
    const start = Math.max(from, change.time);
    const end = Math.min(to, changes[index + 1]?.time ?? to);
    if (end <= start) continue;
    const last = stretches[stretches.length - 1];
    if (last && last.state === change.state && last.to === start) last.to = end;
    else stretches.push({ state: change.state, from: start, to: end });
  }
  return stretches;
}

/** Points of an SVG polyline in a box; equal values are at the bottom. */
export function spark_points(values: number[], width: number, height: number): string {
  const most = Math.max(...values, 0);
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const at = (value: number) => (most > 0 ? height - (height * value) / most : height);
  return values.map((value, index) => `${(index * step).toFixed(1)},${at(value).toFixed(1)}`).join(" ");
}

/** Lines of a stacked chart, the tallest first so that later ones are drawn over it; the sums replace the values. */
export function stacked(lines: (number | null)[][]): (number | null)[][] {
  const sums: (number | null)[][] = [];
  let below: (number | null)[] = [];
  for (const values of lines) {
    const from = below;
    below = values.map((value, index) => (value ?? 0) + (from[index] ?? 0));
    sums.unshift(below);
  }
  return sums;
}

/** Traces per day of the last days, oldest first, from hourly values. */
export function daily_traces(points: { time: string; traces: number }[], now: number, days: number): number[] {
  const counts = Array.from({ length: days }, () => 0);
  for (const point of points) {
    const age = Math.floor((now - Date.parse(point.time.replace(/(\.\d{3})\d+/, "$1"))) / 86_400_000);
    if (age >= 0 && age < days) counts[days - 1 - age] = (counts[days - 1 - age] ?? 0) + point.traces;
  }
  return counts;
}

/** Sums of points (hours) in longer steps; a step without points is zero. */
export function summed(
  points: { time: number; values: number[] }[],
  from: number,
  to: number,
  step: number,
  width: number,
): { times: number[]; values: number[][] } {
  const times: number[] = [];
  for (let at = Math.floor(from / step) * step; at < to && times.length < 5000; at += step) times.push(at);
  const values = Array.from({ length: width }, () => times.map(() => 0));
  const first = times[0] ?? 0;
  for (const point of points) {
    const index = Math.floor((point.time - first) / step);
    if (index < 0 || index >= times.length) continue;
    for (const [row, value] of point.values.entries()) {
      const line = values[row];
      if (line) line[index] = (line[index] ?? 0) + value;
    }
  }
  return { times, values };
}
