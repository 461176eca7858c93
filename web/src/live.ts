// One Server-Sent Events connection with resume: a dropped connection is opened again after the last complete event,
// so no event is lost or repeated.

import { type Signal, signal } from "@preact/signals";
import { api_url, post_stream } from "./api";
import { EventParser, retry_delay, type ServerEvent } from "./lib/sse";

/** The server sends a heartbeat every 15 s; three missing ones mean a dead connection. */
const silence_limit = 45_000;

export interface Live {
  state: Signal<"connecting" | "open" | "reconnecting" | "closed">;
  close(): void;
}

async function read_events(
  response: Response,
  parser: EventParser,
  abort: AbortController,
  deliver: (event: ServerEvent) => void,
) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let timer = setTimeout(() => abort.abort(), silence_limit);
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), silence_limit);
      for (const event of parser.push(value)) deliver(event);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Follows a stream until close(). `after` is the id of the last event the page already has. */
export function follow(url: string, after: string, deliver: (event: ServerEvent) => void): Live {
  const state: Live["state"] = signal("connecting");
  const parser = new EventParser();
  parser.last_id = after;
  let abort = new AbortController();
  let closed = false;
  let wake: () => void = () => undefined;

  async function run(): Promise<void> {
    for (let attempt = 0; !closed; attempt++) {
      abort = new AbortController();
      parser.reset();
      try {
        const headers: Record<string, string> = { Accept: "text/event-stream" };
        if (parser.last_id !== "") headers["Last-Event-ID"] = parser.last_id;
        const response = await fetch(url, { headers, signal: abort.signal, credentials: "same-origin" });
        // A retry does not help after a client error; it does when the server is busy or restarting.
        if (response.status >= 400 && response.status < 500 && response.status !== 429) break;
        if (response.ok) {
          state.value = "open";
          attempt = -1;
          await read_events(response, parser, abort, deliver);
        }
      } catch {
        // Connection lost; the loop retries.
      }
      if (closed) break;
      state.value = "reconnecting";
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, retry_delay(Math.max(attempt, 0), Math.random()));
      });
    }
    state.value = "closed";
  }

  // After a laptop wakes up the connection is retried immediately.
  const on_online = () => wake();
  globalThis.addEventListener?.("online", on_online);
  void run();
  return {
    state,
    close() {
      closed = true;
      globalThis.removeEventListener?.("online", on_online);
      abort.abort();
      wake();
    },
  };
}

/** Sends a request whose response is a stream of events; resolves at its end, throws an ApiError if it is refused. */
export async function post_events(
  path: string,
  query: Record<string, string | undefined>,
  body: unknown,
  signal: AbortSignal,
  deliver: (event: ServerEvent) => void,
): Promise<void> {
  const abort = new AbortController();
  signal.addEventListener("abort", () => abort.abort());
  const response = await post_stream(api_url(path, query), body, abort.signal);
  await read_events(response, new EventParser(), abort, deliver);
}
