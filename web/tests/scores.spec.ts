// The scores of the experiments on a dataset over time: the line, its intervals, and breaks that are explained.

import { check_page } from "./axe";
import { type MadeDataset, make_dataset, make_experiment } from "./evaluate";
import { expect, type Person, test, unique } from "./fixtures";
import { painted } from "./pixels";

interface TaskOfApi {
  state: string;
  reason: string;
  evaluators: { evals: number }[];
}

/** Applies a version of an evaluator to the runs of an experiment, and waits for its evals. */
async function evaluate(admin: Person, experiment: string, evaluator: string, version: number): Promise<void> {
  await admin.send("POST", `/v1/experiments/${experiment}/start`, {
    task: { kind: "evaluate" },
    evaluators: [`${evaluator}@${version}`],
  });
  await expect
    .poll(async () => (await admin.send<TaskOfApi>("GET", `/v1/experiments/${experiment}/task`)).state)
    .toBe("done");
}

/** Another output of the last example: one more version of the dataset. */
const next_version = (admin: Person, dataset: MadeDataset) =>
  admin.send("POST", "/v1/datasets/upload?sync=true", {
    action: "append",
    name: dataset.name,
    inputs: [{ question: "Is it red?" }],
    outputs: [{ answer: "answer 4" }],
    example_ids: ["e4"],
  });

test("scores are a line over time that breaks where the evaluator or the dataset changed", async ({ page, admin }) => {
  const evaluator = unique("exact");
  const code = (value: string) => ({ language: "shell", source: `echo ${value}` });
  const made = await admin.send<{ id: string }>("POST", "/v1/evaluators", {
    name: evaluator,
    kind: "code",
    code: code("true"),
  });
  const dataset = await make_dataset(admin);
  const experiments: string[] = [];
  for (const [name, version, passing] of [
    ["first", 1, 1],
    ["second", 1, 2],
    ["third", 2, 3],
    ["fourth", 2, 3],
  ] as const) {
    if (name === "third") await admin.send("PATCH", `/v1/evaluators/${made.id}`, { code: code("false") });
    if (name === "fourth") await next_version(admin, dataset);
    const id = await make_experiment(admin, dataset, name, (index) => index < passing);
    await evaluate(admin, id, evaluator, version);
    experiments.push(id);
  }
  await admin.send("POST", `/v1/experiments/${experiments[0]}/tags`, { name: "baseline" });
  await page.goto(`/s/default/datasets/${dataset.id}?tab=experiments`);

  // A client sent these evals: only the dataset changed.
  const sent = page.getByRole("figure", { name: "correct", exact: true });
  await expect(sent.getByRole("link")).toHaveCount(4);
  await expect(sent.getByRole("row")).toHaveCount(6);
  await expect(sent.getByRole("row").nth(1)).toHaveText(/^first, baseline0\.25 \(.+ to .+\)$/);
  const region = page.getByRole("region", { name: "Scores over time" });
  await expect(region.getByText("From fourth on: dataset version 3 (before: 2)")).toHaveCount(4);

  // This server applied the evaluator: both changes break the line.
  const applied = page.getByRole("figure", { name: evaluator, exact: true });
  const break_text = "From third on: evaluator version 2 (before: evaluator version 1)";
  await expect(applied.getByRole("row")).toHaveText([
    "Namemean, 95 % interval",
    /^first, baseline1 /,
    /^second1 /,
    `${break_text}–`,
    /^third0 /,
    "From fourth on: dataset version 3 (before: 2)–",
    /^fourth0 /,
  ]);
  await expect(region.getByRole("listitem").filter({ hasText: break_text })).toBeVisible();
  await expect(applied.getByTitle(break_text)).toHaveText("1");
  expect(await painted(page, "correct", "--accent")).toBeGreaterThan(50);

  // The points are in the order of time, from left to right, and lead to the experiments.
  const lefts = await sent
    .getByRole("link")
    .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().left));
  expect(lefts).toEqual([...lefts].sort((a, b) => a - b));
  expect(new Set(lefts).size).toBe(4);
  await check_page(page);
  await sent.getByRole("link", { name: /^second: 0\.5 / }).hover();
  await expect(sent.locator("figcaption")).toContainText("second");
  await sent.getByRole("link", { name: /^second: 0\.5 / }).click();
  await expect(page).toHaveURL(new RegExp(`/experiments/${experiments[1]}$`));
  await expect(page.getByRole("heading", { level: 1, name: "second" })).toBeVisible();
});

test("one experiment alone, or a filter that leaves one, draws no line", async ({ page, admin }) => {
  const dataset = await make_dataset(admin);
  await make_experiment(admin, dataset, "only", (index) => index > 1);
  const address = `/s/default/datasets/${dataset.id}?tab=experiments`;
  await page.goto(address);
  await expect(page.getByRole("table", { name: "Experiments" }).getByRole("link", { name: "only" })).toBeVisible();
  await expect(page.getByRole("figure")).toHaveCount(0);
  await make_experiment(admin, dataset, "nightly", (index) => index > 2);
  await page.reload();
  await expect(page.getByRole("figure", { name: "correct", exact: true }).getByRole("link")).toHaveCount(2);
  await page.getByRole("searchbox", { name: "Filter experiments" }).fill("night");
  await expect(page.getByRole("figure")).toHaveCount(0);
});
