import { expect, test } from "@playwright/test";
import { daily_traces, spark_points, stacked, summed, to_stretches, to_strip } from "./strip";

test("marks are counted into columns, with each reason once", () => {
  const marks = [
    { time: 0, kind: "fired", why: "" },
    { time: 9, kind: "skipped", why: "overlap" },
    { time: 9.5, kind: "skipped", why: "overlap" },
    { time: 10, kind: "failed", why: "preset missing" },
    { time: 20, kind: "fired", why: "" },
    { time: 21, kind: "fired", why: "" },
  ];
  const strip = to_strip(marks, 0, 20, 2);
  expect(strip.map((column) => column.counts)).toEqual([
    { fired: 1, skipped: 2 },
    { failed: 1, fired: 1 },
  ]);
  expect(strip[0]?.reasons).toEqual(["overlap"]);
  expect(strip.map((column) => column.total)).toEqual([3, 2]);
});

test("a state lasts until the next change, and equal neighbours are one", () => {
  const changes = [
    { time: -50, state: "healthy" },
    { time: 10, state: "triggered" },
    { time: 20, state: "triggered" },
    { time: 30, state: "healthy" },
  ];
  expect(to_stretches(changes, 0, 40)).toEqual([
    { state: "healthy", from: 0, to: 10 },
    { state: "triggered", from: 10, to: 30 },
    { state: "healthy", from: 30, to: 40 },
  ]);
  expect(to_stretches([], 0, 40)).toEqual([]);
});

test("a sparkline stays in its box", () => {
  expect(spark_points([0, 5, 10], 20, 10)).toBe("0.0,10.0 10.0,5.0 20.0,0.0");
  expect(spark_points([0, 0], 20, 10)).toBe("0.0,10.0 20.0,10.0");
  expect(spark_points([7], 20, 10)).toBe("0.0,0.0");
});

test("stacked lines are sums, tallest first", () => {
  expect(
    stacked([
      [1, null],
      [2, 3],
      [4, 0],
    ]),
  ).toEqual([
    [7, 3],
    [3, 3],
    [1, 0],
  ]);
});

test("hours add up to days, newest last", () => {
  const now = Date.parse("2026-03-10T12:30:00Z");
  const points = [
    { time: "2026-03-08T13:00:00.000000000Z", traces: 2 },
    { time: "2026-03-10T11:00:00.000000000Z", traces: 3 },
    { time: "2026-03-10T12:00:00.000000000Z", traces: 4 },
    { time: "2026-01-01T00:00:00.000000000Z", traces: 9 },
  ];
  expect(daily_traces(points, now, 3)).toEqual([0, 2, 7]);
});

test("hours are summed into longer steps", () => {
  const points = [
    { time: 3, values: [1, 10] },
    { time: 5, values: [2, 20] },
    { time: 99, values: [4, 40] },
  ];
  expect(summed(points, 2, 9, 4, 2)).toEqual({
    times: [0, 4, 8],
    values: [
      [1, 2, 0],
      [10, 20, 0],
    ],
  });
});
