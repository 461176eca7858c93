// Shared by the review pages: API routes, words and colours.

import { api, segment } from "../../api";
import type {
  Comment,
  DiffView,
  PullRequest,
  PullRequestState,
  ReviewItem,
  ReviewState,
  VerificationState,
} from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";
import type { IconName } from "../../parts/icon";
import type { Tone } from "../../parts/state";

export type DiffSummary = Pick<DiffView, "files" | "additions" | "deletions" | "truncated">;

export interface Thread {
  first: Comment;
  replies: Comment[];
}

export const review_route = (artifact: string) => `/v1/reviews/${segment(artifact)}`;

export const kind_icons: Record<string, IconName> = {
  branch: "branch",
  investigation: "search",
  labels: "tag",
  file: "download",
};

/** The title that is shown: the summary, or the name if there is none. */
export function review_title(item: Pick<ReviewItem, "artifact">): string {
  return item.artifact.summary || item.artifact.name;
}

export const is_branch = (artifact: { kind: string }) => artifact.kind === "branch";

export const review_tones: Record<ReviewState, Tone> = {
  pending: "waiting",
  approved: "done",
  rejected: "failed",
  changes_requested: "limit",
};

export const review_words: Record<ReviewState, string> = {
  pending: "pending review",
  approved: "approved",
  rejected: "rejected",
  changes_requested: "changes requested",
};

export const verification_words: Record<VerificationState, string> = {
  none: "not verified",
  pending: "verification pending",
  running: "verifying",
  green: "verified",
  red: "verification failed",
  failed: "verification error",
};

export const verification_tones: Record<VerificationState, Tone> = {
  none: "off",
  pending: "waiting",
  running: "running",
  green: "done",
  red: "failed",
  failed: "limit",
};

export const pull_request_words: Record<PullRequestState, string> = {
  queued: "waiting to be pushed",
  pushed: "pushed, opening",
  open: "open",
  merged: "merged",
  closed: "closed",
  only_pushed: "pushed",
  failed: "failed",
  cancelled: "cancelled",
  abandoned: "abandoned",
};

export const pull_request_tones: Record<PullRequestState, Tone> = {
  queued: "waiting",
  pushed: "running",
  open: "running",
  merged: "done",
  closed: "off",
  only_pushed: "done",
  failed: "failed",
  cancelled: "off",
  abandoned: "off",
};

/** What people did with the branch on the forge. */
export const people_words: Record<string, string> = {
  commits_added: "people added commits",
  force_pushed: "people force-pushed the branch",
};

/** Whether something approved is not on the forge yet. */
export const can_cancel = (pr: PullRequest) =>
  pr.state === "queued" ||
  pr.state === "pushed" ||
  pr.state === "failed" ||
  (pr.state === "open" && (pr.update_state === "pending" || pr.update_state === "failed"));

export const can_abandon = (pr: PullRequest) =>
  pr.state === "queued" || pr.state === "pushed" || pr.state === "failed" || pr.state === "open";

/** Groups comments into threads, in the order of their first comments. */
export function threads_of(comments: Comment[]): Thread[] {
  const threads = new Map<string, Thread>();
  for (const comment of comments)
    if (comment.reply_to === null) threads.set(comment.id, { first: comment, replies: [] });
  for (const comment of comments) if (comment.reply_to !== null) threads.get(comment.reply_to)?.replies.push(comment);
  return [...threads.values()];
}

export function list_reviews(filter: Record<string, string>, signal: AbortSignal): Promise<ReviewItem[]> {
  return api.list<ReviewItem>("/v1/reviews", { space: space.value?.id, ...filter }, signal);
}

/** Reloads everything that shows reviews or artifacts; the lines of a revision never change. */
export async function reviews_changed(): Promise<void> {
  await Promise.all(["review/", "reviews/", "review_comments/", "artifacts/", "pull_request"].map(reload));
}
