// The whole waterfall in one strip. Spans that share a line of pixels and touch each other are one mark: a trace of
// 50,000 spans has a few thousand.

import type { SpanTree } from "./span_tree";

export interface MinimapMark {
  left: number;
  right: number;
  top: number;
  failed: boolean;
}

/** A shorter mark could not be seen. */
const least_width = 1.5;

export function minimap_marks(tree: SpanTree, rows: number[], width: number, height: number): MinimapMark[] {
  const marks: MinimapMark[] = [];
  const scale = width / Math.max(tree.duration, 1);
  const open: { normal: MinimapMark | null; failed: MinimapMark | null } = { normal: null, failed: null };
  for (let at = 0; at < rows.length; at++) {
    const node = tree.spans[rows[at] as number];
    if (!node) continue;
    const failed = node.span.status === "error";
    const kind = failed ? "failed" : "normal";
    const left = Math.min(node.start * scale, width - least_width);
    const right = left + Math.max(least_width, node.span.duration_ns * scale);
    // Lines are whole pixels only where there are more rows than pixels.
    const exact = (height * at) / rows.length;
    const top = rows.length > height ? Math.floor(exact) : exact;
    const last = open[kind];
    if (last && last.top === top && left <= last.right && right >= last.left) {
      last.left = Math.min(last.left, left);
      last.right = Math.max(last.right, right);
      continue;
    }
    const mark = { left, right, top, failed };
    open[kind] = mark;
    marks.push(mark);
  }
  return marks;
}
