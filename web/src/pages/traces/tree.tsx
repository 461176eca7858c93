// The tree and waterfall of a trace. Only visible rows are drawn, so 50,000 spans scroll like 50.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EvalView } from "../../api_types";
import { exact_count, money, plural, short_count, span_duration } from "../../lib/format/number";
import { minimap_marks } from "../../lib/view/minimap";
import { axis_marks, type SpanTree, type TreeSpan } from "../../lib/view/span_tree";
import { row_window, scroll_to_show } from "../../lib/view/window";
import { Icon } from "../../parts/icon";
import { EvalChips } from "./evals";
import { SpanKind } from "./span_kind";

/** As in style/traces.css. */
const row_height = 28;
const most_indent = 14;

interface TraceTreeProps {
  tree: SpanTree;
  /** Indexes of the rows, in order. */
  rows: number[];
  selected: number;
  slowest: ReadonlySet<number>;
  matches: ReadonlySet<number>;
  folded: ReadonlySet<string>;
  /** By span id. */
  evals: ReadonlyMap<string, EvalView[]>;
  on_select: (index: number) => void;
  on_fold: (index: number) => void;
}

/** The indent is limited, so that names in deep trees stay visible. */
const indent_of = (depth: number) => Math.min(depth, most_indent) * 14;

interface RowProps {
  tree: SpanTree;
  index: number;
  node: TreeSpan;
  row_index: number;
  chosen: boolean;
  slow: boolean;
  match: boolean;
  is_folded: boolean;
  evals: EvalView[] | undefined;
  on_select: (index: number) => void;
  on_fold: (index: number) => void;
}

/** "chat gpt-4o-mini" of the model "gpt-4o-mini-2024-07-18". */
const names_model = ({ name, model }: { name: string; model: string }) =>
  model !== "" && name.split(/[\s/]+/).some((word) => word.length >= 4 && model.startsWith(word));

/** Drawn again only when its properties change: scrolling moves rows but does not change them. */
function Row(props: RowProps) {
  const { node, row_index, chosen, slow, match, is_folded, evals } = props;
  return useMemo(() => draw_row(props), [node, row_index, chosen, slow, match, is_folded, evals]);
}

function draw_row(props: RowProps) {
  const { tree, index, node, row_index, chosen, slow, match, is_folded, evals, on_select, on_fold } = props;
  const { span } = node;
  const failed = span.status === "error";
  const total = Math.max(tree.duration, 1);
  const left = (100 * node.start) / total;
  const width = (100 * span.duration_ns) / total;
  const detail = names_model(span) ? "" : span.model || (span.name.includes(span.tool_name) ? "" : span.tool_name);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the page's keys move, fold and open
    <div
      role="row"
      class={`span-row ${chosen ? "chosen" : ""} ${slow ? "slow" : ""} ${failed ? "failed" : ""} ${match ? "match" : ""}`}
      data-span={span.span_id}
      aria-level={node.depth + 1}
      aria-rowindex={row_index + 2}
      aria-selected={chosen}
      aria-expanded={node.below > 0 ? !is_folded : undefined}
      tabIndex={chosen ? 0 : -1}
      onClick={() => on_select(index)}
    >
      <div role="gridcell" tabIndex={-1} class="span-name" style={{ paddingLeft: `${indent_of(node.depth)}px` }}>
        <span class="guides" style={{ width: `${indent_of(node.depth)}px` }} aria-hidden="true" />
        {node.below > 0 ? (
          <button
            type="button"
            class="fold-button"
            tabIndex={-1}
            aria-label={is_folded ? `Expand ${plural(node.below, "span")}` : "Collapse"}
            onClick={(event) => {
              event.stopPropagation();
              on_fold(index);
            }}
          >
            <Icon name={is_folded ? "right" : "down"} />
          </button>
        ) : (
          <span class="fold-button" />
        )}
        <SpanKind kind={span.kind} />
        <span class="span-title" title={span.name}>
          {span.name}
        </span>
        {detail !== "" && <span class="span-detail">{detail}</span>}
        {evals && <EvalChips evals={evals} most={2} />}
        {is_folded && <span class="tag">{short_count(node.below)}</span>}
        {node.orphan && (
          <span class="tag" title={`Its parent ${span.parent_id} was not received`}>
            parent missing
          </span>
        )}
        {failed && (
          <span class="span-error" title={span.status_message || "error"}>
            <Icon name="warning" />
            <span class="off-screen">error</span>
          </span>
        )}
        {!failed && is_folded && node.errors_below > 0 && (
          <span class="span-error" title={`${plural(node.errors_below, "error")} inside`}>
            <Icon name="warning" /> {node.errors_below}
          </span>
        )}
      </div>
      <div role="gridcell" tabIndex={-1} class="span-number tokens" title={exact_count(span.tokens.total)}>
        {span.tokens.total > 0 ? short_count(span.tokens.total) : ""}
      </div>
      <div role="gridcell" tabIndex={-1} class="span-number cost">
        {span.cost_nano_usd > 0 ? money(span.cost_nano_usd / 1000) : ""}
      </div>
      <div role="gridcell" tabIndex={-1} class="span-time">
        <span class="span-bar" style={{ left: `${left}%`, width: `${Math.max(width, 0.15)}%` }} />
        <span class="span-length" style={{ left: `${Math.min(100, left + width)}%` }}>
          {span_duration(span.duration_ns)}
        </span>
      </div>
    </div>
  );
}

