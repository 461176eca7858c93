// Cells that the lists of traces and spans share.

import { with_condition } from "../../lib/filter/span_filter";
import { exact_count, span_duration } from "../../lib/format/number";
import { filter_text, set_filter } from "./span_list";

/** A value that filters the list when clicked. */
export function Value({ operand, value }: { operand: string; value: string }) {
  if (value === "") return <span class="faint">–</span>;
  return (
    <button
      type="button"
      class="value"
      title={`Filter for ${operand} = ${value}`}
      onClick={() => set_filter(with_condition(filter_text(), operand, "=", value))}
    >
      {value}
    </button>
  );
}

/** A duration beside a bar: its share of the longest one in the list. */
export function Duration({ nanoseconds, longest }: { nanoseconds: number; longest: number }) {
  return (
    <span class="meter" title={`${exact_count(nanoseconds)} ns`}>
      <span class="meter-text">{span_duration(nanoseconds)}</span>
      <span class="meter-track">
        <span style={{ width: `${Math.max(1, (100 * nanoseconds) / Math.max(longest, 1))}%` }} />
      </span>
    </span>
  );
}

/** The beginning of a text, in one line. */
export function Preview({ text }: { text: string }) {
  return (
    <span class="trace-text soft" title={text.slice(0, 500)}>
      {text.slice(0, 200)}
    </span>
  );
}

export function Amount({ value, text, exact }: { value: number; text: (value: number) => string; exact: string }) {
  return value === 0 ? <span class="faint">–</span> : <span title={exact}>{text(value)}</span>;
}
