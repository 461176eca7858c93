// A whole change in one box: all files, lines loaded when they come near the view, unified or split, comments below
// their lines. Fast with tens of thousands of lines. Loads no data.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FileChange } from "../../api_types";
import { use_keys } from "../../keyboard";
import { change_starts, type DiffRow, is_at, place_of, type Side } from "../../lib/code/diff";
import { type RowsHandle, VirtualRows } from "../virtual_rows";
import { FileHead } from "./head";
import { DiffLineView } from "./line";
import {
  type Annotation,
  type FileLines,
  head_height,
  head_key,
  lines_of,
  use_file_rows,
  type ViewRow,
  view_rows,
} from "./rows";

export type { Annotation, FileLines } from "./rows";

export interface DiffViewProps {
  label: string;
  /** In the order in which they are shown. */
  files: FileChange[];
  lines: (path: string) => FileLines;
  /** Called with files near the view whose lines are needed. */
  want: (paths: string[]) => void;
  split: boolean;
  annotations: Annotation[];
  on_comment: ((path: string, side: Side, line: number) => void) | null;
  viewed: ReadonlySet<string>;
  on_viewed: ((path: string, viewed: boolean) => void) | null;
  /** Called with the file in view, for the file tree. */
  on_file: (path: string) => void;
  handle: { current: DiffHandle | null };
}

export interface DiffHandle {
  show_file: (path: string) => void;
  show_line: (path: string, side: Side, line: number) => void;
}

