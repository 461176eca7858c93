// Shared by the pages about evaluators and their tasks: API routes, loading, words.

import { api, segment } from "../../api";
import type { Builtin, Calibration, EvalTask, ListedEvaluator, LlmDefinition, OutputConfig } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";
import type { Tone } from "../../parts/state";

export const evaluator_route = (id: string, part = "") =>
  `/v1/evaluators/${segment(id)}${part === "" ? "" : `/${part}`}`;
export const task_route = (id: string, part = "") => `/v1/eval_tasks/${segment(id)}${part === "" ? "" : `/${part}`}`;

export const list_evaluators = (signal: AbortSignal) =>
  api.list<ListedEvaluator>("/v1/evaluators", { space: space.value?.id }, signal);
export const list_tasks = (signal: AbortSignal) =>
  api.list<EvalTask>("/v1/eval_tasks", { space: space.value?.id }, signal);
export const list_builtins = (signal: AbortSignal) => api.get<Builtin[]>("/v1/evaluator_builtins", {}, signal);

export const calibrations_route = (evaluator: string, part = "") =>
  evaluator_route(evaluator, part === "" ? "calibrations" : `calibrations/${part}`);
export const calibrations_key = (evaluator: string) => `calibrations/${evaluator}`;
/** Newest first. */
export const list_calibrations = (evaluator: string, signal: AbortSignal) =>
  api.get<Calibration[]>(calibrations_route(evaluator), {}, signal);

export const evaluators_key = () => `judges/${space.value?.id}`;
export const tasks_key = () => `eval_tasks/${space.value?.id}`;

export async function evaluators_changed(): Promise<void> {
  await Promise.all([reload("judge"), reload("eval_task")]);
}

/** One word for the state of a task, with the tone of its mark. */
export function task_state(task: EvalTask): { tone: Tone; text: string } {
  if (!task.enabled) return { tone: "off", text: "off" };
  if (task.state === "paused") return { tone: "failed", text: "paused" };
  if (task.reason !== "") return { tone: "limit", text: "waits" };
  return { tone: "done", text: "on" };
}

export const target_words: Record<EvalTask["target"], string> = {
  span: "spans",
  trace: "traces",
  chat_session: "chat sessions",
};

/** As docs/words.md names them. */
export const kind_words: Record<string, string> = { llm: "LLM judge" };

/** "5 %" of parts of a million. */
export const rate_text = (ppm: number) => `${Number((ppm / 10_000).toFixed(4))} %`;

/** "pass=1, fail=0", as people write labels with scores. */
export function labels_text(output: OutputConfig | undefined): string {
  return (output?.values ?? [])
    .map((value) => (value.score === null || value.score === undefined ? value.label : `${value.label}=${value.score}`))
    .join(", ");
}

/** The reverse; no labels: true or false. */
export function output_of(text: string): OutputConfig {
  const values = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => {
      const [label = "", score] = part.split("=").map((piece) => piece.trim());
      return { label, score: score === undefined || score === "" ? null : Number(score) };
    });
  return { type: values.length === 0 ? "boolean" : "categorical", values, minimum: null, maximum: null };
}

/** A definition with a model: what is not given is as the server would fill it in. */
export function llm_with(model: string, skill: string, given: Partial<LlmDefinition>): LlmDefinition {
  return {
    messages: [],
    output: output_of(""),
    mapping: {},
    votes: 1,
    explain: true,
    cache: true,
    timeout_ms: 60_000,
    pairwise: false,
    ...given,
    model: { name: model, skill, provider: "", parameters: {} },
  };
}

/** The definition as one text, for differences. */
export function definition_text(definition: unknown): string {
  const llm = definition as Partial<LlmDefinition> | null;
  if (!llm?.messages) return JSON.stringify(definition, null, 2);
  const { messages, ...rest } = llm;
  return [...messages.map((message) => `[${message.role}]\n${message.content}`), JSON.stringify(rest, null, 2)].join(
    "\n\n",
  );
}
