// What traces and spans are about, for the rows that are shown: a title, an input and an output.

import { useEffect, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { SpanRow, SpanTextView, TraceTextView } from "../../api_types";
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

export type SpanTexts = ReadonlyMap<string, SpanTextView | null>;

/** Spans of several traces can have the same id. */
export const span_key = (row: Pick<SpanRow, "trace_id" | "span_id">) => `${row.trace_id}:${row.span_id}`;

/** By span_key; rows appear without their texts first. */
export function use_span_texts(project: { id: string } | undefined, rows: SpanRow[]): SpanTexts {
  const [known, set_known] = useState<SpanTexts>(new Map());
  const missing = rows.filter((row) => !known.has(span_key(row))).slice(0, most_ids);
  useEffect(() => {
    if (!project || missing.length === 0) return;
    const abort = new AbortController();
    const starts = missing.map((row) => row.start_time).sort();
    // Times have nanoseconds, dates here milliseconds: the end is a second later.
    const before = new Date(Date.parse(starts.at(-1) ?? "") + 1000).toISOString();
    const search = new URLSearchParams({ after: starts[0] ?? "", before });
    for (const id of new Set(missing.map((row) => row.span_id))) search.append("span_id", id);
    api
      .get<SpanTextView[]>(`${project_route(project, "span_texts")}?${search}`, {}, abort.signal)
      .then((found) => {
        const more = new Map(known);
        for (const row of missing) more.set(span_key(row), null);
        for (const one of found) more.set(span_key(one), one);
        set_known(more);
      })
      .catch(() => undefined); // The list works without texts.
    return () => abort.abort();
  }, [project?.id, missing.map(span_key).join()]);
  return known;
}
