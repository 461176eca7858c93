// The part of a list's address that a saved view keeps: what is shown, not which row is open.

const kept = ["filter", "range", "session", "sort"];

/** "filter=status+%3D+error&range=24h", in a fixed order. */
export function view_query(query: URLSearchParams): string {
  const view = new URLSearchParams();
  for (const name of kept) {
    const value = query.get(name);
    if (value) view.set(name, value);
  }
  return view.toString();
}

/** Whether two texts mean the same view, however they are ordered and escaped. */
export function same_view(a: string, b: string): boolean {
  return view_query(new URLSearchParams(a)) === view_query(new URLSearchParams(b));
}
