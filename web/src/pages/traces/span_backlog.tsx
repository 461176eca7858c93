// A warning above lists of traces while accepted spans are not stored yet.

import { api } from "../../api";
import type { BacklogView } from "../../api_types";
import { use_load, use_refresh } from "../../load";
import { Note } from "../../parts/state";

const key = "span_backlog";
const refresh = 15_000;

/** Null until the first response. */
export function use_span_backlog(): BacklogView | null {
  const load = use_load(key, (signal) => api.get<BacklogView>("/v1/span_backlog", {}, signal));
  use_refresh(key, refresh);
  return load.data ?? null;
}

export function SpanBacklog() {
  const backlog = use_span_backlog();
  if (!backlog?.is_late) return null;
  return (
    <div role="alert">
      <Note kind="warning" icon="warning">
        <p class="strong">{backlog.problem}</p>
        <p>{backlog.advice}</p>
      </Note>
    </div>
  );
}
