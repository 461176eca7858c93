// A Markdown document by its sections, for search; and its links to other documents as addresses of pages.

export interface DocumentSection {
  title: string;
  text: string;
}

/** The text before the first "## " has the document's own title. Lines inside of code are no headings. */
export function sections_of(text: string): DocumentSection[] {
  const sections: DocumentSection[] = [];
  let in_code = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) in_code = !in_code;
    const heading = in_code ? null : /^##? (.+)$/.exec(line);
    const last = sections[sections.length - 1];
    if (heading) sections.push({ title: (heading[1] ?? "").trim(), text: "" });
    else if (last) last.text += `${line}\n`;
  }
  return sections;
}

export interface Hit {
  section: string;
  /** The line with the first word. */
  line: string;
}

/** Sections that contain every word; those with a word in the title are first. */
export function find_sections(text: string, wanted: string): Hit[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const in_title: Hit[] = [];
  const in_text: Hit[] = [];
  for (const { title, text: body } of sections_of(text)) {
    const all = `${title}\n${body}`.toLowerCase();
    if (!words.every((word) => all.includes(word))) continue;
    const line = body.split("\n").find((one) => one.toLowerCase().includes(words[0] ?? "")) ?? "";
    const hit = {
      section: title,
      line: line
        .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, "$1") // of a picture its words
        .replaceAll(/[|`*#]/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim()
        .slice(0, 160),
    };
    (words.some((word) => title.toLowerCase().includes(word)) ? in_title : in_text).push(hit);
  }
  return [...in_title, ...in_text];
}

/** `[prices](gateway.md#prices)` becomes a link to the page, if the document is one of `known`; links to other files become
 * their words. */
export function with_page_links(text: string, known: (name: string) => string | null): string {
  const relative = /(?<!!)\[([^\]\n]+)\]\((?![a-z]+:|\/|#)([^)\s#]+)(?:#[^)\s]*)?\)/g;
  return text.replaceAll(relative, (_, words: string, file: string) => {
    const address = known(file.replace(/^docs\//, "").replace(/\.md$/, ""));
    return address === null ? words : `[${words}](${address})`;
  });
}
