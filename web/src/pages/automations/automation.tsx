// One automation: trigger, history of the past week, next firings, editing.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import type { Automation, NextFiring, Slot, TriggerPreview } from "../../api_types";
import { money, short_count } from "../../lib/format/number";
import { shell_quote } from "../../lib/format/text";
import type { Params } from "../../lib/route";
import { trigger_text } from "../../lib/sentences/trigger";
import { reload, use_load, use_pages, use_refresh } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { Confirm } from "../../parts/confirm";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader, Section } from "../../parts/page";
import { ShownOnce } from "../../parts/shown_once";
import { Facts } from "../../parts/slide_over";
import { Data, Note, State } from "../../parts/state";
import { Strip } from "../../parts/strip";
import { type Column, Earlier, Table } from "../../parts/table";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { automation_page, automations_page, preset_page, run_page, signal_page } from "../addresses";
import { run_tones, run_words } from "../runs/data";
import { BudgetNote } from "./budget";
import { automation_route, automations_changed, outcome_kinds, outcome_tones, reason_text, slot_marks } from "./data";
import { AutomationForm, given_fields } from "./form";
import { Firings, TriggerChart } from "./preview";
import { hook_sources } from "./webhook_fields";

const new_name = "new";
const week = 7 * 86_400_000;
const refresh = 5000;

/** The address and the secret of a webhook, shown once. */
function HookSecret({ automation, on_close }: { automation: Automation; on_close: () => void }) {
  const url = `${window.location.origin}${automation.hook_path ?? ""}`;
  const command = [
    `body='{"hello":"hone"}'; now=$(date +%s); id=$(uuidgen)`,
    `signature=$(printf '%s.%s.%s' "$now" "$id" "$body" | openssl dgst -sha256 -hmac ${shell_quote(automation.hook_secret ?? "")} -r | cut -d' ' -f1)`,
    `curl -X POST ${shell_quote(url)} -H "X-Hone-Timestamp: $now" -H "X-Hone-Delivery: $id" -H "X-Hone-Signature: sha256=$signature" -H "Content-Type: application/json" -d "$body"`,
  ].join("\n");
  return (
    <ShownOnce
      title={`Webhook of ${automation.name}`}
      warning={`Copy the secret now. It is stored encrypted and cannot be shown again; you can create a new one. ${hook_sources[automation.trigger.source ?? "hone"].setup}`}
      address={url}
      secret={automation.hook_secret ?? ""}
      command={automation.trigger.source === "hone" ? command : undefined}
      on_close={on_close}
    />
  );
}

const columns: Column<Slot>[] = [
  {
    id: "due",
    title: "Scheduled time",
    width: "120px",
    cell: (slot) => <Time time={slot.due_at} />,
  },
  {
    id: "outcome",
    title: "Outcome",
    width: "104px",
    cell: (slot) => <State tone={outcome_tones[slot.outcome]} text={slot.outcome} />,
  },
  {
    id: "why",
    title: "Reason",
    wide: true,
    cell: (slot) => (
      <span class="soft" title={reason_text(slot) || undefined}>
        {reason_text(slot) || (slot.by_hand ? "started by a person" : "")}
      </span>
    ),
  },
  {
    id: "run",
    title: "Run",
    width: "150px",
    cell: (slot) =>
      slot.run_id ? (
        <a href={run_page(slot.run_id)}>
          {slot.run_state ? <State tone={run_tones[slot.run_state]} text={run_words[slot.run_state]} /> : "in progress"}
        </a>
      ) : (
        <span class="faint">–</span>
      ),
  },
];

/** The metric that a trigger watches, above its firings. */
function WatchedMetric({ automation }: { automation: Automation }) {
  const trigger = automation.trigger;
  const load = use_load(`automation_metric/${automation.id}/${automation.updated_at}`, () =>
    api.post<TriggerPreview>(
      "/v1/automation_preview",
      { project: automation.project_id, trigger: given_fields(trigger), cool_off_seconds: automation.cool_off_seconds },
      { space: space.value?.id },
    ),
  );
  return load.data ? <TriggerChart trigger={trigger} preview={load.data} /> : null;
}

