// The scores of the experiments on a dataset, oldest first: one line for each name of evals. A line breaks where the
// version of the evaluator or of the dataset changed, because the scores before and after are not comparable.

import type { EvalSummary, ExperimentRow } from "../../api_types";

export interface ScorePoint {
  experiment: string;
  name: string;
  time: string;
  mean: number;
  /** 95 %; null: fewer than two examples. */
  interval: [number, number] | null;
  is_baseline: boolean;
}

/** A place of the chart: an experiment, or a break between two. */
export type ScorePlace = { at: number; point: ScorePoint } | { at: number; changes: string };

export interface ScoreLine {
  name: string;
  places: ScorePlace[];
}

const by_evaluator = (summary: EvalSummary) =>
  summary.evaluator_version === null ? "sent by a client" : `evaluator version ${summary.evaluator_version}`;

/** What makes the scores of an experiment not comparable with those of the one before it; empty: nothing. */
function changes_between(
  before: { row: ExperimentRow; summary: EvalSummary },
  after: { row: ExperimentRow; summary: EvalSummary },
): string {
  const changes: string[] = [];
  const was = by_evaluator(before.summary);
  const is = by_evaluator(after.summary);
  const both = before.summary.evaluator_id !== null && after.summary.evaluator_id !== null;
  if (both && before.summary.evaluator_id !== after.summary.evaluator_id)
    changes.push(`another evaluator (${is}, before: ${was})`);
  else if (was !== is) changes.push(`${is} (before: ${was})`);
  if (before.row.dataset_version !== after.row.dataset_version)
    changes.push(`dataset version ${after.row.dataset_version} (before: ${before.row.dataset_version})`);
  return changes.join(", ");
}

function line_of(name: string, oldest_first: ExperimentRow[]): ScoreLine {
  const scored = oldest_first.flatMap((row) => {
    const summary = row.evals.find((one) => one.name === name && one.examples > 0);
    return summary ? [{ row, summary }] : [];
  });
  const places: ScorePlace[] = [];
  for (const [at, one] of scored.entries()) {
    const before = scored[at - 1];
    const changes = before ? changes_between(before, one) : "";
    if (changes !== "") places.push({ at: at - 0.5, changes: `From ${one.row.name} on: ${changes}` });
    const { low, high, mean } = one.summary;
    places.push({
      at,
      point: {
        experiment: one.row.id,
        name: one.row.name,
        time: one.row.created_at,
        mean,
        interval: low === null || high === null ? null : [low, high],
        is_baseline: one.row.tags.includes("baseline"),
      },
    });
  }
  return { name, places };
}

/** Lines of at least two experiments, by name. */
export function score_lines(rows: ExperimentRow[]): ScoreLine[] {
  const oldest_first = [...rows].sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const names = [...new Set(rows.flatMap((row) => row.evals.map((one) => one.name)))].sort();
  return names
    .map((name) => line_of(name, oldest_first))
    .filter((line) => line.places.filter((place) => "point" in place).length > 1);
}
