// The form of a preset: conversion from the settings and back. Values are texts: a list has one item per line, a size
// is "2 GiB", a variable is NAME=value.

import type { ProviderView, ReviewPolicy, Settings } from "../../api_types";
import { limit_text, micro, read_limit } from "../../lib/format/limit";
import { byte_size } from "../../lib/format/number";
import { parse_size } from "../../lib/format/size";

export interface RepoDraft {
  url: string;
  ref: string;
  path: string;
  depth: string;
}

export interface VerificationDraft {
  name: string;
  command: string;
  timeout_seconds: string;
}

export interface ReviewDraft {
  approvals: string;
  not_starter: boolean;
  role: string;
  protected_paths: string;
  protect_lock_files: boolean;
  verification: VerificationDraft[];
  require_verified: boolean;
  replay_command: string;
  replay_evaluator: string;
  require_replayed: boolean;
  open_pull_request: boolean;
  draft: boolean;
  open_pull_requests: string;
  labels: string;
  reviewers: string;
  commits: string;
  author: string;
  trailers: string;
  sign_off: boolean;
  follow_forge_comments: boolean;
  follow_comments_of: string;
}

export interface Draft {
  name: string;
  description: string;
  provider: Settings["provider"];
  harness: string;
  harness_version: string;
  model: string;
  command: string;
  system_prompt: string;
  skills: string[];
  repos: RepoDraft[];
  image: string;
  init_script: string;
  init_failure: string;
  init_seconds: string;
  setup: string;
  packages: PackageKind[];
  setup_hosts: string;
  env: string;
  secret_env: string;
  memory: string;
  disk: string;
  cpus: string;
  pids: string;
  minutes: string;
  idle_minutes: string;
  tool_seconds: string;
  network: string;
  hosts: string;
  tier: string;
  outputs: Record<OutputKind, string>;
  tokens: string;
  dollars: string;
  soft_percent: string;
  steps: string;
  turns: string;
  capture: Settings["capture"];
  agent: string;
  environment: string;
  review: ReviewDraft;
}

export const package_kinds = ["npm", "pypi", "debian", "crates", "go", "maven"] as const;
export type PackageKind = (typeof package_kinds)[number];

export const output_kinds = ["investigation", "labels", "file", "branch"] as const;
export type OutputKind = (typeof output_kinds)[number];

export const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const words = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

function review_draft(policy: ReviewPolicy | undefined): ReviewDraft {
  return {
    approvals: String(policy?.approvals ?? 1),
    not_starter: policy?.not_starter ?? false,
    role: policy?.role ?? "member",
    protected_paths: policy?.protected_paths.join("\n") ?? "",
    protect_lock_files: policy?.protect_lock_files ?? false,
    verification: (policy?.verification ?? []).map((one) => ({
      ...one,
      timeout_seconds: String(one.timeout_seconds),
    })),
    require_verified: policy?.require_verified ?? false,
    replay_command: policy?.replay.command ?? "",
    replay_evaluator: policy?.replay.evaluator ?? "",
    require_replayed: policy?.require_replayed ?? false,
    open_pull_request: policy?.open_pull_request ?? true,
    draft: policy?.draft ?? true,
    open_pull_requests: String(policy?.open_pull_requests ?? 10),
    labels: policy?.labels.join(", ") ?? "",
    reviewers: policy?.reviewers.join(", ") ?? "",
    commits: policy?.commits ?? "keep",
    author: policy?.author ?? "",
    trailers: policy?.trailers.join("\n") ?? "",
    sign_off: policy?.sign_off ?? false,
    follow_forge_comments: policy?.follow_forge_comments ?? false,
    follow_comments_of: policy?.follow_comments_of ?? "writers",
  };
}

function policy_of(draft: ReviewDraft, before: ReviewPolicy | undefined): unknown {
  const { replay_command, replay_evaluator, ...rest } = draft;
  return {
    ...before,
    ...rest,
    replay: { ...before?.replay, command: replay_command.trim(), evaluator: replay_evaluator.trim() },
    require_replayed: draft.require_replayed && replay_command.trim() !== "",
    approvals: whole(draft.approvals),
    protected_paths: lines(draft.protected_paths),
    verification: draft.verification
      .map((one) => ({
        name: one.name.trim(),
        command: one.command.trim(),
        timeout_seconds: whole(one.timeout_seconds),
      }))
      .filter((one) => one.name !== "" || one.command !== ""),
    require_verified: draft.require_verified && draft.verification.length > 0,
    open_pull_requests: whole(draft.open_pull_requests),
    labels: words(draft.labels),
    reviewers: words(draft.reviewers),
    author: draft.author.trim(),
    trailers: lines(draft.trailers),
  };
}

