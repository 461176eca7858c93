// Every list of the UI: sticky header, sort, column chooser, virtual rows, j/k/Enter/x, multi-select, and a pill
// for new rows. Loads no data.

import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type KeyAction, use_keys } from "../keyboard";
import { parse_order, type SortValue, sort_rows, write_order } from "../lib/filter/sort";
import { plural } from "../lib/format/number";
import { columns_with_room } from "../lib/view/columns";
import { row_window, scroll_to_show } from "../lib/view/window";
import { is_phone } from "../phone";
import { query, set_query } from "../router";
import { stored_signal } from "../stored";
import { Check } from "./form";
import { Icon } from "./icon";
import { Menu } from "./menu";

/** As in style/tables.css; all rows must have this height, because rows outside the view are not drawn. */
const row_height = () => (is_phone.value ? 40 : 32);
const select_width = 32;

export interface Column<Row> {
  id: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** In px or %; columns without one share what is left. */
  width?: string;
  align?: "right";
  /** Given for columns that can be sorted. */
  sort?: (row: Row) => SortValue;
  /** In a list with `server_order`: the server can sort by it, the largest first. */
  server_sort?: boolean;
  /** Hidden on phones, and where the other columns would become too narrow. */
  wide?: boolean;
  /** Not shown until chosen. */
  extra?: boolean;
}

interface TableProps<Row> {
  /** Names the table for screen readers and for the stored columns. */
  label: string;
  rows: Row[];
  columns: Column<Row>[];
  row_id: (row: Row) => string;
  row_title: (row: Row) => string;
  on_open?: (row: Row) => void;
  open_id?: string | null;
  /** Actions on several rows; setting it turns selection on. */
  selection_actions?: (rows: Row[], clear: () => void) => ComponentChildren;
  /** Sorts all rows here; off when the server sorts. */
  order?: string;
  /** The order of a list that the server sorts, while the address names none. */
  server_order?: string;
  on_end?: () => void;
  new_count?: number;
  on_show_new?: () => void;
  /** Shown on the right of the bar above the table, beside the column chooser. */
  bar?: ComponentChildren;
  foot?: ComponentChildren;
  /** A secondary list: keys and the sort order in the address belong to another table. */
  secondary?: boolean;
  /** Grow with the rows instead of scrolling inside. */
  fit?: boolean;
}

const chosen_columns = new Map<string, Signal<string>>();

function columns_of(label: string): Signal<string> {
  const known = chosen_columns.get(label);
  if (known) return known;
  const created = stored_signal(`columns: ${label}`, "");
  chosen_columns.set(label, created);
  return created;
}

// Stored as the list of columns that differ from their default, so that new columns appear automatically.
function is_shown<Row>(column: Column<Row>, toggled: string): boolean {
  return toggled.split(",").includes(column.id) !== !column.extra;
}

function ColumnChooser<Row>({ label, columns }: { label: string; columns: Column<Row>[] }) {
  const toggled = columns_of(label);
  const toggle = (id: string) => {
    const ids = new Set(toggled.value.split(",").filter((name) => name !== ""));
    if (!ids.delete(id)) ids.add(id);
    toggled.value = [...ids].join(",");
  };
  return (
    <Menu
      label="Choose columns"
      class="quiet icon-only"
      align="right"
      button={<Icon name="columns" />}
      items={[]}
      footer={() => (
        <fieldset class="menu-form">
          <legend class="off-screen">Columns</legend>
          {columns
            .slice(1)
            .filter((column) => column.title !== "")
            .map((column) => (
              <Check
                key={column.id}
                label={column.title}
                checked={is_shown(column, toggled.value)}
                on_change={() => toggle(column.id)}
              />
            ))}
        </fieldset>
      )}
    />
  );
}

function HeadCell<Row>({ column, order }: { column: Column<Row>; order: string | undefined }) {
  const current = order === undefined ? null : parse_order(order);
  const active = current?.column === column.id;
  if (!(column.sort || column.server_sort) || order === undefined) {
    return (
      <th scope="col" class={column.align}>
        {column.title || <span class="off-screen">Actions</span>}
      </th>
    );
  }
  const next = write_order({ column: column.id, descending: active ? !current.descending : !!column.server_sort });
  return (
    <th
      scope="col"
      class={column.align}
      aria-sort={active ? (current.descending ? "descending" : "ascending") : undefined}
    >
      <button type="button" class="sort" onClick={() => set_query({ sort: next })}>
        {column.title}
        {active && <Icon name={current.descending ? "down" : "up"} />}
      </button>
    </th>
  );
}

