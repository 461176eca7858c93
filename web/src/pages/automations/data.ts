// Automations and the ledger of their due moments as pages show them.

import { api, segment } from "../../api";
import type { Automation, Slot, SlotOutcome } from "../../api_types";
import { to_milliseconds } from "../../lib/format/time";
import type { Mark } from "../../lib/view/strip";
import { type Loaded, reload, use_load } from "../../load";
import type { Tone } from "../../parts/state";
import type { MarkKind } from "../../parts/strip";
import { space } from "../../session";

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
  paused: "it was paused",
  overlap: "the run before was still going on",
  waiting: "waits for the run before",
  cool_off: "too soon after the firing before",
  capacity: "too much was waiting already",
  budget: "the day's budget was used up",
  preset_missing: "its preset was deleted",
  coalesced: "missed while no server ran; counted into a later firing",
  missed: "missed while no server ran",
  owner_gone: "whoever made it may no longer start runs here",
  not_started: "the run was refused",
  nothing_new: "nothing new to look at",
  interrupted: "the server ended meanwhile",
};

/** Why a moment did not fire, in words; empty when there is nothing to say. */
export function reason_text(slot: Pick<Slot, "reason" | "note">): string {
  const words = reason_words[slot.reason] ?? slot.reason;
  if (slot.note === "") return words;
  return words === "" ? slot.note : `${words}: ${slot.note}`;
}

const bad_ends = ["failed", "timed_out", "lost", "budget_stopped"];

/** A moment that fired and whose run went wrong is red: nobody looks twice at a green mark. */
export const slot_marks = (slots: Slot[]): Mark[] =>
  slots.map((slot) => {
    const went_wrong = slot.outcome === "fired" && slot.run_state !== null && bad_ends.includes(slot.run_state);
    return {
      time: to_milliseconds(slot.due_at),
      kind: went_wrong ? "failed" : slot.outcome,
      why: went_wrong ? `its run ended: ${slot.run_state?.replace("_", " ")}` : reason_text(slot),
    };
  });

export const use_automations = (): Loaded<Automation[]> =>
  use_load(`automations/${space.value?.id}`, (signal) =>
    api.list<Automation>("/v1/automations", { space: space.value?.id }, signal),
  );

/** Everything that shows automations is read again. */
export const automations_changed = () => reload("automation");
