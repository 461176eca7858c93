// Loading with a cache: a page shows its old data while new data loads, and a request is cancelled when no
// component uses its response any more.

import { type Signal, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, type Page, to_api_error } from "./api";

export interface Loaded<T> {
  data: T | undefined;
  error: ApiError | null;
  loading: boolean;
}

type Fetcher = (signal: AbortSignal) => Promise<unknown>;

interface Entry {
  state: Signal<Loaded<unknown>>;
  watchers: number;
  fetcher: Fetcher;
  abort: AbortController | null;
}

const entries = new Map<string, Entry>();

async function fetch_entry(entry: Entry): Promise<void> {
  entry.abort?.abort();
  const abort = new AbortController();
  entry.abort = abort;
  entry.state.value = { ...entry.state.peek(), loading: true };
  try {
    const data = await entry.fetcher(abort.signal);
    if (!abort.signal.aborted) entry.state.value = { data, error: null, loading: false };
  } catch (error) {
    if (abort.signal.aborted) return;
    entry.state.value = { data: entry.state.peek().data, error: to_api_error(error), loading: false };
  }
}

function entry_of(key: string, fetcher: Fetcher): Entry {
  const known = entries.get(key);
  if (known) return known;
  const state = signal<Loaded<unknown>>({ data: undefined, error: null, loading: true });
  const entry: Entry = { state, watchers: 0, fetcher, abort: null };
  entries.set(key, entry);
  return entry;
}

function watch(key: string, fetcher: Fetcher): () => void {
  const entry = entry_of(key, fetcher);
  entry.watchers++;
  entry.fetcher = fetcher;
  if (entry.watchers === 1) void fetch_entry(entry);
  return () => {
    entry.watchers--;
    if (entry.watchers === 0) entry.abort?.abort();
  };
}

const nothing: Loaded<never> = { data: undefined, error: null, loading: false };

/** The data of a key; a null key loads nothing. The key must contain everything the fetcher depends on. */
export function use_load<T>(key: string | null, fetcher: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  useEffect(() => (key === null ? undefined : watch(key, fetcher)), [key]);
  if (key === null) return nothing;
  return entry_of(key, fetcher).state.value as Loaded<T>;
}

/** After a change: visible data is loaded again, cached data is dropped. */
export async function reload(prefix: string): Promise<void> {
  const waiting: Promise<void>[] = [];
  for (const [key, entry] of [...entries]) {
    if (!key.startsWith(prefix)) continue;
    if (entry.watchers > 0) waiting.push(fetch_entry(entry));
    else entries.delete(key);
  }
  await Promise.all(waiting);
}

/** Reloads data that changes on the server, while the page is visible; null: off. */
export function use_refresh(prefix: string | null, milliseconds: number): void {
  useEffect(() => {
    if (prefix === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") void reload(prefix);
    }, milliseconds);
    return () => clearInterval(timer);
  }, [prefix, milliseconds]);
}

/** After a logout the next user must not see cached data. */
export function forget_everything(): void {
  for (const entry of entries.values()) entry.abort?.abort();
  entries.clear();
}

export interface Pages<Row> extends Loaded<Row[]> {
  more: (() => void) | null;
}

/** A long list, page by page; a null key loads nothing. Pages after the first belong to the component. */
export function use_pages<Row>(
  key: string | null,
  fetcher: (cursor: string | null, signal: AbortSignal) => Promise<Page<Row>>,
): Pages<Row> {
  const load = use_load(key, (signal) => fetcher(null, signal));
  // Old rows stay while those of a new filter load; otherwise the list would flicker.
  const kept = useRef<Page<Row> | undefined>(undefined);
  if (load.data) kept.current = load.data;
  const first = { ...load, data: load.data ?? (load.error ? undefined : kept.current) };
  const [rest, set_rest] = useState<{ of: unknown; rows: Row[]; next_cursor: string | null; loading: boolean } | null>(
    null,
  );
  // Later pages are valid only while the first page is the one they belong to.
  const tail = rest?.of === first.data ? rest : null;
  const cursor = tail ? tail.next_cursor : (first.data?.next_cursor ?? null);
  const load_more = () => {
    if (tail?.loading || cursor === null) return;
    const base = { of: first.data, rows: tail?.rows ?? [], next_cursor: cursor };
    set_rest({ ...base, loading: true });
    fetcher(cursor, new AbortController().signal).then(
      (page) =>
        set_rest({ of: base.of, rows: [...base.rows, ...page.rows], next_cursor: page.next_cursor, loading: false }),
      () => set_rest({ ...base, loading: false, next_cursor: null }),
    );
  };
  return {
    data: first.data && [...first.data.rows, ...(tail?.rows ?? [])],
    error: first.error,
    loading: first.loading || (tail?.loading ?? false),
    more: cursor === null ? null : load_more,
  };
}
