// All automations of a space: trigger, recent outcomes and next firing of each.

import { useEffect } from "preact/hooks";
import { api } from "../../api";
import type { Automation, SchedulerState, Slot } from "../../api_types";
import { duration } from "../../lib/format/number";
import { trigger_text } from "../../lib/sentences/trigger";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty, Note, State } from "../../parts/state";
import { Ticks } from "../../parts/strip";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate, query } from "../../router";
import { automation_page } from "../addresses";
import { run_tones, run_words } from "../runs/data";
import { budget_share, SpaceBudgetNote, SpentToday } from "./budget";
import { automation_route, outcome_kinds, outcome_tones, reason_text, slot_marks, use_automations } from "./data";

const recent = 24;
const refresh = 10_000;

function RecentSlots({ automation }: { automation: Automation }) {
  const load = use_load(automation.last_slot ? `automation_recent/${automation.id}` : null, (signal) =>
    api.get<Slot[]>(automation_route(automation.id, "/slots"), { limit: recent }, signal),
  );
  return <Ticks marks={slot_marks(load.data ?? [])} kinds={outcome_kinds} />;
}

/** The last time it was due: the state of the run if there is one, otherwise the outcome. */
function SlotState({ slot }: { slot: Slot }) {
  if (slot.outcome === "fired" && slot.run_state)
    return <State tone={run_tones[slot.run_state]} text={run_words[slot.run_state]} />;
  return (
    <span title={reason_text(slot) || undefined}>
      <State tone={outcome_tones[slot.outcome]} text={slot.outcome} />
    </span>
  );
}

const columns: Column<Automation>[] = [
  {
    id: "name",
    title: "Automation",
    width: "16%",
    sort: (row) => row.name,
    cell: (row) => (
      <a class="cell-link" href={automation_page(row.id)}>
        {row.name}
      </a>
    ),
  },
  {
    id: "trigger",
    title: "Fires",
    wide: true,
    cell: (row) => (
      <span class="soft" title={trigger_text(row.trigger)}>
        {trigger_text(row.trigger)}
      </span>
    ),
  },
  {
    id: "project",
    title: "Project",
    width: "120px",
    wide: true,
    sort: (row) => row.project_name,
    cell: (row) => row.project_name,
  },
  { id: "recent", title: "Recent", width: "92px", wide: true, cell: (row) => <RecentSlots automation={row} /> },
  {
    id: "last",
    title: "Last outcome",
    width: "116px",
    sort: (row) => row.last_slot?.due_at ?? "",
    cell: (row) => (row.last_slot ? <SlotState slot={row.last_slot} /> : <span class="faint">not yet</span>),
  },
  {
    id: "when",
    title: "Last fired",
    width: "96px",
    align: "right",
    wide: true,
    cell: (row) => <Time time={row.last_slot?.due_at ?? null} missing="–" />,
  },
  {
    id: "today",
    title: "Spent today",
    width: "100px",
    align: "right",
    wide: true,
    sort: (row) => budget_share(row) ?? -1,
    cell: (row) => <SpentToday automation={row} />,
  },
  {
    id: "next",
    title: "Next",
    width: "88px",
    align: "right",
    sort: (row) => row.next_at ?? "",
    cell: (row) =>
      row.paused ? (
        <span title={row.pause_reason || undefined}>
          <State tone="off" text="paused" />
        </span>
      ) : (
        <Time time={row.next_at} missing="–" />
      ),
  },
];

const late_seconds = 60;

/** The state of the scheduler: a line while it is on time, a warning when it is late or fails. */
function SchedulerNote() {
  const load = use_load("scheduler", (signal) => api.get<SchedulerState>("/v1/scheduler", {}, signal));
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload("scheduler");
    }, refresh);
    return () => clearInterval(timer);
  }, []);
  if (!load.data) return null;
  const { behind_seconds, last_step, last_error, failed_steps } = load.data;
  if (behind_seconds >= late_seconds)
    return (
      <Note kind="warning" icon="timer">
        The scheduler is {duration(behind_seconds * 1000)} behind, its last step was <Time time={last_step} />
        {failed_steps > 0 && last_error !== "" && ` (${last_error})`}. Due automations are recorded and fire when it
        catches up.
      </Note>
    );
  return (
    <p class="faint heartbeat">
      The scheduler is on time; its last step was <Time time={last_step} missing="not yet" />.
    </p>
  );
}

export function Automations() {
  const load = use_automations();
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = (row: Automation) =>
    `${row.name} ${row.project_name} ${row.preset_name ?? ""}`.toLowerCase().includes(text);
  return (
    <div class="page list-page">
      <PageHeader
        title="Automations"
        text="Start runs on a schedule, a metric, a monitor or a webhook. The history shows each firing, and the reason for each skipped one."
      >
        {can("automation_write") && (
          <a class="button primary" href={automation_page("new")}>
            <Icon name="plus" /> Create automation
          </a>
        )}
      </PageHeader>
      <SchedulerNote />
      <SpaceBudgetNote />
      <Data load={load} retry={() => void reload("automations/")}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty
              icon="timer"
              title="No automations yet"
              text="An automation starts a run of a preset with a prompt on a project: at set times, when a metric crosses a limit, when a monitor triggers, or when a webhook arrives."
              command="hone automation create --help"
            />
          ) : (
            <Table
              label="Automations"
              rows={rows.filter(fits)}
              columns={columns}
              row_id={(row) => row.id}
              row_title={(row) => row.name}
              order="name"
              on_open={(row) => navigate(automation_page(row.id))}
              bar={<SearchField label="Filter automations" />}
            />
          )
        }
      </Data>
    </div>
  );
}
