// Markdown as a tree. Texts come from workers, so HTML is never interpreted: everything except these nodes is shown
// as plain characters. Every search is bounded, so that hostile text takes only linear time.

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong"; children: Inline[] }
  | { kind: "emphasis"; children: Inline[] }
  | { kind: "link"; address: string; children: Inline[] }
  | { kind: "image"; source: string; alt: string };

export type Block =
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "line" };

const deepest = 6;

/** Addresses that become links; others stay text. */
export function safe_address(address: string): string | null {
  if (/^(https?:\/\/|mailto:)/i.test(address)) return address;
  return /^\/(?![/\\])/.test(address) && !address.includes("\\") ? address : null;
}

const image = /!\[([^\]\n]{0,500})\]\((data:image\/[a-z]{1,8};base64,[\w+/=]{1,8000000}|[^()\s]{1,2000})\)/y;
const link = /\[([^[\]\n]{1,500})\]\(([^()\s]{1,2000})\)/y;
const strong = /(\*\*|__)(?=\S)([^\n]{0,800}?[^\s\n])\1/y;
const emphasis = /([*_])(?=[^\s*_])([^\n*_]{0,400}[^\s*_])\1(?![\p{L}\p{N}])/uy;
const bare = /https?:\/\/[^\s<>()"'`]{1,2000}/y;

function at<T extends RegExp>(pattern: T, text: string, index: number): RegExpExecArray | null {
  pattern.lastIndex = index;
  return pattern.exec(text);
}

function code_span(text: string, index: number): { node: Inline; end: number } {
  let ticks = 0;
  while (text[index + ticks] === "`") ticks++;
  const fence = "`".repeat(ticks);
  const end = text.slice(0, index + ticks + 4000).indexOf(fence, index + ticks);
  if (end < 0) return { node: { kind: "text", text: fence }, end: index + ticks };
  return { node: { kind: "code", text: text.slice(index + ticks, end).trim() }, end: end + ticks };
}

function linked(address: string, children: Inline[], written: string): Inline {
  const safe = safe_address(address);
  return safe === null ? { kind: "text", text: written } : { kind: "link", address: safe, children };
}

/** The node that begins at this index; null for plain characters. */
function special(text: string, index: number, depth: number): { node: Inline; end: number } | null {
  const sign = text[index];
  if (sign === "`") return code_span(text, index);
  let hit: RegExpExecArray | null = null;
  const found = (node: Inline) => ({ node, end: index + (hit?.[0].length ?? 0) });
  if (sign === "!") {
    hit = at(image, text, index);
    return hit && found({ kind: "image", alt: hit[1] ?? "", source: hit[2] ?? "" });
  }
  if (sign === "[") {
    hit = at(link, text, index);
    return hit && found(linked(hit[2] ?? "", parse_inline(hit[1] ?? "", depth + 1), hit[0]));
  }
  if (sign === "h") {
    hit = at(bare, text, index);
    const address = hit?.[0].replace(/[.,;:!?]+$/, "") ?? "";
    return hit && { node: linked(address, [{ kind: "text", text: address }], address), end: index + address.length };
  }
  if (sign === "_" && /[\p{L}\p{N}]/u.test(text[index - 1] ?? "")) return null;
  hit = at(strong, text, index);
  if (hit) return found({ kind: "strong", children: parse_inline(hit[2] ?? "", depth + 1) });
  hit = at(emphasis, text, index);
  return hit && found({ kind: "emphasis", children: parse_inline(hit[2] ?? "", depth + 1) });
}

export function parse_inline(text: string, depth = 0): Inline[] {
  const nodes: Inline[] = [];
  let plain = "";
  const flush = () => {
    if (plain !== "") nodes.push({ kind: "text", text: plain });
    plain = "";
  };
  for (let index = 0; index < text.length; ) {
    const sign = text[index] ?? "";
    if (sign === "\\" && /[\\`*_[\]!#|()]/.test(text[index + 1] ?? "")) {
      plain += text[index + 1];
      index += 2;
      continue;
    }
    const hit = depth < deepest && "`![*_h".includes(sign) ? special(text, index, depth) : null;
    if (!hit) {
      plain += sign;
      index++;
      continue;
    }
    flush();
    nodes.push(hit.node);
    index = hit.end;
  }
  flush();
  return nodes;
}

const fence_line = /^ {0,3}(`{3,}|~{3,})\s*([\w+-]{0,40})/;
const heading_line = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const rule_line = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const item_line = /^( {0,3})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const table_line = /^\s*\|.*\|\s*$/;
const table_rule = /^\s*\|(\s*:?-+:?\s*\|)+\s*$/;

function cells(line: string): Inline[][] {
  const inner = line.trim().slice(1, -1);
  const parts = inner.split(/(?<!\\)\|/).map((part) => part.trim().replaceAll("\\|", "|"));
  return parts.slice(0, 50).map((part) => parse_inline(part));
}

function starts_block(line: string): boolean {
  return (
    fence_line.test(line) ||
    heading_line.test(line) ||
    rule_line.test(line) ||
    item_line.test(line) ||
    /^ {0,3}>/.test(line)
  );
}

/** Reads lines one block at a time. */
class Reader {
  private position = 0;
  constructor(
    private readonly lines: string[],
    private readonly depth: number,
  ) {}

  blocks(): Block[] {
    const blocks: Block[] = [];
    while (this.position < this.lines.length) {
      if (this.line().trim() === "") this.position++;
      else blocks.push(this.block());
    }
    return blocks;
  }

  private line(ahead = 0): string {
    return this.lines[this.position + ahead] ?? "";
  }

  private block(): Block {
    const line = this.line();
    const fence = fence_line.exec(line);
    if (fence) return this.code(fence[1] ?? "```", fence[2] ?? "");
    const heading = heading_line.exec(line);
    if (heading) {
      this.position++;
      return { kind: "heading", level: (heading[1] ?? "#").length, children: parse_inline(heading[2] ?? "") };
    }
    if (rule_line.test(line)) {
      this.position++;
      return { kind: "line" };
    }
    if (this.depth < deepest && /^ {0,3}>/.test(line)) return this.quote();
    if (this.depth < deepest && item_line.test(line)) return this.list();
    if (table_line.test(line) && table_rule.test(this.line(1))) return this.table();
    if (this.is_indented_code()) return this.indented_code();
    return this.paragraph();
  }

  private code(fence: string, language: string): Block {
    const text: string[] = [];
    for (this.position++; this.position < this.lines.length; this.position++) {
      if (this.line().trim().startsWith(fence)) {
        this.position++;
        break;
      }
      text.push(this.line());
    }
    return { kind: "code", language, text: text.join("\n") };
  }

  /** Not below a list, where indented lines continue an item. */
  private is_indented_code(): boolean {
    return this.depth === 0 && /^( {4}|\t)\s*\S/.test(this.line()) && !item_line.test(this.line().trimStart());
  }

  private indented_code(): Block {
    const text: string[] = [];
    for (; /^( {4}|\t|\s*$)/.test(this.line()) && this.position < this.lines.length; this.position++)
      text.push(this.line().replace(/^( {4}|\t)/, ""));
    return { kind: "code", language: "", text: text.join("\n").trimEnd() };
  }

  private quote(): Block {
    const inner: string[] = [];
    for (; /^ {0,3}>/.test(this.line()); this.position++) inner.push(this.line().replace(/^ {0,3}> ?/, ""));
    return { kind: "quote", blocks: new Reader(inner, this.depth + 1).blocks() };
  }

  private list(): Block {
    const first = item_line.exec(this.line());
    const ordered = /\d/.test(first?.[2] ?? "");
    const items: Block[][] = [];
    for (let hit = first; hit && /\d/.test(hit[2] ?? "") === ordered; hit = item_line.exec(this.line())) {
      const inner = [hit[3] ?? ""];
      this.position++;
      // Indented lines, and lines without a gap, belong to the item.
      while (this.position < this.lines.length) {
        const line = this.line();
        const indented = /^(\t| {2,})/.test(line);
        if (line.trim() === "" ? !/^(\t| {2,})\S/.test(this.line(1)) : !indented && starts_block(line)) break;
        inner.push(line.replace(/^(\t| {2,4})/, ""));
        this.position++;
      }
      items.push(new Reader(inner, this.depth + 1).blocks());
      if (this.line().trim() === "" && item_line.test(this.line(1))) this.position++;
    }
    return { kind: "list", ordered, start: ordered ? Number.parseInt(first?.[2] ?? "1", 10) : 1, items };
  }

  private table(): Block {
    const head = cells(this.line());
    const rows: Inline[][][] = [];
    for (this.position += 2; table_line.test(this.line()); this.position++) rows.push(cells(this.line()));
    return { kind: "table", head, rows };
  }

  private paragraph(): Block {
    const text = [this.line()];
    for (this.position++; this.line().trim() !== "" && !starts_block(this.line()); this.position++) {
      if (table_line.test(this.line()) && table_rule.test(this.line(1))) break;
      text.push(this.line());
    }
    return { kind: "paragraph", children: parse_inline(text.join("\n").trim()) };
  }
}

export function parse_markdown(text: string): Block[] {
  return new Reader(text.replaceAll("\r\n", "\n").split("\n"), 0).blocks();
}
