import { expect, test } from "@playwright/test";
import { first_sentence } from "./sentence";

test("a text is divided after its first sentence", () => {
  expect(first_sentence("4 % fail. The others pass.")).toEqual(["4 % fail.", "The others pass."]);
  expect(first_sentence("Version 1.9 of api.shop fails")).toEqual(["Version 1.9 of api.shop fails", ""]);
  expect(first_sentence("One line\nand another. Third")).toEqual(["One line", "and another. Third"]);
  expect(first_sentence("")).toEqual(["", ""]);
  expect(first_sentence("x".repeat(300))).toEqual(["", "x".repeat(300)]);
});
