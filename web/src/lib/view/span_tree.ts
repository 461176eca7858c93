// A trace as a tree: spans in display order with depth, and queries for the page. Built once per trace; collapsing only
// selects rows. Works for 50,000 spans and for broken traces (missing parents, loops).

import type { SpanRow } from "../../api_types";

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
  /** The index of a span by its id. */
  index_of: (id: string) => number | undefined;
}

const whole_second = (time: string) => Date.parse(`${time.slice(0, 19)}Z`);
const rest_nanoseconds = (time: string) => Number(time.slice(20, -1).padEnd(9, "0"));

/** Nanoseconds from `first` to a time, both as the server prints them. A date is parsed once for each second. */
function nanoseconds_after(first: string): (time: string) => number {
  const [first_second, first_rest] = [whole_second(first), rest_nanoseconds(first)];
  let [second, nanoseconds] = ["", 0];
  return (time) => {
    if (!time.startsWith(second) || second === "") {
      second = time.slice(0, 19);
      nanoseconds = (whole_second(time) - first_second) * 1e6 - first_rest;
    }
    return nanoseconds + rest_nanoseconds(time);
  };
}

/** A row may have its start as a number, and its position and that of its parent among all spans of the trace. */
type Row = SpanRow & { readonly after_ns?: number; readonly position?: number; readonly parent_position?: number };

/** Nanoseconds after the first of them. */
function starts_of(rows: Row[]): number[] {
  if (rows[0]?.after_ns !== undefined) {
    let first = rows[0].after_ns;
    for (const row of rows) first = Math.min(first, row.after_ns ?? first);
    return rows.map((row) => (row.after_ns ?? first) - first);
  }
  let first = rows[0]?.start_time ?? "";
  for (const row of rows) if (row.start_time < first) first = row.start_time;
  const after_first = nanoseconds_after(first);
  return rows.map((row) => after_first(row.start_time));
}

const no_parent = -1;
const missing_parent = -2;

function positions_of(rows: Row[]): Map<string, number> {
  const positions = new Map<string, number>();
  for (let at = rows.length - 1; at >= 0; at--) positions.set((rows[at] as Row).span_id, at); // the first one counts
  return positions;
}

/** The row of each row's parent. */
function parents_of(rows: Row[]): Int32Array {
  const parents = new Int32Array(rows.length);
  if (rows.every((row, at) => row.position === at && row.parent_position !== undefined)) {
    for (const [at, row] of rows.entries()) parents[at] = row.parent_position ?? no_parent;
    for (let at = 0; at < rows.length; at++)
      if (parents[at] === at || (parents[at] === no_parent && rows[at]?.parent_id !== "")) parents[at] = missing_parent;
    return parents;
  }
  const positions = positions_of(rows);
  for (const [at, { span_id, parent_id }] of rows.entries()) {
    const known = parent_id === span_id ? undefined : positions.get(parent_id);
    parents[at] = parent_id === "" ? no_parent : (known ?? missing_parent);
  }
  return parents;
}

/** The rows by start; of those that start together, the longest first. */
function order_of(rows: Row[], starts: number[]): Uint32Array {
  const durations = rows.map((row) => row.duration_ns);
  const order = Uint32Array.from(rows.keys());
  const compare = (a: number, b: number) =>
    (starts[a] ?? 0) - (starts[b] ?? 0) || (durations[b] ?? 0) - (durations[a] ?? 0);
  return order.every((at) => at === 0 || compare(at - 1, at) <= 0) ? order : order.sort(compare);
}

export function build_tree(rows: SpanRow[]): SpanTree {
  const starts = starts_of(rows);
  const parents = parents_of(rows);
  const order = order_of(rows, starts);
  // Children are linked by numbers: an array for each parent would cost more than everything else.
  const first_child = new Int32Array(rows.length).fill(-1);
  const next_sibling = new Int32Array(rows.length).fill(-1);
  for (let last = order.length - 1; last >= 0; last--) {
    const at = order[last] as number;
    const parent = parents[at] as number;
    if (parent < 0) continue;
    next_sibling[at] = first_child[parent] as number;
    first_child[parent] = at;
  }
  const spans: TreeSpan[] = [];
  const places = new Int32Array(rows.length).fill(-1);
  // Iterative, not recursive: a chain of spans can be deeper than the call stack.
  const place = (root: number, orphan: boolean) => {
    const waiting = [root];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const sibling = next_sibling[at] as number;
      if (at !== root && sibling >= 0) waiting.push(sibling);
      if ((places[at] as number) >= 0) continue;
      const parent = at === root ? -1 : (places[parents[at] as number] as number);
      places[at] = spans.length;
      spans.push({
        span: rows[at] as SpanRow,
        start: starts[at] as number,
        depth: parent < 0 ? 0 : (spans[parent] as TreeSpan).depth + 1,
        parent,
        below: 0,
        orphan: at === root && orphan,
        errors_below: 0,
      });
      if ((first_child[at] as number) >= 0) waiting.push(first_child[at] as number);
    }
  };
  for (const at of order) if ((parents[at] as number) < 0) place(at, parents[at] === missing_parent);
  for (let at = 0; at < rows.length; at++) if ((places[at] as number) < 0) place(at, true); // parents in a circle

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
  let positions: Map<string, number> | null = null;
  const index_of = (id: string) => {
    positions ??= positions_of(rows);
    return places[positions.get(id) ?? -1];
  };
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
    .map((row) => {
      if (!hidden.has(row.parent_id)) return row;
      const moved: SpanRow = Object.create(row, {
        parent_id: { value: above(row.parent_id), enumerable: true },
        parent_position: { value: undefined }, // that of the hidden one
      });
      return moved;
    });
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
  for (let at = 0; at < tree.spans.length; at++) {
    const node = tree.spans[at] as TreeSpan;
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
