// Turning Signal on, with the consent note, and its settings.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { Project, Severity, SignalSettings, SignalView } from "../../api_types";
import { limit_text, micro, read_limit } from "../../lib/format/limit";
import { can } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { Note } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { set_query } from "../../router";
import { DayBudgetFields } from "../automations/budget";
import { use_presets } from "../presets/data";
import { project_route } from "../projects/data";
import { issues_changed, severities } from "./data";

const steps = [
  {
    title: "Finds recurring problems",
    text: "Errors, slow steps, tool call loops, truncated or refused outputs, empty retrieval, lower eval scores: each window of traces is compared with the period before it. No model is called for this.",
  },
  {
    title: "Ranks them",
    text: "One problem is one issue, however often it occurs. Each issue shows how its score is computed.",
  },
  {
    title: "Investigates the highest ranked issues",
    text: "A worker in a sandbox reads the traces and describes the cause and a proposed fix. It changes nothing.",
  },
];

/** The page of a project whose Signal is off. */
export function SwitchOn({ project, view }: { project: Project; view: SignalView }) {
  const [agreed, set_agreed] = useState(false);
  async function switch_on(): Promise<void> {
    await api.put(project_route(project, "signal"), { enabled: true, consent: true });
    await issues_changed();
    toast_done("Signal turned on; the first scan starts now");
  }
  return (
    <div class="signal-off">
      <h2>Signal is off for {project.name}</h2>
      <ol class="signal-steps">
        {steps.map((step) => (
          <li key={step.title}>
            <h3>{step.title}</h3>
            <p>{step.text}</p>
          </li>
        ))}
      </ol>
      {can("automation_write") ? (
        <Form title="Turn on Signal" busy_title="Turning on…" disabled={!agreed} submit={switch_on}>
          <Note icon="shield">{view.consent_note}</Note>
          <Check label="I have read this and agree for the project" checked={agreed} on_change={set_agreed} />
        </Form>
      ) : (
        <p class="soft">A member with the permission automation_write can turn it on.</p>
      )}
    </div>
  );
}

const cadences = [5, 10, 30, 60, 360, 1440];
const cadence_title = (minutes: number) =>
  minutes < 60
    ? `every ${minutes} minutes`
    : minutes === 60
      ? "every hour"
      : minutes === 1440
        ? "every day"
        : `every ${minutes / 60} hours`;

interface Draft {
  enabled: boolean;
  cadence: string;
  window: string;
  baseline: string;
  context: string;
  preset: string;
  most: string;
  least: Severity;
  dollars: string;
  tokens: string;
  sampled: string;
  sampling: string;
  sampled_tokens: string;
  repo: string;
  branch: string;
}

function draft_of(view: SignalView): Draft {
  const settings = view.settings;
  const text = (value: number | null, unit = 1) => (value === null ? "" : String(value / unit));
  return {
    enabled: view.enabled,
    cadence: String(settings.cadence_minutes),
    window: String(settings.window_hours),
    baseline: String(settings.baseline_days),
    context: settings.context,
    preset: settings.preset ?? "",
    most: String(settings.max_investigations),
    least: settings.least_severity,
    dollars: limit_text(settings.cost_micro_usd_per_day, micro),
    tokens: text(settings.tokens_per_day),
    sampled: String(settings.sampled_traces),
    sampling: String(settings.sampling_hours),
    sampled_tokens: String(settings.sampled_tokens),
    repo: settings.repo?.url ?? "",
    branch: settings.repo?.ref ?? "",
  };
}

/** Settings that the form does not show are unchanged. */
function settings_of(draft: Draft, before: SignalSettings): object {
  const repo = draft.repo.trim() === "" ? null : { ...before.repo, url: draft.repo.trim(), ref: draft.branch.trim() };
  return {
    ...before,
    cadence_minutes: Number(draft.cadence),
    window_hours: Math.round(Number(draft.window)),
    baseline_days: Math.round(Number(draft.baseline)),
    context: draft.context,
    preset: draft.preset === "" ? null : draft.preset,
    repo,
    max_investigations: Math.round(Number(draft.most)),
    least_severity: draft.least,
    cost_micro_usd_per_day: read_limit(draft.dollars, micro),
    tokens_per_day: read_limit(draft.tokens),
    sampled_traces: Math.round(Number(draft.sampled)),
    sampling_hours: Math.round(Number(draft.sampling)),
    sampled_tokens: Math.round(Number(draft.sampled_tokens)),
  };
}

