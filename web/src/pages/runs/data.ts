// Shared by pages about runs: API routes, words and colours of states, cost and time.

import { api, segment } from "../../api";
import type { Artifact, Run, State as RunState } from "../../api_types";
import { duration } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { space } from "../../login";
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

/** A session that waits after a turn that failed has the failure as its reason. */
export const has_failed_turn = (run: Pick<Run, "state" | "reason">) => run.state === "waiting" && run.reason !== "";
export const run_tone = (run: Pick<Run, "state" | "reason">): Tone =>
  has_failed_turn(run) ? "failed" : run_tones[run.state];
export const run_word = (run: Pick<Run, "state" | "reason">): string =>
  has_failed_turn(run) ? "failed, waiting" : run_words[run.state];

/** The run has ended. */
export function is_over(state: RunState): boolean {
  return !["queued", "preparing", "running", "waiting"].includes(state);
}

export function run_tokens(run: Run): number {
  const { input, cache_read, cache_write, output, reasoning } = run.usage;
  return input + cache_read + cache_write + output + reasoning;
}

/** The duration of a run; of an active run until now. A session that waits for its next follow-up does not work. */
export function run_time(run: Run, now: number): string {
  if (run.started_at === null || run.state === "waiting") return "–";
  const end = run.ended_at === null || !is_over(run.state) ? now : to_milliseconds(run.ended_at);
  return duration(Math.max(0, end - to_milliseconds(run.started_at)));
}

export function list_artifacts(filter: Record<string, string>, signal: AbortSignal): Promise<Artifact[]> {
  return api.list<Artifact>("/v1/artifacts", { space: space.value?.id, ...filter }, signal);
}
