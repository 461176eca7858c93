// Creating and editing an automation: preset, project, prompt, trigger, limits.

import { api } from "../../api";
import type {
  Automation,
  CatchUp,
  Comparator,
  HookSource,
  Overlap,
  Project,
  PromptVariable,
  Trigger,
  TriggerType,
} from "../../api_types";
import { limit_text, micro, read_limit } from "../../lib/format/limit";
import { cron_text } from "../../lib/sentences/cron";
import { every_text, from_unit, metric_info, to_unit, window_text } from "../../lib/sentences/metric";
import { use_load } from "../../load";
import { Choice, Field, Form, use_draft } from "../../parts/form";
import { Section } from "../../parts/page";
import { Note } from "../../parts/state";
import { query } from "../../router";
import { preset_page } from "../addresses";
import { use_monitors } from "../monitors/data";
import { DurationChoice, type MetricDraft, MetricFields } from "../monitors/metric_fields";
import { use_presets } from "../presets/data";
import { use_projects } from "../projects/data";
import { DayBudgetFields } from "./budget";
import { TriggerPreviewBox } from "./preview";
import { hook_fields, WebhookFields } from "./webhook_fields";

export interface Draft extends MetricDraft {
  name: string;
  description: string;
  project: string;
  preset: string;
  prompt: string;
  type: TriggerType;
  schedule: string;
  time_zone: string;
  comparator: Comparator;
  threshold: string;
  window_seconds: number;
  every_seconds: number;
  for_seconds: number;
  minimum_samples: string;
  monitor: string;
  source: HookSource;
  signature_header: string;
  timestamp_header: string;
  hook_secret: string;
  overlap: Overlap;
  catch_up: CatchUp;
  cool_off_seconds: number;
  failure_limit: string;
  dollars: string;
  tokens: string;
}

const own_zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

export function draft_of(automation: Automation | null): Draft {
  const trigger = automation?.trigger;
  const metric = trigger?.metric ?? "error_rate";
  const budget = automation?.budget;
  return {
    name: automation?.name ?? "",
    description: automation?.description ?? "",
    project: automation?.project_name ?? query.value.get("project") ?? "",
    preset: automation?.preset_id ?? query.value.get("preset") ?? "",
    prompt: automation?.prompt ?? query.value.get("prompt") ?? "",
    type: trigger?.type ?? (query.value.has("monitor") ? "monitor" : "cron"),
    schedule: trigger?.schedule ?? "0 9 * * mon-fri",
    time_zone: trigger?.time_zone ?? own_zone(),
    metric,
    filter: trigger?.filter ?? "",
    eval_name: trigger?.eval_name ?? "",
    eval_label: trigger?.eval_label ?? "",
    comparator: trigger?.comparator ?? "above",
    threshold: trigger?.threshold === null || trigger === undefined ? "5" : to_unit(metric, trigger.threshold),
    window_seconds: trigger?.window_seconds ?? 900,
    every_seconds: trigger?.every_seconds ?? 60,
    for_seconds: trigger?.for_seconds ?? 0,
    minimum_samples: String(trigger?.minimum_samples ?? 1),
    monitor: trigger?.monitor ?? query.value.get("monitor") ?? "",
    source: trigger?.source ?? "hone",
    signature_header: trigger?.signature_header ?? "X-Signature",
    timestamp_header: trigger?.timestamp_header ?? "",
    hook_secret: "",
    overlap: automation?.overlap ?? "skip",
    catch_up: automation?.catch_up ?? "coalesce",
    cool_off_seconds: automation?.cool_off_seconds ?? 0,
    failure_limit: String(automation?.failure_limit ?? 5),
    dollars: limit_text(budget?.cost_micro_usd_per_day, micro),
    tokens: budget?.tokens_per_day ? String(budget.tokens_per_day) : "",
  };
}

/** Only the fields of its type: the server rejects fields of another type. */
function trigger_of(draft: Draft): Trigger {
  const all: Partial<Trigger> = { type: draft.type };
  if (draft.type === "cron") {
    all.schedule = draft.schedule.trim();
    all.time_zone = draft.time_zone.trim();
  }
  if (draft.type === "metric") {
    Object.assign(all, {
      metric: draft.metric,
      filter: draft.filter,
      comparator: draft.comparator,
      threshold: from_unit(draft.metric, draft.threshold),
      window_seconds: draft.window_seconds,
      every_seconds: draft.every_seconds,
      for_seconds: draft.for_seconds,
      minimum_samples: Math.round(Number(draft.minimum_samples)),
      ...(draft.metric.startsWith("eval_") ? { eval_name: draft.eval_name.trim() } : {}),
      ...(draft.metric === "eval_rate" ? { eval_label: draft.eval_label.trim() } : {}),
    });
  }
  if (draft.type === "monitor") all.monitor = draft.monitor;
  if (draft.type === "webhook") Object.assign(all, hook_fields(draft));
  return all as Trigger;
}

