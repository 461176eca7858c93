// Comments on a change: threads on lines, replies, resolving and reopening. Drafts are kept while scrolling.

import { type Signal, signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Comment } from "../../api_types";
import type { Side } from "../../lib/code/diff";
import { can } from "../../login";
import { use_action } from "../../parts/action";
import { Avatar } from "../../parts/frame/avatar";
import { Icon } from "../../parts/icon";
import { Markdown } from "../../parts/markdown";
import { Time } from "../../parts/time";
import { toast_failed } from "../../parts/toast";
import { review_route, reviews_changed, type Thread } from "./data";

/** Unsent comments, by place; they are kept when their line scrolls out of view. */
export class Drafts {
  private readonly known = new Map<string, Signal<string>>();

  of(key: string): Signal<string> {
    const held = this.known.get(key) ?? signal("");
    this.known.set(key, held);
    return held;
  }
}

interface BoxProps {
  label: string;
  title: string;
  draft: Signal<string>;
  send: (body: string) => Promise<void>;
  on_cancel: () => void;
  first?: boolean;
}

function Box({ label, title, draft, send, on_cancel, first }: BoxProps) {
  const { busy, attempt } = use_action();
  const submit = attempt("Could not send", async () => {
    const body = draft.value.trim();
    if (body === "") return;
    await send(body);
    draft.value = "";
  });
  return (
    <form
      class="thread-box"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <textarea
        aria-label={label}
        placeholder="Markdown. Ctrl+Enter sends."
        rows={3}
        value={draft.value}
        autofocus={first}
        ref={(element) => {
          if (first && element && document.activeElement === document.body) element.focus({ preventScroll: true });
        }}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
          if (event.key === "Escape") on_cancel();
        }}
      />
      <div class="thread-foot">
        <button type="submit" class="primary" disabled={busy || draft.value.trim() === ""}>
          {title}
        </button>
        <button type="button" onClick={on_cancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface Place {
  path: string;
  side: Side;
  line: number | null;
  revision: number;
}

export function NewThread({
  artifact,
  place,
  draft,
  on_close,
}: {
  artifact: string;
  place: Place | null;
  draft: Signal<string>;
  on_close: () => void;
}) {
  const where = place ? `${place.side === "old" ? "old line" : "line"} ${place.line}` : "the whole change";
  return (
    <div class="thread thread-new">
      <Box
        label={`Comment on ${where}`}
        title="Comment"
        draft={draft}
        first
        send={async (body) => {
          await api.post(`${review_route(artifact)}/comments`, { ...(place ?? {}), body });
          await reviews_changed();
          on_close();
        }}
        on_cancel={on_close}
      />
    </div>
  );
}

function CommentView({ comment, artifact, drafts }: { comment: Comment; artifact: string; drafts: Drafts }) {
  const [editing, set_editing] = useState(false);
  return (
    <div class="thread-comment">
      <header>
        <Avatar name={comment.author} />
        <b>{comment.author}</b>
        <span class="faint">
          <Time time={comment.created_at} />
        </span>
        {comment.edited_at && <span class="faint">edited</span>}
        {comment.told_at && (
          <span class="tag" title="Sent to the worker">
            sent to the session
          </span>
        )}
        <span class="spring" />
        {comment.mine && comment.told_at === null && !editing && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              drafts.of(`edit ${comment.id}`).value = comment.body;
              set_editing(true);
            }}
          >
            Edit
          </button>
        )}
      </header>
      {editing ? (
        <Box
          label="Edit the comment"
          title="Save"
          draft={drafts.of(`edit ${comment.id}`)}
          first
          send={async (body) => {
            await api.patch(`${review_route(artifact)}/comments/${segment(comment.id)}`, { body });
            await reviews_changed();
            set_editing(false);
          }}
          on_cancel={() => set_editing(false)}
        />
      ) : (
        <Markdown text={comment.body} />
      )}
    </div>
  );
}

interface ThreadProps {
  artifact: string;
  thread: Thread;
  drafts: Drafts;
  /** Shows the file and line, for a thread outside of the diff. */
  on_place?: () => void;
  outdated?: boolean;
}

export function ThreadView({ artifact, thread, drafts, on_place, outdated }: ThreadProps) {
  const { first } = thread;
  const resolved = first.resolved_at !== null;
  const [open, set_open] = useState(!resolved);
  const [replying, set_replying] = useState(false);
  const reviewer = can("artifact_review");
  const resolve = async (on: boolean) => {
    try {
      await api.patch(`${review_route(artifact)}/comments/${segment(first.id)}`, { resolved: on });
      set_open(!on);
      await reviews_changed();
    } catch (error) {
      toast_failed("Could not change the thread", error);
    }
  };
  const place = first.path === "" ? null : first.line === null ? first.path : `${first.path}:${first.line}`;
  if (!open)
    return (
      <div class="thread">
        <div class="thread-foot">
          <span class="state done">
            <Icon name="check" /> resolved by {first.resolved_by}
          </span>
          <span class="soft">
            {first.author}: {first.body.slice(0, 80)}
          </span>
          <button type="button" class="quiet" onClick={() => set_open(true)}>
            Show
          </button>
        </div>
      </div>
    );
  return (
    <section class="thread" aria-label={place ? `Thread on ${place}` : "Thread"}>
      {on_place && place && (
        <div class="thread-foot">
          <button type="button" class="flag-place" onClick={on_place}>
            {place}
          </button>
          {outdated && <span class="tag">revision {first.revision}</span>}
        </div>
      )}
      {[first, ...thread.replies].map((comment) => (
        <CommentView key={comment.id} comment={comment} artifact={artifact} drafts={drafts} />
      ))}
      {reviewer && (
        <div>
          {replying ? (
            <Box
              label="Reply"
              title="Reply"
              draft={drafts.of(`reply ${first.id}`)}
              first
              send={async (body) => {
                await api.post(`${review_route(artifact)}/comments`, { reply_to: first.id, body });
                await reviews_changed();
                set_replying(false);
              }}
              on_cancel={() => set_replying(false)}
            />
          ) : (
            <div class="thread-foot">
              <button type="button" onClick={() => set_replying(true)}>
                Reply
              </button>
              <button type="button" class="quiet" onClick={() => void resolve(!resolved)}>
                {resolved ? "Reopen" : "Resolve"}
              </button>
            </div>
          )}
        </div>
      )}
    </section>
  );
}
