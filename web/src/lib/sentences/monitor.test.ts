import { expect, test } from "@playwright/test";
import type { Condition, MonitorSettings } from "../../api_types";
import { monitor_text } from "./monitor";

const condition: Condition = {
  type: "threshold",
  direction: null,
  threshold: 0.05,
  recover_threshold: null,
  change_by: null,
  sensitivity: null,
};
const settings: MonitorSettings = {
  metric: "error_rate",
  sql: null,
  filter: "",
  group_by: null,
  eval_name: null,
  eval_label: null,
  condition,
  window_seconds: 86_400,
  frequency_seconds: 3600,
  for_seconds: 0,
  minimum_samples: 1,
  mute_windows: [],
};
const text = (part: Partial<MonitorSettings>, how: Partial<Condition> = {}) =>
  monitor_text({ ...settings, ...part, condition: { ...condition, ...how } });

test("each condition is a sentence", () => {
  expect(text({})).toBe("error rate over 24 hours is above 5 %");
  expect(text({ metric: "latency_p95", group_by: "model", for_seconds: 7200 }, { threshold: 1500 })).toBe(
    "latency p95 over 24 hours is above 1.5 s for 2 hours, for each model",
  );
  expect(text({ metric: "cost" }, { type: "change", threshold: 1.5 })).toBe(
    "cost over 24 hours is more than 1.5 times the previous window",
  );
  expect(
    text({ metric: "traces" }, { type: "change", change_by: "difference", threshold: 40, direction: "below" }),
  ).toBe("traces over 24 hours is less than the previous window by 40");
  expect(text({}, { type: "automatic", direction: "outside", sensitivity: 4 })).toBe(
    "error rate over 24 hours is outside the usual range for this hour of the week (4 deviations)",
  );
  expect(text({}, { type: "automatic" })).toBe(
    "error rate over 24 hours is above the usual range for this hour of the week",
  );
  expect(text({ minimum_samples: 10, filter: "kind = llm", window_seconds: 3600 }, { type: "absence" })).toBe(
    "fewer than 10 spans with kind = llm in an hour",
  );
});
