import { expect, test } from "@playwright/test";
import { fill_path, match_path, safe_next, with_query } from "./route";

test("a pattern gives its parameters decoded", () => {
  expect(match_path("/s/:space/projects/:project", "/s/default/projects/my%20app%2F2")).toEqual({
    space: "default",
    project: "my app/2",
  });
  expect(match_path("/", "/")).toEqual({});
});

test("another length, another word or broken escapes do not match", () => {
  expect(match_path("/s/:space", "/s/default/projects")).toBeNull();
  expect(match_path("/s/:space/keys", "/s/default/members")).toBeNull();
  expect(match_path("/s/:space", "/s/%E0%A4%A")).toBeNull();
});

test("filling is the reverse of matching", () => {
  const params = { space: "a/b", project: "ü ?" };
  const path = fill_path("/s/:space/projects/:project", params) ?? "";
  expect(match_path("/s/:space/projects/:project", path)).toEqual(params);
  expect(fill_path("/s/:space/projects/:project", { space: "a" })).toBeNull();
});

test("query changes keep the other parameters", () => {
  expect(with_query("/a?x=1&y=2", { y: null, z: "action:login b" })).toBe("/a?x=1&z=action:login+b");
  expect(with_query("/a?x=1", { x: null })).toBe("/a");
  expect(with_query("/a?x=1&x=2", { x: ["3", "4"] })).toBe("/a?x=3&x=4");
});

test("login never redirects to another host", () => {
  expect(safe_next("/s/default?x=1")).toBe("/s/default?x=1");
  for (const evil of [null, "", "https://evil.example", "//evil.example", "/\\evil.example", "/login?next=/"]) {
    expect(safe_next(evil)).toBe("/");
  }
});
