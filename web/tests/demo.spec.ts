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

test.beforeAll(async ({ browser }) => {
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
  const replay = (await (await page.request.get(`${server.url}/v1/reviews/${artifact}/replay`)).json()).data;
  const compared = `base=${replay.base_experiment_id}&other=${replay.branch_experiment_id}`;
  await open(`/s/default/datasets/${replay.dataset_id}/compare?${compared}`, "compare");
  await expect(page.getByText(/fixed/).first()).toBeVisible();
  await open("/s/default/queues", "queues");
  await page.getByRole("link", { name: "tickets" }).click();
  await expect(page.getByRole("button", { name: /Save and next/ })).toBeVisible();
  const evaluators = await (await page.request.get(`${server.url}/v1/evaluators?space=default`)).json();
  const helps = evaluators.data.find((one: { name: string }) => one.name === "helps-the-customer");
  await expect(async () => {
    await open("/s/default/evaluators", "evaluators");
    await expect(page.getByRole("link", { name: /κ \d\.\d\d \(60\)/ })).toHaveCount(2, { timeout: 2000 });
  }).toPass({ timeout: 120_000 });
  await open(`/s/default/evaluators/${helps.id}?tab=calibration`, "calibration");
  await expect(page.getByText("Disagreements first")).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "fail" }).first()).toBeVisible();
});

test("an LLM judge whose model is scripted shows its agreement with people, and that the model is scripted", async () => {
  const evaluators = await (await page.request.get(`${server.url}/v1/evaluators?space=default`)).json();
  const judge = evaluators.data.find((one: { kind: string }) => one.kind === "llm");
  await open(`/s/default/evaluators/${judge.id}?tab=calibration`);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("scripted-model");
  await expect(page.getByText("Its model is scripted", { exact: false })).toBeVisible();
  await expect(page.getByText(/^0\.\d\d \(95 % interval/).first()).toBeVisible();
  await expect(page.getByText("Disagreements first")).toBeVisible();
  await open(`/s/default/evaluators/${judge.id}`);
  await expect(page.getByLabel("Model")).toHaveValue("scripted-judge");
});

test("tasks evaluate traces with code and with the judge, and their funnels account for them", async () => {
  const tasks = await (await page.request.get(`${server.url}/v1/eval_tasks?space=default`)).json();
  expect(tasks.data.map((task: { evaluator_kind: string }) => task.evaluator_kind).sort()).toEqual(["code", "llm"]);
  for (const { id, evaluator_id, evaluator_name, evaluator_kind } of tasks.data) {
    await expect(async () => {
      const backfills = await (await page.request.get(`${server.url}/v1/eval_tasks/${id}/backfills`)).json();
      expect(backfills.data[0].state, JSON.stringify(backfills)).toBe("done");
      expect(backfills.data[0].done).toBeGreaterThan(150);
    }).toPass({ timeout: 120_000 });
    await open(`/s/default/eval_tasks/${id}`, evaluator_kind === "code" ? "task" : undefined);
    await expect(page.getByText(String(evaluator_name)).first()).toBeVisible();
    // Its verdicts with what they are about, and their rate corrected by the labels of people.
    await open(`/s/default/evaluators/${evaluator_id}?tab=verdicts`);
    const verdicts = page.getByRole("table", { name: "Verdicts about traces", exact: true });
    await expect(verdicts.getByText(/^(pass|fail)$/).first()).toBeVisible();
    const calls = verdicts.getByRole("link", { name: "trace", exact: true });
    if (evaluator_kind === "llm") await expect(calls.first()).toBeVisible();
    else await expect(calls).toHaveCount(0);
    await open(`/s/default/evaluators/${evaluator_id}?tab=calibration`);
    await expect(page.getByRole("heading", { name: "Pass rate of the last 7 days" })).toBeVisible();
  }
});
