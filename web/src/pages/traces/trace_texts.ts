// What traces are about, for the rows that are shown: a title, an input and an output.

import { useEffect, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { TraceTextView } from "../../api_types";
import { project_route } from "../projects/data";

const most_ids = 100;

/** By trace id; rows appear without their texts first. */
export function use_trace_texts(
  project: { id: string } | undefined,
  ids: string[],
): ReadonlyMap<string, TraceTextView | null> {
  const [known, set_known] = useState<ReadonlyMap<string, TraceTextView | null>>(new Map());
  const missing = ids.filter((id) => !known.has(id)).slice(0, most_ids);
  useEffect(() => {
    if (!project || missing.length === 0) return;
    const abort = new AbortController();
    const names = missing.map((id) => `trace_id=${segment(id)}`).join("&");
    api
      .get<TraceTextView[]>(`${project_route(project, "trace_texts")}?${names}`, {}, abort.signal)
      .then((found) => {
        const more = new Map(known);
        for (const id of missing) more.set(id, null);
        for (const one of found) more.set(one.trace_id, one);
        set_known(more);
      })
      .catch(() => undefined); // The list works without texts.
    return () => abort.abort();
  }, [project?.id, missing.join()]);
  return known;
}
