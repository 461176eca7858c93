// Rows of different heights, most of them not drawn: their offsets, and the rows in view.

export class RowHeights {
  /** offsets[i] is the top of row i; the last one is the height of all. */
  private readonly offsets: Float64Array;

  constructor(heights: ArrayLike<number>) {
    this.offsets = new Float64Array(heights.length + 1);
    for (let row = 0; row < heights.length; row++)
      this.offsets[row + 1] = (this.offsets[row] ?? 0) + (heights[row] ?? 0);
  }

  get count(): number {
    return this.offsets.length - 1;
  }

  get total(): number {
    return this.top(this.count);
  }

  top(row: number): number {
    return this.offsets[Math.max(0, Math.min(row, this.count))] ?? 0;
  }

  /** The row at a height; the last row below the end. */
  row_at(height: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.top(middle) <= height) low = middle;
      else high = middle - 1;
    }
    return Math.max(0, low);
  }

  /** Rows to draw for a view, with some extra rows on both sides. */
  window(scroll_top: number, view_height: number, spare = 400): { first: number; end: number } {
    if (this.count === 0) return { first: 0, end: 0 };
    return { first: this.row_at(scroll_top - spare), end: this.row_at(scroll_top + view_height + spare) + 1 };
  }
}
