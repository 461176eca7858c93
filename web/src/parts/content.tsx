// A text of a trace or a log record for reading: JSON collapses, long texts start cut, texts of messages are Markdown.
// One choice for all pages switches to the text as it was sent.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { media_view } from "../lib/code/media";
import { exact_count } from "../lib/format/number";
import { stored_signal } from "../stored";
import { JsonValue, parsed_container } from "./json_view";
import { Markdown } from "./markdown";
import { VisibleLines } from "./visible";

const reading = stored_signal("reading", "rendered");

/** Long texts start collapsed. */
function Cut({ text, show }: { text: string; show: (text: string) => ComponentChildren }) {
  const [whole, set_whole] = useState(false);
  const long = text.length > 1600 || text.split("\n", 25).length > 24;
  const shown = whole || !long ? text : text.split("\n").slice(0, 20).join("\n").slice(0, 1200);
  return (
    <>
      {show(shown)}
      {long && (
        <button type="button" class="quiet more-button" onClick={() => set_whole(!whole)}>
          {whole ? "Show less" : `Show all ${exact_count(text.length)} characters`}
        </button>
      )}
    </>
  );
}

export function LongText({ text }: { text: string }) {
  return <Cut text={text} show={(shown) => <div class="long-text">{shown}</div>} />;
}

export function Content({ text }: { text: string }) {
  const held = parsed_container(text);
  return held === undefined ? <LongText text={text} /> : <JsonValue value={held} />;
}

const inline_image = (source: string) => (media_view(source) === "image" ? source : null);

/** Words that people or models wrote: Markdown, or as sent. */
export function Prose({ text }: { text: string }) {
  if (reading.value === "raw")
    return (
      <Cut
        text={text}
        show={(shown) => (
          <pre class="raw-text">
            <VisibleLines text={shown} />
          </pre>
        )}
      />
    );
  const held = parsed_container(text);
  if (held !== undefined) return <JsonValue value={held} />;
  return <Cut text={text} show={(shown) => <Markdown text={shown} image={inline_image} />} />;
}

/** Switches every text of messages between Markdown and the text as sent. */
export function ReadingSwitch() {
  const raw = reading.value === "raw";
  return (
    <button
      type="button"
      class="quiet"
      aria-pressed={raw}
      title={raw ? "Show Markdown and JSON formatted" : "Show texts exactly as sent"}
      onClick={() => {
        reading.value = raw ? "rendered" : "raw";
      }}
    >
      Raw text
    </button>
  );
}
