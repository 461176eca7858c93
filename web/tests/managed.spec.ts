// Sessions with an agent provider: the consent of an owner, the preset's form, and the page of a session.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { expect, test, unique } from "./fixtures";
import { type Scripted, start_managed_agents } from "./scripted";

const key = "sk-ant-spec-0123456789";
let provider: Scripted;
test.beforeAll(async () => {
  provider = await start_managed_agents(key);
});
test.afterAll(() => provider.stop());

test("without an agent on the server Studio starts with what works without a consent", async ({ page, admin }) => {
  const name = unique("fresh");
  await admin.send("POST", "/v1/spaces", { name });
  await admin.send("POST", `/v1/projects?space=${name}`, { name: "shop" });
  await admin.send("POST", `/v1/skills?space=${name}`, {
    name: "provider",
    type: "model",
    secrets: { API_KEY: key },
    variables: { PROTOCOL: "anthropic", BASE_URL: provider.url, ALLOW_PRIVATE: "true", MODELS: "claude-opus-5-5" },
  });
  await page.goto(`/s/${name}/studio`);
  const worker = page.getByLabel("Use");
  await expect(worker.getByRole("option", { name: "Claude Managed Agents" })).toHaveCount(1);
  await expect(worker).toHaveValue("harness:playbook");
});

test("an owner reads what leaves, consents, and a session works at the provider", async ({ page, admin }) => {
  const base_url = `${provider.url}/play/tools`;
  const project = unique("remote");
  await admin.send("POST", "/v1/projects", { name: project });
  const skill = await admin.send<{ id: string; name: string }>("POST", "/v1/skills", {
    name: unique("provider"),
    type: "model",
    secrets: { API_KEY: key },
    variables: { PROTOCOL: "anthropic", BASE_URL: base_url, ALLOW_PRIVATE: "true", MODELS: "claude-opus-5-5" },
  });

  // A preset with this provider is refused before the consent, and its form shows what the provider lacks.
  const name = unique("remote");
  await page.goto("/s/default/presets/new");
  await page.getByLabel("Name", { exact: true }).fill(name);
  const choice = page.getByLabel("Provider", { exact: true });
  await expect(choice.getByRole("option", { name: "Kubernetes (not available)" })).toBeDisabled();
  await expect(page.getByText("Kubernetes: connect this server to a cluster first")).toBeVisible();
  await choice.selectOption("claude-managed");
  await expect(page.getByLabel("Harness")).toBeDisabled();
  await page.getByLabel("Model", { exact: true }).fill("claude-opus-5-5");
  await page.getByLabel(`${skill.name} (model)`).check();
  await page.locator("summary", { hasText: "Sandbox" }).click();
  await expect(page.getByLabel("Memory")).toBeDisabled();
  await expect(
    page.getByText("Claude Managed Agents: the provider decides how large its machines are.").first(),
  ).toBeVisible();
  await page.getByRole("button", { name: "Create preset" }).click();
  await expect(page.getByText("no owner has consented")).toBeVisible();

  await page.goto("/s/default/settings/policy");
  await expect(page.getByRole("heading", { name: "What leaves this server" })).toBeVisible();
  await expect(page.getByText("Values of secrets of the preset's skills")).toBeVisible();
  const consent = page.getByRole("button", { name: "Consent", exact: true });
  await expect(consent).toBeDisabled();
  await page.getByLabel("Base URL of the provider").fill(base_url);
  await page.getByLabel("I have read what leaves this server").check();
  await consent.click();
  await expect(page.getByText(base_url)).toBeVisible();
  await check_page(page);

  const settings = {
    provider: "claude-managed",
    harness: "claude-managed",
    model: "claude-opus-5-5",
    skills: [skill.id],
  };
  await admin.send("POST", "/v1/presets", { name, settings });
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", {
    project,
    prompt: "List the files.",
    preset: name,
  });
  await page.goto(`/s/default/runs/${run.id}`);
  const transcript = page.getByRole("list", { name: "Transcript" });
  await expect(transcript.getByText("There is one file.").first()).toBeVisible();
  await expect(page.locator(".facts").getByText("waiting")).toBeVisible();
  await expect(page.locator(".facts").getByText("Claude Managed Agents")).toBeVisible();
  await check_page(page);
  await page.getByRole("link", { name: "Network" }).click();
  await expect(page.getByText("do not pass the broker of this server")).toBeVisible();
  await page.getByRole("link", { name: "Files" }).click();
  await expect(page.getByText("not in a sandbox of this server")).toBeVisible();

  // Without the consent the session ends.
  await page.goto("/s/default/settings/policy");
  await page.getByRole("listitem").filter({ hasText: base_url }).getByRole("button", { name: "Withdraw" }).click();
  await expect(page.getByText("No owner has consented")).toBeVisible();
  await page.goto(`/s/default/runs/${run.id}`);
  await expect(page.getByText("the consent to send data to the provider was withdrawn").first()).toBeVisible({
    timeout: 60_000,
  });
});

