// The time that a run worked: while it was prepared and running, without the time it waited for a place or a follow-up.

import type { RunEvent } from "../../api_types";
import { to_milliseconds } from "../format/time";

/** Milliseconds until `now`; null without a change of state. */
export function working_time(events: Pick<RunEvent, "time" | "state">[], now: number): number | null {
  let total = 0;
  let since: number | null = null;
  let changed = false;
  for (const { time, state } of events) {
    if (state === null) continue;
    changed = true;
    const at = to_milliseconds(time);
    const works = state === "preparing" || state === "running";
    if (since !== null && !works) total += Math.max(0, at - since);
    since = works ? (since ?? at) : null;
  }
  if (!changed) return null;
  return total + (since === null ? 0 : Math.max(0, now - since));
}
