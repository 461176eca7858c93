// What matters of each project in a list: traffic, failures, latency and cost of the time range and of the one before,
// its newest trace, open issues, triggered monitors.

import { api } from "../../api";
import type { Issue, Monitor, Project, SpanSeries, TraceRow } from "../../api_types";
import { type Range, range_bounds, range_title } from "../../lib/format/range";
import { type Loaded, use_load } from "../../load";
import { can, space } from "../../login";
import { project_route } from "./data";

interface Totals {
  traces: number;
  errors: number;
  /** US dollars. */
  cost: number;
  /** Nanoseconds; null: there were no spans. */
  p95: number | null;
}

export interface ProjectNumbers extends Totals {
  /** The period of the same length before; null for a range without a beginning. */
  before: Totals | null;
  issues: number | null;
  /** Of the open issues, those that were first seen in the range. */
  new_issues: number;
  /** Null without the permission to read monitors. */
  triggered: number | null;
  /** When the newest trace started, at any time; null: there is none. */
  last_trace: string | null;
}

/** A list of more projects shows numbers for the first ones. */
const most = 60;
const side_by_side = 6;

type Bounds = ReturnType<typeof range_bounds>;

async function totals_of(project: Project, bounds: Bounds, signal: AbortSignal): Promise<Totals> {
  const query = { metrics: "traces,errors,cost,latency_p95", bucket: "0s", ...bounds };
  const series = await api.get<SpanSeries>(project_route(project, "series"), query, signal);
  const [traces, errors, cost, p95] = series.buckets[0]?.values ?? [];
  return { traces: traces ?? 0, errors: errors ?? 0, cost: cost ?? 0, p95: p95 ?? null };
}

/** The window of the same length before; null for a range without a beginning. */
function earlier(range: Range, now: number): Bounds | null {
  const bounds = range_bounds(range, now);
  if (!bounds.after) return null;
  const after = Date.parse(bounds.after);
  const length = (bounds.before ? Date.parse(bounds.before) : now) - after;
  return { after: new Date(after - length).toISOString(), before: bounds.after };
}

async function numbers_of(project: Project, range: Range, now: number, signal: AbortSignal) {
  const before = earlier(range, now);
  const [totals, totals_before, newest] = await Promise.all([
    totals_of(project, range_bounds(range, now), signal),
    before && totals_of(project, before, signal),
    api.page<TraceRow>(project_route(project, "trace_rows"), { limit: 1 }, signal),
  ]);
  return { ...totals, before: totals_before, last_trace: newest.rows[0]?.start_time ?? null };
}

/** By id of the project; a project whose numbers cannot be read is left out. */
export function use_project_numbers(
  projects: Project[] | undefined,
  range: Range,
): Loaded<Record<string, ProjectNumbers>> {
  const shown = (projects ?? []).slice(0, most);
  const ids = shown.map((project) => project.id).join(",");
  const key = shown.length > 0 ? `project_numbers/${range_title(range)}/${ids}` : null;
  return use_load(key, async (signal) => {
    const now = Date.now();
    const since = range_bounds(range, now).after ?? "";
    const here = { space: space.value?.id };
    const [open, triggered] = await Promise.all([
      can("issue_read") ? api.list<Issue>("/v1/issues", here, signal) : null,
      can("monitor_read") ? api.list<Monitor>("/v1/monitors", { ...here, state: "triggered" }, signal) : null,
    ]);
    const found: Record<string, ProjectNumbers> = {};
    for (let first = 0; first < shown.length; first += side_by_side)
      await Promise.all(
        shown.slice(first, first + side_by_side).map(async (project) => {
          const numbers = await numbers_of(project, range, now, signal).catch(() => null);
          if (!numbers) return;
          const issues = open?.filter((issue) => issue.project_id === project.id) ?? null;
          found[project.id] = {
            ...numbers,
            issues: issues?.length ?? null,
            new_issues: issues?.filter((issue) => issue.first_seen >= since).length ?? 0,
            triggered:
              triggered?.filter((monitor) => monitor.project_id === project.id && monitor.enabled).length ?? null,
          };
        }),
      );
    return found;
  });
}
