import { expect, test } from "@playwright/test";
import type { CallsEstimate, ModelUsageView, SpaceBudget } from "../../api_types";
import { excess_text, expected, expected_text, remaining, remaining_text } from "./spending";

const estimate = (more: Partial<CallsEstimate> = {}): CallsEstimate => ({
  model: "small-1",
  calls: 4,
  input_tokens: 1000,
  output_tokens: 200,
  measured_calls: 7,
  cost_micro_usd: 12_000,
  ...more,
});

const budget = (cost: number | null, tokens: number | null): SpaceBudget => ({
  cost_micro_usd_per_day: cost,
  tokens_per_day: tokens,
  soft_percent: 80,
  capture: "full",
});

const used = { cost_micro_usd: 800_000, total_tokens: 7000, estimated_tokens: 1000 } as ModelUsageView;

test("an estimate is the sum of the columns", () => {
  expect(expected_text(expected([estimate(), estimate()]))).toBe("about $0.0240 and 2.4k tokens in 8 calls");
  expect(expected_text(expected([estimate({ calls: 1, measured_calls: 0 })]))).toBe(
    "at most $0.0120 and 1.2k tokens in 1 call",
  );
  expect(expected_text(expected([estimate({ cost_micro_usd: null })]))).toBe(
    "about 1.2k tokens in 4 calls; no price: small-1",
  );
  expect(expected_text(expected([estimate(), estimate({ model: "own", cost_micro_usd: null })]))).toBe(
    "about $0.0120 and 2.4k tokens in 8 calls; no price: own",
  );
});

test("what remains is the limit without the calls of today", () => {
  expect(remaining_text(remaining(budget(5_000_000, 20_000), used))).toBe("$4.20 of $5.00 and 12k of 20k tokens");
  expect(remaining_text(remaining(budget(null, 20_000), undefined))).toBe("20k of 20k tokens");
  expect(remaining_text(remaining(budget(null, null), used))).toBe("");
  expect(remaining(budget(500_000, null), used).cost).toEqual({ left: 0, limit: 500_000 });
});

test("a budget that is too small is stated with both numbers", () => {
  const excess = (of: CallsEstimate, limits: SpaceBudget) => excess_text(expected([of]), remaining(limits, used));
  expect(excess(estimate(), budget(5_000_000, 20_000))).toBe("");
  expect(excess(estimate(), budget(null, null))).toBe("");
  expect(excess(estimate({ cost_micro_usd: 6_000_000 }), budget(5_000_000, null))).toBe(
    "This would exceed the daily budget of the space: about $6.00, and $4.20 remain. When it is used up, model calls are rejected until midnight UTC.",
  );
  expect(excess(estimate({ measured_calls: 0, output_tokens: 128_000 }), budget(null, 20_000))).toContain(
    "This can exceed the daily budget of the space: at most 129k tokens, and 12k remain.",
  );
  expect(excess(estimate(), budget(800_000, null))).toContain("is used up");
  expect(excess(estimate({ cost_micro_usd: null }), budget(5_000_000, null))).toContain("small-1 has no price");
  expect(excess(estimate({ cost_micro_usd: null }), budget(null, 20_000))).toBe("");
});
