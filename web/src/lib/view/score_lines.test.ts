import { expect, test } from "@playwright/test";
import type { EvalSummary, ExperimentRow } from "../../api_types";
import { score_lines } from "./score_lines";

const summary = (mean: number, version: number | null, more: Partial<EvalSummary> = {}): EvalSummary => ({
  name: "correct",
  examples: 4,
  mean,
  low: mean - 0.1,
  high: mean + 0.1,
  errors: 0,
  evaluator_id: version === null ? null : "evaluator_1",
  evaluator_version: version,
  ...more,
});

const row = (id: number, evals: EvalSummary[], more: Partial<ExperimentRow> = {}): ExperimentRow => ({
  id: `experiment_${id}`,
  name: `night ${id}`,
  description: "",
  dataset_version: 1,
  repetitions: 1,
  example_count: 4,
  successful_run_count: 4,
  failed_run_count: 0,
  missing_run_count: 0,
  created_by: "ann",
  created_at: `2026-11-1${id}T10:00:00Z`,
  tags: [],
  evals,
  project_name: "p",
  dataset: "dataset_1",
  metadata: {},
  ...more,
});

const shape = (rows: ExperimentRow[]) =>
  score_lines(rows).map(({ name, places }) => [
    name,
    places.map((place) => ("point" in place ? place.point.mean : place.changes)),
  ]);

test("experiments are in the order of their creation, and one alone is no line", () => {
  expect(shape([row(2, [summary(0.5, null)]), row(1, [summary(0.4, null)])])).toEqual([["correct", [0.4, 0.5]]]);
  expect(shape([row(1, [summary(0.4, null)])])).toEqual([]);
  expect(shape([])).toEqual([]);
});

test("a line breaks where the evaluator or the dataset changed, and names what", () => {
  const rows = [
    row(1, [summary(0.4, 1)]),
    row(2, [summary(0.5, 1)]),
    row(3, [summary(0.9, 2)]),
    row(4, [summary(0.8, 2)], { dataset_version: 2 }),
    row(5, [summary(0.7, null)], { dataset_version: 3 }),
  ];
  expect(shape(rows)[0]?.[1]).toEqual([
    0.4,
    0.5,
    "From night 3 on: evaluator version 2 (before: evaluator version 1)",
    0.9,
    "From night 4 on: dataset version 2 (before: 1)",
    0.8,
    "From night 5 on: sent by a client (before: evaluator version 2), dataset version 3 (before: 2)",
    0.7,
  ]);
});

test("evals of one name by two evaluators are not one line", () => {
  const rows = [row(1, [summary(0.4, 1)]), row(2, [summary(0.5, 1, { evaluator_id: "evaluator_2" })])];
  expect(shape(rows)[0]?.[1]).toEqual([
    0.4,
    "From night 2 on: another evaluator (evaluator version 1, before: evaluator version 1)",
    0.5,
  ]);
});

test("an experiment without scores of the name is left out; places are evenly spaced with breaks between", () => {
  const rows = [
    row(1, [summary(0.4, 1)], { tags: ["baseline"] }),
    row(2, [summary(0, 1, { examples: 0, low: null, high: null, errors: 4 })]),
    row(3, [summary(0.6, 2, { low: null, high: null })]),
  ];
  const [line] = score_lines(rows);
  expect(line?.places.map((place) => place.at)).toEqual([0, 0.5, 1]);
  const [first, , last] = line?.places ?? [];
  expect(first).toMatchObject({ point: { name: "night 1", is_baseline: true, interval: [0.4 - 0.1, 0.5] } });
  expect(last).toMatchObject({ point: { name: "night 3", is_baseline: false, interval: null } });
});
