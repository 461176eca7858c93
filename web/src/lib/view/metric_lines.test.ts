import { expect, test } from "@playwright/test";
import type { MetricSeriesView } from "../../api_types";
import { metric_lines } from "./metric_lines";

const at = (minute: number) => new Date(minute * 60_000).toISOString();
const bucket = (minute: number, group: string, sum: number, mean: number | null = null) => ({
  time: at(minute),
  group,
  sum,
  count: 1,
  mean,
  p50: null,
  p95: null,
});
const series = (use: string, kind: string, buckets: MetricSeriesView["buckets"]): MetricSeriesView => ({
  metric: "m",
  use,
  unit: "",
  kind,
  bucket_ns: 60e9,
  buckets,
});

test("a sum has a value in every bucket, in one line for each group", () => {
  const { times, lines } = metric_lines(
    series("tokens", "sum", [bucket(1, "input", 5), bucket(2, "input", 7), bucket(2, "output", 3)]),
    60_000,
    180_001,
  );
  expect(times).toEqual([60_000, 120_000, 180_000]);
  expect(lines.map((line) => [line.title, line.values])).toEqual([
    ["input", [5, 7, 0]],
    ["output", [0, 3, 0]],
  ]);
  expect(lines.every((line) => !line.bars)).toBe(true);
});

test("a latency shows means, and nothing where nothing was measured", () => {
  const { lines } = metric_lines(series("latency", "histogram", [bucket(1, "", 9, 3)]), 60_000, 120_001);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.title).toBe("all");
  expect(lines[0]?.values).toEqual([3, null]);
});

test("a metric without points has no chart", () => {
  expect(metric_lines(series("cost", "sum", []), 0, 60_000).times).toEqual([]);
});
