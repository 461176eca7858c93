// The detail of a row, beside its list (on a phone: on top of it).
// Which row is open is in the address.

import type { ComponentChildren } from "preact";
import { use_keys } from "../keyboard";
import { Icon } from "./icon";

interface SlideOverProps {
  title: string;
  on_close: () => void;
  on_previous?: () => void;
  on_next?: () => void;
  children: ComponentChildren;
}

export function SlideOver({ title, on_close, on_previous, on_next, children }: SlideOverProps) {
  use_keys([{ keys: "Escape", title: "Close the detail", group: "This page", run: on_close }]);
  return (
    <aside class="slide-over" aria-label={title}>
      <header class="slide-head">
        <h2>{title}</h2>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Previous row"
          disabled={!on_previous}
          onClick={on_previous}
        >
          <Icon name="up" />
        </button>
        <button type="button" class="quiet icon-only" aria-label="Next row" disabled={!on_next} onClick={on_next}>
          <Icon name="down" />
        </button>
        <button type="button" class="quiet icon-only" aria-label="Close detail" onClick={on_close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="slide-body">{children}</div>
    </aside>
  );
}

/** Names and values of one thing, aligned. */
export function Facts({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
