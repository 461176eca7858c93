// Creating and editing a monitor: metric, condition, mute windows; with a preview on past data.

import type {
  ChangeBy,
  ConditionType,
  Direction,
  Monitor,
  Chart as MonitorChart,
  MonitorSettings,
  MuteWindow,
  Project,
} from "../../api_types";
import {
  every_text,
  from_unit,
  metric_info,
  metric_names,
  sql_metric,
  to_unit,
  window_text,
} from "../../lib/sentences/metric";
import { would_have } from "../../lib/sentences/trigger";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { Icon } from "../../parts/icon";
import { Section } from "../../parts/page";
import { ErrorNote, Skeleton } from "../../parts/state";
import { query } from "../../router";
import { use_preview } from "../automations/preview";
import { MonitorPlot } from "./chart";
import { DurationChoice, type MetricDraft, MetricFields } from "./metric_fields";

interface Draft extends MetricDraft {
  name: string;
  description: string;
  group_by: string;
  type: ConditionType;
  direction: Direction;
  threshold: string;
  recover: string;
  change_by: ChangeBy;
  sensitivity: string;
  window_seconds: number;
  frequency_seconds: number;
  for_seconds: number;
  minimum_samples: string;
  mute_windows: MuteWindow[];
}

/** A ratio has no unit; everything else has the metric's. */
const limit_text = (metric: string, ratio: boolean, value: number) => (ratio ? String(value) : to_unit(metric, value));
function limit_value(draft: Draft, text: string): number | null {
  if (draft.type !== "change" || draft.change_by !== "ratio") return from_unit(draft.metric, text);
  return text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text);
}

/** A new monitor of a chart or of a query: the chart's page names metric, filter and grouping in the address. */
function draft_of_address(): Draft {
  const text = (name: string) => query.value.get(name) ?? "";
  const sql = text("sql");
  const metric = sql !== "" ? sql_metric : metric_names.includes(text("metric")) ? text("metric") : "error_rate";
  return {
    ...draft_of(null),
    metric,
    sql,
    filter: text("filter"),
    group_by: text("group_by"),
    eval_name: text("eval"),
    eval_label: text("label"),
    // The usual limit is for the error rate.
    threshold: metric === "error_rate" ? "5" : "",
  };
}

function draft_of(monitor: Monitor | null): Draft {
  const settings = monitor?.settings;
  const condition = settings?.condition;
  const metric = settings?.sql ? sql_metric : (settings?.metric ?? "error_rate");
  const ratio = condition?.type === "change" && condition.change_by !== "difference";
  const text = (value: number | null | undefined, otherwise: string) =>
    value === null || value === undefined ? otherwise : limit_text(metric, ratio, value);
  return {
    name: monitor?.name ?? "",
    description: monitor?.description ?? "",
    metric,
    filter: settings?.filter ?? "",
    eval_name: settings?.eval_name ?? "",
    eval_label: settings?.eval_label ?? "",
    sql: settings?.sql ?? "",
    group_by: settings?.group_by ?? "",
    type: condition?.type ?? "threshold",
    direction: condition?.direction ?? "above",
    threshold: text(condition?.threshold, monitor ? "" : "5"),
    recover: text(condition?.recover_threshold, ""),
    change_by: condition?.change_by ?? "ratio",
    sensitivity: String(condition?.sensitivity ?? 4),
    window_seconds: settings?.window_seconds ?? 86_400,
    frequency_seconds: settings?.frequency_seconds ?? 3600,
    for_seconds: settings?.for_seconds ?? 0,
    minimum_samples: String(settings?.minimum_samples ?? 1),
    mute_windows: settings?.mute_windows ?? [],
  };
}

/** Absent rather than empty: the server accepts only fields of the condition. */
function settings_of(draft: Draft): MonitorSettings {
  const threshold = limit_value(draft, draft.threshold);
  const recover = limit_value(draft, draft.recover);
  const has_limit = draft.type !== "absence";
  const condition = {
    type: draft.type,
    ...(has_limit ? { direction: draft.direction } : {}),
    ...(has_limit && threshold !== null ? { threshold } : {}),
    ...(draft.type === "threshold" && recover !== null ? { recover_threshold: recover } : {}),
    ...(draft.type === "change" ? { change_by: draft.change_by } : {}),
    ...(draft.type === "automatic" ? { sensitivity: Number(draft.sensitivity) } : {}),
  };
  const by_sql = draft.metric === sql_metric;
  const grouped = !by_sql && draft.group_by.trim() !== "" && (draft.type === "threshold" || draft.type === "change");
  return {
    ...(by_sql ? { sql: draft.sql } : { metric: draft.metric, filter: draft.filter }),
    ...(grouped ? { group_by: draft.group_by.trim() } : {}),
    ...(draft.metric.startsWith("eval_") ? { eval_name: draft.eval_name.trim() } : {}),
    ...(draft.metric === "eval_rate" ? { eval_label: draft.eval_label.trim() } : {}),
    condition,
    window_seconds: draft.window_seconds,
    frequency_seconds: draft.frequency_seconds,
    for_seconds: draft.for_seconds,
    minimum_samples: Math.round(Number(draft.minimum_samples)),
    mute_windows: draft.mute_windows,
  } as MonitorSettings;
}

