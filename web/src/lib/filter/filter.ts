// The filter text of a list: `action:key_create actor:user_01…`. Values with spaces are quoted.
// Errors carry the column, so that the bar can underline it.

export interface Term {
  field: string;
  value: string;
  start: number;
  end: number;
}

export interface FilterError {
  message: string;
  start: number;
  end: number;
}

export interface Filter {
  terms: Term[];
  error: FilterError | null;
}

export function parse_filter(text: string, fields: string[]): Filter {
  const terms: Term[] = [];
  for (const found of text.matchAll(/("[^"]*"?|[^\s"])+/g)) {
    const start = found.index;
    const end = start + found[0].length;
    const mark = found[0].indexOf(":");
    if (mark <= 0) {
      return { terms, error: { message: `"${found[0]}" needs a field: ${fields.join(", ")}`, start, end } };
    }
    const field = found[0].slice(0, mark);
    const value = found[0].slice(mark + 1).replaceAll('"', "");
    if (!fields.includes(field)) {
      return {
        terms,
        error: { message: `unknown field "${field}": use ${fields.join(", ")}`, start, end: start + mark },
      };
    }
    if (terms.some((term) => term.field === field)) {
      return { terms, error: { message: `"${field}" is given twice`, start, end } };
    }
    if (value === "") return { terms, error: { message: `"${field}" needs a value`, start, end } };
    terms.push({ field, value, start, end });
  }
  return { terms, error: null };
}

function written(field: string, value: string): string {
  return /\s/.test(value) ? `${field}:"${value}"` : `${field}:${value}`;
}

/** The text with one field set, replacing an earlier value of the same field; "" removes it. */
export function with_term(text: string, fields: string[], field: string, value: string): string {
  const kept = parse_filter(text, fields).terms.filter((term) => term.field !== field);
  const parts = kept.map((term) => written(term.field, term.value));
  if (value !== "") parts.push(written(field, value));
  return parts.join(" ");
}

export interface Completion {
  /** What replaces the word under the cursor. */
  text: string;
  label: string;
  /** The number of occurrences of a value; null when the filter continues after it. */
  count: number | null;
  hint?: string;
}

/** Fields first, then the values of the chosen field with their counts. */
export function complete_filter(
  text: string,
  cursor: number,
  values: Record<string, Map<string, number>>,
): { start: number; choices: Completion[] } {
  const start = text.slice(0, cursor).search(/\S*$/);
  const word = text.slice(start, cursor);
  const mark = word.indexOf(":");
  if (mark < 0) {
    const used = parse_filter(text.slice(0, start), Object.keys(values)).terms.map((term) => term.field);
    const open = Object.keys(values).filter((field) => field.startsWith(word) && !used.includes(field));
    return { start, choices: open.map((field) => ({ text: `${field}:`, label: field, count: null })) };
  }
  const field = word.slice(0, mark);
  const typed = word.slice(mark + 1).toLowerCase();
  const choices = [...(values[field] ?? [])]
    .filter(([value]) => value.toLowerCase().includes(typed) && value !== typed)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 8)
    .map(([value, count]) => ({ text: `${written(field, value)} `, label: value, count }));
  return { start, choices };
}
