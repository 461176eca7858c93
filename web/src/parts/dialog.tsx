// A native <dialog>: the browser keeps the focus inside and gives it back. The page is notified of a close
// immediately and only once: the browser's own event comes a task later, when a key may already have opened the next dialog.

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
  const notified = useRef(false);
  const notify = () => {
    if (notified.current) return;
    notified.current = true;
    on_close();
  };
  const close = () => {
    element.current?.close();
    notify();
  };
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
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={title_id}
      onClose={notify}
      onKeyDown={(event) => {
        // Before the browser closes it: its own event would come a task later.
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        if (!keep_open) close();
      }}
      onCancel={(event) => {
        // Also a choice of files is cancelled with this event.
        if (event.target !== element.current) return;
        event.preventDefault();
        if (!keep_open) close();
      }}
      onClick={(event) => {
        if (event.target === element.current && !keep_open) close();
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={title_id}>{title}</h2>
          {!keep_open && (
            <button type="button" class="quiet icon-only" aria-label="Close" onClick={close}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
