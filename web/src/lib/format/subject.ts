// What a session is about: the things that a person selected before starting it. They are in the address of the Studio as
// `about=kind:value`, and become lines of the prompt. Only names and ids: texts of traces are for the worker to read.

export type SubjectKind = "trace" | "span" | "filter" | "issue" | "run" | "sql";

export interface Subject {
  kind: SubjectKind;
  value: string;
}

const kinds: readonly SubjectKind[] = ["trace", "span", "filter", "issue", "run", "sql"];
const longest = 4000;

export function parse_subject(text: string): Subject | null {
  const at = text.indexOf(":");
  const kind = kinds.find((one) => one === text.slice(0, at));
  const value = text.slice(at + 1).trim();
  return kind && value !== "" && value.length <= longest ? { kind, value } : null;
}

export const write_subject = ({ kind, value }: Subject) => `${kind}:${value}`;

/** As a short title for people. */
export function subject_title({ kind, value }: Subject): string {
  const one_line = value.replaceAll(/\s+/g, " ");
  const short = one_line.length > 40 ? `${one_line.slice(0, 38)}…` : one_line;
  return kind === "filter" ? `Traces with ${short}` : kind === "sql" ? `SQL ${short}` : `${kind} ${short}`;
}

function line_of({ kind, value }: Subject): string {
  switch (kind) {
    case "trace":
      return `- trace ${value}`;
    case "span":
      return `- span ${value}`;
    case "filter":
      return `- the traces that match this filter: ${value.replaceAll(/\s+/g, " ")}`;
    case "issue":
      return `- issue ${value}`;
    case "run":
      return `- run ${value} and its transcript`;
    case "sql":
      return `- the result of this SQL query: ${value.replaceAll(/\s+/g, " ")}`;
  }
}

/** The prompt with what it is about. */
export function with_subjects(prompt: string, subjects: Subject[]): string {
  if (subjects.length === 0) return prompt.trim();
  return `${prompt.trim()}\n\nThis is about:\n${subjects.map(line_of).join("\n")}`;
}
