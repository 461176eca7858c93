// Every page with the data of `hone demo`: no error, a heading, and nothing beyond the margin, also on a phone. With
// GALLERY=DIR it saves a screenshot of each page: light, dark and on a phone.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { admin_email, admin_password, type Server, start_server } from "./server";

const directory = process.env.GALLERY;
const at = "/s/default/projects/support-agent";

const pages: Record<string, string> = {
  home: "/s/default",
  connect: "/s/default/connect",
  projects: "/s/default/projects",
  overview: at,
  compare: `${at}?tab=compare`,
  project_settings: `${at}?tab=settings`,
  explore: `${at}/explore?metric=tokens&by=model&draw=bars&range=7d`,
  explore_compared: `${at}/explore?metric=latency_p95&with=previous&range=24h`,
  dashboards: `${at}/dashboards`,
  signal: `${at}/signal`,
  traces: `${at}/traces?range=7d`,
  spans: `${at}/traces?range=7d&rows=spans`,
  chat_sessions: `${at}/sessions?range=7d`,
  logs: `${at}/logs`,
  monitors: `${at}/monitors`,
  new_monitor: `${at}/monitors/new?metric=latency_p95`,
  project_evaluators: `${at}/evaluators`,
  sql: `${at}/sql?range=7d&sql=${encodeURIComponent("SELECT model, count() AS calls FROM spans WHERE kind = 'llm' GROUP BY model")}&draw=bars`,
  inbox: "/s/default/inbox",
  studio: "/s/default/studio",
  swarm: "/s/default/swarm",
  history: "/s/default/history",
  automations: "/s/default/automations",
  presets: "/s/default/presets",
  new_preset: "/s/default/presets/new",
  harnesses: "/s/default/harnesses",
  skills: "/s/default/skills",
  datasets: "/s/default/datasets",
  evaluators: "/s/default/evaluators",
  prompts: "/s/default/prompts",
  playground: "/s/default/playground",
  queues: "/s/default/queues",
  repos: "/s/default/repos",
  pull_requests: "/s/default/pull_requests",
  notices: "/s/default/notices",
  general: "/s/default/settings/general",
  members: "/s/default/settings/members",
  roles: "/s/default/settings/roles",
  keys: "/s/default/settings/keys",
  destinations: "/s/default/settings/destinations",
  usage: "/s/default/usage",
  policy: "/s/default/settings/policy",
  audit: "/s/default/settings/audit",
  server: "/installation/server",
  health: "/installation/health",
  storage: "/installation/storage",
  spaces: "/installation/spaces",
  users: "/installation/users",
  sign_on: "/installation/sign-on",
  groups: "/installation/groups",
  logins: "/installation/logins",
  installation_keys: "/s/default/settings/keys?scope=installation",
  account: "/account",
  docs: "/docs",
  docs_traces: "/docs/traces",
  docs_signal: "/docs/signal",
  docs_experiment: "/docs/evaluate",
  docs_review: "/docs/review",
};

let server: Server;
let page: Page;

test.describe.configure({ mode: "serial" });

