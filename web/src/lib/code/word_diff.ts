// The differences inside a changed line: removed words of the old line, added words of the new one.

export type Range = [start: number, end: number];

export interface WordDiff {
  removed: Range[];
  added: Range[];
}

/** Longer lines are minified code or data and are not compared. */
const longest_line = 1000;
const most_words = 200;

/** Words, runs of blanks, single other characters. */
function words_of(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** Longest common subsequence of two short lists, as a table of lengths from each pair of indexes to the end. */
function lengths_of(a: string[], b: string[]): Uint16Array {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
    }
  }
  return table;
}

function add_range(ranges: Range[], start: number, end: number): void {
  const last = ranges[ranges.length - 1];
  if (last && last[1] === start) last[1] = end;
  else ranges.push([start, end]);
}

/** Null when the lines have too little in common to be the same line changed. */
export function word_diff(before: string, after: string): WordDiff | null {
  if (before === after || before.length > longest_line || after.length > longest_line) return null;
  let a = words_of(before);
  let b = words_of(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const start = a.slice(0, head).join("").length;
  const same_end = a.slice(a.length - tail).join("").length;
  a = a.slice(head, a.length - tail);
  b = b.slice(head, b.length - tail);
  if (a.length > most_words || b.length > most_words) return null;

  const table = lengths_of(a, b);
  const width = b.length + 1;
  const found: WordDiff = { removed: [], added: [] };
  let common = start + same_end;
  let i = 0;
  let j = 0;
  let before_at = start;
  let after_at = start;
  while (i < a.length || j < b.length) {
    const old_word = a[i] ?? "";
    const new_word = b[j] ?? "";
    if (i < a.length && j < b.length && old_word === new_word) {
      if (old_word.trim() !== "") common += old_word.length;
      before_at += old_word.length;
      after_at += new_word.length;
      i++;
      j++;
    } else if (
      j >= b.length ||
      (i < a.length && (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))
    ) {
      add_range(found.removed, before_at, before_at + old_word.length);
      before_at += old_word.length;
      i++;
    } else {
      add_range(found.added, after_at, after_at + new_word.length);
      after_at += new_word.length;
      j++;
    }
  }
  return common * 2 >= Math.max(before.trim().length, after.trim().length) ? found : null;
}
