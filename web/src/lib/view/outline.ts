// The spans of a trace from the columns of the API. A row reads its columns when something of it is shown: a trace of
// 50,000 spans makes no texts and numbers for rows that are not drawn.

import type { SpanKind, SpanRow, StatusCode, TokenCounts, TraceOutline } from "../../api_types";

/** A time as the server prints it, so many nanoseconds later. */
export function time_after(first: string, nanoseconds: number): string {
  const all = Number(first.slice(20, -1).padEnd(9, "0")) + nanoseconds;
  const seconds = Math.floor(all / 1e9);
  const whole = new Date(Date.parse(`${first.slice(0, 19)}Z`) + seconds * 1000).toISOString().slice(0, 19);
  return `${whole}.${String(all - seconds * 1e9).padStart(9, "0")}Z`;
}

interface Columns {
  trace_id: string;
  outline: TraceOutline;
  messages: ReadonlySet<number>;
  missing: ReadonlyMap<number, string>;
}

class OutlineRow implements SpanRow {
  constructor(
    private readonly of: Columns,
    readonly position: number,
  ) {}
  private text(column: number[]): string {
    return this.of.outline.texts[column[this.position] ?? 0] ?? "";
  }
  get trace_id(): string {
    return this.of.trace_id;
  }
  get span_id(): string {
    return this.of.outline.span_ids[this.position] ?? "";
  }
  get parent_id(): string {
    const { parents, span_ids } = this.of.outline;
    return span_ids[parents[this.position] ?? -1] ?? this.of.missing.get(this.position) ?? "";
  }
  /** Of the parent, in the same order; -1: none. */
  get parent_position(): number {
    return this.of.outline.parents[this.position] ?? -1;
  }
  get name(): string {
    return this.text(this.of.outline.names);
  }
  get kind(): SpanKind {
    return this.text(this.of.outline.kinds) as SpanKind;
  }
  get status(): StatusCode {
    return this.text(this.of.outline.statuses) as StatusCode;
  }
  get status_message(): string {
    return this.text(this.of.outline.status_messages);
  }
  /** Nanoseconds after the first span of the trace. */
  get after_ns(): number {
    return this.of.outline.starts_ns[this.position] ?? 0;
  }
  get start_time(): string {
    return time_after(this.of.outline.start_time, this.after_ns);
  }
  get duration_ns(): number {
    return this.of.outline.durations_ns[this.position] ?? 0;
  }
  get service(): string {
    return this.text(this.of.outline.services);
  }
  get model(): string {
    return this.text(this.of.outline.models);
  }
  get provider(): string {
    return this.text(this.of.outline.providers);
  }
  get tokens(): TokenCounts {
    const { outline } = this.of;
    const input = outline.input_tokens[this.position] ?? 0;
    const cache_read = outline.cache_read_tokens[this.position] ?? 0;
    const cache_write = outline.cache_write_tokens[this.position] ?? 0;
    const output = outline.output_tokens[this.position] ?? 0;
    const reasoning = outline.reasoning_tokens[this.position] ?? 0;
    const total = input + cache_read + cache_write + output + reasoning;
    return { input, cache_read, cache_write, output, reasoning, total };
  }
  get cost_micro_usd(): number {
    return Math.round(this.cost_nano_usd / 1000);
  }
  get cost_nano_usd(): number {
    return this.of.outline.costs_nano_usd[this.position] ?? 0;
  }
  get user_id(): string {
    return this.text(this.of.outline.users);
  }
  get session_id(): string {
    return this.text(this.of.outline.sessions);
  }
  get tool_name(): string {
    return this.text(this.of.outline.tools);
  }
  get exception_type(): string {
    return this.text(this.of.outline.exceptions);
  }
  get is_message(): boolean {
    return this.of.messages.has(this.position);
  }
}

/** The spans in the order of the API. */
export function outline_rows(trace_id: string, outline: TraceOutline): SpanRow[] {
  const columns: Columns = {
    trace_id,
    outline,
    messages: new Set(outline.messages),
    missing: new Map(outline.missing_parents.map(({ span, parent_id }) => [span, parent_id])),
  };
  return outline.span_ids.map((_, at) => new OutlineRow(columns, at));
}
