import { expect, test } from "@playwright/test";
import { notice_address } from "./notice";

test("a notice links only to a page of its space", () => {
  expect(notice_address("/projects/shop/signal", "my space")).toBe("/s/my%20space/projects/shop/signal");
  expect(notice_address("/s/other/inbox", "default")).toBe("/s/other/inbox");
  for (const link of ["", "https://example.com", "//example.com", "/\\example.com", "javascript:alert(1)"])
    expect(notice_address(link, "default"), link).toBe("/s/default");
});
