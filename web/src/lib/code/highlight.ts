// Syntax highlighting: a line and the state of the previous line → tokens. One scanner and a small table of languages,
// fast enough while scrolling. Very long lines are not highlighted.

export type TokenKind = "comment" | "string" | "number" | "keyword" | "key";

export interface Token {
  start: number;
  end: number;
  kind: TokenKind;
}

/** 0, or the index plus one of the region (comment, long string) that is still open. */
export type LineState = number;

interface Region {
  open: string;
  close: string;
  kind: "comment" | "string";
  /** Continues in the next line. */
  long?: boolean;
  /** Without backslash escapes. */
  raw?: boolean;
}

interface Language {
  words: Set<string>;
  any_case: boolean;
  regions: Region[];
  /** The next region, number or word. */
  scan: RegExp;
  /** A key or heading at the start of a line. */
  key: RegExp | null;
}

/** Lines longer than this are data. */
const longest_line = 2000;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
const number_pattern = "(?<![\\w.])(?:0[xX][\\da-fA-F_]+|0[bB][01_]+|\\d[\\d_]*(?:\\.\\d[\\d_]*)?(?:[eE][+-]?\\d+)?)";

interface Shape {
  words?: string;
  any_case?: boolean;
  regions: Region[];
  key?: RegExp;
}

function language({ words = "", any_case = false, regions, key }: Shape): Language {
  const opens = regions
    .map((region) => (region.open === "#" ? "(?<![^\\s])#" : escaped(region.open)))
    .sort((a, b) => b.length - a.length);
  return {
    words: new Set(words.split(" ").filter((word) => word !== "")),
    any_case,
    regions,
    scan: new RegExp(`(${opens.join("|") || "(?!)"})|(${number_pattern})|([\\p{L}_$@][\\p{L}\\p{N}_$]*)`, "gu"),
    key: key ?? null,
  };
}

const quote: Region = { open: '"', close: '"', kind: "string" };
const single: Region = { open: "'", close: "'", kind: "string" };
const ticks: Region = { open: "`", close: "`", kind: "string", long: true };
const slashes: Region = { open: "//", close: "", kind: "comment" };
const hash: Region = { open: "#", close: "", kind: "comment" };
const dashes: Region = { open: "--", close: "", kind: "comment" };
const block: Region = { open: "/*", close: "*/", kind: "comment", long: true, raw: true };
const markup: Region = { open: "<!--", close: "-->", kind: "comment", long: true, raw: true };
const three_quotes: Region = { open: '"""', close: '"""', kind: "string", long: true };
const three_singles: Region = { open: "'''", close: "'''", kind: "string", long: true };
const c_like = [slashes, block, quote, single];

const c_words =
  "alignas auto bool break case catch char class co_await co_return co_yield concept const consteval constexpr constinit continue default delete do double else enum explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register requires return short signed sizeof static static_assert struct switch template this throw true try typedef typename union unsigned using virtual void volatile while";
const script_words =
  "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield";
const java_words =
  "abstract as assert boolean break by byte case catch char class companion const continue data def default do double else enum extends false final finally float for fun func given goto if implements implicit import in inline instanceof int interface internal is lateinit lazy let long match native new null object open operator out override package private protected public record return sealed short static strictfp string struct super suspend switch synchronized this throw throws trait transient true try typealias typeof using val var virtual void volatile when where while with yield";
const go_words =
  "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var";
const rust_words =
  "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self static struct super trait true type unsafe use where while";
const python_words =
  "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield";
const ruby_words =
  "alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require";
const shell_words =
  "if then else elif fi for while until do done case esac in function return exit local export readonly set unset shift trap source eval exec true false";
const sql_words =
  "add all alter and as asc between by case cascade check column constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer over partition primary references returning right select set table then transaction union unique update using values view when where with begin commit rollback true false integer text bigint";
const php_words = `${java_words} echo elseif endforeach endif foreach function global include isset namespace print require require_once self trait use`;

