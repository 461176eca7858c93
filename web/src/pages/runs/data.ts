// Shared by pages about runs: API routes, words and colours of states, cost and time.

import { api, segment } from "../../api";
import type { Artifact, Preset, Project, ReviewState, Run, State as RunState } from "../../api_types";
import { duration } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { type Loaded, use_load } from "../../load";
import { can, space } from "../../login";
import type { Tone } from "../../parts/state";

export const run_route = (id: string) => `/v1/runs/${segment(id)}`;
export const content_route = (id: string) => `/v1/artifacts/${segment(id)}/content`;

export const run_tones: Record<RunState, Tone> = {
  queued: "off",
  preparing: "running",
  running: "running",
  waiting: "waiting",
  succeeded: "done",
  failed: "failed",
  cancelled: "off",
  timed_out: "limit",
  budget_stopped: "limit",
  lost: "failed",
};

export const run_words: Record<RunState, string> = {
  queued: "queued",
  preparing: "preparing",
  running: "running",
  waiting: "waiting",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
  timed_out: "timed out",
  budget_stopped: "budget used up",
  lost: "lost",
};

export const review_tones: Record<ReviewState, Tone> = {
  pending: "waiting",
  approved: "done",
  rejected: "failed",
  changes_requested: "limit",
};

export const review_words: Record<ReviewState, string> = {
  pending: "pending review",
  approved: "approved",
  rejected: "rejected",
  changes_requested: "changes requested",
};

/** The run has ended. */
export function is_over(state: RunState): boolean {
  return !["queued", "preparing", "running", "waiting"].includes(state);
}

export function run_tokens(run: Run): number {
  const { input, cache_read, cache_write, output, reasoning } = run.usage;
  return input + cache_read + cache_write + output + reasoning;
}

/** The duration of a run; of an active run until now. */
export function run_time(run: Run, now: number): string {
  if (run.started_at === null) return "–";
  const end = run.ended_at === null || !is_over(run.state) ? now : to_milliseconds(run.ended_at);
  return duration(Math.max(0, end - to_milliseconds(run.started_at)));
}

export function use_projects(): Loaded<Project[]> {
  return use_load(`projects/${space.value?.id}`, (signal) =>
    api.list<Project>("/v1/projects", { space: space.value?.id }, signal),
  );
}

export function use_presets(): Loaded<Preset[]> {
  return use_load(can("preset_read") ? `presets/${space.value?.id}` : null, (signal) =>
    api.list<Preset>("/v1/presets", { space: space.value?.id }, signal),
  );
}

export function project_name(projects: Project[] | undefined, id: string): string {
  return projects?.find((project) => project.id === id)?.name ?? "";
}

export function list_artifacts(filter: Record<string, string>, signal: AbortSignal): Promise<Artifact[]> {
  return api.list<Artifact>("/v1/artifacts", { space: space.value?.id, ...filter }, signal);
}

/** What the spans of model calls contain. */
export const capture_options = [
  { value: "full", title: "Everything: messages, tools and responses" },
  { value: "metadata", title: "Metadata only: model, tokens, cost, times" },
  { value: "none", title: "Nothing: no spans for model calls" },
];
