// Shared by the automation pages: words, colours, API routes, loading.

import { api, segment } from "../../api";
import type { Automation, Slot, SlotOutcome } from "../../api_types";
import { to_milliseconds } from "../../lib/format/time";
import type { Mark } from "../../lib/view/strip";
import { type Loaded, reload, use_load } from "../../load";
import { space } from "../../login";
import type { Tone } from "../../parts/state";
import type { MarkKind } from "../../parts/strip";

export const automation_route = (id: string, rest = "") => `/v1/automations/${segment(id)}${rest}`;

export const outcome_tones: Record<SlotOutcome, Tone> = {
  due: "waiting",
  fired: "done",
  skipped: "off",
  failed: "failed",
};

export const outcome_kinds: MarkKind[] = [
  { kind: "fired", title: "fired", tone: "done" },
  { kind: "failed", title: "failed", tone: "failed" },
  { kind: "due", title: "due", tone: "waiting" },
  { kind: "skipped", title: "skipped", tone: "off" },
];

const reason_words: Record<string, string> = {
  none: "",
  paused: "paused",
  overlap: "the previous run was still active",
  waiting: "waiting for the previous run",
  cool_off: "too soon after the previous firing",
  capacity: "too many runs in the queue",
  budget: "the daily budget was used up",
  preset_missing: "the preset was deleted",
  coalesced: "missed while the server was down; combined with a later firing",
  missed: "missed while the server was down",
  owner_gone: "its owner no longer has the permission run_start",
  not_started: "the run could not be started",
  nothing_new: "no new traces",
  interrupted: "the server was stopped",
};

/** Why an automation did not fire; empty when there is no reason to show. */
export function reason_text(slot: Pick<Slot, "reason" | "note">): string {
  const words = reason_words[slot.reason] ?? slot.reason;
  if (slot.note === "") return words;
  return words === "" ? slot.note : `${words}: ${slot.note}`;
}

const bad_ends = ["failed", "timed_out", "lost", "budget_stopped"];

/** A firing whose run failed is red. */
export const slot_marks = (slots: Slot[]): Mark[] =>
  slots.map((slot) => {
    const went_wrong = slot.outcome === "fired" && slot.run_state !== null && bad_ends.includes(slot.run_state);
    return {
      time: to_milliseconds(slot.due_at),
      kind: went_wrong ? "failed" : slot.outcome,
      why: went_wrong ? `run ${slot.run_state?.replace("_", " ")}` : reason_text(slot),
    };
  });

export const use_automations = (): Loaded<Automation[]> =>
  use_load(`automations/${space.value?.id}`, (signal) =>
    api.list<Automation>("/v1/automations", { space: space.value?.id }, signal),
  );

/** Reloads everything that shows automations. */
export const automations_changed = () => reload("automation");