type Change = (part: Partial<Draft>) => void;

const types: { value: ConditionType; title: string }[] = [
  { value: "threshold", title: "crosses a fixed limit" },
  { value: "automatic", title: "is unusual for this hour of the week" },
  { value: "change", title: "changes compared to the previous window" },
  { value: "absence", title: "has too few spans" },
];

function Limits({ draft, change }: { draft: Draft; change: Change }) {
  const unit = draft.type === "change" && draft.change_by === "ratio" ? "times" : metric_info(draft.metric).unit;
  const directions: { value: Direction; title: string }[] = [
    { value: "above", title: "above" },
    { value: "below", title: "below" },
    ...(draft.type === "automatic" ? [{ value: "outside" as const, title: "on either side" }] : []),
  ];
  return (
    <div class="field-row">
      <Choice
        label="Direction"
        value={draft.direction}
        on_change={(value) => change({ direction: value as Direction })}
        options={directions}
      />
      {draft.type === "automatic" && (
        <Field
          label="Sensitivity"
          value={draft.sensitivity}
          on_input={(sensitivity) => change({ sensitivity })}
          hint="Width of the usual range in robust standard deviations, 1 to 20."
        />
      )}
      {draft.type === "change" && (
        <Choice
          label="Compare by"
          value={draft.change_by}
          on_change={(value) => change({ change_by: value as ChangeBy })}
          options={[
            { value: "ratio", title: "ratio" },
            { value: "difference", title: "difference" },
          ]}
        />
      )}
      <Field
        label={`Limit, ${unit}`}
        value={draft.threshold}
        on_input={(threshold) => change({ threshold })}
        hint={draft.type === "automatic" ? "Used while there is too little history. Optional." : undefined}
      />
      {draft.type === "threshold" && (
        <Field
          label={`Recovers at, ${unit}`}
          value={draft.recover}
          on_input={(recover) => change({ recover })}
          hint="Prevents flapping. Empty: at the limit."
        />
      )}
    </div>
  );
}

const day_names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const own_zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
const new_window = (): MuteWindow => ({
  from: null,
  to: null,
  days: null,
  start: "22:00",
  end: "06:00",
  time_zone: own_zone(),
});

interface WindowProps {
  window: MuteWindow;
  on_change: (window: MuteWindow) => void;
  on_remove: () => void;
}

function WeeklyWindow({ window, on_change, on_remove }: WindowProps) {
  const days = window.days ?? day_names;
  const toggle = (day: string, on: boolean) => {
    const chosen = day_names.filter((one) => (one === day ? on : days.includes(one)));
    on_change({ ...window, days: chosen.length === day_names.length ? null : chosen });
  };
  if (window.start === null)
    return (
      <p class="mute-window">
        {window.from} – {window.to}
        <button type="button" class="quiet icon-only" aria-label="Remove mute window" onClick={on_remove}>
          <Icon name="trash" />
        </button>
      </p>
    );
  return (
    <fieldset class="mute-window">
      <legend class="off-screen">Mute windows</legend>
      <div class="mute-days">
        {day_names.map((day) => (
          <Check key={day} label={day} checked={days.includes(day)} on_change={(on) => toggle(day, on)} />
        ))}
      </div>
      <div class="field-row">
        <Field label="From" value={window.start} on_input={(start) => on_change({ ...window, start })} />
        <Field label="To" value={window.end ?? ""} on_input={(end) => on_change({ ...window, end })} />
        <Field
          label="Time zone"
          value={window.time_zone ?? "UTC"}
          on_input={(time_zone) => on_change({ ...window, time_zone })}
        />
        <button type="button" class="quiet icon-only" aria-label="Remove mute window" onClick={on_remove}>
          <Icon name="trash" />
        </button>
      </div>
    </fieldset>
  );
}

function MuteWindows({ draft, change }: { draft: Draft; change: Change }) {
  const windows = draft.mute_windows;
  return (
    <>
      {windows.map((window, index) => (
        <WeeklyWindow
          key={index}
          window={window}
          on_change={(next) => change({ mute_windows: windows.map((one, at) => (at === index ? next : one)) })}
          on_remove={() => change({ mute_windows: windows.filter((_, at) => at !== index) })}
        />
      ))}
      <p>
        <button type="button" onClick={() => change({ mute_windows: [...windows, new_window()] })}>
          <Icon name="plus" /> Add mute window
        </button>
      </p>
    </>
  );
}

