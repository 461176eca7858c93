// The number of rows that arrived since a list was loaded; the list itself does not change.

import { useEffect, useState } from "preact/hooks";

const interval = 10_000;

/** Polls while the page is visible; `since` identifies the loaded list, undefined means "not loaded". */
export function use_new_count(since: string | undefined, count_new: (signal: AbortSignal) => Promise<number>): number {
  const [count, set_count] = useState(0);
  useEffect(() => {
    set_count(0);
    if (since === undefined) return;
    const abort = new AbortController();
    const timer = setInterval(() => {
      if (document.visibilityState !== "visible") return;
      count_new(abort.signal).then(
        (count) => {
          if (!abort.signal.aborted) set_count(count);
        },
        () => undefined,
      );
    }, interval);
    return () => {
      clearInterval(timer);
      abort.abort();
    };
  }, [since]);
  return count;
}
