// The selected span: the facts from the tree immediately, the payload when the selection rests on it.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { Message as ChatMessage, Document as SpanDocument, SpanPayload, SpanRow, ToolCall } from "../../api_types";
import { use_keys } from "../../keyboard";
import { attribute_operand, with_condition } from "../../lib/filter/span_filter";
import { exact_count, money, short_count, span_duration } from "../../lib/format/number";
import { local_time, to_milliseconds } from "../../lib/format/time";
import type { TreeSpan } from "../../lib/view/span_tree";
import { reload, use_load } from "../../load";
import { can } from "../../login";
import { Content, LongText, Prose, ReadingSwitch } from "../../parts/content";
import { CopyButton, Id } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { JsonValue, parsed_container } from "../../parts/json_view";
import { MediaList } from "../../parts/media";
import { Menu } from "../../parts/menu";
import { use_settled } from "../../parts/settled";
import { Facts } from "../../parts/slide_over";
import { Data, Empty, Note, State } from "../../parts/state";
import { current_tab, Tabs } from "../../parts/tabs";
import { navigate, query, set_query } from "../../router";
import { playground_page, trace_page, traces_page } from "../addresses";
import { AddToDatasetButton } from "../datasets/add_to_dataset";
import { TextDiff } from "../datasets/text_diff";
import { project_route } from "../projects/data";
import { Evals } from "./evals";
import { SpanKind } from "./span_kind";

function Call({ call }: { call: ToolCall }) {
  return (
    <div class="tool-call">
      <p>
        <Icon name="tool" /> <b>{call.name}</b> {call.id !== "" && <code class="faint">{call.id}</code>}
      </p>
      {call.arguments !== "" && <Content text={call.arguments} />}
    </div>
  );
}

interface MessageProps {
  message: ChatMessage;
  /** Chosen for a comparison of two messages; null: there is no other message. */
  chosen: boolean | null;
  on_choose: () => void;
}

function Message({ message, chosen, on_choose }: MessageProps) {
  return (
    <li class={`message role-${message.role}`}>
      <div class="message-head">
        <span class="message-role">{message.role || "message"}</span>
        {message.tool_call_id !== "" && <code class="faint">{message.tool_call_id}</code>}
        <span class="spring" />
        {chosen !== null && message.content !== "" && (
          <button
            type="button"
            class="quiet icon-only"
            aria-pressed={chosen}
            aria-label="Compare this message"
            title={chosen ? "Do not compare" : "Compare: choose two messages"}
            onClick={on_choose}
          >
            <Icon name="compare" />
          </button>
        )}
        <CopyButton text={message.content} label="Copy message" small />
      </div>
      {message.content !== "" && <Prose text={message.content} />}
      <MediaList media={message.media} />
      {message.tool_calls.map((call, index) => (
        <Call key={call.id || index} call={call} />
      ))}
    </li>
  );
}

