// Reviews as pages show them: shapes of the API, addresses, words and colours.

import { api, segment } from "../../api";
import type { Comment, DiffView, PullRequestState, ReviewItem, VerificationState } from "../../api_types";
import { reload } from "../../load";
import type { IconName } from "../../parts/icon";
import type { Tone } from "../../parts/state";
import { space } from "../../session";

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

/** What people read; the name may be a file's, or one that a later run finds again. */
export function review_title(item: Pick<ReviewItem, "artifact">): string {
  return item.artifact.summary || item.artifact.name;
}

export const is_branch = (artifact: { kind: string }) => artifact.kind === "branch";

export const verification_words: Record<VerificationState, string> = {
  none: "not verified",
  pending: "to be verified",
  running: "being verified",
  green: "verified",
  red: "verification failed",
  failed: "could not be verified",
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
  queued: "about to be pushed",
  pushed: "pushed, about to be opened",
  open: "open",
  merged: "merged",
  closed: "closed",
  only_pushed: "pushed",
  failed: "failed",
};

export const pull_request_tones: Record<PullRequestState, Tone> = {
  queued: "waiting",
  pushed: "running",
  open: "running",
  merged: "done",
  closed: "off",
  only_pushed: "done",
  failed: "failed",
};

/** Comments into threads, in the order in which the threads were begun. */
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

/** Everything that shows reviews or artifacts is read again; the lines of a revision never change. */
export async function reviews_changed(): Promise<void> {
  await Promise.all(["review/", "reviews/", "review_comments/", "artifacts/", "pull_request"].map(reload));
}
