// The route table: one entry per page. Sidebar, palette, keys and titles come from it.

import type { ComponentType } from "preact";
import { carried_filter } from "./carried";
import type { CounterName } from "./counters";
import { lazy_page } from "./lazy";
import { fill_path, type Params, with_query } from "./lib/route";
import { can, can_install, space } from "./login";
import { Home } from "./pages/home/home";
import { Invite } from "./pages/login/invite";
import { Login } from "./pages/login/login";
import { Reset } from "./pages/login/reset";
import { Projects } from "./pages/projects/projects";
import type { IconName } from "./parts/icon";
import { path } from "./router";

export type NavGroup = "main" | "project" | "space" | "installation" | "you";

export interface Route {
  path: string;
  title: string;
  page: ComponentType<{ params: Params }>;
  /** Reachable without a login, and drawn without the frame. */
  guest?: boolean;
  nav?: { group: NavGroup; icon: IconName; keys?: string; counter?: CounterName };
  permission?: string;
  installation_permission?: string;
  /** The path of the page this one belongs to: marked in the sidebar, linked in the top bar. */
  under?: string;
  /** The default time range; shows the time range control in the top bar. */
  range?: string;
  /** A list with a filter in the address, which is carried to the other lists of the project. */
  filtered?: boolean;
}

// One file for the browser per bundle, loaded when its first page is opened.
const telemetry = (name: keyof typeof import("./bundles/telemetry")) =>
  lazy_page(() => import("./bundles/telemetry"), name);
const skills = (name: keyof typeof import("./bundles/skills")) => lazy_page(() => import("./bundles/skills"), name);
const runs = (name: keyof typeof import("./bundles/runs")) => lazy_page(() => import("./bundles/runs"), name);
const loop = (name: keyof typeof import("./bundles/loop")) => lazy_page(() => import("./bundles/loop"), name);
const reviews = (name: keyof typeof import("./bundles/reviews")) => lazy_page(() => import("./bundles/reviews"), name);
const evaluate = (name: keyof typeof import("./bundles/evaluate")) =>
  lazy_page(() => import("./bundles/evaluate"), name);
const settings = (name: keyof typeof import("./bundles/settings")) =>
  lazy_page(() => import("./bundles/settings"), name);

const connect = (name: keyof typeof import("./bundles/connect")) => lazy_page(() => import("./bundles/connect"), name);

const docs = (name: keyof typeof import("./bundles/docs")) => lazy_page(() => import("./bundles/docs"), name);

