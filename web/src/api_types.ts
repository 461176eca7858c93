// Printed by `hone print types` from the server's route table. Do not edit.

export interface AttributeKeyCount {
  key: string;
  /** Spans. */
  count: number;
}

export interface AuditEntry {
  /** 1, 2, 3 … without gaps over the whole installation. */
  seq: number;
  time: string;
  /** null: an entry of the installation. */
  space_id: string | null;
  actor_kind: CallerKind;
  actor_id: string;
  actor_name: string;
  /** Resource and action: project_create. */
  action: string;
  /** Id of what was acted on. */
  target: string;
  details: unknown;
  peer: string;
  request_id: string;
  /** Hash of the entry before. */
  prev_hash: string;
  /** BLAKE2b over this entry and prev_hash. */
  hash: string;
}

export interface AuditVerification {
  /** Every entry is there and unchanged. */
  ok: boolean;
  /** Entries checked. */
  entries: number;
  /** Hash of the newest entry; note it elsewhere to detect a cut log. */
  head_hash: string;
  first_bad_seq: number | null;
  message: string;
}

export interface Binding {
  /** A user id or the id of a service key. */
  principal: string;
  name: string;
  role: Role;
  created_at: string;
}

export type CallerKind = "guest" | "user" | "key" | "system";

export interface ComparisonView {
  baseline_after: string;
  baseline_before: string;
  after: string;
  before: string;
  /** All spans. */
  all: GroupChange;
  /** The largest first; none without group_by. */
  groups: GroupChange[];
  /** There are more groups. */
  is_cut: boolean;
}

export interface Conversation {
  /** Messages sent to the model. */
  input: Message[];
  /** Messages the model answered. */
  output: Message[];
  /** Documents retrieved or reranked. */
  documents: Document[];
  /** JSON schemas of the tools offered. */
  tools: string[];
  /** Template of the prompt, if recorded. */
  prompt_template: PromptTemplate | null;
}

export interface DiskView {
  spans: number;
  /** The project's share of the compressed parts. */
  bytes: number;
  /** Start of the oldest span. */
  oldest: string | null;
  /** Start of the newest span. */
  newest: string | null;
  /** 0: for ever. */
  retention_days: number;
}

export interface Document {
  /** The document's id. */
  id: string;
  /** Its text. */
  content: string;
  /** Relevance as the retriever or reranker gave it. */
  score: number | null;
  /** JSON text. */
  metadata: string;
}

export type EvalKind = "human" | "llm" | "code" | "agent";

export type EvalTarget = "span" | "trace" | "chat_session";

export interface EvalView {
  id: string;
  target: EvalTarget;
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  name: string;
  /** Tells several with one name apart. */
  identifier: string;
  /** Who made it. */
  annotator: string;
  kind: EvalKind;
  label: string;
  score: number | null;
  explanation: string;
  metadata: unknown;
  created_at: string;
  updated_at: string;
  /** Only in the history. */
  deleted: boolean;
}

export interface FacetValue {
  value: string;
  /** Spans. */
  count: number;
}

export interface FilterFieldInfo {
  name: string;
  /** text, number, duration, money, time, flag, or the allowed words. */
  type: string;
  doc: string;
}

export interface GroupChange {
  /** Empty for the whole. */
  group: string;
  metrics: MetricChange[];
}

export interface Invite {
  id: string;
  space_id: string;
  email: string;
  role: Role;
  /** The user or key that made it. */
  created_by: string;
  created_at: string;
  expires_at: string;
  state: InviteState;
  /** Path of the page that accepts it; only in the answer that creates it. */
  path: string | null;
}

export interface InviteInfo {
  email: string;
  role: Role;
  space_name: string;
  expires_at: string;
  /** Accept with the password of the existing account. */
  user_exists: boolean;
}

export type InviteState = "open" | "accepted" | "revoked" | "expired";

export interface Key {
  id: string;
  name: string;
  kind: KeyKind;
  /** The first characters, to recognise it by. */
  prefix: string;
  /** The one space it works in. */
  space_id: string;
  /** Of a personal key. */
  user_id: string | null;
  /** Of a service key. */
  role: Role | null;
  /** Permission names, or all, or read. */
  scopes: string[];
  created_by: string;
  created_at: string;
  expires_at: string | null;
  /** To within a minute. */
  last_used_at: string | null;
  revoked_at: string | null;
  state: KeyState;
  /** The key itself; only in the answer that creates it. */
  key: string | null;
}

export type KeyKind = "personal" | "service";

export type KeyState = "active" | "expired" | "revoked";

export interface LedgerView {
  /** stored + repeated + pending + rejected, always. */
  received: number;
  stored: number;
  /** Sent again, and left out. */
  repeated: number;
  /** On disk, on their way to the engine. */
  pending: number;
  rejected: number;
  rejected_by_reason: Record<string, number>;
  /** Spans with values cut to the limit. */
  truncated: number;
  /** Values replaced by redaction. */
  redacted: number;
  /** Bytes of rows written. */
  bytes: number;
}

