// Switching Signal on, with the note that one agrees to, and its settings.

import { useState } from "preact/hooks";
import { api } from "../api";
import type { Preset, Project } from "../api_types";
import { use_load } from "../load";
import { Dialog } from "../parts/dialog";
import { Check, Choice, Field, Form } from "../parts/form";
import { Icon } from "../parts/icon";
import { Note } from "../parts/state";
import { Time } from "../parts/time";
import { toast_done } from "../parts/toast";
import { set_query } from "../router";
import { can, space } from "../session";
import type { SignalView } from "./loop_types";
import { project_route } from "./project_scope";
import { issues_changed } from "./signal_data";

const steps = [
  {
    title: "Finds what recurs",
    text: "Errors, slow steps, loops of tool calls, cut-off or refused answers, empty retrieval, falling evals: each window of traces against the time before it. No model is called for this.",
  },
  {
    title: "Ranks it",
    text: "One problem is one issue, however often it comes. Each says why it stands where it stands.",
  },
  {
    title: "Investigates the worst",
    text: "A worker in a sandbox reads the traces and writes down cause and proposed fix. It changes nothing by itself.",
  },
];

/** The page of a project whose Signal is off. */
export function SwitchOn({ project, view }: { project: Project; view: SignalView }) {
  const [agreed, set_agreed] = useState(false);
  async function switch_on(): Promise<void> {
    await api.put(project_route(project, "signal"), { enabled: true, consent: true });
    await issues_changed();
    toast_done("Signal is on; the first scan begins now");
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
      {can("issue_write") ? (
        <Form title="Switch Signal on" busy_title="Switching on…" disabled={!agreed} submit={switch_on}>
          <Note icon="shield">{view.consent_note}</Note>
          <Check label="I have read this and may decide it for the project" checked={agreed} on_change={set_agreed} />
        </Form>
      ) : (
        <p class="soft">Somebody with the permission issue_write can switch it on.</p>
      )}
    </div>
  );
}

const cadences = [5, 10, 30, 60, 360, 1440];
const cadence_title = (minutes: number) =>
  minutes < 60
    ? `every ${minutes} minutes`
    : minutes === 60
      ? "each hour"
      : minutes === 1440
        ? "each day"
        : `every ${minutes / 60} hours`;

/** Settings of a Signal that is on. */
export function SignalDialog({ project, view }: { project: Project; view: SignalView }) {
  const [cadence, set_cadence] = useState(String(view.cadence_minutes));
  const [context, set_context] = useState(view.context);
  const [preset, set_preset] = useState(view.preset ?? "");
  const [dollars, set_dollars] = useState(
    view.budget_micro_usd_per_day === null ? "" : String(view.budget_micro_usd_per_day / 1e6),
  );
  const [most, set_most] = useState(String(view.investigations_per_scan));
  const [enabled, set_enabled] = useState(view.enabled);
  const presets = use_load(can("preset_read") ? `presets/${space.value?.id}` : null, (signal) =>
    api.list<Preset>("/v1/presets", { space: space.value?.id }, signal),
  ).data;
  const close = () => set_query({ settings: null });
  async function save(): Promise<void> {
    await api.put(project_route(project, "signal"), {
      enabled,
      cadence_minutes: Number(cadence),
      context,
      preset: preset === "" ? null : preset,
      budget_micro_usd_per_day: dollars.trim() === "" ? null : Math.round(Number(dollars) * 1e6),
      investigations_per_scan: Number(most),
    });
    await issues_changed();
    toast_done(enabled ? "Signal saved" : "Signal is off; its issues stay");
    close();
  }
  const known = cadences.includes(view.cadence_minutes) ? cadences : [...cadences, view.cadence_minutes];
  return (
    <Dialog title={`Signal of ${project.name}`} on_close={close} wide>
      <Form title="Save" on_cancel={close} submit={save}>
        <Check
          label="Signal is on"
          checked={enabled}
          on_change={set_enabled}
          hint="Off: no scans, no investigations. Issues found so far stay."
        />
        <div class="field-row">
          <Choice
            label="Look"
            value={cadence}
            on_change={set_cadence}
            options={known.map((minutes) => ({ value: String(minutes), title: cadence_title(minutes) }))}
          />
          <Choice
            label="Investigate with"
            value={preset}
            on_change={set_preset}
            options={[
              { value: "", title: "the built-in playbook (no model)" },
              ...(presets ?? []).map((one) => ({ value: one.id, title: `${one.name} (${one.settings.harness})` })),
            ]}
          />
        </div>
        <div class="field-row">
          <Field label="Investigations a scan" type="number" min={0} value={most} on_input={set_most} />
          <Field label="US dollars a day" hint="Empty: no limit." value={dollars} on_input={set_dollars} />
        </div>
        <Field
          label="What workers should know"
          rows={4}
          value={context}
          on_input={set_context}
          hint="About the application: who uses it, what is normal, what matters most."
        />
        {view.consented_by && (
          <p class="soft">
            <Icon name="shield" /> Switched on by {view.consented_by} <Time time={view.consented_at} />
          </p>
        )}
      </Form>
    </Dialog>
  );
}
