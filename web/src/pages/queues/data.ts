// Shared by the pages of queues: routes, words, what a person has chosen so far.

import { api, segment } from "../../api";
import type { Queue, QueueConfig, QueueEval } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";

export const queue_route = (queue: string, part = "") =>
  `/v1/annotation_queues/${segment(queue)}${part === "" ? "" : `/${part}`}`;

export function list_queues(signal: AbortSignal): Promise<Queue[]> {
  return api.list<Queue>("/v1/annotation_queues", { space: space.value?.id }, signal);
}

export async function queues_changed(): Promise<void> {
  await Promise.all(["queues/", "queue/", "queue_items/", "queue_agreement/", "evals/"].map(reload));
}

/** What a person has given for one config: a label, a number or a text. */
export type Choices = Readonly<Record<string, string>>;

export function choices_of(evals: QueueEval[]): Choices {
  const choices: Record<string, string> = {};
  for (const one of evals)
    choices[one.config] = one.label ?? (one.score === null ? (one.explanation ?? "") : String(one.score));
  return choices;
}

/** The evals to send, and what is still missing. */
export function evals_of(
  configs: QueueConfig[],
  choices: Choices,
  reason: string,
): { evals: Partial<QueueEval>[]; missing: string[] } {
  const evals: Partial<QueueEval>[] = [];
  const missing: string[] = [];
  for (const config of configs) {
    const chosen = (choices[config.name] ?? "").trim();
    const explanation = reason.trim() === "" ? {} : { explanation: reason.trim() };
    if (chosen === "") {
      if (config.type !== "freeform") missing.push(config.name);
    } else if (config.type === "categorical") {
      evals.push({ config: config.name, label: chosen, ...explanation });
    } else if (config.type === "continuous") {
      const score = Number(chosen);
      if (Number.isFinite(score)) evals.push({ config: config.name, score, ...explanation });
      else missing.push(config.name);
    } else {
      evals.push({ config: config.name, explanation: chosen });
    }
  }
  return { evals, missing };
}

export const done_share = (queue: Queue) => {
  const all = queue.pending + queue.done + queue.skipped;
  return all === 0 ? 0 : (queue.done + queue.skipped) / all;
};
