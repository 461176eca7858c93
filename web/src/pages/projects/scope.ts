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