const env_text = (variables: Record<string, string> | undefined): string =>
  Object.entries(variables ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");

export function draft_of(preset: { name: string; description: string; settings: Settings } | null): Draft {
  const settings = preset?.settings;
  const sandbox = settings?.sandbox;
  const outputs = settings?.outputs;
  return {
    name: preset?.name ?? "",
    description: preset?.description ?? "",
    provider: settings?.provider ?? "local",
    harness: settings?.harness ?? "playbook",
    harness_version: settings?.harness_version ?? "",
    model: settings?.model ?? "",
    command: settings?.command.join("\n") ?? "",
    system_prompt: settings?.system_prompt ?? "",
    skills: settings?.skills ?? [],
    repos: (settings?.repos ?? []).map((repo) => ({ ...repo, depth: repo.depth ? String(repo.depth) : "" })),
    image: sandbox?.image ?? "host",
    init_script: sandbox?.init_script ?? "",
    init_failure: sandbox?.init_failure ?? "abort",
    init_seconds: String(sandbox?.init_seconds ?? 120),
    setup: sandbox?.setup ?? "",
    packages: sandbox?.packages ?? [],
    setup_hosts: sandbox?.setup_hosts.join("\n") ?? "",
    env: env_text(sandbox?.env),
    secret_env: env_text(sandbox?.secret_env),
    memory: byte_size(sandbox?.memory_bytes ?? 2 ** 31),
    disk: byte_size(sandbox?.disk_bytes ?? 2 ** 32),
    cpus: String(sandbox?.cpus ?? 2),
    pids: String(sandbox?.pids ?? 512),
    minutes: String(sandbox?.wall_clock_minutes ?? 60),
    idle_minutes: String(sandbox?.idle_minutes ?? 10),
    tool_seconds: String(sandbox?.tool_seconds ?? 30),
    network: sandbox?.network ?? "allowlist",
    hosts: sandbox?.allow_hosts.join("\n") ?? "",
    tier: sandbox?.minimum_tier ?? "ns",
    outputs: {
      investigation: outputs?.investigation ?? "auto",
      labels: outputs?.labels ?? "review",
      file: outputs?.file ?? "auto",
      branch: outputs?.branch ?? "review",
    },
    tokens: settings?.budget.tokens ? String(settings.budget.tokens) : "",
    dollars: limit_text(settings?.budget.cost_micro_usd, micro),
    soft_percent: String(settings?.budget.soft_percent ?? 80),
    steps: settings?.budget.steps ? String(settings.budget.steps) : "",
    turns: settings?.budget.turns ? String(settings.budget.turns) : "",
    capture: settings?.capture ?? "full",
    agent: settings?.managed.agent ?? "",
    environment: settings?.managed.environment ?? "",
    review: review_draft(settings?.review),
  };
}

/** Settings of the API by their names in the draft, as far as a provider can lack them. */
const lacked_keys: Record<string, keyof Draft> = {
  harness_version: "harness_version",
  command: "command",
  "sandbox.image": "image",
  "sandbox.init_script": "init_script",
  "sandbox.setup": "setup",
  "sandbox.setup_hosts": "setup_hosts",
  "sandbox.packages": "packages",
  "sandbox.env": "env",
  "sandbox.secret_env": "secret_env",
  "sandbox.memory_bytes": "memory",
  "sandbox.disk_bytes": "disk",
  "sandbox.cpus": "cpus",
  "sandbox.pids": "pids",
  "sandbox.minimum_tier": "tier",
  "managed.agent": "agent",
  "managed.environment": "environment",
};

/** The change of a draft for another provider: what it lacks gets its default. */
export function for_provider(draft: Draft, provider: ProviderView): Partial<Draft> {
  const first = draft_of(null);
  const keys = provider.lacks.map((lack) => lacked_keys[lack.name]).filter((key) => key !== undefined);
  const lacked: Partial<Draft> = Object.fromEntries(keys.map((key) => [key, first[key]]));
  const was_own = draft.harness === draft.provider; // an agent of the provider that it had
  const harness = provider.harness !== "" ? provider.harness : was_own ? first.harness : draft.harness;
  return { ...lacked, provider: provider.name, harness };
}

/** An error message before the form is sent; null when there is none. The server checks again. */
export function problem_of(draft: Draft): string | null {
  if (!parse_size(draft.memory)) return "Memory must be a size such as 2 GiB.";
  if (!parse_size(draft.disk)) return "Disk must be a size such as 4 GiB.";
  const numbers: [string, string][] = [
    ["CPUs", draft.cpus],
    ["Processes", draft.pids],
    ["Minutes", draft.minutes],
    ["Idle minutes", draft.idle_minutes],
    ["Seconds of a tool", draft.tool_seconds],
    ["The timeout of the init script", draft.init_seconds],
    ["The soft limit", draft.soft_percent],
    ["Approvals", draft.review.approvals],
    ["The number of open pull requests", draft.review.open_pull_requests],
    ...draft.review.verification.map((one): [string, string] => ["The timeout of a verification", one.timeout_seconds]),
  ];
  for (const [name, text] of numbers)
    if (text.trim() === "" || !(Number(text) > 0)) return `${name} must be a number greater than 0.`;
  for (const text of [draft.tokens, draft.dollars, draft.steps, draft.turns])
    if (text.trim() !== "" && !(Number(text) > 0)) return "A budget must be a number greater than 0, or empty.";
  const is_variable = (line: string) => /^[A-Za-z_][A-Za-z0-9_]*=/.test(line);
  const wrong = lines(draft.env).find((line) => !is_variable(line));
  if (wrong !== undefined) return `The environment needs one NAME=value per line. This line is different: ${wrong}`;
  // The line may be a secret: it is not repeated.
  return lines(draft.secret_env).every(is_variable) ? null : "A line of the secret variables is not NAME=value.";
}

function env_of(text: string): Record<string, string> {
  const found: [string, string][] = lines(text).map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)];
  });
  return Object.fromEntries(found);
}

