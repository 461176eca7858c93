// A button with a menu below it. Arrows move, Enter chooses, Esc closes and returns to the button.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon";

export interface MenuItem {
  title: string;
  icon?: IconName;
  hint?: string;
  /** Given for items that are one of several choices. */
  checked?: boolean;
  dangerous?: boolean;
  /** A line above this item. */
  divided?: boolean;
  run: () => void;
}

interface MenuProps {
  label: string;
  button: ComponentChildren;
  items: MenuItem[];
  class?: string;
  align?: "left" | "right";
  on_open?: () => void;
  /** Shown below the items: a form for a custom choice. */
  footer?: (close: () => void) => ComponentChildren;
}

const gap = 4;

// Positioned relative to the window, so that no scrolling list cuts it off; above the button when there is no room below.
function place(popup: HTMLElement, button: HTMLElement, align: "left" | "right"): void {
  const box = button.getBoundingClientRect();
  const width = popup.offsetWidth;
  const height = popup.offsetHeight;
  const left = align === "left" ? box.left : box.right - width;
  const below = box.bottom + gap;
  const fits = below + height <= window.innerHeight || box.top < height;
  popup.style.left = `${Math.max(gap, Math.min(left, window.innerWidth - width - gap))}px`;
  popup.style.top = `${fits ? below : box.top - height - gap}px`;
}

export function Menu({
  label,
  button,
  items,
  class: class_name = "quiet",
  align = "left",
  on_open,
  footer,
}: MenuProps) {
  const [open, set_open] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);

  const close = () => {
    set_open(false);
    trigger.current?.focus();
  };

  useLayoutEffect(() => {
    if (open && popup.current && trigger.current) place(popup.current, trigger.current, align);
  });
  useEffect(() => {
    if (!open) return;
    const checked = popup.current?.querySelector<HTMLElement>("[aria-checked=true]");
    (checked ?? popup.current?.querySelector<HTMLElement>("button, input"))?.focus();
    const on_outside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) set_open(false);
    };
    const on_move = (event: Event) => {
      if (event.target instanceof Node && !popup.current?.contains(event.target)) set_open(false);
    };
    document.addEventListener("pointerdown", on_outside);
    document.addEventListener("scroll", on_move, true);
    return () => {
      document.removeEventListener("pointerdown", on_outside);
      document.removeEventListener("scroll", on_move, true);
    };
  }, [open]);

  function on_key(event: KeyboardEvent): void {
    if (!open) return;
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
    if (event.key === "Tab" && !footer) set_open(false);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    event.stopPropagation();
    const choices = [...(popup.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const at = choices.indexOf(document.activeElement as HTMLElement);
    choices[(at + step + choices.length) % choices.length]?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys and clicks bubble here from the button and the items
    <div class="menu" ref={root} onKeyDown={on_key} onClick={(event) => event.stopPropagation()}>
      <button
        type="button"
        ref={trigger}
        class={class_name}
        aria-label={label}
        title={label}
        aria-haspopup={items.length > 0 ? "menu" : "true"}
        aria-expanded={open}
        onClick={() => {
          if (!open) on_open?.();
          set_open(!open);
        }}
      >
        {button}
      </button>
      {open && (
        <div class="menu-popup" ref={popup}>
          {items.length > 0 && (
            <div role="menu" aria-label={label}>
              {items.map((item) => (
                <MenuRow
                  key={item.title}
                  item={item}
                  choose={() => {
                    close();
                    item.run();
                  }}
                />
              ))}
            </div>
          )}
          {footer?.(close)}
        </div>
      )}
    </div>
  );
}

function MenuRow({ item, choose }: { item: MenuItem; choose: () => void }) {
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: only menuitemradio items carry aria-checked
    <button
      type="button"
      role={item.checked === undefined ? "menuitem" : "menuitemradio"}
      aria-checked={item.checked}
      class={`menu-item ${item.dangerous ? "dangerous" : ""} ${item.divided ? "divided" : ""}`}
      onClick={choose}
    >
      {item.icon && <Icon name={item.icon} />}
      <span class="menu-title">{item.title}</span>
      {item.hint && <span class="faint">{item.hint}</span>}
      {item.checked !== undefined && <span class="icon">{item.checked && <Icon name="check" />}</span>}
    </button>
  );
}
