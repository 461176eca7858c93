// One line of a change: numbers, sign, highlighted code with the changed words. The number is the button to comment.

import {
  changed_words,
  type DiffLine,
  type DiffRow,
  type HunkColours,
  type LineView,
  line_pieces,
  place_of,
  type Side,
} from "../../lib/code/diff";
import { Visible } from "../visible";

export type OnComment = (side: Side, line: number) => void;

interface CodeProps {
  view: LineView;
  colours: HunkColours;
}

function Code({ view, colours }: CodeProps) {
  const { line } = view;
  return (
    <code class="diff-code">
      {line_pieces(line.content, colours.of(view.index), changed_words(view)).map((piece, index) =>
        piece.kind === null && !piece.changed ? (
          <Visible key={index} text={piece.text} />
        ) : (
          <span key={index} class={`${piece.kind ? `code-${piece.kind}` : ""} ${piece.changed ? "word" : ""}`}>
            <Visible text={piece.text} />
          </span>
        ),
      )}
      {line.cut && <span class="diff-mark">… line truncated</span>}
      {line.no_newline && <span class="diff-mark">no newline at end of file</span>}
    </code>
  );
}

function LineNumber({ line, side, on_comment }: { line: DiffLine; side: Side; on_comment: OnComment | null }) {
  const number = side === "old" ? line.old_line : line.new_line;
  const place = place_of(line);
  if (number === null || !place || !on_comment) return <span class="diff-number">{number ?? ""}</span>;
  return (
    <button
      type="button"
      class="diff-number"
      tabIndex={-1}
      aria-label={`Comment on ${place.side === "old" ? "old " : ""}line ${place.line}`}
      onClick={() => on_comment(place.side, place.line)}
    >
      {number}
    </button>
  );
}

const signs = { context: " ", added: "+", deleted: "−" };

export interface LineProps {
  row: DiffRow;
  colours: HunkColours;
  chosen: boolean;
  on_comment: OnComment | null;
}

function Half({
  view,
  side,
  colours,
  on_comment,
}: { view: LineView | null; side: Side } & Omit<LineProps, "row" | "chosen">) {
  if (!view) return <div class="diff-half nothing" />;
  const kind = view.line.kind;
  return (
    <div class={`diff-half ${kind}`}>
      <LineNumber line={view.line} side={side} on_comment={on_comment} />
      <span class="diff-sign">{signs[kind]}</span>
      <Code view={view} colours={colours} />
    </div>
  );
}

export function DiffLineView({ row, colours, chosen, on_comment }: LineProps) {
  if (row.kind === "hunk") {
    const { hunk } = row;
    return (
      <div class="diff-hunk">
        <span>
          @@ −{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@
        </span>{" "}
        <Visible text={hunk.heading} />
      </div>
    );
  }
  if (row.kind === "split")
    return (
      <div class={`diff-split ${chosen ? "chosen" : ""}`}>
        <Half view={row.left} side="old" colours={colours} on_comment={on_comment} />
        <Half view={row.right} side="new" colours={colours} on_comment={on_comment} />
      </div>
    );
  const { line } = row.view;
  return (
    <div class={`diff-line ${line.kind} ${chosen ? "chosen" : ""}`}>
      <LineNumber line={line} side="old" on_comment={on_comment} />
      <LineNumber line={line} side="new" on_comment={on_comment} />
      <span class="diff-sign">{signs[line.kind]}</span>
      <Code view={row.view} colours={colours} />
    </div>
  );
}