type Change = (part: Partial<Draft>) => void;

function LookFields({ draft, change }: { draft: Draft; change: Change }) {
  const minutes = Number(draft.cadence);
  const known = cadences.includes(minutes) ? cadences : [...cadences, minutes];
  return (
    <div class="field-row">
      <Choice
        label="Scan"
        value={draft.cadence}
        on_change={(cadence) => change({ cadence })}
        options={known.map((one) => ({ value: String(one), title: cadence_title(one) }))}
      />
      <Field
        label="Window, hours"
        type="number"
        min={1}
        value={draft.window}
        on_input={(window) => change({ window })}
      />
      <Field
        label="Compared with, days before"
        type="number"
        min={1}
        value={draft.baseline}
        on_input={(baseline) => change({ baseline })}
      />
    </div>
  );
}

function WorkerFields({ draft, change }: { draft: Draft; change: Change }) {
  const presets = use_presets().data;
  return (
    <>
      <div class="field-row">
        <Choice
          label="Investigate with"
          value={draft.preset}
          on_change={(preset) => change({ preset })}
          options={[
            { value: "", title: "playbook, no model" },
            ...(presets ?? []).map((one) => ({ value: one.id, title: `${one.name} (${one.settings.harness})` })),
          ]}
        />
        <Field
          label="Investigations per scan"
          type="number"
          min={0}
          value={draft.most}
          on_input={(most) => change({ most })}
          hint="0: only when started by a person."
        />
        <Choice
          label="Minimum severity"
          value={draft.least}
          on_change={(least) => change({ least: least as Severity })}
          options={severities.map((one) => ({ value: one, title: one }))}
        />
      </div>
      <div class="field-row">
        <DayBudgetFields draft={draft} change={change} />
      </div>
      <div class="field-row">
        <Field
          label="Traces per reading"
          type="number"
          min={0}
          value={draft.sampled}
          on_input={(sampled) => change({ sampled })}
          hint="A worker with a model reads parts of so many sampled traces. 0: none. Needs a preset with a model."
        />
        <Field
          label="Hours between readings"
          type="number"
          min={1}
          value={draft.sampling}
          on_input={(sampling) => change({ sampling })}
        />
        <Field
          label="Tokens per reading"
          type="number"
          min={1000}
          value={draft.sampled_tokens}
          on_input={(sampled_tokens) => change({ sampled_tokens })}
        />
      </div>
      <Field
        label="Context for workers"
        rows={4}
        value={draft.context}
        on_input={(context) => change({ context })}
        hint="About the application: its users, what is normal, what is most important."
      />
    </>
  );
}

/** Settings of Signal while it is on. */
export function SignalDialog({ project, view }: { project: Project; view: SignalView }) {
  const [draft, change] = use_draft(() => draft_of(view));
  const close = () => set_query({ settings: null });
  async function save(): Promise<void> {
    await api.put(project_route(project, "signal"), {
      ...(draft.enabled === view.enabled ? {} : { enabled: draft.enabled }),
      settings: settings_of(draft, view.settings),
    });
    await issues_changed();
    toast_done(draft.enabled ? "Signal settings saved" : "Signal turned off; its issues are kept");
    close();
  }
  return (
    <Dialog title={`Signal of ${project.name}`} on_close={close} wide>
      <Form title="Save" on_cancel={close} submit={save}>
        <Check
          label="Signal is on"
          checked={draft.enabled}
          on_change={(enabled) => change({ enabled })}
          hint="Off: no scans, no investigations. Existing issues are kept."
        />
        <LookFields draft={draft} change={change} />
        <WorkerFields draft={draft} change={change} />
        <div class="field-row">
          <Field
            label="Repository"
            value={draft.repo}
            on_input={(repo) => change({ repo })}
            placeholder="https://github.com/example/app"
            hint="For investigations and fixes. Empty: none."
          />
          <Field label="Branch" value={draft.branch} on_input={(branch) => change({ branch })} />
        </div>
        {view.consent_by && (
          <p class="soft">
            Turned on by {view.consent_by} <Time time={view.consent_at} />
          </p>
        )}
      </Form>
    </Dialog>
  );
}
