// A whole change in one box: files one below the other, lines loaded when they come near, unified or side by side,
// things said about lines below them. Stays fast with tens of thousands of lines. No fetching inside.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { use_keys } from "../keyboard";
import {
  change_starts,
  columns_of,
  type DiffRow,
  type Hunk,
  HunkColours,
  is_at,
  place_of,
  type Side,
  split_rows,
  unified_rows,
} from "../lib/diff";
import { language_of } from "../lib/highlight";
import { DiffLineView } from "./diff_line";
import { type ChangedFile, ChangeLetter, Counts } from "./file_list";
import { Icon } from "./icon";
import { type RowsHandle, VirtualRows } from "./virtual_rows";
import { Visible } from "./visible";

export interface Annotation {
  key: string;
  path: string;
  side: Side;
  line: number;
  content: ComponentChildren;
}

/** The lines of a file; null while they are not there, a text when they cannot be shown. */
export type FileLines = Hunk[] | string | null;

export interface DiffViewProps {
  label: string;
  /** In the order in which they are shown. */
  files: ChangedFile[];
  lines: (path: string) => FileLines;
  /** These files are near the view: their lines are wanted now. */
  want: (paths: string[]) => void;
  split: boolean;
  annotations: Annotation[];
  on_comment: ((path: string, side: Side, line: number) => void) | null;
  viewed: ReadonlySet<string>;
  on_viewed: ((path: string, viewed: boolean) => void) | null;
  /** Which file is being read, for the tree beside. */
  on_file: (path: string) => void;
  handle: { current: DiffHandle | null };
}

export interface DiffHandle {
  show_file: (path: string) => void;
  show_line: (path: string, side: Side, line: number) => void;
}

const line_height = 20;
const head_height = 37;

type ViewRow = { key: string; height: number; path: string } & (
  | { kind: "head"; file: ChangedFile }
  | { kind: "note"; text: string; waiting: boolean }
  | { kind: "line"; row: DiffRow; colours: HunkColours }
  | { kind: "said"; content: ComponentChildren }
);

/** What stands in place of lines. */
function note_of(file: ChangedFile): string | null {
  if (file.submodule) return "A submodule: only the commit it points to changes.";
  if (file.binary) return "Not text. Its content is in the patch.";
  if (file.additions + file.deletions > 0) return null;
  if (file.old_mode !== file.new_mode && file.old_mode !== "" && file.new_mode !== "")
    return `Only the mode changes: ${file.old_mode} → ${file.new_mode}.`;
  if (file.change === "renamed" || file.change === "copied") return "The content stays the same.";
  return "An empty file.";
}

function rows_text(row: DiffRow): string[] {
  if (row.kind === "hunk") return [];
  if (row.kind === "unified") return [row.view.line.content];
  return [row.left?.line.content ?? "", row.right?.line.content ?? ""];
}

/** Guessed from the number of characters, which a monospace font makes nearly exact. */
function row_height(row: DiffRow, columns: number): number {
  if (row.kind === "hunk") return 28;
  const widest = Math.max(...rows_text(row).map(columns_of));
  return Math.max(1, Math.ceil(widest / columns)) * line_height;
}

interface FileRows {
  rows: DiffRow[];
  heights: number[];
  colours: HunkColours[];
}

