import { expect, test } from "@playwright/test";
import type { TraceOutline } from "../../api_types";
import { outline_rows, time_after } from "./outline";
import { build_tree, without_messages } from "./span_tree";

const outline: TraceOutline = {
  is_cut: false,
  start_time: "2026-11-15T09:00:00.999999000Z",
  texts: ["", "batch", "agent", "ok", "call", "llm", "error", "429", "small-1", "unknown"],
  span_ids: ["a0", "a1", "a2", "a3"],
  parents: [-1, 0, -1, 2],
  missing_parents: [{ span: 2, parent_id: "ff" }],
  messages: [2],
  starts_ns: [0, 1500, 2000, 2500],
  durations_ns: [9000, 500, 10, 20],
  names: [1, 4, 4, 4],
  kinds: [2, 5, 9, 5],
  statuses: [3, 6, 3, 3],
  status_messages: [0, 7, 0, 0],
  services: [],
  models: [0, 8, 0, 0],
  providers: [],
  users: [],
  sessions: [],
  tools: [],
  exceptions: [],
  input_tokens: [0, 12, 0, 0],
  cache_read_tokens: [],
  cache_write_tokens: [],
  output_tokens: [0, 3, 0, 0],
  reasoning_tokens: [],
  costs_nano_usd: [0, 46_500, 0, 0],
};

test("a time is moved by nanoseconds, over the end of a second", () => {
  expect(time_after("2026-11-15T09:00:00.999999000Z", 0)).toBe("2026-11-15T09:00:00.999999000Z");
  expect(time_after("2026-11-15T09:00:00.999999000Z", 1500)).toBe("2026-11-15T09:00:01.000000500Z");
  expect(time_after("2026-11-15T23:59:59Z", 3_600_000_000_001)).toBe("2026-11-16T00:59:59.000000001Z");
});

test("rows read their columns, and a column that is empty has zeros", () => {
  const [root, call, lost] = outline_rows("t1", outline);
  expect(root).toMatchObject({ trace_id: "t1", span_id: "a0", parent_id: "", name: "batch", kind: "agent", model: "" });
  expect(call).toMatchObject({
    parent_id: "a0",
    status: "error",
    status_message: "429",
    start_time: "2026-11-15T09:00:01.000000500Z",
    duration_ns: 500,
    model: "small-1",
    service: "",
    cost_nano_usd: 46_500,
    cost_micro_usd: 47,
    is_message: false,
  });
  expect(call?.tokens).toEqual({ input: 12, cache_read: 0, cache_write: 0, output: 3, reasoning: 0, total: 15 });
  expect(lost).toMatchObject({ parent_id: "ff", is_message: true });
});

test("the tree of an outline is the tree of its spans, with and without messages", () => {
  const tree = build_tree(outline_rows("t1", outline));
  expect(tree.spans.map(({ span, depth, start }) => [span.span_id, depth, start])).toEqual([
    ["a0", 0, 0],
    ["a1", 1, 1500],
    ["a2", 0, 2000],
    ["a3", 1, 2500],
  ]);
  expect(tree).toMatchObject({ duration: 9000, errors: 1 });
  expect(tree.spans[2]?.orphan).toBe(true);
  const steps = without_messages(outline_rows("t1", outline));
  expect(steps.map((row) => [row.span_id, row.parent_id, row.name])).toEqual([
    ["a0", "", "batch"],
    ["a1", "a0", "call"],
    ["a3", "ff", "call"],
  ]);
});
