// The time range of a page, in the top bar. The range is in the address, and is carried to the next page.

import { useState } from "preact/hooks";
import { choose_range_text } from "../../carried";
import { parse_range, type Range, range_title, usual_ranges } from "../../lib/format/range";
import { query } from "../../router";
import { Field } from "../form";
import { Icon } from "../icon";
import { Menu } from "../menu";

/** The range in the address; the page's default when it is missing or invalid. */
export function current_range(fallback: string): Range {
  return parse_range(query.value.get("range") ?? fallback) ?? parse_range(fallback) ?? { kind: "all" };
}

function CustomRange({ close }: { close: () => void }) {
  const [after, set_after] = useState("");
  const [before, set_before] = useState("");
  // The fields hold local time; the address holds UTC, so that a link means the same everywhere.
  const utc = (local: string) => (local === "" ? "" : `${new Date(local).toISOString().slice(0, 16)}Z`);
  const text = `${utc(after)}..${utc(before)}`;
  return (
    <form
      class="menu-form"
      onSubmit={(event) => {
        event.preventDefault();
        choose_range_text(text);
        close();
      }}
    >
      <Field label="From" type="datetime-local" value={after} on_input={set_after} />
      <Field label="To" type="datetime-local" value={before} on_input={set_before} />
      <button type="submit" disabled={parse_range(text) === null}>
        Apply range
      </button>
    </form>
  );
}

export function TimeRange({ fallback }: { fallback: string }) {
  const range = current_range(fallback);
  const chosen = query.value.get("range") ?? fallback;
  const title = range_title(range);
  return (
    <Menu
      label={`Time range: ${title}`}
      align="right"
      class="quiet time-range"
      button={
        <>
          <Icon name="clock" />
          <span>{title}</span>
          <Icon name="down" />
        </>
      }
      items={usual_ranges.map((text) => ({
        title: range_title(parse_range(text) ?? { kind: "all" }),
        checked: text === chosen,
        run: () => choose_range_text(text),
      }))}
      footer={(close) => <CustomRange close={close} />}
    />
  );
}
