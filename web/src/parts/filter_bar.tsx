// One line of filter text with completion; an error is underlined where it is. The language is the caller's.

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { use_keys } from "../keyboard";
import type { Completion, FilterError } from "../lib/filter/filter";
import { Icon } from "./icon";

interface FilterBarProps {
  label: string;
  text: string;
  placeholder: string;
  complete: (text: string, cursor: number) => { start: number; choices: Completion[] };
  /** The syntax errors that can be found without the server. */
  check: (text: string) => FilterError | null;
  /** The error that the server reported for `text`. */
  error?: FilterError | null;
  /** Called while typing, for completions that must be loaded. */
  on_type?: (text: string, cursor: number) => void;
  /** Called with text that has no syntax error. */
  on_change: (text: string) => void;
}

export function FilterBar(props: FilterBarProps) {
  const { label, text, on_change } = props;
  const input = useRef<HTMLInputElement>(null);
  const list_id = useId();
  const [draft, set_draft] = useState(text);
  const [open, set_open] = useState(false);
  const [active, set_active] = useState(0);
  const [cursor, set_cursor] = useState(text.length);
  /** The cursor position after a completion was inserted. */
  const place = useRef<number | null>(null);
  useEffect(() => {
    set_draft(text);
    set_cursor(text.length);
  }, [text]);
  useLayoutEffect(() => {
    if (place.current !== null) input.current?.setSelectionRange(place.current, place.current);
    place.current = null;
  }, [draft]);
  use_keys([{ keys: "/", title: "Filter the list", group: "List", run: () => input.current?.focus() }]);

  const completion = props.complete(draft, cursor);
  const choices = open ? completion.choices : [];
  const error = props.check(draft) ?? (draft === text ? (props.error ?? null) : null);
  const finished = error === null || !open ? error : null;

  function change(value: string): void {
    const at = input.current?.selectionStart ?? value.length;
    set_draft(value);
    set_cursor(at);
    props.on_type?.(value, at);
    set_active(0);
    set_open(true);
  }
  function accept(value: string): void {
    set_open(false);
    if (props.check(value) === null && value.trim() !== text) on_change(value.trim());
  }
  function choose(choice: Completion): void {
    const value = draft.slice(0, completion.start) + choice.text + draft.slice(cursor).trimStart();
    const at = completion.start + choice.text.length;
    place.current = at;
    set_draft(value);
    set_cursor(at);
    set_active(0);
    props.on_type?.(value, at);
    if (choice.count === null) input.current?.focus();
    else accept(value);
  }
  function on_key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      event.preventDefault();
      if (open && choices.length > 0) set_open(false);
      else input.current?.blur();
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      set_open(true);
      set_active((active + step + Math.max(choices.length, 1)) % Math.max(choices.length, 1));
    }
    const choice = choices[active];
    if (event.key === "Tab" && choice && draft !== "") {
      event.preventDefault();
      choose(choice);
    }
    if (event.key === "Enter") {
      event.preventDefault();
      // A complete filter is used unchanged; an incomplete one takes the selected completion.
      if (props.check(draft) !== null && choice) choose(choice);
      else accept(draft);
    }
  }

  return (
    <div class={`filter-bar ${finished ? "wrong" : ""}`}>
      <Icon name="search" />
      <div class="filter-input">
        <input
          ref={input}
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded={choices.length > 0}
          aria-controls={list_id}
          aria-activedescendant={choices.length > 0 ? `${list_id}-${active}` : undefined}
          aria-invalid={finished !== null}
          aria-describedby={finished ? `${list_id}-error` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder={props.placeholder}
          value={draft}
          onInput={(event) => change(event.currentTarget.value)}
          onSelect={(event) => set_cursor(event.currentTarget.selectionStart ?? draft.length)}
          onFocus={() => set_open(true)}
          onBlur={() => accept(draft)}
          onKeyDown={on_key}
        />
        {finished && (
          <span class="filter-mark" aria-hidden="true">
            <span>{draft.slice(0, finished.start)}</span>
            <u>{draft.slice(finished.start, finished.end)}</u>
          </span>
        )}
      </div>
      {draft !== "" && (
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Clear filter"
          onClick={() => {
            set_draft("");
            on_change("");
          }}
        >
          <Icon name="close" />
        </button>
      )}
      {finished && (
        <p class="filter-error" id={`${list_id}-error`} role="alert">
          {finished.message}
        </p>
      )}
      <div
        id={list_id}
        role="listbox"
        aria-label="Completions"
        class={choices.length > 0 ? "menu-popup" : "off-screen"}
      >
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are handled by the combobox
          <div
            key={choice.label}
            id={`${list_id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            class="menu-item"
            // The field must keep the focus: losing it would apply the incomplete text.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(choice)}
          >
            <code class="menu-title">{choice.label}</code>
            <span class="faint">{choice.count === null ? (choice.hint ?? "field") : choice.count || ""}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
