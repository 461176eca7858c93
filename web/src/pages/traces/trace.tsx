// One trace: the tree with its waterfall on the left, the selected span on the right. The selected span, its tab and
// the search are in the address; collapsed spans are not.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, segment } from "../../api";
import type { SpanRow, TraceOutline } from "../../api_types";
import { use_keys } from "../../keyboard";
import { quoted } from "../../lib/filter/span_filter";
import { exact_count, money, plural, short_count, span_duration } from "../../lib/format/number";
import type { Params } from "../../lib/route";
import { outline_rows } from "../../lib/view/outline";
import {
  build_tree,
  failed_spans,
  folded_at_depth,
  next_index,
  type SpanTree,
  search_spans,
  slowest_path,
  unfolded_to,
  visible_spans,
  without_messages,
} from "../../lib/view/span_tree";
import { reload, use_load, use_refresh } from "../../load";
import { can } from "../../login";
import { Confirm } from "../../parts/confirm";
import { copy_text, Id } from "../../parts/copy";
import { Icon } from "../../parts/icon";
import { Menu, type MenuItem } from "../../parts/menu";
import { use_settled } from "../../parts/settled";
import { Data, Empty, ErrorNote, Note, State } from "../../parts/state";
import { Time } from "../../parts/time";
import { toast_done } from "../../parts/toast";
import { navigate, query, set_query } from "../../router";
import { chat_session_page, trace_page, traces_page } from "../addresses";
import { AddToDatasetButton } from "../datasets/add_to_dataset";
import { project_route, use_project } from "../projects/data";
import { QuickLabels } from "../queues/quick_labels";
import { AskButton } from "../runs/ask";
import { EvalSummary, use_keep_item, use_span_evals } from "./evals";
import { SpanPanel } from "./span";
import { neighbours_of } from "./trace_order";
import { trace_as_markdown } from "./trace_text";
import { TraceTree } from "./tree";

function sums_of(tree: SpanTree) {
  let tokens = 0;
  let cost = 0;
  let session = "";
  for (const { span } of tree.spans) {
    tokens += span.tokens.total;
    cost += span.cost_nano_usd / 1000;
    session ||= span.session_id;
  }
  return { tokens, cost, session };
}

function Summary({ tree, project, spans }: { tree: SpanTree; project: string; spans: number }) {
  const root = tree.spans[0]?.span;
  const { tokens, cost, session } = useMemo(() => sums_of(tree), [tree]);
  if (!root) return null;
  return (
    <div class="trace-summary">
      {tree.errors > 0 && <State tone="failed" text={plural(tree.errors, "error")} />}
      <span title={`${exact_count(tree.duration)} ns`}>
        <Icon name="clock" /> {span_duration(tree.duration)}
      </span>
      <span>{plural(spans, "span")}</span>
      {tokens > 0 && <span title={exact_count(tokens)}>{short_count(tokens)} tokens</span>}
      {cost > 0 && <span title={`$${Number((cost / 1e6).toFixed(9))}`}>{money(cost)}</span>}
      <Time time={root.start_time} />
      {session !== "" && (
        <a href={chat_session_page(project, session)} title="All traces of this chat session">
          <Icon name="chat" /> {session}
        </a>
      )}
      <Id id={root.trace_id} />
    </div>
  );
}

/** The trace above and below in the list that it was opened from. */
function Neighbours({ project, trace }: { project: string; trace: string }) {
  const found = neighbours_of(project, trace);
  const go = (to: string | null | undefined) => to && navigate(trace_page(project, to));
  use_keys([
    { keys: "[", title: "Previous trace of the list", group: "Trace", run: () => void go(found?.previous) },
    { keys: "]", title: "Next trace of the list", group: "Trace", run: () => void go(found?.next) },
  ]);
  if (!found) return null;
  const step = (title: string, icon: "up" | "down", to: string | null) => (
    <button
      type="button"
      class="quiet icon-only"
      aria-label={title}
      title={title}
      disabled={to === null}
      onClick={() => go(to)}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <nav class="trace-neighbours" aria-label="Traces of the list">
      {step("Previous trace", "up", found.previous)}
      {step("Next trace", "down", found.next)}
      <a class="faint" href={found.list} title="Back to the list">
        {found.position}
      </a>
    </nav>
  );
}

/** Saves spans as a file, in the formats of the export. */
function save_export(project: { id: string }, trace: string, format: string, ending: string): void {
  const link = document.createElement("a");
  const search = new URLSearchParams({ format, filter: `trace_id = "${trace}"` });
  link.href = `${project_route(project, "export")}?${search}`;
  link.download = `trace-${trace}.${ending}`;
  link.click();
}

