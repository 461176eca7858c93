// The part of a list's address that a saved view contains: filters and range, not the open row.

const kept = ["rows", "filter", "range", "session", "sort"];

/** "filter=status+%3D+error&range=24h", in a fixed order. */
export function view_query(query: URLSearchParams): string {
  const view = new URLSearchParams();
  for (const name of kept) {
    const value = query.get(name);
    if (value) view.set(name, value);
  }
  return view.toString();
}

/** Whether two texts are the same view, independent of order and escapes. */
export function same_view(a: string, b: string): boolean {
  return view_query(new URLSearchParams(a)) === view_query(new URLSearchParams(b));
}