export const routes: Route[] = [
  { path: "/login", title: "Log in", page: Login, guest: true },
  { path: "/invite/:token", title: "Invitation", page: Invite, guest: true },
  { path: "/reset", title: "New password", page: Reset, guest: true },
  { path: "/reset/:token", title: "New password", page: Reset, guest: true },
  { path: "/s/:space", title: "Home", page: Home, nav: { group: "main", icon: "home", keys: "g h" } },
  {
    path: "/s/:space/connect",
    title: "Connect",
    page: connect("ConnectPage"),
    under: "/s/:space",
    permission: "run_start",
  },
  {
    path: "/s/:space/projects",
    title: "Projects",
    page: Projects,
    nav: { group: "main", icon: "project", keys: "g p" },
    permission: "project_read",
    range: "24h",
  },
  {
    path: "/s/:space/projects/:project",
    title: "Overview",
    page: telemetry("ProjectPage"),
    nav: { group: "project", icon: "overview", keys: "g o" },
    permission: "project_read",
    range: "24h",
  },
  {
    path: "/s/:space/projects/:project/signal",
    title: "Signal",
    page: loop("SignalPage"),
    nav: { group: "project", icon: "signal", keys: "g f", counter: "issues" },
    permission: "issue_read",
    range: "7d",
  },
  {
    path: "/s/:space/projects/:project/signal/:issue",
    title: "Issue",
    page: loop("IssuePage"),
    under: "/s/:space/projects/:project/signal",
    permission: "issue_read",
  },
  {
    path: "/s/:space/projects/:project/explore",
    title: "Explore",
    page: telemetry("Explore"),
    nav: { group: "project", icon: "explore", keys: "g ," },
    permission: "project_read",
    range: "24h",
    filtered: true,
  },
  {
    path: "/s/:space/projects/:project/dashboards",
    title: "Dashboards",
    page: telemetry("Dashboards"),
    nav: { group: "project", icon: "board", keys: "g ." },
    permission: "project_read",
    range: "24h",
  },
  {
    path: "/s/:space/projects/:project/traces",
    title: "Traces",
    page: telemetry("Traces"),
    nav: { group: "project", icon: "trace", keys: "g t" },
    permission: "project_read",
    range: "24h",
    filtered: true,
  },
  {
    path: "/s/:space/projects/:project/traces/:trace",
    title: "Trace",
    page: telemetry("TracePage"),
    under: "/s/:space/projects/:project/traces",
    permission: "project_read",
  },
  {
    path: "/s/:space/projects/:project/sessions",
    title: "Chat sessions",
    page: telemetry("ChatSessions"),
    nav: { group: "project", icon: "chat", keys: "g e" },
    permission: "project_read",
    range: "7d",
    filtered: true,
  },
  {
    path: "/s/:space/projects/:project/logs",
    title: "Logs",
    page: telemetry("Logs"),
    nav: { group: "project", icon: "log" },
    permission: "project_read",
    range: "24h",
  },
  {
    path: "/s/:space/projects/:project/monitors",
    title: "Monitors",
    page: loop("Monitors"),
    nav: { group: "project", icon: "gauge", keys: "g x" },
    permission: "monitor_read",
  },
  {
    path: "/s/:space/projects/:project/monitors/:monitor",
    title: "Monitor",
    page: loop("MonitorPage"),
    under: "/s/:space/projects/:project/monitors",
    permission: "monitor_read",
    range: "7d",
  },
  {
    path: "/s/:space/projects/:project/evaluators",
    title: "Evaluators",
    page: loop("EvaluatorsPage"),
    nav: { group: "project", icon: "scale", keys: "g z" },
    permission: "project_read",
  },
  {
    path: "/s/:space/projects/:project/sql",
    title: "SQL",
    page: telemetry("Sql"),
    nav: { group: "project", icon: "database", keys: "g q" },
    permission: "project_read",
    range: "24h",
  },
  {
    path: "/s/:space/inbox",
    title: "Inbox",
    page: runs("Inbox"),
    nav: { group: "main", icon: "mail", keys: "g b", counter: "reviews" },
    permission: "run_read",
  },
  {
    path: "/s/:space/inbox/:artifact",
    title: "Review",
    page: reviews("ReviewPage"),
    under: "/s/:space/inbox",
    permission: "run_read",
  },
  {
    path: "/s/:space/studio",
    title: "Studio",
    page: runs("Studio"),
    nav: { group: "main", icon: "spark", keys: "g d" },
    permission: "run_start",
  },
  {
    path: "/s/:space/swarm",
    title: "Swarm",
    page: runs("Swarm"),
    nav: { group: "main", icon: "swarm", keys: "g w" },
    permission: "run_read",
  },
  {
    path: "/s/:space/history",
    title: "Run history",
    page: runs("History"),
    under: "/s/:space/swarm",
    permission: "run_read",
    range: "30d",
  },
  {
    path: "/s/:space/automations",
    title: "Automations",
    page: loop("Automations"),
    nav: { group: "main", icon: "timer", keys: "g c" },
    permission: "automation_read",
  },
  {
    path: "/s/:space/automations/:automation",
    title: "Automation",
    page: loop("AutomationPage"),
    under: "/s/:space/automations",
    permission: "automation_read",
  },
  {
    path: "/s/:space/runs/:run",
    title: "Run",
    page: runs("RunPage"),
    under: "/s/:space/swarm",
    permission: "run_read",
  },
  {
    path: "/s/:space/presets",
    title: "Presets",
    page: runs("Presets"),
    nav: { group: "main", icon: "agent", keys: "g v" },
    permission: "preset_read",
  },
  {
    path: "/s/:space/presets/:preset",
    title: "Preset",
    page: runs("PresetPage"),
    under: "/s/:space/presets",
    permission: "preset_read",
  },
  {
    path: "/s/:space/harnesses",
    title: "Harnesses",
    page: runs("Harnesses"),
    under: "/s/:space/presets",
    permission: "preset_read",
  },
  {
    path: "/s/:space/skills",
    title: "Skills",
    page: skills("Skills"),
    nav: { group: "main", icon: "tool", keys: "g l" },
    permission: "skill_read",
  },
  {
    path: "/s/:space/skills/:skill",
    title: "Skill",
    page: skills("SkillPage"),
    under: "/s/:space/skills",
    permission: "skill_read",
  },
  {
    path: "/s/:space/datasets",
    title: "Datasets",
    page: evaluate("Datasets"),
    nav: { group: "main", icon: "dataset", keys: "g 1" },
    permission: "dataset_read",
  },
  {
    path: "/s/:space/datasets/:dataset",
    title: "Dataset",
    page: evaluate("DatasetPage"),
    under: "/s/:space/datasets",
    permission: "dataset_read",
  },
  {
    path: "/s/:space/datasets/:dataset/compare",
    title: "Comparison",
    page: evaluate("ComparePage"),
    under: "/s/:space/datasets",
    permission: "dataset_read",
  },
  {
    path: "/s/:space/experiments/:experiment",
    title: "Experiment",
    page: evaluate("ExperimentPage"),
    under: "/s/:space/datasets",
    permission: "dataset_read",
  },
  {
    path: "/s/:space/evaluators",
    title: "Evaluators",
    page: evaluate("Evaluators"),
    nav: { group: "main", icon: "scale", keys: "g 5" },
    permission: "project_read",
  },
  {
    path: "/s/:space/evaluators/:evaluator",
    title: "Evaluator",
    page: evaluate("EvaluatorPage"),
    under: "/s/:space/evaluators",
    permission: "project_read",
  },
  {
    path: "/s/:space/eval_tasks/:task",
    title: "Task",
    page: evaluate("EvalTaskPage"),
    under: "/s/:space/evaluators",
    permission: "project_read",
  },
  // The addresses that Phoenix' clients print.
  { path: "/datasets/:dataset/:view", title: "Dataset", page: evaluate("PrintedAddress") },
  {
    path: "/s/:space/prompts",
    title: "Prompts",
    page: evaluate("Prompts"),
    nav: { group: "main", icon: "prompt", keys: "g 2" },
    permission: "dataset_read",
  },
  {
    path: "/s/:space/playground",
    title: "Playground",
    page: evaluate("Playground"),
    nav: { group: "main", icon: "play", keys: "g 3" },
    permission: "run_start",
  },
  {
    path: "/s/:space/prompts/:prompt",
    title: "Prompt",
    page: evaluate("PromptPage"),
    under: "/s/:space/prompts",
    permission: "dataset_read",
  },
  {
    path: "/s/:space/queues",
    title: "Queues",
    page: evaluate("Queues"),
    nav: { group: "main", icon: "tag", keys: "g 4" },
    permission: "queue_answer",
  },
  {
    path: "/s/:space/queues/:queue",
    title: "Queue",
    page: evaluate("QueuePage"),
    under: "/s/:space/queues",
    permission: "queue_answer",
  },
  {
    path: "/s/:space/repos",
    title: "Repositories",
    page: reviews("Repos"),
    nav: { group: "main", icon: "branch", keys: "g g" },
    permission: "repo_read",
  },
  {
    path: "/s/:space/repos/:repo",
    title: "Repository",
    page: reviews("RepoPage"),
    under: "/s/:space/repos",
    permission: "repo_read",
  },
  {
    path: "/s/:space/pull_requests",
    title: "Pull requests",
    page: reviews("PullRequests"),
    nav: { group: "main", icon: "merge", keys: "g j" },
    permission: "run_read",
  },
  {
    path: "/s/:space/settings/general",
    title: "General",
    page: settings("General"),
    nav: { group: "space", icon: "settings", keys: "g s" },
  },
  {
    path: "/s/:space/settings/members",
    title: "Members",
    page: settings("Members"),
    nav: { group: "space", icon: "people", keys: "g m" },
    permission: "member_read",
  },
  {
    path: "/s/:space/settings/roles",
    title: "Roles",
    page: settings("Roles"),
    nav: { group: "space", icon: "shield", keys: "g r" },
  },
  {
    path: "/s/:space/settings/keys",
    title: "API keys",
    page: settings("Keys"),
    nav: { group: "space", icon: "key", keys: "g k" },
    permission: "key_create",
  },
  {
    path: "/s/:space/notices",
    title: "Notices",
    page: loop("NoticesPage"),
    permission: "project_read",
  },
  {
    path: "/s/:space/settings/destinations",
    title: "Destinations",
    page: loop("Destinations"),
    nav: { group: "space", icon: "bell", keys: "g n" },
    permission: "monitor_read",
  },
  {
    path: "/s/:space/usage",
    title: "Usage",
    page: loop("Usage"),
    nav: { group: "space", icon: "cost", keys: "g y" },
    permission: "space_read",
    range: "30d",
  },
  {
    path: "/s/:space/settings/policy",
    title: "Policy",
    page: settings("Policy"),
    nav: { group: "space", icon: "rules" },
    permission: "space_read",
  },
  {
    path: "/s/:space/settings/audit",
    title: "Audit log",
    page: settings("Audit"),
    nav: { group: "space", icon: "history", keys: "g a" },
    permission: "audit_read",
    range: "30d",
  },
  {
    path: "/installation/server",
    title: "Server",
    page: settings("Server"),
    nav: { group: "installation", icon: "server", keys: "g i" },
  },
  {
    path: "/installation/health",
    title: "Health",
    page: settings("Health"),
    nav: { group: "installation", icon: "check" },
    installation_permission: "user_manage",
  },
  {
    path: "/installation/storage",
    title: "Storage",
    page: settings("Storage"),
    nav: { group: "installation", icon: "disk" },
    installation_permission: "user_manage",
  },
  {
    path: "/installation/spaces",
    title: "Spaces",
    page: settings("Spaces"),
    nav: { group: "installation", icon: "spaces" },
    installation_permission: "space_create",
  },
  {
    path: "/installation/users",
    title: "Users",
    page: settings("Users"),
    nav: { group: "installation", icon: "people", keys: "g u" },
    installation_permission: "user_manage",
  },
  {
    path: "/installation/sign-on",
    title: "Single sign-on",
    page: settings("SignOn"),
    nav: { group: "installation", icon: "link" },
    installation_permission: "user_manage",
  },
  {
    path: "/installation/groups",
    title: "Groups",
    page: settings("Groups"),
    nav: { group: "installation", icon: "groups" },
    installation_permission: "user_manage",
  },
  {
    path: "/installation/logins",
    title: "Logins",
    page: settings("Logins"),
    nav: { group: "installation", icon: "screen" },
    installation_permission: "user_manage",
  },
  { path: "/docs", title: "Documentation", page: docs("Documentation") },
  { path: "/docs/:document", title: "Document", page: docs("DocumentPage"), under: "/docs" },
  { path: "/authorize", title: "Let an agent in", page: settings("Authorize") },
  {
    path: "/account",
    title: "Account",
    page: settings("Account"),
    nav: { group: "you", icon: "person" },
  },
];

export const settings_groups: { group: NavGroup; title: string }[] = [
  { group: "space", title: "Space" },
  { group: "installation", title: "Installation" },
  { group: "you", title: "You" },
];

/** The address of a page for sidebar, keys and palette, with the filter of the project's other lists; a second click on the
 * same list removes the filter. Null: a parameter is not known here. */
export function nav_address(route: Route, params: Params): string | null {
  const address = fill_path(route.path, params);
  if (!address || !route.filtered || address === path.value) return address;
  return with_query(address, { filter: carried_filter(params.project) });
}

/** In the sidebar: people who only label see their queues. Links to traces work for them, too. */
export function listed(route: Route): boolean {
  const for_annotators = ["/s/:space", "/s/:space/queues"].includes(route.path) || route.nav?.group === "you";
  return allowed(route) && (space.value?.role !== "annotator" || for_annotators);
}

/** Whether the user may see the page; the server checks every request again. */
export function allowed(route: Route): boolean {
  if (route.permission && !can(route.permission)) return false;
  return !route.installation_permission || can_install(route.installation_permission);
}
