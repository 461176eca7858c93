import { expect, test } from "@playwright/test";
import type { EventKind, RunEvent } from "../../api_types";
import { grouped_lines, last_reply, tool_counts } from "./transcript_groups";

let seq = 0;
function event(kind: EventKind, tool: string | null = null, text = ""): RunEvent {
  seq += 1;
  return { seq, kind, tool, text } as RunEvent;
}
const calls = (...tools: string[]) => tools.map((tool) => event("tool_call", tool));
const shape = (events: RunEvent[]) =>
  grouped_lines(events).map((line) => ("calls" in line ? line.calls.length : line.event.kind));

test("three tool calls in a row and more are one line, with the thoughts between them", () => {
  const events = [
    event("follow_up"),
    ...calls("Read", "Bash"),
    event("thinking"),
    ...calls("Bash"),
    event("message", null, "Found it."),
    ...calls("Read", "Read"),
    event("result", null, "Done."),
  ];
  expect(shape(events)).toEqual(["follow_up", 4, "message", "tool_call", "tool_call", "result"]);
  expect(shape(calls("a", "b", "c"))).toEqual([3]);
  expect(shape([])).toEqual([]);
});

test("no event is lost or moved", () => {
  const events = [...calls("a", "b", "c"), event("message", null, "x"), event("thinking"), ...calls("d")];
  const flat = grouped_lines(events).flatMap((line) => ("calls" in line ? line.calls : [line.event]));
  expect(flat).toEqual(events);
});

test("a group names its tools, the most used first", () => {
  expect(tool_counts([...calls("Read", "Bash", "Bash"), event("thinking")])).toBe("Bash 2, Read");
});

test("the last reply is shown on top only when many lines are above it", () => {
  const reply = event("result", null, "It was the cache.");
  const steps = Array.from({ length: 6 }, () => event("status"));
  const of = (events: RunEvent[]) => last_reply(grouped_lines(events));
  expect(of([event("follow_up"), reply])).toBeNull();
  expect(of([...steps, reply, event("status")])).toBe(reply);
  expect(of([...steps, reply, event("follow_up")])).toBeNull();
  expect(of([...steps, event("result"), event("status")])).toBeNull();
  expect(of([...steps, reply, ...calls("a", "b", "c")])).toBeNull();
});
