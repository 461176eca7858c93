import { expect, test } from "@playwright/test";
import {
  change_starts,
  changed_words,
  columns_of,
  type DiffLine,
  type DiffRow,
  type Hunk,
  HunkColours,
  is_at,
  line_pieces,
  place_of,
  split_rows,
  unified_rows,
} from "./diff";
import { language_of } from "./highlight";

/** " context", "-removed", "+added". */
function hunk(...lines: string[]): Hunk {
  let old_line = 10;
  let new_line = 20;
  const read: DiffLine[] = lines.map((text) => {
    const kind = text.startsWith("-") ? "deleted" : text.startsWith("+") ? "added" : "context";
    return {
      kind,
      old_line: kind === "added" ? null : old_line++,
      new_line: kind === "deleted" ? null : new_line++,
      content: text.slice(1),
      no_newline: false,
      cut: false,
    };
  });
  return { old_start: 10, old_count: old_line - 10, new_start: 20, new_count: new_line - 20, heading: "", lines: read };
}

function drawn(rows: DiffRow[]): string[] {
  return rows.map((row) => {
    if (row.kind === "hunk") return "@@";
    if (row.kind === "unified") return row.view.line.content;
    return `${row.left?.line.content ?? ""}|${row.right?.line.content ?? ""}`;
  });
}

const sample = hunk(" a", "-b1", "-b2", "+B1", " c", "+d", " e", "-f");

test("unified rows keep the order of the lines", () => {
  expect(drawn(unified_rows([sample]))).toEqual(["@@", "a", "b1", "b2", "B1", "c", "d", "e", "f"]);
});

test("split rows pair deleted with added lines", () => {
  expect(drawn(split_rows([sample]))).toEqual(["@@", "a|a", "b1|B1", "b2|", "c|c", "|d", "e|e", "f|"]);
});

test("changes begin where a run of changed lines begins", () => {
  expect(change_starts(unified_rows([sample]))).toEqual([2, 6, 8]);
  expect(change_starts(split_rows([sample]))).toEqual([2, 5, 7]);
});

test("a comment belongs to the new side unless the line is gone", () => {
  const [context, removed] = sample.lines;
  const added = sample.lines[3];
  if (!context || !removed || !added) throw new Error("lines");
  expect(place_of(context)).toEqual({ side: "new", line: 20 });
  expect(place_of(removed)).toEqual({ side: "old", line: 11 });
  expect(is_at(removed, "old", 11)).toBe(true);
  expect(is_at(added, "old", 11)).toBe(false);
  expect(is_at(added, "new", 21)).toBe(true);
});

test("both sides are highlighted separately", () => {
  const { lines } = hunk(" x = 1;", "-/* open", "+// closed", " return x;");
  const colours = new HunkColours(lines, language_of("a.ts"));
  // The last line is within the comment before, and code after; it is drawn as it is after.
  expect(colours.of(3).map((token) => token.kind)).toEqual(["keyword"]);
  expect(colours.of(1)).toEqual([{ start: 0, end: 7, kind: "comment" }]);
  expect(new HunkColours(lines, null).of(3)).toEqual([]);
});

test("a line is split at colours and changed words without loss", () => {
  const [row] = unified_rows([hunk("-return a + 1;", "+return b + 1;")]).slice(2);
  if (row?.kind !== "unified") throw new Error("row");
  const colours = new HunkColours([row.view.line], language_of("a.ts"));
  const pieces = line_pieces(row.view.line.content, colours.of(0), changed_words(row.view));
  expect(pieces.map((piece) => piece.text).join("")).toBe("return b + 1;");
  expect(pieces.filter((piece) => piece.changed).map((piece) => piece.text)).toEqual(["b"]);
  expect(pieces.filter((piece) => piece.kind === "number").map((piece) => piece.text)).toEqual(["1"]);
  expect(line_pieces("", [], [])).toEqual([]);
});

test("ten thousand lines become rows", () => {
  const lines = Array.from({ length: 10_000 }, (_, index) =>
    index % 3 === 0 ? "-old" : index % 3 === 1 ? "+new" : " x",
  );
  expect(unified_rows([hunk(...lines)])).toHaveLength(10_001);
  expect(split_rows([hunk(...lines)])).toHaveLength(1 + 6667);
});

test("columns are counted like in a terminal", () => {
  expect(columns_of("abc")).toBe(3);
  expect(columns_of("\tab")).toBe(6);
  expect(columns_of("ab\tc")).toBe(5);
  expect(columns_of("你好")).toBe(4);
});
