// Presets: named, versioned workers. The list, and the page of one with its form and versions.

import { useState } from "preact/hooks";
import { api, segment } from "../api";
import type { HarnessView, Preset, PresetVersion, Settings } from "../api_types";
import { reload, use_load } from "../load";
import { Confirm } from "../parts/confirm";
import { Check, Choice, Field, Form } from "../parts/form";
import { Icon } from "../parts/icon";
import { PageHeader, Section } from "../parts/page";
import { Data, Empty } from "../parts/state";
import { type Column, Table } from "../parts/table";
import { Time } from "../parts/time";
import { toast_done } from "../parts/toast";
import { navigate } from "../router";
import { can, space } from "../session";
import { preset_page } from "./run_data";
import { list_skills } from "./skill_data";

const presets_page = () => `/s/${segment(space.value?.name ?? "")}/presets`;
const new_name = "new";

const columns: Column<Preset>[] = [
  {
    id: "name",
    title: "Name",
    sort: (preset) => preset.name,
    cell: (preset) => (
      <a class="strong" href={preset_page(preset.id)}>
        {preset.name}
      </a>
    ),
  },
  {
    id: "harness",
    title: "Harness",
    width: "120px",
    sort: (preset) => preset.settings.harness,
    cell: (preset) => preset.settings.harness,
  },
  { id: "model", title: "Model", width: "180px", wide: true, cell: (preset) => preset.settings.model },
  {
    id: "description",
    title: "Description",
    wide: true,
    cell: (preset) => <span class="soft">{preset.description}</span>,
  },
  { id: "version", title: "Version", width: "80px", align: "right", wide: true, cell: (preset) => preset.version },
  {
    id: "updated_at",
    title: "Changed",
    width: "96px",
    align: "right",
    sort: (preset) => preset.updated_at,
    cell: (preset) => <Time time={preset.updated_at} />,
  },
];

export function Presets() {
  const load = use_load(`presets/${space.value?.id}`, (signal) =>
    api.list<Preset>("/v1/presets", { space: space.value?.id }, signal),
  );
  const create = can("preset_write") && (
    <a class="button primary" href={preset_page(new_name)}>
      <Icon name="plus" /> Create preset
    </a>
  );
  return (
    <div class="page list-page">
      <PageHeader title="Presets" text="What workers are made of; every change is a version.">
        {create}
      </PageHeader>
      <Data load={load} retry={() => void reload("preset")}>
        {(presets) =>
          presets.length === 0 ? (
            <Empty
              icon="agent"
              title="No presets yet"
              text="A preset names a harness, its model, skills, prompt, limits and budget, so that a session needs only a task."
            />
          ) : (
            <Table
              label="Presets"
              rows={presets}
              columns={columns}
              row_id={(preset) => preset.id}
              row_title={(preset) => preset.name}
              order="name"
            />
          )
        }
      </Data>
    </div>
  );
}

interface Draft {
  name: string;
  description: string;
  harness: string;
  model: string;
  command: string;
  system_prompt: string;
  skills: string[];
  memory: string;
  cpus: string;
  minutes: string;
  hosts: string;
  tokens: string;
  dollars: string;
}

function draft_of(preset: Preset | null): Draft {
  const settings = preset?.settings;
  return {
    name: preset?.name ?? "",
    description: preset?.description ?? "",
    harness: settings?.harness ?? "playbook",
    model: settings?.model ?? "",
    command: settings?.command.join("\n") ?? "",
    system_prompt: settings?.system_prompt ?? "",
    skills: settings?.skills ?? [],
    memory: String((settings?.sandbox.memory_bytes ?? 2 ** 31) / 2 ** 20),
    cpus: String(settings?.sandbox.cpus ?? 2),
    minutes: String(settings?.sandbox.wall_clock_minutes ?? 60),
    hosts: settings?.sandbox.allow_hosts.join("\n") ?? "",
    tokens: settings?.budget.tokens ? String(settings.budget.tokens) : "",
    dollars: settings?.budget.cost_micro_usd ? String(settings.budget.cost_micro_usd / 1e6) : "",
  };
}

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** What the form does not show stays as it is. */
function settings_of(draft: Draft, before: Settings | undefined): unknown {
  return {
    ...before,
    harness: draft.harness,
    model: draft.model.trim(),
    command: lines(draft.command),
    system_prompt: draft.system_prompt,
    skills: draft.skills,
    sandbox: {
      ...before?.sandbox,
      memory_bytes: Math.round(Number(draft.memory) * 2 ** 20),
      cpus: Number(draft.cpus),
      wall_clock_minutes: Math.round(Number(draft.minutes)),
      allow_hosts: lines(draft.hosts),
    },
    budget: {
      ...before?.budget,
      tokens: draft.tokens === "" ? null : Math.round(Number(draft.tokens)),
      cost_micro_usd: draft.dollars === "" ? null : Math.round(Number(draft.dollars) * 1e6),
    },
  };
}

