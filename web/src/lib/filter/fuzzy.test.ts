import { expect, test } from "@playwright/test";
import { fuzzy_match, fuzzy_sort } from "./fuzzy";

test("letters must appear in order", () => {
  expect(fuzzy_match("mbr", "Members")).not.toBeNull();
  expect(fuzzy_match("rbm", "Members")).toBeNull();
  expect(fuzzy_match("zz", "Members")).toBeNull();
});

test("letters scattered over a long text are no match", () => {
  expect(fuzzy_match("ke", "Copy a link to this page")).toBeNull();
});

test("matched positions point at the matched letters", () => {
  const text = "Create project";
  const match = fuzzy_match("cp", text);
  expect(match?.positions.map((position) => text[position])).toEqual(["C", "p"]);
  expect(fuzzy_match("proj", text)?.positions).toEqual([7, 8, 9, 10]);
});

test("word starts and whole words come first", () => {
  const items = ["Escape keys", "Copy keyboard help", "Keys", "Monkeys"];
  expect(fuzzy_sort("key", items, (item) => item).map((found) => found.item)).toEqual([
    "Keys",
    "Escape keys",
    "Copy keyboard help",
    "Monkeys",
  ]);
});

test("an empty query keeps everything in order", () => {
  expect(fuzzy_sort("", ["b", "a"], (item) => item).map((found) => found.item)).toEqual(["b", "a"]);
});
