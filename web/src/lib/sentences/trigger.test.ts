import { expect, test } from "@playwright/test";
import type { Trigger } from "../../api_types";
import { trigger_text, would_have } from "./trigger";

const nothing = {
  schedule: null,
  time_zone: null,
  metric: null,
  filter: null,
  comparator: null,
  threshold: null,
  window_seconds: null,
  every_seconds: null,
  for_seconds: null,
  minimum_samples: null,
  eval_name: null,
  eval_label: null,
  monitor: null,
};
const text = (trigger: Partial<Trigger>) => trigger_text({ ...nothing, type: "cron", ...trigger } as Trigger);

test("the result of a preview is a phrase", () => {
  expect([0, 1, 2].map((times) => would_have("fired", times))).toEqual([
    "never have fired",
    "have fired once",
    "have fired 2 times",
  ]);
});

test("each kind of trigger is a sentence", () => {
  expect(text({ schedule: "0 9 * * 1-5", time_zone: "Europe/Berlin" })).toBe("on weekdays at 09:00, Europe/Berlin");
  expect(text({ schedule: "0 9 13 * 5" })).toBe("at 0 9 13 * 5, UTC");
  expect(
    text({ type: "metric", metric: "error_rate", threshold: 0.05, window_seconds: 900, filter: "kind = llm" }),
  ).toBe("when error rate of spans with kind = llm over 15 minutes is above 5 %");
  expect(text({ type: "metric", metric: "errors", threshold: 5, filter: "kind = tool", window_seconds: 3600 })).toBe(
    "when failed spans with kind = tool over an hour is above 5",
  );
  expect(
    text({ type: "metric", metric: "latency_p95", comparator: "at_least", threshold: 2500, for_seconds: 600 }),
  ).toBe("when latency p95 over 15 minutes is at least 2.5 s for 10 minutes");
  expect(text({ type: "metric", metric: "eval_rate", eval_name: "correct", eval_label: "no", threshold: 0.2 })).toBe(
    "when share of an eval label correct = no over 15 minutes is above 20 %",
  );
  expect(text({ type: "monitor", monitor: "mon_1" })).toBe("when the monitor mon_1 triggers");
  expect(text({ type: "webhook" })).toBe("when a signed request arrives");
  expect(text({ type: "webhook", source: "github" })).toBe("when a signed request of GitHub arrives");
});
