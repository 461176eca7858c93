// The evaluators of the space: rules, code, models, agents and remote services, and what their tasks do.

import type { EvalTask, Evaluator } from "../../api_types";
import { exact_count, money, plural, short_count } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { navigate, query, set_query } from "../../router";
import { evaluator_page } from "../addresses";
import { CreateDialog } from "./create";
import {
  calibrations_key,
  evaluators_key,
  kind_words,
  list_calibrations,
  list_evaluators,
  list_tasks,
  target_words,
  task_state,
} from "./data";

interface Row {
  evaluator: Evaluator;
  tasks: EvalTask[];
}

const sum = (
  tasks: EvalTask[],
  field: "done_24h" | "failed_24h" | "skipped_24h" | "cost_micro_usd_today" | "tokens_today",
) => tasks.reduce((total, task) => total + task[field], 0);

function RowState({ row }: { row: Row }) {
  if (row.evaluator.kind === "rule")
    return <State tone={row.evaluator.enabled ? "done" : "off"} text={row.evaluator.enabled ? "on" : "off"} />;
  if (row.tasks.length === 0) return <State tone="off" text="no task" />;
  const worst =
    row.tasks.find((task) => task.state === "paused") ?? row.tasks.find((task) => task.enabled) ?? row.tasks[0];
  if (!worst) return null;
  const state = task_state(worst);
  return (
    <span title={worst.reason}>
      <State tone={state.tone} text={state.text} />
    </span>
  );
}

/** The newest calibration: kappa and the number of labels, in words on hover. */
function Agreement({ evaluator }: { evaluator: Evaluator }) {
  const load = use_load(calibrations_key(evaluator.id), (signal) => list_calibrations(evaluator.id, signal));
  const newest = load.data?.find((one) => one.state === "done");
  if (!newest) return <span class="soft">–</span>;
  const { kappa, count } = newest.result.all;
  const words = `Version ${newest.number}, ${plural(count, "label")} of people, ${newest.created_at.slice(0, 10)}`;
  return (
    <a class="cell-link" href={`${evaluator_page(evaluator.id)}?tab=calibration`} title={words}>
      {kappa === null ? "not known" : `κ ${kappa.toFixed(2)}`} <span class="soft">({short_count(count)})</span>
    </a>
  );
}

/** The share of verdicts that pass, with its interval; what was counted on hover. */
function PassRate({ evaluator }: { evaluator: Evaluator }) {
  const found = evaluator.pass_rate;
  if (!found) return <span class="soft">–</span>;
  const percent = (share: number) => Math.round(share * 100);
  const when = evaluator.kind === "rule" ? "since its definition was changed" : "of the last 24 hours";
  const words = `Version ${found.version}, ${plural(found.scored, "verdict")} ${when}; 95 % interval`;
  return (
    <span title={words}>
      {percent(found.rate)} %{" "}
      <span class="soft">
        ({percent(found.low)}–{percent(found.high)})
      </span>
    </span>
  );
}

