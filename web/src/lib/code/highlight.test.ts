import { expect, test } from "@playwright/test";
import { language_of, tokenize } from "./highlight";

function read(path: string, ...lines: string[]): string[] {
  const language = language_of(path);
  if (!language) throw new Error(`no language for ${path}`);
  let state = 0;
  const found: string[] = [];
  for (const line of lines) {
    const answer = tokenize(line, language, state);
    state = answer.state;
    found.push(...answer.tokens.map((token) => `${token.kind}:${line.slice(token.start, token.end)}`));
  }
  return found;
}

test("words, numbers, strings and comments", () => {
  expect(read("a.ts", 'const a1 = 0x1f + 2.5; // "no"', "let s = `x")).toEqual([
    "keyword:const",
    "number:0x1f",
    "number:2.5",
    'comment:// "no"',
    "keyword:let",
    "string:`x",
  ]);
});

test("comments and strings continue in the next line", () => {
  expect(read("a.cpp", "int a; /* one", "two */ return 1;")).toEqual([
    "keyword:int",
    "comment:/* one",
    "comment:two */",
    "keyword:return",
    "number:1",
  ]);
  expect(read("a.py", 'def f(): """doc', 'still""" # end')).toEqual([
    "keyword:def",
    'string:"""doc',
    'string:still"""',
    "comment:# end",
  ]);
});

test("an escaped quote does not end a string, a lone one does not begin one", () => {
  expect(read("a.js", String.raw`f("a\"b", c)`)).toEqual([String.raw`string:"a\"b"`]);
  expect(read("a.rs", "fn f<'a>(x: &'a str)")).toEqual(["keyword:fn"]);
  expect(read("a.sh", "echo it's $#")).toEqual([]);
});

test("keys of data", () => {
  expect(read("a.json", '  "name": "x", "n": 1')).toEqual(['key:"name"', 'string:"x"', 'string:"n"', "number:1"]);
  expect(read("ci.yml", "on: push # now")).toEqual(["key:on", "comment:# now"]);
  expect(read("q.SQL", "SELECT 1 -- one")).toEqual(["keyword:SELECT", "number:1", "comment:-- one"]);
});

test("the file name selects the language; unknown ones have no colours", () => {
  expect(language_of("Dockerfile")).toBe(language_of("run.sh"));
  expect(language_of("x/constructor")).toBeNull();
  expect(language_of("photo.png")).toBeNull();
});

test("a very long line has no colours, and hostile lines end", () => {
  const language = language_of("a.js");
  if (!language) throw new Error("no language");
  expect(tokenize("x".repeat(100_000), language, 0).tokens).toEqual([]);
  expect(tokenize("/".repeat(2000), language, 0).tokens).toHaveLength(1);
  expect(tokenize(`'\\`.repeat(999), language, 0).tokens).toHaveLength(0);
});
