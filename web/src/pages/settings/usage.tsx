// Model usage of a space: today compared to the daily limit, per day, and by model, project, automation and run.

import { useMemo } from "preact/hooks";
import { api, segment } from "../../api";
import type { ModelUsageView, SpaceBudget } from "../../api_types";
import { limit_text, micro, read_limit } from "../../lib/format/limit";
import { exact_count, money, plural, short_count } from "../../lib/format/number";
import { range_bounds } from "../../lib/format/range";
import { daily_values, day_name, days_between, limit_state } from "../../lib/format/usage";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Chart, choose_range } from "../../parts/chart";
import { Choice, Field, Form, use_draft } from "../../parts/form";
import { current_range } from "../../parts/frame/time_range";
import { PageHeader, Section } from "../../parts/page";
import { Data, Empty, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { toast_done } from "../../parts/toast";
import { query, set_query } from "../../router";
import { automation_page, run_page } from "../addresses";
import { DayBudgetFields } from "../automations/budget";
import { capture_options } from "../presets/data";
import { project_name, use_projects } from "../projects/data";

const default_range = "30d";
const year = 365 * 86_400_000;

type Group = "model" | "project" | "run" | "automation";
const groups: { id: Group; title: string }[] = [
  { id: "model", title: "Models" },
  { id: "project", title: "Projects" },
  { id: "automation", title: "Automations" },
  { id: "run", title: "Runs" },
];

const chosen_group = (): Group => groups.find((group) => group.id === query.value.get("by"))?.id ?? "model";

function bounds(): { from: number; to: number } {
  const now = Date.now();
  const range = range_bounds(current_range(default_range), now);
  return {
    from: range.after ? Date.parse(range.after) : now - year,
    to: range.before ? Date.parse(range.before) : now,
  };
}

function fetch_usage(group_by: string, from: number, to: number, signal: AbortSignal): Promise<ModelUsageView[]> {
  const filter = { space: space.value?.id, group_by, from: day_name(from), to: day_name(to), limit: 1000 };
  return api.get<ModelUsageView[]>("/v1/model_usage", filter, signal);
}

interface LimitProps {
  title: string;
  used: number;
  limit: number | null;
  soft: number;
  text: (value: number) => string;
}

function Limit({ title, used, limit, soft, text }: LimitProps) {
  if (limit === null)
    return (
      <p>
        <b>{text(used)}</b> {title} today, <span class="soft">no limit</span>
      </p>
    );
  const state = limit_state(used, limit, soft);
  const share = limit > 0 ? Math.min(100, (100 * used) / limit) : 100;
  const words = {
    free: null,
    soft: "workers get a notice to finish",
    spent: "used up: workers stop until midnight UTC",
  };
  return (
    <div>
      <p class="usage-limit-head">
        <b>{text(used)}</b>
        <span>
          of {text(limit)} {title} today
        </span>
        <span class="spring" />
        {state !== "free" && <State tone={state === "soft" ? "limit" : "failed"} text={words[state] ?? ""} />}
      </p>
      <div
        class={`usage-bar ${state === "soft" ? "soft-reached" : state}`}
        role="meter"
        aria-label={`${title} today`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(used, limit)}
      >
        <span style={{ width: `${share}%` }} />
        {soft < 100 && <i style={{ left: `${soft}%` }} title={`Workers get a notice to finish from ${soft} % on`} />}
      </div>
    </div>
  );
}

function Today({ budget }: { budget: SpaceBudget }) {
  const today = use_load(`usage_today/${space.value?.id}`, (signal) =>
    fetch_usage("day", Date.now(), Date.now(), signal),
  ).data;
  const row = today?.[0];
  const tokens = (row?.total_tokens ?? 0) + (row?.estimated_tokens ?? 0);
  return (
    <div class="usage-today">
      <Limit
        title="spent"
        used={row?.cost_micro_usd ?? 0}
        limit={budget.cost_micro_usd_per_day}
        soft={budget.soft_percent}
        text={money}
      />
      <Limit title="tokens" used={tokens} limit={budget.tokens_per_day} soft={budget.soft_percent} text={short_count} />
    </div>
  );
}

function BudgetForm({ budget }: { budget: SpaceBudget }) {
  const [draft, change] = use_draft(() => ({
    dollars: limit_text(budget.cost_micro_usd_per_day, micro),
    tokens: limit_text(budget.tokens_per_day),
    soft: String(budget.soft_percent),
    capture: budget.capture ?? "full",
  }));
  const wrong = Number.isNaN(Number(draft.dollars)) || Number.isNaN(Number(draft.tokens));
  async function save(): Promise<void> {
    await api.put<SpaceBudget>(`/v1/spaces/${segment(space.value?.id ?? "")}/budget`, {
      cost_micro_usd_per_day: read_limit(draft.dollars, micro),
      tokens_per_day: read_limit(draft.tokens),
      soft_percent: Math.round(Number(draft.soft)),
      capture: draft.capture,
    });
    await reload("space_budget/");
    toast_done("Budget saved");
  }
  return (
    <Section
      title="Daily budget"
      text={`For all workers of the space ${space.value?.name} together, from midnight to midnight UTC. At the soft limit workers get a notice to finish; at the limit model calls are rejected.`}
    >
      <Form title="Save budget" disabled={wrong} submit={save}>
        <div class="field-row">
          <DayBudgetFields draft={draft} change={change} />
          <Field label="Soft limit, %" type="number" min={1} value={draft.soft} on_input={(soft) => change({ soft })} />
        </div>
        <Choice
          label="Content of model call spans, at most"
          hint="Presets can allow less. Redaction rules of the project hone-runs apply."
          value={draft.capture}
          options={capture_options}
          on_change={(capture) => change({ capture: capture as typeof draft.capture })}
        />
      </Form>
    </Section>
  );
}

function Daily({ rows, from, to }: { rows: ModelUsageView[]; from: number; to: number }) {
  const charts = useMemo(() => {
    const days = days_between(from, to);
    const line = (title: string, colour: string, value: (row: ModelUsageView) => number) => [
      { title, colour, bars: true, values: daily_values(days, rows, value) },
    ];
    return [
      { title: "Cost", text: money, times: days, lines: line("cost", "--accent", (row) => row.cost_micro_usd) },
      { title: "Tokens", text: short_count, times: days, lines: line("tokens", "--bar", (row) => row.total_tokens) },
    ];
  }, [rows, from, to]);
  return (
    <div class="charts">
      {charts.map((chart) => (
        <Chart key={chart.title} {...chart} on_range={choose_range} />
      ))}
    </div>
  );
}

function GroupName({ row }: { row: ModelUsageView }) {
  const projects = use_projects().data;
  const group = chosen_group();
  if (row.group === "") return <span class="faint">{group === "automation" ? "started by people" : "none"}</span>;
  if (group === "run")
    return (
      <a class="cell-link mono" href={run_page(row.group)}>
        {row.group}
      </a>
    );
  if (group === "automation")
    return (
      <a class="cell-link mono" href={automation_page(row.group)}>
        {row.group}
      </a>
    );
  return <span class="strong">{group === "project" ? project_name(projects, row.group) || row.group : row.group}</span>;
}

function count_column(id: string, title: string, value: (row: ModelUsageView) => number): Column<ModelUsageView> {
  return {
    id,
    title,
    width: "92px",
    align: "right",
    wide: true,
    sort: value,
    cell: (row) => (
      <span class={value(row) === 0 ? "faint" : undefined} title={exact_count(value(row))}>
        {short_count(value(row))}
      </span>
    ),
  };
}

const columns: Column<ModelUsageView>[] = [
  { id: "group", title: "Name", sort: (row) => row.group, cell: (row) => <GroupName row={row} /> },
  count_column("calls", "Calls", (row) => row.calls),
  count_column("failed", "Failed", (row) => row.failed_calls),
  count_column("input", "Input", (row) => row.input_tokens),
  count_column("cached", "From cache", (row) => row.cache_read_tokens),
  count_column("output", "Output", (row) => row.output_tokens + row.reasoning_tokens),
  {
    id: "tokens",
    title: "Tokens",
    width: "92px",
    align: "right",
    sort: (row) => row.total_tokens,
    cell: (row) => <span title={exact_count(row.total_tokens)}>{short_count(row.total_tokens)}</span>,
  },
  {
    id: "cost",
    title: "Cost",
    width: "96px",
    align: "right",
    sort: (row) => row.cost_micro_usd,
    cell: (row) => (
      <span title={row.unpriced_calls > 0 ? `${plural(row.unpriced_calls, "call")} without a price` : undefined}>
        {money(row.cost_micro_usd)}
        {row.unpriced_calls > 0 && "+"}
      </span>
    ),
  },
];

function GroupChoice() {
  return (
    <>
      {groups.map((group) => (
        <button
          type="button"
          class="quiet"
          key={group.id}
          aria-pressed={chosen_group() === group.id}
          onClick={() => set_query({ by: group.id === "model" ? null : group.id }, { replace: true })}
        >
          {group.title}
        </button>
      ))}
    </>
  );
}

function Breakdown({ range }: { range: string }) {
  const key = `usage/${space.value?.id}/${chosen_group()}/${range}`;
  const load = use_load(key, (signal) => fetch_usage(chosen_group(), bounds().from, bounds().to, signal));
  return (
    <Section title="Breakdown">
      <div class="table-bar">
        <GroupChoice />
      </div>
      <Data load={load} retry={() => void reload(key)}>
        {(rows) => (
          <Table
            label="Usage"
            rows={rows}
            columns={columns}
            row_id={(row) => row.group}
            row_title={(row) => row.group}
            order="-cost"
            fit
          />
        )}
      </Data>
    </Section>
  );
}

export function Usage() {
  const range = query.value.get("range") ?? default_range;
  const key = `usage/${space.value?.id}/day/${range}`;
  const budget = use_load(`space_budget/${space.value?.id}`, (signal) =>
    api.get<SpaceBudget>(`/v1/spaces/${segment(space.value?.id ?? "")}/budget`, {}, signal),
  );
  const load = use_load(key, async (signal) => {
    const { from, to } = bounds();
    return { rows: await fetch_usage("day", from, to, signal), from, to };
  });
  return (
    <div class="page">
      <PageHeader
        title="Usage"
        text="Tokens and cost counted by the model gateway, including sub-agents. Days are UTC."
      />
      <Data load={budget} retry={() => void reload("space_budget/")}>
        {(known) => <Today budget={known} />}
      </Data>
      <Data load={load} retry={() => void reload("usage/")}>
        {(data) =>
          data.rows.length === 0 ? (
            <Empty
              icon="cost"
              title="No model calls in this range"
              text="Every model call of a worker is counted here by day, model, project and run."
            />
          ) : (
            <>
              <Daily {...data} />
              <Breakdown range={range} />
            </>
          )
        }
      </Data>
      {can("space_update") && budget.data && <BudgetForm budget={budget.data} />}
    </div>
  );
}
