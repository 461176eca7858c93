// The playground, protected tags and proposals in the browser, with a scripted model.

import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { make_dataset, make_prompt } from "./evaluate";
import { expect, type Person, test, unique } from "./fixtures";
import { type Scripted, start_scripted_model } from "./scripted";
import { new_span_id, send_spans } from "./spans";

let model: Scripted;

test.beforeAll(async () => {
  model = await start_scripted_model();
});

test.afterAll(() => model?.stop());

/** A model skill whose models have names of their own, so that specs do not share one. */
async function add_model(admin: Person, play: string): Promise<string> {
  const name = unique(`model-${play}`);
  await admin.send("POST", "/v1/skills", {
    name,
    type: "model",
    secrets: { API_KEY: "sk-planted-0123456789abcdef" },
    variables: { PROTOCOL: "openai", BASE_URL: `${model.url}/play/${play}`, ALLOW_PRIVATE: "true", MODELS: name },
  });
  return name;
}

const column = (page: Page, number: number) => page.getByRole("region", { name: `Column ${number}` });
const reply = (page: Page, number: number) => page.getByRole("region", { name: `Response ${number}` });

test("two models respond side by side, with tokens, time and traces", async ({ page, admin }) => {
  const quick = await add_model(admin, "text");
  const slow = await add_model(admin, "trickle");
  await page.goto("/s/default/playground");
  await column(page, 1).getByLabel("Model").fill(quick);
  await column(page, 1).getByLabel("Text of message 1").fill("Say something about {{topic}}.");
  await page.getByRole("region", { name: "Variables" }).getByLabel("topic").fill("tea");
  await page.getByRole("button", { name: "Copy column 1" }).click();
  await column(page, 2).getByLabel("Model").fill(slow);
  await page.getByRole("button", { name: "Run all" }).click();
  await expect(reply(page, 1)).toContainText("Two words.");
  await expect(reply(page, 2)).toContainText("Drop after drop after drop.");
  for (const number of [1, 2]) await expect(reply(page, number)).toContainText("tokens");
  await expect(reply(page, 1)).toContainText("no price");
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await check_page(page);
  await page.screenshot({ path: "test-results/playground.png", fullPage: true });
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: "test-results/playground-phone.png", fullPage: true });
  await page.setViewportSize({ width: 1280, height: 800 });
  await reply(page, 1).getByRole("link", { name: "trace" }).click();
  await expect(page.getByRole("complementary")).toContainText("Two words.");
});

test("a missing variable and an unknown model are shown; a stopped call ends", async ({ page, admin }) => {
  const stuck = await add_model(admin, "stall");
  await page.goto("/s/default/playground");
  await column(page, 1).getByLabel("Text of message 1").fill("Hello {{name}}");
  await page.getByRole("button", { name: "Run", exact: true }).first().click();
  await expect(reply(page, 1)).toContainText("Enter the name of a model");
  await column(page, 1).getByLabel("Model").fill(stuck);
  await page.getByRole("button", { name: "Run", exact: true }).first().click();
  await expect(reply(page, 1)).toContainText("missing template variable name");
  await page.getByRole("region", { name: "Variables" }).getByLabel("name").fill("Ada");
  await page.keyboard.press("Control+Enter");
  await expect(reply(page, 1)).toContainText("running");
  await column(page, 1).getByRole("button", { name: "Stop" }).click();
  await expect(reply(page, 1)).toContainText("stopped");
  // A space of its own: a skill of another spec without a list of models offers every model.
  const space = unique("empty");
  await admin.send("POST", "/v1/spaces", { name: space });
  await page.goto(`/s/${space}/playground`);
  await column(page, 1).getByLabel("Text of message 1").fill("Hello");
  await column(page, 1).getByLabel("Model").fill("no-such-model-anywhere");
  await column(page, 1).getByLabel("Provider").selectOption("ANTHROPIC");
  await column(page, 1).getByRole("button", { name: "Run" }).click();
  await expect(reply(page, 1)).toContainText("no model skill of this space offers the model");
});

