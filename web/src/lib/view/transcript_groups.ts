// The lines of a transcript: tool calls that follow each other are one line that opens. The last result is the run's reply.

import type { RunEvent } from "../../api_types";

export type TranscriptLine = { event: RunEvent } | { calls: RunEvent[] };

/** Fewer calls stay lines of their own. */
const least_calls = 3;

const is_call = (event: RunEvent) => event.kind === "tool_call" || event.kind === "thinking";

/** Groups `least_calls` tool calls and more; thoughts between them go along. */
export function grouped_lines(events: RunEvent[]): TranscriptLine[] {
  const lines: TranscriptLine[] = [];
  for (let at = 0; at < events.length; ) {
    let end = at;
    while (end < events.length && is_call(events[end] as RunEvent)) end += 1;
    const run = events.slice(at, end);
    if (run.filter((event) => event.kind === "tool_call").length >= least_calls) lines.push({ calls: run });
    else for (const event of run) lines.push({ event });
    const next = events[end];
    if (next) lines.push({ event: next });
    at = end + 1;
  }
  return lines;
}

/** "Bash 8, Read 4": the tools of a group, the most used first. */
export function tool_counts(calls: RunEvent[]): string {
  const counts = new Map<string, number>();
  for (const call of calls)
    if (call.kind === "tool_call") counts.set(call.tool ?? "tool", (counts.get(call.tool ?? "tool") ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([tool, count]) => (count === 1 ? tool : `${tool} ${count}`))
    .join(", ");
}

/** Lines that push a reply out of view. */
const many_lines = 6;

/** What the worker replied in its last turn, where many lines are above it; null: none, or it is in view anyway. */
export function last_reply(lines: TranscriptLine[]): RunEvent | null {
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const line = lines[at] as TranscriptLine;
    if ("calls" in line) return null;
    const { kind, text } = line.event;
    if (kind === "follow_up") return null;
    if ((kind === "result" || kind === "message") && text !== "") return at >= many_lines ? line.event : null;
  }
  return null;
}
