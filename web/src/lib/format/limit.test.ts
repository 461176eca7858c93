import { expect, test } from "@playwright/test";
import { limit_text, micro, read_limit } from "./limit";

test("a limit is parsed and written unchanged", () => {
  for (const text of ["", "12", "0"]) expect(limit_text(read_limit(text))).toBe(text);
  for (const text of ["", "2.5", "0.01"]) expect(limit_text(read_limit(text, micro), micro)).toBe(text);
  expect(read_limit(" ")).toBeNull();
  expect(read_limit("2.5", micro)).toBe(2_500_000);
});