test.beforeAll(async ({ browser }) => {
  server = await start_server("demo");
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(server.url);
  await page.getByLabel("Email").fill(admin_email);
  await page.getByLabel("Password").fill(admin_password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/s/default**");
  Object.assign(pages, await pages_of_objects());
});

test.afterAll(async () => {
  await page?.close();
  await server?.stop();
});

/** One of each kind of object that the demo has. */
async function pages_of_objects(): Promise<Record<string, string>> {
  const first = async (route: string) => (await (await page.request.get(server.url + route)).json()).data[0];
  const issue = await first("/v1/issues?space=default&limit=1");
  const trace = await first("/v1/projects/support-agent/trace_rows?limit=1");
  const run = await first("/v1/runs?space=default&limit=1");
  const monitor = await first("/v1/monitors?space=default&limit=1");
  const automation = await first("/v1/automations?space=default&limit=1");
  const review = await first("/v1/reviews?space=default&kind=branch&limit=1");
  const dataset = await first("/v1/datasets?space=default&limit=1");
  const experiments = (await (await page.request.get(`${server.url}/v1/datasets/${dataset.id}/experiments`)).json())
    .data;
  const evaluator = await first("/v1/evaluators?space=default&limit=1");
  const task = await first("/v1/eval_tasks?space=default&limit=1");
  const queue = await first("/v1/annotation_queues?space=default&limit=1");
  const preset = await first("/v1/presets?space=default&limit=1");
  const repo = await first("/v1/repos?space=default&limit=1");
  return {
    dataset: `/s/default/datasets/${dataset.id}`,
    experiments: `/s/default/datasets/${dataset.id}?tab=experiments`,
    experiment: `/s/default/experiments/${experiments[0].id}`,
    comparison: `/s/default/datasets/${dataset.id}/compare?experiment=${experiments[0].id}&experiment=${experiments[1].id}`,
    evaluator: `/s/default/evaluators/${evaluator.id}`,
    calibration: `/s/default/evaluators/${evaluator.id}?tab=calibration`,
    eval_task: `/s/default/eval_tasks/${task.id}`,
    queue: `/s/default/queues/${queue.id}`,
    preset: `/s/default/presets/${preset.id}`,
    repo: `/s/default/repos/${repo.id}`,
    document: "/docs/sessions",
    issue: `${at}/signal/${issue.id}`,
    trace: `${at}/traces/${trace.trace_id}`,
    run: `/s/default/runs/${run.id}`,
    monitor: `${at}/monitors/${monitor.id}`,
    automation: `/s/default/automations/${automation.id}`,
    review: `/s/default/inbox/${review.artifact.id}`,
    changes: `/s/default/inbox/${review.artifact.id}?tab=changes`,
  };
}

async function open(path: string): Promise<void> {
  await page.goto(server.url + path);
  await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
  await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
  await expect(page.getByRole("main").getByRole("alert"), path).toHaveCount(0);
}

async function picture(name: string, kind: string): Promise<void> {
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.screenshot({ path: join(directory, `${name}.${kind}.png`) });
}

/** What ends beyond the margin of its page. What is inside of a part that scrolls sideways by itself does not. */
function beyond_margin(): string[] {
  const found: string[] = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) found.push(`the page is ${wide} px too wide`);
  for (const heading of document.querySelectorAll("main h1"))
    if (heading.scrollWidth > heading.clientWidth + 1) found.push(`h1 "${heading.textContent}" is cut off`);
  for (const element of document.querySelectorAll(
    "main :is(table, pre, form, figure, select, input, button, h1, .table-bar)",
  )) {
    const host = element.closest(".page, .slide-over");
    const box = element.getBoundingClientRect();
    if (!host || box.width === 0 || element.closest(".off-screen, .matrix-scroll, .markdown-table, .compare-table"))
      continue;
    const margin = host.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(host).paddingRight);
    const name = element.getAttribute("aria-label") ?? element.textContent?.slice(0, 30);
    if (box.right > margin + 1)
      found.push(`${element.localName} "${name}" ends ${Math.round(box.right - margin)} px too far`);
  }
  return found;
}

/** Words of docs/words.md that no page may use, numbers that are no numbers, and an amount that is zero in two ways. */
const unwanted = /\balarms?\b|\bNaN\b|\bundefined\b|\[object Object\]|\$0\.0+\b/gi;

/** Addresses of the other tabs of the page. */
function tabs_of_page(): string[] {
  const links = document.querySelectorAll<HTMLAnchorElement>("main a[href*='tab='], main a[href*='by=']");
  const same_page = [...links].filter((link) => link.pathname === location.pathname && link.search !== location.search);
  return [...new Set(same_page.map((link) => link.pathname + link.search))];
}

test("every page of the demo opens, and nothing on it ends beyond the margin, also on a phone", async () => {
  test.setTimeout(1_200_000);
  const faults: string[] = [];
  const seen = new Set(Object.values(pages));
  const listed = seen.size;
  const measure = async (name: string) =>
    faults.push(...(await page.evaluate(beyond_margin)).map((what) => `${name}: ${what}`));
  for (const [name, path] of Object.entries(pages)) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await open(path);
    await measure(name);
    // Documents may explain such words.
    const text = path.startsWith("/docs") ? "" : (await page.getByRole("main").allInnerTexts()).join("\n");
    faults.push(...[...text.matchAll(unwanted)].map(([found]) => `${name}: ${found}`));
    await picture(name, "light");
    if (directory) {
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
      await picture(name, "dark");
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await open(path);
    await measure(`${name} on a phone`);
    await picture(name, "phone");
    for (const tab of await page.evaluate(tabs_of_page)) {
      if (seen.has(tab)) continue;
      seen.add(tab);
      await open(tab);
      await measure(`${tab} on a phone`);
    }
  }
  expect(seen.size).toBeGreaterThan(listed);
  expect(faults).toEqual([]);
});
