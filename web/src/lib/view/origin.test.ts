import { expect, test } from "@playwright/test";
import type { SpanRow } from "../../api_types";
import { type OriginRow, rows_around } from "./origin";
import { build_tree, type SpanTree } from "./span_tree";

function tree_of(spans: [string, string][]): SpanTree {
  return build_tree(
    spans.map(
      ([span_id, parent_id], at) =>
        ({
          span_id,
          parent_id,
          name: span_id,
          status: "ok",
          start_time: `2026-11-15T09:00:00.${String(at).padStart(9, "0")}Z`,
          duration_ns: 1,
        }) as SpanRow,
    ),
  );
}

const shown = (tree: SpanTree, rows: OriginRow[]) =>
  rows.map((row) => ("hidden" in row ? `(${row.hidden})` : tree.spans[row.index]?.span.name)).join(" ");

test("a small trace is shown completely", () => {
  const tree = tree_of([
    ["a", ""],
    ["b", "a"],
    ["c", "a"],
  ]);
  expect(shown(tree, rows_around(tree, 2, 9))).toBe("a b c");
});

test("of a large trace the ancestors and the neighbours are shown, the others are counted", () => {
  const spans: [string, string][] = [["root", ""]];
  for (let step = 0; step < 10; step++) {
    spans.push([`step${step}`, "root"], [`call${step}`, `step${step}`], [`tool${step}`, `step${step}`]);
  }
  const tree = tree_of(spans);
  const origin = tree.index_of("tool5") ?? -1;
  expect(shown(tree, rows_around(tree, origin, 6))).toBe("root (15) step5 call5 tool5 step6 (2) step7 (8)");
});

test("an unknown span, and a chain that is deeper than the rows", () => {
  const deep = Array.from({ length: 50 }, (_, at): [string, string] => [`s${at}`, at ? `s${at - 1}` : ""]);
  const tree = tree_of(deep);
  const rows = rows_around(tree, 49, 6);
  expect(shown(tree, rows)).toBe("s0 s1 (44) s46 s47 s48 s49");
  expect(rows_around(tree_of([]), 0, 6)).toEqual([]);
  expect(shown(tree, rows_around(tree, -1, 6))).toBe("s0 (49)");
});
