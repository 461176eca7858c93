// A text of a trace or a log record for reading: JSON collapses, long texts start cut.

import { useState } from "preact/hooks";
import { exact_count } from "../lib/format/number";
import { JsonValue, parsed_container } from "./json_view";

/** Long texts start collapsed. */
export function LongText({ text }: { text: string }) {
  const [whole, set_whole] = useState(false);
  const long = text.length > 1600 || text.split("\n", 25).length > 24;
  const shown = whole || !long ? text : text.split("\n").slice(0, 20).join("\n").slice(0, 1200);
  return (
    <>
      <div class="long-text">{shown}</div>
      {long && (
        <button type="button" class="quiet more-button" onClick={() => set_whole(!whole)}>
          {whole ? "Show less" : `Show all ${exact_count(text.length)} characters`}
        </button>
      )}
    </>
  );
}

export function Content({ text }: { text: string }) {
  const held = parsed_container(text);
  return held === undefined ? <LongText text={text} /> : <JsonValue value={held} />;
}
