// Text of a worker with visible marks in place of invisible characters.

import { has_unseen, visible_pieces } from "../lib/format/visible_text";

export function Visible({ text }: { text: string }) {
  if (!has_unseen(text)) return <>{text}</>;
  return (
    <bdi dir="ltr">
      {visible_pieces(text).map((piece, index) =>
        piece.mark === null ? (
          piece.text
        ) : (
          <span key={index} class="unseen" title={`Character ${piece.mark}, which is invisible`}>
            {piece.mark}
          </span>
        ),
      )}
    </bdi>
  );
}

/** Marks stay in their line: text with several lines is shown line by line. */
export function VisibleLines({ text }: { text: string }) {
  return (
    <>
      {text.split("\n").map((line, index) => (
        <span key={index}>
          <Visible text={line} />
          {"\n"}
        </span>
      ))}
    </>
  );
}
