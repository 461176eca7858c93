import { expect, test } from "@playwright/test";
import type { SpanRow } from "../../api_types";
import { minimap_marks } from "./minimap";
import { build_tree } from "./span_tree";

function tree_of(spans: { start: number; duration: number; failed?: boolean }[]) {
  return build_tree(
    spans.map(
      ({ start, duration, failed }, at) =>
        ({
          span_id: String(at),
          parent_id: "",
          status: failed ? "error" : "ok",
          start_time: `2026-11-15T09:00:00.${String(start).padStart(9, "0")}Z`,
          duration_ns: duration,
        }) as SpanRow,
    ),
  );
}

test("each span of a small trace has its mark, and a short one can be seen", () => {
  const tree = tree_of([
    { start: 0, duration: 1000 },
    { start: 999, duration: 1, failed: true },
  ]);
  expect(minimap_marks(tree, [0, 1], 100, 50)).toEqual([
    { left: 0, right: 100, top: 0, failed: false },
    { left: 98.5, right: 100, top: 25, failed: true },
  ]);
});

test("spans on the same line of pixels are one mark if they touch, and a failed one stays apart", () => {
  const many = Array.from({ length: 1000 }, (_, at) => ({ start: at, duration: 10, failed: at === 500 }));
  const tree = tree_of(many);
  const marks = minimap_marks(tree, [...many.keys()], 100, 10);
  expect(marks.filter((mark) => !mark.failed)).toHaveLength(10);
  expect(marks.filter((mark) => mark.failed)).toHaveLength(1);
  const gap = tree_of([
    { start: 0, duration: 1 },
    { start: 900, duration: 100 },
    { start: 950, duration: 50 },
  ]);
  expect(minimap_marks(gap, [0, 1, 2], 100, 1)).toHaveLength(2);
});
