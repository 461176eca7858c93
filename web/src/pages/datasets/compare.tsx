// Two or more experiments on the same examples. First the sentence, then every eval with its interval, the flips, and
// the examples with the largest regression first.

import { useMemo } from "preact/hooks";
import { api } from "../../api";
import type { Comparison, DatasetView, ExampleRow, ExperimentRow } from "../../api_types";
import { duration, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { delta_text, metric_sentence } from "../../lib/sentences/comparison";
import { reload, use_load, use_pages } from "../../load";
import { space } from "../../login";
import { PageHeader, Section } from "../../parts/page";
import { Data, Empty, Note } from "../../parts/state";
import { Table } from "../../parts/table";
import { query, set_query } from "../../router";
import { dataset_page, experiment_page } from "../addresses";
import { columns_of, Detail, example_name, shows } from "./compare_examples";
import { Flips, Metrics, Verdict } from "./compare_metrics";
import { Pairwise } from "./compare_pairs";
import { dataset_route, one_line } from "./data";
import { in_order } from "./experiments";

const page_size = 200;

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
  const dataset = experiments.find((row) => row.id === base);
  const examples = use_load(
    dataset ? `comparison_examples/${dataset.dataset}/${dataset.dataset_version}` : null,
    (signal) =>
      api.page<ExampleRow>(
        dataset_route(dataset?.dataset ?? "", "example_rows"),
        { version_id: dataset?.dataset_version, limit: 1000 },
        signal,
      ),
  );
  const inputs = useMemo(
    () => new Map((examples.data?.rows ?? []).map((row) => [row.id, one_line(row.input)])),
    [examples.data],
  );
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
            {comparison.metrics.length === 0 && comparison.pairwise.length === 0 ? (
              <Empty
                icon="scale"
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
            <Pairwise comparison={comparison} />
            <div class="with-slide-over compared">
              <Table
                label="Compared examples"
                rows={rows}
                columns={columns_of(comparison, inputs)}
                row_id={(row) => row.example}
                row_title={(row) => example_name(row, inputs)}
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
                icon="compare"
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
