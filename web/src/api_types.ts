// Printed by `hone print types` from the server's route table. Do not edit.

export interface AnnotationResult {
  label: string | null;
  score: number | null;
  explanation: string | null;
}

export type AnnotatorKind = "HUMAN" | "LLM" | "CODE";

export interface Artifact {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Project of the run. */
  project_id: string;
  /** Run that left it. */
  run_id: string;
  kind: ArtifactKind;
  /** Unique among the run's artifacts of its kind; saving it again replaces it. */
  name: string;
  /** A sentence or two. */
  summary: string;
  /** From the content itself, never as claimed. */
  media_type: string;
  /** Size. */
  bytes: number;
  /** BLAKE2b of the content. */
  digest: string;
  review: ReviewState;
  /** Who. */
  reviewer: string | null;
  /** What they said about it. */
  comment: string;
  /** When. */
  reviewed_at: string | null;
  /** When the approval took effect, for kinds that have one. */
  applied_at: string | null;
  /** When it was saved, the last time. */
  created_at: string;
}

export type ArtifactKind = "investigation" | "labels" | "file";

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

export interface Budget {
  /** Tokens of all model calls of one run; none: no limit. */
  tokens: number | null;
  /** Cost of one run in millionths of a US dollar. */
  cost_micro_usd: number | null;
  /** From here on the worker is told to wrap up. */
  soft_percent: number;
}

export type CallerKind = "guest" | "user" | "key" | "system";

export interface ChatSession {
  /** Names the session with its project. */
  id: string;
  /** The application's session.id. */
  session_id: string;
  project_id: string;
  start_time: string;
  end_time: string;
  /** By start. */
  traces: SessionTrace[];
  /** Input, from caches too. */
  token_count_prompt: number;
  /** Output and reasoning. */
  token_count_completion: number;
  token_count_total: number;
}

