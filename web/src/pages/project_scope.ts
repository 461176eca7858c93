// What the pages of one project share: the project behind the name in the address, its routes, and addresses.

import { api, segment } from "../api";
import type { Project } from "../api_types";
import { fill_path, type Params } from "../lib/route";
import { type Loaded, use_load } from "../load";
import { space } from "../session";

export function use_project(params: Params): Loaded<Project> {
  const name = params.project ?? "";
  return use_load(`project/${space.value?.id}/${name}`, (signal) =>
    api.get<Project>(`/v1/projects/${segment(name)}`, { space: space.value?.id }, signal),
  );
}

/** "/v1/projects/prj_…/trace_rows" */
export const project_route = (project: { id: string } | undefined, rest: string) =>
  `/v1/projects/${segment(project?.id ?? "")}/${rest}`;

function project_page(project: string, pattern: string, more: Params = {}): string {
  const params = { space: space.value?.name ?? "", project, ...more };
  return fill_path(`/s/:space/projects/:project${pattern}`, params) ?? "/";
}

export const trace_address = (project: string, trace: string) => project_page(project, "/traces/:trace", { trace });
export const traces_address = (project: string, filter = "", range = "") => {
  const search = new URLSearchParams();
  if (filter !== "") search.set("filter", filter);
  if (range !== "") search.set("range", range);
  const text = search.toString();
  return project_page(project, "/traces") + (text === "" ? "" : `?${text}`);
};
/** The traces of one chat session, whenever they were. */
export const session_address = (project: string, session: string) =>
  `${project_page(project, "/traces")}?${new URLSearchParams({ session, range: "all" })}`;
