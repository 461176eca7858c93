// Approve, request changes or reject: one dialog with a comment. Flagged changes are listed before an approval.

import { useState } from "preact/hooks";
import { api } from "../../api";
import type { ReviewView } from "../../api_types";
import { use_keys } from "../../keyboard";
import { plural } from "../../lib/format/number";
import { can } from "../../login";
import { Dialog } from "../../parts/dialog";
import { Check, Field, Form } from "../../parts/form";
import { Note } from "../../parts/state";
import { toast_done } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { review_route, reviews_changed } from "./data";

export type Verdict = "approve" | "request_changes" | "reject";

const results: Record<Verdict, string> = {
  approve: "Approved",
  request_changes: "Changes requested",
  reject: "Rejected",
};

const titles: Record<Verdict, string> = {
  approve: "Approve",
  request_changes: "Request changes",
  reject: "Reject",
};

interface DecideProps {
  review: ReviewView;
  verdict: Verdict;
  on_close: () => void;
  /** Called after the decision: opens the next review. */
  on_done: () => void;
}

function hint_of(review: ReviewView, verdict: Verdict): string {
  if (verdict === "reject") return "Visible to everyone who can see the review.";
  if (verdict === "request_changes")
    return review.open_comments > 0
      ? `Sent to the session with ${plural(review.open_comments, "open comment")}.`
      : "Sent to the session as a follow-up.";
  const missing = review.approvals_needed - review.approvals - 1;
  if (missing > 0) return `${plural(missing, "more approval")} needed after this one.`;
  if (!review.branch) return "Takes effect immediately.";
  return "The branch is pushed. If the preset is set to open pull requests, one is opened.";
}

function DecideDialog({ review, verdict, on_close, on_done }: DecideProps) {
  const [comment, set_comment] = useState("");
  const [allowed, set_allowed] = useState(false);
  const newest = review.revisions[review.revisions.length - 1];
  const blocking = verdict === "approve" ? (newest?.flags.filter((flag) => flag.blocking) ?? []) : [];
  const comment_missing = verdict === "request_changes" && comment.trim() === "" && review.open_comments === 0;
  return (
    <Dialog title={`${titles[verdict]}: ${newest?.title || review.artifact.name}`} on_close={on_close}>
      <Form
        title={titles[verdict]}
        busy_title="Sending…"
        dangerous={verdict === "reject"}
        disabled={comment_missing || (blocking.length > 0 && !allowed)}
        on_cancel={on_close}
        submit={async () => {
          await api.post(`${review_route(review.artifact.id)}/${verdict}`, {
            ...(comment.trim() === "" ? {} : { comment: comment.trim() }),
            ...(newest ? { revision: newest.revision } : { digest: review.artifact.digest }),
            ...(blocking.length > 0 ? { allow_protected: true } : {}),
          });
          await reviews_changed();
          toast_done(`${results[verdict]}: ${review.artifact.name}`);
          on_close();
          on_done();
        }}
      >
        {blocking.length > 0 && (
          <>
            <Note kind="warning" icon="warning">
              <ul class="plain-list">
                {blocking.slice(0, 8).map((flag, index) => (
                  <li key={index}>
                    {flag.path !== "" && (
                      <code>
                        <Visible text={flag.path} />{" "}
                      </code>
                    )}
                    <Visible text={flag.message} />
                  </li>
                ))}
                {blocking.length > 8 && <li>and {blocking.length - 8} more</li>}
              </ul>
            </Note>
            <Check label="I have reviewed these changes and allow them" checked={allowed} on_change={set_allowed} />
          </>
        )}
        <Field label="Comment" hint={hint_of(review, verdict)} rows={4} value={comment} on_input={set_comment} first />
      </Form>
    </Dialog>
  );
}

export function DecideButtons({ review, on_done }: { review: ReviewView; on_done: () => void }) {
  const [verdict, set_verdict] = useState<Verdict | null>(null);
  // A branch with requested changes can still be approved or rejected.
  const undecided =
    review.artifact.review === "pending" || (review.branch !== null && review.artifact.review === "changes_requested");
  const possible = can("artifact_review") && undecided;
  const approvable = possible && review.cannot_approve === null;
  const group = "Review";
  use_keys(
    possible
      ? [
          { keys: "a", title: "Approve", group, run: () => approvable && set_verdict("approve") },
          { keys: "r", title: "Request changes", group, run: () => set_verdict("request_changes") },
          { keys: "X", title: "Reject", group, run: () => set_verdict("reject") },
        ]
      : [],
  );
  if (!possible) return null;
  return (
    <>
      <span class="review-buttons">
        <button
          type="button"
          class="primary"
          disabled={!approvable}
          title={review.cannot_approve ?? "Approve  a"}
          onClick={() => set_verdict("approve")}
        >
          Approve
        </button>
        <button type="button" title="Request changes  r" onClick={() => set_verdict("request_changes")}>
          Request changes
        </button>
        <button type="button" title="Reject  X" onClick={() => set_verdict("reject")}>
          Reject
        </button>
      </span>
      {verdict && (
        <DecideDialog review={review} verdict={verdict} on_close={() => set_verdict(null)} on_done={on_done} />
      )}
    </>
  );
}
