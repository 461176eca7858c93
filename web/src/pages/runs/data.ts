// Shared by pages about runs: API routes, words and colours of states, cost and time.

import { api, segment } from "../../api";
import type { Artifact, Manifest, Run, State as RunState } from "../../api_types";
import { duration } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { type Loaded, use_load } from "../../load";
import { space } from "../../login";
import type { Tone } from "../../parts/state";
import { has_failed_turn } from "./states";

export { has_failed_turn, is_over } from "./states";

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

export const run_tone = (run: Pick<Run, "state" | "reason">): Tone =>
  has_failed_turn(run) ? "failed" : run_tones[run.state];
export const run_word = (run: Pick<Run, "state" | "reason">): string =>
  has_failed_turn(run) ? "failed, waiting" : run_words[run.state];

export function run_tokens(run: Run): number {
  const { input, cache_read, cache_write, output, reasoning } = run.usage;
  return input + cache_read + cache_write + output + reasoning;
}

/** How long a run has worked, without the time it waited for a place or a follow-up; of an active run until now. */
export function run_time(run: Pick<Run, "worked_ns" | "working_since" | "started_at">, now: number): string {
  // Also of a server of an older version, which does not count it.
  if (run.started_at === null || typeof run.worked_ns !== "number") return "–";
  const live = run.working_since ? Math.max(0, now - to_milliseconds(run.working_since)) : 0;
  return duration(run.worked_ns / 1e6 + live);
}

export function list_artifacts(filter: Record<string, string>, signal: AbortSignal): Promise<Artifact[]> {
  return api.list<Artifact>("/v1/artifacts", { space: space.value?.id, ...filter }, signal);
}

export function use_manifest(run: string): Loaded<Manifest> {
  return use_load(`run_manifest/${run}`, (signal) => api.get<Manifest>(`${run_route(run)}/manifest`, {}, signal));
}
