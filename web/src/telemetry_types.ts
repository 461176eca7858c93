// The shapes of spans, traces and sessions as the API gives them.

export type SpanKindName =
  | "unknown"
  | "llm"
  | "chain"
  | "tool"
  | "retriever"
  | "embedding"
  | "agent"
  | "reranker"
  | "guardrail"
  | "evaluator";

export interface SpanTokens {
  input: number;
  cache_read: number;
  cache_write: number;
  output: number;
  reasoning: number;
  total: number;
}

export interface SpanRow {
  trace_id: string;
  span_id: string;
  parent_id: string;
  name: string;
  kind: SpanKindName;
  status: "unset" | "ok" | "error";
  status_message: string;
  start_time: string;
  duration_ns: number;
  service: string;
  model: string;
  provider: string;
  tokens: SpanTokens;
  cost_micro_usd: number;
  user_id: string;
  session_id: string;
  tool_name: string;
  exception_type: string;
}

export interface TraceRow {
  trace_id: string;
  root_name: string;
  session_id: string;
  user_id: string;
  start_time: string;
  end_time: string;
  duration_ns: number;
  spans: number;
  errors: number;
  tokens: number;
  cost_micro_usd: number;
}

export interface SessionRow {
  session_id: string;
  user_id: string;
  start_time: string;
  end_time: string;
  duration_ns: number;
  traces: number;
  spans: number;
  errors: number;
  tokens: number;
  cost_micro_usd: number;
}

export interface TraceSkeleton {
  spans: SpanRow[];
  /** The trace has more spans than one answer holds. */
  is_cut: boolean;
}

export interface Facet {
  value: string;
  count: number;
}

export interface FilterField {
  name: string;
  type: string;
  doc: string;
}

export interface AttributeKey {
  key: string;
  count: number;
}

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text as the model wrote it. */
  arguments: string;
}

export interface ChatMessage {
  role: string;
  content: string;
  tool_call_id: string;
  tool_calls: ToolCall[];
}

export interface SpanDocument {
  id: string;
  content: string;
  score: number | null;
  metadata: string;
}

export interface Conversation {
  input: ChatMessage[];
  output: ChatMessage[];
  documents: SpanDocument[];
  /** JSON schemas that were offered to the model. */
  tools: string[];
  prompt_template: { text: string; variables: string; version: string } | null;
}

export interface SpanPayload {
  span: SpanRow;
  version: string;
  finish_reason: string;
  exception_message: string;
  truncated: string[];
  input: string;
  input_mime: string;
  output: string;
  output_mime: string;
  attributes: unknown;
  resource: unknown;
  scope: unknown;
  events: unknown;
  links: unknown;
  conversation: Conversation;
}

export interface SeriesBucket {
  time: string;
  group: string;
  /** One per metric; null where there is none. */
  values: (number | null)[];
}

export interface SpanSeries {
  metrics: string[];
  bucket_ns: number;
  buckets: SeriesBucket[];
}

export interface EvalView {
  id: string;
  target: "span" | "trace" | "chat_session";
  target_id: string;
  name: string;
  identifier: string;
  annotator: string;
  kind: "human" | "llm" | "code" | "agent";
  label: string;
  score: number | null;
  explanation: string;
  metadata: unknown;
  created_at: string;
  updated_at: string;
  deleted: boolean;
}