/** Rows of one file, kept while its lines, the view and the width stay. */
function use_file_rows(split: boolean, columns: number): (path: string, hunks: Hunk[]) => FileRows {
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

function lines_of(row: DiffRow) {
  if (row.kind === "hunk") return [];
  if (row.kind === "unified") return [row.view.line];
  return [row.left?.line, row.right?.line].filter((line) => line !== undefined);
}

const line_key = (path: string, index: number) => `${path}\0${index}`;
const head_key = (path: string) => `${path}\0head`;

interface HeadProps {
  file: ChangedFile;
  folded: boolean;
  viewed: boolean;
  on_fold: () => void;
  on_viewed: ((viewed: boolean) => void) | null;
}

function FileHead({ file, folded, viewed, on_fold, on_viewed }: HeadProps) {
  const renamed = file.old_path !== file.path && (file.change === "renamed" || file.change === "copied");
  const mode = file.old_mode !== file.new_mode && file.old_mode !== "" && file.new_mode !== "";
  return (
    <div class="diff-head">
      <button
        type="button"
        class="quiet icon-only"
        aria-expanded={!folded}
        aria-label={`${folded ? "Unfold" : "Fold"} ${file.path}`}
        onClick={on_fold}
      >
        <Icon name={folded ? "right" : "down"} />
      </button>
      <ChangeLetter change={file.change} />
      <span class="diff-path" title={file.path}>
        {renamed && (
          <span class="soft">
            <Visible text={file.old_path} /> →{" "}
          </span>
        )}
        <b>
          <Visible text={file.path} />
        </b>
      </span>
      {mode && (
        <span class="tag">
          {file.old_mode} → {file.new_mode}
        </span>
      )}
      {file.symlink && <span class="tag">symbolic link</span>}
      {file.too_large && <span class="tag">cut: too large</span>}
      <span class="spring" />
      <Counts file={file} />
      {on_viewed && (
        <label class="check diff-viewed">
          <input type="checkbox" checked={viewed} onChange={(event) => on_viewed(event.currentTarget.checked)} />
          <span>Viewed</span>
        </label>
      )}
    </div>
  );
}

export function DiffView(props: DiffViewProps) {
  const { files, split, viewed } = props;
  const [width, set_width] = useState(800);
  const [toggled, set_toggled] = useState<ReadonlySet<string>>(new Set());
  const [cursor, set_cursor] = useState<string | null>(null);
  const scroll = useRef<RowsHandle | null>(null);
  /** Lines to show once they are there. */
  const wanted = useRef<{ path: string; side: Side; line: number } | null>(null);
  // 7.22 px is the advance of the 12 px monospace fonts; what is wrong about it is measured.
  const columns = Math.max(20, Math.floor((split ? width / 2 - 72 : width - 122) / 7.23));
  const file_rows = use_file_rows(split, columns);
  // A file that was looked at is folded, until somebody unfolds it.
  const is_folded = (path: string) => viewed.has(path) !== toggled.has(path);
  const toggle = (path: string) =>
    set_toggled((known) => {
      const next = new Set(known);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const set_viewed = (path: string, on: boolean) => {
    // What was unfolded by hand follows the mark again.
    set_toggled((known) => new Set([...known].filter((other) => other !== path)));
    props.on_viewed?.(path, on);
  };

  const rows = useMemo(() => {
    const all: ViewRow[] = [];
    for (const file of files) {
      const { path } = file;
      all.push({ kind: "head", key: head_key(path), height: head_height, path, file });
      if (is_folded(path)) continue;
      const note = note_of(file);
      if (note !== null && !file.symlink) {
        all.push({ kind: "note", key: `${path}\0note`, height: 44, path, text: note, waiting: false });
        continue;
      }
      const lines = props.lines(path);
      if (lines === null || typeof lines === "string") {
        const guess = Math.min(4000, (file.additions + file.deletions + 8) * line_height);
        const waiting = lines === null;
        const height = waiting ? guess : 44;
        all.push({
          kind: "note",
          key: `${path}\0${waiting ? "wait" : "error"}`,
          height,
          path,
          text: lines ?? "",
          waiting,
        });
        continue;
      }
      const known = file_rows(path, lines);
      const said = props.annotations.filter((annotation) => annotation.path === path);
      for (const [index, row] of known.rows.entries()) {
        const colours = row.kind === "hunk" ? known.colours[row.hunk_index] : known.colours[row.hunk_index];
        if (!colours) continue;
        all.push({
          kind: "line",
          key: line_key(path, index),
          height: known.heights[index] ?? line_height,
          path,
          row,
          colours,
        });
        for (const annotation of said) {
          if (!lines_of(row).some((line) => is_at(line, annotation.side, annotation.line))) continue;
          all.push({ kind: "said", key: `${path}\0${annotation.key}`, height: 110, path, content: annotation.content });
        }
      }
    }
    return all;
  }, [files, props.lines, props.annotations, split, columns, viewed, toggled]);

  const file_at = (first: number) => files.find((file) => file.path === rows[first]?.path);
  const current = useRef(files[0]?.path ?? "");
  const cursor_at = () => {
    const at = rows.findIndex((row) => row.key === cursor);
    return at >= 0 && rows[at]?.path === current.current
      ? at
      : rows.findIndex((row) => row.key === head_key(current.current));
  };
  const go = (row: ViewRow | undefined) => {
    if (!row) return;
    set_cursor(row.key);
    if (row.path !== current.current) {
      current.current = row.path;
      props.on_file(row.path);
    }
    scroll.current?.show(row.key, row.kind === "head" ? "top" : "near");
  };
  const go_line = (step: number) => {
    for (let at = cursor_at() + step; at >= 0 && at < rows.length; at += step) {
      const row = rows[at];
      if (row?.kind === "head" || (row?.kind === "line" && row.row.kind !== "hunk")) return go(row);
    }
  };
  const go_change = (step: number) => {
    const starts = change_starts(rows.map((row) => (row.kind === "line" ? row.row : blank)));
    const at = cursor_at();
    go(rows[(step > 0 ? starts.find((start) => start > at) : starts.filter((start) => start < at).pop()) ?? -1]);
  };
  const go_file = (step: number) => {
    const at = files.findIndex((file) => file.path === current.current);
    const file = files[Math.max(0, Math.min(files.length - 1, at + step))];
    if (file) go(rows.find((row) => row.key === head_key(file.path)));
  };
  const comment = () => {
    const row = rows.find((candidate) => candidate.key === cursor);
    if (row?.kind !== "line") return;
    const line = lines_of(row.row).pop();
    const place = line && place_of(line);
    if (place) props.on_comment?.(row.path, place.side, place.line);
  };
  const mark_viewed = () => {
    const path = current.current;
    const on = !viewed.has(path);
    set_viewed(path, on);
    const at = files.findIndex((file) => file.path === path);
    const next = [...files.slice(at + 1), ...files.slice(0, at)].find((file) => !viewed.has(file.path));
    if (on && next) go(rows.find((row) => row.key === head_key(next.path)));
  };
  const group = "Changes";
  use_keys([
    { keys: "j", title: "Next change", group, run: () => go_change(1) },
    { keys: "k", title: "Previous change", group, run: () => go_change(-1) },
    { keys: "J", title: "Next file", group, run: () => go_file(1) },
    { keys: "K", title: "Previous file", group, run: () => go_file(-1) },
    { keys: "ArrowDown", title: "Next line", group, run: () => go_line(1) },
    { keys: "ArrowUp", title: "Previous line", group, run: () => go_line(-1) },
    { keys: "x", title: "Fold or unfold the file", group, run: () => toggle(current.current) },
    ...(props.on_viewed ? [{ keys: "v", title: "Viewed; on to the next file", group, run: mark_viewed }] : []),
    ...(props.on_comment ? [{ keys: "c", title: "Comment on the line", group, run: comment }] : []),
  ]);

  props.handle.current = {
    show_file: (path) => go(rows.find((row) => row.key === head_key(path))),
    show_line: (path, side, line) => {
      const found = rows.find(
        (row) => row.path === path && row.kind === "line" && lines_of(row.row).some((one) => is_at(one, side, line)),
      );
      wanted.current = found ? null : { path, side, line };
      go(found ?? rows.find((row) => row.key === head_key(path)));
    },
  };
  useEffect(() => {
    const place = wanted.current;
    if (place && typeof props.lines(place.path) === "object" && props.lines(place.path))
      props.handle.current?.show_line(place.path, place.side, place.line);
  }, [rows]);

  const on_view = (first: number, end: number) => {
    const near = rows.slice(Math.max(0, first - 5), end + 20);
    const paths = near.filter((row) => row.kind === "note" && row.waiting).map((row) => row.path);
    if (paths.length > 0) props.want(paths);
    const path = rows[first]?.path;
    if (path === undefined || path === current.current) return;
    current.current = path;
    props.on_file(path);
  };
  const head = (file: ChangedFile) => (
    <FileHead
      file={file}
      folded={is_folded(file.path)}
      viewed={viewed.has(file.path)}
      on_fold={() => toggle(file.path)}
      on_viewed={props.on_viewed && ((on) => set_viewed(file.path, on))}
    />
  );
  const draw = (row: ViewRow) => {
    switch (row.kind) {
      case "head":
        return head(row.file);
      case "note":
        return (
          <p class="diff-note" style={row.waiting ? { height: `${row.height}px` } : undefined}>
            {row.waiting ? "Loading…" : row.text}
          </p>
        );
      case "said":
        return <div class="diff-said">{row.content}</div>;
      case "line":
        return (
          <DiffLineView
            row={row.row}
            colours={row.colours}
            chosen={row.key === cursor}
            on_comment={props.on_comment && ((side, line) => props.on_comment?.(row.path, side, line))}
          />
        );
    }
  };
  return (
    <VirtualRows
      label={props.label}
      rows={rows}
      draw={draw}
      handle={scroll}
      on_view={on_view}
      on_width={set_width}
      pinned_height={head_height}
      pinned={(first) => {
        const file = file_at(first);
        return file && rows[first]?.kind !== "head" ? head(file) : null;
      }}
    />
  );
}

const blank: DiffRow = {
  kind: "hunk",
  hunk_index: 0,
  hunk: { old_start: 0, old_count: 0, new_start: 0, new_count: 0, heading: "", lines: [] },
};