test("a column is saved as a version and run on a split as an experiment", async ({ page, admin }) => {
  const model_name = await add_model(admin, "text");
  const dataset = await make_dataset(admin);
  const prompt = await make_prompt(admin);
  await page.goto(`/s/default/prompts/${prompt.name}`);
  await page.getByRole("link", { name: "Open in playground" }).click();
  await column(page, 1).getByLabel("Provider").selectOption("OPENAI");
  await column(page, 1).getByLabel("Model").fill(model_name);
  const texts = column(page, 1).getByRole("textbox", { name: /Text of message/ });
  await texts.last().fill("Answer: {{question}}");
  for (let index = (await texts.count()) - 1; index > 0; index--)
    await column(page, 1).getByRole("button", { name: "Remove message 1" }).click();
  await column(page, 1).getByRole("button", { name: "Save…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Save version" }).click();
  await expect(page.getByText(`Saved as the newest version of ${prompt.name}`)).toBeVisible();
  await page.getByRole("button", { name: "Run on a dataset…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Dataset").selectOption({ label: `${dataset.name} (4)` });
  await dialog.getByLabel("Split").fill("test");
  await dialog.getByRole("button", { name: "Start experiment" }).click();
  await expect(page.getByRole("region", { name: "Task" })).toContainText("done");
  await expect(page.getByRole("table", { name: "Runs", exact: true })).toContainText("Two words.");
  await expect(page.getByRole("region", { name: "Task" })).toContainText("2 of 2 runs");
  await page.screenshot({ path: "test-results/playground-experiment.png", fullPage: true });
});

test("the estimate and the remaining budget are shown before a run, the cost after it", async ({ page, admin }) => {
  const name = unique("budgeted");
  const { id } = await admin.send<{ id: string }>("POST", "/v1/spaces", { name });
  const set_budget = (cost_micro_usd_per_day: number) =>
    admin.send("PUT", `/v1/spaces/${id}/budget`, { cost_micro_usd_per_day, tokens_per_day: null, soft_percent: 80 });
  await set_budget(5_000_000);
  const model_name = unique("priced");
  await admin.send("POST", `/v1/skills?space=${id}`, {
    name: model_name,
    type: "model",
    secrets: { API_KEY: "sk-planted-0123456789abcdef" },
    variables: {
      PROTOCOL: "openai",
      BASE_URL: `${model.url}/play/text`,
      ALLOW_PRIVATE: "true",
      MODELS: model_name,
      PRICES: `${model_name} 100 100`,
    },
  });
  await admin.send("POST", `/v1/datasets/upload?sync=true&space=${id}`, {
    action: "create",
    name: "tickets",
    inputs: ["one", "two", "three"].map((text) => ({ text })),
  });
  await page.goto(`/s/${name}/playground`);
  const budget = page.getByRole("region", { name: "Budget" });
  await expect(budget).toContainText("Of the daily budget of the space, $5.00 of $5.00 remain.");
  await column(page, 1).getByLabel("Text of message 1").fill("Read {{text}}");
  await column(page, 1).getByLabel("Model").fill(model_name);
  await expect(budget).toContainText("No estimate: missing template variable text");
  await page.getByRole("region", { name: "Variables" }).getByLabel("text").fill("tea");
  // No call of the model yet: the most that it can write.
  await expect(budget).toContainText(/Estimate: at most \$12\.8\d and 128k tokens in 1 call/);
  await expect(budget).toContainText(
    /This can exceed the daily budget of the space: at most \$12\.8\d, and \$5\.00 remain/,
  );
  await check_page(page);
  await page.getByRole("button", { name: "Run", exact: true }).first().click();
  await expect(reply(page, 1)).toContainText("Two words.");
  await expect(budget).toContainText(/The response below used \$0\.\d+ and [\d.]+k? tokens/);
  await expect(budget).toContainText(/Of the daily budget of the space, \$4\.\d\d of \$5\.00 remain/);
  // The model has been measured.
  await expect(budget).toContainText(/Estimate: about \$0\.\d+ and [\d.]+k? tokens in 1 call/);
  await expect(budget.getByText("exceed")).toHaveCount(0);

  await page.getByRole("button", { name: "Run on a dataset…" }).click();
  const dialog = page.getByRole("dialog");
  const of_dataset = dialog.getByRole("region", { name: "Budget" });
  await expect(of_dataset).toContainText(/Estimate: about \$0\.\d+ and [\d.]+k? tokens in 3 calls/);
  await dialog.getByLabel("Repetitions").fill("1000");
  await expect(of_dataset).toContainText(/in 3,000 calls/);
  await expect(of_dataset).toContainText(
    /This would exceed the daily budget of the space: about \$\d+\.\d+, and \$4\.\d\d remain/,
  );
  await dialog.getByLabel("Repetitions").fill("1");
  await expect(of_dataset.getByText("exceed")).toHaveCount(0);
  await dialog.getByLabel("Stop at a cost of (USD)").fill("0.0001");
  await expect(of_dataset).toContainText(`The experiment with ${model_name} stops at its limit of $0.0001`);
  await dialog.getByLabel("Stop at a cost of (USD)").fill("");
  await dialog.getByRole("button", { name: "Start experiment" }).click();
  const task = page.getByRole("region", { name: "Task" });
  await expect(task).toContainText("done");
  await expect(task).toContainText(/\$4\.\d\d of \$5\.00 remain of the daily budget/);

  await set_budget(1);
  await page.goto(`/s/${name}/playground`);
  await column(page, 1).getByLabel("Model").fill(model_name);
  await column(page, 1).getByLabel("Text of message 1").fill("Hello");
  await expect(budget).toContainText(
    "The daily budget of the space is used up. Model calls are rejected until midnight UTC.",
  );
});

test("the span of a model call opens with its messages, tools and parameters", async ({
  page,
  request,
  server,
  admin,
}) => {
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("exporter") });
  const project = unique("called");
  const span = new_span_id();
  const trace = await send_spans(request, server.url, key, project, [
    {
      name: "chat",
      span_id: span,
      attributes: {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "llm.provider": "openai",
        "llm.invocation_parameters": '{"temperature":0.2,"stream":true}',
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": "You help customers.",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": "Where is my order?",
        "llm.tools.0.tool.json_schema": '{"type":"function","function":{"name":"look_up","parameters":{}}}',
      },
    },
  ]);
  await page.goto(`/s/default/projects/${project}/traces/${trace}?span=${span}`);
  await page.getByRole("link", { name: "Open in playground" }).click();
  await expect(column(page, 1).getByLabel("Model")).toHaveValue("gpt-4o");
  await expect(column(page, 1).getByLabel("Text of message 1")).toHaveValue("You help customers.");
  await expect(column(page, 1).getByLabel("Text of message 2")).toHaveValue("Where is my order?");
  await page.getByText("Parameters, tools, response format").click();
  await expect(column(page, 1).getByLabel("Parameters")).toHaveValue(/"temperature": 0.2/);
  await expect(column(page, 1).getByLabel("Tools")).toHaveValue(/"look_up"/);
});

