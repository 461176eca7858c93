import { readFileSync } from "node:fs";
import { expect, test } from "@playwright/test";

test("one icon stands for one thing in the sidebar", () => {
  const text = readFileSync(new URL("./routes.ts", import.meta.url), "utf8");
  const seen = new Map<string, string>();
  const keys = new Map<string, string>();
  // People are people: members of a space and users of the installation.
  const same: Record<string, string> = { Users: "Members" };
  for (const found of text.matchAll(
    /title: "([^"]+)",\s+page: [^\n]+\s+nav: \{[^}]*icon: "(\w+)"(?:, keys: "([^"]+)")?/g,
  )) {
    const title = same[found[1] ?? ""] ?? found[1] ?? "";
    const icon = found[2] ?? "";
    expect(seen.get(icon) ?? title, `icon ${icon}`).toBe(title);
    seen.set(icon, title);
    const key = found[3];
    if (!key) continue;
    expect(keys.get(key), `keys ${key}`).toBeUndefined();
    keys.set(key, title);
  }
  expect(seen.size).toBeGreaterThan(25);
});
