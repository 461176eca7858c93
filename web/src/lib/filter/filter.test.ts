import { expect, test } from "@playwright/test";
import { complete_filter, parse_filter, with_term } from "./filter";

const fields = ["actor", "action", "target"];

test("terms are field and value, quotes keep spaces", () => {
  const filter = parse_filter('action:login actor:"Ada Lovelace"', fields);
  expect(filter.error).toBeNull();
  expect(filter.terms.map((term) => [term.field, term.value])).toEqual([
    ["action", "login"],
    ["actor", "Ada Lovelace"],
  ]);
});

test("an error points at its column", () => {
  expect(parse_filter("action:login colour:red", fields).error).toEqual({
    message: 'unknown field "colour": use actor, action, target',
    start: 13,
    end: 19,
  });
  expect(parse_filter("login", fields).error?.start).toBe(0);
  expect(parse_filter("action:", fields).error?.message).toBe('"action" needs a value');
  expect(parse_filter("action:a action:b", fields).error?.start).toBe(9);
});

test("setting a field replaces its earlier value and keeps the others", () => {
  expect(with_term("action:login actor:user_1", fields, "action", "key_create")).toBe("actor:user_1 action:key_create");
  expect(with_term("action:login", fields, "action", "")).toBe("");
  expect(with_term("", fields, "actor", "Ada Lovelace")).toBe('actor:"Ada Lovelace"');
});

test("completion offers fields, then values by how often they occur", () => {
  const values = {
    actor: new Map([["user_1", 3]]),
    action: new Map([
      ["login", 2],
      ["key_create", 9],
    ]),
  };
  expect(complete_filter("ac", 2, values).choices.map((choice) => choice.text)).toEqual(["actor:", "action:"]);
  expect(complete_filter("actor:user_1 ac", 15, values).choices.map((choice) => choice.text)).toEqual(["action:"]);
  expect(complete_filter("action:", 7, values)).toEqual({
    start: 0,
    choices: [
      { text: "action:key_create ", label: "key_create", count: 9 },
      { text: "action:login ", label: "login", count: 2 },
    ],
  });
});
