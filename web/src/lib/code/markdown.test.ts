import { expect, test } from "@playwright/test";
import { parse_inline, parse_markdown, safe_address } from "./markdown";

test("blocks become a tree", () => {
  const text = "# Title\n\nwords\nmore\n\n- one\n- two\n  1. deep\n\n```py\nx = 1\n\ny\n```\n> said\n\n---\n";
  expect(parse_markdown(text)).toEqual([
    { kind: "heading", level: 1, children: [{ kind: "text", text: "Title" }] },
    { kind: "paragraph", children: [{ kind: "text", text: "words\nmore" }] },
    {
      kind: "list",
      ordered: false,
      start: 1,
      items: [
        [{ kind: "paragraph", children: [{ kind: "text", text: "one" }] }],
        [
          { kind: "paragraph", children: [{ kind: "text", text: "two" }] },
          {
            kind: "list",
            ordered: true,
            start: 1,
            items: [[{ kind: "paragraph", children: [{ kind: "text", text: "deep" }] }]],
          },
        ],
      ],
    },
    { kind: "code", language: "py", text: "x = 1\n\ny" },
    { kind: "quote", blocks: [{ kind: "paragraph", children: [{ kind: "text", text: "said" }] }] },
    { kind: "line" },
  ]);
});

test("a table has a head and rows", () => {
  const [table] = parse_markdown("| a | b |\n|---|--:|\n| 1 | `2` |\n");
  expect(table).toEqual({
    kind: "table",
    head: [[{ kind: "text", text: "a" }], [{ kind: "text", text: "b" }]],
    rows: [[[{ kind: "text", text: "1" }], [{ kind: "code", text: "2" }]]],
  });
});

test("marks inside a line", () => {
  expect(parse_inline("**b** *i* `c` snake_case_name ![chart](file:a.svg) [t](https://e.org)")).toEqual([
    { kind: "strong", children: [{ kind: "text", text: "b" }] },
    { kind: "text", text: " " },
    { kind: "emphasis", children: [{ kind: "text", text: "i" }] },
    { kind: "text", text: " " },
    { kind: "code", text: "c" },
    { kind: "text", text: " snake_case_name " },
    { kind: "image", source: "file:a.svg", alt: "chart" },
    { kind: "text", text: " " },
    { kind: "link", address: "https://e.org", children: [{ kind: "text", text: "t" }] },
  ]);
});

test("HTML and unsafe addresses stay text", () => {
  expect(parse_inline("<img src=x onerror=alert(1)>")).toEqual([
    { kind: "text", text: "<img src=x onerror=alert(1)>" },
  ]);
  const hostile = parse_inline("[click](javascript:alert)");
  expect(hostile).toEqual([{ kind: "text", text: "[click](javascript:alert)" }]);
  for (const address of ["javascript:x", "data:text/html,x", "//evil.example", "/\\evil.example", "vbscript:x"])
    expect(safe_address(address), address).toBeNull();
  expect(safe_address("/s/default")).toBe("/s/default");
});

test("hostile text is parsed to its end", () => {
  for (const part of ["*", "_", "[", "![", "`", "> ", "- ", "**a ", "|", "```\n", "  - \n"]) {
    const blocks = parse_markdown(part.repeat(4_000));
    expect(blocks.length).toBeGreaterThan(0);
  }
});

test("indented lines are code, but not below a list", () => {
  expect(parse_markdown("Run:\n\n    hone keys list  # all\n\n      --json\n\nDone.")).toMatchObject([
    { kind: "paragraph" },
    { kind: "code", text: "hone keys list  # all\n\n  --json" },
    { kind: "paragraph" },
  ]);
  expect(parse_markdown("- one\n\n    more of one").map(({ kind }) => kind)).toEqual(["list"]);
});
