// A prompt while it is tried out in the playground: made from a stored version or from the span of a model call, and
// turned into the content of a version again.

import type { SpanPayload } from "../../api_types";
import { content_of, type TemplateMessage } from "./content";

export const providers = [
  "OPENAI",
  "ANTHROPIC",
  "GOOGLE",
  "AZURE_OPENAI",
  "DEEPSEEK",
  "XAI",
  "OLLAMA",
  "CEREBRAS",
  "FIREWORKS",
  "GROQ",
  "MOONSHOT",
  "PERPLEXITY",
  "TOGETHER",
];
export const formats = ["MUSTACHE", "F_STRING", "NONE"];
export const roles = ["system", "user", "assistant", "tool"];

export interface DraftMessage {
  role: string;
  /** Text, or the parts of the message as JSON. */
  content: string;
  is_parts: boolean;
}

export interface Draft {
  provider: string;
  model: string;
  format: string;
  messages: DraftMessage[];
  /** JSON texts; empty: none. */
  parameters: string;
  tools: string;
  response_format: string;
}

export const empty_draft = (): Draft => ({
  provider: "OPENAI",
  model: "",
  format: "MUSTACHE",
  messages: [{ role: "user", content: "", is_parts: false }],
  parameters: "",
  tools: "",
  response_format: "",
});

const pretty = (value: unknown) => JSON.stringify(value, null, 2);
const is_filled = (value: unknown) =>
  typeof value === "object" && value !== null && Object.keys(value as object).length > 0;

function message_of(message: TemplateMessage): DraftMessage {
  if (typeof message.content === "string") return { role: message.role, content: message.content, is_parts: false };
  const [only] = message.content;
  if (message.content.length === 1 && only?.type === "text")
    return { role: message.role, content: only.text ?? "", is_parts: false };
  return { role: message.role, content: pretty(message.content), is_parts: true };
}

/** The content of a stored version. */
export function draft_of_version(content: unknown): Draft {
  const version = content_of(content);
  const parameters = version.invocation_parameters?.[String(version.invocation_parameters?.type ?? "")];
  return {
    provider: version.model_provider ?? "OPENAI",
    model: version.model_name ?? "",
    format: version.template_format ?? "MUSTACHE",
    messages: (version.template?.messages ?? []).map(message_of),
    parameters: is_filled(parameters) ? pretty(parameters) : "",
    tools: is_filled(version.tools) ? pretty(version.tools) : "",
    response_format: is_filled(version.response_format) ? pretty(version.response_format) : "",
  };
}

function provider_of_span(payload: SpanPayload): string {
  const words = `${payload.span.provider} ${payload.span.model}`.toLowerCase();
  if (/anthropic|claude/.test(words)) return "ANTHROPIC";
  if (/google|gemini|vertex/.test(words)) return "GOOGLE";
  return providers.find((provider) => provider !== "OPENAI" && words.includes(provider.toLowerCase())) ?? "OPENAI";
}

/** A tool as instrumentations record it: in the words of OpenAI, Anthropic or Gemini. */
function function_of(text: string): unknown {
  try {
    const tool = JSON.parse(text) as Record<string, unknown>;
    const given = (tool.function ?? tool) as Record<string, unknown>;
    if (typeof given.name !== "string") return null;
    const parameters = given.parameters ?? given.input_schema;
    return {
      type: "function",
      function: {
        name: given.name,
        ...(given.description ? { description: given.description } : {}),
        ...(parameters ? { parameters } : {}),
      },
    };
  } catch {
    return null;
  }
}

// Of the request, but not a parameter of the model.
const not_parameters = new Set(["model", "messages", "system", "stream", "stream_options", "tools", "tool_choice"]);

function parameters_of_span(payload: SpanPayload): Record<string, unknown> {
  const stored = (payload.attributes as Record<string, unknown> | null)?.["llm.invocation_parameters"];
  try {
    const given = (typeof stored === "string" ? JSON.parse(stored) : stored) as Record<string, unknown> | undefined;
    return Object.fromEntries(Object.entries(given ?? {}).filter(([name]) => !not_parameters.has(name)));
  } catch {
    return {};
  }
}

