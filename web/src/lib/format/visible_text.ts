// Text of a worker with invisible characters, and characters that change the text direction, replaced by visible
// marks. Copying gives the original text.

export interface TextPiece {
  text: string;
  /** Set for an invisible character: "U+202E". */
  mark: string | null;
}

/** Control characters, soft hyphen, joiners and other characters without width, direction marks, tags. Tabs and line
 *  breaks are not included. */
const unseen =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches these characters
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character is matched alone
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u034f|[\ufe00-\ufe0d]|\udb40[\udc00-\uddef]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Joins emoji into one: the only visible use of a joiner. */
const joined_picture = /^\p{Extended_Pictographic}/u;
const picture_before = /[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?$/u;

function joins_pictures(text: string, at: number): boolean {
  return (
    text[at] === "\u200d" &&
    joined_picture.test(text.slice(at + 1, at + 3)) &&
    picture_before.test(text.slice(Math.max(0, at - 3), at))
  );
}

const turns_direction = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

function code_of(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Whether the text contains a character to mark. */
export function has_unseen(text: string): boolean {
  // Not test(): it would change lastIndex for the next search.
  return text.search(unseen) >= 0;
}

/** Whether a text contains characters that change its reading order. */
export function turns(text: string): boolean {
  return turns_direction.test(text);
}

export function visible_pieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const found of text.matchAll(unseen)) {
    if (joins_pictures(text, found.index)) continue;
    if (found.index > at) pieces.push({ text: text.slice(at, found.index), mark: null });
    pieces.push({ text: found[0], mark: code_of(found[0]) });
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), mark: null });
  return pieces;
}

/** The same as one string, for titles and names: "a\u202eb" → "a⟨U+202E⟩b". */
export function visible_text(text: string): string {
  return visible_pieces(text)
    .map((piece) => (piece.mark === null ? piece.text : `⟨${piece.mark}⟩`))
    .join("");
}
