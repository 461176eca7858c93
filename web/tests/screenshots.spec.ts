// Writes the pictures of the README; runs only with SCREENSHOTS=1.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "./fixtures";

const directory = fileURLToPath(new URL("../../docs/screenshots", import.meta.url));

test.skip(process.env.SCREENSHOTS !== "1", "pictures are made with SCREENSHOTS=1");

test("pictures of the main pages", async ({ page, admin }) => {
  test.setTimeout(30_000);
  mkdirSync(directory, { recursive: true });
  const projects = [
    { name: "support-agent", description: "Answers customers in the help centre" },
    { name: "billing-summariser", description: "Monthly statements in plain words" },
    { name: "legal-review", description: "Contract clauses, confidential", restricted: true },
    { name: "search-ranker", description: "Rewrites queries before retrieval" },
  ];
  for (const project of projects) await admin.send("POST", "/v1/projects", project);
  for (const name of ["ci", "support-agent exporter", "laptop"]) await admin.send("POST", "/v1/keys", { name });

  const shots: [string, string, "light" | "dark"][] = [
    ["home", "/s/default", "light"],
    ["projects", "/s/default/projects", "light"],
    ["keys", "/s/default/settings/keys", "dark"],
    ["roles", "/s/default/settings/roles", "light"],
    ["audit", "/s/default/settings/audit", "dark"],
  ];
  for (const [name, path, colorScheme] of shots) {
    await page.emulateMedia({ colorScheme });
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await page.screenshot({ path: join(directory, `${name}.png`) });
  }
});
