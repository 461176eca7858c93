// Evaluators with a model and their tasks in the browser, with a scripted model.

import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { check_page } from "./axe";
import { expect, type Person, test, unique } from "./fixtures";
import { send_spans } from "./spans";

const script = join(dirname(fileURLToPath(import.meta.url)), "../../tests/scripted_model/scripted_model.py");

let model: ChildProcess | null = null;
let model_url = "";

test.beforeAll(async () => {
  model = spawn("python3", [script, "--until-input-ends"], { stdio: ["pipe", "pipe", "inherit"] });
  const stdout = model.stdout;
  if (!stdout) throw new Error("the scripted model has no output");
  const said = await new Promise<string>((resolve) => {
    stdout.once("data", (piece) => resolve(String(piece)));
  });
  model_url = said.trim().split(" ")[1] ?? "";
});

test.afterAll(() => {
  model?.stdin?.end();
  model?.kill();
});

async function add_model(admin: Person): Promise<string> {
  const name = unique("model");
  await admin.send("POST", "/v1/skills", {
    name,
    type: "model",
    secrets: { API_KEY: "sk-planted-0123456789abcdef" },
    variables: { PROTOCOL: "openai", BASE_URL: `${model_url}/play/verdict_pass`, ALLOW_PRIVATE: "true", MODELS: name },
  });
  return name;
}

const chat = (text: string) => ({ name: "chat", attributes: { "input.value": text, "output.value": "good day" } });

test("an evaluator is created, tested on real traces, and a task evaluates new ones", async ({
  page,
  admin,
  request,
  server,
}) => {
  const name = await add_model(admin);
  const project = unique("evaluated");
  const made = (await admin.send("POST", "/v1/keys", { name: unique("sender") })) as { key: string };
  await send_spans(request, server.url, made.key, project, [chat("hello")]);
  await page.goto("/s/default/evaluators");
  await page.getByRole("button", { name: "Create evaluator" }).click();
  const evaluator = unique("polite");
  await page.getByLabel("Name").fill(evaluator);
  await page.getByLabel("Model", { exact: true }).fill(name);
  await page.getByRole("dialog").getByRole("button", { name: "Create evaluator" }).click();
  await expect(page.getByRole("heading", { name: "Definition" })).toBeVisible();
  await check_page(page);
  await page.getByLabel("Project").selectOption({ label: project });
  await page.getByRole("button", { name: /Test on the newest/ }).click();
  await expect(page.getByText("kind words")).toBeVisible();
  await page.getByLabel("System message").fill("Decide whether it is polite.");
  await page.getByRole("button", { name: "Save as a new version" }).click();
  await expect(page.getByText("Version 2 saved")).toBeVisible();
  await page.getByRole("link", { name: "Versions" }).click();
  await expect(page.getByText("Decide whether it is polite.")).toBeVisible();
  await page.getByRole("link", { name: "Tasks", exact: true }).click();
  await page.getByRole("button", { name: "Create task" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Project").selectOption({ label: project });
  await dialog.getByLabel("Target", { exact: true }).selectOption("span");
  await dialog.getByLabel("Percent of the targets").fill("100");
  await dialog.getByRole("button", { name: "Create task" }).click();
  await expect(page.getByRole("table", { name: "Funnel of the last 24 hours", exact: true })).toBeVisible();
  await send_spans(request, server.url, made.key, project, [chat("hello again")], 1000);
  await expect(page.getByRole("row", { name: /Evaluated 1/ })).toBeVisible();
  await check_page(page);
  await page.getByRole("button", { name: "Evaluate past targets…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Estimate" }).click();
  await expect(page.getByRole("dialog").getByText(/would be evaluated/)).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Start backfill" }).click();
  await expect(page.getByText("Backfill started")).toBeVisible();
  await page.goto(`/s/default/evaluators?q=${evaluator}`);
  await expect(page.getByRole("row", { name: /100 % \(\d+–100\)/ })).toBeVisible();
  await check_page(page);
});
