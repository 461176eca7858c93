// The rows of a long list to draw.

export interface RowWindow {
  first: number;
  /** One past the last row. */
  end: number;
  /** Pixels of rows that are not drawn above and below. */
  above: number;
  below: number;
}

export function row_window(
  scroll_top: number,
  view_height: number,
  row_height: number,
  count: number,
  spare = 10,
): RowWindow {
  const first = Math.max(0, Math.min(Math.floor(scroll_top / row_height) - spare, count - 1));
  const end = Math.min(count, Math.ceil((scroll_top + view_height) / row_height) + spare);
  return { first, end, above: first * row_height, below: Math.max(0, count - end) * row_height };
}

/** The scroll position that shows a row, moving as little as possible. */
export function scroll_to_show(
  row: number,
  scroll_top: number,
  view_height: number,
  row_height: number,
  header_height: number,
): number {
  const top = row * row_height;
  const bottom = top + row_height + header_height;
  if (top < scroll_top) return top;
  if (bottom > scroll_top + view_height) return bottom - view_height;
  return scroll_top;
}
