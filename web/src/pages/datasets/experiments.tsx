// The experiments on a dataset: their scores over time, and a list, newest first, with counts, means of evals with
// intervals, and the baseline; two or more are compared.

import { api } from "../../api";
import type { DatasetView, EvalSummary, ExperimentRow } from "../../api_types";
import { exact_count, plural } from "../../lib/format/number";
import { shell_quote } from "../../lib/format/text";
import { reload, use_pages } from "../../load";
import { Icon } from "../../parts/icon";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate, query } from "../../router";
import { compare_page, experiment_page } from "../addresses";
import { dataset_route, is_complete, plain_id, score_text } from "./data";
import { ScoreCharts } from "./score_charts";

/** The base of a comparison: the baseline, else the oldest. */
export function in_order(rows: ExperimentRow[]): ExperimentRow[] {
  const oldest_first = [...rows].sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const baseline = oldest_first.filter((row) => row.tags.includes("baseline"));
  return [...baseline, ...oldest_first.filter((row) => !row.tags.includes("baseline"))];
}

/** 0.82 ±0.05, with the interval on hover. */
export function EvalMean({ eval: summary }: { eval: EvalSummary | undefined }) {
  if (!summary) return <span class="faint">–</span>;
  if (summary.examples === 0) return <State tone="failed" text={plural(summary.errors, "error")} />;
  const half = summary.low === null || summary.high === null ? null : (summary.high - summary.low) / 2;
  const interval =
    half === null ? "" : `, 95 % interval ${score_text(summary.low ?? 0)} to ${score_text(summary.high ?? 0)}`;
  const failed = summary.errors > 0 ? `, ${plural(summary.errors, "failed eval")} not counted` : "";
  const title = plural(summary.examples, "example") + interval + failed;
  return (
    <span title={title}>
      {score_text(summary.mean)}
      {half !== null && <span class="faint"> ±{score_text(half)}</span>}
    </span>
  );
}

export function RunCounts({ row }: { row: ExperimentRow }) {
  const wanted = row.example_count * row.repetitions;
  if (is_complete(row)) return <State tone="done" text={`${exact_count(wanted)} runs`} />;
  if (row.failed_run_count > 0)
    return <State tone="failed" text={`${exact_count(row.failed_run_count)} of ${exact_count(wanted)} failed`} />;
  return <State tone="waiting" text={`${exact_count(row.missing_run_count)} of ${exact_count(wanted)} missing`} />;
}

function columns_of(rows: ExperimentRow[]): Column<ExperimentRow>[] {
  const names = [...new Set(rows.flatMap((row) => row.evals.map((one) => one.name)))].sort();
  return [
    {
      id: "name",
      title: "Experiment",
      cell: (row) => (
        <>
          <a class="cell-link" href={experiment_page(row.id)}>
            {row.name}
          </a>{" "}
          {row.tags.map((tag) => (
            <span class="tag" key={tag}>
              {tag}
            </span>
          ))}
        </>
      ),
    },
    ...names.map((name, index) => ({
      id: `eval ${name}`,
      title: name,
      width: "112px",
      align: "right" as const,
      wide: index > 0,
      extra: index >= 4,
      cell: (row: ExperimentRow) => <EvalMean eval={row.evals.find((one) => one.name === name)} />,
    })),
    { id: "runs", title: "Runs", width: "150px", wide: true, cell: (row) => <RunCounts row={row} /> },
    {
      id: "version",
      title: "Version",
      width: "72px",
      align: "right",
      wide: true,
      cell: (row) => row.dataset_version,
    },
    {
      id: "created_at",
      title: "Created",
      width: "96px",
      align: "right",
      cell: (row) => <Time time={row.created_at} />,
    },
  ];
}

export function Experiments({ dataset }: { dataset: DatasetView }) {
  const key = `dataset_experiments/${dataset.id}`;
  const load = use_pages<ExperimentRow>(key, (cursor, signal) =>
    api.page<ExperimentRow>(dataset_route(dataset.id, "experiment_rows"), { cursor, limit: 50 }, signal),
  );
  const text = (query.value.get("q") ?? "").toLowerCase();
  const rows = (load.data ?? []).filter((row) => `${row.name} ${row.tags.join(" ")}`.toLowerCase().includes(text));
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            icon="gauge"
            title="No experiments yet"
            text="An experiment runs your application on these examples and evaluates the outputs. Phoenix' clients work unchanged: runExperiment in JavaScript, run_experiment in Python."
            command={`hone experiment list ${shell_quote(dataset.name)}`}
          />
        ) : (
          <>
            <ScoreCharts rows={rows} />
            <Table
              label="Experiments"
              rows={rows}
              columns={columns_of(all)}
              row_id={(row) => row.id}
              row_title={(row) => row.name}
              on_open={(row) => navigate(experiment_page(row.id))}
              on_end={load.more ?? undefined}
              selection_actions={(chosen) =>
                chosen.length < 2 ? (
                  <span class="soft">Select one more to compare</span>
                ) : (
                  <button
                    type="button"
                    class="primary"
                    onClick={() =>
                      navigate(
                        compare_page(
                          plain_id(dataset.id),
                          in_order(chosen).map((row) => row.id),
                        ),
                      )
                    }
                  >
                    <Icon name="columns" /> Compare {chosen.length}
                  </button>
                )
              }
              bar={<SearchField label="Filter experiments" />}
              foot={<p class="table-end">{load.more ? "Loading more…" : plural(rows.length, "experiment")}</p>}
            />
          </>
        )
      }
    </Data>
  );
}
