import { expect, test } from "@playwright/test";
import { every_text, from_unit, metric_info, metric_names, to_unit, window_text } from "./metric";

test("typed values are written unchanged", () => {
  expect(from_unit("latency_p95", "2500")).toBe(2500);
  expect(from_unit("error_rate", "2,5")).toBeCloseTo(0.025);
  for (const metric of metric_names)
    for (const text of ["0.1", "7", "99.5", "12345"]) expect(to_unit(metric, from_unit(metric, text) ?? -1)).toBe(text);
});

test("invalid numbers are not thresholds", () => {
  expect(from_unit("count", "")).toBeNull();
  expect(from_unit("count", "many")).toBeNull();
});

test("values have their unit", () => {
  expect(metric_info("latency_p95").text(2500)).toBe("2.5 s");
  expect(metric_info("error_rate").text(0.0313)).toBe("3.13 %");
  expect(metric_info("cost").text(0.5)).toBe("$0.5000");
  expect(metric_info("count").text(12_400)).toBe("12.4k");
  expect(metric_info("something new").title).toBe("something new");
});

test("windows have a usual text", () => {
  expect(window_text(86_400)).toBe("24 hours");
  expect(window_text(172_800)).toBe("2 days");
  expect(window_text(3600)).toBe("an hour");
  expect(window_text(600)).toBe("10 minutes");
  expect(window_text(90)).toBe("90 seconds");
  expect(["every", every_text(3600)].join(" ")).toBe("every hour");
  expect(every_text(600)).toBe("10 minutes");
});
