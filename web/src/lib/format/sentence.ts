// The first sentence of a text, for a headline, and the rest of it.

const longest = 240;

export function first_sentence(text: string): [lead: string, rest: string] {
  const end = /[.!?](?=\s+\p{Lu})|\n/u.exec(text);
  const lead = (end ? text.slice(0, end.index + 1) : text).trim();
  // A text without sentences is no headline.
  if (lead.length > longest) return ["", text];
  return [lead, text.slice(end ? end.index + 1 : text.length).trim()];
}
