import { expect, test } from "@playwright/test";
import { parse_subject, subject_title, with_subjects, write_subject } from "./subject";

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
  expect(subject_title({ kind: "trace", value: "abc" })).toBe("trace abc");
  expect(subject_title({ kind: "filter", value: "x".repeat(100) }).length).toBeLessThan(60);
});
