// The live transcript of a run: messages, collapsed tool calls, steps, artifacts.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api";
import type { Artifact, RunEvent, State as RunState } from "../../api_types";
import { duration, plural } from "../../lib/format/number";
import { to_milliseconds } from "../../lib/format/time";
import { grouped_lines, last_reply, tool_counts } from "../../lib/view/transcript_groups";
import { follow } from "../../live";
import { CopyButton } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { JsonValue, parsed_container } from "../../parts/json_view";
import { Markdown } from "../../parts/markdown";
import { State } from "../../parts/state";
import { toast_failed } from "../../parts/toast";
import { Visible } from "../../parts/visible";
import { content_route, is_over, run_route, run_tones, run_words } from "./data";

export interface Transcript {
  events: RunEvent[];
  reconnecting: boolean;
}

/** All events, live; calls `on_change` for those that change the run or its artifacts. */
export function use_transcript(run: string, on_change: (event: RunEvent) => void): Transcript {
  const [events, set_events] = useState<RunEvent[]>([]);
  const [reconnecting, set_reconnecting] = useState(false);
  useEffect(() => {
    let arrived: RunEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | null = null;
    // Old events arrive in one burst: drawn together, not one by one.
    const flush = () => {
      timer = null;
      const fresh = arrived;
      arrived = [];
      set_events((known) => [...known, ...fresh]);
      const last = fresh
        .filter((event) => event.state !== null || event.artifact !== null || event.usage !== null)
        .pop();
      if (last) on_change(last);
    };
    const live = follow(`${run_route(run)}/events`, "", (message) => {
      const event = JSON.parse(message.data) as RunEvent;
      if (typeof event.seq !== "number") return;
      arrived.push(event);
      timer ??= setTimeout(flush, 50);
    });
    const stop = live.state.subscribe((state) => set_reconnecting(state === "reconnecting"));
    return () => {
      stop();
      live.close();
      if (timer !== null) clearTimeout(timer);
      set_events([]);
    };
  }, [run]);
  return { events, reconnecting };
}

/** Texts are truncated in the stream; the whole text is loaded on demand. */
function WholeText({ run, event, field }: { run: string; event: RunEvent; field: "text" | "input" }) {
  const [whole, set_whole] = useState<string | null>(null);
  const text = whole ?? event[field] ?? "";
  const held = parsed_container(text);
  const load = () =>
    api.get<RunEvent>(`${run_route(run)}/events/${event.seq}`).then(
      (full) => set_whole(full[field] ?? ""),
      (error) => toast_failed("Could not load", error),
    );
  return (
    <div class="tool-text">
      {held === undefined ? <ToolText text={text} /> : <JsonValue value={held} />}
      {event.truncated && whole === null && (
        <button type="button" class="quiet more-button" onClick={() => void load()}>
          Show all
        </button>
      )}
    </div>
  );
}

/** Terminal colours, which are removed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how they begin
const terminal_colours = /\u001b\[[0-9;]*m/g;

function ToolText({ text }: { text: string }) {
  const plain = text.replace(terminal_colours, "").replaceAll("\r\n", "\n");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
    <pre tabIndex={0}>
      <code>
        <Visible text={plain === "" ? "(nothing)" : plain} />
      </code>
    </pre>
  );
}

/** Shows code in the arguments of a tool as lines instead of as a JSON string. */
function CallInput({ run, event }: { run: string; event: RunEvent }) {
  const held = parsed_container(event.input ?? "") as Record<string, unknown> | undefined;
  const code = held?.command ?? held?.code ?? held?.sql;
  if (typeof code === "string" && Object.keys(held ?? {}).length <= 3) return <ToolText text={code} />;
  return <WholeText run={run} event={event} field="input" />;
}

function call_summary(event: RunEvent): string {
  const held = parsed_container(event.input ?? "");
  if (held === undefined || Array.isArray(held)) return (event.input ?? "").slice(0, 160);
  const values = Object.values(held).filter((value) => typeof value === "string" || typeof value === "number");
  return values.join(" ").replace(/\s+/g, " ").slice(0, 160);
}

