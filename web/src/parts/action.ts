// Actions behind buttons: one at a time, and a toast with the error of a failed one.

import { useState } from "preact/hooks";
import { toast_failed } from "./toast";

/** `attempt("Could not scan", scan)` is the function for a button; `busy` is true while an action runs. */
export function use_action() {
  const [busy, set_busy] = useState(false);
  const attempt = (failed: string, action: () => Promise<void>) => (): void => {
    if (busy) return;
    set_busy(true);
    void action()
      .catch((error) => toast_failed(failed, error))
      .finally(() => set_busy(false));
  };
  return { busy, attempt };
}
