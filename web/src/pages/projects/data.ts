// Shared by the pages of one project: loading the project in the address, and its API routes.

import { api, segment } from "../../api";
import type { Project } from "../../api_types";
import type { Params } from "../../lib/route";
import { type Loaded, use_load } from "../../load";
import { space } from "../../login";

export function use_project(params: Params): Loaded<Project> {
  const name = params.project ?? "";
  return use_load(`project/${space.value?.id}/${name}`, (signal) =>
    api.get<Project>(`/v1/projects/${segment(name)}`, { space: space.value?.id }, signal),
  );
}

/** "/v1/projects/prj_…/trace_rows" */
export const project_route = (project: { id: string } | undefined, rest: string) =>
  `/v1/projects/${segment(project?.id ?? "")}/${rest}`;

export function use_projects(): Loaded<Project[]> {
  return use_load(`projects/${space.value?.id}`, (signal) =>
    api.list<Project>("/v1/projects", { space: space.value?.id }, signal),
  );
}

export function project_name(projects: Project[] | undefined, id: string): string {
  return projects?.find((project) => project.id === id)?.name ?? "";
}
