// A trace as a tree: spans in display order with depth, and queries for the page. Built once per trace; collapsing only
// selects rows. Works for 50,000 spans and for broken traces (missing parents, loops).

import type { SpanRow } from "../../api_types";
import { to_milliseconds } from "../format/time";

export interface TreeSpan {
  span: SpanRow;
  /** Nanoseconds after the start of the trace. */
  start: number;
  depth: number;
  /** Index of the parent in the tree; -1 for roots. */
  parent: number;
  /** Spans below, at any depth; they follow this one directly. */
  below: number;
  /** The parent is not in the trace. */
  orphan: boolean;
  /** Errors among the spans below. */
  errors_below: number;
}

export interface SpanTree {
  spans: TreeSpan[];
  /** Nanoseconds from the first start to the last end. */
  duration: number;
  depth: number;
  errors: number;
  index_of: Map<string, number>;
}

/** Nanoseconds of a server time within its millisecond. */
function rest_nanoseconds(time: string): number {
  const digits = /\.(\d+)/.exec(time)?.[1] ?? "";
  return Number(digits.padEnd(9, "0").slice(3, 9));
}

function compare_starts(a: TreeSpan, b: TreeSpan): number {
  return a.start - b.start || b.span.duration_ns - a.span.duration_ns;
}

export function build_tree(rows: SpanRow[]): SpanTree {
  let first = rows[0]?.start_time ?? "";
  for (const row of rows) if (row.start_time < first) first = row.start_time;
  const first_ms = to_milliseconds(first);
  const first_rest = rest_nanoseconds(first);
  const all = rows.map<TreeSpan>((span) => ({
    span,
    start: (to_milliseconds(span.start_time) - first_ms) * 1e6 + rest_nanoseconds(span.start_time) - first_rest,
    depth: 0,
    parent: -1,
    below: 0,
    orphan: false,
    errors_below: 0,
  }));
  const ids = new Set(rows.map((row) => row.span_id));
  const children = new Map<string, TreeSpan[]>();
  const roots: TreeSpan[] = [];
  for (const node of all) {
    const { parent_id, span_id } = node.span;
    if (parent_id !== "" && parent_id !== span_id && ids.has(parent_id)) {
      const list = children.get(parent_id);
      if (list) list.push(node);
      else children.set(parent_id, [node]);
    } else {
      node.orphan = parent_id !== "";
      roots.push(node);
    }
  }
  const spans: TreeSpan[] = [];
  const index_of = new Map<string, number>();
  const placed = new Set<TreeSpan>();
  // Iterative, not recursive: a chain of spans can be deeper than the call stack.
  const place = (root: TreeSpan) => {
    const waiting: TreeSpan[] = [root];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      if (placed.has(node)) continue;
      placed.add(node);
      const at = spans.push(node) - 1;
      if (!index_of.has(node.span.span_id)) index_of.set(node.span.span_id, at);
      const below = children.get(node.span.span_id) ?? [];
      for (const child of [...below].sort(compare_starts).reverse()) {
        if (placed.has(child)) continue;
        child.parent = at;
        child.depth = node.depth + 1;
        waiting.push(child);
      }
    }
  };
  for (const root of roots.sort(compare_starts)) place(root);
  for (const node of all) if (!placed.has(node)) place(Object.assign(node, { orphan: true, parent: -1, depth: 0 }));

  let duration = 0;
  let depth = 0;
  let errors = 0;
  for (let at = spans.length - 1; at >= 0; at--) {
    const node = spans[at] as TreeSpan;
    const failed = node.span.status === "error" ? 1 : 0;
    const parent = spans[node.parent];
    if (parent) {
      parent.below += node.below + 1;
      parent.errors_below += node.errors_below + failed;
    }
    duration = Math.max(duration, node.start + node.span.duration_ns);
    depth = Math.max(depth, node.depth);
    errors += failed;
  }
  return { spans, duration, depth, errors, index_of };
}

/**
 * The spans without messages between parts of the application; a span below a message belongs to the nearest span above
 * that is left. Failed messages stay, and all of them where nothing else would be left.
 */
