// Queues in the browser: created, filled and worked through by keyboard; labels on the page of a trace.

import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { expect, type Person, test, unique } from "./fixtures";
import { new_trace_id, send_spans } from "./spans";

interface Made {
  project: string;
  config: string;
  queue: string;
  traces: string[];
}

async function make_queue(admin: Person, page: Page, url: string, count: number): Promise<Made> {
  const project = unique("labelled");
  const config = unique("correct");
  const made = await admin.send<{ id: string }>("POST", "/v1/projects", { name: project });
  const key = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("key") });
  const traces = Array.from({ length: count }, () => new_trace_id());
  const spans = traces.map((trace_id, index) => ({
    name: "handle_ticket",
    trace_id,
    attributes: { "input.value": `question ${index}`, "output.value": `reply ${index}` },
  }));
  await send_spans(page.request, url, key.key, project, spans);
  const values = [
    { label: "pass", score: 1 },
    { label: "fail", score: 0 },
  ];
  const body = { name: config, type: "CATEGORICAL", optimization_direction: "MAXIMIZE", values };
  const config_made = await admin.send<{ id: string }>("POST", "/v1/annotation_configs?space=default", body);
  await admin.send("PUT", `/v1/projects/${made.id}/annotation_configs/${encodeURIComponent(config_made.id)}`);
  const queue = await admin.send<{ id: string }>("POST", "/v1/annotation_queues?space=default", {
    name: unique("tickets"),
    project,
    configs: [config],
    instructions: "Does the reply help?",
  });
  await admin.send("POST", `/v1/annotation_queues/${queue.id}/fill`, { hours: 24, limit: 100 });
  return { project, config, queue: queue.id, traces };
}

test("a queue is worked through by keyboard only, and an item is taken back", async ({ page, admin, server }) => {
  const made = await make_queue(admin, page, server.url, 3);
  await page.goto(`/s/default/queues/${made.queue}`);
  await expect(page.getByText("Does the reply help?")).toBeVisible();
  await expect(page.getByRole("region", { name: "Output" })).toContainText("reply");
  await expect(page.getByText("Verdicts of evaluators are shown after your labels.")).toBeVisible();
  await check_page(page);
  await page.keyboard.press("1");
  await expect(page.getByRole("radio", { name: /pass/ })).toHaveAttribute("aria-checked", "true");
  await page.keyboard.press("n");
  await expect(page.getByText("2 items pending, 1 done, 0 skipped", { exact: false })).toBeVisible();
  await page.keyboard.press("s");
  await expect(page.getByText("1 item pending, 1 done, 1 skipped", { exact: false })).toBeVisible();
  await page.keyboard.press("u");
  await expect(page.getByText("2 items pending, 1 done, 0 skipped", { exact: false })).toBeVisible();
  for (const left of ["1 item pending", "0 items pending"]) {
    await page.keyboard.press("2");
    await expect(page.getByRole("radio", { name: /fail/ })).toHaveAttribute("aria-checked", "true");
    await page.keyboard.press("n");
    await expect(page.getByText(left, { exact: false })).toBeVisible();
  }
  await expect(page.getByText("Nothing left for you")).toBeVisible();
  await page.getByRole("link", { name: "Agreement" }).click();
  await expect(page.getByRole("row").filter({ hasText: "admin" })).toContainText("3");
  await check_page(page);
});

test("a queue is created with a config of its own", async ({ page, admin, server }) => {
  const made = await make_queue(admin, page, server.url, 1);
  await page.goto("/s/default/queues");
  await expect(page.getByRole("table", { name: "Queues", exact: true })).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Create queue", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const name = unique("by-hand");
  await dialog.getByLabel("Name", { exact: true }).fill(name);
  await dialog.getByLabel("Project").selectOption({ label: made.project });
  await dialog.getByLabel("New config").fill(unique("tone"));
  await dialog.getByRole("button", { name: "Create queue" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByText("Nothing left for you")).toBeVisible();
  await page.getByRole("button", { name: "Fill from the last week" }).click();
  await expect(page.getByText("1 added of 1 that match")).toBeVisible();
  await expect(page.getByRole("region", { name: "Output" })).toContainText("reply");
});

test("one key labels a trace", async ({ page, admin, server }) => {
  const made = await make_queue(admin, page, server.url, 1);
  await page.goto(`/s/default/projects/${made.project}/traces/${made.traces[0]}`);
  await expect(page.getByRole("group", { name: `Label ${made.config}` })).toBeVisible();
  await page.keyboard.press("+");
  await expect(page.getByText(`${made.config}: pass`).first()).toBeVisible();
  await page.keyboard.press("-");
  await expect(page.getByText(`${made.config}: fail`).first()).toBeVisible();
});
