// The policy of a space: limits for presets, sessions and automations, below the limits of the installation.

import { api, segment } from "../../api";
import type { RunProvider, SpacePolicy, SpacePolicyView } from "../../api_types";
import { limit_text, micro, read_limit } from "../../lib/format/limit";
import { reload, use_load } from "../../load";
import { can, space } from "../../login";
import { Check, Choice, Field, Form, use_draft } from "../../parts/form";
import { PageHeader, Section } from "../../parts/page";
import { Data } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { use_providers } from "../presets/data";
import { ManagedConsent } from "./managed_consent";

const gibibyte = 1024 ** 3;

const path = () => `/v1/spaces/${segment(space.value?.id ?? "")}/policy`;

function draft_of(policy: SpacePolicy) {
  return {
    open_network: policy.open_network,
    any_host: policy.hosts === null,
    hosts: (policy.hosts ?? []).join("\n"),
    env_secrets: policy.env_secrets,
    minimum_tier: policy.minimum_tier as string,
    providers: policy.providers,
    memory: limit_text(policy.memory_bytes, gibibyte),
    cpus: limit_text(policy.cpus),
    pids: limit_text(policy.pids),
    disk: limit_text(policy.disk_bytes, gibibyte),
    minutes: limit_text(policy.wall_clock_minutes),
    tokens: limit_text(policy.tokens),
    cost: limit_text(policy.cost_micro_usd, micro),
    run_days: limit_text(policy.run_days),
    workspace_days: limit_text(policy.workspace_days),
  };
}

type Draft = ReturnType<typeof draft_of>;

function policy_of(draft: Draft) {
  const hosts = draft.hosts.split(/[\s,]+/).filter((host) => host !== "");
  return {
    open_network: draft.open_network,
    hosts: draft.any_host ? null : hosts,
    env_secrets: draft.env_secrets,
    minimum_tier: draft.minimum_tier,
    providers: draft.providers,
    memory_bytes: read_limit(draft.memory, gibibyte),
    cpus: draft.cpus.trim() === "" ? null : Number(draft.cpus),
    pids: read_limit(draft.pids),
    disk_bytes: read_limit(draft.disk, gibibyte),
    wall_clock_minutes: read_limit(draft.minutes),
    tokens: read_limit(draft.tokens),
    cost_micro_usd: read_limit(draft.cost, micro),
    run_days: read_limit(draft.run_days),
    workspace_days: read_limit(draft.workspace_days),
  };
}

const numbers = ["memory", "cpus", "pids", "disk", "minutes", "tokens", "cost", "run_days", "workspace_days"] as const;

function PolicyForm({ view }: { view: SpacePolicyView }) {
  const { policy, installation } = view;
  const [draft, change] = use_draft(() => draft_of(policy));
  const may_edit = can("space_update");
  const wrong = numbers.some((name) => Number.isNaN(Number(draft[name])));
  const providers = use_providers();
  const allow = (name: RunProvider, on: boolean) => {
    const all = providers.map((entry) => entry.name);
    const chosen = all.filter((one) => (one === name ? on : (draft.providers ?? all).includes(one)));
    change({ providers: chosen.length === all.length ? null : chosen });
  };
  async function save(): Promise<void> {
    await api.put<SpacePolicyView>(path(), policy_of(draft));
    await Promise.all([reload("space_policy/"), reload("providers/")]);
    toast_done("Policy saved; it applies to new runs");
  }
  const limit = (name: (typeof numbers)[number], label: string, most: string) => (
    <Field
      label={label}
      hint={most}
      value={draft[name]}
      disabled={!may_edit}
      on_input={(text) => change({ [name]: text } as Partial<Draft>)}
    />
  );
  return (
    <Form title="Save policy" disabled={wrong || !may_edit || draft.providers?.length === 0} submit={save}>
      <Section title="Network and secrets">
        <Check
          label="Allow the network mode “open”"
          hint="An open sandbox reaches every public host. Has no effect if only listed hosts are allowed."
          checked={draft.open_network}
          disabled={!may_edit}
          on_change={(open_network) => change({ open_network })}
        />
        <Check
          label="Allow any host"
          checked={draft.any_host}
          disabled={!may_edit}
          on_change={(any_host) => change({ any_host })}
        />
        {!draft.any_host && (
          <Field
            label="Hosts that presets and skills can allow"
            hint="One per line: api.example.com, api.example.com:8443 or *.example.com. Model endpoints are not affected."
            value={draft.hosts}
            rows={5}
            disabled={!may_edit}
            on_input={(hosts) => change({ hosts })}
          />
        )}
        <Check
          label="Allow secrets in the environment of workers"
          hint="Skills with the exposure “env” and secret variables of presets give the value itself to the sandbox. Brokered secrets never enter it."
          checked={draft.env_secrets}
          disabled={!may_edit}
          on_change={(env_secrets) => change({ env_secrets })}
        />
      </Section>
      <Section title="Providers" text="Where runs of this space can work.">
        {providers.map((entry) => (
          <Check
            key={entry.name}
            label={entry.title}
            hint={entry.available ? entry.text : `${entry.text} Not available: ${entry.advice}.`}
            checked={draft.providers === null || draft.providers.includes(entry.name)}
            disabled={!may_edit}
            on_change={(on) => allow(entry.name, on)}
          />
        ))}
      </Section>
      <Section title="Sandbox" text="Empty: the limit of the installation.">
        <Choice
          label="Minimum isolation"
          value={draft.minimum_tier}
          disabled={!may_edit}
          options={[
            { value: "ns", title: "ns: kernel namespaces" },
            { value: "gvisor", title: "gvisor: its own kernel" },
          ]}
          on_change={(minimum_tier) => change({ minimum_tier })}
        />
        <div class="field-row">
          {limit("memory", "Memory, GiB", `At most ${installation.memory_bytes / gibibyte}`)}
          {limit("cpus", "Processors", `At most ${installation.cpus}`)}
          {limit("pids", "Processes", `At most ${installation.pids}`)}
          {limit("disk", "Workspace, GiB", `At most ${installation.disk_bytes / gibibyte}`)}
          {limit("minutes", "Minutes", `At most ${installation.wall_clock_minutes}`)}
        </div>
      </Section>
      <Section title="Budget of one run" text="Used for a run without its own budget. Empty: no limit.">
        <div class="field-row">
          {limit("tokens", "Tokens", `Default of the installation: ${installation.default_tokens || "none"}`)}
          {limit("cost", "US dollars", "Of all model calls of the run")}
        </div>
      </Section>
      <Section title="Retention" text="Days after the end of a run. Empty: as long as the installation keeps them.">
        <div class="field-row">
          {limit("run_days", "Days of runs", "With transcripts and artifacts; open reviews and kept runs stay")}
          {limit("workspace_days", "Days of workspaces", "A follow-up needs the workspace")}
        </div>
      </Section>
    </Form>
  );
}

export function Policy() {
  const load = use_load(`space_policy/${space.value?.id}`, (signal) => api.get<SpacePolicyView>(path(), {}, signal));
  return (
    <div class="page narrow">
      <PageHeader
        title="Policy"
        text="Limits for presets, sessions and automations of this space. They are checked when a preset is saved and when a run starts."
      />
      <Data load={load} retry={() => void reload("space_policy/")}>
        {(view) => <PolicyForm key={space.value?.id} view={view} />}
      </Data>
      <ManagedConsent />
    </div>
  );
}