interface TraceActionsProps {
  project: { id: string; name: string };
  trace: string;
  tree: SpanTree;
  /** All of them, also those that the tree leaves out. */
  spans: number;
}

/** Actions on the whole trace. */
function TraceActions({ project, trace, tree, spans }: TraceActionsProps) {
  const [deleting, set_deleting] = useState(false);
  const address = `${window.location.origin}${trace_page(project.name, trace)}`;
  const copied = (text: () => string, done: string) => () =>
    void copy_text(text()).then((ok) => ok && toast_done(done));
  const keep = use_keep_item(project, trace);
  const items: MenuItem[] = [
    { title: "Copy link", icon: "link", run: copied(() => address, "Link copied") },
    {
      title: "Copy as Markdown",
      icon: "copy",
      hint: "for a bug report, without texts",
      run: copied(() => trace_as_markdown(tree, address), "Markdown copied"),
    },
    {
      title: "Download as JSON lines",
      icon: "download",
      divided: true,
      run: () => save_export(project, trace, "jsonl", "jsonl"),
    },
    { title: "Download as OTLP", icon: "download", run: () => save_export(project, trace, "otlp", "otlp.jsonl") },
  ];
  if (keep) items.push({ ...keep, divided: true });
  if (can("trace_delete"))
    items.push({
      title: "Delete trace…",
      icon: "trash",
      dangerous: true,
      divided: true,
      run: () => set_deleting(true),
    });
  return (
    <>
      <Menu label="More actions" class="quiet icon-only" align="right" button={<Icon name="more" />} items={items} />
      {deleting && (
        <Confirm
          title="Delete this trace?"
          consequence={`Its ${plural(spans, "span")} and their evals are deleted from ${project.name} for all members. This cannot be undone.`}
          action="Delete permanently"
          run={async () => {
            await api.delete(project_route(project, `traces/${segment(trace)}`));
            toast_done("Trace deleted");
            void reload(`trace_rows/${project.id}`);
            navigate(traces_page(project.name), { replace: true });
          }}
          on_close={() => set_deleting(false)}
        />
      )}
    </>
  );
}

interface SearchProps {
  found: number[];
  searching: boolean;
  current: number;
  move: (step: 1 | -1) => void;
}

