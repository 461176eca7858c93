// The changes of a branch: file tree and diff, one revision against the base or against an earlier revision.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, to_api_error } from "../../api";
import type { FileDiff, InterdiffView, ReviewView, Revision, ViewedFiles } from "../../api_types";
import { use_keys } from "../../keyboard";
import type { Hunk, Side } from "../../lib/code/diff";
import { plural } from "../../lib/format/number";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Counts, FileList, in_tree_order } from "../../parts/diff/file_list";
import { type Annotation, type DiffHandle, DiffView, type FileLines } from "../../parts/diff/view";
import { Icon } from "../../parts/icon";
import { Data, Empty, Note, Skeleton } from "../../parts/state";
import { toast_failed } from "../../parts/toast";
import { is_phone } from "../../phone";
import { query, set_query } from "../../router";
import { stored_signal } from "../../stored";
import { type DiffSummary, review_route, type Thread } from "./data";
import { ReviewAside } from "./overview";
import { type Drafts, NewThread, ThreadView } from "./threads";

const layout = stored_signal("diff", "unified");

/** The compared revisions: `against` 0 is the base. */
export interface RevisionPair {
  revision: number;
  against: number;
}

export function revision_pair(review: ReviewView): RevisionPair {
  const newest = review.revisions.length;
  const revision = Number(query.value.get("revision") ?? newest) || newest;
  const against = Number(query.value.get("against") ?? 0) || 0;
  return { revision, against: against < revision ? against : 0 };
}

/** Files of a revision without lines, or the differences between two revisions. */
interface ShownDiff extends DiffSummary {
  lines: ReadonlyMap<string, Hunk[]>;
  base_changed: boolean;
}

async function load_diff(artifact: string, pair: RevisionPair, signal: AbortSignal): Promise<ShownDiff> {
  const { revision, against } = pair;
  if (against === 0) {
    const diff = await api.get<DiffSummary>(`${review_route(artifact)}/diff`, { revision }, signal);
    return { ...diff, lines: new Map(), base_changed: false };
  }
  const found = await api.get<InterdiffView>(
    `${review_route(artifact)}/interdiff`,
    { from: against, to: revision },
    signal,
  );
  const lines = new Map(found.files.map((file) => [file.file.path, file.hunks]));
  return { ...found, files: found.files.map((file) => file.file), lines };
}

/** Lines of files, loaded when they come near the view; each file once. */
function use_lines(artifact: string, revision: number, known: ReadonlyMap<string, Hunk[]>) {
  const [held, set_held] = useState<ReadonlyMap<string, FileLines>>(known);
  const requested = useRef(new Set<string>());
  const want = (paths: string[]) => {
    for (const path of paths) {
      if (requested.current.has(path)) continue;
      requested.current.add(path);
      const keep = (lines: FileLines) => set_held((before) => new Map(before).set(path, lines));
      api.get<FileDiff>(`${review_route(artifact)}/diff/file`, { revision, path }).then(
        (file) => keep(file.hunks),
        (error) => keep(to_api_error(error).message),
      );
    }
  };
  const lines = useMemo(() => (path: string) => held.get(path) ?? null, [held]);
  return { lines, want };
}

/** The viewed files of the user; a mark is shown immediately and removed again when the server rejects it. */
function use_viewed(artifact: string) {
  const load = use_load(`review_viewed/${artifact}`, (signal) =>
    api.get<ViewedFiles>(`${review_route(artifact)}/viewed`, {}, signal),
  );
  const [changed, set_changed] = useState<ReadonlyMap<string, boolean>>(new Map());
  const viewed = useMemo(() => {
    const paths = new Set(load.data?.paths);
    for (const [path, on] of changed) {
      if (on) paths.add(path);
      else paths.delete(path);
    }
    return paths;
  }, [load.data, changed]);
  const mark = (path: string, on: boolean) => {
    set_changed((known) => new Map(known).set(path, on));
    api.put(`${review_route(artifact)}/viewed`, { path, viewed: on }).catch((error) => {
      set_changed((known) => new Map(known).set(path, !on));
      toast_failed("Could not mark the file", error);
    });
  };
  return { viewed, mark };
}

function RevisionChoice({ review, pair }: { review: ReviewView; pair: RevisionPair }) {
  const title = (revision: Revision) =>
    `Revision ${revision.revision}${revision.revision === review.revisions.length ? ", newest" : ""}`;
  if (review.revisions.length < 2) return null;
  return (
    <>
      <label>
        Show
        <select
          value={String(pair.revision)}
          onChange={(event) =>
            set_query({
              revision:
                Number(event.currentTarget.value) === review.revisions.length ? null : event.currentTarget.value,
              against: null,
            })
          }
        >
          {review.revisions.map((revision) => (
            <option key={revision.revision} value={String(revision.revision)}>
              {title(revision)}
            </option>
          ))}
        </select>
      </label>
      <label>
        against
        <select
          value={String(pair.against)}
          onChange={(event) =>
            set_query({ against: event.currentTarget.value === "0" ? null : event.currentTarget.value })
          }
        >
          <option value="0">the base</option>
          {review.revisions
            .filter((revision) => revision.revision < pair.revision)
            .map((revision) => (
              <option key={revision.revision} value={String(revision.revision)}>
                revision {revision.revision}
              </option>
            ))}
        </select>
      </label>
    </>
  );
}

function LayoutChoice() {
  if (is_phone.value) return null;
  return (
    <fieldset class="choices">
      <legend class="off-screen">Layout</legend>
      {["unified", "split"].map((name) => (
        <button
          type="button"
          key={name}
          class="quiet"
          aria-pressed={layout.value === name}
          onClick={() => {
            layout.value = name;
          }}
        >
          {name === "split" ? "Split" : "Unified"}
        </button>
      ))}
    </fieldset>
  );
}

