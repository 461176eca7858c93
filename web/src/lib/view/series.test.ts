import { expect, test } from "@playwright/test";
import { bucket_for, outcome_lines, to_chart } from "./series";

test("buckets grow with the range", () => {
  expect([900_000, 3_600_000, 86_400_000, 30 * 86_400_000].map((length) => bucket_for(length).text)).toEqual([
    "1m",
    "1m",
    "15m",
    "24h",
  ]);
});

test("buckets without spans count zero and have no latency", () => {
  const series = {
    metrics: ["count", "latency_p95"],
    bucket_ns: 60e9,
    buckets: [{ time: "2026-11-15T09:01:00.000000000Z", group: "", values: [3, 8e6] }],
  };
  const start = Date.parse("2026-11-15T09:00:10Z");
  const chart = to_chart(series, start, start + 150_000);
  expect(chart.times.map((time) => new Date(time).toISOString().slice(14, 19))).toEqual(["00:00", "01:00", "02:00"]);
  expect(chart.values).toEqual({ count: [0, 3, 0], latency_p95: [null, 8e6, null] });
});

test("without a start the first bucket is the first with spans", () => {
  const series = {
    metrics: ["count"],
    bucket_ns: 60e9,
    buckets: [{ time: "2026-11-15T09:01:00Z", group: "", values: [1] }],
  };
  expect(to_chart(series, null, Date.parse("2026-11-15T09:03:00Z")).values.count).toEqual([1, 0]);
  expect(to_chart({ ...series, buckets: [] }, null, 0).times).toEqual([]);
});

test("failed spans are a part of the bar of all spans, and are counted apart", () => {
  const [ok, failed] = outcome_lines({ times: [0, 1], values: { count: [5, 2], errors: [2, 0] } });
  expect(ok).toMatchObject({ title: "OK", values: [5, 2], shown: [3, 2] });
  expect(failed).toMatchObject({ title: "failed", values: [2, 0] });
});
