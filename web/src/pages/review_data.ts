// Reviews as pages show them: shapes of the API, addresses, words and colours.

import { api, segment } from "../api";
import type { Artifact, ReviewState } from "../api_types";
import type { Hunk, Side } from "../lib/diff";
import { reload } from "../load";
import type { ChangedFile } from "../parts/file_list";
import type { Tone } from "../parts/state";
import { space } from "../session";

export type RevisionState = "pending" | "ready" | "failed";
export type VerificationState = "none" | "pending" | "running" | "green" | "red" | "failed";
export type PullRequestState = "queued" | "pushed" | "open" | "merged" | "closed" | "only_pushed" | "failed";

export interface Flag {
  kind: string;
  blocking: boolean;
  path: string;
  line: number | null;
  message: string;
}

export interface VerificationRun {
  exit_code: number | null;
  timed_out: boolean;
  duration_ms: number;
  output: string;
}

export interface VerificationResult {
  name: string;
  command: string;
  base: VerificationRun | null;
  branch: VerificationRun | null;
}

export interface Revision {
  revision: number;
  base_commit: string;
  head_commit: string;
  state: RevisionState;
  error: string;
  title: string;
  commits: { id: string; author: string; message: string }[];
  files: number;
  additions: number;
  deletions: number;
  flags: Flag[];
  blocking_flags: number;
  verification: VerificationState;
  verification_results: VerificationResult[];
  pushed_at: string;
  ready_at: string | null;
}

export interface Branch {
  artifact_id: string;
  run_id: string;
  repo_id: string;
  repo_name: string;
  branch: string;
  revision: number;
  fix_of: string;
  policy: { approvals: number; not_starter: boolean; role: string; require_verified: boolean };
}

export interface Decision {
  id: string;
  revision: number;
  decision: ReviewState;
  reviewer: string;
  comment: string;
  allow_protected: boolean;
  counts: boolean;
  created_at: string;
}

export interface PullRequest {
  id: string;
  artifact_id: string;
  run_id: string;
  repo_id: string;
  repo_name: string;
  fix_of: string;
  forge: string;
  branch: string;
  target: string;
  revision: number;
  state: PullRequestState;
  number: number | null;
  url: string;
  title: string;
  draft: boolean;
  head_commit: string;
  checks: string;
  forge_review: string;
  error: string;
  attempts: number;
  next_try_at: string;
  created_at: string;
  updated_at: string;
  polled_at: string | null;
  merged_at: string | null;
}

export interface ReviewItem {
  artifact: Artifact;
  repo_name: string | null;
  branch: string | null;
  revision: number | null;
  files: number | null;
  additions: number | null;
  deletions: number | null;
  blocking_flags: number | null;
  diff_state: RevisionState | null;
  verification: VerificationState | null;
  open_comments: number;
  pull_request: PullRequestState | null;
}

export interface Review {
  artifact: Artifact;
  branch: Branch | null;
  revisions: Revision[];
  decisions: Decision[];
  approvals: number;
  approvals_needed: number;
  open_comments: number;
  cannot_approve: string | null;
  pull_request: PullRequest | null;
}

export interface Comment {
  id: string;
  reply_to: string | null;
  revision: number;
  path: string;
  side: Side;
  line: number | null;
  body: string;
  author: string;
  resolved_by: string | null;
  resolved_at: string | null;
  told_at: string | null;
  created_at: string;
  edited_at: string | null;
  mine: boolean;
}

export interface Thread {
  first: Comment;
  replies: Comment[];
}

export interface DiffSummary {
  files: ChangedFile[];
  additions: number;
  deletions: number;
  truncated: boolean;
}

export interface FileDiff {
  file: ChangedFile;
  hunks: Hunk[];
}

export interface Interdiff {
  from: number;
  to: number;
  /** They left from different commits: changes of others are in here too. */
  base_changed: boolean;
  additions: number;
  deletions: number;
  truncated: boolean;
  files: FileDiff[];
}

const in_space = () => `/s/${segment(space.value?.name ?? "")}`;
export const inbox_page = () => `${in_space()}/inbox`;
export const review_page = (artifact: string) => `${in_space()}/inbox/${segment(artifact)}`;
export const repo_page = (id: string) => `${in_space()}/repos/${segment(id)}`;
export const pull_requests_page = () => `${in_space()}/pull_requests`;
export const review_address = (artifact: string) => `/v1/reviews/${segment(artifact)}`;

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
