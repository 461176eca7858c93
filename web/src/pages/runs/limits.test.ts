import { expect, test } from "@playwright/test";
import type { Settings } from "../../api_types";
import { time_limits, used_of_budget } from "./limits";

const settings = (budget: Partial<Settings["budget"]>) =>
  ({
    budget: { tokens: null, cost_micro_usd: null, soft_percent: 80, steps: null, turns: null, ...budget },
    sandbox: { wall_clock_minutes: 60, idle_minutes: 10, tool_seconds: 30 },
  }) as unknown as Settings;

const used = { tokens: "12k", cost: "$0.1", turns: "2", steps: "7" };

test("what a run has used is shown beside its limits", () => {
  expect(used_of_budget(used, settings({ tokens: 100_000, cost_micro_usd: 5e6, turns: 3, steps: 40 }))).toEqual({
    tokens: "12k of 100k",
    cost: "$0.1 of $5.00",
    turns: "2 of 3",
    steps: "7 of 40",
  });
});

test("without limits, or before they are loaded, only what was used is shown", () => {
  expect(used_of_budget(used, settings({}))).toEqual(used);
  expect(used_of_budget(used, undefined)).toEqual(used);
});

test("the limits of time are one line", () => {
  expect(time_limits(settings({}))).toBe("60 min, 10 min idle, 30 s for each call of Hone's tools");
});
