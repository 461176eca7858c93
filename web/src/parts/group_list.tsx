// A list of equal groups in a form (repositories, commands), with buttons to add and remove.

import type { ComponentChildren } from "preact";
import { Icon } from "./icon";

interface Props<T> {
  /** The name of one group: "Repository". */
  noun: string;
  /** The label of the button that adds one. */
  add: string;
  rows: T[];
  /** The initial value of a new one. */
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
