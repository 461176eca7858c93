// A native <dialog>: the browser keeps the focus inside, closes it on Esc and gives the focus back.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon";

interface DialogProps {
  title: string;
  on_close: () => void;
  children: ComponentChildren;
  wide?: boolean;
  /** A secret that is shown once must not disappear because of an accidental click. */
  keep_open?: boolean;
}

export function Dialog({ title, on_close, children, wide = false, keep_open = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const title_id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (!dialog || dialog.open) return;
    dialog.showModal();
    const focus_first = () => {
      const first =
        dialog.querySelector<HTMLElement>("[data-first]") ?? dialog.querySelector<HTMLElement>("input, select");
      first?.focus();
      return !!first;
    };
    if (focus_first()) return;
    // The content of the dialog may still be loading.
    const observer = new MutationObserver(() => focus_first() && observer.disconnect());
    observer.observe(dialog, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc is the dialog's own key; the click is on its backdrop
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={title_id}
      onClose={on_close}
      onCancel={(event) => {
        if (keep_open) event.preventDefault();
      }}
      onClick={(event) => {
        if (event.target === element.current && !keep_open) element.current?.close();
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={title_id}>{title}</h2>
          {!keep_open && (
            <button type="button" class="quiet icon-only" aria-label="Close" onClick={() => element.current?.close()}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
