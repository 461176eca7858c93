import { expect, test } from "@playwright/test";
import { axis_time, axis_value } from "./axis";

test("marks of a time axis differ: with seconds where they are less than a minute apart", () => {
  const marks = [1_700_000_010, 1_700_000_020, 1_700_000_030];
  expect(new Set(marks.map((mark) => axis_time(mark, 10))).size).toBe(3);
  expect(axis_time(1_700_000_010, 10)).toMatch(/^\d\d:\d\d:30$/);
  expect(axis_time(1_700_000_010, 3600)).toMatch(/^\d\d:\d\d$/);
  expect(axis_time(1_700_000_010, 86_400)).toMatch(/^11-1[45]$/);
});

test("amounts of money on an axis have no zeros at the end", () => {
  expect(["$0.0600", "$0.0450", "$12.50", "$0", "$20.00", "340 ms"].map(axis_value)).toEqual([
    "$0.06",
    "$0.045",
    "$12.5",
    "$0",
    "$20.00",
    "340 ms",
  ]);
});
