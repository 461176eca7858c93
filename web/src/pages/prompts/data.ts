// Shared by the pages about prompts: API routes, loading, a version as text.

import { api, segment } from "../../api";
import type { PromptView } from "../../api_types";
import { reload } from "../../load";
import { space } from "../../login";

export const prompt_route = (id: string, part = "") => `/v1/prompts/${segment(id)}${part === "" ? "" : `/${part}`}`;

export function list_prompts(signal: AbortSignal): Promise<PromptView[]> {
  return api.list<PromptView>("/v1/prompts", { space: space.value?.id }, signal);
}

export async function prompts_changed(): Promise<void> {
  await reload("prompt");
}

export interface TemplateMessage {
  role: string;
  content: string | { type: string; text?: string }[];
}

interface VersionContent {
  model_provider?: string;
  model_name?: string;
  template_format?: string;
  template?: { messages?: TemplateMessage[] };
  invocation_parameters?: Record<string, unknown>;
  tools?: unknown;
  response_format?: unknown;
  description?: string;
}

export const content_of = (content: unknown) => (content ?? {}) as VersionContent;

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