/** A saved trigger as a request: without empty fields. */
export const given_fields = (trigger: Trigger): Partial<Trigger> =>
  Object.fromEntries(Object.entries(trigger).filter(([, value]) => value !== null));

function trigger_ready(draft: Draft): boolean {
  if (draft.type === "cron") return draft.schedule.trim() !== "";
  if (draft.type === "metric") return draft.project !== "" && from_unit(draft.metric, draft.threshold) !== null;
  return draft.type !== "monitor" || draft.monitor !== "";
}

type Change = (part: Partial<Draft>) => void;

const schedules = ["*/10 * * * *", "@hourly", "0 9 * * mon-fri", "@daily", "0 8 * * mon"];

function CronFields({ draft, change }: { draft: Draft; change: Change }) {
  return (
    <>
      <div class="field-row">
        <Field
          label="Schedule"
          value={draft.schedule}
          on_input={(schedule) => change({ schedule })}
          hint={cron_text(draft.schedule) ?? "minute hour day month weekday; six fields begin with seconds"}
          required
        />
        <Field
          label="Time zone"
          value={draft.time_zone}
          on_input={(time_zone) => change({ time_zone })}
          hint="For example Europe/Berlin."
          required
        />
      </div>
      <div class="chips-row" role="group" aria-label="Usual schedules">
        {schedules.map((schedule) => (
          <button
            type="button"
            class="quiet"
            key={schedule}
            aria-pressed={draft.schedule === schedule}
            onClick={() => change({ schedule })}
          >
            {cron_text(schedule)}
          </button>
        ))}
      </div>
    </>
  );
}

const comparators: { value: Comparator; title: string }[] = [
  { value: "above", title: "is above" },
  { value: "at_least", title: "is at least" },
  { value: "below", title: "is below" },
  { value: "at_most", title: "is at most" },
];

function MetricTrigger({ draft, change, project }: { draft: Draft; change: Change; project: Project | undefined }) {
  return (
    <>
      <MetricFields value={draft} project={project} on_change={change} />
      <div class="field-row">
        <DurationChoice
          label="Window"
          seconds={draft.window_seconds}
          on_change={(window_seconds) => change({ window_seconds })}
          choices={[300, 900, 3600, 21_600, 86_400]}
          text={window_text}
        />
        <Choice
          label="Fires when it"
          value={draft.comparator}
          on_change={(value) => change({ comparator: value as Comparator })}
          options={comparators}
        />
        <Field
          label={`Threshold, ${metric_info(draft.metric).unit}`}
          value={draft.threshold}
          on_input={(threshold) => change({ threshold })}
          required
        />
      </div>
      <div class="field-row">
        <DurationChoice
          label="For at least"
          seconds={draft.for_seconds}
          on_change={(for_seconds) => change({ for_seconds })}
          choices={[0, 300, 900, 3600]}
          text={(seconds) => (seconds === 0 ? "one evaluation" : window_text(seconds))}
        />
        <DurationChoice
          label="Evaluate every"
          seconds={draft.every_seconds}
          on_change={(every_seconds) => change({ every_seconds })}
          choices={[60, 300, 900, 3600]}
          text={every_text}
        />
        <Field
          label="Minimum spans"
          type="number"
          min={0}
          value={draft.minimum_samples}
          on_input={(minimum_samples) => change({ minimum_samples })}
        />
      </div>
    </>
  );
}

function MonitorTrigger({ draft, change, project }: { draft: Draft; change: Change; project: Project | undefined }) {
  const monitors = use_monitors(project).data ?? [];
  return (
    <Choice
      label="Monitor"
      value={draft.monitor}
      on_change={(monitor) => change({ monitor })}
      options={[
        { value: "", title: monitors.length === 0 ? "no monitors in this project" : "choose a monitor" },
        ...monitors.map((monitor) => ({ value: monitor.id, title: monitor.name })),
      ]}
      hint="Fires each time the monitor triggers."
    />
  );
}

const types: { value: TriggerType; title: string }[] = [
  { value: "cron", title: "at set times" },
  { value: "metric", title: "when a metric crosses a limit" },
  { value: "monitor", title: "when a monitor triggers" },
  { value: "webhook", title: "when a webhook arrives" },
];

function Limits({ draft, change }: { draft: Draft; change: Change }) {
  return (
    <>
      <div class="field-row">
        <Choice
          label="While a run is active"
          value={draft.overlap}
          on_change={(value) => change({ overlap: value as Overlap })}
          options={[
            { value: "skip", title: "skip" },
            { value: "queue", title: "wait until it ends" },
            { value: "parallel", title: "start another run" },
          ]}
        />
        {draft.type === "cron" && (
          <Choice
            label="Missed while the server was down"
            value={draft.catch_up}
            on_change={(value) => change({ catch_up: value as CatchUp })}
            options={[
              { value: "coalesce", title: "fire once" },
              { value: "all", title: "fire each time" },
              { value: "none", title: "do not fire" },
            ]}
          />
        )}
        <DurationChoice
          label="Minimum interval"
          seconds={draft.cool_off_seconds}
          on_change={(cool_off_seconds) => change({ cool_off_seconds })}
          choices={[0, 900, 3600, 21_600, 86_400]}
          text={(seconds) => (seconds === 0 ? "none" : window_text(seconds))}
        />
      </div>
      <div class="field-row">
        <DayBudgetFields draft={draft} change={change} />
        <Field
          label="Pause after failures"
          hint="Consecutive failures. 0: never."
          type="number"
          min={0}
          value={draft.failure_limit}
          on_input={(failure_limit) => change({ failure_limit })}
        />
      </div>
    </>
  );
}

