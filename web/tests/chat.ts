// A small conversation as an application sends it, for the specs about traces.

import type { APIRequestContext, Page } from "@playwright/test";
import { expect, type Person, unique } from "./fixtures";
import { new_span_id, type SentSpan, send_spans } from "./spans";

let key = "";

export async function api_key(admin: Person): Promise<string> {
  key ||= (await admin.send<{ key: string }>("POST", "/v1/keys", { name: unique("exporter") })).key;
  return key;
}

export const ids = { root: new_span_id(), chat: new_span_id(), lookup: new_span_id(), search: new_span_id() };

export const chat: SentSpan[] = [
  {
    name: "POST /chat",
    span_id: ids.root,
    duration: 4200,
    attributes: { "openinference.span.kind": "AGENT", "session.id": "visit-1", "user.id": "ada", "user.tier": "gold" },
  },
  {
    name: "chat completion",
    span_id: ids.chat,
    parent_id: ids.root,
    start: 200,
    duration: 3000,
    attributes: {
      "openinference.span.kind": "LLM",
      "llm.model_name": "small-1",
      "llm.token_count.prompt": 1200,
      "llm.token_count.completion": 180,
      "llm.input_messages.0.message.role": "user",
      "llm.input_messages.0.message.content": "Where is my order 4411?",
      "llm.output_messages.0.message.role": "assistant",
      "llm.output_messages.0.message.content": "It arrives on Tuesday.",
      "input.value": "Where is my order 4411?",
      "output.value": "It arrives on Tuesday.",
    },
  },
  {
    name: "lookup_order",
    span_id: ids.lookup,
    parent_id: ids.root,
    start: 3300,
    duration: 400,
    error: "upstream answered 429",
    attributes: { "openinference.span.kind": "TOOL", "tool.name": "lookup_order" },
    events: [{ name: "exception", attributes: { "exception.type": "RateLimit", "exception.message": "429" } }],
  },
  { name: "search docs", span_id: ids.search, parent_id: ids.lookup, start: 3400, duration: 120 },
];

export async function with_chat(request: APIRequestContext, url: string, admin: Person): Promise<[string, string]> {
  const project = unique("shop");
  const trace = await send_spans(request, url, await api_key(admin), project, chat);
  return [project, trace];
}

export async function open_trace(page: Page, project: string, trace: string): Promise<void> {
  await page.goto(`/s/default/projects/${project}/traces/${trace}`);
  await expect(page.getByRole("treegrid", { name: "Spans" })).toBeVisible();
}
