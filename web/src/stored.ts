// Choices that belong to this browser, not to a link: theme, folded sidebar, hidden columns.

import { type Signal, signal } from "@preact/signals";

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** A signal that is kept in local storage; storage may be forbidden, then it lives as long as the page. */
export function stored_signal(name: string, initial: string): Signal<string> {
  const value = signal(read(name) ?? initial);
  value.subscribe((text) => {
    try {
      if (text === initial) localStorage.removeItem(name);
      else localStorage.setItem(name, text);
    } catch {
      // Not worth telling anybody.
    }
  });
  return value;
}