function Search({ found, searching, current, move }: SearchProps) {
  const input = useRef<HTMLInputElement>(null);
  const text = query.value.get("q") ?? "";
  use_keys([{ keys: "/", title: "Search in the trace", group: "Trace", run: () => input.current?.focus() }]);
  const at = found.indexOf(current);
  return (
    <div class="filter-bar small">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label="Search in the trace"
        placeholder="Search names, models, texts"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => set_query({ q: event.currentTarget.value || null }, { replace: true })}
        onKeyDown={(event) => {
          if (event.key === "Enter") move(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      {text !== "" && (
        <span class="search-count" role="status">
          {searching ? "…" : found.length === 0 ? "none" : at >= 0 ? `${at + 1} of ${found.length}` : found.length}
        </span>
      )}
    </div>
  );
}

const no_matches: ReadonlySet<string> = new Set();

/** Ids of the spans whose input, output or exception contains the text; the tree itself has no payloads. */
function use_payload_matches(project: { id: string }, tree: SpanTree, text: string) {
  const settled = use_settled(text.trim(), 250);
  const root = tree.spans[0]?.span;
  const load = use_load(
    root && project.id !== "" && settled.length > 1 ? `found/${root.trace_id}/${settled}` : null,
    async (signal) => {
      const inside = quoted(`*${settled}*`);
      const plain = quoted(settled);
      const page = await api.page<SpanRow>(
        project_route(project, "span_rows"),
        {
          trace_id: root?.trace_id ?? "",
          filter: `text ~ ${inside} or exception_message ~ ${plain} or status_message ~ ${plain}`,
          limit: 1000,
        },
        signal,
      );
      return new Set(page.rows.map((row) => row.span_id));
    },
  );
  const is_settled = settled === text.trim();
  return { ids: (is_settled && load.data) || no_matches, searching: !is_settled || load.loading };
}

interface TreeProps {
  tree: SpanTree;
  project: { id: string; name: string };
  /** Spans of messages that can be left out; null when there are none. */
  messages: { count: number; shown: boolean; toggle: () => void } | null;
}

function Tree({ tree, project, messages }: TreeProps) {
  const [folded, set_folded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => visible_spans(tree, folded), [tree, folded]);
  const slowest = useMemo(() => slowest_path(tree), [tree]);
  const errors = useMemo(() => failed_spans(tree), [tree]);
  const text = query.value.get("q") ?? "";
  const { ids: inside, searching } = use_payload_matches(project, tree, text);
  const found = useMemo(() => search_spans(tree, text, inside), [tree, text, inside]);
  const matches = useMemo(() => new Set(found), [found]);
  const evals = use_span_evals(project, tree.spans[0]?.span.trace_id ?? "");
  const named = query.value.get("span");
  const chosen = named === null ? undefined : tree.index_of(named);
  const selected = chosen ?? 0;

  // A link to a span shows it even when its parent is collapsed.
  useEffect(() => set_folded((known) => unfolded_to(tree, known, selected)), [tree, selected]);

  const select = (index: number | undefined) => {
    const span = index === undefined ? undefined : tree.spans[index]?.span;
    if (span) set_query({ span: span.span_id }, { replace: named !== null });
  };
  const move = (step: 1 | -1) => {
    const at = rows.indexOf(selected);
    select(rows[Math.max(0, Math.min(rows.length - 1, at + step))]);
  };
  const fold = (index: number) => {
    const node = tree.spans[index];
    if (!node || node.below === 0) return;
    const ids = new Set(folded);
    if (!ids.delete(node.span.span_id)) {
      ids.add(node.span.span_id);
      // A selected span inside a collapsed one: the collapsed one is selected.
      if (selected > index && selected <= index + node.below) select(index);
    }
    set_folded(ids);
  };
  const level = (levels: number) => {
    const shown = levels === 0 ? new Set<string>() : folded_at_depth(tree, levels);
    let at = selected;
    for (let up = tree.spans[at]?.parent ?? -1; up >= 0; up = tree.spans[up]?.parent ?? -1) {
      if (shown.has(tree.spans[up]?.span.span_id ?? "")) at = up;
    }
    set_folded(shown);
    if (at !== selected) select(at);
  };
  const fold_left = () => {
    const node = tree.spans[selected];
    if (!node) return;
    if (node.below > 0 && !folded.has(node.span.span_id)) fold(selected);
    else if (node.parent >= 0) select(node.parent);
  };
  const fold_right = () => {
    const node = tree.spans[selected];
    if (!node || node.below === 0) return;
    if (folded.has(node.span.span_id)) fold(selected);
    else select(selected + 1);
  };
  const to_error = (step: 1 | -1) => select(next_index(errors, chosen ?? -1, step));
  // Enter before the matches are known goes to one when they are.
  const waiting = useRef<1 | -1 | null>(null);
  const to_match = (step: 1 | -1) => {
    waiting.current = searching ? step : null;
    if (!searching) select(next_index(found, matches.has(selected) ? selected : -1, step));
  };
  useEffect(() => {
    if (!searching && waiting.current !== null) to_match(waiting.current);
  }, [searching, found]);
  const to_slowest = () => select([...slowest].pop());

  const group = "Trace";
  use_keys([
    { keys: "j", title: "Next span", group, run: () => move(1) },
    { keys: "k", title: "Previous span", group, run: () => move(-1) },
    { keys: "ArrowDown", title: "Next span", group, run: () => move(1) },
    { keys: "ArrowUp", title: "Previous span", group, run: () => move(-1) },
    { keys: "ArrowLeft", title: "Collapse, or go to the parent", group, run: fold_left },
    { keys: "ArrowRight", title: "Expand, or go to the first child", group, run: fold_right },
    { keys: "e", title: "Next error", group, run: () => to_error(1) },
    { keys: "E", title: "Previous error", group, run: () => to_error(-1) },
    { keys: "n", title: "Next search match", group, run: () => to_match(1) },
    { keys: "N", title: "Previous search match", group, run: () => to_match(-1) },
    { keys: "s", title: "Go to the end of the slowest path", group, run: to_slowest },
    ...(messages ? [{ keys: "m", title: "Show or hide message spans", group, run: messages.toggle }] : []),
    { keys: "0", title: "Expand all", group, run: () => level(0) },
    ...[1, 2, 3, 4, 5].map((levels) => ({
      keys: String(levels),
      title: levels === 1 ? "Show one level" : `Show ${levels} levels`,
      group,
      run: () => level(levels),
    })),
  ]);
  const span = tree.spans[selected];
  return (
    <div class={`trace-panes ${named !== null ? "chosen" : ""}`}>
      <div class="trace-left">
        <div class="trace-bar">
          <Search found={found} searching={searching} current={selected} move={to_match} />
          <button type="button" class="quiet" disabled={errors.length === 0} onClick={() => to_error(1)}>
            Next error <kbd>e</kbd>
          </button>
          <button type="button" class="quiet" onClick={to_slowest}>
            Slowest path <kbd>s</kbd>
          </button>
          <span class="spring" />
          {messages && (
            <button
              type="button"
              class="quiet"
              aria-pressed={messages.shown}
              title="Messages between parts of the application (OpenTelemetry's kinds producer and consumer)"
              onClick={messages.toggle}
            >
              {messages.shown ? "Hide" : "Show"} {plural(messages.count, "message span")} <kbd>m</kbd>
            </button>
          )}
          <label class="levels">
            Levels
            <select
              value=""
              onChange={(event) => {
                level(Number(event.currentTarget.value));
                event.currentTarget.value = "";
              }}
            >
              <option value="" disabled hidden>
                {folded.size === 0 ? "all" : "some"}
              </option>
              {[1, 2, 3, 4, 5]
                .filter((levels) => levels <= tree.depth)
                .map((levels) => (
                  <option key={levels} value={levels}>
                    {levels}
                  </option>
                ))}
              <option value="0">all</option>
            </select>
          </label>
        </div>
        <TraceTree
          tree={tree}
          rows={rows}
          selected={selected}
          slowest={slowest}
          matches={matches}
          folded={folded}
          evals={evals}
          on_select={select}
          on_fold={fold}
        />
      </div>
      {span && <SpanPanel project={project} node={span} />}
    </div>
  );
}

export function TracePage({ params }: { params: Params }) {
  const project = use_project(params);
  const id = project.data?.id;
  const trace = params.trace ?? "";
  const key = `trace/${id}/${trace}`;
  const load = use_load(id ? key : null, async (signal) => {
    const outline = await api.get<TraceOutline>(
      project_route(project.data, `traces/${segment(trace)}/outline`),
      {},
      signal,
    );
    return { is_cut: outline.is_cut, spans: outline_rows(trace, outline) };
  });
  const skeleton = load.data;
  const [messages_shown, set_messages_shown] = useState(false);
  const steps = useMemo(() => skeleton && without_messages(skeleton.spans), [skeleton]);
  const messages = skeleton && steps ? skeleton.spans.length - steps.length : 0;
  // A link to a message shows it.
  const named = query.value.get("span");
  const is_named_hidden = named !== null && messages > 0 && !steps?.some((span) => span.span_id === named);
  const with_messages = messages_shown || is_named_hidden;
  const tree = useMemo(
    () => skeleton && steps && build_tree(with_messages ? skeleton.spans : steps),
    [skeleton, steps, with_messages],
  );
  const toggle_messages = () => {
    if (with_messages && is_named_hidden) set_query({ span: null }, { replace: true });
    set_messages_shown(!with_messages);
  };
  const missing = load.error?.status === 404 || tree?.spans.length === 0;
  // A trace can be linked before its spans have arrived.
  use_refresh(missing && id ? key : null, 3000);
  const name = params.project ?? "";
  return (
    <div class="trace-page">
      <header class="trace-head">
        <h1>{tree?.spans[0]?.span.name || (missing ? "Not found" : "Trace")}</h1>
        {tree && <Summary tree={tree} project={name} spans={skeleton?.spans.length ?? 0} />}
        {tree && id && !missing && (
          <div class="trace-actions">
            <QuickLabels project={{ id }} trace={trace} />
            <EvalSummary of={{ project: { id }, target: "trace", target_id: trace }} />
            <AskButton project={name} about={[{ kind: "trace", value: trace }]} quiet />
            <AddToDatasetButton project={{ id }} sources={{ kind: "traces", ids: [trace] }} quiet />
            <Neighbours project={name} trace={trace} />
            <TraceActions project={{ id, name }} trace={trace} tree={tree} spans={skeleton?.spans.length ?? 0} />
          </div>
        )}
      </header>
      {project.error && <ErrorNote error={project.error} retry={() => void reload("project/")} />}
      {skeleton?.is_cut && (
        <Note kind="warning" icon="warning">
          This trace is too large for one page. Only its first {exact_count(skeleton.spans.length)} spans are shown.
        </Note>
      )}
      {missing ? (
        <Empty
          icon="trace"
          title="Trace not found"
          text="It was deleted, is older than the retention of the project, or its spans have not arrived yet. This page appears when they do."
        >
          <a class="button" href={traces_page(name)}>
            All traces
          </a>
        </Empty>
      ) : (
        <Data load={{ ...load, loading: load.loading, data: tree }} retry={() => void reload(key)}>
          {(built) => (
            <Tree
              tree={built}
              project={{ id: id ?? "", name }}
              messages={messages > 0 ? { count: messages, shown: with_messages, toggle: toggle_messages } : null}
            />
          )}
        </Data>
      )}
    </div>
  );
}
