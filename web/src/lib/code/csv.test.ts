import { expect, test } from "@playwright/test";
import { csv_rows } from "./csv";

test("cells have commas, quotes and line breaks inside quotes", () => {
  expect(csv_rows('a,b\n"x,1","say ""hi"""\r\n"two\nlines",', 10)).toEqual([
    ["a", "b"],
    ["x,1", 'say "hi"'],
    ["two\nlines", ""],
  ]);
});

test("only so many rows are read", () => {
  expect(csv_rows("1\n2\n3\n4", 2)).toEqual([["1"], ["2"]]);
  expect(csv_rows("", 2)).toEqual([]);
});
