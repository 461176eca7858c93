// Notices carry paths of pages within their space: "/projects/shop/monitors/mon_01…".

/** The page a notice is about. Only a path of this UI: a notice cannot lead elsewhere. */
export function notice_address(link: string, space: string): string {
  const home = `/s/${encodeURIComponent(space)}`;
  if (!link.startsWith("/") || link.startsWith("//") || link.includes("\\")) return home;
  return link.startsWith("/s/") ? link : home + link;
}

export const notice_kinds: [string, string][] = [
  ["monitor_triggered", "A monitor triggers"],
  ["monitor_recovered", "A monitor recovers"],
  ["issue_new", "A new issue, or one that came back"],
  ["run_finished", "A run finishes"],
  ["review_waiting", "Something waits for review"],
  ["automation_paused", "An automation pauses itself"],
  ["budget_near", "A budget is nearly used up"],
  ["budget_spent", "A budget is used up"],
  ["spans_late", "Accepted spans are not stored"],
  ["spans_caught_up", "Spans are stored again"],
];

export const notice_kind_text = (kind: string) => notice_kinds.find(([name]) => name === kind)?.[1] ?? kind;
