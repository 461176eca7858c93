// SQL as text: words to complete at the cursor, and a readable layout. The server parses queries.

import { range_variables } from "../view/sql_range";

/** Clauses that begin a line. */
const clauses = [
  "WITH",
  "SELECT",
  "FROM",
  "PREWHERE",
  "WHERE",
  "GROUP BY",
  "HAVING",
  "ORDER BY",
  "LIMIT",
  "OFFSET",
  "UNION ALL",
  "ARRAY JOIN",
  "LEFT JOIN",
  "INNER JOIN",
  "JOIN",
];
const words = [
  ...clauses,
  "AS",
  "AND",
  "OR",
  "NOT",
  "IN",
  "LIKE",
  "ILIKE",
  "BETWEEN",
  "IS NULL",
  "IS NOT NULL",
  "DISTINCT",
  "ASC",
  "DESC",
  "ON",
  "USING",
  "CASE",
  "WHEN",
  "THEN",
  "ELSE",
  "END",
];
const functions = [
  "count()",
  "countIf(",
  "sum(",
  "sumIf(",
  "avg(",
  "min(",
  "max(",
  "uniq(",
  "uniqExact(",
  "quantile(0.95)(",
  "any(",
  "argMax(",
  "groupArray(",
  "round(",
  "toStartOfMinute(",
  "toStartOfHour(",
  "toStartOfDay(",
  "toDate(",
  "fromUnixTimestamp64Nano(",
  "now()",
  "if(",
  "multiIf(",
  "lower(",
  "position(",
  "length(",
  "JSONExtractString(",
  "arrayJoin(",
  "has(",
];

export interface SqlWord {
  label: string;
  kind: "column" | "table" | "function" | "keyword" | "range";
}

export interface SqlNames {
  tables: string[];
  /** By table; only those that are loaded. */
  columns: Record<string, string[]>;
}

const most_words = 12;

/** Inside of a text in quotes or a comment nothing is completed. */
function in_text(before: string): boolean {
  const plain = before.replaceAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*\n|\/\*[\s\S]*?\*\//g, "");
  return /['"`]|--|\/\*/.test(plain);
}

/** Tables that the query names. */
export const named_tables = (sql: string, tables: string[]) =>
  tables.filter((table) => new RegExp(`\\b(?:from|join)\\s+${table}\\b`, "i").test(sql));

export function complete_sql(sql: string, cursor: number, names: SqlNames): { start: number; words: SqlWord[] } {
  const before = sql.slice(0, cursor);
  const word = /\{\{?[\w.]*$|\w*$/.exec(before)?.[0] ?? "";
  const start = cursor - word.length;
  if (in_text(before)) return { start, words: [] };
  const wants_table = /\b(?:from|join)\s+\w*$/i.test(before);
  const used = named_tables(sql, names.tables);
  const columns = (used.length > 0 ? used : ["spans"]).flatMap((table) => names.columns[table] ?? []);
  const all: SqlWord[] = wants_table
    ? names.tables.map((label) => ({ label, kind: "table" as const }))
    : [
        ...[...new Set(columns)].map((label) => ({ label, kind: "column" as const })),
        ...functions.map((label) => ({ label, kind: "function" as const })),
        ...words.map((label) => ({ label, kind: "keyword" as const })),
        ...range_variables.map((label) => ({ label, kind: "range" as const })),
      ];
  const typed = word.toLowerCase();
  const starts = all.filter((one) => one.label.toLowerCase().startsWith(typed) && one.label !== word);
  const holds = all.filter(
    (one) => !starts.includes(one) && typed.length > 1 && one.label.toLowerCase().includes(typed),
  );
  return { start, words: [...starts, ...holds].filter((one) => one.label !== word).slice(0, most_words) };
}

interface Token {
  text: string;
  kind: "word" | "space" | "text" | "sign";
}

function tokens_of(sql: string): Token[] {
  const pattern =
    /(--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`)|(\s+)|([A-Za-z_]\w*)|([\s\S])/g;
  return [...sql.matchAll(pattern)].map((found) => ({
    text: found[0],
    kind: found[1] !== undefined ? "text" : found[2] !== undefined ? "space" : found[3] !== undefined ? "word" : "sign",
  }));
}

const long_line = 90;

/** A line that is too long is broken after its outer commas, or before its outer AND and OR. */
function break_line(line: string): string {
  if (line.length <= long_line && !line.includes("\n")) return line;
  let depth = 0;
  let out = "";
  for (const token of tokens_of(line)) {
    if (token.text === "(" || token.text === "[") depth++;
    if (token.text === ")" || token.text === "]") depth--;
    if (depth === 0 && token.kind === "word" && /^(and|or)$/i.test(token.text))
      out = `${out.trimEnd()}\n  ${token.text}`;
    else if (depth === 0 && token.text === ",") out += ",\n ";
    else out += token.text;
  }
  return out.replaceAll(/[ \t]+\n/g, "\n");
}

/** Clauses on lines of their own, keywords in capitals; texts in quotes and comments stay as they are. */
export function format_sql(sql: string): string {
  const capitals = new Set(words.flatMap((word) => word.split(" ")).concat("BY", "ALL", "NULL", "IS"));
  let line = "";
  const lines: string[] = [];
  let depth = 0;
  const tokens = tokens_of(sql.trim());
  const next_word = (at: number) =>
    tokens
      .slice(at + 1)
      .find((token) => token.kind !== "space")
      ?.text.toUpperCase() ?? "";
  const last_word = () => /(\w+)\s*$/.exec(line)?.[1]?.toUpperCase() ?? "";
  tokens.forEach((token, at) => {
    if (token.text === "(") depth++;
    if (token.text === ")") depth--;
    if (token.kind === "space") {
      if (line !== "" && !line.endsWith(" ")) line += " ";
      return;
    }
    const upper = token.text.toUpperCase();
    const word = token.kind === "word" && capitals.has(upper) ? upper : token.text;
    const pair = `${upper} ${next_word(at)}`;
    const begins =
      depth === 0 &&
      token.kind === "word" &&
      (clauses.includes(pair) || (clauses.includes(upper) && !clauses.includes(`${last_word()} ${upper}`)));
    if (begins && line.trim() !== "") {
      lines.push(line.trim());
      line = "";
    }
    line += word;
    if (token.kind === "text" && token.text.startsWith("--")) {
      lines.push(line.trim());
      line = "";
    }
  });
  if (line.trim() !== "") lines.push(line.trim());
  return lines.map(break_line).join("\n");
}