interface LinesProps {
  review: ReviewView;
  diff: ShownDiff;
  pair: RevisionPair;
  threads: Thread[];
  drafts: Drafts;
}

const nothing: ReadonlySet<string> = new Set();

type Composing = { path: string; side: Side; line: number } | null;

function Lines({ review, diff, pair, threads, drafts }: LinesProps) {
  const artifact = review.artifact.id;
  const files = useMemo(() => in_tree_order(diff.files), [diff.files]);
  const { lines, want } = use_lines(artifact, pair.revision, diff.lines);
  const { viewed, mark } = use_viewed(artifact);
  const [composing, set_composing] = useState<Composing>(null);
  const chosen = useSignal(files[0]?.path ?? null);
  const handle = useRef<DiffHandle | null>(null);
  const split = layout.value === "split" && !is_phone.value;
  const commenting = can("artifact_review") && pair.against === 0;

  // Comments on other revisions have other lines: they are in the conversation.
  const here = useMemo(
    () => threads.filter(({ first }) => first.revision === pair.revision && first.line !== null),
    [threads, pair.revision],
  );
  const annotations = useMemo(() => {
    const found: Annotation[] = here.map((thread) => ({
      key: thread.first.id,
      path: thread.first.path,
      side: thread.first.side,
      line: thread.first.line ?? 0,
      content: <ThreadView key={thread.first.id} artifact={artifact} thread={thread} drafts={drafts} />,
    }));
    if (composing) {
      const key = `new ${composing.path} ${composing.side} ${composing.line}`;
      found.push({
        key,
        ...composing,
        content: (
          <NewThread
            key={key}
            artifact={artifact}
            place={{ ...composing, revision: pair.revision }}
            draft={drafts.of(key)}
            on_close={() => set_composing(null)}
          />
        ),
      });
    }
    return found;
  }, [here, composing, artifact, pair.revision]);
  const comments = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { first } of threads)
      if (first.resolved_at === null) counts.set(first.path, (counts.get(first.path) ?? 0) + 1);
    return counts;
  }, [threads]);
  const flagged = useMemo(
    () => new Set(review.revisions.find((one) => one.revision === pair.revision)?.flags.map((flag) => flag.path)),
    [review, pair.revision],
  );

  // A link to a line: shown once the file is loaded.
  const place = query.value.get("at");
  useEffect(() => {
    const parts = /^(.*):(old|new):(\d+)$/.exec(place ?? "");
    if (parts?.[1]) handle.current?.show_line(parts[1], parts[2] as Side, Number(parts[3]));
    else if (place) handle.current?.show_file(place);
  }, [place]);
  use_keys([
    {
      keys: "s",
      title: "Unified or split",
      group: "Changes",
      run: () => {
        layout.value = layout.value === "split" ? "unified" : "split";
      },
    },
  ]);
  const seen = files.filter((file) => viewed.has(file.path)).length;
  return (
    <>
      <div class="review-bar">
        <RevisionChoice review={review} pair={pair} />
        <span>
          {plural(files.length, "file")} <Counts file={diff} />
        </span>
        <span class="soft">
          {seen} of {files.length} viewed
        </span>
        <span class="spring" />
        <LayoutChoice />
        <a class="button quiet" href={`${review_route(artifact)}/patch?revision=${pair.revision}`} download>
          <Icon name="download" /> Download patch
        </a>
      </div>
      {diff.truncated && (
        <Note kind="warning" icon="warning">
          The change is larger than the limits of a review and is shown only in part. Download the patch for all of it.
        </Note>
      )}
      {diff.base_changed && (
        <Note kind="warning">
          The two revisions are based on different commits, so changes of the base between them are included.
        </Note>
      )}
      <div class={`review-body ${split ? "split" : ""}`}>
        <FileList
          files={files}
          chosen={chosen.value}
          viewed={viewed}
          comments={comments}
          flagged={flagged}
          on_choose={(path) => handle.current?.show_file(path)}
        />
        <DiffView
          label="Changes"
          files={files}
          lines={lines}
          want={want}
          split={split}
          annotations={annotations}
          on_comment={commenting ? (path, side, line) => set_composing({ path, side, line }) : null}
          viewed={pair.against === 0 ? viewed : nothing}
          on_viewed={pair.against === 0 ? mark : null}
          on_file={(path) => {
            chosen.value = path;
          }}
          handle={handle}
        />
        <ReviewAside review={review} />
      </div>
    </>
  );
}

export function Changes({ review, threads, drafts }: { review: ReviewView; threads: Thread[]; drafts: Drafts }) {
  const pair = revision_pair(review);
  const revision = review.revisions.find((one) => one.revision === pair.revision);
  const artifact = review.artifact.id;
  const key = revision?.state === "ready" ? `review_diff/${artifact}/${pair.revision}/${pair.against}` : null;
  const load = use_load(key, (signal) => load_diff(artifact, pair, signal));
  if (!revision) return <Note kind="warning">There is no revision {pair.revision}.</Note>;
  if (revision.state === "pending") return <Skeleton rows={10} />;
  if (revision.state === "failed") return <Note kind="failed">The diff could not be made: {revision.error}</Note>;
  return (
    <Data load={load} retry={() => void reload("review_diff/")}>
      {(diff) =>
        diff.files.length === 0 ? (
          <Empty icon="check" title="No differences" text="The two revisions have the same files." />
        ) : (
          <Lines
            key={`${pair.revision}/${pair.against}`}
            review={review}
            diff={diff}
            pair={pair}
            threads={threads}
            drafts={drafts}
          />
        )
      }
    </Data>
  );
}
