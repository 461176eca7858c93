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

interface Told {
  kind: string;
  title: string;
  link: string;
  unread: boolean;
}

export interface Folded<Notice> {
  /** The newest of them. */
  notice: Notice;
  count: number;
  unread: boolean;
}

/** Notices that say the same about the same thing are one row with their number, at the place of the newest. */
export function fold_notices<Notice extends Told>(notices: Notice[]): Folded<Notice>[] {
  const rows = new Map<string, Folded<Notice>>();
  for (const notice of notices) {
    // A run has a page of its own each time: only its title counts.
    const key = `${notice.kind}\n${notice.title}`;
    const known = rows.get(key);
    if (known) {
      known.count += 1;
      known.unread = known.unread || notice.unread;
    } else rows.set(key, { notice, count: 1, unread: notice.unread });
  }
  return [...rows.values()];
}

/** "3 × run finished, monitor recovered" */
export function digest_text(notices: { kind: string }[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of notices) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .sort((one, other) => other[1] - one[1])
    .map(([kind, count]) => `${count > 1 ? `${count} × ` : ""}${notice_kind_text(kind).toLowerCase()}`)
    .join(", ");
}