/** A size that was not edited keeps its exact bytes: "1.9 GiB" is rounded for display. */
function size_of(text: string, before: number | undefined): number {
  return before !== undefined && text === byte_size(before) ? before : (parse_size(text) ?? 0);
}

const whole = (text: string): number => Math.round(Number(text));

/** Settings that the form does not show are unchanged. */
export function settings_of(draft: Draft, before: Settings | undefined): unknown {
  return {
    ...before,
    provider: draft.provider,
    harness: draft.harness,
    harness_version: draft.harness_version,
    model: draft.model.trim(),
    command: lines(draft.command),
    system_prompt: draft.system_prompt,
    skills: draft.skills,
    repos: draft.repos
      .map(({ url, ref, path, depth }) => ({
        url: url.trim(),
        ref: ref.trim(),
        path: path.trim(),
        depth: whole(depth),
      }))
      .filter((repo) => repo.url !== ""),
    sandbox: {
      ...before?.sandbox,
      image: draft.image.trim() || "host",
      init_script: draft.init_script,
      init_failure: draft.init_failure,
      init_seconds: whole(draft.init_seconds),
      setup: draft.setup.trim(),
      packages: draft.packages,
      setup_hosts: lines(draft.setup_hosts),
      env: env_of(draft.env),
      secret_env: env_of(draft.secret_env),
      memory_bytes: size_of(draft.memory, before?.sandbox.memory_bytes),
      disk_bytes: size_of(draft.disk, before?.sandbox.disk_bytes),
      cpus: Number(draft.cpus),
      pids: whole(draft.pids),
      wall_clock_minutes: whole(draft.minutes),
      idle_minutes: whole(draft.idle_minutes),
      tool_seconds: whole(draft.tool_seconds),
      network: draft.network,
      allow_hosts: lines(draft.hosts),
      minimum_tier: draft.tier,
    },
    outputs: { ...before?.outputs, ...draft.outputs },
    budget: {
      ...before?.budget,
      tokens: draft.tokens.trim() === "" ? null : whole(draft.tokens),
      cost_micro_usd: read_limit(draft.dollars, micro),
      soft_percent: whole(draft.soft_percent),
      steps: draft.steps.trim() === "" ? null : whole(draft.steps),
      turns: draft.turns.trim() === "" ? null : whole(draft.turns),
    },
    capture: draft.capture,
    managed: { agent: draft.agent.trim(), environment: draft.environment.trim() },
    review: policy_of(draft.review, before?.review),
  };
}
