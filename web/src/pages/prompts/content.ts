// The content of a version of a prompt, as the API has it.

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