test("a protected tag is marked, and its protection ends", async ({ page, admin }) => {
  const prompt = await make_prompt(admin);
  const tag = unique("live");
  await page.goto("/s/default/prompts");
  await page.getByRole("button", { name: "Protect tags…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Tag").fill("Not A Tag");
  await dialog.getByRole("button", { name: "Protect tag" }).click();
  await expect(dialog.getByRole("alert")).toContainText("letters in lower case");
  await dialog.getByLabel("Tag").fill(tag);
  await dialog.getByRole("button", { name: "Protect tag" }).click();
  await expect(dialog.getByRole("list", { name: "Protected tags" })).toContainText(tag);
  await dialog.getByRole("button", { name: `End the protection of ${tag}` }).click();
  await expect(dialog.getByText(tag, { exact: true })).toHaveCount(0);
  await page.goto(`/s/default/prompts/${prompt.name}`);
  await expect(page.getByRole("link", { name: "Open in playground" })).toBeVisible();
});

test("proposals wait until a person adds or rejects them", async ({ page, request, server, admin }) => {
  const dataset = await make_dataset(admin);
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("agent") });
  const examples = ["It arrived broken", "It never arrived"].map((question) => ({
    input: { question },
    output: { answer: "Sorry" },
    reason: `failed on ${question}`,
  }));
  const call = { name: "propose_examples", arguments: { dataset: dataset.name, examples } };
  const proposed = await request.post(`${server.url}/mcp`, {
    headers: { Authorization: `Bearer ${key}`, Accept: "application/json, text/event-stream" },
    data: { jsonrpc: "2.0", id: 1, method: "tools/call", params: call },
  });
  expect((await proposed.json()).result.isError, await proposed.text()).toBe(false);
  await page.goto(`/s/default/datasets/${dataset.id}?tab=proposals`);
  const list = page.getByRole("list", { name: "Proposals" });
  await expect(list.getByRole("checkbox")).toHaveCount(2);
  await check_page(page);
  await page.screenshot({ path: "test-results/proposals.png", fullPage: true });
  await list.getByRole("checkbox", { name: /never arrived/ }).uncheck();
  await page.getByRole("button", { name: "Add 1 example" }).click();
  await expect(page.getByText("1 example added")).toBeVisible();
  await expect(list.getByRole("checkbox")).toHaveCount(1);
  await page.getByRole("button", { name: "Reject 1" }).click();
  await expect(page.getByRole("heading", { name: "No proposals" })).toBeVisible();
  await page.goto(`/s/default/datasets/${dataset.id}`);
  await expect(page.getByRole("table", { name: "Examples", exact: true })).toContainText("It arrived broken");
  await expect(page.getByRole("table", { name: "Examples", exact: true })).not.toContainText("It never arrived");
});
