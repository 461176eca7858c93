// Presets: named, versioned configurations of workers. The list, and the page of one with its form and versions.

import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Preset, PresetVersion } from "../../api_types";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { CodeBlock } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { PageHeader, Section } from "../../parts/page";
import { SearchField } from "../../parts/search_field";
import { Data, Empty } from "../../parts/state";
import { type Column, Table } from "../../parts/table";
import { Time } from "../../parts/time";
import { navigate, query } from "../../router";
import { harnesses_page, preset_page, presets_page, studio_page } from "../addresses";
import { use_presets } from "./data";
import { PresetForm } from "./form";

const new_name = "new";

const columns: Column<Preset>[] = [
  {
    id: "name",
    title: "Name",
    sort: (preset) => preset.name,
    cell: (preset) => (
      <a class="cell-link" href={preset_page(preset.id)}>
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
  const load = use_presets();
  const text = (query.value.get("q") ?? "").toLowerCase();
  const fits = ({ name, description, settings }: Preset) =>
    `${name} ${description} ${settings.harness} ${settings.model}`.toLowerCase().includes(text);
  const create = (
    <>
      <a class="button" href={harnesses_page()}>
        Harnesses
      </a>
      {can("preset_write") && (
        <a class="button primary" href={preset_page(new_name)}>
          <Icon name="plus" /> Create preset
        </a>
      )}
    </>
  );
  return (
    <div class="page list-page">
      <PageHeader title="Presets" text="Configurations of workers. Every change creates a version.">
        {create}
      </PageHeader>
      <Data load={load} retry={() => void reload("preset")}>
        {(presets) =>
          presets.length === 0 ? (
            <Empty
              icon="agent"
              title="No presets yet"
              text="A preset sets the harness, model, skills, prompt, limits and budget, so that a session needs only a task."
              command={can("preset_write") ? "hone preset create analyst --harness playbook" : undefined}
            />
          ) : (
            <Table
              label="Presets"
              rows={presets.filter(fits)}
              columns={columns}
              row_id={(preset) => preset.id}
              row_title={(preset) => preset.name}
              order="name"
              on_open={(preset) => navigate(preset_page(preset.id))}
              bar={<SearchField label="Filter presets" />}
            />
          )
        }
      </Data>
    </div>
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
  const [dialog, set_dialog] = useState(false);
  const load = use_load(`preset/${id}`, (signal) => api.get<Preset>(`/v1/presets/${segment(id)}`, {}, signal));
  return (
    <Data load={load} retry={() => void reload("preset/")} whole_page>
      {(preset) => (
        <>
          <PageHeader title={preset.name} text={preset.description || `Version ${preset.version}`}>
            {can("run_start") && (
              <a class="button primary" href={`${studio_page()}?preset=${segment(preset.id)}`}>
                Start a session
              </a>
            )}
            {can("preset_write") && (
              <button type="button" class="danger" onClick={() => set_dialog(true)}>
                Delete…
              </button>
            )}
          </PageHeader>
          <fieldset disabled={!can("preset_write")}>
            <PresetForm key={preset.version} preset={preset} />
          </fieldset>
          <Versions preset={preset} />
          <Section
            title="Export as YAML"
            text="Keep the preset in git, and apply a changed file with hone preset apply."
          >
            <CodeBlock label="Export" text={`hone preset export ${preset.id} -o preset.yaml`} />
          </Section>
          {dialog && (
            <Confirm
              title={`Delete ${preset.name}`}
              consequence="No more sessions can be started with it. Its runs and their manifests are kept."
              action="Delete preset"
              run={async () => {
                await api.delete(`/v1/presets/${segment(preset.id)}`);
                await reload("presets/");
                navigate(presets_page());
              }}
              on_close={() => set_dialog(false)}
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