function Preview({ project, draft, ready }: { project: Project; draft: Draft; ready: boolean }) {
  const settings = settings_of(draft);
  const tried = use_preview<MonitorChart>("/v1/monitor_preview", { project: project.id, settings }, ready);
  const times = tried.data?.triggered ?? 0;
  return (
    <section class="preview" aria-label="Preview" aria-live="polite">
      <h2>On past data</h2>
      {ready && tried.error && <ErrorNote error={tried.error} />}
      {!ready && <p class="faint">Set a limit to see a preview.</p>}
      {ready && !tried.data && !tried.error && <Skeleton rows={4} />}
      {ready && tried.data && (
        <>
          <p>
            In the last seven days it would <b>{would_have("triggered", times)}</b>.
          </p>
          <MonitorPlot settings={settings} points={tried.data.points} />
          <p class="soft">{tried.data.points[tried.data.points.length - 1]?.note}</p>
        </>
      )}
    </section>
  );
}

interface FormProps {
  monitor: Monitor | null;
  project: Project;
  save: (body: { name: string; description: string; settings: MonitorSettings }) => Promise<void>;
}

export function MonitorForm({ monitor, project, save }: FormProps) {
  const [draft, change] = use_draft(() => (monitor ? draft_of(monitor) : draft_of_address()));
  const limited =
    draft.type === "absence" || draft.type === "automatic" || limit_value(draft, draft.threshold) !== null;
  const evals = !draft.metric.startsWith("eval_") || draft.eval_name.trim() !== "";
  const labelled = draft.metric !== "eval_rate" || draft.eval_label.trim() !== "";
  const by_sql = draft.metric === sql_metric;
  const queried = !by_sql || (draft.sql ?? "").trim() !== "";
  const ready = limited && evals && labelled && queried;
  // SQL has no history to compare with, and no spans to miss.
  const conditions = by_sql ? types.filter(({ value }) => value === "threshold" || value === "change") : types;
  return (
    <div class="editor">
      <Form
        title={monitor ? "Save" : "Create monitor"}
        disabled={!ready || draft.name.trim() === ""}
        submit={() => save({ name: draft.name.trim(), description: draft.description, settings: settings_of(draft) })}
      >
        <Field label="Name" value={draft.name} on_input={(name) => change({ name })} required />
        <Field
          label="Description"
          value={draft.description}
          on_input={(description) => change({ description })}
          hint="For example: what to do when it triggers."
        />
        <Section title="Metric">
          <div class="form">
            <MetricFields value={draft} project={project} on_change={change} />
            <div class="field-row">
              <DurationChoice
                label="Window"
                seconds={draft.window_seconds}
                on_change={(window_seconds) => change({ window_seconds })}
                choices={[300, 900, 3600, 21_600, 86_400, 604_800]}
                text={window_text}
              />
              <DurationChoice
                label="Evaluate every"
                seconds={draft.frequency_seconds}
                on_change={(frequency_seconds) => change({ frequency_seconds })}
                choices={[60, 300, 900, 3600, 86_400]}
                text={every_text}
              />
              <Field
                label={draft.type === "absence" ? "Minimum spans" : "Minimum spans for a value"}
                type="number"
                min={0}
                value={draft.minimum_samples}
                on_input={(minimum_samples) => change({ minimum_samples })}
              />
            </div>
          </div>
        </Section>
        <Section title="Condition">
          <div class="form">
            <div class="field-row">
              <Choice
                label="Triggers when the metric"
                value={draft.type}
                on_change={(value) => change({ type: value as ConditionType })}
                options={conditions}
              />
              <DurationChoice
                label="For at least"
                seconds={draft.for_seconds}
                on_change={(for_seconds) => change({ for_seconds })}
                choices={[0, 900, 3600, 21_600]}
                text={(seconds) => (seconds === 0 ? "one evaluation" : window_text(seconds))}
              />
            </div>
            {draft.type !== "absence" && <Limits draft={draft} change={change} />}
            {!by_sql && (draft.type === "threshold" || draft.type === "change") && (
              <Field
                label="Group by"
                value={draft.group_by}
                on_input={(group_by) => change({ group_by })}
                placeholder="model"
                hint='A field, or attributes["key"]: the worst of the 20 largest groups is used. Empty: no groups.'
              />
            )}
          </div>
        </Section>
        <Section title="Mute windows" text="The monitor is still evaluated; only notices are not sent.">
          <MuteWindows draft={draft} change={change} />
        </Section>
      </Form>
      <Preview project={project} draft={draft} ready={ready} />
    </div>
  );
}
