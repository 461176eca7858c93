// What Ctrl-K finds besides pages and actions: the objects of the space by name or id. Loaded when the palette opens.

import { api, segment } from "../../api";
import type {
  Automation,
  DatasetView,
  Evaluator,
  Issue,
  Monitor,
  Preset,
  Project,
  PromptView,
  Queue,
  Repo,
  Run,
  Skill,
} from "../../api_types";
import { can, space } from "../../login";
import {
  automation_page,
  dataset_page,
  evaluator_page,
  issue_page,
  monitor_page,
  preset_page,
  prompt_page,
  queue_page,
  repo_page,
  run_page,
  skill_page,
  trace_page,
  traces_page,
} from "../../pages/addresses";
import { document_page, documents } from "../../pages/docs/list";
import { navigate } from "../../router";
import type { IconName } from "../icon";
import { toast_failed } from "../toast";
import type { Command } from "./palette";

interface Kind<Row> {
  route: string;
  permission: string;
  group: string;
  icon: IconName;
  title: (row: Row) => string;
  address: (row: Row, project: (id: string) => string) => string;
}

/** Newest or most important first; more rows than these are found on their own page. */
const most = 300;

function kind<Row extends { id: string }>(of: Kind<Row>) {
  return async (projects: Project[], signal: AbortSignal): Promise<Command[]> => {
    if (!can(of.permission)) return [];
    const page = await api.page<Row>(`/v1/${of.route}`, { space: space.value?.id, limit: most }, signal);
    const project = (id: string) => projects.find((one) => one.id === id)?.name ?? "";
    return page.rows.map((row) => ({
      title: of.title(row),
      group: of.group,
      icon: of.icon,
      also: row.id,
      object: true,
      run: () => navigate(of.address(row, project)),
    }));
  };
}

const kinds = [
  kind<Issue>({
    route: "issues",
    permission: "issue_read",
    group: "Issue",
    icon: "signal",
    title: (issue) => issue.title,
    address: (issue, project) => issue_page(project(issue.project_id), issue.id),
  }),
  kind<Run>({
    route: "runs",
    permission: "run_read",
    group: "Run",
    icon: "spark",
    title: (run) => run.title,
    address: (run) => run_page(run.id),
  }),
  kind<Preset>({
    route: "presets",
    permission: "preset_read",
    group: "Preset",
    icon: "agent",
    title: (preset) => preset.name,
    address: (preset) => preset_page(preset.id),
  }),
  kind<Automation>({
    route: "automations",
    permission: "automation_read",
    group: "Automation",
    icon: "history",
    title: (automation) => automation.name,
    address: (automation) => automation_page(automation.id),
  }),
  kind<Monitor>({
    route: "monitors",
    permission: "monitor_read",
    group: "Monitor",
    icon: "gauge",
    title: (monitor) => monitor.name,
    address: (monitor, project) => monitor_page(project(monitor.project_id), monitor.id),
  }),
  kind<Skill>({
    route: "skills",
    permission: "skill_read",
    group: "Skill",
    icon: "tool",
    title: (skill) => skill.name,
    address: (skill) => skill_page(skill.id),
  }),
  kind<Repo>({
    route: "repos",
    permission: "repo_read",
    group: "Repository",
    icon: "branch",
    title: (repo) => repo.name,
    address: (repo) => repo_page(repo.id),
  }),
  kind<DatasetView>({
    route: "datasets",
    permission: "dataset_read",
    group: "Dataset",
    icon: "database",
    title: (dataset) => dataset.name,
    address: (dataset) => dataset_page(dataset.id),
  }),
  kind<PromptView>({
    route: "prompts",
    permission: "dataset_read",
    group: "Prompt",
    icon: "chat",
    title: (prompt) => prompt.name,
    address: (prompt) => prompt_page(prompt.id),
  }),
  kind<Evaluator>({
    route: "evaluators",
    permission: "project_read",
    group: "Evaluator",
    icon: "check",
    title: (evaluator) => evaluator.name,
    address: (evaluator) => evaluator_page(evaluator.id),
  }),
  kind<Queue>({
    route: "annotation_queues",
    permission: "queue_answer",
    group: "Queue",
    icon: "tag",
    title: (queue) => queue.name,
    address: (queue) => queue_page(queue.id),
  }),
];

const document_commands: Command[] = documents.map(({ name, title }) => ({
  title,
  group: "Documentation",
  icon: "info",
  also: name,
  object: true,
  run: () => navigate(document_page(name)),
}));

/** The objects of the space and the documents; a list that cannot be read is left out. */
export async function load_objects(projects: Project[], signal: AbortSignal): Promise<Command[]> {
  const lists = await Promise.allSettled(kinds.map((load) => load(projects, signal)));
  return [...lists.flatMap((list) => (list.status === "fulfilled" ? list.value : [])), ...document_commands];
}

/** The project of a trace: the open one first. */
async function open_trace(trace: string, projects: Project[], open: string | undefined): Promise<void> {
  const sorted = [...projects].sort((a, b) => Number(b.name === open) - Number(a.name === open));
  for (const project of sorted) {
    const route = `/v1/projects/${segment(project.id)}/trace_rows`;
    const found = await api.page(route, { filter: `trace_id = "${trace}"`, limit: 1 }).catch(() => null);
    if (found && found.rows.length > 0) return navigate(trace_page(project.name, trace));
  }
  throw new Error(`No project of this space has the trace ${trace}.`);
}

/** Commands that come out of the typed text itself: an id, or words to search the traces for. */
export function typed_commands(text: string, projects: Project[], open: string | undefined): Command[] {
  const typed = text.trim();
  const id = typed.toLowerCase();
  if (/^[0-9a-f]{32}$/.test(id))
    return [
      {
        title: `Open trace ${id}`,
        group: "Trace",
        icon: "trace",
        run: () =>
          void open_trace(id, projects, open).catch((error) => toast_failed("Could not open the trace", error)),
      },
    ];
  if (/^run_[0-9a-z]{26}$/.test(id))
    return [{ title: `Open ${typed}`, group: "Run", icon: "spark", run: () => navigate(run_page(typed)) }];
  if (!open || typed.length < 3) return [];
  const words = `"${typed.replaceAll(/["\\]/g, " ")}"`;
  return [
    {
      title: `Search the traces of ${open} for ${typed}`,
      group: "Traces",
      icon: "search",
      run: () => navigate(traces_page(open, words)),
    },
  ];
}
