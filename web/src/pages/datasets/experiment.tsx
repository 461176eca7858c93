// One experiment: what it ran, means of its evals with intervals, and its runs with output, reference, scores, errors
// and traces.

import { useState } from "preact/hooks";
import { api, api_url } from "../../api";
import type { DatasetView, ExperimentRow, RunEval, RunRow } from "../../api_types";
import { duration, plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load, use_pages, use_refresh } from "../../load";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader } from "../../parts/page";
import { Facts, SlideOver } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { compare_page, dataset_page, trace_page } from "../addresses";
import { AddToDatasetButton } from "./add_to_dataset";
import { Corrections, CorrectVerdictButton } from "./correct_verdict";
import { dataset_route, datasets_changed, experiment_route, is_complete, one_line, score_text } from "./data";
import { Value } from "./examples";
import { TaskBar } from "./experiment_task";
import { EvalMean, RunCounts } from "./experiments";

// While a client sends runs.
const refresh = 5000;

/** A score or a label; why there is none. */
export function EvalResult({ eval: result }: { eval: RunEval | undefined }) {
  if (!result) return <span class="faint">–</span>;
  if (result.error !== null) return <State tone="failed" text="failed" />;
  const texts = [result.score === null ? "" : score_text(result.score), result.label ?? ""].filter((text) => text);
  return (
    <span title={result.explanation ?? undefined}>
      {" "}
      {texts.join(" · ") || "–"}
      {result.corrections.length > 0 && <span title="A person corrected it"> *</span>}
    </span>
  );
}

const eval_of = (run: RunRow, name: string) => run.evals.find((one) => one.name === name);

const filters: Record<
  string,
  {
    title: string;
    fits: (run: RunRow) => boolean;
  }
> = {
  all: { title: "All runs", fits: () => true },
  failed: { title: "Failed runs", fits: (run) => run.error !== null },
  zero: { title: "With a score of 0", fits: (run) => run.evals.some((one) => one.score === 0) },
  unscored: {
    title: "With a failed eval",
    fits: (run) => run.evals.some((one) => one.error !== null),
  },
};

/** Without columns that no run has a value for: the others need their room. */
function columns_of(experiment: ExperimentRow, runs: RunRow[]): Column<RunRow>[] {
  const without = new Set([
    ...(runs.some((run) => one_line(run.reference) !== "") ? [] : ["reference"]),
    ...(runs.some((run) => run.trace_id) ? [] : ["trace"]),
  ]);
  return all_columns(experiment).filter((column) => !without.has(column.id));
}

function all_columns(experiment: ExperimentRow): Column<RunRow>[] {
  const names = experiment.evals.map((one) => one.name);
  return [
    {
      id: "input",
      title: "Input",
      width: "34%",
      cell: (run) => <span title={one_line(run.input)}>{one_line(run.input)}</span>,
    },
    {
      id: "output",
      title: "Output",
      cell: (run) =>
        run.error === null ? (
          <span title={one_line(run.output)}>{one_line(run.output) || <span class="faint">none</span>}</span>
        ) : (
          <span class="failed-text" title={run.error}>
            <Icon name="warning" /> {run.error}
          </span>
        ),
    },
    {
      id: "reference",
      title: "Reference output",
      width: "18%",
      wide: true,
      cell: (run) => (
        <span class="soft" title={one_line(run.reference)}>
          {one_line(run.reference)}
        </span>
      ),
    },
    ...names.map((name, index) => ({
      id: `eval ${name}`,
      title: name,
      width: "132px",
      wide: index > 0,
      extra: index >= 4,
      cell: (run: RunRow) => <EvalResult eval={eval_of(run, name)} />,
    })),
    ...(experiment.repetitions > 1
      ? [
          {
            id: "repetition",
            title: "Repetition",
            width: "84px",
            align: "right" as const,
            wide: true,
            cell: (run: RunRow) => run.repetition,
          },
        ]
      : []),
    {
      id: "latency",
      title: "Time",
      width: "72px",
      align: "right",
      wide: true,
      cell: (run) => duration(run.latency_ms),
    },
    {
      id: "trace",
      title: "Trace",
      width: "60px",
      wide: true,
      cell: (run) =>
        run.trace_id && <a href={trace_page(run.trace_project ?? experiment.project_name, run.trace_id)}>open</a>,
    },
  ];
}

