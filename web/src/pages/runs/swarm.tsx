// All runs of the last 48 hours: cells grouped by preset, coloured by state, and the list below.

import { Fragment } from "preact";
import { api } from "../../api";
import type { Run, State as RunState } from "../../api_types";
import { money, plural, short_count } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { SlideOver } from "../../parts/slide_over";
import { Data, Empty, State, type Tone } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { toast_done, toast_failed } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { query, set_query } from "../../router";
import { history_page, run_page, studio_page } from "../addresses";
import { project_name, use_projects } from "../projects/data";
import { has_failed_turn, is_over, run_route, run_time, run_tokens, run_tone, run_word } from "./data";
import { cost_text, RunActions, RunFacts } from "./run";

const hours = 48;
const refresh = 2000;

const group_of = (run: Run) => run.preset_name ?? run.harness;

function Cells({ runs }: { runs: Run[] }) {
  const groups = new Map<string, Run[]>();
  // Newest right.
  for (const run of [...runs].reverse()) groups.set(group_of(run), [...(groups.get(group_of(run)) ?? []), run]);
  return (
    <dl class="swarm">
      {[...groups].map(([name, members]) => (
        <div key={name}>
          <dt>
            {name} <span class="faint">{members.length}</span>
          </dt>
          <dd>
            {members.map((run) => (
              <button
                type="button"
                key={run.id}
                class={`swarm-cell ${run_tone(run)}`}
                aria-label={`${run.title}, ${run_word(run)}`}
                aria-pressed={query.value.get("open") === run.id}
                title={`${run.title}\n${run_word(run)} · ${run_time(run, Date.now())} · ${cost_text(run)}`}
                onClick={() => set_query({ open: run.id })}
              />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const sums: { tone: Tone; states: RunState[]; word: string }[] = [
  { tone: "running", states: ["queued", "preparing", "running"], word: "active" },
  { tone: "waiting", states: ["waiting"], word: "waiting" },
  { tone: "failed", states: ["failed", "lost"], word: "failed" },
  { tone: "limit", states: ["timed_out", "budget_stopped"], word: "stopped by a limit" },
];

function Totals({ runs }: { runs: Run[] }) {
  const count = (states: RunState[]) =>
    runs.filter((run) => states.includes(has_failed_turn(run) ? "failed" : run.state)).length;
  const midnight = new Date().setHours(0, 0, 0, 0);
  const today = runs.filter((run) => to_milliseconds(run.created_at) >= midnight);
  const spent = today.reduce((sum, run) => sum + (run.cost_micro_usd ?? 0), 0);
  return (
    <p class="swarm-totals">
      {sums.map(({ tone, states, word }) => (
        // A count of zero is no state: grey, without a mark.
        <Fragment key={word}>
          {count(states) === 0 ? (
            <span class="faint">0 {word}</span>
          ) : (
            <State tone={tone} text={`${count(states)} ${word}`} />
          )}
        </Fragment>
      ))}
      <span class="soft">{money(spent)} today</span>
    </p>
  );
}

export const run_list_columns: Column<Run>[] = [
  {
    id: "title",
    title: "Run",
    sort: (run) => run.title,
    cell: (run) => (
      <a class="cell-link" href={run_page(run.id)}>
        <Visible text={run.title} />
      </a>
    ),
  },
  {
    id: "state",
    title: "State",
    width: "140px",
    sort: (run) => run.state,
    cell: (run) => <State tone={run_tone(run)} text={run_word(run)} />,
  },
  { id: "preset", title: "Preset", width: "120px", wide: true, sort: group_of, cell: group_of },
  {
    id: "by",
    title: "Started by",
    width: "206px",
    wide: true,
    sort: (run) => run.started_by,
    cell: (run) => <span title={run.started_by}>{run.started_by}</span>,
  },
  {
    id: "tokens",
    title: "Tokens",
    width: "80px",
    align: "right",
    wide: true,
    sort: run_tokens,
    cell: (run) => short_count(run_tokens(run)),
  },
  {
    id: "cost",
    title: "Cost",
    width: "80px",
    align: "right",
    wide: true,
    sort: (run) => run.cost_micro_usd,
    cell: cost_text,
  },
  {
    id: "time",
    title: "Duration",
    width: "90px",
    align: "right",
    wide: true,
    cell: (run) => run_time(run, Date.now()),
  },
  {
    id: "created_at",
    title: "Created",
    width: "96px",
    align: "right",
    wide: true,
    sort: (run) => run.created_at,
    cell: (run) => <Time time={run.created_at} />,
  },
];

const state_filters = [
  { id: "", title: "All" },
  { id: "live", title: "Active" },
  { id: "succeeded", title: "Succeeded" },
  { id: "failed", title: "Unsuccessful" },
];

function fits(run: Run, filter: string): boolean {
  if (filter === "live") return !is_over(run.state);
  if (filter === "failed") return is_over(run.state) && run.state !== "succeeded";
  return filter === "" || run.state === filter;
}

function shown_rows(runs: Run[]): Run[] {
  const text = (query.value.get("q") ?? "").toLowerCase();
  const filter = query.value.get("state") ?? "";
  const project = query.value.get("project");
  const group = query.value.get("preset");
  return runs.filter(
    (run) =>
      fits(run, filter) &&
      (!project || run.project_id === project) &&
      (!group || group_of(run) === group) &&
      `${run.title} ${group_of(run)} ${run.started_by}`.toLowerCase().includes(text),
  );
}

function StateFilter() {
  const filter = query.value.get("state") ?? "";
  return (
    <>
      {state_filters.map((choice) => (
        <button
          type="button"
          class="quiet"
          key={choice.id}
          aria-pressed={filter === choice.id}
          onClick={() => set_query({ state: choice.id || null }, { replace: true })}
        >
          {choice.title}
        </button>
      ))}
    </>
  );
}

/** Filters by project and preset; only values that occur are offered. */
function Narrow({ runs }: { runs: Run[] }) {
  const projects = use_projects().data;
  const choices = [
    {
      name: "project",
      label: "All projects",
      options: [...new Set(runs.map((run) => run.project_id))].map((id) => [id, project_name(projects, id) || id]),
    },
    { name: "preset", label: "All presets", options: [...new Set(runs.map(group_of))].map((each) => [each, each]) },
  ];
  return (
    <>
      {choices
        .filter(({ name, options }) => options.length > 1 || query.value.get(name))
        .map(({ name, label, options }) => (
          <select
            key={name}
            aria-label={label}
            value={query.value.get(name) ?? ""}
            onChange={(event) => set_query({ [name]: event.currentTarget.value || null }, { replace: true })}
          >
            <option value="">{label}</option>
            {options.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        ))}
    </>
  );
}

/** One action for several runs, one after the other; stops at the first error and shows it. */
async function act_on(runs: Run[], what: "cancel" | "rerun", done: (count: number) => string): Promise<void> {
  let count = 0;
  try {
    for (const run of runs) {
      await api.post(`${run_route(run.id)}/${what}`, {});
      count++;
    }
  } catch (error) {
    toast_failed(`Could not change all runs (${count} of ${runs.length} done)`, error);
  }
  if (count > 0) toast_done(done(count));
  await reload("runs/");
}

function SelectionActions({ runs, clear }: { runs: Run[]; clear: () => void }) {
  const live = runs.filter((run) => !is_over(run.state));
  const over = runs.filter((run) => is_over(run.state));
  return (
    <>
      <button
        type="button"
        class="danger"
        disabled={live.length === 0}
        onClick={() => void act_on(live, "cancel", (count) => `${plural(count, "run")} stopped`).then(clear)}
      >
        Stop {live.length}
      </button>
      <button
        type="button"
        disabled={over.length === 0}
        onClick={() => void act_on(over, "rerun", (count) => `${plural(count, "new run")} started`).then(clear)}
      >
        Run {over.length} again
      </button>
    </>
  );
}

function Overview({ runs }: { runs: Run[] }) {
  return (
    <>
      <Totals runs={runs} />
      <Cells runs={runs} />
      <Table
        label="Runs"
        rows={shown_rows(runs)}
        columns={run_list_columns}
        row_id={(run) => run.id}
        row_title={(run) => run.title}
        order="-created_at"
        on_open={(run) => set_query({ open: run.id })}
        open_id={query.value.get("open")}
        selection_actions={
          can("run_start") ? (chosen, clear) => <SelectionActions runs={chosen} clear={clear} /> : undefined
        }
        bar={
          <>
            <SearchField label="Filter runs" />
            <StateFilter />
            <Narrow runs={runs} />
          </>
        }
      />
    </>
  );
}

function Detail({ run, rows }: { run: Run; rows: Run[] }) {
  const at = rows.findIndex((other) => other.id === run.id);
  const go = (step: number) => {
    const next = at < 0 ? undefined : rows[at + step];
    return next && (() => set_query({ open: next.id }, { replace: true }));
  };
  return (
    <SlideOver title={run.title} on_close={() => set_query({ open: null })} on_previous={go(-1)} on_next={go(1)}>
      <RunFacts run={run} />
      {run.reason !== "" && <p class="soft">{run.reason}</p>}
      <div class="page-actions">
        <a class="button primary" href={run_page(run.id)}>
          Open run
        </a>
        <RunActions run={run} />
      </div>
    </SlideOver>
  );
}

export function Swarm() {
  const key = `runs/${space.value?.id}`;
  const load = use_load(key, (signal) =>
    api.list<Run>(
      "/v1/runs",
      { space: space.value?.id, after: new Date(Date.now() - hours * 3_600_000).toISOString() },
      signal,
    ),
  );
  use_refresh(key, refresh);
  const open = load.data?.find((run) => run.id === query.value.get("open"));
  const count = load.data ? `: ${plural(load.data.length, "run")}` : "";
  return (
    <div class="beside">
      <div class="page list-page">
        <PageHeader title="Swarm" text={`The last ${hours} hours${count}.`}>
          <a class="button" href={history_page()}>
            Run history
          </a>
        </PageHeader>
        <Data load={load} retry={() => void reload(key)}>
          {(runs) =>
            runs.length === 0 ? (
              <Empty
                icon="swarm"
                title="No runs yet"
                text="Runs of the last two days appear here. Start one in Studio, or with a command."
                command={'hone session start "What goes wrong most?"'}
              >
                {can("run_start") && (
                  <a class="button primary" href={studio_page()}>
                    Open Studio
                  </a>
                )}
              </Empty>
            ) : (
              <Overview runs={runs} />
            )
          }
        </Data>
      </div>
      {open && <Detail run={open} rows={shown_rows(load.data ?? [])} />}
    </div>
  );
}
