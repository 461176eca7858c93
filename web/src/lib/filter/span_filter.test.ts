import { expect, test } from "@playwright/test";
import {
  complete_span_filter,
  has_condition,
  place_at,
  server_error,
  unfinished,
  with_condition,
  without_condition,
} from "./span_filter";

const words = {
  fields: [
    { name: "status", type: "unset|ok|error", doc: "How it ended." },
    { name: "latency", type: "duration", doc: "Duration." },
    { name: "model", type: "text", doc: "The model." },
    { name: "output", type: "words", doc: "Output text." },
  ],
  attribute_keys: [{ key: "user.tier", count: 4 }],
  eval_names: [
    { target: "span", name: "correct", count: 5, labels: ["yes", "no"] },
    { target: "chat_session", name: "mood", count: 1, labels: [] },
  ],
  values: [
    { value: "small-1", count: 2 },
    { value: "large-1", count: 9 },
  ],
};
const labels = (text: string) => complete_span_filter(text, text.length, words).choices.map((choice) => choice.label);
const expected = (text: string) => place_at(text, text.length).expected;

test("field, operator, value and joiner follow each other", () => {
  expect(expected("")).toBe("operand");
  expect(expected("sta")).toBe("operand");
  expect(expected("status ")).toBe("operator");
  expect(expected("status = ")).toBe("value");
  expect(expected("status = err")).toBe("value");
  expect(expected("status = error ")).toBe("joiner");
  expect(expected("status = error and ")).toBe("operand");
  expect(expected('not (attributes["user.tier"] ')).toBe("operator");
  expect(expected('name in ("a", ')).toBe("value");
  expect(expected("(status = error) ")).toBe("joiner");
  expect(place_at('model = "gp', 11)).toMatchObject({ operand: "model", start: 8, word: '"gp' });
});

test("fields and attributes are offered with their descriptions", () => {
  expect(labels("")).toEqual(["status", "latency", "model", "output"]);
  expect(labels("lat")).toEqual(["latency"]);
  expect(labels("tier")).toEqual(['attributes["user.tier"]']);
});

test("evals are offered by name with their targets and labels", () => {
  expect(labels("ev")).toEqual(['eval["correct"].label', 'eval["correct"].score']);
  expect(labels("session_e")).toEqual(['session_eval["mood"].score']);
  expect(labels('eval["correct"].label = ')).toContain("yes");
  expect(labels('session_eval["mood"].score ')).toContain(">=");
  expect(expected('session_eval["mood"].score < 0.5 ')).toBe("joiner");
});

test("operators match the type of the field", () => {
  expect(labels("latency ")).toContain(">=");
  expect(labels("output ")).toEqual(["~", "!~"]);
  expect(labels("status ")).toEqual(["=", "!="]);
});

test("values come with their counts, most frequent first, and are quoted when they are text", () => {
  const { start, choices } = complete_span_filter("model = ", 8, words);
  expect(start).toBe(8);
  expect(choices.map((choice) => [choice.text, choice.count])).toEqual([
    ['"large-1" ', 9],
    ['"small-1" ', 2],
  ]);
  expect(labels("status = e")).toEqual(["unset", "error"]);
});

test("an incomplete text has an error that names the missing part", () => {
  expect(unfinished("")).toBeNull();
  expect(unfinished("status = error")).toBeNull();
  expect(unfinished("status =")).toMatchObject({ start: 7, end: 8 });
  expect(unfinished("status = error and")?.message).toContain("a field");
});

test("the server's column becomes the underlined range", () => {
  expect(server_error("column 5: unknown field", "not blah = 1")).toEqual({
    message: "unknown field",
    start: 4,
    end: 8,
  });
  expect(server_error("the engine is starting", "x")).toBeNull();
});

test("conditions are added once, inverted, and removed", () => {
  const one = with_condition("", "model", "=", "a b");
  expect(one).toBe('model = "a b"');
  expect(with_condition(one, "model", "=", "a b")).toBe(one);
  expect(with_condition(one, "model", "!=", "a b")).toBe('model != "a b"');
  expect(with_condition(one, "status", "=", "error", "unset|ok|error")).toBe('model = "a b" and status = error');
  expect(with_condition("a = 1 or b = 2", "name", "=", "x")).toBe('(a = 1 or b = 2) and name = "x"');
  expect(without_condition('model = "a b" and status = error', "model", "a b")).toBe("status = error");
  expect(has_condition("status = error", "status", "error", "unset|ok|error")).toBe(true);
});
