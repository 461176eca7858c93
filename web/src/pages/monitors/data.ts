// Shared by the monitor pages: words, colours, API routes, loading.

import { api, segment } from "../../api";
import type { Monitor, MonitorState, Project } from "../../api_types";
import { metric_info, sql_metric } from "../../lib/sentences/metric";
import { type Loaded, reload, use_load } from "../../load";
import type { Tone } from "../../parts/state";
import type { MarkKind } from "../../parts/strip";

export const monitor_route = (id: string, rest = "") => `/v1/monitors/${segment(id)}${rest}`;

export const state_tones: Record<MonitorState, Tone> = { healthy: "done", no_data: "off", triggered: "failed" };
export const state_words: Record<MonitorState, string> = {
  healthy: "healthy",
  no_data: "no data",
  triggered: "triggered",
};

export const state_kinds: MarkKind[] = [
  { kind: "healthy", title: "healthy", tone: "done" },
  { kind: "triggered", title: "triggered", tone: "failed" },
  { kind: "no_data", title: "no data", tone: "off" },
];

export const use_monitors = (project: Project | undefined): Loaded<Monitor[]> =>
  use_load(project ? `monitors/${project.id}` : null, (signal) =>
    api.list<Monitor>("/v1/monitors", { space: project?.space_id, project: project?.id }, signal),
  );

export const monitors_changed = () => reload("monitor");

/** The value of the last evaluation: "7.2 %" or "no data". */
export function reading_text(monitor: Monitor): string {
  const reading = monitor.last_reading;
  if (!reading) return "–";
  const metric = monitor.settings.condition.type === "absence" ? "count" : (monitor.settings.metric ?? sql_metric);
  return reading.value === null ? "no data" : metric_info(metric).text(reading.value);
}

const event_words: Record<string, string> = {
  created: "created",
  changed: "changed",
  triggered: "triggered",
  recovered: "recovered",
  no_data: "no data",
  healthy: "healthy",
  muted: "muted",
  unmuted: "unmuted",
  failed: "evaluation failed",
};
export const event_word = (kind: string) => event_words[kind] ?? kind;

/** Null for changes by people, which are no states. */
export const event_tone = (kind: string): Tone | null =>
  (
    ({ triggered: "failed", recovered: "done", healthy: "done", no_data: "off", failed: "limit" }) as Record<
      string,
      Tone
    >
  )[kind] ?? null;
