// The limits of a run, beside what it has used. They are in its manifest.

import type { Settings } from "../../api_types";
import { exact_count, money, short_count } from "../../lib/format/number";

const limited = (used: string, limit: string | null): string => (limit === null ? used : `${used} of ${limit}`);

const shown = (limit: number | null | undefined, text: (value: number) => string): string | null =>
  limit === null || limit === undefined ? null : text(limit);

/** "12k of 100k", or "12k" without a limit. */
export function used_of_budget(used: Record<"tokens" | "cost" | "turns" | "steps", string>, settings?: Settings) {
  const budget = settings?.budget;
  return {
    tokens: limited(used.tokens, shown(budget?.tokens, short_count)),
    cost: limited(used.cost, shown(budget?.cost_micro_usd, money)),
    turns: limited(used.turns, shown(budget?.turns, exact_count)),
    steps: limited(used.steps, shown(budget?.steps, exact_count)),
  };
}

export function time_limits(settings: Settings): string {
  const { wall_clock_minutes, idle_minutes, tool_seconds } = settings.sandbox;
  return `${wall_clock_minutes} min, ${idle_minutes} min idle, ${tool_seconds} s for each call of Hone's tools`;
}