const script = language({ words: script_words, regions: [...c_like, ticks] });
const plain_c = language({ words: c_words, regions: c_like });
const jvm = language({ words: java_words, regions: [three_quotes, ...c_like] });
const shell = language({ words: shell_words, regions: [hash, quote, { ...single, raw: true }] });
const yaml = language({
  words: "true false null yes no on off",
  regions: [hash, quote, { ...single, raw: true }],
  key: /^\s*(?:- )*["']?[\w.$/-]+["']?(?=\s*:(?:\s|$))/,
});
const toml = language({
  words: "true false",
  regions: [hash, three_quotes, three_singles, quote, single],
  key: /^\s*(?:\[.*\]|[\w."'-]+(?=\s*=))/,
});
const html = language({
  words: "DOCTYPE",
  regions: [markup, quote, { ...single, raw: true }],
  key: /^\s*<\/?[\w-]+/,
});

const by_extension: Record<string, Language> = {};
function add(extensions: string, entry: Language): void {
  for (const extension of extensions.split(" ")) by_extension[extension] = entry;
}
add("c h cc cpp cxx hpp hh m mm glsl proto ino", plain_c);
add("js jsx mjs cjs ts tsx mts cts vue svelte", script);
add("java kt kts scala cs swift dart groovy gradle", jvm);
add("go", language({ words: go_words, regions: [...c_like, { ...ticks, raw: true }] }));
add("rs", language({ words: rust_words, regions: [slashes, block, quote] }));
add("py pyi", language({ words: python_words, regions: [hash, three_quotes, three_singles, quote, single] }));
add("rb rake gemspec", language({ words: ruby_words, regions: [hash, quote, single] }));
add("php", language({ words: php_words, regions: [...c_like, hash] }));
add("sh bash zsh fish ksh dockerfile makefile mk cmake tf hcl nix r pl env", shell);
add("sql", language({ words: sql_words, any_case: true, regions: [dashes, block, { ...single, raw: true }, quote] }));
add(
  "lua",
  language({
    words:
      "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
    regions: [{ open: "--[[", close: "]]", kind: "comment", long: true, raw: true }, dashes, quote, single],
  }),
);
add("yml yaml", yaml);
add("toml ini cfg conf properties editorconfig gitconfig", toml);
add(
  "json jsonc json5 webmanifest",
  language({ words: "true false null", regions: [slashes, block, quote], key: /^\s*"(?:[^"\\]|\\.)*"(?=\s*:)/ }),
);
add(
  "css scss less",
  language({ words: "important", regions: [block, quote, single], key: /^\s*(?:@[\w-]+|[\w-]+(?=\s*:))/ }),
);
add("html htm xml svg xhtml", html);
add(
  "md markdown",
  language({
    regions: [{ open: "`", close: "`", kind: "string", raw: true }, markup],
    key: /^#{1,6} .*|^\s*(?:[-*+]|\d+\.) /,
  }),
);

const by_name: Record<string, string> = {
  dockerfile: "dockerfile",
  containerfile: "dockerfile",
  makefile: "makefile",
  "cmakelists.txt": "cmake",
  jenkinsfile: "groovy",
  gemfile: "rb",
  rakefile: "rb",
  codeowners: "sh",
  ".gitignore": "sh",
};

/** Null for unknown languages. */
export function language_of(path: string): Language | null {
  const name = (path.split("/").pop() ?? "").toLowerCase();
  const key = Object.hasOwn(by_name, name) ? (by_name[name] ?? "") : (name.split(".").pop() ?? "");
  return Object.hasOwn(by_extension, key) ? (by_extension[key] ?? null) : null;
}

export type { Language };

/** One past the end of a region that is open at `from`; -1 when the line ends before it does. */
function end_of(line: string, from: number, region: Region): number {
  if (region.close === "") return line.length;
  for (let at = from; at < line.length; at++) {
    if (!region.raw && line[at] === "\\") at++;
    else if (line.startsWith(region.close, at)) return at + region.close.length;
  }
  return -1;
}

export function tokenize(line: string, chosen: Language, state: LineState): { tokens: Token[]; state: LineState } {
  if (line.length > longest_line) return { tokens: [], state };
  const tokens: Token[] = [];
  let at = 0;

  const open_region = chosen.regions[state - 1];
  if (open_region) {
    const end = end_of(line, 0, open_region);
    tokens.push({ start: 0, end: end < 0 ? line.length : end, kind: open_region.kind });
    if (end < 0) return { tokens, state };
    at = end;
  } else {
    const key = chosen.key?.exec(line)?.[0];
    if (key) {
      const start = key.length - key.trimStart().length;
      tokens.push({ start, end: key.length, kind: "key" });
      at = key.length;
    }
  }

  while (at < line.length) {
    chosen.scan.lastIndex = at;
    const found = chosen.scan.exec(line);
    if (!found) break;
    const start = found.index;
    at = start + found[0].length;
    if (found[1] !== undefined) {
      const index = chosen.regions.findIndex((region) => region.open === found[1]);
      const region = chosen.regions[index];
      if (!region) continue;
      const end = end_of(line, at, region);
      // A quote that does not end is more often an apostrophe than a string.
      if (end < 0 && !region.long) continue;
      tokens.push({ start, end: end < 0 ? line.length : end, kind: region.kind });
      if (end < 0) return { tokens, state: index + 1 };
      at = end;
    } else if (found[2] !== undefined) {
      tokens.push({ start, end: at, kind: "number" });
    } else if (chosen.words.has(chosen.any_case ? found[0].toLowerCase() : found[0])) {
      tokens.push({ start, end: at, kind: "keyword" });
    }
  }
  return { tokens, state: 0 };
}
