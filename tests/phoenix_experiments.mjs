// Datasets, experiments and prompts with @arizeai/phoenix-client, unmodified, against Hone: phoenix_experiments.mjs NAME
// [EXAMPLES]. With a number of examples: one experiment of that size with two evaluators. Where to and with which key say
// PHOENIX_HOST and PHOENIX_API_KEY, as the client reads them. Every step asserts; the exit code tells.
import assert from "node:assert/strict";
import { createClient } from "@arizeai/phoenix-client";
import { appendDatasetExamples, createDataset, getDataset, getDatasetInfo } from "@arizeai/phoenix-client/datasets";
import {
  asExperimentEvaluator,
  createExperiment,
  deleteExperiment,
  evaluateExperiment,
  getExperiment,
  getExperimentRuns,
  listExperiments,
  resumeEvaluation,
  resumeExperiment,
  runExperiment,
} from "@arizeai/phoenix-client/experiments";
import { createPrompt, getPrompt, listPrompts, promptVersion, toSDK } from "@arizeai/phoenix-client/prompts";

const [name, size] = process.argv.slice(2);
const client = createClient();
const logger = { info() {}, debug() {}, log() {}, warn() {}, error: console.error, table() {} };
const quiet = { client, logger, setGlobalTracerProvider: false };
const correct = asExperimentEvaluator({
  name: "correct",
  kind: "CODE",
  evaluate: async ({ output, expected }) => ({
    score: output === expected?.answer ? 1 : 0,
    label: output === expected?.answer ? "yes" : "no",
    explanation: "compared",
    metadata: { by: "code" },
  }),
});
const short = asExperimentEvaluator({
  name: "short",
  kind: "CODE",
  evaluate: async ({ output }) => ({ score: String(output).length < 4 ? 1 : 0 }),
});

if (size) {
  const examples = Array.from({ length: Number(size) }, (_, i) => ({ input: { i }, output: { answer: i % 10 } }));
  await createDataset({ client, name, description: "many", examples });
  const begin = Date.now();
  const large = await runExperiment({
    ...quiet,
    dataset: { datasetName: name },
    task: async ({ input }) => input.i % 9,
    evaluators: [correct, short],
    concurrency: 50,
  });
  assert.equal(large.successfulRunCount, Number(size));
  assert.equal(large.evaluationRuns.length, 2 * Number(size));
  // Evaluations are not awaited by the client: they are all there once its last request is served.
  for (const end = Date.now() + 120_000; ; ) {
    const missing = await client.GET("/v1/experiments/{experiment_id}/incomplete-evaluations", {
      params: { path: { experiment_id: large.id }, query: { evaluation_name: ["correct", "short"], limit: 10 } },
    });
    if (missing.data.data.length === 0) break;
    assert.ok(Date.now() < end, "evaluations are missing");
    await new Promise((next) => setTimeout(next, 100));
  }
  console.log(`${size} examples, 2 evaluators: ${Date.now() - begin} ms`);
  process.exit(0);
}

// Datasets: created, read back, changed in place, appended to, found by name.
const examples = [
  { input: { q: "one" }, output: { answer: "1" }, metadata: { level: 1 }, splits: "train", id: "a" },
  { input: { q: "two" }, output: { answer: "2" }, splits: ["test", "hard"], id: "b" },
  { input: { q: "three" }, output: null, id: "c" },
];
const { datasetId } = await createDataset({ client, name, description: "numbers", examples });
assert.ok(Buffer.from(datasetId, "base64").toString().startsWith("Dataset:"));
assert.equal(Buffer.from(Buffer.from(datasetId, "base64").toString()).toString("base64"), datasetId);
const first = await getDataset({ client, dataset: { datasetId } });
assert.deepEqual(first.examples.map((each) => each.id), ["a", "b", "c"]);
assert.deepEqual(first.examples[0].input, { q: "one" });
assert.deepEqual(first.examples[2].output, {});
assert.deepEqual(first.examples[0].metadata, { level: 1 });
assert.ok(!Number.isNaN(first.examples[0].updatedAt.getTime()));
const again = await createDataset({ client, name, description: "numbers", examples });
assert.equal(again.datasetId, datasetId);
assert.equal((await getDataset({ client, dataset: { datasetName: name } })).versionId, first.versionId);
const appended = await appendDatasetExamples({
  client,
  dataset: { datasetName: name },
  examples: [{ input: { q: "four" }, output: { answer: "4" }, id: "d" }],
});
assert.notEqual(appended.versionId, first.versionId);
const old = await getDataset({ client, dataset: { datasetId, versionId: first.versionId } });
assert.equal(old.examples.length, 3);
const hard = await getDataset({ client, dataset: { datasetId, splits: ["hard", "train"] } });
assert.deepEqual(hard.examples.map((each) => each.id), ["a", "b"]);
assert.equal((await getDatasetInfo({ client, dataset: { datasetId } })).name, name);
assert.ok((await client.GET("/v1/datasets")).data.data.some((each) => each.id === datasetId));
await assert.rejects(getDataset({ client, dataset: { datasetId, splits: ["none"] } }), (error) => {
  assert.match(String(error), /404/);
  return true;
});

