// What a person has chosen for the configs of a queue. Pure.

import type { QueueConfig, QueueEval } from "../../api_types";

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
