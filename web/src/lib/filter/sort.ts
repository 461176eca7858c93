// Sorting of table rows; the order is written in the address as "name" or "-name".

export type SortValue = string | number | null;

export interface SortOrder {
  column: string;
  descending: boolean;
}

export function parse_order(text: string): SortOrder {
  return text.startsWith("-") ? { column: text.slice(1), descending: true } : { column: text, descending: false };
}

export function write_order(order: SortOrder): string {
  return order.descending ? `-${order.column}` : order.column;
}

/** Missing values are last in both directions; numbers in texts are compared as numbers ("a2" before "a10"). */
function compare_values(a: SortValue, b: SortValue, descending: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  const order =
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true, sensitivity: "base" });
  return descending ? -order : order;
}

export function sort_rows<Row>(rows: Row[], value: (row: Row) => SortValue, descending: boolean): Row[] {
  return [...rows].sort((a, b) => compare_values(value(a), value(b), descending));
}
