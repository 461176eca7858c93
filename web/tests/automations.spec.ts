import { createHmac, randomUUID } from "node:crypto";
import { check_page } from "./axe";
import { api_key } from "./chat";
import { expect, type Person, test, unique } from "./fixtures";
import { send_spans } from "./spans";

/** A preset whose workers repeat the prompt. */
async function with_preset(admin: Person): Promise<{ project: string; preset: { id: string; name: string } }> {
  const project = unique("automated");
  await admin.send("POST", "/v1/projects", { name: project });
  const preset = await admin.send<{ id: string; name: string }>("POST", "/v1/presets", {
    name: unique("echo"),
    settings: { harness: "command", command: ["/bin/cat"] },
  });
  return { project, preset };
}

test("an automation is created with a schedule, run, paused, edited and deleted", async ({ page, admin }) => {
  const { project, preset } = await with_preset(admin);
  const name = unique("Morning look");
  await page.goto(`/s/default/automations/new?project=${project}`);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Preset").selectOption(preset.id);
  await page.getByLabel("Prompt").fill("Analyse {{project}}");
  const preview = page.getByRole("region", { name: "Preview" });
  await page.getByRole("textbox", { name: "Schedule" }).fill("30 6 * * mon");
  await page.getByLabel("Time zone").fill("UTC");
  await expect(page.getByText("every Monday at 06:30")).toBeVisible();
  await expect(preview.getByRole("listitem")).toHaveCount(10);
  await expect(preview.getByRole("listitem").first()).toContainText("06:30:00");
  await page.getByRole("textbox", { name: "Schedule" }).fill("61 * * * *");
  await expect(preview.getByRole("alert")).toBeVisible();
  await page.getByRole("textbox", { name: "Schedule" }).fill("30 6 * * mon");
  await expect(preview.getByRole("alert")).toHaveCount(0);
  await check_page(page);
  await page.getByRole("button", { name: "Create automation" }).click();

  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByText("every Monday at 06:30, UTC")).toBeVisible();
  await page.getByRole("button", { name: "Run now" }).click();
  const history = page.getByRole("table", { name: "History", exact: true });
  await expect(history.getByText("started by a person")).toBeVisible();
  await expect(history.getByRole("link", { name: /succeeded|waiting/ })).toBeVisible({ timeout: 120_000 });
  await check_page(page);

  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText(/^Paused/)).toBeVisible();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Pause after failures").fill("3");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Automation saved")).toBeVisible();

  // Signal of other tests' projects is in the list, too.
  await page.goto(`/s/default/automations?q=${encodeURIComponent(name)}`);
  const row = page.getByRole("row").filter({ hasText: name });
  await expect(row).toContainText("every Monday at 06:30, UTC");
  await expect(row.getByRole("img", { name: "Last 1: 1 fired" })).toBeVisible();
  await expect(page.getByText(/^The scheduler is on time; its last step was (just now|.+ ago)\.$/)).toBeVisible();
  await check_page(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });
  await row.getByRole("link", { name }).click();
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("button", { name: "Delete automation" }).click();
  await expect(page).toHaveURL(/\/automations$/);
  await expect(page.getByRole("link", { name })).toHaveCount(0);
});

test("a metric trigger has a preview on past data", async ({ page, admin, request, server }) => {
  const slow = { timeout: 90_000 }; // seven days are read for it
  const { project } = await with_preset(admin);
  await page.goto(`/s/default/automations/new?project=${project}`);
  await page.getByLabel("Fires", { exact: true }).selectOption("metric");
  await page.getByLabel("Metric").selectOption("latency_p95");
  await page.getByLabel("Threshold, ms").fill("2500");
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByText("No spans in the last seven days.")).toBeVisible(slow);
  const day = 86_400_000;
  await send_spans(request, server.url, await api_key(admin), project, [{ name: "slow", duration: 9000 }], day);
  await page.getByLabel("Metric").selectOption("latency_mean");
  await expect(preview.getByText("In the last seven days it would have fired once.")).toBeVisible(slow);
  await page.getByLabel("Threshold, ms").fill("10000");
  await expect(preview.getByText("In the last seven days it would never have fired.")).toBeVisible(slow);
  await check_page(page);
});

test("the secret of a webhook is shown once and signs deliveries", async ({ page, admin, request, server }) => {
  const { project, preset } = await with_preset(admin);
  const name = unique("After deploy");
  await page.goto(`/s/default/automations/new?project=${project}`);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Preset").selectOption(preset.id);
  await page.getByLabel("Prompt").fill("Read {{trigger.file}}");
  await page.getByLabel("Fires", { exact: true }).selectOption("webhook");
  await page.getByRole("button", { name: "Create automation" }).click();
  const dialog = page.getByRole("dialog");
  const secret = (await dialog.getByRole("group", { name: "secret" }).textContent()) ?? "";
  const address = (await dialog.getByRole("group", { name: "address" }).textContent()) ?? "";
  expect(secret.length).toBeGreaterThan(20);
  await check_page(page);
  await dialog.getByRole("button", { name: "Done" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  expect(await page.content()).not.toContain(secret);

  const body = JSON.stringify({ version: "1.9.1" });
  const now = String(Math.floor(Date.now() / 1000));
  const id = randomUUID();
  const signature = createHmac("sha256", secret).update(`${now}.${id}.${body}`).digest("hex");
  const headers = { "X-Hone-Timestamp": now, "X-Hone-Delivery": id, "X-Hone-Signature": `sha256=${signature}` };
  const response = await request.post(server.url + new URL(address).pathname, {
    headers: { ...headers, "Content-Type": "application/json" },
    data: body,
  });
  expect(response.ok(), await response.text()).toBe(true);
  await expect(page.getByRole("table", { name: "History", exact: true }).getByText("fired")).toBeVisible({
    timeout: 60_000,
  });
});

test("a webhook of Slack takes the sender's secret, one of GitHub shows its own", async ({
  page,
  admin,
  request,
  server,
}) => {
  const { project, preset } = await with_preset(admin);
  const fill = async (name: string, source: string) => {
    await page.goto(`/s/default/automations/new?project=${project}`);
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Preset").selectOption(preset.id);
    await page.getByLabel("Prompt").fill("Read {{trigger.file}}");
    await page.getByLabel("Fires").selectOption("webhook");
    await page.getByLabel("Sender", { exact: true }).selectOption(source);
  };
  await fill(unique("from slack"), "slack");
  await page.getByLabel("Secret of the sender").fill("8f742231b10e8888abcd99yyyzzz85a5");
  await check_page(page);
  await page.getByRole("button", { name: "Create automation" }).click();
  await expect(page.getByText("when a signed request of Slack arrives")).toBeVisible();
  const address =
    (await page
      .locator(".facts")
      .getByText(/\/v1\/hooks\/auto_/)
      .textContent()) ?? "";
  const body = '{"type":"url_verification","challenge":"abc"}';
  const now = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", "8f742231b10e8888abcd99yyyzzz85a5").update(`v0:${now}:${body}`).digest("hex");
  const response = await request.post(server.url + new URL(address).pathname, {
    data: body,
    headers: { "X-Slack-Request-Timestamp": now, "X-Slack-Signature": `v0=${signature}` },
  });
  expect(await response.json()).toEqual({ challenge: "abc" });

  await fill(unique("from github"), "github");
  await page.getByRole("button", { name: "Create automation" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("Settings, Webhooks, Add webhook")).toBeVisible();
  await expect(dialog.getByRole("group", { name: "secret" })).toContainText("hook_");
  await check_page(page);
});