// One turn of each agent: it lists files, saves an investigation and reports.
const plays = {
  side: {
    turns: [
      [
        { say: "I list the files of the workspace." },
        { tool: "bash", input: { command: "ls" }, result: "README.md\n" },
        {
          custom: [
            {
              name: "save_investigation",
              input: {
                title: "Why refunds fail",
                markdown: "# Cause\n\nThe currency is missing.",
                summary: "no currency",
              },
            },
          ],
        },
        { say: "The currency is missing. The investigation is saved." },
      ],
    ],
  },
};
const local_script = `cat > prompt; echo "I list the files of the workspace."; touch README.md; ls
hone save_investigation --title "Why refunds fail" --summary "no currency" --markdown "# Cause

The currency is missing."; echo "The currency is missing. The investigation is saved."`;

/** With SCREENSHOTS=1: the picture of docs/managed-agents.md, one page beside the other. */
async function take_picture(page: Page, left: Buffer, right: Buffer): Promise<void> {
  const path = fileURLToPath(new URL("../../docs/screenshots/managed.png", import.meta.url));
  mkdirSync(dirname(path), { recursive: true });
  const images = [left, right].map(
    (one) => `<img src="data:image/png;base64,${one.toString("base64")}" style="width:50%">`,
  );
  await page.setViewportSize({ width: 2000, height: 860 });
  await page.setContent(`<body style="margin:0;display:flex">${images.join("")}</body>`);
  await page.screenshot({ path });
}

test("a session at the provider reads like one of this server", async ({ page, admin, browser }) => {
  await page.setViewportSize({ width: 1000, height: 860 });
  const sent = await fetch(`${provider.url}/_plays`, { method: "POST", body: JSON.stringify(plays) });
  expect(sent.ok).toBe(true);
  const base_url = `${provider.url}/play/side`;
  const project = unique("side");
  await admin.send("POST", "/v1/projects", { name: project });
  const spaces = await admin.send<{ id: string }[]>("GET", "/v1/spaces");
  await admin.send("POST", `/v1/spaces/${spaces[0]?.id}/managed-consent`, { base_url });
  const skill = await admin.send<{ id: string }>("POST", "/v1/skills", {
    name: unique("provider"),
    type: "model",
    secrets: { API_KEY: key },
    variables: { PROTOCOL: "anthropic", BASE_URL: base_url, ALLOW_PRIVATE: "true", MODELS: "claude-opus-5-5" },
  });
  const managed = {
    provider: "claude-managed",
    harness: "claude-managed",
    model: "claude-opus-5-5",
    skills: [skill.id],
  };
  const local = { harness: "command", command: ["/bin/sh", "-c", local_script] };
  const pictures: Buffer[] = [];
  for (const settings of [managed, local]) {
    const run = await admin.send<{ id: string }>("POST", "/v1/runs", {
      project,
      prompt: "Why do refunds fail since Monday?",
      settings,
    });
    await page.goto(`/s/default/runs/${run.id}`);
    const transcript = page.getByRole("list", { name: "Transcript" });
    await expect(transcript.getByText("Why do refunds fail since Monday?").first()).toBeVisible();
    await expect(transcript.getByText("The investigation is saved.").first()).toBeVisible({ timeout: 120_000 });
    await expect(page.locator(".facts").getByText(/^(succeeded|waiting)$/)).toBeVisible({ timeout: 120_000 });
    await expect(page.getByRole("link", { name: "Artifacts 1" })).toBeVisible();
    await expect(page.getByLabel("Follow-up")).toBeEnabled();
    await check_page(page);
    pictures.push(await page.screenshot());
  }
  const [left, right] = pictures;
  if (process.env.SCREENSHOTS !== "1" || !left || !right) return;
  const blank = await browser.newPage();
  await take_picture(blank, left, right);
  await blank.close();
});