const columns: Column<Row>[] = [
  { id: "state", title: "State", width: "92px", cell: (row) => <RowState row={row} /> },
  {
    id: "name",
    title: "Evaluator",
    width: "22%",
    sort: (row) => row.evaluator.name,
    cell: (row) => (
      <a class="cell-link" href={evaluator_page(row.evaluator.id)}>
        {row.evaluator.name}
      </a>
    ),
  },
  {
    id: "kind",
    title: "Kind",
    width: "92px",
    wide: true,
    sort: (row) => row.evaluator.kind,
    cell: (row) => kind_words[row.evaluator.kind] ?? row.evaluator.kind,
  },
  {
    id: "version",
    title: "Version",
    width: "76px",
    align: "right",
    wide: true,
    cell: (row) => row.evaluator.revision,
  },
  {
    id: "targets",
    title: "Targets",
    width: "110px",
    extra: true,
    cell: (row) =>
      row.evaluator.kind === "rule"
        ? "spans"
        : [...new Set(row.tasks.map((task) => target_words[task.target]))].join(", ") || <span class="soft">–</span>,
  },
  {
    id: "tasks",
    title: "Tasks on",
    width: "92px",
    align: "right",
    wide: true,
    cell: (row) => (row.evaluator.kind === "rule" ? "–" : row.tasks.filter((task) => task.enabled).length),
  },
  {
    id: "verdicts",
    title: "Verdicts 24 h",
    width: "118px",
    align: "right",
    wide: true,
    sort: (row) => sum(row.tasks, "done_24h"),
    cell: (row) =>
      row.evaluator.kind === "rule" ? (
        <span title="Since it was created">{short_count(row.evaluator.judged)}</span>
      ) : (
        <span title={exact_count(sum(row.tasks, "done_24h"))}>{short_count(sum(row.tasks, "done_24h"))}</span>
      ),
  },
  {
    id: "pass_rate",
    title: "Pass rate",
    width: "128px",
    align: "right",
    sort: (row) => row.evaluator.pass_rate?.rate ?? -1,
    cell: (row) => <PassRate evaluator={row.evaluator} />,
  },
  {
    id: "calibration",
    title: "Calibration",
    width: "118px",
    align: "right",
    wide: true,
    cell: (row) =>
      row.evaluator.kind === "rule" ? <span class="soft">–</span> : <Agreement evaluator={row.evaluator} />,
  },
  {
    id: "failed",
    title: "Failed / skipped",
    width: "128px",
    align: "right",
    wide: true,
    cell: (row) => `${short_count(sum(row.tasks, "failed_24h"))} / ${short_count(sum(row.tasks, "skipped_24h"))}`,
  },
  {
    id: "cost",
    title: "Cost today",
    width: "104px",
    align: "right",
    wide: true,
    sort: (row) => sum(row.tasks, "cost_micro_usd_today"),
    cell: (row) => (
      <span title={plural(sum(row.tasks, "tokens_today"), "token")}>
        {money(sum(row.tasks, "cost_micro_usd_today"))}
      </span>
    ),
  },
];

export function Evaluators() {
  const load = use_load(evaluators_key(), async (signal) => {
    const [evaluators, tasks] = await Promise.all([list_evaluators(signal), list_tasks(signal)]);
    return evaluators.map((evaluator) => ({
      evaluator,
      tasks: tasks.filter((task) => task.evaluator_id === evaluator.id),
    }));
  });
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = (row: Row) =>
    `${row.evaluator.name} ${row.evaluator.kind} ${row.evaluator.description}`.toLowerCase().includes(text);
  return (
    <div class="page list-page">
      <PageHeader
        title="Evaluators"
        text="Models, code, agents and services that evaluate runs of experiments and, with a task, new traces. Rules belong to projects."
      >
        {can("eval_write") && (
          <button type="button" class="primary" onClick={() => set_query({ new: "1" })}>
            <Icon name="plus" /> Create evaluator
          </button>
        )}
      </PageHeader>
      <Data load={load} retry={() => void reload("judges/")}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              icon="scale"
              title="No evaluators yet"
              text="Start from a built-in one, such as correctness or faithfulness, choose a model, and test it on real traces before a task applies it to new ones."
              command="hone evaluator builtin"
            />
          ) : (
            <Table
              label="Evaluators of the space"
              rows={rows.filter(fits)}
              columns={columns}
              row_id={(row) => row.evaluator.id}
              row_title={(row) => row.evaluator.name}
              order="name"
              on_open={(row) => navigate(evaluator_page(row.evaluator.id))}
              bar={<SearchField label="Filter evaluators" />}
              foot={<p class="table-end">{plural(rows.filter(fits).length, "evaluator")}</p>}
            />
          )
        }
      </Data>
      {query.value.get("new") === "1" && <CreateDialog on_close={() => set_query({ new: null }, { replace: true })} />}
    </div>
  );
}
