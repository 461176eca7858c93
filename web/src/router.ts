// The address as state. Plain <a href> links work everywhere: clicks are handled here.

import { computed, signal } from "@preact/signals";
import { type QueryChanges, with_query } from "./lib/route";

const address = signal(window.location.pathname + window.location.search);

export const path = computed(() => address.value.split("?", 1)[0] ?? "/");
export const query = computed(() => new URLSearchParams(address.value.split("?", 2)[1] ?? ""));
export const current_address = () => address.value;

interface NavigateOptions {
  /** Do not add an entry to the browser history: typing in a filter, redirects. */
  replace?: boolean;
}

let complete = (to: string) => to;

/** `change` completes the address of every other page that is opened here. */
export function when_page_changes(change: (to: string) => string): void {
  complete = change;
}

export function navigate(wanted: string, options: NavigateOptions = {}): void {
  const to = wanted.split("?", 1)[0] === path.value ? wanted : complete(wanted);
  if (to === address.value) return;
  if (options.replace) window.history.replaceState(null, "", to);
  else window.history.pushState(null, "", to);
  address.value = to;
}

/** Changes query parameters of the current page; null removes one. */
export function set_query(changes: QueryChanges, options: NavigateOptions = {}): void {
  navigate(with_query(address.value, changes), options);
}

export function start_router(): void {
  window.addEventListener("popstate", () => {
    address.value = window.location.pathname + window.location.search;
  });
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link) return;
    if (link.target !== "" || link.hasAttribute("download") || link.origin !== window.location.origin) return;
    if (link.pathname === window.location.pathname && link.hash !== "") return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}
