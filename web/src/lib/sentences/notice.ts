// Notices contain paths of pages within their space: "/projects/shop/monitors/mon_01…".

/** The page of a notice. Only a path of this UI: a notice cannot link to another host. */
export function notice_address(link: string, space: string): string {
  const home = `/s/${encodeURIComponent(space)}`;
  if (!link.startsWith("/") || link.startsWith("//") || link.includes("\\")) return home;
  return link.startsWith("/s/") ? link : home + link;
}

export const notice_kinds: [string, string][] = [
  ["monitor_triggered", "Monitor triggered"],
  ["monitor_recovered", "Monitor recovered"],
  ["issue_new", "New or reopened issue"],
  ["run_finished", "Run finished"],
  ["review_waiting", "Review pending"],
  ["pull_request_opened", "Pull request opened"],
  ["pull_request_failed", "Pull request not delivered"],
  ["pull_request_merged", "Pull request merged"],
  ["pull_request_changes_requested", "Changes requested on the forge"],
  ["pull_request_changed", "People pushed to a pull request's branch"],
  ["break_glass_login", "Login with an emergency password"],
  ["evaluator_drifted", "Evaluator drifted"],
  ["automation_paused", "Automation paused"],
  ["eval_task_paused", "Task of an evaluator paused"],
  ["budget_near", "Budget nearly used up"],
  ["budget_spent", "Budget used up"],
  ["spans_late", "Spans not stored in time"],
  ["spans_caught_up", "Span backlog cleared"],
];

export const notice_kind_text = (kind: string) => notice_kinds.find(([name]) => name === kind)?.[1] ?? kind;
