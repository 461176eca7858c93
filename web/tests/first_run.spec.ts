// A newcomer on an empty server: from the login to a trace on screen and a worker's result, in a counted number of clicks.

import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { expect, fill_login, guest_page, Person, test } from "./fixtures";
import { type Scripted, start_npm_registry, start_scripted_model } from "./scripted";
import { admin_email, admin_password, type Server, start_server } from "./server";

const step = (page: Page, title: string) =>
  page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: title }) });

test.describe("first run", () => {
  let own: Server;
  let model: Scripted;
  let registry: Scripted;
  test.use({ storageState: { cookies: [], origins: [] } });
  test.describe.configure({ mode: "serial" });
  test.beforeAll(async () => {
    registry = await start_npm_registry();
    own = await start_server("serve", [], { npm_config_registry: registry.url, NO_PROXY: "127.0.0.1" });
    model = await start_scripted_model();
  });
  test.afterAll(async () => {
    model?.stop();
    await own?.stop();
    registry?.stop();
  });

  test("a model is chosen from the provider's list, and stored only after it responded", async ({ browser }) => {
    const page = await guest_page(browser, own.url);
    await page.goto(own.url);
    await fill_login(page, admin_email, admin_password);
    const add = step(page, "Add a model");
    await add.getByLabel("My own endpoint").check();
    await add.getByLabel("On a private address or without TLS").check();
    await add.getByLabel("Protocol").selectOption("openai");
    await add.getByRole("textbox", { name: "Address" }).fill(`${model.url}/play/status_401`);
    const name = add.getByRole("combobox", { name: "Model", exact: true });
    await add.getByRole("button", { name: "List models" }).click();
    await expect(add.getByRole("alert")).toContainText("127.0.0.1 needs a key (401");
    // A provider without a list: the name is typed.
    await name.fill("small-1");
    await add.getByRole("button", { name: "Add and test" }).click();
    await expect(add.getByRole("alert").last()).toContainText("Not saved: the test call failed.");
    await expect(add.getByText("(done)")).toHaveCount(0);

    await add.getByRole("textbox", { name: "Address" }).fill(`${model.url}/play/text`);
    await add.getByRole("button", { name: "List models" }).click();
    await expect(add.getByText("3 models with this key.")).toBeVisible();
    await expect(name.getByRole("option")).toHaveText(["scripted-1", "scripted-2", "small-1", "Another name…"]);
    await name.selectOption("scripted-2");
    await check_page(page);
    await add.getByRole("button", { name: "Add and test" }).click();
    const models = add.getByRole("list", { name: "Models" });
    await expect(models).toContainText("own-model");
    await expect(models).toContainText("responded");
    await expect(models).toContainText("scripted-2");
    // No agent is installed: a click installs one, with its steps and its result.
    await add.getByRole("button", { name: "Install Codex" }).click();
    const steps = add.getByRole("region", { name: "Installation of Codex" });
    await expect(steps).toContainText("installing @openai/codex");
    await expect(add).toContainText("Sessions use Codex with own-model");
    await expect(add.getByText("(done)")).toHaveCount(1);
    await check_page(page);
    // The next test starts without a model.
    const admin = await Person.log_in(page.request, own.url, admin_email, admin_password);
    const skills = await admin.send<{ id: string; name: string }[]>("GET", "/v1/skills?space=default&type=model");
    expect(skills.map((skill) => skill.name)).toEqual(["own-model"]);
    await admin.send("DELETE", `/v1/skills/${skills[0]?.id}?confirm=own-model`);
    await page.context().close();
  });

  test("five clicks lead to a trace on screen and to a worker's result", async ({ page }) => {
    const began = Date.now();
    let clicks = 0;
    const click = async (name: string) => {
      clicks += 1;
      await page.getByRole("button", { name, exact: true }).click();
    };
    await page.goto(own.url);
    await page.getByLabel("Email").fill(admin_email);
    await page.getByLabel("Password").fill(admin_password);
    await click("Log in");
    await expect(step(page, "Send a trace")).toBeVisible();
    for (const title of ["Send a trace", "Add a model", "Start a session"])
      await expect(step(page, title).getByText("(done)")).toHaveCount(0);
    await check_page(page);

    await click("Create a key");
    const send = step(page, "Send a trace");
    const key = send.getByRole("group", { name: "key", exact: true });
    await expect(key).toHaveText(/^export HONE_API_KEY=hone_/);
    await expect(send.getByRole("group", { name: "Environment variables example" })).toContainText(
      "x-project-name=my-app",
    );
    await expect(send.getByText("Waiting for the first trace")).toBeVisible();
    const secret = ((await key.textContent()) ?? "").replace("export HONE_API_KEY=", "").trim();
    await click("Send a test trace");
    await expect(send.getByText("(done)")).toHaveCount(1);
    const trace = page.getByRole("region", { name: "First trace" });
    await expect(trace).toContainText("hello");

    await click("Continue without a model");
    await click("Start the first session");
    const session = page.getByRole("region", { name: "First session" });
    await expect(session.getByText("succeeded")).toBeVisible({ timeout: 120_000 });
    await expect(session.locator(".first-result")).not.toBeEmpty();
    for (const title of ["Send a trace", "Add a model", "Start a session"])
      await expect(step(page, title).getByText("(done)")).toHaveCount(1);
    expect(clicks).toBe(5);
    console.log(`newcomer's journey: ${clicks} clicks, ${Math.round((Date.now() - began) / 1000)} s`);
    await check_page(page);

    // The key can send traces and nothing else.
    const headers = { Authorization: `Bearer ${secret}` };
    expect((await page.request.get(`${own.url}/v1/projects`, { headers })).status()).toBe(403);

    await trace.getByRole("link", { name: "Open the trace" }).click();
    await expect(page.getByRole("treegrid", { name: "Spans" })).toContainText("hello");
    // The next visit of Home shows the space, not the steps.
    await page.goto(`${own.url}/s/default`);
    await expect(page.getByRole("region", { name: "Recent runs" }).getByRole("link")).toContainText("Fixed analysis");
    await expect(step(page, "Send a trace")).toHaveCount(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("connect an app");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("heading", { level: 1, name: "Connect" })).toBeVisible();
    await expect(page.getByRole("region", { name: "First trace" })).toContainText("hello");
  });

  test("an installation that fails shows why, and one that runs is cancelled", async ({ page }) => {
    await page.goto(own.url);
    await fill_login(page, admin_email, admin_password);
    await expect(page).toHaveURL(/\/s\/default/);
    await page.goto(`${own.url}/s/default/harnesses`);
    await page.getByRole("button", { name: "Install Claude Code" }).click();
    const failed = page.getByRole("region", { name: "Installation of Claude Code" });
    await expect(failed).toContainText("not installed");
    await expect(failed).toContainText("404");
    await expect(page.getByRole("button", { name: "Try again Claude Code" })).toBeEnabled();
    await page.getByRole("button", { name: "Install OpenCode" }).click();
    const running = page.getByRole("region", { name: "Installation of OpenCode" });
    await expect(running).toContainText("installing opencode-ai");
    await expect(page.getByRole("button", { name: "Install Qwen Code" })).toBeDisabled();
    await check_page(page);
    await running.getByRole("button", { name: "Cancel" }).click();
    await expect(running).toContainText("cancelled");
    await expect(page.getByRole("button", { name: "Install Qwen Code" })).toBeEnabled();
  });
});
