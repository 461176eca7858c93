import { expect, test } from "@playwright/test";
import {
  parse_subject,
  type SubjectKind,
  subject_kinds,
  subject_title,
  titled,
  with_subjects,
  write_subject,
} from "./subject";

test("a subject survives the address", () => {
  const filter = { kind: "filter", value: 'model = "a:b" and status = error' } as const;
  expect(parse_subject(write_subject(filter))).toEqual(filter);
  expect(parse_subject("trace:abc")).toEqual({ kind: "trace", value: "abc" });
});

test("unknown, empty and endless subjects are ignored", () => {
  for (const text of ["", "trace", "trace:", "secret:x", `trace:${"x".repeat(4001)}`])
    expect(parse_subject(text)).toBeNull();
});

test("subjects are lines after the prompt, one line each", () => {
  expect(with_subjects(" Why? ", [])).toBe("Why?");
  expect(
    with_subjects("Why?", [
      { kind: "trace", value: "abc" },
      { kind: "sql", value: "SELECT 1\nFROM spans" },
    ]),
  ).toBe("Why?\n\nThis is about:\n- trace abc\n- the result of this SQL query: SELECT 1 FROM spans");
});

test("titles are short", () => {
  expect(subject_title({ kind: "trace", value: "abc" })).toBe("Trace abc");
  expect(subject_title({ kind: "filter", value: "x".repeat(100) }).length).toBeLessThan(60);
});

test("an issue and a run are shown by their title, and sent with their id on one line", () => {
  const issue = { kind: "issue", value: titled("issue_01", "Orders\nare refused") } as const;
  expect(subject_title(issue)).toBe("Issue: Orders are refused");
  expect(with_subjects("Why?", [issue])).toContain("- issue issue_01 Orders are refused");
});

test("a time range is written as a person reads it", () => {
  const between = "2026-11-01T00:00Z..2026-11-02T00:00Z";
  expect(subject_title({ kind: "range", value: "24h" })).toBe("Last 24 h");
  expect(with_subjects("Why?", [{ kind: "range", value: "24h" }])).toContain("- the time range: last 24 h");
  expect(subject_title({ kind: "range", value: between })).toBe("2026-11-01 00:00 – 2026-11-02 00:00 UTC");
});

test("the kinds of subjects are read from the prompt of a session", () => {
  const kinds: SubjectKind[] = ["filter", "sql", "chart", "range", "trace", "span", "issue", "run"];
  const prompt = with_subjects(
    "Why?\n- trace of an idea",
    kinds.map((kind) => ({ kind, value: kind === "range" ? "24h" : "x y" })),
  );
  expect(subject_kinds(prompt)).toEqual(kinds);
  expect(subject_kinds("Why?\n- trace abc")).toEqual([]);
});
