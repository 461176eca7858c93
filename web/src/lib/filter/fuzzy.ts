// Finding a command by a few letters: letters in order, better at word starts and in a row.

export interface Match {
  score: number;
  /** Positions in the text that matched, for highlighting. */
  positions: number[];
}

function is_word_start(text: string, index: number): boolean {
  return index === 0 || /[\s/_.:-]/.test(text[index - 1] ?? "");
}

/** Null when a letter is missing. A whole word scores higher than scattered letters. */
export function fuzzy_match(query: string, text: string): Match | null {
  const wanted = query.toLowerCase().replace(/\s+/g, "");
  const lower = text.toLowerCase();
  if (wanted === "") return { score: 0, positions: [] };
  const whole = lower.indexOf(query.toLowerCase().trim());
  if (whole >= 0) {
    const length = query.trim().length;
    const score = 1000 + (is_word_start(lower, whole) ? 500 : 0) + (whole === 0 ? 200 : 0) - text.length;
    return { score, positions: Array.from({ length }, (_, index) => whole + index) };
  }
  const positions: number[] = [];
  let score = -text.length;
  let from = 0;
  for (const letter of wanted) {
    const found = next_position(lower, letter, from, positions[positions.length - 1]);
    if (found < 0) return null;
    score += is_word_start(lower, found) ? 30 : found === from && positions.length > 0 ? 20 : 1;
    positions.push(found);
    from = found + 1;
  }
  // Letters scattered over a long text are no match.
  return score < 0 ? null : { score, positions };
}

// A letter directly after the last one scores highest, then one that starts a word, then any.
function next_position(text: string, letter: string, from: number, last: number | undefined): number {
  const any = text.indexOf(letter, from);
  if (any < 0 || (last !== undefined && any === last + 1)) return any;
  for (let index = any; index >= 0; index = text.indexOf(letter, index + 1)) {
    if (is_word_start(text, index)) return index;
  }
  return any;
}

/** The items that match, best first; equal ones keep their order. */
export function fuzzy_sort<T>(query: string, items: T[], text: (item: T) => string): { item: T; match: Match }[] {
  const found: { item: T; match: Match }[] = [];
  for (const item of items) {
    const match = fuzzy_match(query, text(item));
    if (match) found.push({ item, match });
  }
  return found.sort((a, b) => b.match.score - a.match.score);
}
