import { expect, test } from "@playwright/test";
import { RowHeights } from "./row_heights";

test("rows are found by their height", () => {
  const heights = new RowHeights([20, 100, 20, 40]);
  expect(heights.total).toBe(180);
  expect([0, 19, 20, 119, 120, 139, 140, 500].map((height) => heights.row_at(height))).toEqual([
    0, 0, 1, 1, 2, 2, 3, 3,
  ]);
  expect(heights.row_at(-5)).toBe(0);
});

test("the window contains the visible rows and some extra ones", () => {
  const heights = new RowHeights(new Array(1000).fill(20));
  expect(heights.window(0, 100, 0)).toEqual({ first: 0, end: 6 });
  expect(heights.window(10_000, 100, 40)).toEqual({ first: 498, end: 508 });
  expect(new RowHeights([]).window(0, 100)).toEqual({ first: 0, end: 0 });
  expect(new RowHeights([]).total).toBe(0);
});
