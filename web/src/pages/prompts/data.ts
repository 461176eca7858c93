// Shared by the pages about prompts: API routes, loading, a version as text.

import { api, segment } from "../../api";
import type { PromptView } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";
import { content_of, type TemplateMessage } from "./content";

export { content_of, type TemplateMessage };

export const prompt_route = (id: string, part = "") => `/v1/prompts/${segment(id)}${part === "" ? "" : `/${part}`}`;

export function list_prompts(signal: AbortSignal): Promise<PromptView[]> {
  return api.list<PromptView>("/v1/prompts", { space: space.value?.id }, signal);
}

export async function prompts_changed(): Promise<void> {
  await reload("prompt");
}

/** The text of a message; parts that are no text as JSON. */
export function message_text(message: TemplateMessage): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? (part.text ?? "") : JSON.stringify(part))).join("\n");
}

/** Everything of a version as one text, for differences. */
export function version_text(content: unknown): string {
  const version = content_of(content);
  const parts = [`model: ${version.model_provider ?? ""} ${version.model_name ?? ""}`];
  const type = String(version.invocation_parameters?.type ?? "");
  const parameters = version.invocation_parameters?.[type];
  if (parameters && Object.keys(parameters).length > 0)
    parts.push(`parameters: ${JSON.stringify(parameters, null, 2)}`);
  for (const message of version.template?.messages ?? []) parts.push(`[${message.role}]\n${message_text(message)}`);
  if (version.tools) parts.push(`tools: ${JSON.stringify(version.tools, null, 2)}`);
  if (version.response_format) parts.push(`response format: ${JSON.stringify(version.response_format, null, 2)}`);
  return parts.join("\n\n");
}

/** The last event of a call of the playground. */
export interface PlaygroundReply {
  text: string;
  tool_calls: { id: string; name: string; arguments: string }[];
  finish_reason: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  /** Beside these: not reported by the provider. */
  estimated_tokens: number;
  /** null: the model has no price. */
  cost_micro_usd: number | null;
  duration_ms: number;
  first_text_ms: number | null;
  project_id: string;
  trace_id: string | null;
}
