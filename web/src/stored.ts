// Choices that are stored in this browser and not in the address: theme, collapsed sidebar, hidden columns.

import { type Signal, signal } from "@preact/signals";

function read(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** A signal that is kept in local storage; if storage is blocked, it lasts as long as the page. */
export function stored_signal(name: string, initial: string): Signal<string> {
  const value = signal(read(name) ?? initial);
  value.subscribe((text) => {
    try {
      if (text === initial) localStorage.removeItem(name);
      else localStorage.setItem(name, text);
    } catch {
      // Ignored: the value still works until the page is closed.
    }
  });
  return value;
}