function Messages({ payload }: { payload: SpanPayload }) {
  const { input, output } = payload.conversation;
  const all = [...input, ...output];
  const [chosen, set_chosen] = useState<number[]>([]);
  useEffect(() => set_chosen([]), [payload.span.span_id]);
  // The two that were chosen last, in the order of the conversation.
  const choose = (index: number) =>
    set_chosen(chosen.includes(index) ? chosen.filter((one) => one !== index) : [...chosen, index].slice(-2));
  const choice = (index: number) => ({
    chosen: all.length < 2 ? null : chosen.includes(index),
    on_choose: () => choose(index),
  });
  const [before, after] = [...chosen].sort((a, b) => a - b).map((index) => all[index]);
  return (
    <>
      <div class="reading-bar">
        <ReadingSwitch />
      </div>
      {chosen.length === 1 && <p class="soft">Choose another message to compare it with.</p>}
      {before && after && (
        <section class="payload" aria-label="Comparison of two messages">
          <div class="payload-head">
            <h3>
              From {before.role || "message"} to {after.role || "message"}
            </h3>
            <span class="spring" />
            <button type="button" class="quiet" onClick={() => set_chosen([])}>
              Close
            </button>
          </div>
          <TextDiff before={before.content} after={after.content} label="Differences of the messages" />
        </section>
      )}
      <ol class="messages" aria-label="Messages to the model">
        {input.map((message, index) => (
          <Message key={index} message={message} {...choice(index)} />
        ))}
      </ol>
      {output.length > 0 && (
        <>
          <h3 class="answer-head">Response{payload.finish_reason && ` (${payload.finish_reason})`}</h3>
          <ol class="messages" aria-label="Messages of the model">
            {output.map((message, index) => (
              <Message key={index} message={message} {...choice(input.length + index)} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

function Payload({ title, text, mime }: { title: string; text: string; mime: string }) {
  return (
    <section class="payload" aria-label={title}>
      <div class="payload-head">
        <h3>{title}</h3>
        {mime !== "" && <span class="faint">{mime}</span>}
        <span class="spring" />
        {text !== "" && <ReadingSwitch />}
        {text !== "" && <CopyButton text={text} label={`Copy ${title.toLowerCase()}`} small />}
      </div>
      {text === "" ? <p class="faint">Not recorded.</p> : <Prose text={text} />}
    </section>
  );
}

function Documents({ documents }: { documents: SpanDocument[] }) {
  return (
    <ol class="messages">
      {documents.map((document, index) => (
        <li class="message" key={document.id || index}>
          <div class="message-head">
            <span class="message-role">{document.id || `document ${index + 1}`}</span>
            {document.score !== null && <span class="tag">score {Number(document.score.toPrecision(4))}</span>}
            <span class="spring" />
            <CopyButton text={document.content} label="Copy document" small />
          </div>
          <LongText text={document.content} />
          {document.metadata !== "" && <Content text={document.metadata} />}
        </li>
      ))}
    </ol>
  );
}

/** Attributes as rows; a short value can be used as a filter. */
function Attributes({ value, project, filterable }: { value: unknown; project: string; filterable: boolean }) {
  const [wanted, set_wanted] = useState("");
  const entries = Object.entries((value ?? {}) as Record<string, unknown>).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return <p class="faint">None.</p>;
  const fits = ([key, entry]: [string, unknown]) =>
    `${key} ${typeof entry === "string" ? entry : JSON.stringify(entry)}`.toLowerCase().includes(wanted.toLowerCase());
  return (
    <>
      {entries.length > 8 && (
        <input
          type="search"
          class="attribute-search"
          aria-label="Find an attribute"
          placeholder={`Find among ${entries.length} attributes`}
          value={wanted}
          onInput={(event) => set_wanted(event.currentTarget.value)}
        />
      )}
      <dl class="attributes">
        {entries.filter(fits).map(([key, entry]) => (
          <div key={key}>
            <dt title={key}>{key}</dt>
            <dd>
              <AttributeValue value={entry} />
              <AttributeMenu name={key} value={entry} project={project} filterable={filterable} />
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function AttributeValue({ value }: { value: unknown }) {
  if (typeof value === "string" && parsed_container(value) === undefined) return <LongText text={value} />;
  return <JsonValue value={value} open={0} />;
}

interface AttributeMenuProps {
  name: string;
  value: unknown;
  project: string;
  filterable: boolean;
}

function AttributeMenu({ name, value, project, filterable }: AttributeMenuProps) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const short = filterable && typeof value !== "object" && text.length <= 200;
  const go = (sign: "=" | "!=") =>
    navigate(traces_page(project, with_condition("", attribute_operand(name), sign, text)));
  if (!short) return <CopyButton text={text} label={`Copy ${name}`} small />;
  return (
    <>
      <CopyButton text={text} label={`Copy ${name}`} small />
      <Menu
        label={`Filter by ${name}`}
        class="quiet icon-only"
        align="right"
        button={<Icon name="filter" />}
        items={[
          { title: "Traces with this value", icon: "plus", run: () => go("=") },
          { title: "Traces without this value", icon: "stop", run: () => go("!=") },
        ]}
      />
    </>
  );
}

interface StoredEvent {
  name?: string;
  time_ns?: number;
  attributes?: unknown;
}

function Events({ events, start }: { events: StoredEvent[]; start: string }) {
  return (
    <ol class="messages">
      {events.map((event, index) => (
        <li key={index} class={event.name === "exception" ? "message failed" : "message"}>
          <div class="message-head">
            <span class="message-role">{event.name || "event"}</span>
            <span class="spring" />
            <span class="faint mono" title="After the start of the span">
              {event.time_ns ? offset_text(start, event.time_ns) : ""}
            </span>
          </div>
          <JsonValue value={event.attributes ?? {}} />
        </li>
      ))}
    </ol>
  );
}

/** To the microsecond: a number of this size has no more digits. */
function offset_text(start: string, time_ns: number): string {
  const fraction = Number(`0.${/\.(\d+)/.exec(start)?.[1] ?? "0"}`) % 0.001;
  const microseconds = Math.round(time_ns / 1000 - to_milliseconds(start) * 1000 - fraction * 1e6);
  return `+${span_duration(Math.max(0, microseconds) * 1000)}`;
}

function token_text(span: SpanRow): string {
  const { input, cache_read, cache_write, output, reasoning } = span.tokens;
  const parts: [number, string][] = [
    [input, "in"],
    [cache_read, "from cache"],
    [cache_write, "to cache"],
    [output, "out"],
    [reasoning, "reasoning"],
  ];
  const used = parts.filter(([count]) => count > 0);
  return used.map(([count, name]) => `${exact_count(count)} ${name}`).join(" · ");
}

function SpanFacts({ node, payload }: { node: TreeSpan; payload: SpanPayload | undefined }) {
  const { span } = node;
  const rows: [string, ComponentChildren][] = [
    [
      "Time",
      <span key="time" title={`${span.start_time}, ${exact_count(span.duration_ns)} ns`}>
        {span_duration(span.duration_ns)}{" "}
        <span class="faint">
          from +{span_duration(node.start)}, at {local_time(span.start_time)}
        </span>
      </span>,
    ],
  ];
  if (span.model !== "") rows.push(["Model", `${span.model}${span.provider ? ` (${span.provider})` : ""}`]);
  if (span.tokens.total > 0)
    rows.push([
      "Tokens",
      <span key="tokens">
        {short_count(span.tokens.total)} <span class="faint">{token_text(span)}</span>
      </span>,
    ]);
  if (payload && payload.first_token_ns > 0)
    rows.push(["First token", `after ${span_duration(payload.first_token_ns)}`]);
  if (span.cost_nano_usd > 0) rows.push(["Cost", money(span.cost_nano_usd / 1000)]);
  if (span.tool_name !== "") rows.push(["Tool", span.tool_name]);
  if (span.service !== "") rows.push(["Service", `${span.service} ${payload?.version ?? ""}`]);
  if (span.user_id !== "") rows.push(["User", span.user_id]);
  rows.push(["Span id", <Id key="id" id={span.span_id} />]);
  return <Facts rows={rows} />;
}

function tabs_of(payload: SpanPayload): { id: string; title: string }[] {
  const { conversation } = payload;
  const messages = conversation.input.length + conversation.output.length;
  const counted = (id: string, title: string, count: number) => (count > 0 ? [{ id, title: `${title} ${count}` }] : []);
  return [
    ...counted("messages", "Messages", messages),
    { id: "io", title: "Input and output" },
    ...counted("documents", "Documents", conversation.documents.length),
    ...counted("tools", "Tools", conversation.tools.length),
    { id: "attributes", title: "Attributes" },
    ...counted("events", "Events", Array.isArray(payload.events) ? payload.events.length : 0),
    { id: "evals", title: "Evals" },
  ];
}

function PayloadTabs({
  payload,
  project: { id, name: project },
}: {
  payload: SpanPayload;
  project: SpanPanelProps["project"];
}) {
  const tabs = tabs_of(payload);
  const tab = current_tab(tabs);
  const { conversation } = payload;
  return (
    <>
      <Tabs label="Parts of the span" tabs={tabs} />
      {payload.truncated.length > 0 && (
        <Note kind="warning" icon="warning">
          Truncated to the size limit when received: {payload.truncated.join(", ")}
        </Note>
      )}
      {tab === "messages" && <Messages payload={payload} />}
      {tab === "io" && (
        <>
          <Payload title="Input" text={payload.input} mime={payload.input_mime} />
          <Payload title="Output" text={payload.output} mime={payload.output_mime} />
          {conversation.prompt_template && (
            <Payload
              title="Prompt template"
              text={conversation.prompt_template.text}
              mime={conversation.prompt_template.version}
            />
          )}
        </>
      )}
      {tab === "documents" && <Documents documents={conversation.documents} />}
      {tab === "tools" && (
        <ol class="messages">
          {conversation.tools.map((tool, index) => (
            <li class="message" key={index}>
              <Content text={tool} />
            </li>
          ))}
        </ol>
      )}
      {tab === "attributes" && (
        <>
          <div class="payload-head">
            <h3>Span</h3>
            <span class="spring" />
            <CopyButton text={JSON.stringify(payload.attributes, null, 2)} label="Copy all attributes as JSON" small />
          </div>
          <Attributes value={payload.attributes} project={project} filterable />
          <h3>Resource</h3>
          <Attributes value={payload.resource} project={project} filterable={false} />
        </>
      )}
      {tab === "evals" && <Evals of={{ project: { id }, target: "span", target_id: payload.span.span_id }} />}
      {tab === "events" && <Events events={payload.events as StoredEvent[]} start={payload.span.start_time} />}
    </>
  );
}

const span_address = (project: string, span: SpanRow) =>
  `${window.location.origin}${trace_page(project, span.trace_id)}?${new URLSearchParams({ span: span.span_id })}`;

interface SpanPanelProps {
  project: { id: string; name: string };
  node: TreeSpan;
}

export function SpanPanel({ project, node }: SpanPanelProps) {
  const { span } = node;
  const settled = use_settled(span.span_id, 90);
  const key = `span/${project.id}/${span.trace_id}/${settled}`;
  const at = `traces/${segment(span.trace_id)}/spans/${segment(settled)}`;
  const load = use_load(key, (signal) => api.get<SpanPayload>(project_route(project, at), {}, signal));
  const payload = settled === span.span_id ? load.data : undefined;
  const close = () => set_query({ span: null, tab: null });
  use_keys(
    query.value.get("span") === null
      ? []
      : [{ keys: "Escape", title: "Back to the root span", group: "Trace", run: close }],
  );
  return (
    <aside class="span-panel" aria-label={`Span ${span.name}`}>
      <header class="span-panel-head">
        <SpanKind kind={span.kind} />
        <h2>{span.name}</h2>
        {span.status === "error" && <State tone="failed" text="error" />}
        {span.status === "ok" && <State tone="done" text="OK" />}
        <span class="spring" />
        <CopyButton text={span_address(project.name, span)} label="Copy link to this span" icon="link" small />
        {span.kind === "llm" && can("run_start") && (
          <a
            class="button quiet"
            href={playground_page({ project: project.name, trace: span.trace_id, span: span.span_id })}
          >
            <Icon name="play" /> Open in playground
          </a>
        )}
        <AddToDatasetButton project={project} sources={{ kind: "spans", ids: [span.span_id] }} quiet />
        <button type="button" class="quiet icon-only phone-only" aria-label="Close span" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {span.status === "error" && (span.status_message !== "" || span.exception_type !== "") && (
        <Note kind="failed" icon="warning">
          {span.exception_type !== "" && <b>{span.exception_type}: </b>}
          {span.status_message || payload?.exception_message}
        </Note>
      )}
      <SpanFacts node={node} payload={payload} />
      {load.error?.status === 404 ? (
        <Empty icon="trace" title="No payload" text="The payload of this span was deleted. Only its summary is kept." />
      ) : (
        <Data load={{ ...load, data: payload }} retry={() => void reload(key)}>
          {(data) => <PayloadTabs key={data.span.span_id} payload={data} project={project} />}
        </Data>
      )}
    </aside>
  );
}