/** The row with the keyboard cursor, kept by id so that live updates do not move it to another row. */
function use_cursor<Row>(props: TableProps<Row>, rows: Row[], scroller: { current: HTMLElement | null }) {
  // A signal, not state: the next key may be pressed before the page is drawn again.
  const cursor = useSignal<string | null>(null);
  const moved = useRef(false);
  const position = () => rows.findIndex((row) => props.row_id(row) === (cursor.value ?? props.open_id));
  const focus_row = () =>
    scroller.current
      ?.querySelector<HTMLElement>(`tr[data-row="${CSS.escape(cursor.value ?? "")}"]`)
      ?.focus({ preventScroll: true });
  const move = (step: number) => {
    const at = position();
    const next = Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + step));
    const row = rows[next];
    const box = scroller.current;
    if (!row || !box) return;
    cursor.value = props.row_id(row);
    if (props.open_id) props.on_open?.(row);
    box.scrollTop = scroll_to_show(next, box.scrollTop, box.clientHeight, row_height(), row_height());
    // The focus moves too: otherwise Enter would go to a button that was clicked before.
    focus_row();
    moved.current = true;
  };
  // Again for a row that was not drawn when the key was pressed.
  useEffect(() => {
    if (moved.current) focus_row();
    moved.current = false;
  });
  return { cursor, row: () => rows[position()], move };
}

/** The button that loads older rows; absent when there are none. */
export function Earlier({ more, title }: { more: (() => void) | null; title: string }) {
  if (!more) return null;
  return (
    <p class="table-end">
      <button type="button" onClick={more}>
        {title}
      </button>
    </p>
  );
}

