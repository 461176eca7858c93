// The columns of a table that have room. Optional columns are hidden from the right (the last one, mostly a time, at
// the end) until the flexible columns are wide enough.

export interface ColumnRoom {
  /** "96px", "20%", or absent for columns that share what is left. */
  width?: string;
}

export interface Placed<Some> {
  column: Some;
  /** In pixels; null shares what is left. */
  width: number | null;
}

const first_needs = 160;
const others_need = 130;
/** Where even the required columns have no room. */
const least_flexible = 96;

function placed<Some extends ColumnRoom>(columns: Some[], room: number): { needs: number; columns: Placed<Some>[] } {
  let needs = 0;
  let is_first = true;
  const result = columns.map((column) => {
    if (column.width?.endsWith("px")) {
      const width = Number.parseFloat(column.width);
      needs += width;
      return { column, width };
    }
    const least = is_first ? first_needs : others_need;
    is_first = false;
    const width = column.width ? Math.max(least, Math.round((Number.parseFloat(column.width) / 100) * room)) : null;
    needs += width ?? least;
    return { column, width };
  });
  return { needs, columns: result };
}

export function columns_with_room<Some extends ColumnRoom>(
  columns: Some[],
  room: number,
  may_go: (column: Some) => boolean,
): Placed<Some>[] {
  let left = columns;
  const last = columns[columns.length - 1];
  const going = columns.filter((column) => column !== last && may_go(column)).reverse();
  if (last && may_go(last)) going.push(last);
  for (const column of going) {
    if (placed(left, room).needs <= room) break;
    left = left.filter((other) => other !== column);
  }
  const { needs, columns: result } = placed(left, room);
  if (needs <= room) return result;
  // Still too narrow: a percentage would leave nothing for the column without a width, and fixed widths share what is left
  // beside the flexible columns. Otherwise the table would become wider than its place.
  const fixed = result.filter(({ column }) => column.width?.endsWith("px"));
  const wanted = fixed.reduce((sum, { width }) => sum + (width ?? 0), 0);
  const share = Math.min(1, Math.max(0, room - least_flexible * (result.length - fixed.length)) / Math.max(1, wanted));
  return result.map(({ column, width }) => ({
    column,
    width: column.width?.endsWith("px") ? Math.floor((width ?? 0) * share) : null,
  }));
}
