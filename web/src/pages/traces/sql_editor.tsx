// The editor of queries: completion of tables, columns, functions and keywords at the cursor.

import type { RefObject } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { complete_sql, type SqlNames, type SqlWord } from "../../lib/code/sql_text";

interface EditorProps {
  editor: RefObject<HTMLTextAreaElement | null>;
  text: string;
  names: SqlNames;
  on_input: (text: string) => void;
}

const line_height = 18;
const padding = { left: 12, top: 9 };

/** Where the cursor is in the editor, which has a fixed pitch and does not wrap lines. */
function caret(box: HTMLTextAreaElement, at: number): { left: number; top: number } {
  const before = box.value.slice(0, at).split("\n");
  const pen = document.createElement("canvas").getContext("2d");
  let width = 7.2;
  if (pen) {
    pen.font = getComputedStyle(box).font;
    width = pen.measureText("m").width;
  }
  const left = padding.left + (before[before.length - 1]?.length ?? 0) * width - box.scrollLeft;
  return {
    left: Math.max(0, Math.min(left, box.clientWidth - 220)),
    top: Math.min(padding.top + before.length * line_height - box.scrollTop, box.clientHeight),
  };
}

export function SqlEditor({ editor, text, names, on_input }: EditorProps) {
  const list = useId();
  const [open, set_open] = useState(false);
  const [active, set_active] = useState(0);
  const [cursor, set_cursor] = useState(0);
  /** The cursor position after a word was inserted. */
  const place = useRef<number | null>(null);
  const found = open ? complete_sql(text, cursor, names) : { start: 0, words: [] };
  const words = found.words;
  useLayoutEffect(() => {
    if (place.current !== null) editor.current?.setSelectionRange(place.current, place.current);
    place.current = null;
  }, [text]);
  const choose = (word: SqlWord) => {
    const next = text.slice(0, found.start) + word.label + text.slice(cursor);
    place.current = found.start + word.label.length;
    set_cursor(place.current);
    set_open(false);
    on_input(next);
  };
  function on_key(event: KeyboardEvent): void {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      set_cursor(editor.current?.selectionStart ?? 0);
      set_active(0);
      set_open(true);
      return;
    }
    if (words.length === 0 || event.ctrlKey || event.metaKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const word = words[active];
    if (step) set_active((active + step + words.length) % words.length);
    else if ((event.key === "Tab" || event.key === "Enter") && word) choose(word);
    else if (event.key === "Escape") set_open(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  const at = words.length > 0 && editor.current ? caret(editor.current, found.start) : null;
  return (
    <div class="sql-box">
      <textarea
        ref={editor}
        class="sql-editor"
        aria-label="SQL query"
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={words.length > 0 ? `${list}-${active}` : undefined}
        spellcheck={false}
        wrap="off"
        rows={Math.max(7, Math.min(18, text.split("\n").length + 1))}
        value={text}
        onInput={(event) => {
          const box = event.currentTarget;
          on_input(box.value);
          set_cursor(box.selectionStart);
          set_active(0);
          // A word that has begun; an empty place only on demand.
          set_open(/[\w{.]$/.test(box.value.slice(0, box.selectionStart)));
        }}
        onKeyDown={on_key}
        onBlur={() => set_open(false)}
        onClick={() => set_open(false)}
      />
      <div
        id={list}
        role="listbox"
        aria-label="Completions"
        class={at ? "menu-popup sql-words" : "off-screen"}
        style={at ? { left: `${at.left}px`, top: `${at.top}px` } : undefined}
      >
        {words.map((word, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the editor
          <div
            key={word.label}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            class="menu-item"
            // The editor keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(word)}
          >
            <code class="menu-title">{word.label}</code>
            <span class="faint">{word.kind === "range" ? "time range" : word.kind}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
