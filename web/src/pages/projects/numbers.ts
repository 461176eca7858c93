// What matters of each project in a list: traffic, failures and cost of the time range, its newest trace, open issues.

import { api } from "../../api";
import type { Issue, Project, SpanSeries, TraceRow } from "../../api_types";
import { type Range, range_bounds, range_title } from "../../lib/format/range";
import { type Loaded, use_load } from "../../load";
import { can, space } from "../../login";
import { project_route } from "./data";

export interface ProjectNumbers {
  traces: number;
  errors: number;
  /** US dollars. */
  cost: number;
  issues: number | null;
  /** When the newest trace started, at any time; null: there is none. */
  last_trace: string | null;
}

/** A list of more projects shows numbers for the first ones. */
const most = 60;
const side_by_side = 6;

type Bounds = ReturnType<typeof range_bounds>;

async function numbers_of(
  project: Project,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Omit<ProjectNumbers, "issues">> {
  const query = { metrics: "traces,errors,cost", bucket: "0s", ...bounds };
  const [series, newest] = await Promise.all([
    api.get<SpanSeries>(project_route(project, "series"), query, signal),
    api.page<TraceRow>(project_route(project, "trace_rows"), { limit: 1 }, signal),
  ]);
  const [traces = 0, errors = 0, cost = 0] = series.buckets[0]?.values ?? [];
  const last_trace = newest.rows[0]?.start_time ?? null;
  return { traces: traces ?? 0, errors: errors ?? 0, cost: cost ?? 0, last_trace };
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
    const bounds = range_bounds(range, Date.now());
    const open = can("issue_read") ? await api.list<Issue>("/v1/issues", { space: space.value?.id }, signal) : null;
    const found: Record<string, ProjectNumbers> = {};
    for (let first = 0; first < shown.length; first += side_by_side)
      await Promise.all(
        shown.slice(first, first + side_by_side).map(async (project) => {
          const numbers = await numbers_of(project, bounds, signal).catch(() => null);
          const issues = open?.filter((issue) => issue.project_id === project.id).length ?? null;
          if (numbers) found[project.id] = { ...numbers, issues };
        }),
      );
    return found;
  });
}
