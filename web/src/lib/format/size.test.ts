import { expect, test } from "@playwright/test";
import { parse_size } from "./size";

test("sizes are parsed in usual notations", () => {
  expect(parse_size("")).toBe(null);
  expect(parse_size("100")).toBe(100);
  expect(parse_size("500 MiB")).toBe(500 * 1024 ** 2);
  expect(parse_size("1.5g")).toBe(1.5 * 1024 ** 3);
  expect(parse_size("2 GB")).toBe(2 * 1024 ** 3);
  for (const text of ["0", "much", "-1", "1 zb", "1e99"]) expect(parse_size(text)).toBe(undefined);
});
