// What follows from the state of a run.

import type { Run, State } from "../../api_types";

/** A session that waits after a turn that failed has the failure as its reason. */
export const has_failed_turn = (run: Pick<Run, "state" | "reason">) => run.state === "waiting" && run.reason !== "";

/** The run has ended. */
export function is_over(state: State): boolean {
  return !["queued", "preparing", "running", "waiting"].includes(state);
}
