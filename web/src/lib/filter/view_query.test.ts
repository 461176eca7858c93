import { expect, test } from "@playwright/test";
import { same_view, view_query } from "./view_query";

test("a view contains the filters and not the open row", () => {
  const query = new URLSearchParams("live=1&range=24h&open=abc&filter=status+%3D+error");
  expect(view_query(query)).toBe("filter=status+%3D+error&range=24h");
  expect(view_query(new URLSearchParams("live=1&filter="))).toBe("");
});

test("order and escaping do not make another view", () => {
  expect(same_view("range=24h&filter=status%20%3D%20error", "filter=status+%3D+error&range=24h")).toBe(true);
  expect(same_view("range=24h", "range=7d")).toBe(false);
  expect(same_view("", "open=abc")).toBe(true);
});
