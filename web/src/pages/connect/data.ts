// What the first steps of a space have reached: its newest trace, its workers and its first session, read from the API.

import { signal } from "@preact/signals";
import { api, segment } from "../../api";
import type { HarnessView, Preset, Project, Run, Skill, TraceRow } from "../../api_types";
import { post_events } from "../../live";
import { can, space, user } from "../../login";
import { read_stored, write_stored } from "../../stored";
import { version_of } from "../prompts/draft";
import type { CreatedKey } from "../settings/key_form";

/** Projects with the traces of Hone itself: not observed applications. */
const own_projects = ["hone-runs", "hone-playground"];

export interface FirstTrace {
  project: string;
  trace: TraceRow;
}

export interface Connected {
  /** Observed applications, newest first. */
  projects: Project[];
  first_trace: FirstTrace | null;
  harnesses: HarnessView[];
  presets: Preset[];
  /** Model skills with all their secrets. */
  models: Skill[];
  /** The newest session. */
  session: Run | null;
}

/** The newest trace of the newest projects. */
async function find_trace(projects: Project[], signal: AbortSignal): Promise<FirstTrace | null> {
  for (const project of projects.slice(0, 3)) {
    const page = await api.page<TraceRow>(`/v1/projects/${segment(project.id)}/trace_rows`, { limit: 1 }, signal);
    const trace = page.rows[0];
    if (trace) return { project: project.name, trace };
  }
  return null;
}

export async function load_connected(signal: AbortSignal): Promise<Connected> {
  const of = { space: space.value?.id };
  const [all, harnesses, presets, models, sessions] = await Promise.all([
    api.list<Project>("/v1/projects", of, signal),
    api.get<HarnessView[]>("/v1/harnesses", of, signal),
    can("preset_read") ? api.list<Preset>("/v1/presets", of, signal) : [],
    can("skill_read") ? api.list<Skill>("/v1/skills", { ...of, type: "model" }, signal) : [],
    can("run_read") ? api.page<Run>("/v1/runs", { ...of, origin: "session", limit: 1 }, signal) : { rows: [] },
  ]);
  const projects = all
    .filter((project) => !own_projects.includes(project.name))
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  return {
    projects,
    first_trace: await find_trace(projects, signal),
    harnesses,
    presets,
    models: models.filter((skill) => skill.missing.length === 0),
    session: sessions.rows[0] ?? null,
  };
}

/** The key that was created on this page. Its secret is in memory only. */
export const created_key = signal<CreatedKey | null>(null);

/** For the examples: never the key of another user or space. */
export function own_key(): CreatedKey | null {
  const key = created_key.value;
  return key && key.user_id === user.value?.id && key.space_id === space.value?.id ? key : null;
}

/** A new model is being tested: it is not listed before it has responded. */
export const testing = signal(false);

export const variable_of = (skill: Skill, name: string) =>
  skill.variables.find((variable) => variable.name === name)?.value ?? "";

const tested_key = (skill: string) => `model_tested/${skill}`;

/** The model that responded to a test call from this browser; null: none was sent. */
export const tested_model = (skill: Skill) => read_stored(tested_key(skill.id));

const providers: Record<string, string> = { anthropic: "ANTHROPIC", openai: "OPENAI", gemini: "GOOGLE" };
const test_timeout = 60_000;

/** Sends one short prompt; the error of the provider is thrown. */
export async function test_model(skill: Skill, model: string): Promise<void> {
  const prompt_version = version_of({
    provider: providers[variable_of(skill, "PROTOCOL")] ?? "OPENAI",
    model,
    format: "NONE",
    messages: [{ role: "user", content: "Reply with the word ready.", is_parts: false }],
    parameters: "",
    tools: "",
    response_format: "",
  });
  const body = { prompt_version, skill: skill.id, timeout_ms: test_timeout };
  let outcome = "The connection to the server was lost.";
  await post_events("/v1/playground/run", { space: space.value?.id }, body, new AbortController().signal, (event) => {
    if (event.event === "done") outcome = "";
    if (event.event === "error") outcome = (JSON.parse(event.data) as { message?: string }).message ?? event.data;
  });
  if (outcome !== "") throw new Error(outcome);
  write_stored(tested_key(skill.id), model);
}

export interface Worker {
  harness: HarnessView;
  skill: Skill;
}

/** An installed agent and a model it can use; null: only the fixed analysis can run. */
export function agent_of({ harnesses, models }: Connected): Worker | null {
  for (const skill of models)
    for (const harness of harnesses)
      if (harness.ready && harness.protocols.includes(variable_of(skill, "PROTOCOL"))) return { harness, skill };
  return null;
}

/** The session has a result. */
export const has_result = (run: Run | null) =>
  run?.state === "succeeded" || (run?.state === "waiting" && run.reason === "");
