// The pages of `hone demo`: embedded storage, no model key, no network. With SCREENSHOTS=1 it
// writes the pictures of the README.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, type Page, test } from "@playwright/test";
import { admin_email, admin_password, type Server, start_server } from "./server";

const directory = fileURLToPath(new URL("../../docs/screenshots", import.meta.url));
const takes_pictures = process.env.SCREENSHOTS === "1";

let server: Server;
let page: Page;

test.describe.configure({ mode: "serial" });
test.setTimeout(300_000);

test.beforeAll(async ({ browser }) => {
  test.setTimeout(300_000);
  server = await start_server("demo");
  page = await browser.newPage({ viewport: { width: 1360, height: 860 } });
  await page.goto(server.url);
  await page.getByLabel("Email").fill(admin_email);
  await page.getByLabel("Password").fill(admin_password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/s/default**");
});

test.afterAll(async () => {
  await page?.close();
  await server?.stop();
});

async function open(path: string, picture?: string): Promise<void> {
  await page.goto(server.url + path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
  if (!takes_pictures || !picture) return;
  mkdirSync(directory, { recursive: true });
  await page.waitForTimeout(1000); // charts are drawn
  await page.screenshot({ path: join(directory, `${picture}.png`) });
}

test("Signal finds the problems of the demo data, and one issue is investigated", async () => {
  await open("/s/default/projects/support-agent/signal", "signal");
  await expect(page.getByText("7 open issues", { exact: false })).toBeVisible();
  const first = page.getByRole("link", { name: /rank_articles became .* times slower/ }).first();
  await first.click();
  await expect(page.getByRole("heading", { level: 1 })).toContainText("rank_articles");
  await expect(page.getByRole("heading", { name: /root cause/i }).first()).toBeVisible();
  await expect(page.getByRole("img", { name: "Traces of the issue per hour" })).toBeVisible();
  if (takes_pictures) {
    await page.waitForTimeout(1000);
    await page.screenshot({ path: join(directory, "issue.png") });
  }
});

test("the address of a run without its space, as notices and the demo name it, opens the run", async () => {
  const found = await page.request.get(`${server.url}/v1/runs?limit=1`);
  const [run] = (await found.json()).data;
  await page.goto(`${server.url}/runs/${run.id}`);
  await page.waitForURL(`**/s/default/runs/${run.id}`);
  await expect(page.getByRole("heading", { level: 1 })).toContainText(run.title);
});

test("a session has its transcript and its chart", async () => {
  await page.goto(`${server.url}/s/default/swarm`);
  const session = page.getByRole("link", { name: /What goes wrong most/ }).first();
  await session.click();
  await expect(page.getByText(/7 problems/).first()).toBeVisible();
  if (takes_pictures) await page.screenshot({ path: join(directory, "run.png") });
});

test("automations have fired", async () => {
  await open("/s/default/automations");
  await expect(page.getByText("morning-report")).toBeVisible();
  await expect(page.getByText("failing-tools")).toBeVisible();
});

test("the project has traces and a monitor", async () => {
  await open("/s/default/projects/support-agent");
  await open("/s/default/projects/support-agent/monitors");
  await expect(page.getByText("slow responses")).toBeVisible();
});

test("the proposed fix was replayed on the base and on the branch, and people's labels calibrate an evaluator", async () => {
  const reviews = await (await page.request.get(`${server.url}/v1/reviews?kind=branch`)).json();
  const artifact = reviews.data[0].artifact.id;
  await expect(async () => {
    const replay = await (await page.request.get(`${server.url}/v1/reviews/${artifact}/replay`)).json();
    expect(replay.data?.state, JSON.stringify(replay)).toBe("done");
  }).toPass({ timeout: 120_000 });
  await open(`/s/default/inbox/${artifact}?tab=overview`, "verified_fix");
  await expect(page.getByRole("heading", { name: "Verified fix" }).first()).toBeVisible();
  await expect(page.getByText(/base \d+\/\d+ fail → branch \d+\/\d+ pass/).first()).toBeVisible();
  await expect(page.getByText("replay: fixed").first()).toBeVisible();
  await open("/s/default/queues", "queues");
  await page.getByRole("link", { name: "tickets" }).click();
  await expect(page.getByRole("button", { name: /Save and next/ })).toBeVisible();
  const evaluators = await (await page.request.get(`${server.url}/v1/evaluators?space=default`)).json();
  const helps = evaluators.data.find((one: { name: string }) => one.name === "helps-the-customer");
  await open(`/s/default/evaluators/${helps.id}?tab=calibration`, "calibration");
  await expect(page.getByText("Disagreements first")).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "fail" }).first()).toBeVisible();
});
