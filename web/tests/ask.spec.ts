// "Ask a worker" on what is on the page: the Studio opens with it attached, suggests tasks about it, and the worker's
// prompt names it. Studio remembers the last worker and project, and lists recent sessions.

import { check_page } from "./axe";
import { with_chat } from "./chat";
import { expect, type Person, test, unique } from "./fixtures";

const subjects_of = (page: import("@playwright/test").Page) =>
  page.getByRole("list", { name: "The session is about" }).getByRole("listitem");

interface Run {
  id: string;
  state: string;
}

async function ended_run(admin: Person, project: string, command: string[]): Promise<Run> {
  const settings = { harness: "command", command };
  const { id } = await admin.send<Run>("POST", "/v1/runs", { project, prompt: "Count the orders", settings });
  let run: Run | undefined;
  await expect(async () => {
    run = await admin.send<Run>("GET", `/v1/runs/${id}`);
    expect(["succeeded", "failed"]).toContain(run.state);
  }).toPass({ timeout: 120_000 });
  return run as Run;
}

test("an issue, a chart, a SQL result and a failed run can be given to a worker", async ({
  page,
  request,
  server,
  admin,
}) => {
  const [project] = await with_chat(request, server.url, admin);
  const at = `/s/default/projects/${project}`;
  const issue = await admin.send<{ id: string }>("POST", "/v1/issues", {
    project,
    title: "Orders are refused",
    explanation: "seen twice",
  });
  await page.goto(`${at}/signal/${issue.id}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Ask a worker" }).click();
  await expect(subjects_of(page)).toHaveText(["Issue: Orders are refused"]);
  await expect(page.getByLabel("on", { exact: true })).toHaveValue(project);

  await page.goto(`${at}?range=6h`);
  await page.getByRole("link", { name: "Ask a worker about Latency" }).click();
  await expect(subjects_of(page)).toHaveText(["Chart Latency over time (p95, p50)", "Last 6 h"]);
  await page.getByRole("button", { name: "Remove Last 6 h" }).click();
  await expect(subjects_of(page)).toHaveText(["Chart Latency over time (p95, p50)"]);

  await page.goto(`${at}/sql?sql=SELECT+name+FROM+spans`);
  await page.getByRole("link", { name: "Ask a worker" }).click();
  await expect(subjects_of(page)).toHaveText(["SQL SELECT name FROM spans"]);

  const run = await ended_run(admin, project, ["/bin/false"]);
  expect(run.state).toBe("failed");
  await page.goto(`/s/default/runs/${run.id}`);
  await page.getByRole("link", { name: "Ask a worker" }).click();
  await expect(subjects_of(page)).toHaveText(["Run: Count the orders"]);

  // The task is suggested, and the prompt names the run.
  await page.getByLabel("Use").selectOption("harness:command");
  await page.getByLabel("Command").fill("/bin/cat");
  await page
    .getByRole("region", { name: "Suggested tasks" })
    .getByRole("button", { name: /why it failed/ })
    .click();
  await check_page(page);
  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(/\/runs\/run_/);
  const transcript = page.getByRole("list", { name: "Transcript" });
  await expect(transcript.getByText(`run ${run.id} Count the orders, with its transcript`).first()).toBeVisible();
});

test("a session suggests follow-ups about its subject, and a click only fills the box", async ({ page, admin }) => {
  const project = unique("next");
  await admin.send("POST", "/v1/projects", { name: project });
  const run = await admin.send<Run>("POST", "/v1/runs", {
    project,
    prompt: "Explain it\n\nThis is about:\n- trace 0102030405060708090a0b0c0d0e0f10",
    settings: { harness: "command", command: ["/bin/cat"] },
  });
  await page.goto(`/s/default/runs/${run.id}`);
  const suggested = page.getByRole("list", { name: "Suggestions" }).getByRole("button");
  await expect(suggested).toHaveText(
    ["Find similar traces", "Describe the smallest fix", "Show the evidence", "Draw a chart"],
    { timeout: 120_000 },
  );
  const box = page.getByLabel("Follow-up");
  await suggested.first().click();
  await expect(box).toHaveValue(/^Which other traces of the last 7 days behave like this\?/);
  await expect(box).toBeFocused();
  await expect(suggested.first()).toHaveAttribute("aria-pressed", "true");
  await check_page(page);

  // Another one replaces it; own words stay.
  await suggested.nth(2).click();
  await expect(box).toHaveValue(/^Which traces support this\?/);
  await box.fill("Be short.");
  await suggested.nth(2).click();
  await expect(box).toHaveValue(/^Be short\.\nWhich traces support this\?/);
  const transcript = page.getByRole("list", { name: "Transcript" });
  await expect(transcript.getByText("Be short.")).toHaveCount(0);

  await suggested.first().click();
  await box.fill((await suggested.first().getAttribute("title")) ?? "");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(transcript.getByText(/^Which other traces/).first()).toBeVisible();
  await expect(suggested.first()).toHaveText("Describe the smallest fix", { timeout: 120_000 });
});

test("a run that succeeded needs no explanation", async ({ page, admin }) => {
  const project = unique("good");
  await admin.send("POST", "/v1/projects", { name: project });
  const run = await ended_run(admin, project, ["/bin/cat"]);
  expect(run.state).toBe("succeeded");
  await page.goto(`/s/default/runs/${run.id}`);
  await expect(page.getByRole("button", { name: "Run again" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Ask a worker" })).toHaveCount(0);
});

test("Studio remembers the worker and the project, and lists recent sessions", async ({ page, admin }) => {
  const project = unique("again");
  await admin.send("POST", "/v1/projects", { name: project });
  const settings = { harness: "command", command: ["/bin/cat"] };
  const preset = await admin.send<{ id: string }>("POST", "/v1/presets", { name: unique("echo"), settings });
  const prompt = unique("Say it");
  await page.goto("/s/default/studio");
  await page.getByLabel("Use").selectOption(`preset:${preset.id}`);
  await page.getByLabel("on", { exact: true }).selectOption(project);
  await page.getByLabel("to", { exact: true }).fill(prompt);
  await page.getByRole("button", { name: "Start session" }).click();
  await page.waitForURL(/\/runs\/run_/);
  const address = page.url();

  await page.goto("/s/default/studio");
  await expect(page.getByLabel("Use")).toHaveValue(`preset:${preset.id}`);
  await expect(page.getByLabel("on", { exact: true })).toHaveValue(project);
  const recent = page.getByRole("region", { name: "Recent sessions" });
  await recent.getByRole("link", { name: new RegExp(prompt) }).click();
  await expect(page).toHaveURL(address);

  // A preset that was deleted is forgotten.
  await admin.send("DELETE", `/v1/presets/${preset.id}`);
  await page.goto("/s/default/studio");
  await expect(page.getByLabel("on", { exact: true })).toHaveValue(project);
  await expect(page.getByLabel("Use")).not.toHaveValue(`preset:${preset.id}`);
});

test("the fixed analysis has neither a prompt nor tasks, and an agent comes before it", async ({ page, admin }) => {
  const project = unique("fixed");
  await admin.send("POST", "/v1/projects", { name: project });
  const settings = { harness: "command", command: ["/bin/cat"] };
  const preset = await admin.send<{ id: string }>("POST", "/v1/presets", { name: unique("agent"), settings });
  await page.goto(`/s/default/studio?project=${project}`);
  const worker = page.getByLabel("Use");
  await expect(worker).toHaveValue(/^preset:/);
  const prompt = page.getByLabel("to", { exact: true });
  const gallery = page.getByRole("region", { name: "Task gallery" });
  await expect(prompt).toBeVisible();
  await expect(gallery).toBeVisible();

  await worker.selectOption("harness:playbook");
  await expect(page.getByText("Fixed analysis: it finds errors, slow and expensive steps")).toBeVisible();
  await expect(prompt).toHaveCount(0);
  await expect(gallery).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Start session" })).toBeEnabled();

  await worker.selectOption(`preset:${preset.id}`);
  await expect(prompt).toBeVisible();
  await expect(gallery).toBeVisible();
  await admin.send("DELETE", `/v1/presets/${preset.id}`);
});
