// Every page in both themes: no accessibility finding, no violation of the content security policy.

import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { expect, guest_page, test, unique } from "./fixtures";
import { new_span_id, send_spans } from "./spans";

/** Collects violations of the policy, and script errors. */
async function watch(page: Page): Promise<() => Promise<void>> {
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) errors.push(message.text());
  });
  return async () => expect(errors).toEqual([]);
}

/** The dark theme differs only in colours, so only they are checked again. */
async function check_both_themes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await check_page(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });
}

const pages: Record<string, string> = {
  Home: "/s/default",
  Connect: "/s/default/connect",
  Projects: "/s/default/projects",
  "a project": "/s/default/projects/checked",
  "a project's comparison": "/s/default/projects/checked?tab=compare",
  "a project's settings": "/s/default/projects/checked?tab=settings",
  "a project's access": "/s/default/projects/checked?tab=access",
  Explore: "/s/default/projects/checked/explore",
  "a heat map without spans": "/s/default/projects/checked/explore?draw=heat",
  Dashboards: "/s/default/projects/checked/dashboards",
  Traces: "/s/default/projects/checked/traces",
  "Spans without traces": "/s/default/projects/checked/traces?rows=spans",
  "a trace that does not exist": `/s/default/projects/checked/traces/${"ab".repeat(16)}`,
  "Chat sessions": "/s/default/projects/checked/sessions",
  Logs: "/s/default/projects/checked/logs",
  Signal: "/s/default/projects/checked/signal",
  Monitors: "/s/default/projects/checked/monitors",
  Evaluators: "/s/default/projects/checked/evaluators",
  SQL: "/s/default/projects/checked/sql?sql=SELECT+1+AS+one",
  Inbox: "/s/default/inbox",
  Studio: "/s/default/studio",
  Swarm: "/s/default/swarm",
  "Run history": "/s/default/history",
  Automations: "/s/default/automations",
  Notices: "/s/default/notices",
  Presets: "/s/default/presets",
  "a new preset": "/s/default/presets/new",
  Harnesses: "/s/default/harnesses",
  Skills: "/s/default/skills",
  Datasets: "/s/default/datasets",
  "Evaluators of the space": "/s/default/evaluators",
  Prompts: "/s/default/prompts",
  Playground: "/s/default/playground",
  Queues: "/s/default/queues",
  Repositories: "/s/default/repos",
  "Pull requests": "/s/default/pull_requests",
  General: "/s/default/settings/general",
  Members: "/s/default/settings/members",
  Roles: "/s/default/settings/roles",
  "API keys": "/s/default/settings/keys",
  Usage: "/s/default/usage",
  Destinations: "/s/default/settings/destinations",
  Policy: "/s/default/settings/policy",
  "Audit log": "/s/default/settings/audit",
  Server: "/installation/server",
  Health: "/installation/health",
  Storage: "/installation/storage",
  Spaces: "/installation/spaces",
  Users: "/installation/users",
  "Single sign-on": "/installation/sign-on",
  Groups: "/installation/groups",
  Logins: "/installation/logins",
  Account: "/account",
  Documentation: "/docs",
  "a document with a picture": "/docs/review",
  "an unknown address": "/nowhere",
};

test.describe("every page", () => {
  test.beforeEach(async ({ admin, request, server }) => {
    const known = await admin.send<{ name: string }[]>("GET", "/v1/projects?name_contains=checked");
    if (known.length === 0) await admin.send("POST", "/v1/projects", { name: "checked" });
    expect((await request.get(`${server.url}/healthz`)).ok()).toBe(true);
  });

  for (const [name, path] of Object.entries(pages)) {
    test(`${name} is accessible and complies with the policy`, async ({ page }) => {
      const verify = await watch(page);
      const response = await page.goto(path);
      expect(response?.headers()["content-security-policy"]).toContain("default-src 'none'");
      await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
      await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
      await expect(page.getByRole("alert")).toHaveCount(0);
      await check_both_themes(page);
      await verify();
    });
  }
});

test("traces, a trace and the overview with spans in them are accessible", async ({ page, request, server, admin }) => {
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("exporter") });
  const project = unique("seen");
  const root = new_span_id();
  const trace = await send_spans(request, server.url, key, project, [
    { name: "POST /chat", span_id: root, duration: 900, attributes: { "session.id": "visit-1" } },
    { name: "chat", parent_id: root, start: 100, error: "no answer", attributes: { "llm.model_name": "small-1" } },
  ]);
  const at = `/s/default/projects/${project}`;
  const verify = await watch(page);
  const places = [`/traces/${trace}`, `/traces/${trace}?tab=attributes`, `/traces/${trace}?tab=evals`];
  for (const place of [
    ...places,
    "/traces",
    "/traces?rows=spans",
    "/sessions",
    "/logs",
    "",
    "?tab=compare",
    "/sql?sql=SELECT+name+FROM+spans",
  ]) {
    await page.goto(at + place);
    await expect(page.getByRole("main").getByRole("heading").first()).toBeVisible();
    const content = page.getByText("POST /chat").or(page.getByText("visit-1")).or(page.locator("canvas"));
    await expect(content.or(page.getByText("No log records in this range")).first()).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await check_both_themes(page);
  }
  await verify();
});

const dialogs: Record<string, string> = {
  "create a project": "/s/default/projects?new=1",
  "create a key": "/s/default/settings/keys?new=1",
  "invite a teammate": "/s/default/settings/members?new=1",
  "create a space": "/installation/spaces?new=1",
};

for (const [name, path] of Object.entries(dialogs)) {
  test(`the dialog to ${name} is accessible`, async ({ page }) => {
    const verify = await watch(page);
    await page.goto(path);
    await expect(page.getByRole("dialog")).toBeVisible();
    await check_both_themes(page);
    await verify();
  });
}

test("menus, palette and key help are accessible", async ({ page }) => {
  await page.goto("/s/default/settings/audit");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await page.getByRole("button", { name: /^Time range/ }).click();
  await check_page(page);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option").first()).toBeVisible();
  await check_page(page);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await check_page(page);
});

test("the pages before login are accessible", async ({ browser, server }) => {
  const page = await guest_page(browser, server.url);
  const verify = await watch(page);
  for (const path of ["/login", "/invite/not-a-token"]) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await check_both_themes(page);
  }
  await verify();
  await page.context().close();
});
