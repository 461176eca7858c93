// A comparison of two experiments in words, for people who read one sentence.

import type { MetricComparison, PairSummary } from "../../api_types";

/** +6.2 points, −0.31 */
export function delta_text(metric: Pick<MetricComparison, "is_pass_fail">, delta: number): string {
  const size = metric.is_pass_fail ? Math.abs(delta) * 100 : Math.abs(delta);
  const digits = metric.is_pass_fail ? size.toFixed(1) : String(Number(size.toPrecision(3)));
  if (Number(digits) === 0) return metric.is_pass_fail ? "0 points" : "0";
  return `${delta < 0 ? "−" : "+"}${digits}${metric.is_pass_fail ? " points" : ""}`;
}

/** −1.1 to +11.3 */
export function interval_text(metric: MetricComparison): string {
  if (metric.low === null || metric.high === null) return "";
  const end = (value: number) => delta_text(metric, value).replace(" points", "");
  return `${end(metric.low)} to ${end(metric.high)}`;
}

export function mean_text(metric: Pick<MetricComparison, "is_pass_fail">, mean: number): string {
  return metric.is_pass_fail ? `${(mean * 100).toFixed(1)} %` : String(Number(mean.toPrecision(4)));
}

/** "correct: +6.2 points (95 % CI 1.1 to 11.3), 41 fixed, 17 broken of 400" */
export function metric_sentence(metric: MetricComparison): string {
  if (metric.pairs === 0) return `${metric.name}: no example has a score in both`;
  const interval = interval_text(metric);
  const of = `${metric.pairs} ${metric.pairs === 1 ? "example" : "examples"}`;
  const flips = metric.is_pass_fail ? `, ${metric.fixed} fixed, ${metric.broken} broken` : "";
  if (metric.verdict === "no_difference_shown")
    return `${metric.name}: no difference shown by ${of} (${delta_text(metric, metric.delta)}${
      interval === "" ? "" : `, 95 % interval ${interval}`
    }${flips})`;
  return `${metric.name} ${metric.verdict}: ${delta_text(metric, metric.delta)}${
    interval === "" ? "" : `, 95 % interval ${interval}`
  }${flips}, of ${of}`;
}

const percent = (value: number) => `${Math.round(value * 100)} %`;

/** "better improved: other wins 8, base wins 1, 1 tie of 10 examples (89 %, 95 % interval 57 % to 98 %)" */
export function pair_sentence(pair: PairSummary): string {
  const of = `${pair.examples} ${pair.examples === 1 ? "example" : "examples"}`;
  const counts = `other wins ${pair.wins}, base wins ${pair.losses}, ${pair.ties} ${pair.ties === 1 ? "tie" : "ties"}`;
  const rate =
    pair.win_rate === null
      ? ""
      : ` (${percent(pair.win_rate)} of the decided ones, 95 % interval ${percent(pair.low)} to ${percent(pair.high)})`;
  const verdict = pair.verdict === "no_difference_shown" ? ": no difference shown" : ` ${pair.verdict}`;
  return `${pair.name}${verdict}: ${counts} of ${of}${rate}`;
}

/** How often the verdict depends on the order, and which position it favours. */
export function bias_sentence(pair: PairSummary): string {
  if (pair.flip_rate === null) return `${pair.name}: no pair is decided`;
  const flips = `${pair.name} changes its verdict with the order for ${percent(pair.flip_rate)} of the pairs`;
  return pair.favours === "none" ? flips : `${flips}; it favours the output that is shown ${pair.favours}`;
}