interface DetailProps {
  experiment: ExperimentRow;
  run: RunRow;
  rows: RunRow[];
}

function Detail({ experiment, run, rows }: DetailProps) {
  const at = rows.indexOf(run);
  const open = (index: number) => {
    const row = rows[index];
    return row ? () => set_query({ open: row.id }, { replace: true }) : undefined;
  };
  return (
    <SlideOver
      title={run.external_id ?? `Run ${run.repetition}`}
      on_close={() => set_query({ open: null })}
      on_previous={open(at - 1)}
      on_next={open(at + 1)}
    >
      <AddToDatasetButton sources={{ kind: "run", experiment: experiment.id, run }} />
      {run.error !== null && (
        <Note kind="failed" icon="warning">
          {run.error}
        </Note>
      )}
      <Value title="Output" value={run.output} />
      <Value title="Reference output" value={run.reference} />
      <Value title="Input" value={run.input} />
      <h3>Evals</h3>
      {run.evals.length === 0 && <p class="faint">None.</p>}
      {run.evals.map((one) => (
        <div class="eval-detail" key={one.name}>
          <p>
            <b>{one.name}</b> <EvalResult eval={one} />{" "}
            {one.trace_id && one.trace_project && <a href={trace_page(one.trace_project, one.trace_id)}>trace</a>}{" "}
            <CorrectVerdictButton run={run} eval={one} runs={rows} />
          </p>
          {(one.error ?? one.explanation) && <p class="soft">{one.error ?? one.explanation}</p>}
          <Corrections corrections={one.corrections} />
        </div>
      ))}
      <h3>About</h3>
      <Facts
        rows={[
          ["Time", duration(run.latency_ms)],
          ["Repetition", run.repetition],
          [
            "Trace",
            run.trace_id ? (
              <a key="trace" href={trace_page(run.trace_project ?? experiment.project_name, run.trace_id)}>
                open
              </a>
            ) : (
              "none"
            ),
          ],
          ["Example", <code key="example">{run.example}</code>],
        ]}
      />
    </SlideOver>
  );
}

