// The states every page has besides its data: loading, empty, failed, forbidden; and small state marks.

import type { ComponentChildren } from "preact";
import type { ApiError } from "../api";
import type { Loaded } from "../load";
import { CodeBlock, CopyButton } from "./copy";
import { Icon, type IconName } from "./icon";

/** Bars in place of rows. The style sheet shows them only after 150 ms, so that fast responses do not flicker. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div class="skeleton-row" key={index}>
          <span />
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}

function RequestId({ id }: { id: string }) {
  return (
    <span class="request-id">
      Request <code>{id}</code>
      <CopyButton text={id} label="Copy request id" small />
    </span>
  );
}

/** What happened, what to do, and the id for the server's log. */
export function ErrorNote({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="note failed" role="alert">
      <Icon name="warning" />
      <div>
        <p>{error.message}</p>
        <p class="note-foot">
          {retry && (
            <button type="button" onClick={retry}>
              Try again
            </button>
          )}
          {error.request_id && <RequestId id={error.request_id} />}
        </p>
      </div>
    </div>
  );
}

interface NoteProps {
  kind?: "plain" | "warning" | "done" | "failed";
  icon?: IconName;
  children: ComponentChildren;
}

export function Note({ kind = "plain", icon = "info", children }: NoteProps) {
  return (
    <div class={`note ${kind}`}>
      <Icon name={icon} />
      <div>{children}</div>
    </div>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  /** What appears here and how to get it. */
  text: string;
  command?: string;
  /** The page has no other content: the title is the page's heading. */
  whole_page?: boolean;
  children?: ComponentChildren;
}

export function Empty({ icon, title, text, command, whole_page, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      {whole_page ? <h1>{title}</h1> : <h2>{title}</h2>}
      <p>{text}</p>
      {children}
      {command && <CodeBlock text={command} label="command" />}
    </div>
  );
}

/** The object of a page does not exist: a retry would not help. */
function Gone({ error }: { error: ApiError }) {
  return (
    <Empty
      whole_page
      icon="search"
      title="Not found"
      text="It does not exist, was deleted, or belongs to a space or project that you cannot access."
    >
      <p class="note-foot">{error.request_id && <RequestId id={error.request_id} />}</p>
    </Empty>
  );
}

/** The page is visible, but not this part of it: a retry would not help. The server names the missing permission. */
function Forbidden({ error, whole_page }: { error: ApiError; whole_page?: boolean }) {
  return (
    <Empty whole_page={whole_page} icon="lock" title="You do not have access" text={error.message}>
      <p class="note-foot">{error.request_id && <RequestId id={error.request_id} />}</p>
    </Empty>
  );
}

interface DataProps<T> {
  load: Loaded<T>;
  /** The page shows nothing without this data, not even a title. */
  whole_page?: boolean;
  retry: () => void;
  skeleton?: ComponentChildren;
  children: (data: T) => ComponentChildren;
}

/** Old data stays while new loads; an error is shown above what is still there. */
export function Data<T>({ load, retry, skeleton, whole_page, children }: DataProps<T>) {
  if (whole_page && load.data === undefined && load.error?.status === 404) return <Gone error={load.error} />;
  if (load.data === undefined && load.error?.status === 403)
    return <Forbidden error={load.error} whole_page={whole_page} />;
  return (
    <>
      {load.error && <ErrorNote error={load.error} retry={retry} />}
      {load.data === undefined ? !load.error && (skeleton ?? <Skeleton />) : children(load.data)}
    </>
  );
}

export type Tone = "running" | "waiting" | "done" | "failed" | "limit" | "off";

const tone_icons: Record<Tone, IconName> = {
  running: "rotate",
  waiting: "clock",
  done: "check",
  failed: "warning",
  limit: "clock",
  off: "stop",
};

/** State in three carriers: colour, icon and word. */
export function State({ tone, text }: { tone: Tone; text: string }) {
  return (
    <span class={`state ${tone}`}>
      <Icon name={tone_icons[tone]} />
      {text}
    </span>
  );
}
