import { expect, test } from "@playwright/test";
import { row_window, scroll_to_show } from "./window";

test("only the visible rows and some extra ones are drawn", () => {
  const window = row_window(32 * 1000, 640, 32, 50_000);
  expect(window).toEqual({ first: 990, end: 1030, above: 990 * 32, below: (50_000 - 1030) * 32 });
});

test("the whole height never changes while scrolling", () => {
  for (const scroll of [0, 17, 3200, 31_999, 32_000, 99_999]) {
    const window = row_window(scroll, 600, 32, 1000);
    expect(window.above + window.below + (window.end - window.first) * 32).toBe(1000 * 32);
  }
});

test("an empty list has an empty window", () => {
  expect(row_window(500, 600, 32, 0)).toEqual({ first: 0, end: 0, above: 0, below: 0 });
});

test("moving to a row scrolls only when it is hidden", () => {
  expect(scroll_to_show(3, 0, 640, 32, 32)).toBe(0);
  expect(scroll_to_show(3, 320, 640, 32, 32)).toBe(96);
  expect(scroll_to_show(19, 0, 640, 32, 32)).toBe(32);
});
