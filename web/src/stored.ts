// Choices that are stored in this browser and not in the address: theme, collapsed sidebar, hidden columns. Those of a
// tab end with the tab.

import { type Signal, signal } from "@preact/signals";

type Lifetime = "browser" | "tab";

const storage = (lifetime: Lifetime) => (lifetime === "tab" ? sessionStorage : localStorage);

/** The stored text, for names that are known only later. */
export function read_stored(name: string, lifetime: Lifetime = "browser"): string | null {
  try {
    return storage(lifetime).getItem(name);
  } catch {
    return null;
  }
}

/** Null removes it. If storage is blocked, nothing is stored. */
export function write_stored(name: string, text: string | null, lifetime: Lifetime = "browser"): void {
  try {
    if (text === null) storage(lifetime).removeItem(name);
    else storage(lifetime).setItem(name, text);
  } catch {
    // Ignored: the choice still works until the page is closed.
  }
}

/** A signal that is kept in the browser's storage; if storage is blocked, it lasts as long as the page. */
export function stored_signal(name: string, initial: string, lifetime: Lifetime = "browser"): Signal<string> {
  const value = signal(read_stored(name, lifetime) ?? initial);
  value.subscribe((text) => write_stored(name, text === initial ? null : text, lifetime));
  return value;
}
