// The evals of two experiments side by side: verdict, means, intervals, and the flips between pass and fail.

import type { Comparison, MetricComparison } from "../../api_types";
import { plural } from "../../lib/format/number";
import { delta_text, interval_text, mean_text } from "../../lib/sentences/comparison";
import { State } from "../../parts/state";
import { set_query } from "../../router";

const verdicts = {
  improved: { tone: "done", text: "improved" },
  regressed: { tone: "failed", text: "regressed" },
  no_difference_shown: { tone: "off", text: "no difference shown" },
} as const;

export function Verdict({ metric }: { metric: { verdict: string } }) {
  const known = verdicts[metric.verdict as keyof typeof verdicts] ?? verdicts.no_difference_shown;
  return <State {...known} />;
}

/** The interval on a line with zero in the middle; the table beside it has the numbers. */
function IntervalBar({ metric, widest }: { metric: MetricComparison; widest: number }) {
  if (metric.low === null || metric.high === null) return null;
  const place = (value: number) => 60 + (value / widest) * 54;
  const tone = metric.verdict === "regressed" ? "failed" : metric.verdict === "improved" ? "done" : "off";
  return (
    <svg class={`interval ${tone}`} viewBox="0 0 120 16" aria-hidden="true" focusable="false">
      <line class="zero" x1="60" x2="60" y1="1" y2="15" />
      <line x1={place(metric.low)} x2={place(metric.high)} y1="8" y2="8" />
      <circle cx={place(metric.delta)} cy="8" r="3" />
    </svg>
  );
}

export function Metrics({ comparison }: { comparison: Comparison }) {
  const { metrics } = comparison;
  const widest = Math.max(1e-9, ...metrics.flatMap((one) => [Math.abs(one.low ?? 0), Math.abs(one.high ?? 0)]));
  return (
    <div class="matrix-scroll">
      <table class="plain-table" aria-label="Evals">
        <thead>
          <tr>
            <th scope="col">Eval</th>
            <th scope="col" class="right named" title={comparison.base_name}>
              {comparison.base_name}
            </th>
            <th scope="col" class="right named" title={comparison.other_name}>
              {comparison.other_name}
            </th>
            <th scope="col" class="right">
              Difference
            </th>
            <th scope="col" class="wide-only">
              95 % interval
            </th>
            <th scope="col" class="right wide-only">
              q
            </th>
            <th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <tr key={metric.name}>
              <th scope="row">{metric.name}</th>
              <td class="right">{mean_text(metric, metric.base_mean)}</td>
              <td class="right">{mean_text(metric, metric.other_mean)}</td>
              <td class="right">{delta_text(metric, metric.delta)}</td>
              <td class="wide-only">
                <span class="interval-cell">
                  <IntervalBar metric={metric} widest={widest} />
                  <span class="soft">{interval_text(metric) || "too few pairs"}</span>
                </span>
              </td>
              <td class="right wide-only" title={`p = ${metric.p}, ${metric.test.replaceAll("_", " ")}`}>
                {metric.q < 0.001 ? "< 0.001" : metric.q.toFixed(3)}
              </td>
              <td>
                <Verdict metric={metric} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Examples by what they did before and after; a cell filters the list. */
export function Flips({ metric }: { metric: MetricComparison }) {
  const cell = (count: number, show: string | null, word: string) => (
    <td>
      <button
        type="button"
        class="quiet"
        disabled={count === 0}
        aria-label={`${plural(count, "example")} ${word}`}
        onClick={() => set_query({ show, open: null })}
      >
        {count}
      </button>
    </td>
  );
  return (
    <table class="flips" aria-label={`Flips of ${metric.name}`}>
      <thead>
        <tr>
          <th scope="col">{metric.name}</th>
          <th scope="col">passes now</th>
          <th scope="col">fails now</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">passed</th>
          {cell(metric.passed_both, null, "passed before and now")} {cell(metric.broken, "broken", "broken")}
        </tr>
        <tr>
          <th scope="row">failed</th>
          {cell(metric.fixed, "fixed", "fixed")} {cell(metric.failed_both, null, "failed before and now")}
        </tr>
      </tbody>
    </table>
  );
}
