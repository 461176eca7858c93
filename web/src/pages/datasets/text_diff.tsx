// Two texts as one unified diff.

import { useState } from "preact/hooks";
import { line_diff, with_context } from "../../lib/code/line_diff";
import { plural } from "../../lib/format/number";
import { Visible } from "../../parts/visible";

const signs = { same: " ", removed: "−", added: "+" };
const words = { same: "", removed: "removed: ", added: "added: " };

export function TextDiff({ before, after, label }: { before: string; after: string; label?: string }) {
  const [whole, set_whole] = useState(false);
  const lines = line_diff(before, after);
  if (lines.every((line) => line.kind === "same")) return <p class="soft">No difference.</p>;
  const shown = whole ? lines : with_context(lines);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling block must be reachable by keyboard
    <div class="text-diff" role="group" aria-label={label ?? "Differences"} tabIndex={0}>
      {shown.map((line, index) =>
        typeof line === "number" ? (
          <button type="button" class="quiet diff-gap" key={index} onClick={() => set_whole(true)}>
            {plural(line, "equal line")}
          </button>
        ) : (
          <div class={`diff-line ${line.kind}`} key={index}>
            <span aria-hidden="true">{signs[line.kind]}</span>
            <span class="off-screen">{words[line.kind]}</span>
            <Visible text={line.text} />
          </div>
        ),
      )}
    </div>
  );
}
