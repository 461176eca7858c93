// Datasets, experiments, comparisons and prompts in the browser.

import type { Page } from "@playwright/test";
import { check_page } from "./axe";
import { make_dataset, make_experiment, make_prompt } from "./evaluate";
import { expect, fill_login, guest_page, test, unique } from "./fixtures";
import { new_span_id, send_spans } from "./spans";

async function check_both_themes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  await check_page(page);
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await check_page(page, { runOnly: ["color-contrast"] });
}

test("a file is imported into a new dataset, and equal rows change nothing", async ({ page }) => {
  const name = unique("imported");
  await page.goto("/s/default/datasets?new=1");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Dataset").fill(name);
  const file = {
    name: "tickets.csv",
    mimeType: "text/csv",
    buffer: Buffer.from("question,answer\nWhere is it?,On its way\nCan I pay later?,No\n"),
  };
  await dialog.getByLabel("File of examples").setInputFiles(file);
  await expect(dialog.getByText("tickets.csv")).toBeVisible();
  await dialog.getByRole("button", { name: "Import" }).click();
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
  await expect(page.getByText("2 examples added")).toBeVisible();
  const table = page.getByRole("table", { name: "Examples", exact: true });
  await expect(table.getByRole("row").filter({ hasText: "Where is it?" })).toContainText("On its way");

  await page.getByRole("button", { name: "Import…" }).click();
  await dialog.getByLabel("File of examples").setInputFiles(file);
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await expect(page.getByText("Nothing changed: all examples were there")).toBeVisible();

  // A file of another kind, and a broken one, are refused with the reason.
  await page.getByRole("button", { name: "Import…" }).click();
  await dialog.getByLabel("File of examples").setInputFiles({ ...file, name: "tickets.xlsx" });
  await expect(dialog.getByText("The name must end with .csv")).toBeVisible();
  await dialog
    .getByLabel("File of examples")
    .setInputFiles({ name: "broken.jsonl", mimeType: "text/plain", buffer: Buffer.from("{no json\n") });
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("1");
});