/** The request of a model call, with its messages, tools and parameters. */
export function draft_of_span(payload: SpanPayload): Draft {
  const messages = payload.conversation.input.map((message): DraftMessage => {
    const calls = message.tool_calls.map((call) => ({
      type: "tool_call",
      tool_call_id: call.id,
      tool_call: { type: "function", name: call.name, arguments: call.arguments },
    }));
    const text = message.content === "" ? [] : [{ type: "text", text: message.content }];
    if (calls.length > 0) return { role: message.role, content: pretty([...text, ...calls]), is_parts: true };
    if (message.tool_call_id !== "") {
      const result = { type: "tool_result", tool_call_id: message.tool_call_id, tool_result: message.content };
      return { role: "tool", content: pretty([result]), is_parts: true };
    }
    return { role: message.role || "user", content: message.content, is_parts: false };
  });
  const tools = payload.conversation.tools.map(function_of).filter((tool) => tool !== null);
  const parameters = parameters_of_span(payload);
  return {
    provider: provider_of_span(payload),
    model: payload.span.model,
    // What was sent is text; braces in it are no variables.
    format: messages.some((message) => message.content.includes("{{")) ? "NONE" : "MUSTACHE",
    messages: messages.length > 0 ? messages : [{ role: "user", content: payload.input, is_parts: false }],
    parameters: is_filled(parameters) ? pretty(parameters) : "",
    tools: tools.length > 0 ? pretty({ type: "tools", tools }) : "",
    response_format: "",
  };
}

function object_in(text: string, what: string): Record<string, unknown> | null {
  if (text.trim() === "") return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error(`${what} must be a JSON object`);
  return value as Record<string, unknown>;
}

function stored_message(message: DraftMessage, index: number): TemplateMessage {
  if (!message.is_parts) return { role: message.role, content: message.content };
  try {
    const parts = JSON.parse(message.content) as TemplateMessage["content"];
    if (Array.isArray(parts)) return { role: message.role, content: parts };
  } catch {
    // Reported below.
  }
  throw new Error(`Message ${index + 1} must be a JSON list of parts`);
}

/** The content of a version, as POST /v1/prompts takes it. Throws an Error that names the field. */
export function version_of(draft: Draft): Record<string, unknown> {
  if (draft.model.trim() === "") throw new Error("Enter the name of a model");
  const type = draft.provider.toLowerCase();
  const tools = object_in(draft.tools, "Tools");
  const response_format = object_in(draft.response_format, "Response format");
  return {
    model_provider: draft.provider,
    model_name: draft.model.trim(),
    template_type: "CHAT",
    template_format: draft.format,
    template: { type: "chat", messages: draft.messages.map(stored_message) },
    invocation_parameters: { type, [type]: object_in(draft.parameters, "Parameters") ?? {} },
    ...(tools ? { tools } : {}),
    ...(response_format ? { response_format } : {}),
  };
}

/** Names of the variables of all messages, in their order. */
export function variables_of(draft: Draft): string[] {
  const names = new Set<string>();
  for (const message of draft.messages) {
    if (draft.format === "F_STRING") {
      const text = message.content.replaceAll("{{", "").replaceAll("}}", "");
      for (const [, name] of text.matchAll(/\{([^{}!:[\].\s]+)\}/g)) if (name) names.add(name);
    }
    if (draft.format !== "MUSTACHE") continue;
    let depth = 0;
    for (const [, sign, name] of message.content.matchAll(/\{\{\{?\s*([#^/&!]?)\s*([^{}\s]+)\s*\}?\}\}/g)) {
      if (sign === "/") depth--;
      // Inside a section names may belong to its items.
      else if (sign !== "!" && depth === 0 && name && name !== ".") names.add(name.split(".")[0] ?? name);
      if (sign === "#" || sign === "^") depth++;
    }
  }
  return [...names];
}

/** The value of a variable: JSON where it is an object or a list, else the text. */
export function variable_value(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
