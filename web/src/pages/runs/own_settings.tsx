// Settings of a session without a preset, beyond harness and model: repository, dependencies, sandbox, budget.

import { micro, read_limit } from "../../lib/format/limit";
import { Field } from "../../parts/form";
import { type DependencyDraft, DependencyFields } from "../presets/dependency_fields";
import { lines } from "../presets/draft";

const gibibyte = 1024 ** 3;

export const first_own_settings = () => ({
  repository: "",
  ref: "",
  packages: [] as DependencyDraft["packages"],
  setup: "",
  setup_hosts: "",
  image: "",
  memory: "",
  disk: "",
  minutes: "",
  hosts: "",
  init_script: "",
  tokens: "",
  dollars: "",
  steps: "",
  turns: "",
});
export type OwnSettings = ReturnType<typeof first_own_settings>;

/** Only what was filled in: the server has the defaults. */
export function own_settings(draft: OwnSettings): Record<string, unknown> {
  const is_given = (value: unknown) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
  const given = (values: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => is_given(value)));
  const sandbox = given({
    packages: draft.packages,
    setup: draft.setup.trim(),
    setup_hosts: lines(draft.setup_hosts),
    image: draft.image.trim(),
    memory_bytes: read_limit(draft.memory, gibibyte),
    disk_bytes: read_limit(draft.disk, gibibyte),
    wall_clock_minutes: read_limit(draft.minutes),
    init_script: draft.init_script.trim(),
    allow_hosts: draft.hosts.split(/[\s,]+/).filter((host) => host !== ""),
  });
  const budget = given({
    tokens: read_limit(draft.tokens),
    cost_micro_usd: read_limit(draft.dollars, micro),
    steps: read_limit(draft.steps),
    turns: read_limit(draft.turns),
  });
  const repos = draft.repository.trim() === "" ? [] : [given({ url: draft.repository.trim(), ref: draft.ref.trim() })];
  return {
    ...(repos.length === 0 ? {} : { repos }),
    ...(Object.keys(sandbox).length === 0 ? {} : { sandbox }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
  };
}

interface OwnSettingProps {
  draft: OwnSettings;
  change: (part: Partial<OwnSettings>) => void;
}

export function OwnSettingFields({ draft, change }: OwnSettingProps) {
  const field = (name: Exclude<keyof OwnSettings, "packages">, label: string, hint?: string, rows?: number) => (
    <Field
      label={label}
      hint={hint}
      rows={rows}
      value={draft[name]}
      on_input={(text) => change({ [name]: text } as Partial<OwnSettings>)}
    />
  );
  return (
    <details class="studio-own">
      <summary>Repository, dependencies, sandbox and budget</summary>
      <div class="field-row">
        {field("repository", "Repository", "Address to clone: https://…")}
        {field("ref", "Branch, tag or commit", "Empty: the default branch")}
      </div>
      <DependencyFields draft={draft} change={change} />
      {field("image", "Image", "Empty: the programs of this machine, read-only")}
      <div class="field-row">
        {field("memory", "Memory, GiB")}
        {field("disk", "Workspace, GiB")}
        {field("minutes", "Time limit, minutes")}
      </div>
      {field("hosts", "Further hosts", "api.example.com, *.example.com; one per line", 2)}
      {field("init_script", "Init script", "Runs once as the worker; its result is kept for later sessions", 3)}
      <div class="field-row">
        {field("tokens", "Budget, tokens")}
        {field("dollars", "Budget, US dollars")}
        {field("steps", "Most tool calls")}
        {field("turns", "Most turns")}
      </div>
    </details>
  );
}
