// The traces of the list that was shown last, so that the page of a trace can go to the next one.

interface ShownList {
  project: string;
  /** The address of the list. */
  address: string;
  /** Newest first. */
  ids: string[];
}

let shown: ShownList = { project: "", address: "", ids: [] };

export function remember_list(list: ShownList): void {
  shown = list;
}

export interface Neighbours {
  list: string;
  /** Above it in the list. */
  previous: string | null;
  next: string | null;
  position: string;
}

/** Null when the trace was not opened from a list. */
export function neighbours_of(project: string, trace: string): Neighbours | null {
  const at = shown.project === project ? shown.ids.indexOf(trace) : -1;
  if (at < 0) return null;
  return {
    list: shown.address,
    previous: shown.ids[at - 1] ?? null,
    next: shown.ids[at + 1] ?? null,
    position: `${at + 1} of ${shown.ids.length}`,
  };
}
