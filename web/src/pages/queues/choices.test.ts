import { expect, test } from "@playwright/test";
import type { QueueConfig } from "../../api_types";
import { choices_of, evals_of } from "./choices";

const config = (name: string, type: QueueConfig["type"]): QueueConfig => ({
  id: `annotationconfig_${name}`,
  name,
  type,
  description: "",
  labels: [],
  lower_bound: null,
  upper_bound: null,
});

test("labels and scores are required, texts are not", () => {
  const configs = [config("correct", "categorical"), config("tone", "continuous"), config("note", "freeform")];
  expect(evals_of(configs, { correct: "pass" }, "")).toEqual({
    evals: [{ config: "correct", label: "pass" }],
    missing: ["tone"],
  });
  expect(evals_of(configs, { correct: "fail", tone: "0.5", note: "odd" }, "because").evals).toEqual([
    { config: "correct", label: "fail", explanation: "because" },
    { config: "tone", score: 0.5, explanation: "because" },
    { config: "note", explanation: "odd" },
  ]);
});

test("a score that is no number is missing", () => {
  expect(evals_of([config("tone", "continuous")], { tone: "high" }, "").missing).toEqual(["tone"]);
});

test("stored evals become choices again", () => {
  expect(
    choices_of([
      { config: "correct", label: "pass", score: null, explanation: null },
      { config: "tone", label: null, score: 0.5, explanation: "why" },
      { config: "note", label: null, score: null, explanation: "odd" },
    ]),
  ).toEqual({ correct: "pass", tone: "0.5", note: "odd" });
});
