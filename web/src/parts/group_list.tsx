// Several of the same in a form: repositories, commands. Each can be taken out, and one more added.

import type { ComponentChildren } from "preact";
import { Icon } from "./icon";

interface Props<T> {
  /** What one is called: "Repository". */
  noun: string;
  /** Of the button that adds one. */
  add: string;
  rows: T[];
  /** What a new one begins with. */
  blank: T;
  on_change: (rows: T[]) => void;
  children: (row: T, set: (part: Partial<T>) => void) => ComponentChildren;
}

export function GroupList<T>({ noun, add, rows, blank, on_change, children }: Props<T>) {
  const set = (index: number, part: Partial<T>) =>
    on_change(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <>
      {rows.map((row, index) => (
        <fieldset class="form-group" key={index}>
          <legend class="off-screen">
            {noun} {index + 1}
          </legend>
          {children(row, (part) => set(index, part))}
          <button
            type="button"
            aria-label={`Remove ${noun.toLowerCase()} ${index + 1}`}
            onClick={() => on_change(rows.filter((_, at) => at !== index))}
          >
            <Icon name="trash" /> Remove
          </button>
        </fieldset>
      ))}
      <p>
        <button type="button" onClick={() => on_change([...rows, blank])}>
          <Icon name="plus" /> {add}
        </button>
      </p>
    </>
  );
}
