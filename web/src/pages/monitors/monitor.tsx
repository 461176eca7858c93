// One monitor: state, values with limits, history, editing.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Monitor, Chart as MonitorChart, MonitorEvent, Project } from "../../api_types";
import { range_bounds } from "../../lib/format/range";
import type { Params } from "../../lib/route";
import { every_text, metric_info } from "../../lib/sentences/metric";
import { monitor_text } from "../../lib/sentences/monitor";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { use_action } from "../../parts/action";
import { choose_range } from "../../parts/chart";
import { Confirm } from "../../parts/confirm";
import { Dialog } from "../../parts/dialog";
import { Choice, Field, Form } from "../../parts/form";
import { current_range } from "../../parts/frame/time_range";
import { Icon } from "../../parts/icon";
import { Menu } from "../../parts/menu";
import { PageHeader, Section } from "../../parts/page";
import { Facts } from "../../parts/slide_over";
import { Data, Note, State } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate, query } from "../../router";
import { automation_page, monitor_page, monitors_page, traces_page } from "../addresses";
import { use_project } from "../projects/data";
import { MonitorPlot } from "./chart";
import { event_tone, event_word, monitor_route, monitors_changed, reading_text } from "./data";
import { MonitorForm } from "./form";
import { MonitorState } from "./monitors";

const new_name = "new";
const few_points = 12;
const default_range = "7d";
const refresh = 10_000;

function MuteDialog({ monitor, on_close }: { monitor: Monitor; on_close: () => void }) {
  const [hours, set_hours] = useState("4");
  const [reason, set_reason] = useState("");
  return (
    <Dialog title={`Mute ${monitor.name}`} on_close={on_close}>
      <Form
        title="Mute"
        on_cancel={on_close}
        submit={async () => {
          const until = new Date(Date.now() + Number(hours) * 3_600_000).toISOString();
          await api.post(monitor_route(monitor.id, "/mute"), { until, reason: reason.trim() });
          await monitors_changed();
          toast_done("Monitor muted");
          on_close();
        }}
      >
        <p>The monitor is still evaluated, but no notices are sent until then.</p>
        <Choice
          label="Duration"
          value={hours}
          on_change={set_hours}
          options={[
            { value: "1", title: "an hour" },
            { value: "4", title: "4 hours" },
            { value: "24", title: "24 hours" },
            { value: "168", title: "a week" },
            { value: "720", title: "30 days" },
          ]}
        />
        <Field label="Reason" value={reason} on_input={set_reason} placeholder="maintenance" first />
      </Form>
    </Dialog>
  );
}

function Actions({ monitor, project }: { monitor: Monitor; project: Project }) {
  const [dialog, set_dialog] = useState<"mute" | "delete" | null>(null);
  const { busy, attempt } = use_action();
  const evaluate = attempt("Could not evaluate", async () => {
    await api.post(monitor_route(monitor.id, "/evaluate"), {});
    await monitors_changed();
    toast_done("Monitor evaluated");
  });
  const unmute = attempt("Could not unmute", async () => {
    await api.post(monitor_route(monitor.id, "/unmute"), {});
    await monitors_changed();
    toast_done("Monitor unmuted");
  });
  const set_enabled = attempt("Could not save", async () => {
    await api.patch(monitor_route(monitor.id), { enabled: !monitor.enabled });
    await monitors_changed();
    toast_done(monitor.enabled ? `${monitor.name} turned off` : `${monitor.name} turned on`);
  });
  return (
    <>
      <button type="button" disabled={busy} onClick={evaluate}>
        <Icon name="rotate" /> Evaluate now
      </button>
      {monitor.muted_until ? (
        <button type="button" disabled={busy} onClick={unmute}>
          Unmute
        </button>
      ) : (
        <button type="button" onClick={() => set_dialog("mute")}>
          Mute…
        </button>
      )}
      <Menu
        label="More actions"
        class="icon-only"
        align="right"
        button={<Icon name="more" />}
        items={[
          ...(can("automation_write")
            ? [
                {
                  title: "Create an automation for this monitor",
                  icon: "history" as const,
                  run: () =>
                    navigate(
                      `${automation_page(new_name)}?${new URLSearchParams({ project: project.name, monitor: monitor.id })}`,
                    ),
                },
              ]
            : []),
          {
            title: monitor.enabled ? "Turn off" : "Turn on",
            icon: monitor.enabled ? "stop" : "play",
            run: set_enabled,
          },
          { title: "Delete…", icon: "trash", dangerous: true, divided: true, run: () => set_dialog("delete") },
        ]}
      />
      {dialog === "mute" && <MuteDialog monitor={monitor} on_close={() => set_dialog(null)} />}
      {dialog === "delete" && (
        <Confirm
          title={`Delete ${monitor.name}?`}
          consequence="The monitor and its history are deleted. Automations that it triggers no longer fire."
          action="Delete monitor"
          run={async () => {
            await api.delete(monitor_route(monitor.id));
            void monitors_changed();
            toast_done(`${monitor.name} deleted`);
            navigate(monitors_page(project.name));
          }}
          on_close={() => set_dialog(null)}
        />
      )}
    </>
  );
}

