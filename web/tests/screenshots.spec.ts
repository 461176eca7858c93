// Writes the pictures of the README; runs only with SCREENSHOTS=1.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "./fixtures";

const directory = fileURLToPath(new URL("../../docs/screenshots", import.meta.url));

test.skip(process.env.SCREENSHOTS !== "1", "pictures are made with SCREENSHOTS=1");

const people = [
  { name: "Ada Lovelace", email: "ada@example.com", role: "admin" },
  { name: "Grace Hopper", email: "grace@example.com", role: "member" },
  { name: "Barbara Liskov", email: "barbara@example.com", role: "annotator" },
  { name: "Ken Thompson", email: "ken@example.com", role: "viewer" },
];
const projects = [
  { name: "support-agent", description: "Answers customers in the help centre" },
  { name: "billing-summariser", description: "Monthly statements in plain words", retention_days: 90 },
  { name: "legal-review", description: "Contract clauses, confidential", restricted: true },
  { name: "search-ranker", description: "Rewrites queries before retrieval" },
];

test("pictures of the main pages", async ({ page, admin, playwright, server }) => {
  mkdirSync(directory, { recursive: true });
  for (const project of projects) await admin.send("POST", "/v1/projects", project);
  await admin.send("POST", "/v1/keys", { name: "ci", kind: "service", role: "member", scopes: ["read"] });
  await admin.send("POST", "/v1/keys", { name: "support-agent exporter", kind: "service", role: "member" });
  await admin.send("POST", "/v1/keys", { name: "laptop", expires_in_days: 90 });
  for (const { name, email, role } of people) {
    const invite = await admin.send<{ path: string }>("POST", "/v1/spaces/default/invites", { email, role });
    const request = await playwright.request.newContext();
    const data = { name, password: `the password of ${email}` };
    await request.post(`${server.url}${invite.path.replace("/invite/", "/v1/invites/")}/accept`, { data });
    await request.dispose();
  }
  await admin.send("POST", "/v1/spaces/default/invites", { email: "alan@example.com", role: "member" });

  const shots: [string, string, "light" | "dark"][] = [
    ["home", "/s/default", "light"],
    ["projects", "/s/default/projects", "light"],
    ["keys", "/s/default/settings/keys", "dark"],
    ["members", "/s/default/settings/members", "light"],
    ["roles", "/s/default/settings/roles", "light"],
    ["audit", "/s/default/settings/audit?open=10", "dark"],
  ];
  for (const [name, path, colorScheme] of shots) {
    await page.emulateMedia({ colorScheme });
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await page.screenshot({ path: join(directory, `${name}.png`) });
  }
});