function body_of(draft: Draft, soft_percent: number) {
  return {
    name: draft.name.trim(),
    description: draft.description,
    project: draft.project,
    preset: draft.preset,
    prompt: draft.prompt,
    trigger: trigger_of(draft),
    ...(draft.type === "webhook" && draft.hook_secret !== "" ? { hook_secret: draft.hook_secret } : {}),
    overlap: draft.overlap,
    catch_up: draft.catch_up,
    cool_off_seconds: draft.cool_off_seconds,
    failure_limit: Math.round(Number(draft.failure_limit)),
    budget: {
      tokens_per_day: read_limit(draft.tokens),
      cost_micro_usd_per_day: read_limit(draft.dollars, micro),
      soft_percent,
    },
  };
}

interface FormProps {
  automation: Automation | null;
  save: (body: object) => Promise<void>;
}

export function AutomationForm({ automation, save }: FormProps) {
  const [draft, change] = use_draft(() => draft_of(automation));
  const projects = use_projects().data ?? [];
  const presets = use_presets().data;
  const variables = (
    use_load("prompt_variables", (signal) => api.get<PromptVariable[]>("/v1/prompt_variables", {}, signal)).data ?? []
  ).filter((variable) => variable.trigger === null || variable.trigger === draft.type);
  const project = projects.find((one) => one.name === draft.project);
  const ready =
    draft.name.trim() !== "" &&
    draft.project !== "" &&
    draft.preset !== "" &&
    draft.prompt.trim() !== "" &&
    trigger_ready(draft);
  const trigger = trigger_of(draft);
  return (
    <div class="editor">
      <Form
        title={automation ? "Save" : "Create automation"}
        disabled={!ready}
        submit={() => save(body_of(draft, automation?.budget.soft_percent ?? 80))}
      >
        <Field label="Name" value={draft.name} on_input={(name) => change({ name })} required />
        <Field label="Description" value={draft.description} on_input={(description) => change({ description })} />
        <div class="field-row">
          <Choice
            label="Preset"
            value={draft.preset}
            on_change={(preset) => change({ preset })}
            options={[
              { value: "", title: "choose a preset" },
              ...(presets ?? []).map((preset) => ({ value: preset.id, title: preset.name })),
            ]}
          />
          <Choice
            label="Project"
            value={draft.project}
            on_change={(name) => change({ project: name })}
            options={[
              { value: "", title: "choose a project" },
              ...projects.map((one) => ({ value: one.name, title: one.name })),
            ]}
          />
        </div>
        {presets?.length === 0 && (
          <Note>
            An automation needs a preset. <a href={preset_page("new")}>Create one</a>
          </Note>
        )}
        <Field
          label="Prompt"
          rows={5}
          value={draft.prompt}
          on_input={(prompt) => change({ prompt })}
          placeholder="Analyse {{project}} from {{window.from}} to {{window.to}}. What went wrong, and why?"
          hint={
            <>
              Variables:{" "}
              {variables.map((variable) => (
                <code key={variable.name} title={variable.doc}>{`{{${variable.name}}} `}</code>
              ))}
              Text from outside, such as the body of a webhook, is never part of the prompt: the worker reads it from a
              file.
            </>
          }
        />
        <Section title="Trigger">
          <div class="form">
            <Choice
              label="Fires"
              value={draft.type}
              on_change={(value) => change({ type: value as TriggerType })}
              options={types}
            />
            {draft.type === "cron" && <CronFields draft={draft} change={change} />}
            {draft.type === "metric" && <MetricTrigger draft={draft} change={change} project={project} />}
            {draft.type === "monitor" && <MonitorTrigger draft={draft} change={change} project={project} />}
            {draft.type === "webhook" && <WebhookFields draft={draft} change={change} />}
          </div>
        </Section>
        <Section title="Limits">
          <div class="form">
            <Limits draft={draft} change={change} />
          </div>
        </Section>
      </Form>
      <TriggerPreviewBox
        // A schedule does not depend on the project, but the server requires one.
        project={draft.project || (projects[0]?.name ?? "")}
        trigger={trigger}
        cool_off_seconds={draft.cool_off_seconds}
        ready={trigger_ready(draft) && projects.length > 0}
      />
    </div>
  );
}
