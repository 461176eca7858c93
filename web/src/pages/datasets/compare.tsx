// Two or more experiments on the same examples. First the sentence, then every eval with its interval, the flips, and
// the examples with the largest regression first.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type {
  ComparedExample,
  Comparison,
  DatasetView,
  ExperimentRow,
  MetricComparison,
  RunRow,
} from "../../api_types";
import { duration, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { delta_text, interval_text, mean_text, metric_sentence } from "../../lib/sentences/comparison";
import { reload, use_load, use_pages } from "../../load";
import { space } from "../../login";
import { PageHeader, Section } from "../../parts/page";
import { SlideOver } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { query, set_query } from "../../router";
import { dataset_page, experiment_page, trace_page } from "../addresses";
import { dataset_route, experiment_route, one_line, score_text } from "./data";
import { Value } from "./examples";
import { EvalResult } from "./experiment";
import { in_order } from "./experiments";

const page_size = 200;

const verdicts = {
  improved: { tone: "done", text: "improved" },
  regressed: { tone: "failed", text: "regressed" },
  no_difference_shown: { tone: "off", text: "no difference shown" },
} as const;

function Verdict({ metric }: { metric: MetricComparison }) {
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

function Metrics({ comparison }: { comparison: Comparison }) {
  const { metrics } = comparison;
  const widest = Math.max(1e-9, ...metrics.flatMap((one) => [Math.abs(one.low ?? 0), Math.abs(one.high ?? 0)]));
  return (
    <div class="matrix-scroll">
      <table class="plain-table" aria-label="Evals">
        <thead>
          <tr>
            <th scope="col">Eval</th>
            <th scope="col" class="right">
              {comparison.base_name}
            </th>
            <th scope="col" class="right">
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
function Flips({ metric }: { metric: MetricComparison }) {
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

/** Repetitions as dots: filled passes. */
function Scores({ scores }: { scores: number[] | undefined }) {
  if (!scores || scores.length === 0) return <span class="faint">–</span>;
  if (!scores.every((score) => score === 0 || score === 1))
    return <span>{scores.map((score) => score_text(score)).join(", ")}</span>;
  const passes = scores.filter((score) => score === 1).length;
  return (
    <span
      class="dots"
      role="img"
      aria-label={`${passes} of ${scores.length} passed`}
      title={`${passes} of ${scores.length} passed`}
    >
      {scores.map((score, index) => (
        <span key={index} class={score === 1 ? "dot full" : "dot"} />
      ))}
    </span>
  );
}

const has_flip = (row: ComparedExample, flip: string) => Object.values(row.flip).includes(flip);
const shows: Record<
  string,
  {
    title: string;
    fits: (row: ComparedExample) => boolean;
  }
> = {
  all: { title: "All examples", fits: () => true },
  broken: {
    title: "Regressions",
    fits: (row) => has_flip(row, "broken") || Object.values(row.delta).some((delta) => delta < 0),
  },
  fixed: {
    title: "Improvements",
    fits: (row) => has_flip(row, "fixed") || Object.values(row.delta).some((delta) => delta > 0),
  },
  flaky: { title: "Flaky", fits: (row) => row.flaky },
};

function columns_of(comparison: Comparison): Column<ComparedExample>[] {
  return [
    {
      id: "example",
      title: "Example",
      cell: (row) => (
        <>
          {row.external_id ?? row.example.slice(-8)} {row.flaky && <span class="tag">flaky</span>}
        </>
      ),
    },
    ...comparison.metrics.flatMap((metric, index): Column<ComparedExample>[] => [
      {
        id: `base ${metric.name}`,
        title: `${metric.name}, base`,
        width: "110px",
        wide: index > 0,
        cell: (row) => <Scores scores={row.base[metric.name]} />,
      },
      {
        id: `other ${metric.name}`,
        title: "other",
        width: "92px",
        wide: index > 0,
        cell: (row) => <Scores scores={row.other[metric.name]} />,
      },
      {
        id: `delta ${metric.name}`,
        title: "±",
        width: "110px",
        wide: index > 0,
        cell: (row) => {
          const delta = row.delta[metric.name];
          if (delta === undefined) return <span class="faint">–</span>;
          const flip = row.flip[metric.name];
          if (flip === "broken") return <State tone="failed" text="broken" />;
          if (flip === "fixed") return <State tone="done" text="fixed" />;
          return delta === 0 ? <span class="faint">=</span> : delta_text({ is_pass_fail: false }, delta);
        },
      },
    ]),
  ];
}

function Side({
  title,
  experiment,
  example,
}: {
  title: string;
  experiment: ExperimentRow | undefined;
  example: string;
}) {
  const load = use_load(experiment ? `experiment_example/${experiment.id}/${example}` : null, (signal) =>
    api.get<RunRow[]>(experiment_route(experiment?.id ?? "", "run_rows"), { example }, signal),
  );
  return (
    <section class="compared-side" aria-label={title}>
      <h3>{title}</h3>
      <Data load={load} retry={() => void reload("experiment_example/")}>
        {(runs) => (
          <>
            {runs.map((run) => (
              <div key={run.id}>
                {run.error === null ? (
                  <Value title={runs.length > 1 ? `Output ${run.repetition}` : "Output"} value={run.output} />
                ) : (
                  <Note kind="failed" icon="warning">
                    {run.error}
                  </Note>
                )}
                <p class="soft">
                  {run.evals.map((one) => (
                    <span key={one.name} class="eval-inline">
                      {one.name} <EvalResult eval={one} />
                    </span>
                  ))}{" "}
                  {duration(run.latency_ms)}{" "}
                  {run.trace_id && experiment && (
                    <>
                      {" · "}
                      <a href={trace_page(experiment.project_name, run.trace_id)}>trace</a>
                    </>
                  )}
                </p>
              </div>
            ))}{" "}
            {runs.length === 0 && <p class="faint">No run.</p>}
          </>
        )}
      </Data>
    </section>
  );
}

interface DetailProps {
  comparison: Comparison;
  base: ExperimentRow | undefined;
  other: ExperimentRow | undefined;
  row: ComparedExample;
  rows: ComparedExample[];
}

function Detail({ comparison, base, other, row, rows }: DetailProps) {
  const at = rows.indexOf(row);
  const open = (index: number) => {
    const next = rows[index];
    return next ? () => set_query({ open: next.example }, { replace: true }) : undefined;
  };
  const example = use_load(base ? `experiment_example/${base.id}/${row.example}` : null, (signal) =>
    api.get<RunRow[]>(experiment_route(base?.id ?? "", "run_rows"), { example: row.example }, signal),
  );
  const first = example.data?.[0];
  return (
    <SlideOver
      title={row.external_id ?? "Example"}
      on_close={() => set_query({ open: null })}
      on_previous={open(at - 1)}
      on_next={open(at + 1)}
    >
      {first && <p class="clamped">{one_line(first.input)}</p>}
      {first && <Value title="Reference output" value={first.reference} />}
      <Side title={comparison.base_name} experiment={base} example={row.example} />
      <Side title={comparison.other_name} experiment={other} example={row.example} />
      {first && <Value title="Input" value={first.input} />}
    </SlideOver>
  );
}

interface PairProps {
  experiments: ExperimentRow[];
  base: string;
  other: string;
}

function Pair({ experiments, base, other }: PairProps) {
  const key = `comparison/${base}/${other}`;
  const load = use_pages<Comparison>(key, async (cursor, signal) => {
    const skip = Number(cursor ?? 0);
    const part = await api.get<Comparison>("/v1/experiments/compare", { base, other, skip, limit: page_size }, signal);
    return { rows: [part], next_cursor: part.has_more_examples ? String(skip + page_size) : null };
  });
  const chosen = query.value.get("show") ?? "all";
  const show = shows[chosen] ?? shows.all;
  const all = useMemo(() => (load.data ?? []).flatMap((part) => part.examples), [load.data?.length, load.data?.[0]]);
  const rows = all.filter((row) => show?.fits(row));
  const open = rows.find((row) => row.example === query.value.get("open"));
  return (
    <Data load={load} retry={() => void reload("comparison/")}>
      {([comparison]) =>
        comparison && (
          <>
            {comparison.metrics.length === 0 ? (
              <Empty
                icon="gauge"
                title="No evals in common"
                text="Evaluate both experiments with evals of the same name to compare them."
              />
            ) : (
              <>
                <ul class="sentences" aria-label="In words">
                  {comparison.metrics.map((metric) => (
                    <li key={metric.name}>{metric_sentence(metric)}</li>
                  ))}
                  <li class="soft">
                    {plural(comparison.common_examples, "common example")}; median time{" "}
                    {duration(comparison.latency.base_median_ms)} before, {duration(comparison.latency.other_median_ms)}{" "}
                    now
                  </li>
                </ul>
                <Gate comparison={comparison} />
                <Metrics comparison={comparison} />
                <div class="flip-tables">
                  {comparison.metrics
                    .filter((metric) => metric.is_pass_fail && metric.pairs > 0)
                    .map((metric) => (
                      <Flips key={metric.name} metric={metric} />
                    ))}
                </div>
              </>
            )}
            <div class="with-slide-over compared">
              <Table
                label="Compared examples"
                rows={rows}
                columns={columns_of(comparison)}
                row_id={(row) => row.example}
                row_title={(row) => row.external_id ?? row.example}
                on_open={(row) => set_query({ open: row.example })}
                open_id={open?.example ?? null}
                on_end={load.more ?? undefined}
                bar={
                  <label class="bar-choice">
                    <span>Show</span>
                    <select
                      value={chosen}
                      onChange={(event) => {
                        const value = event.currentTarget.value;
                        set_query({ show: value === "all" ? null : value, open: null });
                      }}
                    >
                      {Object.entries(shows).map(([id, one]) => (
                        <option key={id} value={id}>
                          {one.title} ({all.filter(one.fits).length})
                        </option>
                      ))}
                    </select>
                  </label>
                }
                foot={
                  <p class="table-end">
                    {load.more ? "Loading more…" : `${plural(rows.length, "example")} shown, largest regression first`}
                  </p>
                }
              />
              {open && (
                <Detail
                  comparison={comparison}
                  base={experiments.find((row) => row.id === base)}
                  other={experiments.find((row) => row.id === other)}
                  row={open}
                  rows={rows}
                />
              )}
            </div>
          </>
        )
      }
    </Data>
  );
}

/** Whether the other may replace the base, as `hone experiment compare --fail-on regression` decides it. */
function Gate({ comparison }: { comparison: Comparison }) {
  const { gate } = comparison;
  return (
    <Note kind={gate.verdict === "failed" ? "failed" : "done"} icon={gate.verdict === "failed" ? "warning" : "check"}>
      <p>
        {gate.verdict === "failed"
          ? "The gate for continuous integration fails:"
          : "The gate for continuous integration passes."}
      </p>
      {(gate.reasons.length > 0 || gate.notes.length > 0) && (
        <ul class="plain-list">
          {gate.reasons.map((reason) => (
            <li key={reason.message}>{reason.message}</li>
          ))}{" "}
          {gate.notes.map((note) => (
            <li key={note} class="soft">
              {note}
            </li>
          ))}
        </ul>
      )}
    </Note>
  );
}

interface PickProps {
  label: string;
  value: string;
  experiments: ExperimentRow[];
  on_change: (id: string) => void;
}

function Pick({ label, value, experiments, on_change }: PickProps) {
  return (
    <label class="bar-choice">
      <span>{label}</span>
      <select value={value} onChange={(event) => on_change(event.currentTarget.value)}>
        {experiments.map((row) => (
          <option key={row.id} value={row.id}>
            {row.name}
            {row.tags.length > 0 ? ` (${row.tags.join(", ")})` : ""}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ComparePage({ params }: { params: Params }) {
  const id = params.dataset ?? "";
  const load = use_load(`dataset_comparison/${space.value?.id}/${id}`, async (signal) => {
    const dataset = await api.get<DatasetView>(dataset_route(id), { space: space.value?.id }, signal);
    const experiments = await api.get<ExperimentRow[]>(
      dataset_route(dataset.id, "experiment_rows"),
      { limit: 200 },
      signal,
    );
    return { dataset, experiments };
  });
  return (
    <Data load={load} whole_page retry={() => void reload("dataset_comparison/")}>
      {({ dataset, experiments }) => {
        const ordered = in_order(experiments);
        const base = query.value.get("base") || (ordered[0]?.id ?? "");
        const named = (query.value.get("other") ?? "").split(",").filter((other) => other !== "");
        const others = named.length > 0 ? named : ordered.slice(-1).map((row) => row.id);
        const current = query.value.get("with") ?? others[0] ?? "";
        return (
          <div class="page compare-page">
            <PageHeader
              title="Comparison"
              text={
                <>
                  Experiments on <a href={dataset_page(id, "experiments")}>{dataset.name}</a>, paired by example.
                  Repetitions of an example count as one mean.
                </>
              }
            />
            {experiments.length < 2 ? (
              <Empty
                icon="columns"
                title="Nothing to compare yet"
                text="A comparison needs two experiments on this dataset."
              />
            ) : (
              <>
                <div class="compare-picks">
                  <Pick
                    label="Base"
                    value={base}
                    experiments={experiments}
                    on_change={(value) => set_query({ base: value, open: null })}
                  />
                  <Pick
                    label="Other"
                    value={current}
                    experiments={experiments}
                    on_change={(value) => set_query({ other: value, with: null, open: null })}
                  />
                  {others.length > 1 && (
                    <nav class="segments" aria-label="Compared experiments">
                      {others.map((other) => (
                        <button
                          type="button"
                          key={other}
                          aria-pressed={other === current}
                          onClick={() => set_query({ with: other, open: null })}
                        >
                          {experiments.find((row) => row.id === other)?.name ?? other.slice(-6)}
                        </button>
                      ))}
                    </nav>
                  )}
                  <a href={experiment_page(current)}>Open the experiment</a>
                </div>
                {others.length > 1 && <Overview experiments={experiments} base={base} others={others} />}
                {base === current ? (
                  <p class="soft">Choose two different experiments.</p>
                ) : (
                  <Pair key={`${base} ${current}`} experiments={experiments} base={base} other={current} />
                )}
              </>
            )}
          </div>
        );
      }}
    </Data>
  );
}

/** Each of several experiments against the base, one row each. */
function Overview({ experiments, base, others }: { experiments: ExperimentRow[]; base: string; others: string[] }) {
  const load = use_load(`comparison/${base}/of / ${others.join(",")}`, (signal) =>
    Promise.all(
      others.map((other) => api.get<Comparison>("/v1/experiments/compare", { base, other, limit: 0 }, signal)),
    ),
  );
  return (
    <Section title="Against the base">
      <Data load={load} retry={() => void reload("comparison/")}>
        {(comparisons) => {
          const names = [...new Set(comparisons.flatMap((one) => one.metrics.map((metric) => metric.name)))].sort();
          return (
            <div class="matrix-scroll">
              <table class="plain-table" aria-label="Against the base">
                <thead>
                  <tr>
                    <th scope="col">Experiment</th>
                    {names.map((name) => (
                      <th scope="col" key={name}>
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {comparisons.map((one, index) => (
                    <tr key={others[index]}>
                      <th scope="row">
                        <a href={experiment_page(others[index] ?? "")}>
                          {experiments.find((row) => row.id === others[index])?.name ?? one.other_name}
                        </a>
                      </th>
                      {names.map((name) => {
                        const metric = one.metrics.find((each) => each.name === name);
                        return (
                          <td key={name}>
                            {metric && metric.pairs > 0 ? (
                              <span title={metric_sentence(metric)}>
                                {delta_text(metric, metric.delta)}
                                <Verdict metric={metric} />
                              </span>
                            ) : (
                              <span class="faint">–</span>
                            )}
                          </td>
                        );
                      })}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          );
        }}
      </Data>
    </Section>
  );
}