test("tool calls in a row are one line, and the result is above the transcript", async ({ page, admin }) => {
  const calls = ["ls", "cat a", "cat b", "cat c"].map((command) => ({
    tool: "bash",
    input: { command },
    result: `${command}: done`,
  }));
  const turns = [[{ say: "I read the files." }, ...calls, { say: "The **currency** is missing." }]];
  await fetch(`${provider.url}/_plays`, { method: "POST", body: JSON.stringify({ calls: { turns } }) });
  const base_url = `${provider.url}/play/calls`;
  const project = unique("calls");
  await admin.send("POST", "/v1/projects", { name: project });
  const spaces = await admin.send<{ id: string }[]>("GET", "/v1/spaces");
  await admin.send("POST", `/v1/spaces/${spaces[0]?.id}/managed-consent`, { base_url });
  const skill = await admin.send<{ id: string }>("POST", "/v1/skills", {
    name: unique("provider"),
    type: "model",
    secrets: { API_KEY: key },
    variables: { PROTOCOL: "anthropic", BASE_URL: base_url, ALLOW_PRIVATE: "true", MODELS: "claude-opus-5-5" },
  });
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", {
    project,
    prompt: "Why do refunds fail?",
    settings: { provider: "claude-managed", harness: "claude-managed", model: "claude-opus-5-5", skills: [skill.id] },
  });
  await page.goto(`/s/default/runs/${run.id}`);
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.locator("strong")).toHaveText("currency");
  const transcript = page.getByRole("list", { name: "Transcript" });
  await expect(transcript.getByText("4 tool calls")).toBeVisible();
  await expect(transcript.getByText("bash 4")).toBeVisible();
  await expect(transcript.getByText("cat b")).toHaveCount(0);
  await transcript.getByText("4 tool calls").click();
  await transcript.getByText("cat b").click();
  await expect(transcript.getByText("cat b: done")).toBeVisible();
  await check_page(page);
});

test("a session whose turn failed is shown and counted as failed, and continues", async ({ page, admin }) => {
  const base_url = `${provider.url}/play/refusal`;
  const project = unique("refused");
  await admin.send("POST", "/v1/projects", { name: project });
  const spaces = await admin.send<{ id: string }[]>("GET", "/v1/spaces");
  await admin.send("POST", `/v1/spaces/${spaces[0]?.id}/managed-consent`, { base_url });
  const skill = await admin.send<{ id: string }>("POST", "/v1/skills", {
    name: unique("provider"),
    type: "model",
    secrets: { API_KEY: key },
    variables: { PROTOCOL: "anthropic", BASE_URL: base_url, ALLOW_PRIVATE: "true", MODELS: "claude-opus-5-5" },
  });
  const settings = {
    provider: "claude-managed",
    harness: "claude-managed",
    model: "claude-opus-5-5",
    skills: [skill.id],
  };
  const prompt = unique("Read the mail");
  const run = await admin.send<{ id: string }>("POST", "/v1/runs", { project, prompt, settings });
  await page.clock.install();
  await page.goto(`/s/default/runs/${run.id}`);
  const state = page.locator(".facts").locator(".state").first();
  await expect(state).toHaveText("failed, waiting");
  await expect(state).toHaveClass(/failed/);
  // The time it waits is not time that it works.
  const worked = page.getByTitle("Without the time it waited for a place or a follow-up");
  const text = (await worked.textContent()) ?? "";
  expect(text).toMatch(/^[\d.]+ m?s$/);
  await page.clock.fastForward("02:00:00");
  await page.reload();
  await expect(state).toHaveText("failed, waiting");
  await expect(worked).toHaveText(text);

  await page.goto("/s/default/swarm");
  const cell = page.getByRole("button", { name: `${prompt}, failed, waiting` });
  await expect(cell).toHaveClass(/failed/);
  await expect(page.locator(".swarm-totals")).toContainText(/[1-9]\d* failed/);

  await page.goto(`/s/default/runs/${run.id}`);
  await page.getByLabel("Follow-up").fill("Then read the news.");
  await page.getByRole("button", { name: "Send" }).click();
  await expect(page.getByRole("list", { name: "Transcript" }).getByText("This is fine.").first()).toBeVisible({
    timeout: 60_000,
  });
  await expect(state).toHaveText("waiting");
  await admin.send("POST", `/v1/runs/${run.id}/cancel`, {});
});