function WeekStrip({ automation }: { automation: Automation }) {
  const key = `automation_week/${automation.id}`;
  const load = use_load(key, async (signal) => ({
    slots: await api.get<Slot[]>(automation_route(automation.id, "/slots"), { limit: 1000 }, signal),
    to: Date.now(),
  }));
  const to = load.data?.to ?? Date.now();
  const marks = useMemo(
    () => slot_marks(load.data?.slots ?? []).filter((mark) => mark.time >= to - week),
    [load.data, to],
  );
  const watched = automation.trigger.type === "metric";
  if (marks.length === 0 && !watched) return null;
  return (
    <Section title="The past week">
      {watched && <WatchedMetric automation={automation} />}
      {marks.length > 0 && (
        <Strip
          label="The past week"
          marks={marks}
          kinds={outcome_kinds}
          from={to - week}
          to={to}
          under_chart={watched}
        />
      )}
    </Section>
  );
}

function Ledger({ automation }: { automation: Automation }) {
  const load = use_pages<Slot>(`automation_slots/${automation.id}`, (cursor, signal) =>
    api.page<Slot>(automation_route(automation.id, "/slots"), { limit: 100, cursor }, signal),
  );
  return (
    <Section title="History" text="Every scheduled time, newest first, and its outcome.">
      <Data load={load} retry={() => void reload("automation_slots/")}>
        {(slots) =>
          slots.length === 0 ? (
            <p class="faint">No scheduled time yet.</p>
          ) : (
            <Table
              label="History"
              rows={slots}
              columns={columns}
              row_id={(slot) => slot.id}
              row_title={(slot) => `${slot.outcome} ${slot.due_at}`}
              fit
              foot={<Earlier more={load.more} title="Older entries" />}
            />
          )
        }
      </Data>
    </Section>
  );
}

function NextFirings({ automation }: { automation: Automation }) {
  const wanted = automation.trigger.type === "cron" && !automation.paused;
  const load = use_load(wanted ? `automation_firings/${automation.id}` : null, (signal) =>
    api.get<NextFiring[]>(automation_route(automation.id, "/firings"), { count: 5 }, signal),
  );
  if (!wanted || !load.data) return null;
  return (
    <Section title="Next firings">
      <Firings times={load.data.map((firing) => firing.due_at)} />
    </Section>
  );
}

function About({ automation }: { automation: Automation }) {
  const budget = automation.budget;
  const spent = automation.spent_today;
  return (
    <Facts
      rows={[
        ["Fires", trigger_text(automation.trigger)],
        [
          "Preset",
          automation.managed_by ? (
            "from the Signal settings"
          ) : automation.preset_id && automation.preset_name ? (
            <a key="preset" href={preset_page(automation.preset_id)}>
              {automation.preset_name}
            </a>
          ) : (
            <State key="preset" tone="failed" text="deleted; choose another" />
          ),
        ],
        ["Project", automation.project_name],
        ...(automation.hook_path
          ? [
              ["Address", <code key="hook">{`${window.location.origin}${automation.hook_path}`}</code>] as [
                string,
                preact.JSX.Element,
              ],
            ]
          : []),
        [
          "Spent today",
          `${money(spent.cost_micro_usd)}${budget.cost_micro_usd_per_day === null ? "" : ` of ${money(budget.cost_micro_usd_per_day)}`}, ${short_count(spent.tokens)}${budget.tokens_per_day === null ? "" : ` of ${short_count(budget.tokens_per_day)}`} tokens`,
        ],
        ["Owner", automation.created_by],
        ...(automation.failure_streak > 0
          ? [
              ["Failures in a row", `${automation.failure_streak} of ${automation.failure_limit || "any number"}`] as [
                string,
                string,
              ],
            ]
          : []),
      ]}
    />
  );
}