function PresetForm({ preset }: { preset: Preset | null }) {
  const [draft, set_draft] = useState(() => draft_of(preset));
  const change = (part: Partial<Draft>) => set_draft((known) => ({ ...known, ...part }));
  const harnesses = use_load("harnesses", (signal) => api.get<HarnessView[]>("/v1/harnesses", {}, signal)).data ?? [];
  const skills = use_load(can("skill_read") ? `skills/${space.value?.id}` : null, list_skills).data ?? [];
  const harness = harnesses.find((entry) => entry.name === draft.harness);
  async function save(): Promise<void> {
    const body = {
      name: draft.name.trim(),
      description: draft.description,
      settings: settings_of(draft, preset?.settings),
    };
    const saved = preset
      ? await api.patch<Preset>(`/v1/presets/${segment(preset.id)}`, body)
      : await api.post<Preset>("/v1/presets", body, { space: space.value?.id });
    await Promise.all([reload("preset"), reload("studio/")]);
    toast_done(`Saved as version ${saved.version}`);
    if (!preset) navigate(preset_page(saved.id), { replace: true });
  }
  return (
    <Form title={preset ? "Save" : "Create preset"} disabled={draft.name.trim() === ""} submit={save}>
      <Field label="Name" value={draft.name} on_input={(name) => change({ name })} required />
      <Field label="Description" value={draft.description} on_input={(description) => change({ description })} />
      <div class="field-row">
        <Choice
          label="Harness"
          value={draft.harness}
          on_change={(value) => change({ harness: value })}
          options={harnesses.map((entry) => ({ value: entry.name, title: entry.title }))}
          hint={harness && !harness.ready ? harness.advice : undefined}
        />
        <Field label="Model" value={draft.model} on_input={(model) => change({ model })} />
      </div>
      {(draft.harness === "command" || draft.harness === "playbook") && (
        <Field
          label={draft.harness === "command" ? "Command" : "Playbook"}
          hint={
            draft.harness === "command"
              ? "The program, then each argument on a line of its own."
              : "Empty: investigate."
          }
          rows={2}
          value={draft.command}
          on_input={(command) => change({ command })}
        />
      )}
      <Field
        label="System prompt"
        rows={6}
        value={draft.system_prompt}
        on_input={(system_prompt) => change({ system_prompt })}
      />
      {skills.length > 0 && (
        <fieldset class="scope-list">
          <legend>Skills</legend>
          {skills.map((skill) => (
            <Check
              key={skill.id}
              label={`${skill.name} (${skill.type})`}
              checked={draft.skills.includes(skill.id)}
              on_change={(on) =>
                change({ skills: on ? [...draft.skills, skill.id] : draft.skills.filter((id) => id !== skill.id) })
              }
            />
          ))}
        </fieldset>
      )}
      <div class="field-row">
        <Field
          label="Memory, MiB"
          type="number"
          min={1}
          value={draft.memory}
          on_input={(memory) => change({ memory })}
        />
        <Field label="CPUs" value={draft.cpus} on_input={(cpus) => change({ cpus })} />
        <Field
          label="Minutes"
          type="number"
          min={1}
          value={draft.minutes}
          on_input={(minutes) => change({ minutes })}
        />
      </div>
      <Field
        label="Further hosts"
        hint="One on a line: host, host:port or *.example.com."
        rows={2}
        value={draft.hosts}
        on_input={(hosts) => change({ hosts })}
      />
      <div class="field-row">
        <Field
          label="Budget, tokens"
          hint="Empty: no limit."
          type="number"
          min={1}
          value={draft.tokens}
          on_input={(tokens) => change({ tokens })}
        />
        <Field
          label="Budget, US dollars"
          hint="Empty: no limit."
          value={draft.dollars}
          on_input={(dollars) => change({ dollars })}
        />
      </div>
    </Form>
  );
}

function Versions({ preset }: { preset: Preset }) {
  const load = use_load(`preset_versions/${preset.id}`, (signal) =>
    api.get<PresetVersion[]>(`/v1/presets/${segment(preset.id)}/versions`, {}, signal),
  );
  return (
    <Section title="Versions">
      <Data load={load} retry={() => void reload("preset_versions/")}>
        {(versions) => (
          <ol class="plain-list">
            {versions.map((version) => (
              <li key={version.version} class="inbox-item">
                <b>{version.version}</b>
                <div>
                  <p>{version.changed.length === 0 ? "First version" : version.changed.join("; ")}</p>
                  <p class="soft">
                    {version.changed_by} · <Time time={version.changed_at} />
                  </p>
                </div>
              </li>
            ))}
          </ol>
        )}
      </Data>
    </Section>
  );
}

function Existing({ id }: { id: string }) {
  const [asked, set_asked] = useState(false);
  const load = use_load(`preset/${id}`, (signal) => api.get<Preset>(`/v1/presets/${segment(id)}`, {}, signal));
  return (
    <Data load={load} retry={() => void reload("preset/")}>
      {(preset) => (
        <>
          <PageHeader title={preset.name} text={preset.description || `Version ${preset.version}`}>
            {can("preset_write") && (
              <button type="button" onClick={() => set_asked(true)}>
                Delete
              </button>
            )}
          </PageHeader>
          {can("preset_write") && <PresetForm key={preset.version} preset={preset} />}
          <Versions preset={preset} />
          {asked && (
            <Confirm
              title={`Delete ${preset.name}`}
              consequence="Nobody can start sessions with it any more. Its runs and their manifests stay."
              action="Delete preset"
              run={async () => {
                await api.delete(`/v1/presets/${segment(preset.id)}`);
                await reload("presets/");
                navigate(presets_page());
              }}
              on_close={() => set_asked(false)}
            />
          )}
        </>
      )}
    </Data>
  );
}

export function PresetPage({ params }: { params: Record<string, string> }) {
  const id = params.preset ?? "";
  return (
    <div class="page narrow">
      {id === new_name ? (
        <>
          <PageHeader title="New preset" />
          <PresetForm preset={null} />
        </>
      ) : (
        <Existing id={id} />
      )}
    </div>
  );
}
