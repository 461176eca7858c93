import { expect, test } from "@playwright/test";
import type { SpanSeries } from "../../api_types";
import { chart_lines, chart_title, latency_cells, read_chart, to_csv, total_rows, write_chart } from "./explore";

const minute = 60_000;
const at = (time: number) => new Date(time).toISOString();

test("a chart is the same after it was written into an address and read", () => {
  const text = "metric=cost&by=model&filter=kind+%3D+llm&draw=bars&with=previous";
  const chart = read_chart(new URLSearchParams(text));
  expect(write_chart(chart)).toBe(text);
  expect(chart_title(chart)).toBe("Cost by model");
  expect(read_chart(new URLSearchParams("metric=nonsense&draw=x&with=y"))).toMatchObject({
    metric: "count",
    draw: "lines",
    baseline: "",
  });
});

test("bars of groups are stacked and keep their own values for hover", () => {
  const series: SpanSeries = {
    metrics: ["cost", "count"],
    bucket_ns: minute * 1e6,
    buckets: [
      { time: at(0), group: "a", values: [2, 1] },
      { time: at(0), group: "b", values: [1, 1] },
      { time: at(minute), group: "b", values: [4, 1] },
    ],
  };
  const drawn = chart_lines({
    metric: "cost",
    draw: "bars",
    by: "model",
    series,
    groups: ["b", "a"],
    from: 0,
    to: 2 * minute,
    before: null,
  });
  expect(drawn.times).toEqual([0, minute]);
  expect(drawn.lines.map((line) => [line.title, line.values, line.shown])).toEqual([
    ["a", [3, 4], [2, 0]],
    ["b", [1, 4], [1, 4]],
  ]);
});

test("the previous period lies on the times of this one", () => {
  const series = (time: number, value: number): SpanSeries => ({
    metrics: ["latency_p95", "count"],
    bucket_ns: minute * 1e6,
    buckets: [{ time: at(time), group: "", values: [value, 1] }],
  });
  const { lines } = chart_lines({
    metric: "latency_p95",
    draw: "lines",
    by: "",
    series: series(11 * minute, 5),
    groups: [],
    from: 10 * minute,
    to: 12 * minute,
    before: { series: series(minute, 3), shift: 10 * minute + 900, title: "before" },
  });
  expect(lines.map((line) => line.values)).toEqual([
    [null, 5],
    [null, 3],
  ]);
});

test("sums are ranked by their value, other metrics by their spans", () => {
  const series = (metric: string): SpanSeries => ({
    metrics: [metric, "count"],
    bucket_ns: 0,
    buckets: [
      { time: at(0), group: "a", values: [9, 1] },
      { time: at(0), group: "b", values: [1, 50] },
    ],
  });
  expect(total_rows("cost", series("cost"), null).map((row) => row.group)).toEqual(["a", "b"]);
  expect(total_rows("latency_p95", series("latency_p95"), null).map((row) => row.group)).toEqual(["b", "a"]);
});

test("durations between two that were seen have a row too", () => {
  const { buckets, counts } = latency_cells(
    {
      metrics: ["count"],
      bucket_ns: 0,
      buckets: [
        { time: at(0), group: "1000000", values: [3] },
        { time: at(0), group: "2511886", values: [1] },
      ],
    },
    0,
    1,
  );
  expect(counts).toEqual([[3], [0], [1]]);
  expect(buckets[0]?.condition).toBe("latency >= 1000000ns and latency < 1584893ns");
});

test("a spreadsheet gets no formulas", () => {
  expect(to_csv([["a,b", '=cmd("x")', -1, null]])).toBe(`"a,b","'=cmd(""x"")",-1,\r\n`);
});