/** Collapsed files: viewed ones, unless they were expanded again, and those collapsed by the user. */
function use_folding(props: DiffViewProps) {
  const { viewed } = props;
  const [toggled, set_toggled] = useState<ReadonlySet<string>>(new Set());
  const is_folded = (path: string) => viewed.has(path) !== toggled.has(path);
  const toggle = (path: string) =>
    set_toggled((known) => {
      const next = new Set(known);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const set_viewed = (path: string, on: boolean) => {
    // Files expanded by the user follow the mark again.
    set_toggled((known) => new Set([...known].filter((other) => other !== path)));
    props.on_viewed?.(path, on);
  };
  return { toggled, is_folded, toggle, set_viewed };
}

type Folding = ReturnType<typeof use_folding>;

const blank: DiffRow = {
  kind: "hunk",
  hunk_index: 0,
  hunk: { old_start: 0, old_count: 0, new_start: 0, new_count: 0, heading: "", lines: [] },
};

/** Represents the lines of a file that are not loaded yet. */
const unread: DiffRow = { kind: "split", hunk_index: 0, left: null, right: null };

function as_line(row: ViewRow): DiffRow {
  if (row.kind === "line") return row.row;
  return row.kind === "note" && row.waiting ? unread : blank;
}

/** The keyboard cursor in the rows, and the functions that move it. */
function use_places(props: DiffViewProps, rows: ViewRow[], scroll: { current: RowsHandle | null }) {
  // A signal, not state: the next key may be pressed before the page is drawn again.
  const cursor = useSignal<string | null>(null);
  const current = useRef(props.files[0]?.path ?? "");
  const head_at = (path: string) => rows.findIndex((row) => row.key === head_key(path));
  const position = () => {
    const at = rows.findIndex((row) => row.key === cursor.value);
    return at >= 0 && rows[at]?.path === current.current ? at : head_at(current.current);
  };
  const be_in = (path: string) => {
    if (path === current.current) return;
    current.current = path;
    props.on_file(path);
  };
  const go = (row: ViewRow | undefined) => {
    if (!row) return;
    cursor.value = row.key;
    be_in(row.path);
    scroll.current?.show(row.key, row.kind === "head" ? "top" : "near");
  };
  const go_change = (step: number) => {
    const starts = change_starts(rows.map(as_line));
    const at = position();
    go(rows[(step > 0 ? starts.find((start) => start > at) : starts.filter((start) => start < at).pop()) ?? -1]);
  };
  // The lines that the cursor waited for are loaded: move to the first changed one.
  const waits = useRef(false);
  useEffect(() => {
    const row = rows.find((candidate) => candidate.key === cursor.value);
    if (waits.current && !row) go_change(1);
    waits.current = row?.kind === "note";
  }, [rows, cursor.value]);
  return {
    cursor,
    current,
    // The current file is the one with the cursor while the cursor is visible, otherwise the one at the top; the row
    // before the first is under the pinned header.
    follow_view: (first: number, end: number) => {
      const at = rows.findIndex((row) => row.key === cursor.value);
      const path = rows[at >= first - 1 && at < end ? at : first]?.path;
      if (path !== undefined) be_in(path);
    },
    go,
    go_head: (path: string) => go(rows[head_at(path)]),
    go_line: (step: number) => {
      for (let at = position() + step; at >= 0 && at < rows.length; at += step) {
        const row = rows[at];
        if (row?.kind === "head" || (row?.kind === "line" && row.row.kind !== "hunk")) return go(row);
      }
    },
    go_change,
    go_file: (step: number) => {
      const at = props.files.findIndex((file) => file.path === current.current);
      const file = props.files[Math.max(0, Math.min(props.files.length - 1, at + step))];
      if (file) go(rows[head_at(file.path)]);
    },
  };
}

type Places = ReturnType<typeof use_places>;

function use_diff_keys(props: DiffViewProps, rows: ViewRow[], places: Places, folding: Folding): void {
  const { files, viewed } = props;
  const comment = () => {
    const row = rows.find((candidate) => candidate.key === places.cursor.value);
    if (row?.kind !== "line") return;
    const line = lines_of(row.row).pop();
    const place = line && place_of(line);
    if (place) props.on_comment?.(row.path, place.side, place.line);
  };
  const mark_viewed = () => {
    const path = places.current.current;
    const on = !viewed.has(path);
    folding.set_viewed(path, on);
    const at = files.findIndex((file) => file.path === path);
    const next = [...files.slice(at + 1), ...files.slice(0, at)].find((file) => !viewed.has(file.path));
    if (on && next) places.go_head(next.path);
  };
  const group = "Changes";
  use_keys([
    { keys: "j", title: "Next change", group, run: () => places.go_change(1) },
    { keys: "k", title: "Previous change", group, run: () => places.go_change(-1) },
    { keys: "J", title: "Next file", group, run: () => places.go_file(1) },
    { keys: "K", title: "Previous file", group, run: () => places.go_file(-1) },
    { keys: "ArrowDown", title: "Next line", group, run: () => places.go_line(1) },
    { keys: "ArrowUp", title: "Previous line", group, run: () => places.go_line(-1) },
    { keys: "x", title: "Collapse or expand the file", group, run: () => folding.toggle(places.current.current) },
    ...(props.on_viewed
      ? [{ keys: "v", title: "Mark as viewed and go to the next file", group, run: mark_viewed }]
      : []),
    ...(props.on_comment ? [{ keys: "c", title: "Comment on the line", group, run: comment }] : []),
  ]);
}

/** The functions for components beside the box; a line whose file is not loaded yet is shown once it is. */
function use_handle(props: DiffViewProps, rows: ViewRow[], places: Places, folding: Folding): void {
  const wanted = useRef<{ path: string; side: Side; line: number } | null>(null);
  props.handle.current = {
    show_file: places.go_head,
    show_line: (path, side, line) => {
      if (folding.is_folded(path)) folding.toggle(path);
      const found = rows.find(
        (row) => row.path === path && row.kind === "line" && lines_of(row.row).some((one) => is_at(one, side, line)),
      );
      const waits = folding.is_folded(path) || props.lines(path) === null;
      wanted.current = !found && waits ? { path, side, line } : null;
      if (found) places.go(found);
      else places.go_head(path);
    },
  };
  useEffect(() => {
    const place = wanted.current;
    if (place && props.lines(place.path) !== null) props.handle.current?.show_line(place.path, place.side, place.line);
  }, [rows]);
}

// The advance of the 12 px monospace fonts; row heights are measured after drawing.
const character_width = 7.23;

export function DiffView(props: DiffViewProps) {
  const { files, split, viewed } = props;
  const [width, set_width] = useState(800);
  const scroll = useRef<RowsHandle | null>(null);
  const columns = Math.max(20, Math.floor((split ? width / 2 - 72 : width - 122) / character_width));
  const file_rows = use_file_rows(split, columns);
  const folding = use_folding(props);
  const rows = useMemo(
    () => view_rows({ ...props, is_folded: folding.is_folded, file_rows }),
    [files, props.lines, props.annotations, split, columns, viewed, folding.toggled],
  );
  const places = use_places(props, rows, scroll);
  use_diff_keys(props, rows, places, folding);
  use_handle(props, rows, places, folding);

  const on_view = (first: number, end: number) => {
    const near = rows.slice(Math.max(0, first - 5), end + 20);
    const paths = near.filter((row) => row.kind === "note" && row.waiting).map((row) => row.path);
    if (paths.length > 0) props.want(paths);
    places.follow_view(first, end);
  };
  const head = (file: FileChange) => (
    <FileHead
      file={file}
      folded={folding.is_folded(file.path)}
      viewed={viewed.has(file.path)}
      on_fold={() => folding.toggle(file.path)}
      on_viewed={props.on_viewed && ((on) => folding.set_viewed(file.path, on))}
    />
  );
  const cursor = places.cursor.value;
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
      case "comment":
        return <div class="diff-comment">{row.content}</div>;
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
        const file = files.find((candidate) => candidate.path === rows[first]?.path);
        return file && rows[first]?.kind !== "head" ? head(file) : null;
      }}
    />
  );
}
