// The form of a preset: all settings of a worker, in parts that are collapsed at first.

import type { ComponentChildren } from "preact";
import { api, segment } from "../../api";
import type { HarnessView, Preset } from "../../api_types";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { GroupList } from "../../parts/group_list";
import { Note } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { navigate } from "../../router";
import { preset_page } from "../addresses";
import { list_skills } from "../skills/data";
import { ModelField } from "../skills/model_field";
import { ReachLines } from "../skills/reach";
import { capture_options, lack_of, use_providers } from "./data";
import { DependencyFields, dependency_summary } from "./dependency_fields";
import { type Draft, draft_of, lines, output_kinds, problem_of, settings_of } from "./draft";
import { InstallAgent } from "./install";
import { ProviderField, unless } from "./provider_field";
import { ReviewPart, review_summary } from "./review_fields";

interface PartProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  /** Why the provider does not have a setting; undefined: it has it. */
  lack: (name: string) => string | undefined;
}

function Part({ title, text, children }: { title: string; text: string; children: ComponentChildren }) {
  return (
    <details class="form-part">
      <summary>
        <b>{title}</b> <span class="soft">{text}</span>
      </summary>
      <div class="form-part-body">{children}</div>
    </details>
  );
}

function Worker({ draft, change, lack }: PartProps) {
  const harnesses = use_load("harnesses", (signal) => api.get<HarnessView[]>("/v1/harnesses", {}, signal)).data ?? [];
  const harness = harnesses.find((entry) => entry.name === draft.harness);
  const owned = use_providers().map((entry) => entry.harness);
  const is_own = owned.includes(draft.harness);
  const skills = use_load(can("skill_read") ? `skills/${space.value?.id}` : null, list_skills).data ?? [];
  const model_skill = skills.find((skill) => skill.type === "model" && draft.skills.includes(skill.id));
  return (
    <>
      <div class="field-row">
        <Choice
          label="Harness"
          value={draft.harness}
          on_change={(value) => change({ harness: value, harness_version: "" })}
          disabled={is_own}
          options={harnesses
            .filter((entry) => (is_own ? entry.name === draft.harness : !owned.includes(entry.name)))
            .map((entry) => ({ value: entry.name, title: entry.title }))}
          hint={is_own ? lack("command") : undefined}
        />
        {harness && harness.versions.length > 0 && (
          <Choice
            label="Version"
            value={draft.harness_version}
            on_change={(value) => change({ harness_version: value })}
            options={[
              { value: "", title: `last installed (${harness.version})` },
              ...[...new Set([...harness.versions, ...(draft.harness_version ? [draft.harness_version] : [])])].map(
                (version) => ({ value: version, title: `pinned: ${version}` }),
              ),
            ]}
          />
        )}
        {harness?.protocols.length !== 0 && (
          <ModelField
            value={draft.model}
            on_input={(model) => change({ model })}
            source={model_skill ? { skill: model_skill.id } : null}
          />
        )}
      </div>
      {harness && !harness.ready && (
        <Note kind="warning">
          <p>{harness.title} is not installed on the server.</p>
          <InstallAgent harness={harness} />
        </Note>
      )}
      {(draft.harness === "command" || draft.harness === "playbook") && (
        <Field
          label={draft.harness === "command" ? "Command" : "Playbook"}
          hint={
            draft.harness === "command"
              ? "The program, then one argument per line."
              : "The name of a playbook. Empty: investigate."
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
    </>
  );
}

function Skills({ draft, change }: PartProps) {
  const skills = use_load(can("skill_read") ? `skills/${space.value?.id}` : null, list_skills).data ?? [];
  if (skills.length === 0) return null;
  return (
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
  );
}

function Repositories({ draft, change }: PartProps) {
  return (
    <Part
      title="Repositories"
      text={draft.repos.length === 0 ? "none" : draft.repos.map((repo) => repo.url).join(", ")}
    >
      <GroupList
        noun="Repository"
        add="Add a repository"
        rows={draft.repos}
        blank={{ url: "", ref: "", path: "", depth: "" }}
        on_change={(repos) => change({ repos })}
      >
        {(repo, set) => (
          <>
            <Field
              label="Address"
              placeholder="https://github.com/example/shop"
              value={repo.url}
              on_input={(url) => set({ url })}
            />
            <div class="field-row">
              <Field label="Branch, tag or commit" value={repo.ref} on_input={(ref) => set({ ref })} />
              <Field
                label="Folder"
                placeholder="whole repository"
                value={repo.path}
                on_input={(path) => set({ path })}
              />
              <Field
                label="Clone depth, commits"
                placeholder="all"
                type="number"
                value={repo.depth}
                on_input={(depth) => set({ depth })}
              />
            </div>
          </>
        )}
      </GroupList>
    </Part>
  );
}

function Sandbox({ draft, change, lack }: PartProps) {
  return (
    <Part title="Sandbox" text={`${draft.memory}, ${draft.cpus} CPUs, ${draft.minutes} min`}>
      <div class="field-row">
        <Field
          label="Memory"
          {...unless(lack("sandbox.memory_bytes"))}
          value={draft.memory}
          on_input={(memory) => change({ memory })}
        />
        <Field
          label="Disk"
          {...unless(lack("sandbox.disk_bytes"))}
          value={draft.disk}
          on_input={(disk) => change({ disk })}
        />
        <Field
          label="CPUs"
          {...unless(lack("sandbox.cpus"))}
          value={draft.cpus}
          on_input={(cpus) => change({ cpus })}
        />
      </div>
      <div class="field-row">
        <Field
          label="Minutes"
          type="number"
          min={1}
          value={draft.minutes}
          on_input={(minutes) => change({ minutes })}
        />
        <Field
          label="Idle minutes"
          type="number"
          min={1}
          value={draft.idle_minutes}
          on_input={(idle_minutes) => change({ idle_minutes })}
        />
        <Field
          label="Seconds of a tool"
          type="number"
          min={1}
          value={draft.tool_seconds}
          on_input={(tool_seconds) => change({ tool_seconds })}
        />
        <Field
          label="Processes"
          {...unless(lack("sandbox.pids"))}
          type="number"
          min={1}
          value={draft.pids}
          on_input={(pids) => change({ pids })}
        />
      </div>
      <div class="field-row">
        <Field
          label="Image"
          {...unless(lack("sandbox.image"), "host: the programs of this machine, read-only.")}
          value={draft.image}
          on_input={(image) => change({ image })}
        />
        <Choice
          label="Minimum isolation"
          {...unless(lack("sandbox.minimum_tier"))}
          value={draft.tier}
          on_change={(tier) => change({ tier })}
          options={[
            { value: "ns", title: "ns: namespaces" },
            { value: "gvisor", title: "gvisor: its own kernel" },
          ]}
        />
      </div>
      <Field
        label="Init script"
        {...unless(
          lack("sandbox.init_script"),
          draft.provider === "kubernetes"
            ? "A shell script that prepares the home of the pods once, in a pod. The result is cached for later runs."
            : "A shell script that prepares the root file system once. The result is cached for later runs.",
        )}
        rows={4}
        value={draft.init_script}
        on_input={(init_script) => change({ init_script })}
      />
      {(draft.init_script.trim() !== "" || draft.setup !== "") && (
        <div class="field-row">
          <Choice
            label="When the init script or setup fails"
            value={draft.init_failure}
            on_change={(init_failure) => change({ init_failure })}
            options={[
              { value: "abort", title: "the run fails" },
              { value: "degrade", title: "the run continues without it" },
            ]}
          />
          <Field
            label="Timeout of the init script and of setup, s"
            type="number"
            min={1}
            value={draft.init_seconds}
            on_input={(init_seconds) => change({ init_seconds })}
          />
        </div>
      )}
      <Field
        label="Environment"
        {...unless(lack("sandbox.env"), "One NAME=value per line. Not for secrets: use a skill for them.")}
        rows={3}
        value={draft.env}
        on_input={(env) => change({ env })}
      />
      <Field
        label="Secret variables"
        {...unless(
          lack("sandbox.secret_env"),
          "One NAME=value per line. Stored encrypted and shown as stars; the worker gets the value. Leave the stars to keep it.",
        )}
        rows={2}
        value={draft.secret_env}
        on_input={(secret_env) => change({ secret_env })}
      />
    </Part>
  );
}

const networks = [
  { value: "allowlist", title: "hosts of its skills and the hosts below" },
  { value: "none", title: "none (models, git and Hone's API only)" },
  { value: "open", title: "any public host" },
];

function Dependencies({ draft, change, lack }: PartProps) {
  const reason = lack("sandbox.setup");
  if (reason !== undefined)
    return (
      <Part title="Dependencies" text="not with this provider">
        <Note>{reason}</Note>
      </Part>
    );
  return (
    <Part title="Dependencies" text={dependency_summary(draft)}>
      <DependencyFields draft={draft} change={change} />
    </Part>
  );
}

function Network({ draft, change }: PartProps) {
  const hosts = lines(draft.hosts);
  return (
    <Part
      title="Network"
      text={draft.network === "allowlist" && hosts.length > 0 ? `allowlist, ${hosts.join(", ")}` : draft.network}
    >
      <Choice
        label="Network access"
        value={draft.network}
        on_change={(network) => change({ network })}
        options={networks}
      />
      {draft.network === "open" && (
        <Note kind="warning" icon="warning">
          The worker can send everything it reads to any public host. Use this only for tasks without private data.
        </Note>
      )}
      <Field
        label="More hosts"
        hint="One per line: host, host:port or *.example.com."
        rows={2}
        value={draft.hosts}
        on_input={(text) => change({ hosts: text })}
      />
      {draft.skills.length > 0 && can("skill_read") && (
        <>
          <p class="soft">Hosts and secrets of its skills:</p>
          <ReachLines ids={draft.skills} />
        </>
      )}
    </Part>
  );
}

const output_titles = { investigation: "Investigations", labels: "Labels", file: "Files", branch: "Branches" };

function Outputs({ draft, change }: PartProps) {
  const waiting = output_kinds.filter((kind) => draft.outputs[kind] === "review");
  return (
    <Part
      title="Artifacts"
      text={
        waiting.length === 0
          ? "no review required"
          : `${waiting.map((kind) => output_titles[kind]).join(", ")} require review`
      }
    >
      <div class="field-row">
        {output_kinds.map((kind) => (
          <Choice
            key={kind}
            label={output_titles[kind]}
            value={draft.outputs[kind]}
            on_change={(value) => change({ outputs: { ...draft.outputs, [kind]: value } })}
            options={[
              { value: "auto", title: "no review" },
              { value: "review", title: "review required" },
            ]}
          />
        ))}
      </div>
    </Part>
  );
}

function BudgetPart({ draft, change }: PartProps) {
  const limits = [draft.tokens && `${draft.tokens} tokens`, draft.dollars && `$${draft.dollars}`].filter(Boolean);
  return (
    <Part title="Budget" text={limits.length === 0 ? "no limit" : limits.join(", ")}>
      <div class="field-row">
        <Field
          label="Tokens"
          hint="Empty: no limit."
          type="number"
          min={1}
          value={draft.tokens}
          on_input={(tokens) => change({ tokens })}
        />
        <Field
          label="US dollars"
          hint="Empty: no limit."
          value={draft.dollars}
          on_input={(dollars) => change({ dollars })}
        />
        <Field
          label="Soft limit, %"
          type="number"
          min={1}
          value={draft.soft_percent}
          on_input={(soft_percent) => change({ soft_percent })}
        />
      </div>
      <div class="field-row">
        <Field
          label="Tool calls of a run"
          placeholder="no limit"
          type="number"
          min={1}
          value={draft.steps}
          on_input={(steps) => change({ steps })}
        />
        <Field
          label="Turns of a session"
          placeholder="no limit"
          type="number"
          min={1}
          value={draft.turns}
          on_input={(turns) => change({ turns })}
        />
      </div>
      <Choice
        label="Content of model call spans"
        hint="The space can allow less (Usage, daily budget). Redaction rules of the project hone-runs apply."
        value={draft.capture}
        options={capture_options}
        on_change={(capture) => change({ capture: capture as Draft["capture"] })}
      />
    </Part>
  );
}

export function PresetForm({ preset }: { preset: Preset | null }) {
  const [draft, change] = use_draft(() => draft_of(preset));
  async function save(): Promise<void> {
    const problem = problem_of(draft);
    if (problem !== null) throw new Error(problem);
    const body = {
      name: draft.name.trim(),
      description: draft.description,
      settings: settings_of(draft, preset?.settings),
    };
    const saved = preset
      ? await api.patch<Preset>(`/v1/presets/${segment(preset.id)}`, body)
      : await api.post<Preset>("/v1/presets", body, { space: space.value?.id });
    await Promise.all([reload("preset"), reload("studio/")]);
    toast_done(`Preset saved as version ${saved.version}`);
    if (!preset) navigate(preset_page(saved.id), { replace: true });
  }
  const provider = use_providers().find((entry) => entry.name === draft.provider);
  const part = { draft, change, lack: (name: string) => lack_of(provider, name) };
  return (
    <Form title={preset ? "Save" : "Create preset"} disabled={draft.name.trim() === ""} submit={save}>
      {preset?.warnings.map((warning) => (
        <Note key={warning} kind="warning" icon="warning">
          {warning}
        </Note>
      ))}
      <Field label="Name" value={draft.name} on_input={(name) => change({ name })} required />
      <Field label="Description" value={draft.description} on_input={(description) => change({ description })} />
      <ProviderField {...part} />
      <Worker {...part} />
      <Skills {...part} />
      <Repositories {...part} />
      <Sandbox {...part} />
      <Dependencies {...part} />
      <Network {...part} />
      <Outputs {...part} />
      <Part title="Review of branches" text={review_summary(draft.review)}>
        <ReviewPart
          draft={draft.review}
          change={(part) => change((known) => ({ review: { ...known.review, ...part } }))}
        />
      </Part>
      <BudgetPart {...part} />
    </Form>
  );
}