test("examples are read in any version and split, by keyboard too", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  await page.goto("/s/default/datasets");
  await page.getByRole("link", { name: dataset.name }).click();
  const table = page.getByRole("table", { name: "Examples", exact: true });
  await expect(table.getByRole("row")).toHaveCount(5);
  await expect(table).toContainText("another answer");
  await page.getByLabel("Version").selectOption("1");
  await expect(table).not.toContainText("another answer");
  await expect(table).toContainText("answer 3");
  await page.getByLabel("Version").selectOption("2");
  await page.getByRole("combobox", { name: "Split" }).selectOption("test");
  await expect(table.getByRole("row")).toHaveCount(3);
  await expect(page).toHaveURL(/split=test/);
  await page.getByRole("combobox", { name: "Split" }).selectOption("");
  await expect(table.getByRole("row")).toHaveCount(5);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const detail = page.getByRole("complementary");
  await expect(detail.getByRole("heading", { name: "e1" })).toBeVisible();
  await expect(detail).toContainText("Can I return it?");
  await page.keyboard.press("j");
  await expect(detail.getByRole("heading", { name: "e2" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(detail).toHaveCount(0);
});

test("selected examples become a split", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  await page.goto(`/s/default/datasets/${dataset.id}`);
  await page.getByRole("checkbox", { name: "Select Is it in stock?" }).check();
  await page.getByRole("button", { name: "Splits of the selected examples" }).click();
  await page.getByRole("menuitem", { name: "New split…" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("hard");
  await page.getByRole("dialog").getByRole("button", { name: "Create split" }).click();
  await expect(page.getByRole("row").filter({ hasText: "Is it in stock?" })).toContainText("hard");
  await page.getByRole("combobox", { name: "Split" }).selectOption("hard");
  await expect(page.getByRole("table", { name: "Examples", exact: true }).getByRole("row")).toHaveCount(2);
});

test("versions show their differences, and an old one is restored", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  await page.goto(`/s/default/datasets/${dataset.id}?tab=versions`);
  await page.getByRole("button", { name: "Actions of version 2" }).click();
  await page.getByRole("menuitem", { name: "Changes since the one before" }).click();
  const section = page.getByRole("region", { name: "From version 1 to 2" });
  await expect(section.getByRole("listitem")).toHaveCount(1);
  await expect(section.locator(".diff-line.removed")).toContainText("answer 3");
  await expect(section.locator(".diff-line.added")).toContainText("another answer");
  await page.getByRole("button", { name: "Actions of version 1" }).click();
  await page.getByRole("menuitem", { name: "Restore…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await expect(page.getByText("Version 1 restored")).toBeVisible();
  await expect(page.getByRole("row").filter({ hasText: "restored" })).toBeVisible();
});

test("labels and a description are edited; deleting requires the name", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const label = unique("golden");
  await page.goto(`/s/default/datasets/${dataset.id}`);
  const actions = page.getByRole("button", { name: `Actions of ${dataset.name}` });
  await actions.click();
  await page.getByRole("menuitem", { name: "Labels…" }).click();
  await page.getByRole("dialog").getByLabel("New label").fill(label);
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText(label)).toBeVisible();
  await actions.click();
  await page.getByRole("menuitem", { name: "Edit…" }).click();
  await page.getByRole("dialog").getByLabel("Description").fill("Only hard ones");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Only hard ones")).toBeVisible();
  await actions.click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Delete permanently" })).toBeDisabled();
  await dialog.getByLabel(`Type ${dataset.name} to confirm`).fill(dataset.name);
  await dialog.getByRole("button", { name: "Delete permanently" }).click();
  await expect(page.getByRole("heading", { name: "Datasets", level: 1 })).toBeVisible();
  await expect(page.getByRole("link", { name: dataset.name })).toHaveCount(0);
});

test("an experiment shows outputs, references, scores, errors and traces", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const experiment = await make_experiment(admin, dataset, "candidate", (index) => (index === 2 ? null : index > 0));
  await page.goto(`/s/default/datasets/${dataset.id}?tab=experiments`);
  const row = page.getByRole("row").filter({ hasText: "candidate" });
  await expect(row).toContainText("0.667");
  await expect(row).toContainText("1 of 4 failed");
  await row.getByRole("link", { name: "candidate" }).click();
  await expect(page).toHaveURL(new RegExp(experiment));
  const runs = page.getByRole("table", { name: "Runs", exact: true });
  await expect(runs.getByRole("row").filter({ hasText: "Where is my order?" })).toContainText("0 · no");
  await expect(runs.getByRole("row").filter({ hasText: "Norway" })).toContainText("the model did not respond");
  await expect(runs.getByRole("link", { name: "open" }).first()).toHaveAttribute("href", /traces\/4bf92f/);
  await page.getByLabel("Show").selectOption("failed");
  await expect(runs.getByRole("row")).toHaveCount(2);
  await page.getByLabel("Show").selectOption("all");
  await runs.getByRole("row").filter({ hasText: "Where is my order?" }).click();
  await expect(page.getByRole("complementary")).toContainText("compared with the reference");
  await page.getByRole("button", { name: "Mark as baseline" }).click();
  await expect(page.getByText("candidate is the baseline")).toBeVisible();
  await expect(page.getByRole("button", { name: "Mark as baseline" })).toHaveCount(0);
});

test("two experiments are compared in words, flips and rows", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const base = await make_experiment(admin, dataset, "base", (index) => index !== 0, 2);
  // e0 is fixed, e1 is broken, e2 is flaky.
  await make_experiment(admin, dataset, "candidate", (index, time) => (index === 2 ? time === 1 : index !== 1), 2);
  await admin.send("POST", `/v1/experiments/${base}/tags`, { name: "baseline" });
  await page.goto(`/s/default/datasets/${dataset.id}?tab=experiments`);
  await page.getByRole("checkbox", { name: "Select candidate" }).check();
  await page.getByRole("checkbox", { name: "Select base", exact: true }).check();
  await page.getByRole("button", { name: "Compare 2" }).click();
  await expect(page.getByRole("heading", { name: "Comparison", level: 1 })).toBeVisible();
  await expect(page.getByLabel(/^Base/)).toContainText("base (baseline)");
  const words = page.getByRole("list", { name: "In words" });
  await expect(words).toContainText("correct: no difference shown by 4 examples");
  await expect(words).toContainText("1 fixed, 1 broken");
  await expect(page.getByRole("table", { name: "Evals", exact: true }).getByRole("row").nth(1)).toContainText(
    "no difference shown",
  );
  await expect(page.getByText("The gate for continuous integration fails:")).toBeVisible();
  const rows = page.getByRole("table", { name: "Compared examples", exact: true });
  await expect(rows.getByRole("row").nth(1)).toContainText("broken");
  await expect(rows.getByRole("row").filter({ hasText: "e2" })).toContainText("flaky");
  await page
    .getByRole("table", { name: "Flips of correct", exact: true })
    .getByRole("button", { name: /broken/ })
    .click();
  await expect(page).toHaveURL(/show=broken/);
  await expect(rows.getByRole("row").filter({ hasText: "e0" })).toHaveCount(0);
  await rows.getByRole("row").filter({ hasText: "e1" }).click();
  const detail = page.getByRole("complementary");
  await expect(detail.getByRole("region", { name: "candidate", exact: true })).toContainText("no idea");
  await expect(detail.getByRole("region", { name: "base", exact: true })).toContainText("answer 1");
  await expect(detail.getByRole("link", { name: "trace" }).first()).toBeVisible();
});