// An experiment: runs and evaluations are stored, counts are right, undefined outputs and failures are kept.
let fails = true;
const task = async function numbers({ input }) {
  if (input.q === "four" && fails) throw new Error("no four");
  if (input.q === "three") return undefined;
  return { one: "1", two: "x", four: "4" }[input.q];
};
const ran = await runExperiment({
  ...quiet,
  experimentName: "first",
  experimentDescription: "counts",
  experimentMetadata: { model: "none" },
  dataset: { datasetName: name },
  task,
  evaluators: [correct, short],
  repetitions: 2,
});
assert.equal(ran.exampleCount, 4);
assert.equal(ran.successfulRunCount, 6);
assert.equal(ran.failedRunCount, 2);
assert.equal(ran.missingRunCount, 0);
assert.equal(ran.evaluationRuns.length, 16);
assert.match(ran.projectName, /^Experiment-/);
const { runs } = await getExperimentRuns({ client, experimentId: ran.id });
assert.equal(runs.length, 8);
const ofThree = runs.filter((run) => run.datasetExampleId === first.examples[2].nodeId);
assert.deepEqual(ofThree.map((run) => run.output), [null, null]);
const stored = await getExperiment({ client, experimentId: ran.id });
assert.equal(Object.keys(stored.runs).length, 8);

// Resuming runs what failed, and only that; afterwards nothing is left.
fails = false;
let calls = 0;
await resumeExperiment({ ...quiet, experimentId: ran.id, task: (example) => (++calls, task(example)), evaluators: [correct] });
assert.equal(calls, 2);
const whole = await getExperiment({ client, experimentId: ran.id });
assert.equal(whole.successfulRunCount, 8);
await resumeExperiment({ ...quiet, experimentId: ran.id, task: () => assert.fail("nothing is left to run") });
let evaluated = 0;
const later = asExperimentEvaluator({
  name: "later",
  kind: "CODE",
  evaluate: async () => {
    ++evaluated;
    return { score: true, label: 7 };
  },
});
await resumeEvaluation({ ...quiet, experimentId: ran.id, evaluators: [later] });
assert.equal(evaluated, 8);
await resumeEvaluation({ ...quiet, experimentId: ran.id, evaluators: [later] });
assert.equal(evaluated, 8);
const json = await client.GET("/v1/experiments/{experiment_id}/json", {
  params: { path: { experiment_id: ran.id } },
  parseAs: "json",
});
assert.equal(json.data.length, 8);
assert.deepEqual(json.data[0].input, { q: "one" });
assert.deepEqual(json.data[0].annotations.find((each) => each.name === "later").label, "7");
assert.equal(json.data[0].annotations.find((each) => each.name === "correct").metadata.by, "code");

// The traces of the runs are in the experiment's own project, which lists leave out.
for (const end = Date.now() + 30_000; ; ) {
  const spans = await client.GET("/v1/projects/{project_identifier}/spans", {
    params: { path: { project_identifier: ran.projectName } },
  });
  if (spans.data.data.length >= 8) break;
  assert.ok(Date.now() < end, "spans of the experiment are missing");
  await new Promise((next) => setTimeout(next, 50));
}
const projects = async (query) =>
  (await client.GET("/v1/projects", { params: { query } })).data.data.map((each) => each.name);
assert.ok(!(await projects({})).includes(ran.projectName));
assert.ok((await projects({ include_experiment_projects: true })).includes(ran.projectName));

// A second experiment on the same examples, evaluated later, with an evaluator that fails.
const split = await createExperiment({ client, datasetId, splits: ["train"] });
assert.equal(split.exampleCount, 1);
const second = await runExperiment({ ...quiet, dataset: { datasetId }, task: () => "1" });
const thrown = asExperimentEvaluator({
  name: "thrown",
  kind: "CODE",
  evaluate: async () => {
    throw new Error("cannot evaluate");
  },
});
const evaluatedLater = await evaluateExperiment({ ...quiet, experiment: second, evaluators: [thrown, correct] });
assert.equal(evaluatedLater.evaluationRuns.filter((each) => each.error).length, 4);
assert.equal((await listExperiments({ client, datasetId })).length, 3);
await deleteExperiment({ client, experimentId: split.id });
assert.equal((await listExperiments({ client, datasetId })).length, 2);

// Prompts.
const version = (text) =>
  promptVersion({
    modelProvider: "OPENAI",
    modelName: "gpt-x",
    template: [{ role: "user", content: text }],
    invocationParameters: { temperature: 0.5 },
  });
const one = await createPrompt({ client, name: "greet", description: "says hello", version: version("Hello {{who}}") });
const two = await createPrompt({ client, name: "greet", version: version("Good day {{who}}") });
assert.notEqual(one.id, two.id);
assert.equal((await getPrompt({ client, prompt: { name: "greet" } })).id, two.id);
assert.equal((await getPrompt({ client, prompt: { versionId: one.id } })).template.messages[0].content, "Hello {{who}}");
await client.POST("/v1/prompt_versions/{prompt_version_id}/tags", {
  params: { path: { prompt_version_id: one.id } },
  body: { name: "production", description: "live" },
});
const live = await getPrompt({ client, prompt: { name: "greet", tag: "production" } });
assert.equal(live.id, one.id);
const { messages, model } = toSDK({ sdk: "openai", prompt: live, variables: { who: "Ada" } });
assert.equal(messages[0].content, "Hello Ada");
assert.equal(model, "gpt-x");
assert.ok((await listPrompts({ client })).some((each) => each.name === "greet"));
console.log("datasets, experiments and prompts: done");
process.exit(0);