function Values({ monitor }: { monitor: Monitor }) {
  const range = query.value.get("range") ?? default_range;
  const key = `monitor_chart/${monitor.id}/${range}`;
  const load = use_load(key, (signal) => {
    const bounds = range_bounds(current_range(default_range), Date.now());
    return api.get<MonitorChart>(
      monitor_route(monitor.id, "/chart"),
      { from: bounds.after, to: bounds.before },
      signal,
    );
  });
  // A new monitor has few values: a preview of its settings fills the time before it was created.
  const is_young = load.data !== undefined && load.data.points.length < few_points;
  const before = use_load(is_young ? `monitor_before/${monitor.id}/${monitor.updated_at}` : null, () =>
    api.post<MonitorChart>(
      "/v1/monitor_preview",
      { project: monitor.project_id, settings: monitor.settings },
      { space: space.value?.id },
    ),
  ).data;
  return (
    <Data load={load} retry={() => void reload(key)}>
      {(chart) => {
        const first = chart.points[0]?.at ?? "~";
        const earlier = is_young ? (before?.points ?? []).filter((point) => point.at < first) : [];
        return (
          <>
            <MonitorPlot
              settings={monitor.settings}
              points={[...earlier, ...chart.points]}
              on_range={is_young ? undefined : choose_range}
            />
            {earlier.length > 0 && (
              <p class="faint">
                Created <Time time={monitor.created_at} />. Earlier values are computed from past data.
              </p>
            )}
          </>
        );
      }}
    </Data>
  );
}

const history_columns = (monitor: Monitor): Column<MonitorEvent>[] => {
  const { text } = metric_info(monitor.settings.metric);
  const number = (value: number | null) => (value === null ? "" : text(value));
  return [
    { id: "at", title: "When", width: "104px", cell: (event) => <Time time={event.at} /> },
    {
      id: "kind",
      title: "Event",
      width: "140px",
      cell: (event) => {
        const tone = event_tone(event.kind);
        return tone ? <State tone={tone} text={event_word(event.kind)} /> : event_word(event.kind);
      },
    },
    { id: "value", title: "Value", width: "96px", align: "right", cell: (event) => number(event.value) },
    { id: "bound", title: "Limit", width: "96px", align: "right", wide: true, cell: (event) => number(event.bound) },
    {
      id: "note",
      title: "Note",
      wide: true,
      cell: (event) => (
        <span class="soft" title={event.note || undefined}>
          {[event.note, event.by].filter((part) => part !== "").join(" · ")}
        </span>
      ),
    },
  ];
};

function History({ monitor }: { monitor: Monitor }) {
  const key = `monitor_history/${monitor.id}`;
  const load = use_load(key, (signal) =>
    api.get<MonitorEvent[]>(monitor_route(monitor.id, "/history"), { limit: 100 }, signal),
  );
  return (
    <Section title="History">
      <Data load={load} retry={() => void reload(key)}>
        {(events) => (
          <Table
            label="History"
            rows={events}
            columns={history_columns(monitor)}
            row_id={(event) => event.id}
            row_title={(event) => event_word(event.kind)}
            fit
          />
        )}
      </Data>
    </Section>
  );
}

