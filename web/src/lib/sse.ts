// Server-Sent Events without the network part: parsing, and the delay before the next attempt.

export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** Parses text as it arrives; an event is complete at an empty line. Comments are heartbeats. */
export class EventParser {
  /** The id to resume after; survives reconnects. */
  last_id = "";
  private rest = "";
  private pending_id: string | null = null;
  private event = "";
  private data: string[] = [];

  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    this.rest += text;
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r(?!$)/);
      if (end < 0) return events;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith("\r\n", end) ? 2 : 1));
      const event = this.line(line);
      if (event) events.push(event);
    }
  }

  /** A lost connection drops an incomplete event; the server sends it again after last_id. */
  reset(): void {
    this.rest = "";
    this.pending_id = null;
    this.event = "";
    this.data = [];
  }

  private line(line: string): ServerEvent | null {
    if (line === "") return this.finish();
    const mark = line.indexOf(":");
    if (mark === 0) return null;
    const field = mark < 0 ? line : line.slice(0, mark);
    const value = mark < 0 ? "" : line.slice(mark + 1).replace(/^ /, "");
    if (field === "id" && !value.includes("\0")) this.pending_id = value;
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
    return null;
  }

  private finish(): ServerEvent | null {
    // The id is used only when its event is complete; otherwise an incomplete event would be skipped on resume.
    if (this.pending_id !== null) this.last_id = this.pending_id;
    this.pending_id = null;
    const complete = this.data.length > 0;
    const event = { id: this.last_id, event: this.event || "message", data: this.data.join("\n") };
    this.event = "";
    this.data = [];
    return complete ? event : null;
  }
}

/** 0.5 s, 1 s, 2 s … 15 s, with up to a quarter of jitter so that clients do not reconnect at the same time. */
export function retry_delay(attempt: number, random: number): number {
  return Math.min(15_000, 500 * 2 ** Math.min(attempt, 10)) * (0.75 + random * 0.5);
}