export interface LoginSession {
  id: string;
  created_at: string;
  /** To within a minute. */
  last_seen_at: string;
  expires_at: string;
  /** Address it was made from. */
  peer: string;
  user_agent: string;
  /** The one this request came with. */
  current: boolean;
}

export interface Me {
  /** null for a service key. */
  user: User | null;
  /** The API key the request came with. */
  key: Key | null;
  /** The caller's spaces, at most 1000. */
  spaces: Space[];
  installation_permissions: string[];
  /** Goes into X-CSRF-Token on writes with a cookie. */
  csrf_token: string | null;
  /** The password was generated and printed once. */
  must_change_password: boolean;
}

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  disabled: boolean;
  /** Member since. */
  created_at: string;
  last_login_at: string | null;
}

export interface Message {
  /** system, user, assistant, tool, or what the instrumentation says. */
  role: string;
  /** Text; parts are joined by line ends, media stand as [image]. */
  content: string;
  /** The call that a tool's message answers. */
  tool_call_id: string;
  /** Calls the assistant asks for. */
  tool_calls: ToolCall[];
}

export interface MetricChange {
  /** Latencies are nanoseconds, costs dollars, rates 0 to 1. */
  metric: string;
  /** Null where there is none. */
  baseline: number | null;
  /** Null where there is none. */
  current: number | null;
  /** current - baseline. */
  difference: number | null;
  /** current / baseline; null when the baseline is 0. */
  ratio: number | null;
}

export interface PermissionInfo {
  name: string;
  doc: string;
  /** Held by installation owners only. */
  installation: boolean;
}

export interface Project {
  id: string;
  name: string;
  description: string;
  space_id: string;
  /** Only users and keys with a binding see it. */
  restricted: boolean;
  /** Days spans are kept; null: the server's default. */
  retention_days: number | null;
  created_at: string;
}

export interface ProjectTraceSettings {
  /** Disk for the project's spans; over it the oldest go, beside the retention by days. */
  retention_bytes?: number | null;
  /** More are refused until the next day (UTC). */
  spans_per_day?: number | null;
  /** The same for the size of spans. */
  bytes_per_day?: number | null;
  /** Share of traces that is kept, 0 to 1; null: all. */
  sample?: number | null;
  /** What is taken out of spans before they are stored. */
  redaction?: RedactionSettings | null;
}

export interface ProjectTraceSettingsView {
  settings: ProjectTraceSettings;
  /** Since midnight, UTC. */
  used_today: UseToday;
}

export interface PromptTemplate {
  /** The template. */
  text: string;
  /** JSON text. */
  variables: string;
  /** The template's version. */
  version: string;
}

export interface RedactionSettings {
  keys?: string[];
  patterns?: string[];
  secrets?: boolean;
  emails?: boolean;
}

export type Role = "viewer" | "annotator" | "member" | "admin" | "owner";

export interface RoleInfo {
  role: Role;
  doc: string;
  permissions: string[];
}

export interface SavedView {
  /** The list it is of: traces or sessions. */
  page: ViewPage;
  name: string;
  /** filter=…&range=…, as in the address of the page. */
  query: string;
  /** Shown when the page is opened without anything chosen. */
  is_default: boolean;
  /** Who saved it last. */
  saved_by: string;
  created_at: string;
  updated_at: string;
}

export interface SeriesBucket {
  /** Start of the bucket. */
  time: string;
  /** Empty without group_by. */
  group: string;
  /** One per metric, in their order; null where there is none. */
  values: (number | null)[];
}

export interface ServerInfo {
  version: string;
  started_at: string;
  schema_version: number;
  /** sqlite or postgres. */
  database: string;
  /** Disk used by the data directory. */
  data_dir_bytes: number;
  roles: RoleInfo[];
  permissions: PermissionInfo[];
  /** For installation owners; empty for others. */
  settings: SettingView[];
}

export interface SessionRow {
  session_id: string;
  user_id: string;
  start_time: string;
  end_time: string;
  duration_ns: number;
  traces: number;
  spans: number;
  /** Spans that failed. */
  errors: number;
  tokens: number;
  cost_micro_usd: number;
}

export interface SettingView {
  name: string;
  doc: string;
  /** Masked when it is a secret. */
  value: string;
  /** default, file, environment or flag. */
  source: string;
}

export interface Space {
  id: string;
  name: string;
  description: string;
  created_at: string;
  /** The caller's role. */
  role: Role | null;
  /** What the caller may do in this space. */
  permissions: string[];
}

export type SpanKind = "unknown" | "llm" | "chain" | "tool" | "retriever" | "embedding" | "agent" | "reranker" | "guardrail" | "evaluator";

export interface SpanPayload {
  span: SpanRow;
  /** Of the service. */
  version: string;
  finish_reason: string;
  exception_message: string;
  input: string;
  input_mime: string;
  output: string;
  output_mime: string;
  /** As they were sent; a JSON text where a key is repeated. */
  attributes: unknown;
  /** Attributes of the resource. */
  resource: unknown;
  /** Name, version and attributes of the instrumentation. */
  scope: unknown;
  events: unknown;
  links: unknown;
  conversation: Conversation;
  /** Attributes that were cut to the limit. */
  truncated: string[];
}

