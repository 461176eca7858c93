// The filter language of spans: `status = error and latency > 2s and attributes["user.tier"] = "gold"`.
// The server parses it; this module only completes the text and adds or removes a condition.

import type { Completion, FilterError } from "./filter";

export type Expected = "operand" | "operator" | "value" | "joiner";

interface Token {
  text: string;
  start: number;
  end: number;
}

/** The kind of word at the cursor. */
export interface Place {
  expected: Expected;
  /** Where the word under the cursor begins. */
  start: number;
  word: string;
  /** Left of the operator, when a value is expected. */
  operand: string;
}

const token_pattern =
  /"(?:[^"\\]|\\.)*"?|(?:attributes|resource|eval|trace_eval|session_eval)\[[^\]]*\]?(?:\.\w*)?|[\w.:@/-]+|[!<>=~]+|[(),]/g;
const open_words = ["and", "or", "not", "("];

function tokens_of(text: string): Token[] {
  return [...text.matchAll(token_pattern)].map((found) => ({
    text: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));
}

function after(state: Expected, token: string): Expected {
  if (open_words.includes(token.toLowerCase()) && state !== "value") return "operand";
  if (token === ")") return "joiner";
  if (state === "operand") return "operator";
  if (state === "operator") {
    if (/^exists$/i.test(token)) return "joiner";
    // Two words beside each other: the first one searches, the second can be a field.
    return /^[!<>=~]+$|^in$/i.test(token) ? "value" : "operator";
  }
  // A list of values: name in ("a", "b").
  if (state === "value") return token === "(" || token === "," ? "value" : "joiner";
  return token === "," ? "value" : "operand";
}

export function place_at(text: string, cursor: number): Place {
  const before = tokens_of(text.slice(0, cursor));
  const last = before[before.length - 1];
  // A token that touches the cursor is still being typed; brackets are finished as soon as they stand there.
  const typing = last && last.end === cursor && !/^[(),]$/.test(last.text) ? last : undefined;
  let expected: Expected = "operand";
  let operand = "";
  for (const token of typing ? before.slice(0, -1) : before) {
    if (expected === "operand" && !open_words.includes(token.text.toLowerCase())) operand = token.text;
    expected = after(expected, token.text);
  }
  // An operator right after its field is the operator's place, not a longer field.
  return { expected, start: typing?.start ?? cursor, word: typing?.text ?? "", operand };
}

/** The data for completion; counts are numbers of spans. */
export interface Vocabulary {
  fields: { name: string; type: string; doc: string }[];
  attribute_keys: { key: string; count: number }[];
  /** Existing evals with their targets. */
  eval_names: { target: string; name: string; count: number; labels: string[] }[];
  /** Values of the operand under the cursor. */
  values: { value: string; count: number }[];
}

const eval_words: Record<string, string> = { span: "eval", trace: "trace_eval", chat_session: "session_eval" };
const eval_operand = (target: string, name: string) => `${eval_words[target] ?? "eval"}[${quoted(name)}]`;

export const attribute_operand = (key: string) => `attributes[${quoted(key)}]`;

export function quoted(value: string): string {
  return `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function operators_of(type: string): string[] {
  if (type === "words") return ["~", "!~"];
  if (["number", "duration", "money", "time"].includes(type)) return [">", ">=", "<", "<=", "=", "!="];
  if (type === "text") return ["=", "!=", "~", "!~"];
  return ["=", "!="];
}

const operator_docs: Record<string, string> = {
  "=": "is",
  "!=": "is not",
  "~": "contains",
  "!~": "does not contain",
  ">": "more than",
  ">=": "at least",
  "<": "less than",
  "<=": "at most",
};

function written_value(value: string, type: string): string {
  return type.includes("|") || type === "flag" || /^(number|duration|money)$/.test(type) ? value : quoted(value);
}

export function complete_span_filter(
  text: string,
  cursor: number,
  words: Vocabulary,
): { start: number; choices: Completion[] } {
  const { expected, start, word, operand } = place_at(text, cursor);
  const typed = word.toLowerCase();
  const named_eval = words.eval_names.find((one) => operand.startsWith(eval_operand(one.target, one.name)));
  const type =
    words.fields.find((field) => field.name === operand)?.type ?? (/\]\.score$/.test(operand) ? "number" : "text");
  let choices: Completion[] = [];
  if (expected === "operand") {
    choices = words.fields
      .filter((field) => field.name.startsWith(typed) && !field.name.includes("["))
      .map((field) => ({ text: `${field.name} `, label: field.name, count: null, hint: field.doc }));
    const bare_eval = typed === "" ? "-" : typed.replace(/\]?(\.\w*)?$/, "");
    const key = typed.replace(/^attributes\[?"?/, "").replace(/"?\]?$/, "");
    const keys = words.attribute_keys.filter((one) => typed !== "" && one.key.toLowerCase().includes(key)).slice(0, 8);
    choices.push(
      ...keys.map((one) => ({
        text: `${attribute_operand(one.key)} `,
        label: attribute_operand(one.key),
        count: null,
        hint: "attribute",
      })),
    );
    const matching = words.eval_names.filter((one) =>
      eval_operand(one.target, one.name).toLowerCase().startsWith(bare_eval),
    );
    choices.push(
      ...matching.slice(0, 8).flatMap((one) =>
        (one.labels.length > 0 ? ["label", "score"] : ["score"]).map((aspect) => ({
          text: `${eval_operand(one.target, one.name)}.${aspect} `,
          label: `${eval_operand(one.target, one.name)}.${aspect}`,
          count: null,
          hint: `eval of a ${one.target.replace("_", " ")}`,
        })),
      ),
    );
  } else if (expected === "operator") {
    choices = operators_of(type)
      .filter((sign) => sign.startsWith(typed) && sign !== typed)
      .map((sign) => ({ text: `${sign} `, label: sign, count: null, hint: operator_docs[sign] }));
  } else if (expected === "value") {
    const labels = named_eval && operand.endsWith(".label") ? named_eval.labels : [];
    const seen = new Map([
      ...words.values.map((one): [string, number] => [one.value, one.count]),
      ...labels.map((label): [string, number] => [label, 0]),
    ]);
    const known = type.includes("|") ? type.split("|") : type === "flag" ? ["true", "false"] : [...seen.keys()];
    const bare = typed.replace(/^"|"$/g, "");
    choices = known
      .filter((value) => value !== "" && value.toLowerCase().includes(bare) && value.toLowerCase() !== bare)
      .sort((a, b) => (seen.get(b) ?? 0) - (seen.get(a) ?? 0))
      .slice(0, 12)
      .map((value) => ({ text: `${written_value(value, type)} `, label: value, count: seen.get(value) ?? 0 }));
  } else {
    choices = ["and", "or"]
      .filter((joiner) => joiner.startsWith(typed) && typed !== joiner)
      .map((joiner) => ({ text: `${joiner} `, label: joiner, count: null, hint: "join" }));
  }
  return { start, choices };
}

/** The error of an incomplete text, without a request to the server. */
export function unfinished(text: string): FilterError | null {
  if (text.trim() === "") return null;
  const trimmed = text.trimEnd();
  const { expected } = place_at(`${trimmed} `, trimmed.length + 1);
  // A word alone searches; whether it is a field is known to the server.
  if (expected === "joiner" || expected === "operator") return null;
  const last = tokens_of(trimmed).pop() ?? { start: 0, end: trimmed.length };
  const wanted = { operand: "a field", value: "a value" }[expected];
  return { message: `${wanted} is missing after this`, start: last.start, end: last.end };
}

/** Parses the server's error: "column 9: unknown field". */
export function server_error(message: string, text: string): FilterError | null {
  const found = /column (\d+):\s*(.*)$/s.exec(message);
  if (!found) return null;
  const start = Math.min(Number(found[1]) - 1, text.length);
  const token = tokens_of(text).find((candidate) => candidate.start <= start && candidate.end > start);
  return { message: found[2] ?? message, start, end: Math.max(token?.end ?? text.length, start + 1) };
}

/** The text with one more condition; an existing one is not repeated, its opposite is replaced. */
export function with_condition(text: string, operand: string, sign: "=" | "!=", value: string, type = "text"): string {
  const condition = `${operand} ${sign} ${written_value(value, type)}`;
  const opposite = `${operand} ${sign === "=" ? "!=" : "="} ${written_value(value, type)}`;
  const known = text.trim();
  if (known === "") return condition;
  const parts = known.split(/\s+and\s+/);
  if (parts.includes(condition)) return known;
  if (parts.includes(opposite)) return parts.map((part) => (part === opposite ? condition : part)).join(" and ");
  return / or /i.test(known) ? `(${known}) and ${condition}` : `${known} and ${condition}`;
}

/** The text without a condition. */
export function without_condition(text: string, operand: string, value: string, type = "text"): string {
  const condition = `${operand} = ${written_value(value, type)}`;
  return text
    .split(/\s+and\s+/)
    .filter((part) => part.trim() !== condition)
    .join(" and ");
}

export function has_condition(text: string, operand: string, value: string, type = "text"): boolean {
  return text.split(/\s+and\s+/).includes(`${operand} = ${written_value(value, type)}`);
}