function Axis({ duration }: { duration: number }) {
  return (
    <div class="axis" aria-hidden="true">
      {axis_marks(duration, 4).map((mark) => {
        const at = duration > 0 ? (100 * mark) / duration : 0;
        return (
          <span key={mark} class={at > 90 ? "axis-mark end" : "axis-mark"} style={{ left: `${at}%` }}>
            {mark === 0 ? "0" : span_duration(mark)}
          </span>
        );
      })}
    </div>
  );
}

interface MinimapProps {
  tree: SpanTree;
  rows: number[];
  scroll_top: number;
  view_height: number;
  scroll_to: (top: number) => void;
}

/** The whole waterfall in one strip with errors marked; a click or drag scrolls there. */
function Minimap({ tree, rows, scroll_top, view_height, scroll_to }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const height = Math.max(view_height, 1);
  const all = rows.length * row_height;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    const width = element.clientWidth;
    const scale = window.devicePixelRatio || 1;
    element.width = width * scale;
    element.height = height * scale;
    context.scale(scale, scale);
    const style = getComputedStyle(element);
    // The style sheet defines both colours, so that they follow the theme.
    const line = Math.max(1, Math.min(3, height / rows.length));
    const marks = minimap_marks(tree, rows, width, height);
    for (const failed of [false, true]) {
      context.fillStyle = failed ? style.color : style.outlineColor;
      for (const mark of marks)
        if (mark.failed === failed) context.fillRect(mark.left, mark.top, mark.right - mark.left, line);
    }
  }, [tree, rows, height]);
  const go = (event: PointerEvent & { currentTarget: HTMLElement }) => {
    const box = event.currentTarget.getBoundingClientRect();
    scroll_to(((event.clientY - box.top) / box.height) * all - view_height / 2);
  };
  return (
    <div
      class="minimap"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        go(event);
      }}
      onPointerMove={(event) => event.buttons === 1 && go(event)}
    >
      <canvas ref={canvas} style={{ height: `${height}px` }} />
      <span
        class="minimap-view"
        style={{ top: `${(height * scroll_top) / all}px`, height: `${Math.max(8, (height * view_height) / all)}px` }}
      />
    </div>
  );
}

export function TraceTree(props: TraceTreeProps) {
  const { tree, rows } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [scroll_top, set_scroll_top] = useState(0);
  const [view_height, set_view_height] = useState(window.innerHeight);
  const visible = row_window(scroll_top, view_height, row_height, rows.length, 12);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const observer = new ResizeObserver(() => set_view_height(box.clientHeight));
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  // Scrolls the selected row into view, as little as possible.
  const at = useMemo(() => rows.indexOf(props.selected), [rows, props.selected]);
  // Stable functions, so that rows are not drawn again because of them.
  const current = useRef(props);
  current.current = props;
  const [actions] = useState(() => ({
    select: (index: number) => current.current.on_select(index),
    fold: (index: number) => current.current.on_fold(index),
  }));
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box && at >= 0) box.scrollTop = scroll_to_show(at, box.scrollTop, box.clientHeight, row_height, 0);
  }, [at]);
  useEffect(() => {
    const focused = document.activeElement;
    if (!(focused instanceof HTMLElement) || !focused.closest(".span-rows")) return;
    scroller.current?.querySelector<HTMLElement>(".span-row.chosen")?.focus({ preventScroll: true });
  }, [props.selected]);
  return (
    <div class="tree">
      <div class="span-rows" role="treegrid" aria-label="Spans" aria-rowcount={rows.length + 1} aria-readonly="true">
        <div role="row" class="span-head" tabIndex={-1} aria-rowindex={1}>
          <div role="columnheader" tabIndex={-1}>
            Span
          </div>
          <div role="columnheader" tabIndex={-1} class="span-number tokens">
            Tokens
          </div>
          <div role="columnheader" tabIndex={-1} class="span-number cost">
            Cost
          </div>
          <div role="columnheader" tabIndex={-1} class="span-time">
            <span class="off-screen">Time</span>
            <Axis duration={tree.duration} />
          </div>
        </div>
        <div
          class="span-scroll"
          role="rowgroup"
          ref={scroller}
          onScroll={(event) => set_scroll_top(event.currentTarget.scrollTop)}
        >
          <div style={{ height: `${visible.above}px` }} />
          {rows.slice(visible.first, visible.end).map((index, offset) => {
            const node = tree.spans[index] as TreeSpan;
            return (
              <Row
                key={node.span.span_id}
                tree={tree}
                index={index}
                node={node}
                row_index={visible.first + offset}
                chosen={index === props.selected}
                slow={props.slowest.has(index)}
                match={props.matches.has(index)}
                is_folded={props.folded.has(node.span.span_id)}
                evals={props.evals.get(node.span.span_id)}
                on_select={actions.select}
                on_fold={actions.fold}
              />
            );
          })}
          <div style={{ height: `${visible.below}px` }} />
        </div>
      </div>
      {rows.length > 500 && (
        <Minimap
          tree={tree}
          rows={rows}
          scroll_top={scroll_top}
          view_height={view_height}
          scroll_to={(top) => scroller.current?.scrollTo(0, top)}
        />
      )}
    </div>
  );
}
