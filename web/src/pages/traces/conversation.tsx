// A chat session as a conversation: input and output of each of its traces, oldest first.

import type { Project, TraceRow, TraceTextView } from "../../api_types";
import { money, plural, short_count, span_duration } from "../../lib/format/number";
import { Prose, ReadingSwitch } from "../../parts/content";
import { State } from "../../parts/state";
import { Time } from "../../parts/time";
import { trace_page } from "../addresses";
import { AddToDatasetButton } from "../datasets/add_to_dataset";
import { use_trace_texts } from "./trace_texts";

function Words({ from, text }: { from: "user" | "assistant"; text: string }) {
  return (
    <div class={`message role-${from}`}>
      <div class="message-head">
        <span class="message-role">{from}</span>
      </div>
      <Prose text={text} />
    </div>
  );
}

function Turn({ row, text, project }: { row: TraceRow; text: TraceTextView | null | undefined; project: Project }) {
  const title = text?.title || row.root_name || "(no root span)";
  return (
    <li class="turn">
      <div class="turn-head">
        <a href={trace_page(project.name, row.trace_id)}>{title}</a>
        {row.errors > 0 && <State tone="failed" text={plural(row.errors, "error")} />}
        <span class="spring" />
        <span class="faint">
          {span_duration(row.duration_ns)}
          {row.tokens > 0 && ` · ${short_count(row.tokens)} tokens`}
          {row.cost_nano_usd > 0 && ` · ${money(row.cost_nano_usd / 1000)}`}
        </span>
        <Time time={row.start_time} />
        <AddToDatasetButton project={project} sources={{ kind: "turns", ids: [row.trace_id] }} quiet />
      </div>
      {text?.input && <Words from="user" text={text.input} />}
      {text?.output && <Words from="assistant" text={text.output} />}
      {text !== undefined && !text?.input && !text?.output && (
        <p class="faint">The trace has no texts. Its spans show what it did.</p>
      )}
    </li>
  );
}

interface ConversationProps {
  project: Project;
  /** Newest first, as the list has them. */
  rows: TraceRow[];
  /** Loads earlier turns, if there are any. */
  more: (() => void) | null;
}

export function Conversation({ project, rows, more }: ConversationProps) {
  const texts = use_trace_texts(
    project,
    rows.map((row) => row.trace_id),
  );
  return (
    <section class="conversation" aria-label="Conversation of the chat session">
      <div class="reading-bar">
        {more && (
          <button type="button" onClick={more}>
            Show earlier turns
          </button>
        )}
        <span class="spring" />
        <ReadingSwitch />
      </div>
      <ol class="turns">
        {[...rows].reverse().map((row) => (
          <Turn key={row.trace_id} row={row} text={texts.get(row.trace_id)} project={project} />
        ))}
      </ol>
    </section>
  );
}
