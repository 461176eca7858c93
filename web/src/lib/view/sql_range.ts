// The time range of the page inside of a query.

import { type Range, range_bounds } from "../format/range";

/** The bounds as nanoseconds, which is how times are stored; a monitor has the same variables for its window. */
export const range_variables = ["{{window.from}}", "{{window.to}}"];

export function with_range(sql: string, range: Range, now: number): string {
  const bounds = range_bounds(range, now);
  const nanoseconds = (milliseconds: number) => (milliseconds === 0 ? "0" : `${milliseconds}000000`);
  return sql
    .replaceAll("{{window.from}}", nanoseconds(bounds.after ? Date.parse(bounds.after) : 0))
    .replaceAll("{{window.to}}", nanoseconds(bounds.before ? Date.parse(bounds.before) : now));
}
