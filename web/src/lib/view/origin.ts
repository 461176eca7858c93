// The few rows of a trace that show where in it one span is: its ancestors, its neighbours, what it calls.

import type { SpanTree } from "./span_tree";

/** A span by its index in the tree, or a number of spans that are left out. */
export type OriginRow = { index: number } | { hidden: number };

/** At most `most` spans around `origin` in display order; spans that are left out are counted where they would be. */
export function rows_around(tree: SpanTree, origin: number, most: number): OriginRow[] {
  const chosen = new Set<number>();
  const add = (index: number) => {
    if (index >= 0 && index < tree.spans.length && chosen.size < most) chosen.add(index);
  };
  add(origin);
  // The nearest ancestors and the root matter most.
  const above: number[] = [];
  for (let at = tree.spans[origin]?.parent ?? -1; at >= 0; at = tree.spans[at]?.parent ?? -1) above.push(at);
  const root = above.at(-1);
  if (root !== undefined) add(root);
  for (const index of above.slice(0, Math.floor(most / 2))) add(index);
  // Neighbours: spans with the same parent, the nearest first; then spans below; then the others of the trace.
  const parent = tree.spans[origin]?.parent ?? -1;
  const of = (wanted: number) => tree.spans.flatMap((node, index) => (node.parent === wanted ? [index] : []));
  const by_distance = (indexes: number[]) =>
    indexes.sort((a, b) => Math.abs(a - origin) - Math.abs(b - origin) || a - b);
  for (const index of by_distance(of(parent))) add(index);
  for (const index of of(origin)) add(index);
  if (root !== undefined && root !== parent) for (const index of by_distance(of(root))) add(index);
  const rows: OriginRow[] = [];
  let last = -1;
  for (const index of [...chosen].sort((a, b) => a - b)) {
    if (index - last > 1) rows.push({ hidden: index - last - 1 });
    rows.push({ index });
    last = index;
  }
  if (tree.spans.length - last > 1) rows.push({ hidden: tree.spans.length - last - 1 });
  return rows;
}
