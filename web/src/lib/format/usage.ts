// Model usage per day for charts: one value per day (UTC), including days without calls, and the used share of a daily
// limit.

import type { ModelUsageView } from "../../api_types";

const day_length = 86_400_000;

export const day_name = (time: number) => new Date(time).toISOString().slice(0, 10);

/** Days from `from` to `to`, both included, as the starts of the days. */
export function days_between(from: number, to: number): number[] {
  const first = Date.parse(`${day_name(from)}T00:00:00Z`);
  const days: number[] = [];
  for (let at = first; at <= to && days.length < 1000; at += day_length) days.push(at);
  return days;
}

export function daily_values(days: number[], rows: ModelUsageView[], value: (row: ModelUsageView) => number): number[] {
  const known = new Map(rows.map((row) => [row.group, value(row)]));
  return days.map((day) => known.get(day_name(day)) ?? 0);
}

export type LimitState = "free" | "soft" | "spent";

/** The state of a limit: workers continue, get a notice to finish, or are stopped. */
export function limit_state(used: number, limit: number, soft_percent: number): LimitState {
  if (used >= limit) return "spent";
  return used * 100 >= limit * soft_percent ? "soft" : "free";
}
