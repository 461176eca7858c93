import { expect, test } from "@playwright/test";
import { line_diff, with_context } from "./line_diff";

const drawn = (before: string, after: string) =>
  line_diff(before, after).map((line) => ({ same: " ", removed: "-", added: "+" })[line.kind] + line.text);

test("equal texts have no differences", () => {
  expect(drawn("a\nb", "a\nb")).toEqual([" a", " b"]);
  expect(drawn("", "")).toEqual([]);
});

test("changed, added and removed lines are in order", () => {
  expect(drawn("a\nb\nc", "a\nB\nc")).toEqual([" a", "-b", "+B", " c"]);
  expect(drawn("a\nc", "a\nb\nc\nd")).toEqual([" a", "+b", " c", "+d"]);
  expect(drawn("", "a")).toEqual(["+a"]);
  expect(drawn("a", "")).toEqual(["-a"]);
  expect(drawn("a\nb\nc\nd", "b\nx\nd")).toEqual(["-a", " b", "-c", "+x", " d"]);
});

test("very long texts are shown as replaced", () => {
  const many = (word: string) => Array.from({ length: 3000 }, (_, index) => `${word} ${index}`).join("\n");
  const lines = line_diff(many("a"), many("b"));
  expect(lines.length).toBe(6000);
  expect(lines[0]?.kind).toBe("removed");
});

test("lines far from a difference are left out", () => {
  const lines = line_diff("1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\n3\n4\nX\n6\n7\n8\n9");
  const shown = with_context(lines, 1);
  expect(shown[0]).toBe(3);
  expect(shown[shown.length - 1]).toBe(3);
  expect(shown.length).toBe(6);
});