function ToolCall({ run, call, result }: { run: string; call: RunEvent; result: RunEvent | undefined }) {
  const [open, set_open] = useState(false);
  return (
    <details class="run-tool" onToggle={(event) => event.currentTarget.open && set_open(true)}>
      <summary>
        <Icon name="tool" />
        <b>{call.tool}</b>
        <code class="run-tool-words">
          <Visible text={call_summary(call)} />
        </code>
        <span class="spring" />
        {result?.failed && <State tone="failed" text="failed" />}
        <span class="faint">
          {result ? duration(Math.max(0, to_milliseconds(result.time) - to_milliseconds(call.time))) : "…"}
        </span>
      </summary>
      {open && (
        <div class="run-tool-body">
          <h2>Call</h2>
          <CallInput run={run} event={call} />
          <h2>Result</h2>
          {result ? <WholeText run={run} event={result} field="text" /> : <p class="faint">No result yet.</p>}
        </div>
      )}
    </details>
  );
}

function MessageView({ event, who }: { event: RunEvent; who: string }) {
  return (
    <div class={`run-message message-${event.kind}`}>
      <div class="message-head">
        <span class="message-role">{who}</span>
        <span class="spring" />
        <CopyButton text={event.text} label="Copy message" small />
      </div>
      <Markdown text={event.text} />
    </div>
  );
}

function ArtifactLine({ event, artifacts }: { event: RunEvent; artifacts: Artifact[] }) {
  const artifact = artifacts.find((candidate) => candidate.id === event.artifact);
  return (
    <div class="run-artifact">
      <p>
        <Icon name="download" /> <b>{artifact?.kind ?? "artifact"}</b>{" "}
        <a href="?tab=artifacts">
          <Visible text={artifact?.name ?? event.text} />
        </a>{" "}
        <span class="soft">
          <Visible text={artifact?.summary ?? ""} />
        </span>
      </p>
      {artifact?.media_type.startsWith("image/") && (
        <img src={content_route(artifact.id)} alt={artifact.summary || artifact.name} />
      )}
    </div>
  );
}

/** The text of a line without the state, which is shown before it. */
function step_text(event: RunEvent): string {
  if (event.state === null) return event.text;
  if (event.text.replace(/\.$/, "").toLowerCase() === event.state) return "";
  return event.text.startsWith(`${event.state}: `) ? event.text.slice(event.state.length + 2) : event.text;
}

/** Only the last state is current. */
function StepState({ state, is_past }: { state: RunState; is_past: boolean }) {
  if (!is_past || is_over(state)) return <State tone={run_tones[state]} text={run_words[state]} />;
  return (
    <span class="state past">
      <Icon name="check" />
      {past_words[state] ?? run_words[state]}
    </span>
  );
}

const past_words: Partial<Record<RunState, string>> = {
  queued: "queued",
  preparing: "prepared",
  running: "started",
  waiting: "waited for a follow-up",
};

function Line({ run, event, results, artifacts, is_past }: LineProps) {
  switch (event.kind) {
    case "follow_up":
      return <MessageView event={event} who={event.author ?? "you"} />;
    case "message":
    case "result":
      return event.text === "" ? null : (
        <MessageView event={event} who={event.kind === "result" ? "result" : "worker"} />
      );
    case "thinking":
      return (
        <details class="run-tool">
          <summary>
            <Icon name="spark" /> <span class="soft">Thinking</span>
          </summary>
          <div class="run-tool-body">
            <Markdown text={event.text} />
          </div>
        </details>
      );
    case "tool_call":
      return <ToolCall run={run} call={event} result={results.get(event.call_id ?? "")} />;
    case "artifact":
      return <ArtifactLine event={event} artifacts={artifacts} />;
    case "error":
      return (
        <div class="note failed">
          <Icon name="warning" />
          <p>
            <Visible text={event.text} />
          </p>
        </div>
      );
    case "status":
      if (event.step === "fork") return <EarlierTurns run={run} event={event} />;
      return (
        <p class="run-step">
          {event.state ? (
            <StepState state={event.state} is_past={is_past} />
          ) : (
            event.step && <span class="tag">{event.step}</span>
          )}
          <span class={event.failed ? "strong" : "soft"}>
            <Visible text={step_text(event)} />
          </span>
        </p>
      );
    default:
      return null;
  }
}

