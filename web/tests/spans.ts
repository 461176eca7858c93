// Sends spans as an exporter would: OTLP in JSON, with an API key.

import { randomBytes } from "node:crypto";
import type { APIRequestContext } from "@playwright/test";
import { expect } from "./fixtures";

type AttributeValue = string | number | boolean;

export interface SentSpan {
  name: string;
  trace_id?: string;
  span_id?: string;
  parent_id?: string;
  /** Milliseconds after the start of the trace. */
  start?: number;
  duration?: number;
  error?: string;
  /** OTLP's number: 4 is a producer of messages, 5 a consumer. */
  kind?: number;
  attributes?: Record<string, AttributeValue>;
  events?: { name: string; attributes: Record<string, AttributeValue> }[];
}

export const new_trace_id = () => randomBytes(16).toString("hex");
export const new_span_id = () => randomBytes(8).toString("hex");

function attributes_of(values: Record<string, AttributeValue> = {}) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value:
      typeof value === "string"
        ? { stringValue: value }
        : typeof value === "boolean"
          ? { boolValue: value }
          : Number.isInteger(value)
            ? { intValue: String(value) }
            : { doubleValue: value },
  }));
}

function to_otlp(span: SentSpan, trace_id: string, begin: number) {
  const nanoseconds = (offset: number) => `${Math.round(begin + offset)}000000`;
  const start = span.start ?? 0;
  return {
    traceId: span.trace_id ?? trace_id,
    spanId: span.span_id ?? new_span_id(),
    parentSpanId: span.parent_id ?? "",
    name: span.name,
    kind: span.kind ?? 0,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(start + (span.duration ?? 100)),
    attributes: attributes_of(span.attributes),
    status: span.error === undefined ? { code: 1 } : { code: 2, message: span.error },
    events: (span.events ?? []).map((event) => ({
      name: event.name,
      timeUnixNano: nanoseconds(start + 1),
      attributes: attributes_of(event.attributes),
    })),
  };
}

/** Twenty calls of one tool, every second one fails. */
export const refused_lookups = () =>
  Array.from({ length: 20 }, (_, index) => ({
    name: "lookup_order",
    start: index * 10,
    ...(index % 2 ? { error: "429" } : {}),
  }));

/**
 * Spans without a trace id of their own make one trace; its id is returned. `ago` is how long since it began. When this
 * ends they can be asked for: a page reads its list once, and would miss what is only acknowledged.
 */
export async function send_spans(
  request: APIRequestContext,
  url: string,
  key: string,
  project: string,
  spans: SentSpan[],
  ago = 60_000,
  resource_attributes: Record<string, AttributeValue> = {},
): Promise<string> {
  const trace_id = new_trace_id();
  const begin = Date.now() - ago;
  const headers = { Authorization: `Bearer ${key}` };
  for (let at = 0; at < spans.length; at += 5000) {
    const part = spans.slice(at, at + 5000).map((span) => to_otlp(span, trace_id, begin));
    const resource = { attributes: attributes_of({ "service.name": "shop", ...resource_attributes }) };
    const response = await request.post(`${url}/v1/traces`, {
      headers: { ...headers, "x-project-name": project },
      data: { resourceSpans: [{ resource, scopeSpans: [{ spans: part }] }] },
    });
    expect(response.ok(), await response.text()).toBe(true);
  }
  const last = spans[spans.length - 1]?.trace_id ?? trace_id;
  await expect(async () => {
    const response = await request.get(`${url}/v1/projects/${project}/traces/${last}/skeleton`, { headers });
    expect(response.ok(), await response.text()).toBe(true);
  }).toPass({ timeout: 120_000 });
  return trace_id;
}