export interface ComparisonView {
  baseline_after: string;
  baseline_before: string;
  after: string;
  before: string;
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

export interface Declared {
  /** Name of the environment variable. */
  name: string;
  /** Kept encrypted and never shown. */
  secret: boolean;
  required: boolean;
  /** Of a plain variable. */
  default_value: string;
  help: string;
  /** Header that carries the secret; empty: any that holds the placeholder. */
  header: string;
  /** Value of the header, {} for the secret: Bearer {}. */
  format: string;
  /** Where the secret may go. */
  hosts: Host[];
}

export interface DeletedSpans {
  /** How many are gone. */
  spans: number;
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

export type EgressMode = "none" | "allowlist" | "open";

export interface EncryptionState {
  /** Id of the master key; says nothing about the key itself. */
  master_key: string;
  /** Where it comes from: file, environment or command. */
  source: string;
  /** One per space that has secrets, and one of the installation. */
  data_keys: number;
  /** Secrets of the whole installation. */
  secrets: number;
  /** When the oldest data key was made. */
  oldest_data_key_at: string | null;
}

export interface EnvMatch {
  /** As it stands in the text. */
  name: string;
  /** Variable of the skill that it would set. */
  variable: string;
  /** It would be kept as a secret. */
  secret: boolean;
  /** It has a value already. */
  replaces: boolean;
  line: number;
}

export interface EnvPreview {
  /** What would be set. */
  matches: EnvMatch[];
  /** Names that the skill does not have; they would be left out. */
  unknown: string[];
  /** Lines that could not be read. */
  problems: string[];
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

export type EventKind = "message" | "thinking" | "tool_call" | "tool_result" | "usage" | "status" | "error" | "result" | "artifact" | "follow_up";

export interface Explanation {
  method: string;
  /** As the broker reads it: host in lower case, without query. */
  url: string;
  /** By the rules. Private and local addresses are refused even then. */
  allowed: boolean;
  /** What decided. */
  rule: string;
  /** In one sentence. */
  reason: string;
  /** The broker sees method and path; else TLS passes untouched. */
  inspected: boolean;
  /** Names of the secrets that may be put into this request. */
  secrets: string[];
}

export type Exposure = "brokered" | "env";

export interface FacetValue {
  value: string;
  /** Spans. */
  count: number;
}

export interface FileView {
  path: string;
  bytes: number;
  executable: boolean;
  /** null when it is not text, or longer than 64 KiB. */
  text: string | null;
}

export interface FilterFieldInfo {
  name: string;
  /** text, number, duration, money, time, flag, or the allowed words. */
  type: string;
  doc: string;
}

export interface FolderInfo {
  /** BLAKE2b of names and contents. */
  hash: string;
  /** As SKILL.md says. */
  name: string;
  /** As SKILL.md says. */
  description: string;
  files: number;
  bytes: number;
}

export interface GitSource {
  /** https address of the repository. */
  url: string;
  /** Branch, tag or commit; empty: the default branch. */
  ref: string;
  /** Folder in the repository that holds SKILL.md; empty: the top. */
  path: string;
}

export interface GroupChange {
  /** Empty for the whole. */
  group: string;
  metrics: MetricChange[];
}

export interface HarnessView {
  /** As presets name it. */
  name: string;
  /** For people. */
  title: string;
  /** Model protocols it speaks; none: it needs no model. */
  protocols: string[];
  /** Takes a message while it works. */
  live_follow_up: boolean;
  /** Remembers its conversation in a new sandbox. */
  resumes: boolean;
  /** Can be used on this server. */
  ready: boolean;
  /** Installed version. */
  version: string | null;
  /** What to do when it is not ready. */
  advice: string | null;
}

export interface Host {
  /** Exact name, or *.example.com for every name below example.com. */
  host: string;
  /** 443 if not given. */
  port: number;
  /** true if not given; a secret never goes to a host without TLS. */
  tls: boolean;
  /** Such as GET; all if empty. */
  methods: string[];
  /** Whole path segments: /v1 covers /v1/x, not /v10. */
  path_prefix: string;
  /** Allows the upgrade to a WebSocket. */
  websocket: boolean;
}

export interface ImportProblemView {
  /** From 1: the line, or the row of a Parquet file. */
  line: number;
  reason: string;
}

export interface ImportReportView {
  /** Spans on disk; repeated ones count in the ledger only. */
  accepted: number;
  rejected: number;
  /** The first hundred. */
  problems: ImportProblemView[];
  has_more_problems: boolean;
}

export type InitFailure = "abort" | "degrade";

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

export interface Manifest {
  /** Preset, when one was used. */
  preset: string | null;
  /** Its name at that time. */
  preset_name: string | null;
  /** Its version. */
  preset_version: number | null;
  settings: Settings;
  /** First prompt. */
  prompt: string;
  /** Version of the harness's program. */
  harness_version: string;
  /** Wall that was used. */
  tier: string;
  /** Prepared layers by hash. */
  layers: string[];
  /** Repositories and commits. */
  repos: Repo[];
  /** Skills and versions. */
  skills: string[];
  /** Names of the secrets it could use through the broker. */
  secrets: string[];
  /** Oldest span of the project at the start. */
  data_from: string | null;
  /** Newest span of the project at the start. */
  data_to: string | null;
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

export interface ModelUsageView {
  /** The day, model, run, automation or project; empty: none. */
  group: string;
  /** Model calls. */
  calls: number;
  /** Calls without the provider's final numbers. */
  incomplete_calls: number;
  /** Calls that were not answered, or with an error. */
  failed_calls: number;
  /** Neither read from nor written to a cache. */
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Without reasoning, where the provider tells it apart. */
  output_tokens: number;
  reasoning_tokens: number;
  /** Sum of the five, as the providers counted. */
  total_tokens: number;
  /** Of calls that broke off: what was probably used beyond the provider's numbers. Counts for budgets. */
  estimated_tokens: number;
  /** Millionths of a US dollar, by the price table. */
  cost_micro_usd: number;
  /** Calls to models without a price: tokens only. */
  unpriced_calls: number;
}

export type Origin = "session" | "automation";

export interface OutputPolicies {
  investigation: OutputPolicy;
  labels: OutputPolicy;
  file: OutputPolicy;
  branch: OutputPolicy;
}

export type OutputPolicy = "auto" | "review";

export interface PermissionInfo {
  name: string;
  doc: string;
  /** Held by installation owners only. */
  installation: boolean;
}

export interface Preset {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Unique in its space. */
  name: string;
  /** What it is for. */
  description: string;
  /** Grows with every change of the settings. */
  version: number;
  settings: Settings;
  /** When it was made. */
  created_at: string;
  /** When it was changed last. */
  updated_at: string;
}

export interface PresetVersion {
  /** Number, from 1. */
  version: number;
  settings: Settings;
  /** Who made it. */
  changed_by: string;
  /** When. */
  changed_at: string;
  /** What differs from the version before: `model: a → b`. */
  changed: string[];
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
  retention_bytes: number | null;
  /** More are refused until the next day (UTC). */
  spans_per_day: number | null;
  /** The same for the size of spans. */
  bytes_per_day: number | null;
  /** Share of traces that is kept, 0 to 1; null: all. */
  sample: number | null;
  /** What is taken out of spans before they are stored. */
  redaction: RedactionSettings | null;
}

export interface ProjectTraceSettingsView {
  settings: ProjectTraceSettings;
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

export interface Reach {
  skill_id: string;
  skill_name: string;
  /** brokered, open (no secret), env, model, gateway, or plain. */
  kind: string;
  /** null for what is only in the environment. */
  host: Host | null;
  /** Variable that the worker sees. */
  variable: string;
  /** Secret that goes with the request; empty: none. */
  secret_name: string;
  header: string;
  format: string;
  /** In words. */
  detail: string;
}

export interface RedactionSettings {
  /** Attributes whose values go; a * at the end matches any rest. */
  keys: string[];
  /** Regular expressions (RE2); what matches goes. */
  patterns: string[];
  /** Keys, tokens and private keys of known shapes go. */
  secrets: boolean;
  /** E-mail addresses go. */
  emails: boolean;
}

export type Reminder = "old" | "unused";

export interface Repo {
  /** Where it came from. */
  url: string;
  /** What was checked out. */
  commit: string;
}

export interface RepoSettings {
  /** Address to clone from: https, or file for one on the server. */
  url: string;
  /** Branch, tag or commit; empty: the default branch. */
  ref: string;
  /** Folder that matters in a large repository. */
  path: string;
}

export type ReviewState = "pending" | "approved" | "rejected" | "changes_requested";

export type Role = "viewer" | "annotator" | "member" | "admin" | "owner";

export interface RoleInfo {
  role: Role;
  doc: string;
  permissions: string[];
}

export interface Rotation {
  /** master or data. */
  what: string;
  /** Id of the master key that is used now. */
  master_key: string;
  /** Data keys that were wrapped anew (master) or made (data). */
  data_keys: number;
  /** Secrets that were encrypted anew. */
  secrets: number;
}

export interface Run {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Project it is bound to. */
  project_id: string;
  origin: Origin;
  /** Preset, when one was used. */
  preset_id: string | null;
  /** Its name at that time. */
  preset_name: string | null;
  /** Automation that fired. */
  automation_id: string | null;
  /** First line of the prompt, unless one was given. */
  title: string;
  /** Harness. */
  harness: string;
  /** Model; empty when the harness needs none. */
  model: string;
  state: State;
  /** Why it is in that state, when that needs words. */
  reason: string;
  /** E-mail address, key or automation. */
  started_by: string;
  /** Higher goes first. */
  priority: number;
  /** Turns so far. */
  turns: number;
  /** Sequence number of its newest event. */
  last_event: number;
  usage: Usage;
  /** Cost; null when a model's price is unknown. */
  cost_micro_usd: number | null;
  /** Run it repeats or was forked from. */
  from_run: string | null;
  /** Its trace in the project hone-runs. */
  trace_id: string;
  /** Whether something can be said to it now. */
  takes_follow_ups: boolean;
  /** When it was asked for. */
  created_at: string;
  /** When its first sandbox was made. */
  started_at: string | null;
  /** When it was over. */
  ended_at: string | null;
}

export interface RunEvent {
  /** Sequence number, from 1. */
  seq: number;
  /** When it happened. */
  time: string;
  kind: EventKind;
  /** Turn it belongs to; 0 before the first. */
  turn: number;
  /** Words, output, message. */
  text: string;
  /** Step of preparing: provision, clone, layers, init, skills, project, harness. */
  step: string | null;
  /** New state of the run. */
  state: State | null;
  /** Tool that was called. */
  tool: string | null;
  /** Ties a result to its call. */
  call_id: string | null;
  /** Arguments of a call, as JSON text. */
  input: string | null;
  /** Who said it, for a follow-up. */
  author: string | null;
  /** Artifact that was left. */
  artifact: string | null;
  /** Tokens as the harness counts them. */
  usage: Usage | null;
  /** It went wrong. */
  failed: boolean;
  /** Text or input is cut; GET …/events/{seq} has more. */
  truncated: boolean;
}

export interface SandboxSettings {
  /** `host` (the machine's /usr, read-only) or the name of an image. */
  image: string;
  /** Shell script that prepares the root, once per content. */
  init_script: string;
  init_failure: InitFailure;
  /** Time the init script has. */
  init_seconds: number;
  /** Environment variables; not for secrets. */
  env: Record<string, string>;
  /** Memory of all processes. */
  memory_bytes: number;
  /** Processors' worth of time. */
  cpus: number;
  /** Processes and threads at once. */
  pids: number;
  /** Size of the workspace. */
  disk_bytes: number;
  /** Life of one sandbox; at most 1440. */
  wall_clock_minutes: number;
  /** A waiting session's sandbox is ended after this long. */
  idle_minutes: number;
  network: EgressMode;
  /** Further hosts: `host` or `host:port`, `*.example.com`. */
  allow_hosts: string[];
  minimum_tier: Tier;
}

export interface SavedView {
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

export interface SearchHit {
  span: SpanRow;
  /** input or output. */
  field: string;
  /** The words around the first place. */
  snippet: string;
}

export interface SecretRow {
  id: string;
  name: string;
  skill_id: string;
  skill_name: string;
  skill_type: SkillType;
  scope: SkillScope;
  exposure: Exposure;
  created_by: string;
  created_at: string;
  /** When it was last replaced. */
  set_at: string;
  /** To within a minute. */
  last_used_at: string | null;
  /** old: replace it; unused: delete it. */
  reminders: Reminder[];
  /** Presets that use its skill. */
  used_by: number;
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

export interface SessionAnnotation {
  id: string;
  created_at: string;
  updated_at: string;
  /** APP: by a person; API: by a key. */
  source: string;
  /** Who, if a person. */
  user_id: string | null;
  name: string;
  annotator_kind: AnnotatorKind;
  result: AnnotationResult;
  metadata: unknown;
  identifier: string;
  session_id: string;
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

export interface SessionTrace {
  id: string;
  trace_id: string;
  start_time: string;
  end_time: string;
}

export interface SettingView {
  name: string;
  doc: string;
  /** Masked when it is a secret. */
  value: string;
  /** default, file, environment or flag. */
  source: string;
}

export interface Settings {
  /** claude-code, codex, opencode, gemini, qwen, command or playbook. */
  harness: string;
  /** Model name, as the provider of the model skill calls it. */
  model: string;
  /** Program and arguments of the harness `command`; name of a playbook. */
  command: string[];
  /** Added to the harness's own; at most 100,000 characters. */
  system_prompt: string;
  /** Ids of skills. */
  skills: string[];
  /** Repositories cloned into the workspace. */
  repos: RepoSettings[];
  sandbox: SandboxSettings;
  outputs: OutputPolicies;
  budget: Budget;
}

export interface Setup {
  /** Values of plain variables. */
  variables: Record<string, string>;
  /** Of each secret; brokered where nothing is said. */
  exposure: Record<string, Exposure>;
  /** Variables of a custom skill. */
  declared: Declared[];
  /** Hosts of a custom skill that need no secret. */
  allow: Host[];
  /** Repository that holds the skill's folder. */
  git: GitSource | null;
  /** The uploaded folder. */
  folder: FolderInfo | null;
}

export interface Share {
  space_id: string;
  /** Of the space. */
  name: string;
  created_at: string;
}

export interface Skill {
  id: string;
  name: string;
  type: SkillType;
  scope: SkillScope;
  /** null: of the installation. */
  space_id: string | null;
  description: string;
  /** Counts every change. */
  version: number;
  variables: VariableView[];
  /** Required variables without a value; a run cannot use the skill yet. */
  missing: string[];
  /** Hosts that can be reached without a secret. */
  allow: Host[];
  git: GitSource | null;
  folder: FolderInfo | null;
  /** For those who may share it; empty for others. */
  shared_with: Share[];
  used_by: Use[];
  created_by: string;
  created_at: string;
  updated_at: string;
}

export type SkillScope = "space" | "installation";

export type SkillType = "github" | "hone" | "datadog" | "dynatrace" | "model" | "custom";

export interface SkillTypeInfo {
  type: SkillType;
  title: string;
  summary: string;
  help: string;
  /** Empty for custom, which declares its own. */
  variables: SkillTypeVariable[];
  /** Where it may go, with variables in braces. */
  hosts: string[];
}

export interface SkillTypeVariable {
  name: string;
  secret: boolean;
  required: boolean;
  default_value: string;
  help: string;
  choices: string[];
}

export interface SkillVersion {
  version: number;
  /** What changed. */
  summary: string;
  /** Name of the user or key. */
  changed_by: string;
  changed_at: string;
  setup: Setup;
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

export interface SpaceBudget {
  /** Tokens of all model calls per day (UTC); null: no limit. */
  tokens_per_day: number | null;
  /** Cost of all model calls per day (UTC) in millionths of a US dollar; null: no limit. Calls to models without a price cost nothing here. */
  cost_micro_usd_per_day: number | null;
  /** From this share on workers are asked to finish, 1 to 100. */
  soft_percent: number;
}

export interface SpaceTraceSettings {
  /** Of all projects together; more are refused until the next day (UTC). */
  spans_per_day: number | null;
  /** The same for the size of spans. */
  bytes_per_day: number | null;
}

export interface SpaceTraceSettingsView {
  settings: SpaceTraceSettings;
  used_today: UseToday;
}

export interface Span {
  /** Names the span with its project. */
  id: string;
  name: string;
  context: SpanContext;
  /** LLM, CHAIN, TOOL, …, UNKNOWN. */
  span_kind: string;
  parent_id: string | null;
  start_time: string;
  end_time: string;
  /** OK, ERROR or UNSET. */
  status_code: string;
  status_message: string;
  /** As they were sent. */
  attributes: unknown;
  events: SpanEvent[];
}

export interface SpanAnnotation {
  id: string;
  created_at: string;
  updated_at: string;
  /** APP: by a person; API: by a key. */
  source: string;
  /** Who, if a person. */
  user_id: string | null;
  name: string;
  annotator_kind: AnnotatorKind;
  result: AnnotationResult;
  metadata: unknown;
  identifier: string;
  span_id: string;
}

export interface SpanContext {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** 16 hexadecimal digits. */
  span_id: string;
}

export interface SpanEvent {
  name: string;
  timestamp: string;
  attributes: unknown;
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

export type State = "queued" | "preparing" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out" | "budget_stopped" | "lost";

export type StatusCode = "unset" | "ok" | "error";

export type Tier = "ns" | "gvisor";

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

export interface Trace {
  /** Names the trace with its project. */
  id: string;
  /** 32 hexadecimal digits. */
  trace_id: string;
  project_id: string;
  start_time: string;
  end_time: string;
  /** Input, from caches too. */
  token_count_prompt: number;
  /** Output and reasoning. */
  token_count_completion: number;
  token_count_total: number;
  /** With include_spans. */
  spans: TraceSpan[] | null;
}

export interface TraceAnnotation {
  id: string;
  created_at: string;
  updated_at: string;
  /** APP: by a person; API: by a key. */
  source: string;
  /** Who, if a person. */
  user_id: string | null;
  name: string;
  annotator_kind: AnnotatorKind;
  result: AnnotationResult;
  metadata: unknown;
  identifier: string;
  trace_id: string;
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

export interface TraceSpan {
  id: string;
  span_id: string;
  parent_id: string | null;
  name: string;
  span_kind: string;
  status_code: string;
  start_time: string;
  end_time: string;
}

export interface Usage {
  /** Tokens read that no cache held. */
  input: number;
  /** Tokens read from a cache. */
  cache_read: number;
  /** Tokens written to a cache. */
  cache_write: number;
  /** Tokens written, reasoning apart. */
  output: number;
  /** Tokens of reasoning. */
  reasoning: number;
}

export interface Use {
  /** Such as preset. */
  kind: string;
  id: string;
  name: string;
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

export interface VariableView {
  name: string;
  /** Its value is never shown. */
  secret: boolean;
  required: boolean;
  help: string;
  /** What it may be; empty: anything. */
  choices: string[];
  default_value: string;
  /** Of a plain variable. */
  value: string | null;
  /** A value was given. */
  set: boolean;
  /** Of a secret: brokered never enters the sandbox, env does. */
  exposure: Exposure | null;
  secret_id: string | null;
  /** When the secret was last set. */
  set_at: string | null;
  /** To within a minute. */
  last_used_at: string | null;
  /** old: set long ago; unused: not used for long. */
  reminders: Reminder[];
  /** Where the secret may go. */
  ways: Way[];
}

export type ViewPage = "traces" | "sessions";

export interface Way {
  /** Header that carries it; empty: any that holds the placeholder. */
  header: string;
  /** Value of the header, {} for the secret. */
  format: string;
  hosts: Host[];
}

export interface WrittenAnnotation {
  id: string;
}

export interface AcceptInvite {
  /** Of a new user. */
  name?: string | null;
  /** A new one, or that of the existing account. */
  password: string;
}

export interface AnnotateDocuments {
  /** At most 100000. */
  data: NewDocumentAnnotation[];
}

export interface AnnotateSessions {
  /** At most 100000. */
  data: NewSessionAnnotation[];
}

export interface AnnotateSpans {
  /** At most 100000. */
  data: NewSpanAnnotation[];
}

export interface AnnotateTraces {
  /** At most 100000. */
  data: NewTraceAnnotation[];
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

export interface CreatePreset {
  /** Unique in the space. */
  name: string;
  /** What it is for. */
  description?: string | null;
  settings: Settings;
}

export interface CreateProject {
  name: string;
  description?: string | null;
  /** Only users and keys with a binding see it. */
  restricted?: boolean;
  /** Days spans are kept; the server's default if not given. */
  retention_days?: number | null;
}

export interface CreateSessionNote {
  data: NewSessionNote;
}

export interface CreateSkill {
  name: string;
  type: SkillType;
  scope?: SkillScope;
  description?: string;
  /** Values of plain variables. */
  variables?: Record<string, string>;
  /** Values of secrets; they are never shown again. */
  secrets?: Record<string, string>;
  /** brokered (default) or env, of each secret. */
  exposure?: Record<string, Exposure>;
  /** Variables of a custom skill. */
  declared?: Declared[];
  /** Hosts of a custom skill that need no secret. */
  allow?: Host[];
  /** Repository that holds a custom skill's folder. */
  git?: GitSource | null;
  /** A .env file; names that the skill does not have are left out. */
  env_text?: string | null;
}

export interface CreateSpace {
  name: string;
  description?: string;
}

export interface CreateSpanNote {
  data: NewSpanNote;
}

export interface CreateSpans {
  /** Spans as GET gives them: name, context, span_kind, parent_id, start_time, end_time, status_code, status_message, attributes, events. */
  data: unknown[];
}

export interface CreateTraceNote {
  data: NewTraceNote;
}

export interface DeleteSessions {
  /** Ids or names; unknown ones are skipped. */
  session_identifiers: string[];
}

export interface DeleteSpans {
  /** Only spans that match; GET /v1/filter_fields lists fields. */
  filter?: string | null;
  /** Started at or after this time. */
  after?: string | null;
  /** Started before this time. */
  before?: string | null;
  /** Needed where neither filter nor time is given. */
  all?: boolean;
}

export interface ForkRun {
  /** What the fork is told first. */
  prompt: string;
}

export interface LogIn {
  email: string;
  password: string;
}

export interface NewDocumentAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Anything. */
  metadata?: unknown | null;
  /** The same name and identifier on the same target replaces. */
  identifier?: string;
  span_id: string;
  /** From 0. */
  document_position: number;
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

export interface NewSessionAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Anything. */
  metadata?: unknown | null;
  /** The same name and identifier on the same target replaces. */
  identifier?: string;
  session_id: string;
}

export interface NewSessionNote {
  session_id: string;
  note: string;
  /** The same one replaces; without one each note is a new one. */
  identifier?: string;
}

export interface NewSpanAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Anything. */
  metadata?: unknown | null;
  /** The same name and identifier on the same target replaces. */
  identifier?: string;
  span_id: string;
}

export interface NewSpanNote {
  span_id: string;
  note: string;
  /** The same one replaces; without one each note is a new one. */
  identifier?: string;
}

export interface NewTraceAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Anything. */
  metadata?: unknown | null;
  /** The same name and identifier on the same target replaces. */
  identifier?: string;
  trace_id: string;
}

export interface NewTraceNote {
  trace_id: string;
  note: string;
  /** The same one replaces; without one each note is a new one. */
  identifier?: string;
}

export interface PreviewEnv {
  /** Id of a skill; or give a type. */
  skill?: string | null;
  type?: SkillType | null;
  /** A .env file. Nothing is stored. */
  text: string;
}

export interface RepeatRun {
  /** Instead of the first prompt. */
  prompt?: string | null;
}

export interface ReplaceProject {
  description?: string | null;
}

export interface ReviewArtifact {
  decision: ReviewState;
  /** Why; needed for changes_requested. */
  comment?: string | null;
}

export interface RotateEncryption {
  what: RotateWhat;
  /** data keys of this space only. */
  space?: string | null;
}

export interface RotateKey {
  /** How long the old key goes on working; 0 if not given. */
  grace_seconds?: number;
}

export type RotateWhat = "master" | "data";

export interface RunSql {
  /** Id or name; the query sees nothing else. */
  project: string;
  /** One SELECT over spans, evals, traces and chat_sessions. */
  sql: string;
  format?: SqlFormat;
  /** Rows, at most 100000; 10000 if not given. */
  limit?: number | null;
}

export interface SaveView {
  /** filter=…&range=…, as in the address of the page. */
  query: string;
  /** Show it when the page is opened without anything chosen. */
  is_default?: boolean;
}

export interface SayToRun {
  /** The follow-up; at most 100,000 characters. */
  text: string;
}

export interface SetRole {
  role: Role;
}

export interface SetSecret {
  /** Never shown again. */
  value: string;
  /** brokered, or env: workers can read it. */
  exposure?: Exposure | null;
}

export type SqlFormat = "json" | "json_lines" | "csv" | "arrow" | "parquet";

export interface StartRun {
  /** Id or name of the project it is bound to. */
  project: string;
  /** What to do; at most 100,000 characters. */
  prompt: string;
  /** Id or name of a preset; else `settings`. */
  preset?: string | null;
  /** A worker for this session only; else `preset`. */
  settings?: Settings | null;
  /** Shown in lists; else the first line of the prompt. */
  title?: string | null;
  /** Higher goes first; -10 to 10. */
  priority?: number;
}

export interface UpdateMe {
  name?: string | null;
}

export interface UpdatePreset {
  /** Unique in the space. */
  name?: string | null;
  /** What it is for. */
  description?: string | null;
  /** All of them; makes a version when they differ. */
  settings?: Settings | null;
}

export interface UpdateProject {
  name?: string | null;
  description?: string | null;
  restricted?: boolean | null;
  /** null: back to the server's default. */
  retention_days?: number | null;
}

export interface UpdateSkill {
  name?: string | null;
  description?: string | null;
  /** Plain variables to set; null takes a value away. */
  variables?: Record<string, string | null>;
  /** Secrets to set; others stay. */
  secrets?: Record<string, string>;
  /** To env only together with the secret itself. */
  exposure?: Record<string, Exposure>;
  /** Replaces all. New hosts of a stored secret need it again. */
  declared?: Declared[] | null;
  /** Replaces all. */
  allow?: Host[] | null;
  /** null takes it away. */
  git?: GitSource | null;
  /** A .env file; names that the skill does not have are left out. */
  env_text?: string | null;
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
  /** At most 100000. */
  data: NewEval[];
}

