// The rows of a whole change: file headers, lines, comments on lines, and notes in place of lines that are not shown.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { FileChange } from "../../api_types";
import {
  columns_of,
  type DiffLine,
  type DiffRow,
  type Hunk,
  HunkColours,
  is_at,
  type Side,
  split_rows,
  unified_rows,
} from "../../lib/code/diff";
import { language_of } from "../../lib/code/highlight";

export interface Annotation {
  key: string;
  path: string;
  side: Side;
  line: number;
  content: ComponentChildren;
}

/** The lines of a file; null while they load, a text when they cannot be shown. */
export type FileLines = Hunk[] | string | null;

const line_height = 20;
export const head_height = 37;

export type ViewRow = { key: string; height: number; path: string } & (
  | { kind: "head"; file: FileChange }
  | { kind: "note"; text: string; waiting: boolean }
  | { kind: "line"; row: DiffRow; colours: HunkColours }
  | { kind: "comment"; content: ComponentChildren }
);

/** The note shown in place of lines. */
function note_of(file: FileChange): string | null {
  if (file.submodule) return "Submodule: only its commit changes.";
  if (file.binary) return "Binary file. The patch contains its content.";
  if (file.additions + file.deletions > 0) return null;
  if (file.old_mode !== file.new_mode && file.old_mode !== "" && file.new_mode !== "")
    return `Only the mode changes: ${file.old_mode} → ${file.new_mode}.`;
  if (file.change === "renamed" || file.change === "copied") return "The content is unchanged.";
  return "Empty file.";
}

function rows_text(row: DiffRow): string[] {
  if (row.kind === "hunk") return [];
  if (row.kind === "unified") return [row.view.line.content];
  return [row.left?.line.content ?? "", row.right?.line.content ?? ""];
}

/** Estimated from the number of characters, which is nearly exact with a monospace font. */
function row_height(row: DiffRow, columns: number): number {
  if (row.kind === "hunk") return 28;
  const widest = Math.max(...rows_text(row).map(columns_of));
  return Math.max(1, Math.ceil(widest / columns)) * line_height;
}

export interface FileRows {
  rows: DiffRow[];
  heights: number[];
  colours: HunkColours[];
}

/** Rows of one file, cached while its lines, the view and the width are unchanged. */
export function use_file_rows(split: boolean, columns: number): (path: string, hunks: Hunk[]) => FileRows {
  const known = useRef(new Map<string, { hunks: Hunk[]; split: boolean; columns: number; value: FileRows }>());
  return (path, hunks) => {
    const held = known.current.get(path);
    if (held && held.hunks === hunks && held.split === split && held.columns === columns) return held.value;
    const rows = split ? split_rows(hunks) : unified_rows(hunks);
    const language = language_of(path);
    const colours =
      held?.hunks === hunks ? held.value.colours : hunks.map((hunk) => new HunkColours(hunk.lines, language));
    const value = { rows, heights: rows.map((row) => row_height(row, columns)), colours };
    known.current.set(path, { hunks, split, columns, value });
    return value;
  };
}

export function lines_of(row: DiffRow): DiffLine[] {
  if (row.kind === "hunk") return [];
  if (row.kind === "unified") return [row.view.line];
  return [row.left?.line, row.right?.line].filter((line) => line !== undefined);
}

const line_key = (path: string, index: number) => `${path}\0${index}`;
export const head_key = (path: string) => `${path}\0head`;

interface RowSource {
  files: FileChange[];
  lines: (path: string) => FileLines;
  annotations: Annotation[];
  is_folded: (path: string) => boolean;
  file_rows: (path: string, hunks: Hunk[]) => FileRows;
}

function note_row(file: FileChange, lines: string | null): ViewRow {
  const { path } = file;
  const waiting = lines === null;
  const guess = Math.min(4000, (file.additions + file.deletions + 8) * line_height);
  const key = `${path}\0${waiting ? "wait" : "note"}`;
  return { kind: "note", key, height: waiting ? guess : 44, path, text: lines ?? "", waiting };
}

function line_rows(path: string, known: FileRows, comments: Annotation[]): ViewRow[] {
  const rows: ViewRow[] = [];
  for (const [index, row] of known.rows.entries()) {
    const colours = known.colours[row.hunk_index];
    if (!colours) continue;
    const height = known.heights[index] ?? line_height;
    rows.push({ kind: "line", key: line_key(path, index), height, path, row, colours });
    for (const annotation of comments) {
      if (!lines_of(row).some((line) => is_at(line, annotation.side, annotation.line))) continue;
      rows.push({ kind: "comment", key: `${path}\0${annotation.key}`, height: 110, path, content: annotation.content });
    }
  }
  return rows;
}

export function view_rows({ files, lines, annotations, is_folded, file_rows }: RowSource): ViewRow[] {
  const rows: ViewRow[] = [];
  for (const file of files) {
    const { path } = file;
    rows.push({ kind: "head", key: head_key(path), height: head_height, path, file });
    if (is_folded(path)) continue;
    const note = note_of(file);
    const held = note ?? lines(path);
    if (held === null || typeof held === "string") rows.push(note_row(file, held));
    else {
      const comments = annotations.filter((annotation) => annotation.path === path);
      // Not push(...): a file may have more rows than a call can have arguments.
      for (const row of line_rows(path, file_rows(path, held), comments)) rows.push(row);
    }
  }
  return rows;
}