test("three experiments are compared with their base side by side", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const ids = [
    await make_experiment(admin, dataset, "first", () => false),
    await make_experiment(admin, dataset, "second", () => true),
    await make_experiment(admin, dataset, "third", (index) => index > 1),
  ];
  await page.goto(`/s/default/datasets/${dataset.id}/compare?base=${ids[0]}&other=${ids[1]},${ids[2]}`);
  const overview = page.getByRole("table", { name: "Against the base", exact: true });
  await expect(overview.getByRole("row").filter({ hasText: "second" })).toContainText("+100.0 points");
  await expect(overview.getByRole("row").filter({ hasText: "third" })).toContainText("+50.0 points");
  await page.getByRole("button", { name: "third" }).click();
  await expect(page.getByRole("list", { name: "In words" })).toContainText("2 fixed, 0 broken");
});

test("addresses that Phoenix' clients print lead to the pages", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const experiment = await make_experiment(admin, dataset, "printed", () => true);
  const node = encodeURIComponent(dataset.node);
  await page.goto(`/datasets/${node}/examples`);
  await expect(page.getByRole("table", { name: "Examples", exact: true })).toBeVisible();
  await page.goto(`/datasets/${node}/experiments`);
  await expect(page.getByRole("link", { name: "printed" })).toBeVisible();
  await page.goto(`/datasets/${node}/compare?experimentId=${btoa(`Experiment:${experiment}`)}`);
  await expect(page.getByRole("heading", { name: "printed", level: 1 })).toBeVisible();
});

test("a prompt shows versions, differences, tags and uses", async ({ page, request, server, admin }) => {
  const prompt = await make_prompt(admin);
  const project = unique("uses-a-prompt");
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("exporter") });
  const greets = { name: "greets", attributes: { "prompt.id": prompt.version } };
  await send_spans(request, server.url, key, project, [greets]);
  const dataset = await make_dataset(admin);
  await make_experiment(admin, dataset, "with the prompt", () => true, 1, { prompt_version: prompt.version });
  await page.goto("/s/default/prompts");
  await page.getByRole("link", { name: prompt.name }).click();
  await expect(page.getByRole("heading", { name: "Version 2" })).toBeVisible();
  await expect(page.getByRole("list", { name: "Messages of the template" })).toContainText("Good morning {{who}}");
  await page.getByLabel("Compare with").selectOption("1");
  const difference = page.getByRole("group", { name: "From version 1 to 2" });
  await expect(difference.locator(".removed").filter({ hasText: "Hello {{who}}" })).toHaveCount(1);
  await expect(difference.locator(".added").filter({ hasText: "Good morning {{who}}" })).toHaveCount(1);
  await page.getByRole("button", { name: "Tag…" }).click();
  await page.getByRole("dialog").getByLabel("Tag").fill("production");
  await page.getByRole("dialog").getByRole("button", { name: "Set tag" }).click();
  await expect(page.getByText("production points at version 2")).toBeVisible();
  const versions = page.getByRole("navigation", { name: "Versions" });
  await expect(versions.getByRole("link").first()).toContainText("production");
  await expect(versions.getByRole("link").nth(1)).not.toContainText("production");
  await page.getByRole("button", { name: "Remove the tag production" }).click();
  await expect(versions.getByRole("link").first()).not.toContainText("production");
  const history = page.getByRole("list", { name: "History of tags" }).getByRole("listitem");
  await expect(history).toHaveCount(3);
  await expect(history.nth(0)).toContainText("production removed from version 2 by admin@localhost");
  await expect(history.nth(1)).toContainText("production moved from version 1 to version 2 by admin@localhost");
  await expect(history.nth(2)).toContainText("production set to version 1 by admin@localhost");
  await expect(page.getByRole("link", { name: "with the prompt" })).toBeVisible();
  await page.getByRole("link", { name: "greets" }).click();
  await expect(page).toHaveURL(new RegExp(`/projects/${project}/traces/`));
});