function About({ monitor, project }: { monitor: Monitor; project: Project }) {
  const reading = monitor.last_reading;
  return (
    <Facts
      rows={[
        [
          "State",
          <span key="state">
            <MonitorState monitor={monitor} /> since <Time time={monitor.state_since} />
          </span>,
        ],
        [
          "Now",
          reading ? (
            <span key="now">
              <b>{reading_text(monitor)}</b>
              {reading.group !== "" && ` (${reading.group})`}{" "}
              <span class="soft">
                of {reading.samples} spans, <Time time={reading.at} />
              </span>
            </span>
          ) : (
            "not evaluated yet"
          ),
        ],
        ["Triggers when", monitor_text(monitor.settings)],
        [
          "Evaluated",
          <span key="every">
            every {every_text(monitor.settings.frequency_seconds)}, next <Time time={monitor.next_at} missing="never" />
          </span>,
        ],
        [
          "Spans",
          <a key="spans" href={traces_page(project.name, monitor.settings.filter, "24h")}>
            open traces
          </a>,
        ],
      ]}
    />
  );
}

function Notes({ monitor }: { monitor: Monitor }) {
  return (
    <>
      {monitor.problem !== "" && (
        <Note kind="failed" icon="warning">
          The last evaluation failed: {monitor.problem}
        </Note>
      )}
      {monitor.bad_since && monitor.state !== "triggered" && (
        <Note kind="warning" icon="clock">
          Beyond the limit since <Time time={monitor.bad_since} />. It triggers if this continues.
        </Note>
      )}
      {monitor.muted && (
        <Note icon="stop">
          Muted
          {monitor.muted_until && (
            <>
              {" "}
              until <Time time={monitor.muted_until} />
            </>
          )}
          {monitor.mute_reason !== "" && `: ${monitor.mute_reason}`}. The monitor is still evaluated.
        </Note>
      )}
    </>
  );
}

function Existing({ id, project }: { id: string; project: Project }) {
  const load = use_load(`monitor/${id}`, (signal) => api.get<Monitor>(monitor_route(id), {}, signal));
  const may_write = can("monitor_write");
  use_refresh("monitor/", refresh);
  const tabs = [{ id: "state", title: "State" }, ...(may_write ? [{ id: "edit", title: "Edit" }] : [])];
  return (
    <Data load={load} retry={() => void reload("monitor/")} whole_page>
      {(monitor) => (
        <>
          <PageHeader title={monitor.name} text={monitor.description || undefined}>
            {may_write && <Actions monitor={monitor} project={project} />}
          </PageHeader>
          <Notes monitor={monitor} />
          {may_write && <Tabs label="Monitor" tabs={tabs} />}
          {current_tab(tabs) === "edit" ? (
            <MonitorForm
              key={monitor.updated_at}
              monitor={monitor}
              project={project}
              save={async (body) => {
                await api.patch(monitor_route(id), body);
                await monitors_changed();
                toast_done("Monitor saved");
              }}
            />
          ) : (
            <>
              <About monitor={monitor} project={project} />
              <Section title="Values">
                <Values monitor={monitor} />
              </Section>
              <History monitor={monitor} />
            </>
          )}
        </>
      )}
    </Data>
  );
}

function Create({ project }: { project: Project }) {
  return (
    <>
      <PageHeader title="New monitor" text="A metric, a window and a limit." />
      <MonitorForm
        monitor={null}
        project={project}
        save={async (body) => {
          const saved = await api.post<Monitor>(
            "/v1/monitors",
            { ...body, project: project.id },
            { space: project.space_id },
          );
          void monitors_changed();
          navigate(monitor_page(project.name, saved.id), { replace: true });
        }}
      />
    </>
  );
}

export function MonitorPage({ params }: { params: Params }) {
  const project = use_project(params);
  const id = params.monitor ?? "";
  return (
    <div class="page">
      <Data load={project} retry={() => void reload("project/")}>
        {(known) => (id === new_name ? <Create project={known} /> : <Existing id={id} project={known} />)}
      </Data>
    </div>
  );
}
