// Addresses of pages. A route (`…_route`) is an address of the API and is in the `data.ts` of its family.

import { segment } from "../api";
import { space } from "../login";

export const space_home = () => `/s/${segment(space.value?.name ?? "")}`;
const in_project = (project: string) => `${space_home()}/projects/${segment(project)}`;

export const projects_page = () => `${space_home()}/projects`;
export const project_page = (name: string, tab?: string) => in_project(name) + (tab ? `?tab=${tab}` : "");
export const trace_page = (project: string, trace: string) => `${in_project(project)}/traces/${segment(trace)}`;
export const span_page = (project: string, trace: string, span: string) =>
  `${trace_page(project, trace)}?span=${segment(span)}`;
export const traces_page = (project: string, filter = "", range = "") => {
  const search = new URLSearchParams();
  if (filter !== "") search.set("filter", filter);
  if (range !== "") search.set("range", range);
  const text = search.toString();
  return `${in_project(project)}/traces${text === "" ? "" : `?${text}`}`;
};
/** The traces of one chat session, at any time. */
export const chat_session_page = (project: string, session: string) =>
  `${in_project(project)}/traces?${new URLSearchParams({ session, range: "all" })}`;
export const explore_page = (project: string) => `${in_project(project)}/explore`;
export const dashboards_page = (project: string, board = "") =>
  `${in_project(project)}/dashboards${board === "" ? "" : `?${new URLSearchParams({ board })}`}`;
export const sql_page = (project: string, sql = "") =>
  `${in_project(project)}/sql${sql === "" ? "" : `?${new URLSearchParams({ sql })}`}`;
export const signal_page = (project: string) => `${in_project(project)}/signal`;
export const issue_page = (project: string, id: string) => `${in_project(project)}/signal/${segment(id)}`;
export const monitors_page = (project: string) => `${in_project(project)}/monitors`;
export const monitor_page = (project: string, id: string) => `${in_project(project)}/monitors/${segment(id)}`;
export const evaluators_page = (project: string) => `${in_project(project)}/evaluators`;

export const studio_page = () => `${space_home()}/studio`;
export const swarm_page = () => `${space_home()}/swarm`;
export const history_page = () => `${space_home()}/history`;
export const run_page = (id: string) => `${space_home()}/runs/${segment(id)}`;
/** Runs write their own traces into this project. */
export const run_trace_page = (trace: string) => trace_page("hone-runs", trace);
export const inbox_page = () => `${space_home()}/inbox`;
export const review_page = (artifact: string) => `${space_home()}/inbox/${segment(artifact)}`;
export const repos_page = () => `${space_home()}/repos`;
export const repo_page = (id: string) => `${space_home()}/repos/${segment(id)}`;
export const automations_page = () => `${space_home()}/automations`;
export const automation_page = (id: string) => `${space_home()}/automations/${segment(id)}`;
export const presets_page = () => `${space_home()}/presets`;
export const preset_page = (id: string) => `${space_home()}/presets/${segment(id)}`;
export const harnesses_page = () => `${space_home()}/harnesses`;
export const datasets_page = () => `${space_home()}/datasets`;
export const dataset_page = (id: string, tab = "") =>
  `${space_home()}/datasets/${segment(id)}${tab === "" ? "" : `?tab=${tab}`}`;
export const experiment_page = (id: string) => `${space_home()}/experiments/${segment(id)}`;
/** The first is the base. */
export const compare_page = (dataset: string, experiments: string[]) =>
  `${space_home()}/datasets/${segment(dataset)}/compare?${new URLSearchParams({
    base: experiments[0] ?? "",
    other: experiments.slice(1).join(","),
  })}`;
export const queues_page = () => `${space_home()}/queues`;
export const queue_page = (id: string) => `${space_home()}/queues/${segment(id)}`;
export const prompts_page = () => `${space_home()}/prompts`;
export const prompt_page = (id: string) => `${space_home()}/prompts/${segment(id)}`;
export const evaluators_of_space = () => `${space_home()}/evaluators`;
export const evaluator_page = (id: string) => `${space_home()}/evaluators/${segment(id)}`;
export const eval_task_page = (id: string) => `${space_home()}/eval_tasks/${segment(id)}`;
export const playground_page = (from: Record<string, string> = {}) => {
  const text = new URLSearchParams(from).toString();
  return `${space_home()}/playground${text === "" ? "" : `?${text}`}`;
};
export const skills_page = () => `${space_home()}/skills`;
export const skill_page = (id: string) => `${space_home()}/skills/${segment(id)}`;
export const destinations_page = () => `${space_home()}/settings/destinations`;
export const usage_page = () => `${space_home()}/usage`;
export const roles_page = () => `${space_home()}/settings/roles`;