/** What the worker of a fork after an earlier turn got before its first prompt. */
function EarlierTurns({ run, event }: { run: string; event: RunEvent }) {
  return (
    <details class="run-tool">
      <summary>
        <span class="tag">fork</span>{" "}
        <span class="soft">The worker got the earlier turns as text, in a new workspace</span>
      </summary>
      <div class="run-tool-body">
        <WholeText run={run} event={event} field="text" />
      </div>
    </details>
  );
}

/** By the id of their call. */
type Results = ReadonlyMap<string, RunEvent>;

interface LineProps {
  run: string;
  event: RunEvent;
  results: Results;
  artifacts: Artifact[];
  /** Another state follows. */
  is_past: boolean;
}

/** The last message has the same text as the result: shown once. */
function shown_events(events: RunEvent[]): RunEvent[] {
  return events.filter((event, index) => {
    if (event.kind === "tool_result" || event.kind === "usage") return false;
    if (event.kind !== "result") return true;
    const before = events
      .slice(0, index)
      .filter((other) => other.kind === "message")
      .pop();
    return before?.text.trim() !== event.text.trim();
  });
}

/** Tool calls in a row, folded into one line; the newest call is in it while the worker works. */
function ToolCalls({ calls, children, results }: { calls: RunEvent[]; children: ComponentChildren; results: Results }) {
  const [open, set_open] = useState(false);
  const only_calls = calls.filter((event) => event.kind === "tool_call");
  const failed = only_calls.filter((call) => results.get(call.call_id ?? "")?.failed).length;
  const last = only_calls[only_calls.length - 1];
  const current = last && !results.has(last.call_id ?? "") ? last : null;
  return (
    <details class="run-tool" onToggle={(event) => set_open(event.currentTarget.open)}>
      <summary>
        <Icon name="tool" />
        <b>{plural(only_calls.length, "tool call")}</b>
        <code class="run-tool-words">
          <Visible text={current ? `${current.tool} ${call_summary(current)}` : tool_counts(calls)} />
        </code>
        <span class="spring" />
        {failed > 0 && <State tone="failed" text={`${failed} failed`} />}
        {current && <span class="faint">…</span>}
      </summary>
      {open && <ol class="run-lines run-calls">{children}</ol>}
    </details>
  );
}

interface TranscriptProps {
  run: string;
  events: RunEvent[];
  artifacts: Artifact[];
  /** The worker works: its last reply is not its result yet. */
  is_live: boolean;
}

export function TranscriptView({ run, events, artifacts, is_live }: TranscriptProps) {
  const results = useMemo(() => {
    const found = new Map<string, RunEvent>();
    for (const event of events) if (event.kind === "tool_result" && event.call_id) found.set(event.call_id, event);
    return found;
  }, [events]);
  const last_state = events.filter((event) => event.state !== null).pop()?.seq ?? 0;
  const lines = grouped_lines(shown_events(events));
  const reply = is_live ? null : last_reply(lines);
  const item = (event: RunEvent) => (
    <li key={event.seq}>
      <Line run={run} event={event} results={results} artifacts={artifacts} is_past={event.seq < last_state} />
    </li>
  );
  return (
    <>
      {reply && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
        <section class="run-reply" aria-label="Result" tabIndex={0}>
          <MessageView event={reply} who="result" />
        </section>
      )}
      <ol class="run-lines" aria-label="Transcript">
        {lines.map((line) =>
          "calls" in line ? (
            <li key={`calls ${line.calls[0]?.seq}`}>
              <ToolCalls calls={line.calls} results={results}>
                {line.calls.map(item)}
              </ToolCalls>
            </li>
          ) : (
            item(line.event)
          ),
        )}
      </ol>
    </>
  );
}
