// What model calls are likely to cost beside what remains of the daily budget of a space, in words.

import type { CallsEstimate, ModelUsageView, SpaceBudget } from "../../api_types";
import { money, plural, short_count } from "./number";

/** null: no limit. Money in millionths of a dollar. */
export interface Remaining {
  cost: { left: number; limit: number } | null;
  tokens: { left: number; limit: number } | null;
}

export interface Expected {
  calls: number;
  tokens: number;
  /** Of the models that have a price. */
  cost: number;
  /** Models without a price. */
  unpriced: string[];
  /** Some models have no past calls: it is the most that they can use. */
  is_most: boolean;
}

const left_of = (limit: number | null, used: number) =>
  limit === null ? null : { left: Math.max(0, limit - used), limit };

export function remaining(budget: SpaceBudget, today: ModelUsageView | undefined): Remaining {
  const tokens = (today?.total_tokens ?? 0) + (today?.estimated_tokens ?? 0);
  return {
    cost: left_of(budget.cost_micro_usd_per_day, today?.cost_micro_usd ?? 0),
    tokens: left_of(budget.tokens_per_day, tokens),
  };
}

export function expected(estimates: CallsEstimate[]): Expected {
  const sum = (value: (one: CallsEstimate) => number) => estimates.reduce((total, one) => total + value(one), 0);
  return {
    calls: sum((one) => one.calls),
    tokens: sum((one) => one.input_tokens + one.output_tokens),
    cost: sum((one) => one.cost_micro_usd ?? 0),
    unpriced: [...new Set(estimates.filter((one) => one.cost_micro_usd === null).map((one) => one.model))],
    is_most: estimates.some((one) => one.measured_calls === 0),
  };
}

const about = (of: Expected) => (of.is_most ? "at most" : "about");

/** "about $0.0120 and 1.2k tokens in 8 calls" */
export function expected_text(of: Expected): string {
  const parts = of.unpriced.length === 0 || of.cost > 0 ? [money(of.cost)] : [];
  const text = `${about(of)} ${[...parts, `${short_count(of.tokens)} tokens`].join(" and ")} in ${plural(of.calls, "call")}`;
  return of.unpriced.length === 0 ? text : `${text}; no price: ${of.unpriced.join(", ")}`;
}

/** "$4.20 of $5.00 and 12k of 20k tokens"; empty: there is no limit. */
export function remaining_text(of: Remaining): string {
  const parts: string[] = [];
  if (of.cost) parts.push(`${money(of.cost.left)} of ${money(of.cost.limit)}`);
  if (of.tokens) parts.push(`${short_count(of.tokens.left)} of ${short_count(of.tokens.limit)} tokens`);
  return parts.join(" and ");
}

/** Why calls will or can be rejected; empty: the budget is large enough. */
export function excess_text(of: Expected, has: Remaining): string {
  const [unpriced] = of.unpriced;
  if (has.cost?.left === 0 || has.tokens?.left === 0)
    return "The daily budget of the space is used up. Model calls are rejected until midnight UTC.";
  if (has.cost && unpriced !== undefined)
    return `${unpriced} has no price, and the space has a daily budget in dollars: its calls are rejected. Set a price in the model skill.`;
  const over: string[] = [];
  if (has.cost && of.cost > has.cost.left)
    over.push(`${about(of)} ${money(of.cost)}, and ${money(has.cost.left)} remain`);
  if (has.tokens && of.tokens > has.tokens.left)
    over.push(`${about(of)} ${short_count(of.tokens)} tokens, and ${short_count(has.tokens.left)} remain`);
  if (over.length === 0) return "";
  const verb = of.is_most ? "can" : "would";
  return `This ${verb} exceed the daily budget of the space: ${over.join("; ")}. When it is used up, model calls are rejected until midnight UTC.`;
}