function Actions({ experiment, baseline }: { experiment: ExperimentRow; baseline: ExperimentRow | undefined }) {
  const [deleting, set_deleting] = useState(false);
  const { busy, attempt } = use_action();
  const is_baseline = experiment.tags.includes("baseline");
  return (
    <>
      {baseline && !is_baseline && (
        <a class="button primary" href={compare_page(experiment.dataset, [baseline.id, experiment.id])}>
          <Icon name="compare" /> Compare with the baseline
        </a>
      )}
      {can("experiment_write") && !is_baseline && (
        <button
          type="button"
          disabled={busy}
          onClick={attempt("Could not mark the baseline", async () => {
            await api.post(experiment_route(experiment.id, "tags"), { name: "baseline" });
            await Promise.all([reload("experiment/"), datasets_changed()]);
            toast_done(`${experiment.name} is the baseline`);
          })}
        >
          Mark as baseline
        </button>
      )}
      <Menu
        label={`Actions of ${experiment.name}`}
        class="icon-only"
        align="right"
        button={<Icon name="more" />}
        items={[
          ...(["csv", "json"] as const).map((format) => ({
            title: `Download ${format.toUpperCase()}`,
            icon: "download" as const,
            run: () => {
              window.location.href = api_url(experiment_route(experiment.id, format));
            },
          })),
          ...(can("experiment_write")
            ? [
                {
                  title: "Delete…",
                  icon: "trash" as const,
                  dangerous: true,
                  divided: true,
                  run: () => set_deleting(true),
                },
              ]
            : []),
        ]}
      />
      {deleting && (
        <Confirm
          title={`Delete ${experiment.name}?`}
          consequence="Its runs, evals and traces are deleted. The examples are kept. This cannot be undone."
          action="Delete permanently"
          run={async () => {
            await api.delete(experiment_route(experiment.id), { delete_project: true });
            await datasets_changed();
            toast_done(`${experiment.name} deleted`);
            navigate(dataset_page(experiment.dataset, "experiments"));
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

function Runs({ experiment }: { experiment: ExperimentRow }) {
  const key = `experiment_runs/${experiment.id}`;
  const load = use_pages<RunRow>(key, (cursor, signal) =>
    api.page<RunRow>(experiment_route(experiment.id, "run_rows"), { cursor, limit: 100 }, signal),
  );
  const chosen = query.value.get("show") ?? "all";
  const filter = filters[chosen] ?? filters.all;
  const rows = (load.data ?? []).filter((run) => filter?.fits(run));
  const open = rows.find((run) => run.id === query.value.get("open"));
  return (
    <div class="with-slide-over">
      <Data load={load} retry={() => void reload(key)}>
        {(all) => (
          <Table
            label="Runs"
            rows={rows}
            columns={columns_of(experiment, all)}
            row_id={(run) => run.id}
            row_title={(run) => one_line(run.input)}
            on_open={(run) => set_query({ open: run.id })}
            open_id={open?.id ?? null}
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
                  {Object.entries(filters).map(([id, one]) => (
                    <option key={id} value={id}>
                      {one.title}
                    </option>
                  ))}
                </select>
              </label>
            }
            foot={
              all.length === 0 ? (
                <Empty
                  icon="play"
                  title="No runs yet"
                  text="The client that created this experiment has not sent a run yet. Resume it with resumeExperiment."
                />
              ) : (
                <p class="table-end">
                  {load.more ? "Loading more…" : `${plural(rows.length, "run")} shown`}
                  {chosen !== "all" && load.more && " (the filter applies to the runs loaded so far)"}
                </p>
              )
            }
          />
        )}
      </Data>
      {open && <Detail experiment={experiment} run={open} rows={rows} />}
    </div>
  );
}

export function ExperimentPage({ params }: { params: Params }) {
  const id = params.experiment ?? "";
  const load = use_load(`experiment/${id}`, async (signal) => {
    const experiment = await api.get<ExperimentRow>(experiment_route(id, "summary"), {}, signal);
    const [dataset, others] = await Promise.all([
      api.get<DatasetView>(dataset_route(experiment.dataset), {}, signal),
      api.get<ExperimentRow[]>(dataset_route(experiment.dataset, "experiment_rows"), { limit: 200 }, signal),
    ]);
    return {
      experiment,
      dataset,
      baseline: others.find((row) => row.tags.includes("baseline")),
    };
  });
  const loaded = load.data?.experiment;
  const fresh = loaded !== undefined && Date.now() - Date.parse(loaded.created_at) < 3_600_000;
  use_refresh(loaded && fresh && !is_complete(loaded) ? "experiment" : null, refresh);
  return (
    <Data load={load} whole_page retry={() => void reload("experiment/")}>
      {({ experiment, dataset, baseline }) => (
        <div class="page list-page" key={experiment.id}>
          <PageHeader
            title={experiment.name}
            text={
              <>
                <a href={dataset_page(experiment.dataset)}>{dataset.name}</a> version {experiment.dataset_version} ·{" "}
                {plural(experiment.example_count, "example")}
                {experiment.repetitions > 1 && ` × ${experiment.repetitions}`} · by {experiment.created_by}{" "}
                <Time time={experiment.created_at} />
                {experiment.description && ` · ${experiment.description}`}{" "}
                {experiment.tags.map((tag) => (
                  <span class="tag" key={tag}>
                    {tag}
                  </span>
                ))}
              </>
            }
          >
            <Actions experiment={experiment} baseline={baseline} />
          </PageHeader>
          <TaskBar experiment={experiment} />
          <dl class="numbers" aria-label="Results">
            <div>
              <dt>Runs</dt>
              <dd>
                <RunCounts row={experiment} />
              </dd>
            </div>
            {experiment.evals.map((one) => (
              <div key={one.name}>
                <dt>{one.name}</dt>
                <dd>
                  <EvalMean eval={one} />
                </dd>
              </div>
            ))}
          </dl>
          <Runs experiment={experiment} />
        </div>
      )}
    </Data>
  );
}
