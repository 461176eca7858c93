// What a session is about: the things that a person selected before starting it. They are in the address of the Studio as
// `about=kind:value`, and become lines of the prompt. Only names and ids: texts of traces are for the worker to read.

import { parse_range, range_title } from "./range";

export type SubjectKind = "trace" | "span" | "filter" | "issue" | "run" | "sql" | "chart" | "range";

export interface Subject {
  kind: SubjectKind;
  value: string;
}

const kinds: readonly SubjectKind[] = ["trace", "span", "filter", "issue", "run", "sql", "chart", "range"];
const longest = 4000;

export function parse_subject(text: string): Subject | null {
  const at = text.indexOf(":");
  const kind = kinds.find((one) => one === text.slice(0, at));
  const value = text.slice(at + 1).trim();
  return kind && value !== "" && value.length <= longest ? { kind, value } : null;
}

export const write_subject = ({ kind, value }: Subject) => `${kind}:${value}`;

const one_line = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** An issue or a run with its title, as the value of a subject. */
export const titled = (id: string, title: string) => one_line(`${id} ${title}`).slice(0, 300);

/** "Last 24 h", or "2026-11-01 00:00 – 2026-11-02 00:00 UTC". */
function range_text(value: string): string {
  const range = parse_range(value);
  if (!range) return one_line(value);
  return `${range_title(range)}${range.kind === "between" ? " UTC" : ""}`;
}

const first_words: Record<SubjectKind, string> = {
  trace: "Trace",
  span: "Span",
  filter: "Traces with",
  issue: "Issue:",
  run: "Run:",
  sql: "SQL",
  chart: "Chart",
  range: "",
};

/** As a short title for people. */
export function subject_title({ kind, value }: Subject): string {
  if (kind === "range") return range_text(value);
  const text = one_line(value);
  const shown = kind === "issue" || kind === "run" ? text.replace(/^\S+ /, "") : text;
  return `${first_words[kind]} ${shown.length > 40 ? `${shown.slice(0, 38)}…` : shown}`;
}

/** Before the subjects in a prompt. */
const heading = "This is about:";

function line_of({ kind, value }: Subject): string {
  const text = one_line(value);
  switch (kind) {
    case "filter":
      return `- the traces that match this filter: ${text}`;
    case "run":
      return `- run ${text}, with its transcript`;
    case "sql":
      return `- the result of this SQL query: ${text}`;
    case "chart":
      return `- the chart ${text}`;
    case "range":
      return `- the time range: ${range_text(value).replace("Last", "last").replace("All", "all")}`;
    default:
      return `- ${kind} ${text}`;
  }
}

/** The prompt with what it is about. */
export function with_subjects(prompt: string, subjects: Subject[]): string {
  if (subjects.length === 0) return prompt.trim();
  return `${prompt.trim()}\n\n${heading}\n${subjects.map(line_of).join("\n")}`;
}

const line_starts: [string, SubjectKind][] = [
  ["the traces that match this filter: ", "filter"],
  ["the result of this SQL query: ", "sql"],
  ["the chart ", "chart"],
  ["the time range: ", "range"],
  ["trace ", "trace"],
  ["span ", "span"],
  ["issue ", "issue"],
  ["run ", "run"],
];

/** What the prompt of a session is about: the kinds of its subjects, in their order. */
export function subject_kinds(prompt: string): SubjectKind[] {
  const at = prompt.lastIndexOf(`\n${heading}\n`);
  if (at < 0) return [];
  return prompt
    .slice(at)
    .split("\n")
    .filter((line) => line.startsWith("- "))
    .map((line) => line_starts.find(([start]) => line.slice(2).startsWith(start))?.[1])
    .filter((kind) => kind !== undefined);
}
