import { expect, test } from "@playwright/test";
import { digest_text, fold_notices } from "./notice";

const notice = (kind: string, title: string, unread = false) => ({ kind, title, link: `/${title}`, unread });

test("the same title of the same kind is one row with its number", () => {
  const rows = fold_notices([
    notice("run_finished", "nightly"),
    notice("issue_new", "nightly"),
    notice("run_finished", "nightly", true),
  ]);
  expect(rows.map((row) => [row.notice.kind, row.count, row.unread])).toEqual([
    ["run_finished", 2, true],
    ["issue_new", 1, false],
  ]);
});

test("a digest names each kind once, the most frequent first", () => {
  expect(
    digest_text([notice("monitor_recovered", "a"), notice("run_finished", "b"), notice("run_finished", "c")]),
  ).toBe("2 × run finished, monitor recovered");
});