test("a trace, a span and selected traces are added to a dataset once", async ({ page, request, server, admin }) => {
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("exporter") });
  const project = unique("source");
  const name = unique("failures");
  const traces: string[] = [];
  for (const question of ["first question", "second question"]) {
    const root = new_span_id();
    traces.push(
      await send_spans(request, server.url, key, project, [
        { name: "POST /chat", span_id: root, attributes: { "input.value": question, "output.value": "an answer" } },
        { name: "model", parent_id: root, attributes: { "input.value": "inner", "output.value": "text" } },
      ]),
    );
  }
  await page.goto(`/s/default/projects/${project}/traces/${traces[0]}`);
  await page.locator(".trace-actions").getByRole("button", { name: "Add to dataset" }).click();
  const dialog = page.getByRole("dialog");
  const choice = dialog.getByLabel("Dataset", { exact: true });
  await expect(dialog.getByRole("button", { name: "Add", exact: true })).toBeVisible();
  if ((await choice.count()) > 0) await choice.selectOption("");
  await dialog.getByLabel("Name of the new dataset").fill(name);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText(`1 example added to ${name}`)).toBeVisible();

  await page.goto(`/s/default/projects/${project}/traces`);
  await page.getByLabel("Select all rows").check();
  await page.getByRole("toolbar").getByRole("button", { name: "Add to dataset" }).click();
  await choice.selectOption(name);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  // The first is there already.
  await expect(page.getByText(`1 example added to ${name}`)).toBeVisible();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  const table = page.getByRole("table", { name: "Examples", exact: true });
  await expect(table.getByRole("row")).toHaveCount(3);
  await expect(table.getByRole("row").filter({ hasText: "second question" })).toContainText("an answer");
  await table.getByRole("link", { name: "trace" }).first().click();
  await expect(page).toHaveURL(/\/traces\/[0-9a-f]{32}\?span=/);
  await page.getByRole("complementary").getByRole("button", { name: "Add to dataset" }).click();
  await choice.selectOption(name);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText(`Already in ${name}`)).toBeVisible();
});

test("a turn of a chat session is added with the conversation before it", async ({ page, request, server, admin }) => {
  const { key } = await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("exporter") });
  const project = unique("talk");
  const name = unique("turns");
  const said: [string, string][] = [
    ["a red shirt, please", "Which size?"],
    ["large", "Two are left."],
  ];
  for (const [input, output] of said)
    await send_spans(request, server.url, key, project, [
      { name: "chat", attributes: { "input.value": input, "output.value": output, "session.id": "visit-17" } },
    ]);
  await page.goto(`/s/default/projects/${project}/traces?session=visit-17`);
  const turns = page.getByRole("region", { name: "Conversation of the chat session" }).getByRole("listitem");
  await expect(turns).toHaveCount(2);
  await turns.nth(1).getByRole("button", { name: "Add to dataset" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("The conversation before the turn");
  const choice = dialog.getByLabel("Dataset", { exact: true });
  await expect(dialog.getByRole("button", { name: "Add", exact: true })).toBeVisible();
  if ((await choice.count()) > 0) await choice.selectOption("");
  await dialog.getByLabel("Name of the new dataset").fill(name);
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText(`1 example added to ${name}`)).toBeVisible();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  const row = page.getByRole("table", { name: "Examples", exact: true }).getByRole("row").nth(1);
  for (const text of ["a red shirt, please", "Which size?", "large", "Two are left."])
    await expect(row).toContainText(text);
});

