// Shared by the Signal pages: words, colours, API routes, loading.

import { api, segment } from "../../api";
import type { Issue, Status as IssueStatus, Project, Severity, SignalView, VolumePoint } from "../../api_types";
import { change_text } from "../../lib/format/change";
import { type Loaded, reload, use_load } from "../../load";
import type { Tone } from "../../parts/state";
import { project_route } from "../projects/data";

/** Worst first. */
export const severities: Severity[] = ["critical", "high", "medium", "low"];

export const severity_colours: Record<Severity, string> = {
  critical: "--severity-critical",
  high: "--severity-high",
  medium: "--severity-medium",
  low: "--severity-low",
};

export const status_words: Record<IssueStatus, string> = {
  open: "open",
  investigating: "investigating",
  fix_proposed: "fix proposed",
  resolved: "resolved",
  muted: "muted",
  dismissed: "dismissed",
};

export const status_tones: Record<IssueStatus, Tone> = {
  open: "failed",
  investigating: "running",
  fix_proposed: "waiting",
  resolved: "done",
  muted: "off",
  dismissed: "off",
};

const detector_words: Record<string, string> = {
  error_cluster: "Errors",
  latency_regression: "Higher latency",
  token_spike: "More tokens",
  cost_spike: "Higher cost",
  tool_failure: "Tool failures",
  tool_loop: "Tool loops",
  truncated_output: "Truncated outputs",
  refused_output: "Refused requests",
  unparsable_output: "Invalid output",
  empty_retrieval: "Empty retrieval",
  eval_drop: "Lower eval scores",
  version_regression: "Version regression",
  session_failure: "Failed chat sessions",
  provider_limit: "Provider limits",
  reported_error: "Errors in texts",
  unused_tools: "Tools not used",
  invalid_tool_call: "Invalid tool calls",
  agent_loop: "Repeated steps",
  ignored_instruction: "Instructions not followed",
  missing_result: "No result",
  growing_context: "Growing context",
  reading: "Found by reading",
  reported: "Reported",
};
export const detector_word = (name: string) => detector_words[name] ?? name;

/** Open issues: not resolved, muted or dismissed. */
export const is_live = (issue: { status: IssueStatus }) =>
  ["open", "investigating", "fix_proposed"].includes(issue.status);

export const share_text = (share: number) => {
  const percent = share * 100;
  return `${percent > 0 && percent < 1 ? "<1" : Math.round(percent)} %`;
};

/** "×3.2", "new". */
export const growth_text = (growth: number) => {
  if (!Number.isFinite(growth) || growth > 1000) return "new";
  const text = change_text(1, growth);
  return text === "same" ? "unchanged" : text;
};

export const signal_key = (project: Project) => `signal/${project.id}`;
export const issues_key = (project: Project) => `issues/${project.id}`;

export function use_signal(project: Project | undefined): Loaded<SignalView> {
  return use_load(project ? signal_key(project) : null, (signal) =>
    api.get<SignalView>(project_route(project, "signal"), {}, signal),
  );
}

export function use_issues(project: Project | undefined): Loaded<Issue[]> {
  return use_load(project ? issues_key(project) : null, (signal) =>
    api.list<Issue>("/v1/issues", { space: project?.space_id, project: project?.id, status: "all" }, signal),
  );
}

export const issue_route = (id: string, rest = "") => `/v1/issues/${segment(id)}${rest}`;

export const trend_days = 14;

/** Hours with traces of an issue. */
export const use_issue_points = (id: string): Loaded<VolumePoint[]> =>
  use_load(`issue_points/${id}`, (signal) =>
    api.get<VolumePoint[]>(issue_route(id, "/volume"), { hours: trend_days * 24 }, signal),
  );

/** Reloads everything that shows issues. */
export async function issues_changed(): Promise<void> {
  await Promise.all([reload("issue"), reload("signal/")]);
}
