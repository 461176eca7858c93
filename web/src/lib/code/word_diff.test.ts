import { expect, test } from "@playwright/test";
import { word_diff } from "./word_diff";

const texts = (line: string, ranges: [number, number][]) => ranges.map(([start, end]) => line.slice(start, end));

test("only the changed words are listed", () => {
  const before = "    return total / count;";
  const after = "    return total / max(count, 1);";
  const found = word_diff(before, after);
  expect(texts(before, found?.removed ?? [])).toEqual([]);
  expect(texts(after, found?.added ?? []).join("")).toBe("max(, 1)");
});

test("a word is replaced as a whole", () => {
  const found = word_diff("const limit = 10;", "const limit = 100;");
  expect(texts("const limit = 10;", found?.removed ?? [])).toEqual(["10"]);
  expect(texts("const limit = 100;", found?.added ?? [])).toEqual(["100"]);
});

test("lines with nothing in common are not compared", () => {
  expect(word_diff("import os", "def main(): pass")).toBeNull();
  expect(word_diff("same", "same")).toBeNull();
});

test("long lines are not compared", () => {
  expect(word_diff("a ".repeat(600), "b ".repeat(600))).toBeNull();
});