test("a run is added to a dataset, and a person corrects its verdict beside the eval", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const experiment = await make_experiment(admin, dataset, "reviewed", (index) => index > 0);
  await page.goto(`/s/default/experiments/${experiment}`);
  const runs = page.getByRole("table", { name: "Runs" });
  await runs.getByRole("row").filter({ hasText: "Where is my order?" }).click();
  const detail = page.getByRole("complementary");
  // The run becomes an example of a new dataset, with its own reference output and the output in the metadata.
  await detail.getByRole("button", { name: "Add to dataset" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Add", exact: true })).toBeVisible();
  await dialog.getByLabel("Dataset", { exact: true }).selectOption("");
  const name = unique("from runs");
  await dialog.getByLabel("Name of the new dataset").fill(name);
  await dialog.getByLabel("Reference output of the example").selectOption("reference");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText(`1 example added to ${name}`)).toBeVisible();
  const { examples } = await admin.send<{ examples: Record<string, Record<string, unknown>>[] }>(
    "GET",
    `/v1/datasets/${encodeURIComponent(name)}/examples`,
  );
  expect(examples).toHaveLength(1);
  expect(examples[0]?.input).toEqual({ question: "Where is my order?" });
  expect(examples[0]?.output).toEqual({ answer: "answer 0" });
  expect(examples[0]?.metadata).toMatchObject({ experiment, output: { answer: "no idea" } });
  // The same run again is the same example.
  await detail.getByRole("button", { name: "Add to dataset" }).click();
  await dialog.getByLabel("Dataset", { exact: true }).selectOption(name);
  await dialog.getByLabel("Reference output of the example").selectOption("reference");
  await dialog.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText(`Already in ${name}`)).toBeVisible();

  // A label that other runs have brings its score.
  await detail.getByRole("button", { name: "Correct the verdict of correct" }).click();
  await expect(dialog.getByRole("button", { name: "Save verdict" })).toBeDisabled();
  await dialog.getByLabel("Label").fill("yes");
  await expect(dialog.getByLabel("Score")).toHaveValue("1");
  await dialog.getByLabel("Explanation").fill("it is a polite reply");
  await dialog.getByRole("button", { name: "Save verdict" }).click();
  await expect(page.getByText("Verdict stored; calibrations count it as a person's label")).toBeVisible();
  await expect(detail).toContainText("to 1 · yes");
  await expect(detail).toContainText("it is a polite reply");
  await expect(detail).toContainText("compared with the reference");
  // The numbers of the experiment stay.
  await expect(page.getByLabel("Results")).toContainText("0.75");
  // The trace of the run has the label of a person, which calibrations read.
  const { project_name } = await admin.send<{ project_name: string }>("GET", `/v1/experiments/${experiment}/summary`);
  const evals = await admin.send<{ kind: string; label: string; score: number }[]>(
    "GET",
    `/v1/projects/${encodeURIComponent(project_name)}/evals?target=trace&name=correct`,
  );
  expect(evals).toMatchObject([{ kind: "human", label: "yes", score: 1 }]);
  // A second verdict of the same person replaces the first.
  await detail.getByRole("button", { name: "Correct the verdict of correct" }).click();
  await expect(dialog.getByLabel("Label")).toHaveValue("yes");
  await dialog.getByLabel("Label").fill("no");
  await dialog.getByRole("button", { name: "Save verdict" }).click();
  await expect(detail).toContainText("to 0 · no");
  await expect(detail.locator(".correction")).toHaveCount(1);
});

