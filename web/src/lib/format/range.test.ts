import { expect, test } from "@playwright/test";
import { parse_range, range_bounds, range_title, usual_ranges, wider_range } from "./range";

const now = Date.parse("2026-11-15T12:00:00Z");

test("every offered range is valid and has a title", () => {
  expect(usual_ranges.map((text) => range_title(parse_range(text) ?? { kind: "all" }))).toEqual([
    "Last 15 min",
    "Last 1 h",
    "Last 6 h",
    "Last 24 h",
    "Last 7 d",
    "Last 30 d",
    "All time",
  ]);
});

test("a relative range moves with the clock and has no end", () => {
  expect(range_bounds({ kind: "last", text: "1h", milliseconds: 3_600_000 }, now)).toEqual({
    after: "2026-11-15T11:00:00.000Z",
  });
});

test("an absolute range keeps both ends", () => {
  const range = parse_range("2026-11-01T00:00Z..2026-11-02T12:30Z");
  expect(range && range_bounds(range, now)).toEqual({
    after: "2026-11-01T00:00:00.000Z",
    before: "2026-11-02T12:30:00.000Z",
  });
  expect(range && range_title(range)).toBe("2026-11-01 00:00 – 2026-11-02 12:30");
});

test("invalid text is not a range", () => {
  for (const text of ["", "0h", "5y", "h", "2026..", "2026-11-02..2026-11-01", "x..y"]) {
    expect(parse_range(text)).toBeNull();
  }
});

test("the next wider range of an empty list", () => {
  expect(wider_range("24h")).toEqual({ value: "7d", title: "last 7 d" });
  expect(wider_range("2h")).toEqual({ value: "6h", title: "last 6 h" });
  expect(wider_range("30d")).toEqual({ value: "all", title: "whole time" });
  expect(wider_range("all")).toBeNull();
});
