import { expect, test } from "@playwright/test";
import { parse_order, sort_rows, write_order } from "./sort";

test("the order in the address is parsed and written unchanged", () => {
  for (const text of ["name", "-created_at"]) expect(write_order(parse_order(text))).toBe(text);
});

test("numbers in texts sort as numbers and missing values are last", () => {
  const rows = ["a10", null, "A2", "b1"];
  expect(sort_rows(rows, (row) => row, false)).toEqual(["A2", "a10", "b1", null]);
  expect(sort_rows(rows, (row) => row, true)).toEqual(["b1", "a10", "A2", null]);
});

test("numbers sort as numbers and equal rows keep their order", () => {
  const rows = [
    { id: 1, size: 10 },
    { id: 2, size: 9 },
    { id: 3, size: 10 },
  ];
  expect(sort_rows(rows, (row) => row.size, true).map((row) => row.id)).toEqual([1, 3, 2]);
});
