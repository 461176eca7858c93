// What matters of each project in a list: traffic, failures and cost of the last day, open issues.

import { api } from "../../api";
import type { Issue, Project, SpanSeries } from "../../api_types";
import { type Loaded, use_load } from "../../load";
import { can, space } from "../../login";
import { project_route } from "./data";

export interface ProjectNumbers {
  traces: number;
  errors: number;
  /** US dollars. */
  cost: number;
  issues: number | null;
}

const day = 86_400_000;
/** A list of more projects shows numbers for the first ones. */
const most = 60;
const side_by_side = 6;

async function numbers_of(
  project: Project,
  after: string,
  signal: AbortSignal,
): Promise<Omit<ProjectNumbers, "issues">> {
  const query = { metrics: "traces,errors,cost", bucket: "0s", after };
  const series = await api.get<SpanSeries>(project_route(project, "series"), query, signal);
  const [traces = 0, errors = 0, cost = 0] = series.buckets[0]?.values ?? [];
  return { traces: traces ?? 0, errors: errors ?? 0, cost: cost ?? 0 };
}

/** By id of the project; a project whose numbers cannot be read is left out. */
export function use_project_numbers(projects: Project[] | undefined): Loaded<Record<string, ProjectNumbers>> {
  const shown = (projects ?? []).slice(0, most);
  const key = shown.length > 0 ? `project_numbers/${shown.map((project) => project.id).join(",")}` : null;
  return use_load(key, async (signal) => {
    const after = new Date(Date.now() - day).toISOString();
    const open = can("issue_read") ? await api.list<Issue>("/v1/issues", { space: space.value?.id }, signal) : null;
    const found: Record<string, ProjectNumbers> = {};
    for (let first = 0; first < shown.length; first += side_by_side)
      await Promise.all(
        shown.slice(first, first + side_by_side).map(async (project) => {
          const numbers = await numbers_of(project, after, signal).catch(() => null);
          const issues = open?.filter((issue) => issue.project_id === project.id).length ?? null;
          if (numbers) found[project.id] = { ...numbers, issues };
        }),
      );
    return found;
  });
}
