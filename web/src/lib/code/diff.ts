// The rows of a diff: hunks of the API as rows of the unified and of the split view.

import type { DiffLine, Hunk, Side } from "../../api_types";
import { type Language, type LineState, type Token, tokenize } from "./highlight";
import { type Range, word_diff } from "./word_diff";

export type { DiffLine, Hunk, LineKind, Side } from "../../api_types";

/** A drawn line; `pair` is the line of the other side that it replaces or that replaces it. */
export interface LineView {
  line: DiffLine;
  /** Index in its hunk; used for the colours. */
  index: number;
  pair: DiffLine | null;
}

export type DiffRow =
  | { kind: "hunk"; hunk: Hunk; hunk_index: number }
  | { kind: "unified"; hunk_index: number; view: LineView }
  | { kind: "split"; hunk_index: number; left: LineView | null; right: LineView | null };

/** Deleted lines and the added lines after them; the first deleted is paired with the first added, and so on. */
function paired(lines: DiffLine[]): Map<number, number> {
  const pairs = new Map<number, number>();
  let at = 0;
  while (at < lines.length) {
    if (lines[at]?.kind !== "deleted") {
      at++;
      continue;
    }
    const removed = at;
    while (lines[at]?.kind === "deleted") at++;
    const added = at;
    while (lines[at]?.kind === "added") at++;
    for (let step = 0; removed + step < added && added + step < at; step++) {
      pairs.set(removed + step, added + step);
      pairs.set(added + step, removed + step);
    }
  }
  return pairs;
}

function view_of(lines: DiffLine[], pairs: Map<number, number>, index: number): LineView | null {
  const line = lines[index];
  if (!line) return null;
  const other = pairs.get(index);
  return { line, index, pair: other === undefined ? null : (lines[other] ?? null) };
}

export function unified_rows(hunks: Hunk[]): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const [hunk_index, hunk] of hunks.entries()) {
    rows.push({ kind: "hunk", hunk, hunk_index });
    const pairs = paired(hunk.lines);
    for (let index = 0; index < hunk.lines.length; index++) {
      const view = view_of(hunk.lines, pairs, index);
      if (view) rows.push({ kind: "unified", hunk_index, view });
    }
  }
  return rows;
}

export function split_rows(hunks: Hunk[]): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const [hunk_index, hunk] of hunks.entries()) {
    rows.push({ kind: "hunk", hunk, hunk_index });
    const { lines } = hunk;
    const pairs = paired(lines);
    for (let index = 0; index < lines.length; index++) {
      const view = view_of(lines, pairs, index);
      if (!view) continue;
      if (view.line.kind === "context") rows.push({ kind: "split", hunk_index, left: view, right: view });
      else if (view.line.kind === "deleted") {
        const other = pairs.get(index);
        const right = other === undefined ? null : view_of(lines, pairs, other);
        rows.push({ kind: "split", hunk_index, left: view, right });
      } else if (!pairs.has(index)) rows.push({ kind: "split", hunk_index, left: null, right: view });
    }
  }
  return rows;
}

/** The place of a comment on this line: the new side unless the line was deleted. */
export function place_of(line: DiffLine): { side: Side; line: number } | null {
  if (line.kind === "deleted") return line.old_line === null ? null : { side: "old", line: line.old_line };
  return line.new_line === null ? null : { side: "new", line: line.new_line };
}

/** Whether a comment belongs to this line. */
export function is_at(line: DiffLine, side: Side, number: number): boolean {
  return side === "old" ? line.kind !== "added" && line.old_line === number : line.new_line === number;
}

/** First rows of each run of changed lines: where "next change" stops. */
export function change_starts(rows: DiffRow[]): number[] {
  const changed = (row: DiffRow | undefined) =>
    (row?.kind === "unified" && row.view.line.kind !== "context") ||
    (row?.kind === "split" && (row.left?.line.kind ?? "added") !== "context");
  const starts: number[] = [];
  for (const [index, row] of rows.entries()) if (changed(row) && !changed(rows[index - 1])) starts.push(index);
  return starts;
}

/**
 * The colours of one hunk, computed on demand: each side is read in order from the hunk's first line, so that a
 * comment over several lines is recognised, and never further than requested.
 */
export class HunkColours {
  private readonly tokens: Token[][] = [];
  private old_state: LineState = 0;
  private new_state: LineState = 0;

  constructor(
    private readonly lines: DiffLine[],
    private readonly language: Language | null,
  ) {}

  of(index: number): Token[] {
    if (!this.language) return [];
    while (this.tokens.length <= index) {
      const line = this.lines[this.tokens.length];
      if (!line) return [];
      const from = line.kind === "deleted" ? this.old_state : this.new_state;
      const { tokens, state } = tokenize(line.content, this.language, from);
      if (line.kind !== "added") this.old_state = state;
      if (line.kind !== "deleted") this.new_state = state;
      this.tokens.push(tokens);
    }
    return this.tokens[index] ?? [];
  }
}

/** The words of a changed line that differ from its pair. */
export function changed_words(view: LineView): Range[] {
  if (!view.pair) return [];
  const gone = view.line.kind === "deleted";
  const found = gone
    ? word_diff(view.line.content, view.pair.content)
    : word_diff(view.pair.content, view.line.content);
  return (gone ? found?.removed : found?.added) ?? [];
}

export interface Piece {
  text: string;
  kind: Token["kind"] | null;
  changed: boolean;
}

/** A line split where colours or changed words begin and end. */
export function line_pieces(text: string, tokens: Token[], changed: Range[]): Piece[] {
  const cuts = new Set([0, text.length]);
  for (const token of tokens) cuts.add(token.start).add(token.end);
  for (const [start, end] of changed) cuts.add(start).add(end);
  const places = [...cuts].filter((place) => place <= text.length).sort((a, b) => a - b);
  const pieces: Piece[] = [];
  let token = 0;
  let range = 0;
  for (const [index, start] of places.entries()) {
    const end = places[index + 1];
    if (end === undefined) break;
    while ((tokens[token]?.end ?? Number.POSITIVE_INFINITY) <= start) token++;
    while ((changed[range]?.[1] ?? Number.POSITIVE_INFINITY) <= start) range++;
    const at_token = tokens[token];
    pieces.push({
      text: text.slice(start, end),
      kind: at_token && at_token.start <= start ? at_token.kind : null,
      changed: (changed[range]?.[0] ?? Number.POSITIVE_INFINITY) <= start,
    });
  }
  return pieces;
}

/** Columns a line takes in a monospace font: tabs of 4, wide characters count twice. */
export function columns_of(text: string): number {
  let columns = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (character === "\t") columns += 4 - (columns % 4);
    else if (code >= 0x1100 && (code <= 0x115f || (code >= 0x2e80 && code <= 0xffdc) || code >= 0x1f300)) columns += 2;
    else columns += 1;
  }
  return columns;
}
