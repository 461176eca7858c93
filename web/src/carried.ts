// What a person chose on one page and expects on the next one: the time range on every page that has one, and the filter
// on the lists of the same project. The address stays the state of a page: pages get both there.

import { signal } from "@preact/signals";
import { parse_range } from "./lib/format/range";
import { with_query } from "./lib/route";
import { space, user } from "./login";
import { current_address, path, query, set_query, when_page_changes } from "./router";
import { stored_signal } from "./stored";

/** The range that was chosen last in this tab; empty: every page has its own default. */
export const carried_range = stored_signal("range", "", "tab");

/** A choice of the user. */
export function choose_range_text(text: string): void {
  carried_range.value = text;
  set_query({ range: text });
}

let bare_address = "";

/** The address of another page, with the carried range if that page has one and the address names none. */
function with_carried_range(to: string, range_of: (path: string) => string | undefined): string {
  const [to_path = "", search = ""] = to.split("?", 2);
  const fallback = range_of(to_path);
  const range = carried_range.value;
  if (fallback === undefined || range === "" || range === fallback || new URLSearchParams(search).has("range"))
    return to;
  const address = with_query(to, { range });
  if (search === "") bare_address = address;
  return address;
}

/** `range_of` is the default range of the page at a path. A link that was opened in this tab counts as a choice. */
export function start_carrying(range_of: (path: string) => string | undefined): void {
  const opened = query.value.get("range");
  if (opened !== null && parse_range(opened) !== null) carried_range.value = opened;
  when_page_changes((to) => with_carried_range(to, range_of));
}

/** The address names nothing but a page; a range that was only carried there does not count. */
export const is_bare_address = () => current_address() === path.value || current_address() === bare_address;

/** By user, space and project: after a logout the next user has none. */
const filters = signal<Record<string, string>>({});

const filter_key = (project: string) => `${user.value?.id}/${space.value?.id}/${project}`;

export function carry_filter(project: string, filter: string): void {
  const key = filter_key(project);
  if ((filters.peek()[key] ?? "") !== filter) filters.value = { ...filters.peek(), [key]: filter };
}

/** Null: none. */
export const carried_filter = (project: string | undefined): string | null =>
  filters.value[filter_key(project ?? "")] || null;
