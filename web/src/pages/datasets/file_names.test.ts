import { expect, test } from "@playwright/test";
import { files_in } from "./file_names";

const id = (letter: string) => `artifact_${letter.repeat(26)}`;

test("files are found in objects and lists, each once", () => {
  const value = { a: { $file: id("A") }, list: [{ $file: id("B") }, { deep: { $file: id("A") } }], text: "x" };
  expect(files_in(value)).toEqual([id("A"), id("B")]);
});

test("what is no name of a file is left out", () => {
  expect(files_in({ $file: "../etc/passwd" })).toEqual([]);
  expect(files_in({ $file: 7 })).toEqual([]);
  expect(files_in({ $file: id("A"), more: 1 })).toEqual([]);
  expect(files_in(["$file", null, 3])).toEqual([]);
});
