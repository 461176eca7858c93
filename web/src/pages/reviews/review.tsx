// The review of one artifact: a branch with its changes, or another output of a run. `n` opens the next pending one.

import { useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import type { Comment, ReviewView } from "../../api_types";
import { use_keys } from "../../keyboard";
import { plural } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { reload, use_load, use_refresh } from "../../load";
import { can, space } from "../../login";
import { Icon } from "../../parts/icon";
import { PageHeader } from "../../parts/page";
import { Data, State } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { Time } from "../../parts/time";
import { Visible } from "../../parts/visible";
import { navigate } from "../../router";
import { inbox_page, review_page, run_page } from "../addresses";
import { Content } from "../runs/artifacts";
import { list_artifacts } from "../runs/data";
import { Changes } from "./changes";
import {
  list_reviews,
  review_route,
  review_title,
  review_tones,
  review_words,
  type Thread,
  threads_of,
  verification_tones,
  verification_words,
} from "./data";
import { DecideButtons } from "./decide";
import { Conversation, Overview, PullRequestNote } from "./overview";
import { ReplayMark, replay_moves } from "./replay";
import { Drafts, NewThread } from "./threads";
import { WorkerReply } from "./worker_reply";

const refresh = 3000;

/** Reloads the page while the diff, the verification, the worker or the pull request is in progress. */
function use_progress(review: ReviewView | undefined): void {
  const newest = review?.revisions[review.revisions.length - 1];
  const moving =
    newest?.state === "pending" ||
    review?.artifact.review === "changes_requested" ||
    ["pending", "running"].includes(newest?.verification ?? "none") ||
    replay_moves(review?.replay ?? null) ||
    ["queued", "pushed"].includes(review?.pull_request?.state ?? "");
  use_refresh(moving ? "review/" : null, refresh);
}

/** The other pending reviews, in the order of the Inbox. */
function use_neighbours(id: string) {
  const load = use_load(`reviews/pending/${space.value?.id}`, (signal) => list_reviews({ review: "pending" }, signal));
  const waiting = useMemo(
    () => load.data && [...load.data].sort((a, b) => (a.artifact.created_at < b.artifact.created_at ? -1 : 1)),
    [load.data],
  );
  const at = waiting?.findIndex((item) => item.artifact.id === id) ?? -1;
  const open = (index: number) => {
    const item = waiting?.[index];
    return item && item.artifact.id !== id ? () => navigate(review_page(item.artifact.id)) : undefined;
  };
  const next = open(at + 1) ?? (at > 0 ? open(0) : undefined);
  return { next, previous: at > 0 ? open(at - 1) : undefined, count: waiting?.length ?? 0, at };
}

function Summary({ review }: { review: ReviewView }) {
  const newest = review.revisions[review.revisions.length - 1];
  return (
    <p class="review-summary">
      <State tone={review_tones[review.artifact.review]} text={review_words[review.artifact.review]} />
      {review.branch && (
        <span class="soft">
          {review.approvals} of {plural(review.approvals_needed, "approval")}
        </span>
      )}
      {newest && newest.verification !== "none" && (
        <State tone={verification_tones[newest.verification]} text={verification_words[newest.verification]} />
      )}
      <ReplayMark replay={review.replay} />
      {newest && newest.blocking_flags > 0 && (
        <State tone="failed" text={plural(newest.blocking_flags, "blocking flag")} />
      )}
      {review.open_comments > 0 && <span class="soft">{plural(review.open_comments, "open comment")}</span>}
      {review.cannot_approve && review.artifact.review === "pending" && can("artifact_review") && (
        <span class="soft">You cannot approve this: {review.cannot_approve}</span>
      )}
    </p>
  );
}

interface BodyProps {
  review: ReviewView;
  threads: Thread[];
  drafts: Drafts;
}

function BranchBody({ review, threads, drafts }: BodyProps) {
  const newest = review.revisions[review.revisions.length - 1];
  const extra = (newest?.flags.length ?? 0) + threads.filter((thread) => thread.first.resolved_at === null).length;
  const tabs = [
    { id: "changes", title: newest ? `Changes ${newest.files}` : "Changes" },
    { id: "overview", title: extra === 0 ? "Overview" : `Overview ${extra}` },
  ];
  return (
    <>
      <PullRequestNote review={review} />
      <Tabs label="Review" tabs={tabs} />
      {current_tab(tabs) === "changes" ? (
        <Changes review={review} threads={threads} drafts={drafts} />
      ) : (
        <div class="review-overview">
          <Overview review={review} threads={threads} drafts={drafts} />
        </div>
      )}
    </>
  );
}

/** Investigations, labels and files: content and comments. */
function PlainBody({ review, threads, drafts }: BodyProps) {
  const { artifact } = review;
  const [writing, set_writing] = useState(false);
  const siblings = use_load(`artifacts/run/${artifact.run_id}`, (signal) =>
    list_artifacts({ run: artifact.run_id }, signal),
  ).data;
  return (
    <div class="review-overview">
      <Content artifact={artifact} siblings={siblings ?? []} />
      <Conversation review={review} threads={threads} drafts={drafts} />
      {can("artifact_review") &&
        (writing ? (
          <NewThread
            artifact={artifact.id}
            place={null}
            draft={drafts.of("whole")}
            on_close={() => set_writing(false)}
          />
        ) : (
          <p>
            <button type="button" onClick={() => set_writing(true)}>
              <Icon name="chat" /> Comment
            </button>
          </p>
        ))}
    </div>
  );
}

function ReviewBody({ review }: { review: ReviewView }) {
  const { artifact, branch } = review;
  const newest = review.revisions[review.revisions.length - 1];
  const drafts = useMemo(() => new Drafts(), [artifact.id]);
  const comments = use_load(`review_comments/${artifact.id}`, (signal) =>
    api.list<Comment>(`${review_route(artifact.id)}/comments`, {}, signal),
  ).data;
  const threads = useMemo(() => threads_of(comments ?? []), [comments]);
  const { next, previous, count, at } = use_neighbours(artifact.id);
  const group = "Review";
  use_keys([
    { keys: "n", title: "Next pending review", group, run: () => next?.() },
    { keys: "p", title: "Previous pending review", group, run: () => previous?.() },
    { keys: "u", title: "Back to Inbox", group, run: () => navigate(inbox_page()) },
  ]);
  return (
    <>
      <PageHeader
        title={newest?.title || review_title(review)}
        text={
          <>
            {artifact.kind}
            {branch && (
              <>
                {" "}
                <code>
                  <Visible text={branch.branch} />
                </code>{" "}
                for {branch.repo_name}
              </>
            )}{" "}
            · <a href={run_page(artifact.run_id)}>run</a> · <Time time={newest?.pushed_at ?? artifact.created_at} />
          </>
        }
      >
        {at >= 0 && count > 1 && (
          <span class="soft">
            {at + 1} of {count}
          </span>
        )}
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Previous pending review"
          disabled={!previous}
          onClick={previous}
        >
          <Icon name="up" />
        </button>
        <button type="button" class="quiet icon-only" aria-label="Next pending review" disabled={!next} onClick={next}>
          <Icon name="down" />
        </button>
        <DecideButtons key={artifact.review} review={review} on_done={() => undefined} />
      </PageHeader>
      <Summary review={review} />
      <WorkerReply review={review} />
      {branch ? (
        <BranchBody review={review} threads={threads} drafts={drafts} />
      ) : (
        <PlainBody review={review} threads={threads} drafts={drafts} />
      )}
    </>
  );
}

export function ReviewPage({ params }: { params: Params }) {
  const id = params.artifact ?? "";
  const load = use_load(`review/${id}`, (signal) => api.get<ReviewView>(review_route(id), {}, signal));
  use_progress(load.data);
  return (
    <div class={`page ${load.data?.branch ? "review-page" : "narrow"}`}>
      <Data load={load} retry={() => void reload("review/")} whole_page>
        {(review) => <ReviewBody key={review.artifact.id} review={review} />}
      </Data>
    </div>
  );
}
