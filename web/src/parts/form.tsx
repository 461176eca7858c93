// Labelled fields and a form that shows the server's response: busy while sending, the error beside the button,
// and the input is kept.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type ApiError, to_api_error } from "../api";
import { ErrorNote } from "./state";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  value: string;
  on_input: (value: string) => void;
  type?: "text" | "email" | "password" | "number" | "datetime-local";
  placeholder?: string;
  required?: boolean;
  autocomplete?: string;
  min?: number;
  min_length?: number;
  max_length?: number;
  disabled?: boolean;
  first?: boolean;
  rows?: number;
  /** The id of a <datalist> with suggestions. */
  list?: string;
}

export function Field(props: FieldProps) {
  const id = useId();
  const shared = {
    id,
    value: props.value,
    placeholder: props.placeholder,
    required: props.required,
    disabled: props.disabled,
    "aria-describedby": props.hint ? `${id}-hint` : undefined,
    "data-first": props.first ? "" : undefined,
    autofocus: props.first,
  };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.rows ? (
        <textarea
          {...shared}
          rows={props.rows}
          onInput={(event) => props.on_input(event.currentTarget.value)}
          onKeyDown={(event) => {
            // A line break is text; with Ctrl or Cmd it is "send". Outside of a form the page may have a meaning for it.
            const form = event.currentTarget.form;
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !form) return;
            event.preventDefault();
            form.requestSubmit();
          }}
        />
      ) : (
        <input
          {...shared}
          // The JSX types bind the role to one input type; this field has five.
          type={(props.type ?? "text") as "text"}
          autocomplete={props.autocomplete ?? "off"}
          min={props.min}
          minLength={props.min_length}
          maxLength={props.max_length}
          list={props.list}
          spellcheck={false}
          onInput={(event) => props.on_input(event.currentTarget.value)}
        />
      )}
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  on_change: (value: string) => void;
  options: { value: string; title: string; disabled?: boolean }[];
  hint?: ComponentChildren;
  disabled?: boolean;
}

export function Choice(props: ChoiceProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <select
        id={id}
        value={props.value}
        disabled={props.disabled}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onChange={(event) => props.on_change(event.currentTarget.value)}
      >
        {props.options.map((option) => (
          <option value={option.value} key={option.value} disabled={option.disabled}>
            {option.title}
          </option>
        ))}
      </select>
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

interface CheckProps {
  label: ComponentChildren;
  checked: boolean;
  on_change: (checked: boolean) => void;
  disabled?: boolean;
  hint?: string;
}

export function Check({ label, checked, on_change, disabled, hint }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => on_change(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint && <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}

type Change<Draft> = (part: Partial<Draft> | ((known: Draft) => Partial<Draft>)) => void;

/** The state of a form while it is edited, and a function that changes a part of it. */
export function use_draft<Draft>(first: () => Draft): [Draft, Change<Draft>] {
  const [draft, set_draft] = useState(first);
  return [draft, (part) => set_draft((known) => ({ ...known, ...(typeof part === "function" ? part(known) : part) }))];
}

interface FormProps {
  /** Sends; a thrown ApiError is shown and the input stays. */
  submit: () => Promise<void>;
  title: string;
  busy_title?: string;
  disabled?: boolean;
  dangerous?: boolean;
  /** A secondary action, not the main one of the page. */
  plain?: boolean;
  on_cancel?: () => void;
  children?: ComponentChildren;
}

export function Form({ submit, title, busy_title, disabled, dangerous, plain, on_cancel, children }: FormProps) {
  const [busy, set_busy] = useState(false);
  const [error, set_error] = useState<ApiError | null>(null);
  const problem = useRef<HTMLDivElement>(null);
  // A long form ends below the fold, and so would its error.
  useEffect(() => {
    if (error) problem.current?.scrollIntoView({ block: "nearest" });
  }, [error]);
  async function send(event: Event): Promise<void> {
    event.preventDefault();
    if (busy || disabled) return;
    set_busy(true);
    set_error(null);
    try {
      await submit();
    } catch (failure) {
      set_error(to_api_error(failure));
    } finally {
      set_busy(false);
    }
  }
  return (
    <form class="form" onSubmit={(event) => void send(event)}>
      {children}
      <div ref={problem}>{error && <ErrorNote error={error} />}</div>
      <div class="form-actions">
        <button type="submit" class={dangerous ? "danger" : plain ? undefined : "primary"} disabled={busy || disabled}>
          {busy ? (busy_title ?? "Saving…") : title}
        </button>
        {on_cancel && (
          <button type="button" onClick={on_cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}