export function Table<Row>(props: TableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [scroll_top, set_scroll_top] = useState(0);
  const [view_height, set_view_height] = useState(window.innerHeight);
  const [room, set_room] = useState(window.innerWidth);
  const selected = useSignal<Set<string>>(new Set());
  const order = props.order !== undefined && !props.secondary ? (query.value.get("sort") ?? props.order) : props.order;
  const server_order = props.server_order && (query.value.get("sort") ?? props.server_order);
  const shown = props.columns.filter((column) => is_shown(column, columns_of(props.label).value));
  const placed = columns_with_room(
    is_phone.value ? shown.filter((column) => !column.wide) : shown,
    room - (props.selection_actions ? select_width : 0),
    // A column that the user chose stays visible.
    (column) => !!column.wide && !column.extra,
  );
  const columns = placed.map(({ column }) => column);

  let rows = props.rows;
  if (order !== undefined) {
    const { column, descending } = parse_order(order);
    const value = props.columns.find((candidate) => candidate.id === column)?.sort;
    if (value) rows = sort_rows(rows, value, descending);
  }
  const chosen = rows.filter((row) => selected.value.has(props.row_id(row)));
  const { cursor, row: cursor_row, move } = use_cursor(props, rows, scroller);
  const with_cursor = (action: (row: Row) => void) => () => {
    const row = cursor_row();
    if (row) action(row);
  };
  const visible = props.fit
    ? { first: 0, end: rows.length, above: 0, below: 0 }
    : row_window(scroll_top, view_height, row_height(), rows.length);

  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const measure = () => {
      // Of the box: a table that is too wide would measure its own width, and stay too wide.
      const { paddingLeft, paddingRight } = getComputedStyle(box);
      set_room(box.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight));
      if (!props.fit) set_view_height(box.clientHeight);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (visible.end >= rows.length && rows.length > 0) props.on_end?.();
  }, [visible.end, rows.length]);

  const toggle = (row: Row) => {
    const ids = new Set(selected.value);
    if (!ids.delete(props.row_id(row))) ids.add(props.row_id(row));
    selected.value = ids;
  };
  const clear = () => {
    selected.value = new Set();
  };
  const selectable = props.selection_actions !== undefined;
  const keys: KeyAction[] = [
    { keys: "j", title: "Next row", group: "List", run: () => move(1) },
    { keys: "k", title: "Previous row", group: "List", run: () => move(-1) },
    { keys: "ArrowDown", title: "Next row", group: "List", run: () => move(1) },
    { keys: "ArrowUp", title: "Previous row", group: "List", run: () => move(-1) },
    ...(props.on_open
      ? [{ keys: "Enter", title: "Open the row", group: "List", run: with_cursor(props.on_open) }]
      : []),
    ...(selectable ? [{ keys: "x", title: "Select the row", group: "List", run: with_cursor(toggle) }] : []),
  ];
  use_keys(props.secondary ? [] : keys);

  return (
    <div class={props.fit ? "table-area fit" : "table-area"}>
      <div class="table-bar">
        {chosen.length > 0 && props.selection_actions ? (
          <div class="selection" role="toolbar" aria-label="Selected rows">
            <span>{chosen.length} selected</span>
            {props.selection_actions(chosen, clear)}
            <button type="button" class="quiet" onClick={clear}>
              Clear
            </button>
          </div>
        ) : (
          props.bar
        )}
        <span class="spring" />
        {(!props.fit || props.columns.some((column) => column.extra)) && (
          <ColumnChooser label={props.label} columns={props.columns} />
        )}
      </div>
      {!!props.new_count && (
        <button type="button" class="new-pill" onClick={props.on_show_new}>
          {props.new_count} new
        </button>
      )}
      <div
        class="table-scroll"
        ref={scroller}
        onScroll={(event) => !props.fit && set_scroll_top(event.currentTarget.scrollTop)}
      >
        <table aria-label={props.label} aria-rowcount={rows.length + 1}>
          <colgroup>
            {selectable && <col class="select-column" />}
            {placed.map(({ column, width }) => (
              <col key={column.id} style={{ width: width === null ? undefined : `${width}px` }} />
            ))}
          </colgroup>
          <thead>
            <tr>
              {selectable && (
                <th scope="col" class="select">
                  <input
                    type="checkbox"
                    aria-label="Select all rows"
                    checked={chosen.length > 0 && chosen.length === rows.length}
                    onChange={(event) => {
                      selected.value = new Set(event.currentTarget.checked ? rows.map(props.row_id) : []);
                    }}
                  />
                </th>
              )}
              {columns.map((column) => (
                <HeadCell
                  key={column.id}
                  column={column}
                  order={props.secondary ? undefined : (server_order ?? order)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.above > 0 && <Gap height={visible.above} />}
            {rows.slice(visible.first, visible.end).map((row, index) => {
              const id = props.row_id(row);
              return (
                <tr
                  key={id}
                  data-row={id}
                  tabIndex={id === cursor.value ? 0 : -1}
                  aria-rowindex={visible.first + index + 2}
                  aria-selected={selectable ? selected.value.has(id) : undefined}
                  class={`${id === cursor.value ? "cursor" : ""} ${id === props.open_id ? "open" : ""} ${props.on_open ? "clickable" : ""}`}
                  onClick={(event) => {
                    // Links, buttons and checkboxes in a row keep their own behaviour.
                    if (event.target instanceof Element && event.target.closest("a, button, input, select")) return;
                    cursor.value = id;
                    props.on_open?.(row);
                  }}
                >
                  {selectable && (
                    // biome-ignore lint/a11y/useKeyWithClickEvents: keeps a click beside the box from opening the row
                    <td class="select" onClick={(event) => event.stopPropagation()}>
                      <input
                        type="checkbox"
                        aria-label={`Select ${props.row_title(row)}`}
                        checked={selected.value.has(id)}
                        onChange={() => toggle(row)}
                      />
                    </td>
                  )}
                  {columns.map((column) => (
                    <td key={column.id} class={column.align}>
                      {column.cell(row)}
                    </td>
                  ))}
                </tr>
              );
            })}
            {visible.below > 0 && <Gap height={visible.below} />}
          </tbody>
        </table>
        {props.foot ??
          (rows.length === 0 && query.value.get("q") && <p class="table-note">No rows match the filter.</p>)}
      </div>
      <div class="off-screen" role="status">
        {chosen.length > 0 ? plural(chosen.length, "row selected", "rows selected") : ""}
      </div>
    </div>
  );
}

/** The space of rows that are not drawn. */
function Gap({ height }: { height: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row holds nothing that takes the focus
    <tr aria-hidden="true" class="gap">
      <td style={{ height: `${height}px` }} />
    </tr>
  );
}