export function without_messages(rows: SpanRow[]): SpanRow[] {
  const hidden = new Map<string, string>();
  for (const row of rows) if (row.is_message && row.status !== "error") hidden.set(row.span_id, row.parent_id);
  if (hidden.size === 0 || hidden.size === rows.length) return rows;
  const above = (id: string) => {
    const passed = new Set<string>(); // ids from outside may form a circle
    let at = id;
    for (let next = hidden.get(at); next !== undefined && !passed.has(at); next = hidden.get(at)) {
      passed.add(at);
      at = next;
    }
    return hidden.has(at) ? "" : at;
  };
  return rows
    .filter((row) => !hidden.has(row.span_id))
    .map((row) => (hidden.has(row.parent_id) ? { ...row, parent_id: above(row.parent_id) } : row));
}

/** Indexes of the rows to show: everything that is not below a collapsed span. */
export function visible_spans(tree: SpanTree, folded: ReadonlySet<string>): number[] {
  const shown: number[] = [];
  for (let at = 0; at < tree.spans.length; at++) {
    const node = tree.spans[at] as TreeSpan;
    shown.push(at);
    if (node.below > 0 && folded.has(node.span.span_id)) at += node.below;
  }
  return shown;
}

/** The spans to collapse so that only this many levels are visible. */
export function folded_at_depth(tree: SpanTree, levels: number): Set<string> {
  const folded = new Set<string>();
  for (const node of tree.spans) if (node.below > 0 && node.depth >= levels - 1) folded.add(node.span.span_id);
  return folded;
}

/** The collapsed spans without those that hide a span. */
export function unfolded_to(tree: SpanTree, folded: ReadonlySet<string>, index: number): ReadonlySet<string> {
  const open = new Set(folded);
  for (let at = tree.spans[index]?.parent ?? -1; at >= 0; at = tree.spans[at]?.parent ?? -1) {
    open.delete(tree.spans[at]?.span.span_id ?? "");
  }
  return open.size === folded.size ? folded : open;
}

/** From the longest root down, always into the child that took longest. */
export function slowest_path(tree: SpanTree): Set<number> {
  const slowest = new Map<number, number>();
  for (const [at, node] of tree.spans.entries()) {
    const known = tree.spans[slowest.get(node.parent) ?? -1];
    if (!known || node.span.duration_ns > known.span.duration_ns) slowest.set(node.parent, at);
  }
  const path = new Set<number>();
  for (let at = slowest.get(-1); at !== undefined; at = slowest.get(at)) path.add(at);
  return path;
}

/** The next matching index after `from` (or before it), wrapping around at the ends. */
export function next_index(found: number[], from: number, step: 1 | -1): number | undefined {
  if (step === 1) return found.find((at) => at > from) ?? found[0];
  return found.filter((at) => at < from).pop() ?? found[found.length - 1];
}

export function failed_spans(tree: SpanTree): number[] {
  const found: number[] = [];
  for (const [at, node] of tree.spans.entries()) if (node.span.status === "error") found.push(at);
  return found;
}

/** `inside` has the ids of spans whose payload matches: the server knows them. */
export function search_spans(tree: SpanTree, text: string, inside: ReadonlySet<string> = new Set()): number[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const found: number[] = [];
  for (const [at, { span }] of tree.spans.entries()) {
    const fields = [span.name, span.model, span.tool_name, span.kind, span.service, span.status_message];
    const shown = fields.some((field) => field.toLowerCase().includes(wanted));
    if (shown || span.span_id === wanted || inside.has(span.span_id)) found.push(at);
  }
  return found;
}

/** Round marks for a time axis, in nanoseconds, at most `most` of them besides zero. */
export function axis_marks(duration: number, most: number): number[] {
  if (!(duration > 0)) return [0];
  const rough = duration / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => duration / size <= most) ?? rough;
  const marks: number[] = [];
  for (let at = 0; at <= duration * 1.0001; at += step) marks.push(at);
  return marks;
}