function Actions({
  automation,
  show_secret,
}: {
  automation: Automation;
  show_secret: (with_secret: Automation) => void;
}) {
  const [deleting, set_deleting] = useState(false);
  const { attempt } = use_action();
  const run_now = attempt("Could not start", async () => {
    const slot = await api.post<Slot>(automation_route(automation.id, "/run"), {});
    await automations_changed();
    toast_done(slot.outcome === "due" ? "Run requested; the history shows its outcome" : slot.outcome);
  });
  const set_paused = attempt("Could not save", async () => {
    await api.post(automation_route(automation.id, automation.paused ? "/resume" : "/pause"), {});
    await automations_changed();
    toast_done(automation.paused ? `${automation.name} resumed` : `${automation.name} paused`);
  });
  const rotate = attempt("Could not create a new secret", async () => {
    show_secret(await api.post<Automation>(automation_route(automation.id, "/rotate_secret"), {}));
  });
  return (
    <>
      {!automation.managed_by && (
        <button type="button" onClick={run_now}>
          <Icon name="play" /> Run now
        </button>
      )}
      <button type="button" onClick={set_paused}>
        {automation.paused ? "Resume" : "Pause"}
      </button>
      {!automation.managed_by && (
        <Menu
          label="More actions"
          class="icon-only"
          align="right"
          button={<Icon name="more" />}
          items={[
            ...(automation.trigger.type === "webhook"
              ? [{ title: "New webhook secret", icon: "key" as const, run: rotate }]
              : []),
            { title: "Delete…", icon: "trash", dangerous: true, run: () => set_deleting(true) },
          ]}
        />
      )}
      {deleting && (
        <Confirm
          title={`Delete ${automation.name}?`}
          consequence="The automation and its history are deleted. Runs that it started are kept."
          action="Delete automation"
          run={async () => {
            await api.delete(automation_route(automation.id));
            void automations_changed();
            toast_done(`${automation.name} deleted`);
            navigate(automations_page());
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

function Existing({ id }: { id: string }) {
  const [secret, set_secret] = useState<Automation | null>(null);
  const load = use_load(`automation/${id}`, (signal) => api.get<Automation>(automation_route(id), {}, signal));
  const may_write = can("automation_write");
  // Due and running entries change on the server.
  use_refresh("automation/", refresh);
  use_refresh("automation_slots/", refresh);
  async function save(body: object): Promise<void> {
    const saved = await api.patch<Automation>(automation_route(id), body);
    await automations_changed();
    toast_done("Automation saved");
    if (saved.hook_secret) set_secret(saved);
  }
  const tabs = [{ id: "ledger", title: "History" }, ...(may_write ? [{ id: "edit", title: "Edit" }] : [])];
  return (
    <Data load={load} retry={() => void reload("automation/")} whole_page>
      {(automation) => (
        <>
          <PageHeader title={automation.name} text={automation.description || undefined}>
            {may_write && <Actions automation={automation} show_secret={set_secret} />}
          </PageHeader>
          {automation.paused && (
            <Note kind={automation.failure_streak > 0 ? "warning" : "plain"} icon="stop">
              Paused{automation.pause_reason === "" ? "" : `: ${automation.pause_reason}`}. While paused, firings are
              skipped and recorded.
            </Note>
          )}
          {automation.managed_by === "signal" && (
            <Note icon="signal">
              Managed by <a href={signal_page(automation.project_name)}>Signal of {automation.project_name}</a>. Change
              it there.
            </Note>
          )}
          <BudgetNote automation={automation} />
          {may_write && !automation.managed_by && <Tabs label="Automation" tabs={tabs} />}
          {current_tab(tabs) === "edit" && !automation.managed_by ? (
            <AutomationForm key={automation.updated_at} automation={automation} save={save} />
          ) : (
            <>
              <WeekStrip automation={automation} />
              <div class="two-columns">
                <Section title="About">
                  <About automation={automation} />
                </Section>
                <NextFirings automation={automation} />
              </div>
              <Ledger automation={automation} />
            </>
          )}
          {secret && <HookSecret automation={secret} on_close={() => set_secret(null)} />}
        </>
      )}
    </Data>
  );
}

function Create() {
  const [created, set_created] = useState<Automation | null>(null);
  async function create(body: object): Promise<void> {
    const saved = await api.post<Automation>("/v1/automations", body, { space: space.value?.id });
    void automations_changed();
    if (saved.hook_secret) set_created(saved);
    else navigate(automation_page(saved.id), { replace: true });
  }
  return (
    <>
      <PageHeader title="New automation" text="A preset, a prompt and a trigger." />
      <AutomationForm automation={null} save={create} />
      {created && (
        <HookSecret automation={created} on_close={() => navigate(automation_page(created.id), { replace: true })} />
      )}
    </>
  );
}

export function AutomationPage({ params }: { params: Params }) {
  const id = params.automation ?? "";
  return <div class="page">{id === new_name ? <Create /> : <Existing id={id} />}</div>;
}
