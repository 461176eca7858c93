import { expect, test } from "@playwright/test";
import type { MetricComparison } from "../../api_types";
import { delta_text, interval_text, mean_text, metric_sentence } from "./comparison";

const metric: MetricComparison = {
  name: "correct",
  pairs: 400,
  base_mean: 0.7,
  other_mean: 0.762,
  delta: 0.062,
  low: 0.011,
  high: 0.113,
  p: 0.01,
  q: 0.02,
  test: "exact_mcnemar",
  is_pass_fail: true,
  fixed: 41,
  broken: 17,
  passed_both: 263,
  failed_both: 79,
  flaky: 0,
  smallest_delta: 0.05,
  verdict: "improved",
};

test("a difference of pass rates is in points, with a sign", () => {
  expect(delta_text(metric, 0.062)).toBe("+6.2 points");
  expect(delta_text(metric, -0.1)).toBe("−10.0 points");
  expect(delta_text(metric, 0)).toBe("0 points");
  expect(delta_text({ is_pass_fail: false }, -0.3125)).toBe("−0.313");
  expect(mean_text(metric, 0.762)).toBe("76.2 %");
  expect(mean_text({ is_pass_fail: false }, 2.71459)).toBe("2.715");
});

test("a sentence names the difference, its interval and the flips", () => {
  expect(metric_sentence(metric)).toBe(
    "correct improved: +6.2 points, 95 % interval +1.1 to +11.3, 41 fixed, 17 broken, of 400 examples",
  );
  expect(metric_sentence({ ...metric, verdict: "no_difference_shown", low: -0.01 })).toBe(
    "correct: no difference shown by 400 examples (+6.2 points, 95 % interval −1.0 to +11.3, 41 fixed, 17 broken)",
  );
});

test("a number that does not exist is left out", () => {
  expect(interval_text({ ...metric, low: null, high: null })).toBe("");
  expect(metric_sentence({ ...metric, pairs: 0 })).toBe("correct: no example has a score in both");
  expect(metric_sentence({ ...metric, is_pass_fail: false, pairs: 1, low: null, high: null })).toBe(
    "correct improved: +0.062, of 1 example",
  );
});
