import { expect, test } from "@playwright/test";
import type { SpanRow } from "../../api_types";
import {
  axis_marks,
  build_tree,
  failed_spans,
  folded_at_depth,
  next_index,
  search_spans,
  slowest_path,
  unfolded_to,
  visible_spans,
  without_messages,
} from "./span_tree";

function span(
  span_id: string,
  parent_id: string,
  start: number,
  duration: number,
  more: Partial<SpanRow> = {},
): SpanRow {
  return {
    trace_id: "t",
    span_id,
    parent_id,
    name: `name of ${span_id}`,
    kind: "chain",
    status: "ok",
    status_message: "",
    start_time: `2026-11-15T09:00:00.${String(start).padStart(9, "0")}Z`,
    duration_ns: duration,
    service: "",
    model: "",
    provider: "",
    tokens: { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0, total: 0 },
    cost_micro_usd: 0,
    cost_nano_usd: 0,
    user_id: "",
    session_id: "",
    tool_name: "",
    exception_type: "",
    is_message: false,
    ...more,
  };
}

const small = () =>
  build_tree([
    span("late", "root", 600, 300, { model: "large-1" }),
    span("root", "", 100, 1000),
    span("early", "root", 150, 100, { status: "error" }),
    span("leaf", "late", 700, 50, { status: "error" }),
    span("lost", "gone", 2000, 10),
  ]);
const ids = (tree: ReturnType<typeof small>) => tree.spans.map((node) => node.span.span_id);

test("children follow their parent in the order they started, to the nanosecond", () => {
  const tree = small();
  expect(ids(tree)).toEqual(["root", "early", "late", "leaf", "lost"]);
  expect(tree.spans.map((node) => node.depth)).toEqual([0, 1, 1, 2, 0]);
  expect(tree.spans.map((node) => node.start)).toEqual([0, 50, 500, 600, 1900]);
  expect(tree.spans.map((node) => node.below)).toEqual([3, 0, 1, 0, 0]);
  expect(tree.duration).toBe(1910);
});

test("errors are counted below each span, and a span whose parent is missing is marked", () => {
  const tree = small();
  expect(tree.errors).toBe(2);
  expect(tree.spans.map((node) => node.errors_below)).toEqual([2, 0, 1, 0, 0]);
  expect(tree.spans.filter((node) => node.orphan).map((node) => node.span.span_id)).toEqual(["lost"]);
});

test("spans in a parent loop are shown", () => {
  const tree = build_tree([span("a", "b", 1, 5), span("b", "a", 2, 5), span("self", "self", 3, 1)]);
  expect(ids(tree).sort()).toEqual(["a", "b", "self"]);
});

test("an empty trace is an empty tree", () => {
  expect(build_tree([]).spans).toEqual([]);
});

test("a chain of 50,000 spans does not overflow the stack", () => {
  const rows = Array.from({ length: 50_000 }, (_, at) => span(`s${at}`, at === 0 ? "" : `s${at - 1}`, at, 50_000 - at));
  const tree = build_tree(rows);
  expect(tree.depth).toBe(49_999);
  expect(slowest_path(tree).size).toBe(50_000);
});

test("collapsed spans hide their children, and a hidden span can be shown", () => {
  const tree = small();
  const folded = folded_at_depth(tree, 1);
  expect(visible_spans(tree, folded)).toEqual([0, 4]);
  expect(visible_spans(tree, folded_at_depth(tree, 2))).toEqual([0, 1, 2, 4]);
  expect(visible_spans(tree, unfolded_to(tree, folded_at_depth(tree, 1), 3))).toEqual([0, 1, 2, 3, 4]);
  expect(unfolded_to(tree, folded, 0)).toBe(folded);
});

test("the slowest path goes into the child that took longest", () => {
  expect([...slowest_path(small())]).toEqual([0, 2, 3]);
});

test("the next error wraps around in both directions", () => {
  const errors = failed_spans(small());
  expect(errors).toEqual([1, 3]);
  expect(next_index(errors, 0, 1)).toBe(1);
  expect(next_index(errors, 3, 1)).toBe(1);
  expect(next_index(errors, 1, -1)).toBe(3);
  expect(next_index([], 1, 1)).toBeUndefined();
});

test("search matches names, models and ids", () => {
  const tree = small();
  expect(search_spans(tree, "LARGE")).toEqual([2]);
  expect(search_spans(tree, "name of l")).toEqual([2, 3, 4]);
  expect(search_spans(tree, " ")).toEqual([]);
});

test("axis marks are round and few", () => {
  expect(axis_marks(1_000, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
  expect(axis_marks(3_700_000, 5)).toEqual([0, 1_000_000, 2_000_000, 3_000_000]);
  expect(axis_marks(0, 5)).toEqual([0]);
});

test("messages are left out, and what is below them belongs to the span above", () => {
  const message = { is_message: true };
  const rows = [
    span("run", "", 0, 1000),
    span("create", "run", 10, 1, message),
    span("process", "create", 20, 900, message),
    span("agent", "process", 30, 800),
    span("lost", "process", 40, 10, { ...message, status: "error" }),
    span("alone", "gone", 50, 10, message),
    span("below", "alone", 60, 5),
  ];
  const left = without_messages(rows);
  expect(left.map((row) => [row.span_id, row.parent_id])).toEqual([
    ["run", ""],
    ["agent", "run"],
    ["lost", "run"],
    ["below", "gone"],
  ]);
  expect(rows[3]?.parent_id).toBe("process");
});

test("a trace of messages alone shows them, and messages in a circle are left out", () => {
  const message = { is_message: true };
  const all = [span("a", "", 0, 1, message), span("b", "a", 1, 1, message)];
  expect(without_messages(all)).toBe(all);
  const circle = [span("a", "b", 0, 1, message), span("b", "a", 1, 1, message), span("c", "a", 2, 1)];
  expect(without_messages(circle).map((row) => [row.span_id, row.parent_id])).toEqual([["c", ""]]);
});
