// Rows of different heights in a scrolling box; only those near the view are drawn. Heights are estimated, then
// measured; the visible rows do not move while rows above them grow or are added.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { RowHeights } from "../lib/view/row_heights";

export interface VirtualRow {
  key: string;
  /** An estimate in pixels; the better it is, the less the scroll bar moves. */
  height: number;
}

export interface RowsHandle {
  /** Brings a row into view: to the top, or by as little as possible. */
  show: (key: string, where: "top" | "near") => void;
}

interface VirtualRowsProps<Row extends VirtualRow> {
  label: string;
  rows: Row[];
  draw: (row: Row) => ComponentChildren;
  handle: { current: RowsHandle | null };
  /** Called with the rows in view, first and one past the last, whenever they change. */
  on_view?: (first: number, end: number) => void;
  /** The part pinned to the top, for the first row in view. */
  pinned?: (first: number) => ComponentChildren;
  /** Pixels that the pinned part covers. */
  pinned_height?: number;
  /** Width of the rows, once known and when it changes. */
  on_width?: (width: number) => void;
}

export function VirtualRows<Row extends VirtualRow>(props: VirtualRowsProps<Row>) {
  const { rows, pinned_height = 0 } = props;
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const measured = useRef(new Map<string, number>());
  const drawn = useRef({ by: props.draw, rows: new WeakMap<Row, ComponentChildren>() });
  const anchor = useRef<{ key: string; top: number } | null>(null);
  const [version, set_version] = useState(0);
  const [view, set_view] = useState({ top: 0, height: window.innerHeight });

  const heights = useMemo(
    () => new RowHeights(rows.map((row) => measured.current.get(row.key) ?? row.height)),
    [rows, version],
  );
  const places = useMemo(() => new Map(rows.map((row, index) => [row.key, index])), [rows]);
  const { first, end } = heights.window(view.top, view.height);
  const first_seen = heights.row_at(view.top + pinned_height);
  const last_seen = heights.row_at(view.top + view.height);

  // While scrolling, rows that stay in view are not drawn again.
  if (drawn.current.by !== props.draw) drawn.current = { by: props.draw, rows: new WeakMap() };
  const draw = (row: Row): ComponentChildren => {
    const known = drawn.current.rows.get(row);
    if (known !== undefined) return known;
    const fresh = (
      <div key={row.key} data-key={row.key}>
        {props.draw(row)}
      </div>
    );
    drawn.current.rows.set(row, fresh);
    return fresh;
  };

  // A row that was scrolled to the top stays there; otherwise the first row below the pinned part.
  const remember = (top: number) => {
    const highest = heights.row_at(top);
    const at = Math.abs(heights.top(highest) - top) < 1 ? highest : heights.row_at(top + pinned_height);
    const row = rows[at];
    anchor.current = row ? { key: row.key, top: heights.top(at) } : null;
  };
  const scroll_to = (top: number) => {
    if (!box.current) return;
    box.current.scrollTop = top;
    remember(box.current.scrollTop);
    set_view((known) => ({ ...known, top: box.current?.scrollTop ?? top }));
  };

  props.handle.current = {
    show(key, where) {
      const at = places.get(key);
      const element = box.current;
      if (at === undefined || !element) return;
      const top = heights.top(at) - pinned_height;
      const bottom = heights.top(at + 1) - element.clientHeight;
      const space = Math.round(element.clientHeight / 4);
      if (where === "top") scroll_to(heights.top(at));
      else if (top < element.scrollTop) scroll_to(Math.max(0, top - space));
      else if (bottom > element.scrollTop) scroll_to(bottom + space);
    },
  };

  useLayoutEffect(() => {
    let changed = false;
    for (const child of list.current?.children ?? []) {
      if (!(child instanceof HTMLElement) || child.dataset.key === undefined) continue;
      const row = rows[places.get(child.dataset.key) ?? -1];
      const height = child.getBoundingClientRect().height;
      if (!row || Math.abs(height - (measured.current.get(row.key) ?? row.height)) < 0.5) continue;
      measured.current.set(row.key, height);
      changed = true;
    }
    if (changed) set_version((known) => known + 1);
  });
  useLayoutEffect(() => {
    const at = anchor.current && places.get(anchor.current.key);
    if (!anchor.current || at === undefined || at === null || !box.current) return;
    const moved = heights.top(at) - anchor.current.top;
    anchor.current.top += moved;
    if (Math.abs(moved) > 0.5) box.current.scrollTop += moved;
  }, [heights]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) {
        width = element.clientWidth;
        measured.current.clear();
        props.on_width?.(width);
        set_version((known) => known + 1);
      }
      set_view((known) => ({ ...known, height: element.clientHeight }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => props.on_view?.(first_seen, last_seen + 1), [first_seen, last_seen, rows]);

  return (
    <div
      class="virtual-rows"
      role="region"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
      tabIndex={0}
      ref={box}
      onScroll={(event) => {
        const top = event.currentTarget.scrollTop;
        remember(top);
        set_view((known) => (known.top === top ? known : { ...known, top }));
      }}
    >
      {props.pinned && <div class="virtual-pinned">{props.pinned(first_seen)}</div>}
      <div style={{ height: `${heights.top(first)}px` }} />
      <div ref={list}>{rows.slice(first, end).map(draw)}</div>
      <div style={{ height: `${heights.total - heights.top(end)}px` }} />
    </div>
  );
}
