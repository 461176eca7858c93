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

test("an empty list has the icon of its page", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const routes = read("./routes.ts");
  let checked = 0;
  for (const [, title = "", bundle = "", name = "", icon = ""] of routes.matchAll(
    /title: "([^"]+)",\s+page: (\w+)\("(\w+)"\),\s+nav: \{[^}]*icon: "(\w+)"/g,
  )) {
    const file = new RegExp(`\\b${name}\\b[^}]*\\} from "([^"]+)"`).exec(read(`./bundles/${bundle}.ts`))?.[1];
    expect(file, `${name} in bundles/${bundle}.ts`).toBeDefined();
    const page = read(`./bundles/${file}.tsx`);
    for (const [, used, text = ""] of page.matchAll(/<Empty\s+icon="(\w+)"\s+title="([^"]+)"/g)) {
      if (!text.toLowerCase().startsWith(`no ${title.toLowerCase()}`)) continue;
      expect(used, `${text} in ${file}`).toBe(icon);
      checked++;
    }
  }
  expect(checked).toBeGreaterThan(8);
});