export interface SpanRow {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** 16 hexadecimal digits. */
  span_id: string;
  /** Empty for a root; the parent may be missing. */
  parent_id: string;
  name: string;
  kind: SpanKind;
  status: StatusCode;
  status_message: string;
  start_time: string;
  duration_ns: number;
  service: string;
  model: string;
  provider: string;
  tokens: TokenCounts;
  cost_micro_usd: number;
  user_id: string;
  /** The chat session. */
  session_id: string;
  tool_name: string;
  exception_type: string;
}

export interface SpanSeries {
  /** Latencies are nanoseconds, costs dollars, rates 0 to 1. */
  metrics: string[];
  /** Length of a bucket; 0: one for all. */
  bucket_ns: number;
  /** By time and group; empty buckets are left out. */
  buckets: SeriesBucket[];
}

export type StatusCode = "unset" | "ok" | "error";

export interface TokenCounts {
  /** Neither read from nor written to a cache. */
  input: number;
  cache_read: number;
  cache_write: number;
  /** Without reasoning. */
  output: number;
  reasoning: number;
  /** The sum of the others. */
  total: number;
}

export interface ToolCall {
  /** The call's id, which the tool's answer repeats. */
  id: string;
  /** The tool. */
  name: string;
  /** JSON text as the model wrote it. */
  arguments: string;
}

export interface TraceRow {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** Name of the root, or of the earliest span. */
  root_name: string;
  /** The chat session. */
  session_id: string;
  user_id: string;
  start_time: string;
  end_time: string;
  duration_ns: number;
  spans: number;
  /** Spans that failed. */
  errors: number;
  tokens: number;
  cost_micro_usd: number;
}

export interface TraceSkeleton {
  /** By start; parents may be missing. */
  spans: SpanRow[];
  /** The trace has more spans than are shown. */
  is_cut: boolean;
}

export interface UseToday {
  /** Counted only while there is a quota. */
  spans: number;
  bytes: number;
}

export interface User {
  id: string;
  /** Lower-case; the name to log in with. */
  email: string;
  name: string;
  /** May manage users, spaces and backups. */
  installation_owner: boolean;
  /** Cannot log in; its keys do not work. */
  disabled: boolean;
  created_at: string;
  last_login_at: string | null;
}

export interface AcceptInvite {
  /** Of a new user. */
  name?: string | null;
  /** A new one, or that of the existing account. */
  password: string;
}

export interface ChangePassword {
  current_password: string;
  /** At least 10 characters. */
  new_password: string;
}

export interface CreateInvite {
  email: string;
  role: Role;
}

export interface CreateKey {
  name: string;
  kind?: KeyKind;
  /** Permission names, or all (default), or read. */
  scopes?: string[] | null;
  /** Of a service key. */
  role?: Role | null;
  expires_at?: string | null;
  /** Instead of expires_at. */
  expires_in_days?: number | null;
}

export interface CreateProject {
  name: string;
  description?: string | null;
  /** Only users and keys with a binding see it. */
  restricted?: boolean;
  /** Days spans are kept; the server's default if not given. */
  retention_days?: number | null;
}

export interface CreateSpace {
  name: string;
  description?: string;
}

export interface LogIn {
  email: string;
  password: string;
}

export interface NewEval {
  target?: EvalTarget;
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  name: string;
  /** Tells several with one name apart; the same one is replaced. */
  identifier?: string | null;
  kind?: EvalKind;
  /** A label, a score or an explanation is needed. */
  label?: string | null;
  score?: number | null;
  explanation?: string | null;
  /** Anything. */
  metadata?: unknown | null;
}

export interface ReplaceProject {
  description?: string | null;
}

export interface RotateKey {
  /** How long the old key goes on working; 0 if not given. */
  grace_seconds?: number;
}

export interface RunSql {
  /** Id or name; the query sees nothing else. */
  project: string;
  /** One SELECT over spans, evals, traces and chat_sessions. */
  sql: string;
  format?: SqlFormat;
  /** Rows, at most 100000; 10000 if not given. */
  limit?: number | null;
}

export interface SetRole {
  role: Role;
}

export type SqlFormat = "json" | "json_lines" | "csv" | "arrow" | "parquet";

export interface UpdateMe {
  name?: string | null;
}

export interface UpdateProject {
  name?: string | null;
  description?: string | null;
  restricted?: boolean | null;
  /** null: back to the server's default. */
  retention_days?: number | null;
}

export interface UpdateSpace {
  name?: string | null;
  description?: string | null;
}

export interface UpdateUser {
  name?: string | null;
  disabled?: boolean | null;
  installation_owner?: boolean | null;
}

export interface WriteEvals {
  /** At most 1000. */
  data: NewEval[];
}

export type ViewPage = "traces" | "sessions";