test("a viewer reads and changes nothing", async ({ browser, playwright, server, admin }) => {
  const dataset = await make_dataset(admin);
  await make_experiment(admin, dataset, "seen", () => true);
  const email = `${unique("viewer")}@example.com`;
  const password = "vera has a password";
  const spaces = await admin.send<{ id: string; name: string }[]>("GET", "/v1/spaces");
  const space = spaces.find((one) => one.name === "default");
  const { path } = await admin.send<{ path: string }>("POST", `/v1/spaces/${space?.id}/invites`, {
    email,
    role: "viewer",
  });
  const request = await playwright.request.newContext();
  const joined = await request.post(`${server.url}/v1${path.replace("invite", "invites")}/accept`, {
    data: { name: "Vera", password },
  });
  expect(joined.ok(), await joined.text()).toBe(true);
  await request.dispose();
  const page = await guest_page(browser, server.url);
  await page.goto("/login");
  await fill_login(page, email, password);
  await expect(page).toHaveURL(/\/s\/default/);
  await page.goto(`/s/default/datasets/${dataset.id}`);
  await expect(page.getByRole("table", { name: "Examples", exact: true })).toBeVisible();
  for (const name of ["Import…", `Actions of ${dataset.name}`])
    await expect(page.getByRole("button", { name })).toHaveCount(0);
  await page.goto(`/s/default/datasets/${dataset.id}?tab=experiments`);
  await page.getByRole("link", { name: "seen" }).click();
  await expect(page.getByRole("table", { name: "Runs", exact: true })).toBeVisible();
  await expect(page.getByRole("button", { name: "Mark as baseline" })).toHaveCount(0);
  await page.getByRole("table", { name: "Runs" }).getByRole("row").filter({ hasText: "Where is my order?" }).click();
  const detail = page.getByRole("complementary");
  await expect(detail.getByRole("heading", { name: "Evals" })).toBeVisible();
  for (const name of ["Add to dataset", "Correct the verdict of correct"])
    await expect(detail.getByRole("button", { name })).toHaveCount(0);
  await page.close();
});

test("an object that does not exist and a failed request are shown", async ({ page, admin }) => {
  await page.goto("/s/default/datasets/dataset_01HZZZZZZZZZZZZZZZZZZZZZZZ");
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await page.goto("/s/default/experiments/experiment_01HZZZZZZZZZZZZZZZZZZZZZZZ");
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  await page.goto("/s/default/prompts/none");
  await expect(page.getByRole("heading", { name: "Not found" })).toBeVisible();
  const dataset = await make_dataset(admin);
  await page.route("**/example_rows**", (route) =>
    route.fulfill({ status: 503, json: { error: { code: "unavailable", message: "the database is away" } } }),
  );
  await page.goto(`/s/default/datasets/${dataset.id}`);
  await expect(page.getByRole("alert")).toContainText("the database is away");
  await page.unroute("**/example_rows**");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("table", { name: "Examples", exact: true })).toBeVisible();
});

test("the pages are accessible in both themes, and fit a phone", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  const base = await make_experiment(admin, dataset, "base", (index) => index > 1, 2);
  const other = await make_experiment(admin, dataset, "other", (index) => (index === 3 ? null : index > 0), 2);
  const prompt = await make_prompt(admin);
  const at = `/s/default/datasets/${dataset.id}`;
  const places = [
    "/s/default/datasets",
    "/s/default/datasets?new=1",
    at,
    `${at}?tab=experiments`,
    `${at}?tab=versions&from=1&to=2`,
    `/s/default/experiments/${other}`,
    `${at}/compare?base=${base}&other=${other}`,
    "/s/default/prompts",
    `/s/default/prompts/${prompt.name}`,
    `/s/default/prompts/${prompt.name}?against=1`,
  ];
  for (const place of places) {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(place);
    await expect(page.getByRole("heading", { level: 1 }).first()).toBeVisible();
    await expect(page.getByRole("status", { name: "Loading" })).toHaveCount(0);
    await expect(page.getByRole("alert")).toHaveCount(0);
    await check_both_themes(page);
    await page.setViewportSize({ width: 390, height: 780 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth), place).toBeLessThanOrEqual(390);
  }
});
