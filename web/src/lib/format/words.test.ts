import { expect, test } from "@playwright/test";
import { command_words } from "./words";

test("words are split at spaces, and quotes keep them together", () => {
  expect(command_words("  /bin/cat  -n\tfile ")).toEqual(["/bin/cat", "-n", "file"]);
  expect(command_words(`/bin/sh -c 'echo "a  b"; date'`)).toEqual(["/bin/sh", "-c", 'echo "a  b"; date']);
  expect(command_words(`a"b c"d "" e\\ f '\\'`)).toEqual(["ab cd", "", "e f", "\\"]);
  expect(command_words("")).toEqual([]);
  expect(command_words("'never closed")).toEqual(["never closed"]);
});
