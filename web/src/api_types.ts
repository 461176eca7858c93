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
  /** Comment of the reviewer. */
  comment: string;
  /** When. */
  reviewed_at: string | null;
  /** When the approval took effect, for kinds that have one. */
  applied_at: string | null;
  /** When it was saved, the last time. */
  created_at: string;
}

export type ArtifactKind = "investigation" | "labels" | "file" | "branch";

export interface Attempt {
  /** The receiver accepted it. */
  ok: boolean;
  /** HTTP status of a webhook; null without a response, and for mail. */
  status: number | null;
  /** What to fix; empty when it is ok. */
  problem: string;
  took_ms: number;
}

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

export interface Automation {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Project its runs are bound to. */
  project_id: string;
  /** Its name. */
  project_name: string;
  /** Unique in its space. */
  name: string;
  /** What it is for. */
  description: string;
  /** Preset of its runs. */
  preset_id: string | null;
  /** Its name; null when it was deleted. */
  preset_name: string | null;
  /** The prompt of each run; a template. */
  prompt: string;
  trigger: Trigger;
  /** Scheduled times are recorded and skipped. */
  paused: boolean;
  /** Why it is paused. */
  pause_reason: string;
  overlap: Overlap;
  catch_up: CatchUp;
  /** It does not fire again within this time. */
  cool_off_seconds: number;
  budget: DayBudget;
  spent_today: Spent;
  /** So many failures in a row pause it; 0: never. */
  failure_limit: number;
  /** Failures in a row by now. */
  failure_streak: number;
  /** The part of Hone that it belongs to, such as signal. */
  managed_by: string | null;
  /** Whose rights its runs have. */
  created_by: string;
  /** When it was made. */
  created_at: string;
  /** When it was changed last. */
  updated_at: string;
  /** Its newest slot: a scheduled time and its outcome. */
  last_slot: Slot | null;
  /** cron: the next firing. metric: the next look. */
  next_at: string | null;
  /** webhook: the address that takes deliveries. */
  hook_path: string | null;
  /** webhook: signs deliveries. Shown once, when it is made. */
  hook_secret: string | null;
}

export interface BacklogView {
  /** Acknowledged spans that are not stored yet. */
  spans: number;
  /** What they take in the span log. */
  bytes: number;
  /** How long the oldest of them has waited. */
  oldest_wait_seconds: number;
  /** Failed attempts to store spans since the server started. */
  failures: number;
  /** The oldest has waited longer than `span_wait_limit`. */
  is_late: boolean;
  /** How many wait, how long and why; empty when they are not late. */
  problem: string;
  /** What to do about it; empty when they are not late. */
  advice: string;
}

export interface Binding {
  /** Id of a user or of a service key, or `signal`: the runs that Signal starts. */
  principal: string;
  name: string;
  role: Role;
  created_at: string;
}

export interface Branch {
  /** Artifact that stands for it. */
  artifact_id: string;
  /** Run that pushed it. */
  run_id: string;
  /** Repository. */
  repo_id: string;
  /** Its name. */
  repo_name: string;
  /** Name of the branch. */
  branch: string;
  /** Newest revision. */
  revision: number;
  /** Issue that it is to fix; empty: none. */
  fix_of: string;
  policy: ReviewPolicy;
}

export interface Budget {
  /** Tokens of all model calls of one run; none: no limit. */
  tokens: number | null;
  /** Cost of one run in millionths of a US dollar. */
  cost_micro_usd: number | null;
  /** From here on responses to the worker ask it to finish. */
  soft_percent: number;
}

export type CallerKind = "guest" | "user" | "key" | "system";

export type Capture = "none" | "metadata" | "full";

export type CatchUp = "coalesce" | "all" | "none";

export interface Ceilings {
  /** Most memory of one sandbox. */
  memory_bytes: number;
  /** Most processors of one sandbox. */
  cpus: number;
  /** Most processes and threads of one sandbox. */
  pids: number;
  /** Largest workspace. */
  disk_bytes: number;
  /** Longest life of one sandbox. */
  wall_clock_minutes: number;
  /** Token budget of a run whose settings name no budget; 0: none. */
  default_tokens: number;
}

export interface Change {
  /** When. */
  time: string;
  /** Signal, an e-mail address, a key or a run. */
  who: string;
  /** found, reopened, status, severity, title, assignee, merged, split, investigation, fix, monitor, evaluator, forge_issue. */
  what: string;
  /** `open → resolved: fixed in 1.9.1` */
  detail: string;
}

export type ChangeBy = "ratio" | "difference";

export type ChangeKind = "added" | "deleted" | "modified" | "renamed" | "copied";

export interface Chart {
  /** Oldest first. */
  points: ChartPoint[];
  /** How often it changed to triggered. */
  triggered: number;
  /** There are more points than one response holds. */
  is_cut: boolean;
}

export interface ChartPoint {
  at: string;
  value: number | null;
  samples: number;
  /** Below is bad. */
  lower: number | null;
  /** Above is bad. */
  upper: number | null;
  state: MonitorState;
  note: string;
}

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

export interface ClonedRepo {
  /** Where it came from. */
  url: string;
  /** What was checked out. */
  commit: string;
}

export interface Comment {
  /** Id. */
  id: string;
  /** What it is about. */
  artifact_id: string;
  /** First comment of its thread; null: it begins one. */
  reply_to: string | null;
  /** Revision that the lines belong to; 0 for artifacts without revisions. */
  revision: number;
  /** File; empty: the whole. */
  path: string;
  side: Side;
  /** Line of that file; null: the file as a whole. */
  line: number | null;
  /** Markdown. */
  body: string;
  /** Who wrote it. */
  author: string;
  /** Who closed the thread. */
  resolved_by: string | null;
  /** When the thread was closed; of its first comment. */
  resolved_at: string | null;
  /** When it was sent to the session. */
  told_at: string | null;
  /** When it was written. */
  created_at: string;
  /** When it was changed. */
  edited_at: string | null;
  /** The caller wrote it. */
  mine: boolean;
}

export interface Commit {
  /** Hash. */
  id: string;
  /** Name and mail address, as the worker wrote them. */
  author: string;
  /** Subject and body. */
  message: string;
}

export type CommitStyle = "keep" | "squash";

export type Comparator = "above" | "at_least" | "below" | "at_most";

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

export interface Condition {
  type: ConditionType;
  /** Which side is bad: above (if not given), below; outside: both, for automatic. */
  direction: Direction | null;
  /** threshold: the limit; change: the ratio (1.5 is half as much again) or difference to the window before; automatic: the limit while there is too little history. */
  threshold: number | null;
  /** Stays triggered until it is back beyond this one, so that it does not flap; the threshold if not given. */
  recover_threshold: number | null;
  /** change: ratio (if not given) or difference. */
  change_by: ChangeBy | null;
  /** automatic: width of the usual band in robust standard deviations, 1 to 20; 4 if not given. */
  sensitivity: number | null;
}

export type ConditionType = "threshold" | "automatic" | "change" | "absence";

export interface Conversation {
  /** Messages sent to the model. */
  input: Message[];
  /** Messages that the model returned. */
  output: Message[];
  /** Documents retrieved or reranked. */
  documents: Document[];
  /** JSON schemas of the tools offered. */
  tools: string[];
  /** Template of the prompt, if recorded. */
  prompt_template: PromptTemplate | null;
}

export interface DayBudget {
  /** Tokens of all its runs per day (UTC); null: no limit. */
  tokens_per_day: number | null;
  /** Cost of all its runs per day (UTC) in millionths of a US dollar; null: no limit. */
  cost_micro_usd_per_day: number | null;
  /** At this share workers are notified to finish, 1 to 100. */
  soft_percent: number;
}

export interface Decision {
  /** Id. */
  id: string;
  /** Revision that was reviewed. */
  revision: number;
  decision: ReviewState;
  /** Who. */
  reviewer: string;
  /** Comment. */
  comment: string;
  /** Blocking flags were allowed. */
  allow_protected: boolean;
  /** An approval of the newest revision. */
  counts: boolean;
  /** When. */
  created_at: string;
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
  /** Header that carries the secret; empty: authorization, or another header made for credentials that holds the placeholder. */
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

export interface Delivered {
  /** The slot that it created; the same for the same delivery id. */
  slot_id: string;
  outcome: SlotOutcome;
}

export interface Delivery {
  /** Also the X-Hone-Delivery header of webhooks. */
  id: string;
  notice_id: string;
  destination_id: string;
  kind: Kind;
  title: string;
  state: DeliveryState;
  attempts: number;
  /** When the next attempt is; null when there is none. */
  next_at: string | null;
  /** Why the last attempt failed; empty when it did not. */
  problem: string;
  created_at: string;
  finished_at: string | null;
}

export type DeliveryState = "pending" | "sent" | "given_up";

export interface Destination {
  id: string;
  space_id: string;
  /** Unique in the space. */
  name: string;
  type: DestinationType;
  /** What may be shown: the host of a hook, the addresses of mail. */
  target: string;
  /** Kinds of notices it receives; empty: all. */
  kinds: Kind[];
  /** Whose notices it wants; empty: all. Those of the space always. */
  projects: string[];
  /** Of the message's text; empty: the usual one. */
  template: string;
  enabled: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
  last_sent_at: string | null;
  last_failed_at: string | null;
  /** Why the last attempt failed; empty when it did not. */
  last_problem: string;
  /** Notices that wait to be delivered. */
  pending: number;
  /** Of a webhook; only in the response that created it. */
  signing_secret: string | null;
}

export type DestinationType = "webhook" | "slack" | "email";

export type Detector = "error_cluster" | "latency_regression" | "token_spike" | "cost_spike" | "tool_failure" | "tool_loop" | "truncated_output" | "refused_output" | "unparsable_output" | "empty_retrieval" | "eval_drop" | "version_regression" | "session_failure" | "provider_limit" | "reported_error" | "unused_tools" | "invalid_tool_call" | "agent_loop" | "ignored_instruction" | "missing_result" | "growing_context" | "reported";

export interface DetectorCost {
  /** Which. */
  name: string;
  /** Findings, before those that others explain are dropped. */
  found: number;
  /** Milliseconds. */
  took_ms: number;
  /** Rows that the engine read for it. */
  rows_read: number;
  /** Why it could not look; empty when it could. */
  failed: string;
}

export interface DiffLine {
  kind: LineKind;
  /** Number in the old file; null for an added line. */
  old_line: number | null;
  /** Number in the new file; null for a deleted line. */
  new_line: number | null;
  /** The line, without its end. */
  content: string;
  /** The file ends here without a line end. */
  no_newline: boolean;
  /** The line is longer than what is shown. */
  cut: boolean;
}

export interface DiffView {
  /** Revision that is shown. */
  revision: number;
  /** From here. */
  base_commit: string;
  /** To here. */
  head_commit: string;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** There is more than can be shown. */
  truncated: boolean;
  /** Changed files; GET …/diff/file has the lines of one. */
  files: FileChange[];
}

export type Direction = "above" | "below" | "outside";

export interface DiskView {
  spans: number;
  /** The project's share of the compressed parts. */
  bytes: number;
  /** Start of the oldest span. */
  oldest: string | null;
  /** Start of the newest span. */
  newest: string | null;
  /** 0: forever. */
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

export interface EgressRow {
  /** Counts from 1 within the run. */
  number: number;
  /** When it was decided. */
  time: string;
  /** Whether it could leave. */
  allowed: boolean;
  /** Method; CONNECT for a tunnel that is passed on as it is. */
  method: string;
  /** Host and port. */
  target: string;
  /** Whether it was encrypted on the way out. */
  tls: boolean;
  /** Path, without the query. */
  path: string;
  /** What decided it. */
  rule: string;
  /** Why. */
  reason: string;
  /** Names of the secrets that were put in. */
  secrets: string[];
  /** Whether it is over. */
  ended: boolean;
  /** Status of the response; null for a tunnel, or without one. */
  status: number | null;
  /** Address of the connection. */
  address: string | null;
  /** Bytes of the request. */
  sent_bytes: number | null;
  /** Bytes of the response. */
  received_bytes: number | null;
  /** How long it took. */
  took_us: number | null;
  /** What went wrong on the way. */
  failure: string | null;
}

export interface EncryptionState {
  /** Id of the master key; it does not reveal the key. */
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
  /** As in the text. */
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

export interface EvalNameView {
  target: EvalTarget;
  name: string;
  /** How many there are. */
  count: number;
  /** The most frequent ones. */
  labels: string[];
}

export type EvalTarget = "span" | "trace" | "chat_session";

export interface EvalView {
  id: string;
  target: EvalTarget;
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  name: string;
  /** Distinguishes several with one name. */
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

export interface Evaluator {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Project whose spans it evaluates. */
  project_id: string;
  /** Name of the evals it writes; unique in its project. */
  name: string;
  /** What it is for. */
  description: string;
  /** The spans it evaluates; empty: all. */
  filter: string;
  /** Which of these match, in the filter language. */
  condition: string;
  /** Label of spans that match. */
  label: string;
  /** Their score. */
  score: number | null;
  /** Label of evaluated spans that do not match; empty: they get no eval. */
  other_label: string;
  /** Their score. */
  other_score: number | null;
  /** Share of the traces it evaluates, 1 to 100. */
  sample_percent: number;
  /** Whether it evaluates new spans. */
  enabled: boolean;
  /** Issue that it was made from. */
  issue_id: string | null;
  /** Grows with every change of the rule; evals carry it. */
  revision: number;
  /** Evals it wrote. */
  judged: number;
  /** Of these, for spans that match. */
  matched: number;
  /** Spans received until then are evaluated. */
  judged_up_to: string;
  /** When it looked last. */
  last_at: string | null;
  /** Why its last look failed; empty: it did not. */
  problem: string;
  /** Who made it. */
  created_by: string;
  /** When. */
  created_at: string;
  /** When it was changed last. */
  updated_at: string;
}

export interface EvaluatorPreview {
  /** Spans it would have evaluated. */
  spans: number;
  /** Of these, those that match. */
  matched: number;
  /** In so many hours until now. */
  hours: number;
}

export type EventKind = "message" | "thinking" | "tool_call" | "tool_result" | "usage" | "status" | "error" | "result" | "artifact" | "follow_up";

export interface Example {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** 16 hexadecimal digits. */
  span_id: string;
  /** When it started. */
  time: string;
}

export interface Explanation {
  method: string;
  /** As the broker reads it: host in lower case, without query. */
  url: string;
  /** By the rules. A name that leads to a private address is refused even then. */
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

export interface Fact {
  /** What it is. */
  name: string;
  /** With its unit. */
  value: string;
}

export interface FileChange {
  /** Path after the change; one that is not UTF-8 is quoted as git quotes it. */
  path: string;
  /** Path before it; differs for a renamed or copied file. */
  old_path: string;
  change: ChangeKind;
  /** Mode before, such as 100644; empty when it was not there. */
  old_mode: string;
  /** Mode after; empty when it is gone. */
  new_mode: string;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** Not text: no lines are shown. */
  binary: boolean;
  /** Only the first part of its lines is kept. */
  too_large: boolean;
  /** A commit of another repository. */
  submodule: boolean;
  /** A symbolic link. */
  symlink: boolean;
  /** The name is not UTF-8 or holds control characters. */
  odd_name: boolean;
}

export interface FileDiff {
  file: FileChange;
  /** Changed places, in order. */
  hunks: Hunk[];
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

export interface Fingerprint {
  /** Computed from detector, project and subject. */
  fingerprint: string;
  detector: Detector;
  /** Its own title. */
  title: string;
  /** The spans it is about. */
  filter: string;
  /** Traces touched in the window of the last scan that found it. */
  traces: number;
  /** Newest span of it. */
  last_seen: string;
}

export interface Flag {
  kind: FlagKind;
  /** An approval must allow it explicitly. */
  blocking: boolean;
  /** File; empty: the branch as a whole or a commit message. */
  path: string;
  /** Line of the new file. */
  line: number | null;
  /** In words; never repeats a secret. */
  message: string;
}

export type FlagKind = "protected_path" | "lock_file" | "secret" | "invisible_text" | "odd_name" | "name_collision" | "symlink" | "submodule" | "lfs_pointer" | "mode_change" | "binary" | "license" | "size";

export interface FolderInfo {
  /** BLAKE2b of names and contents. */
  hash: string;
  /** From SKILL.md. */
  name: string;
  /** From SKILL.md. */
  description: string;
  files: number;
  bytes: number;
}

export interface ForgeHook {
  /** Where the forge sends its webhook to, behind this server's address. */
  path: string;
  /** Shown once; replaces the one before. */
  secret: string;
}

export interface ForgeIssueDraft {
  /** Title. */
  title: string;
  /** Markdown. */
  body: string;
  /** Names this text when it is opened. */
  digest: string;
}

export interface GitSource {
  /** Address of the repository: https, or file for one on the server. */
  url: string;
  /** Branch, tag or commit; empty: the default branch. */
  ref: string;
  /** Folder in the repository that holds SKILL.md; empty: the top. */
  path: string;
  /** Commit that the folder was fetched from; empty: not fetched yet. Set by the server only. */
  commit: string;
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
  /** Model protocols it supports; none: it needs no model. */
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
  /** Whole path segments: /v1 covers /v1/x, not /v10; * stands for any one segment. */
  path_prefix: string;
  /** Allows the upgrade to a WebSocket. */
  websocket: boolean;
}

export interface Hunk {
  /** First line in the old file. */
  old_start: number;
  /** Lines of the old file. */
  old_count: number;
  /** First line in the new file. */
  new_start: number;
  /** Lines of the new file. */
  new_count: number;
  /** Function or section it is in, as git found it. */
  heading: string;
  /** Lines in order. */
  lines: DiffLine[];
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

export interface InterdiffView {
  /** Revision that was seen. */
  from: number;
  /** Revision that came later. */
  to: number;
  /** They left from different commits: changes of others are in here too. */
  base_changed: boolean;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** There is more than can be shown. */
  truncated: boolean;
  /** What changed from one to the other, with lines. */
  files: FileDiff[];
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
  /** Path of the page that accepts it; only in the response that creates it. */
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

export interface Issue {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Project. */
  project_id: string;
  /** What it is recognised by; a merged issue has more. */
  fingerprint: string;
  detector: Detector;
  /** One line of plain text. */
  title: string;
  /** Why this was found, in words. */
  explanation: string;
  severity: Severity;
  status: Status;
  /** Why it is muted, dismissed or resolved, or why it came back. */
  reason: string;
  /** Then it is open again; null: until a member opens it. */
  muted_until: string | null;
  /** Rank, 0 to 100. */
  score: number;
  /** What the score is made of. */
  score_terms: ScoreTerm[];
  /** Traces touched in the window of the last scan that found it. */
  traces: number;
  /** Of the window's traces. */
  share: number;
  /** Share in the window over share in the time before. */
  growth: number;
  /** How sure the finding is, 0 to 1. */
  confidence: number;
  /** The spans it is about, in the filter language. */
  filter: string;
  /** Numbers that support it. */
  facts: Fact[];
  /** Some of its traces, newest first. */
  examples: Example[];
  /** Scans that found it. */
  matches: number;
  /** Of these, while it was muted or dismissed. */
  quiet_matches: number;
  /** How often it came back. */
  reopened: number;
  /** User who is responsible for it. */
  assignee: string | null;
  /** E-mail address. */
  assignee_name: string | null;
  /** Run or person that reported it, when no detector did. */
  reported_by: string | null;
  /** Artifact: the newest investigation. */
  investigation_id: string | null;
  /** Run that wrote it, or is at it. */
  investigation_run: string | null;
  /** When. */
  investigated_at: string | null;
  /** Run that works, or worked, on a fix. */
  fix_run: string | null;
  /** Monitor made from it. */
  monitor_id: string | null;
  /** Evaluator made from it. */
  evaluator_id: string | null;
  /** Address of the issue on a forge that it is linked to. */
  forge_issue: string | null;
  /** Issue that it is a part of now. */
  merged_into: string | null;
  /** Oldest span of it that was seen. */
  first_seen: string;
  /** Newest. */
  last_seen: string;
  /** When it was found. */
  created_at: string;
  /** When anything about it changed. */
  updated_at: string;
}

export interface IssueComment {
  /** Id. */
  id: string;
  /** E-mail address or key. */
  author: string;
  /** Plain text or Markdown. */
  text: string;
  /** When. */
  created_at: string;
}

export interface IssueDetail {
  issue: Issue;
  /** What it is recognised by; several after a merge. */
  fingerprints: Fingerprint[];
}

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
  /** The key itself; only in the response that creates it. */
  key: string | null;
}

export type KeyKind = "personal" | "service";

export type KeyState = "active" | "expired" | "revoked";

export type Kind = "monitor_triggered" | "monitor_recovered" | "issue_new" | "run_finished" | "review_waiting" | "automation_paused" | "budget_near" | "budget_spent" | "spans_late" | "spans_caught_up";

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
  /** Log records that were taken for a span. */
  log_records: number;
  /** Log records that name no span, or were rejected. */
  log_records_dropped: number;
  /** Points of metrics, which are dropped. */
  metric_points: number;
}

export type LineKind = "context" | "added" | "deleted";

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
  repos: ClonedRepo[];
  /** Skills and versions. */
  skills: string[];
  /** Names of the secrets it could use through the broker. */
  secrets: string[];
  /** Preset or run that owns the values of sandbox.secret_env; empty: there are none. */
  secret_env_of: string;
  /** Oldest span of the project at the start. */
  data_from: string | null;
  /** Newest span of the project at the start. */
  data_to: string | null;
  /** What fired the automation; in the sandbox as /hone/trigger.json. */
  trigger: unknown | null;
  /** What all runs of the automation may spend per day. */
  automation_budget: Budget | null;
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
  /** system, user, assistant, tool, or the instrumentation's own word. */
  role: string;
  /** Text; parts are joined by line ends, media stand as [image]. */
  content: string;
  /** The call that a tool's message responds to. */
  tool_call_id: string;
  /** Tool calls that the assistant requests. */
  tool_calls: ToolCall[];
}

export type Metric = "count" | "errors" | "error_rate" | "latency_p50" | "latency_p95" | "latency_p99" | "latency_mean" | "tokens" | "cost" | "traces" | "eval_rate" | "eval_score";

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

export type MirrorState = "new" | "ready" | "failed";

export interface ModelUsageView {
  /** The day, model, run, automation or project; empty: none. */
  group: string;
  /** Model calls. */
  calls: number;
  /** Calls without the provider's final numbers. */
  incomplete_calls: number;
  /** Calls without a response, or with an error. */
  failed_calls: number;
  /** Neither read from nor written to a cache. */
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Without reasoning, where the provider reports it separately. */
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

export interface Monitor {
  id: string;
  space_id: string;
  project_id: string;
  /** Unique in the project. */
  name: string;
  description: string;
  settings: MonitorSettings;
  enabled: boolean;
  state: MonitorState;
  state_since: string;
  /** Beyond the limit since then, but not yet for for_seconds. */
  bad_since: string | null;
  /** No notices now, by hand or by a mute window. */
  muted: boolean;
  /** Muted by hand until then. */
  muted_until: string | null;
  mute_reason: string;
  /** When it is evaluated next; null when it is switched off. */
  next_at: string | null;
  /** What the last evaluation saw. */
  last_reading: Reading | null;
  /** Why the last evaluation failed; empty when it did not. */
  problem: string;
  created_by: string;
  created_at: string;
  updated_at: string;
}

export interface MonitorEvent {
  id: string;
  at: string;
  kind: MonitorEventKind;
  value: number | null;
  /** The limit it crossed. */
  bound: number | null;
  note: string;
  /** Who did it; empty: an evaluation. */
  by: string;
}

export type MonitorEventKind = "created" | "changed" | "triggered" | "recovered" | "no_data" | "healthy" | "muted" | "unmuted" | "failed";

export interface MonitorSettings {
  metric: Metric;
  /** Only spans that match; GET /v1/filter_fields lists fields. */
  filter: string;
  /** threshold and change: each of the 20 largest groups is evaluated, the worst one counts. */
  group_by: string | null;
  /** For eval_rate and eval_score. */
  eval_name: string | null;
  /** eval_rate: the share of this label. */
  eval_label: string | null;
  condition: Condition;
  /** 60 to 2,592,000; 86,400 if not given. */
  window_seconds: number;
  /** 60 to 604,800; 3,600 if not given. */
  frequency_seconds: number;
  /** Triggers only after it was bad for this many seconds, up to 604,800. */
  for_seconds: number;
  /** Fewer spans in the window are no data; for absence: fewer are bad. 1 if not given. */
  minimum_samples: number;
  /** Times without notices, at most 20. */
  mute_windows: MuteWindow[];
}

export type MonitorState = "healthy" | "no_data" | "triggered";

export interface MuteWindow {
  /** Between two moments: the first. */
  from: string | null;
  /** And the second. */
  to: string | null;
  /** Weekly: mon, tue, wed, thu, fri, sat, sun; every day if not given. */
  days: string[] | null;
  /** Weekly: time of day like 22:00. */
  start: string | null;
  /** Weekly: time of day like 06:00; before start: of the next day. */
  end: string | null;
  /** Weekly: a name like Europe/Berlin; UTC if not given. */
  time_zone: string | null;
}

export interface NextFiring {
  /** When it is due. */
  due_at: string;
}

export interface NoticeView {
  id: string;
  space_id: string;
  /** Null when it concerns the whole space. */
  project_id: string | null;
  kind: Kind;
  /** One line of plain text. */
  title: string;
  /** Plain text, may have several lines. */
  body: string;
  /** Path of the page it is about; may be empty. */
  link: string;
  created_at: string;
  /** Not yet marked as read by the caller. */
  unread: boolean;
}

export interface OpenedIssue {
  /** Its number there. */
  number: number;
  /** Its page. */
  url: string;
}

export type Origin = "session" | "automation";

export interface OutputPolicies {
  investigation: OutputPolicy;
  labels: OutputPolicy;
  file: OutputPolicy;
  branch: OutputPolicy;
}

export type OutputPolicy = "auto" | "review";

export type Overlap = "skip" | "queue" | "parallel";

export interface PasswordResetInfo {
  /** E-mail address of the account. */
  email: string;
}

export interface PasswordResetLink {
  /** E-mail address of the account. */
  email: string;
  /** Path of the page that sets the password; only in this response. */
  path: string;
  /** An hour after it was created. */
  expires_at: string;
}

export interface PasswordResetRequested {
  /** If the account exists, a link is sent to it; false: this server sends no mail, an installation owner can create a link. */
  by_mail: boolean;
}

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
  /** What its workers could do without review, and rules that have no effect. Empty in lists. */
  warnings: string[];
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

export interface PreviewFiring {
  /** When it would have been due. */
  due_at: string;
  outcome: SlotOutcome;
  reason: SlotReason;
  /** What was measured. */
  value: number | null;
}

export interface PreviewPoint {
  /** End of the window. */
  time: string;
  /** The metric over the window before it; null: no data. */
  value: number | null;
  /** Spans in that window. */
  samples: number;
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

export interface PromptVariable {
  /** Written {{name}} in a prompt. */
  name: string;
  type: VariableType;
  /** What it stands for. */
  doc: string;
  /** Only for triggers of this type; null: for all. */
  trigger: TriggerType | null;
}

export interface PullRequest {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Project of the run. */
  project_id: string;
  /** Branch that was approved. */
  artifact_id: string;
  /** Run that pushed it. */
  run_id: string;
  /** Repository. */
  repo_id: string;
  /** Its name. */
  repo_name: string;
  /** Issue that it is to fix; empty: none. */
  fix_of: string;
  /** github, gitea, gitlab or plain; empty until it is known. */
  forge: string;
  /** Branch on the forge. */
  branch: string;
  /** Branch that it is to be merged into. */
  target: string;
  /** Revision that was approved. */
  revision: number;
  state: PullRequestState;
  /** Number on the forge. */
  number: number | null;
  /** Page on the forge. */
  url: string;
  /** Title. */
  title: string;
  /** Opened as a draft, or still one. */
  draft: boolean;
  /** Commit that the forge has. */
  head_commit: string;
  /** What the forge's checks say: passed, failed, running; empty: none. */
  checks: string;
  /** What reviewers say there: approved, changes_requested; empty: nothing. */
  forge_review: string;
  /** What went wrong last. */
  error: string;
  /** Failed attempts in a row. */
  attempts: number;
  /** When the forge is polled next. */
  next_try_at: string;
  /** When the branch was approved. */
  created_at: string;
  /** When something about it last changed. */
  updated_at: string;
  /** When the forge was last polled. */
  polled_at: string | null;
  /** When it was merged. */
  merged_at: string | null;
}

export type PullRequestState = "queued" | "pushed" | "open" | "merged" | "closed" | "only_pushed" | "failed";

export interface PushedBranch {
  /** Id. */
  id: string;
  /** Run that pushed it. */
  run_id: string;
  /** Repository that it is for. */
  repo_id: string;
  /** Name in the quarantine: hone/RUN/… */
  branch: string;
  /** Where it left what was cloned; empty: no shared history. */
  base_commit: string;
  /** Its newest commit. */
  head_commit: string;
  /** How often it was pushed. */
  pushes: number;
  /** First push. */
  created_at: string;
  /** Last push. */
  pushed_at: string;
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

export interface Reading {
  /** The end of the window. */
  at: string;
  /** Null when there is none. */
  value: number | null;
  /** Spans in the window. */
  samples: number;
  /** The worst group, when there are groups. */
  group: string;
  /** Below is bad. */
  lower: number | null;
  /** Above is bad. */
  upper: number | null;
  /** Recovers above. */
  recover_lower: number | null;
  /** Recovers below. */
  recover_upper: number | null;
  /** automatic: the median of history; change: the value of the window before. */
  usual: number | null;
  /** What is worth knowing: what the band was made from, why there is none. */
  note: string;
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
  /** Authorization headers, API keys and tokens go; true unless it is switched off here. */
  credentials: boolean;
}

export interface Ref {
  /** Full name: refs/heads/main. */
  name: string;
  /** Object that it names. */
  object: string;
  /** Where an annotated tag leads; else the same. */
  commit: string;
}

export type Reminder = "old" | "unused";

export interface Repo {
  /** Id. */
  id: string;
  /** Space. */
  space_id: string;
  /** Unique in the space; the folder it is cloned into. */
  name: string;
  /** Where it comes from. */
  url: string;
  /** Branch, tag or commit that workers get; empty: the forge's choice. */
  default_ref: string;
  /** Skill whose credential fetches it; null: none is needed. */
  skill_id: string | null;
  /** Folder that workers get of a large repository; empty: all of it. */
  path_scope: string;
  /** The forge may be on a private address. */
  allow_private: boolean;
  state: MirrorState;
  /** A fetch is under way. */
  fetching: boolean;
  /** The forge's default branch: refs/heads/main. */
  head_ref: string;
  /** Branches and tags in the mirror. */
  refs: number;
  /** Size of the mirror. */
  bytes: number;
  /** Last successful fetch. */
  fetched_at: string | null;
  /** Why the last fetch failed. */
  error: string;
  /** What a worker does not get: submodules, contents of LFS. */
  notes: string[];
  /** Who, or which run, named it first. */
  created_by: string;
  /** When. */
  created_at: string;
}

export interface RepoSettings {
  /** Address to clone from: https, or file for one on the server. */
  url: string;
  /** Branch, tag or commit; empty: the default branch. */
  ref: string;
  /** Folder that matters in a large repository. */
  path: string;
  /** Commits of history that are cloned; 0: all of it. */
  depth: number;
}

export interface ReviewCount {
  kind: ArtifactKind;
  review: ReviewState;
  /** How many. */
  count: number;
}

export interface ReviewCounts {
  /** What waits for a person, of all kinds. */
  pending: number;
  /** By kind and state. */
  counts: ReviewCount[];
}

export interface ReviewItem {
  artifact: Artifact;
  /** Of a branch: repository. */
  repo_name: string | null;
  /** Of a branch: its name. */
  branch: string | null;
  /** Of a branch: newest revision. */
  revision: number | null;
  /** Of a branch: changed files. */
  files: number | null;
  /** Of a branch: added lines. */
  additions: number | null;
  /** Of a branch: deleted lines. */
  deletions: number | null;
  /** Of a branch: flags that need an explicit allow. */
  blocking_flags: number | null;
  /** Of a branch: whether its diff is there. */
  diff_state: RevisionState | null;
  /** Of a branch: what came of the commands. */
  verification: VerificationState | null;
  /** Threads that are not resolved. */
  open_comments: number;
  /** State of its pull request. */
  pull_request: PullRequestState | null;
}

export interface ReviewPolicy {
  /** People who must approve a branch, 1 to 10. */
  approvals: number;
  /** The member who started the run cannot approve its branches. */
  not_starter: boolean;
  role: Role;
  /** Patterns beside the built-in ones whose change needs an explicit allow: deploy/**, *.tf. */
  protected_paths: string[];
  /** Lock files of package managers count too. */
  protect_lock_files: boolean;
  /** Commands run on the base and on the branch. */
  verification: VerificationCommand[];
  /** A branch whose commands are not green cannot be approved. */
  require_verified: boolean;
  /** false only pushes the branch. */
  open_pull_request: boolean;
  /** Pull requests are opened as drafts. */
  draft: boolean;
  /** Most open pull requests of Hone in one repository, 1 to 100. */
  open_pull_requests: number;
  /** Put on pull requests. */
  labels: string[];
  /** User names on the forge whose review is requested. */
  reviewers: string[];
  commits: CommitStyle;
  /** Author of the delivered commits: Name <mail@example.com>; empty: the worker, or Hone of a squashed one. */
  author: string;
  /** Lines at the end of each delivered commit's message: Key: value. */
  trailers: string[];
  /** Adds Signed-off-by of its author to each delivered commit. */
  sign_off: boolean;
  /** Changes requested on the forge are sent to the session. */
  follow_forge_comments: boolean;
}

export type ReviewState = "pending" | "approved" | "rejected" | "changes_requested";

export interface ReviewView {
  artifact: Artifact;
  /** Of a branch. */
  branch: Branch | null;
  /** Of a branch, oldest first. */
  revisions: Revision[];
  /** Everything that was decided, oldest first. */
  decisions: Decision[];
  /** Approvals of the newest revision that count. */
  approvals: number;
  /** How many it takes. */
  approvals_needed: number;
  /** Threads that are not resolved. */
  open_comments: number;
  /** Why the caller cannot approve it now; null: they can. */
  cannot_approve: string | null;
  /** What came of its approval. */
  pull_request: PullRequest | null;
}

export interface Revision {
  /** From 1; each push of the branch is one. */
  revision: number;
  /** Where the branch left what was cloned. */
  base_commit: string;
  /** Its newest commit. */
  head_commit: string;
  state: RevisionState;
  /** Why it is not. */
  error: string;
  /** First line of the first commit's message. */
  title: string;
  /** Oldest first, at most 100. */
  commits: Commit[];
  /** Changed files. */
  files: number;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** What must not be overlooked, blocking ones first. */
  flags: Flag[];
  /** Flags that an approval must allow explicitly. */
  blocking_flags: number;
  verification: VerificationState;
  /** Each command on the base and on the branch. */
  verification_results: VerificationResult[];
  /** When the worker pushed it. */
  pushed_at: string;
  /** When its diff was there. */
  ready_at: string | null;
}

export type RevisionState = "pending" | "ready" | "failed";

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
  /** Data keys that were wrapped again (master) or created (data). */
  data_keys: number;
  /** Secrets that were encrypted again. */
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
  /** Whether it takes a follow-up now. */
  takes_follow_ups: boolean;
  /** When it was created. */
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
  /** Who wrote it, for a follow-up. */
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
  /** Environment variables that are secrets: stored encrypted, shown as ********, which saved again keeps the value. The worker can read them; a skill keeps a secret outside the sandbox. */
  secret_env: Record<string, string>;
  /** Memory of all processes. */
  memory_bytes: number;
  /** Processors' worth of time. */
  cpus: number;
  /** Processes and threads at the same time. */
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

export interface Scan {
  /** Id. */
  id: string;
  /** Project. */
  project_id: string;
  /** `schedule`, or who requested it. */
  asked_by: string;
  /** When. */
  started_at: string;
  /** Milliseconds. */
  took_ms: number;
  /** Start of the baseline: the time that the window is compared with. */
  baseline_from: string;
  /** Start of the scanned window. */
  window_from: string;
  /** End of it. */
  window_to: string;
  /** Spans in the window. */
  spans: number;
  /** Traces in the window. */
  traces: number;
  /** Queries to the span store. */
  questions: number;
  /** Rows that it read for them. */
  rows_read: number;
  /** Bytes that it read for them. */
  bytes_read: number;
  /** Most memory that the server's own span engine held meanwhile; 0: not known. */
  memory_bytes: number;
  /** Findings. */
  found: number;
  /** Of these, new ones. */
  new_issues: number;
  /** Issues that came back. */
  reopened: number;
  /** Findings that belong to muted or dismissed issues. */
  quiet: number;
  /** Workers that were started. */
  investigations: number;
  /** Tokens that these workers have used by now. */
  tokens: number;
  /** What they cost, in millionths of a US dollar. */
  cost_micro_usd: number;
  /** What each detector found and cost. */
  detectors: DetectorCost[];
  /** Why it could not be done; empty when it could. */
  failed: string;
}

export interface SchedulerState {
  /** When this server's scheduler last did its work. */
  last_step: string | null;
  /** How late the most overdue automation is. */
  behind_seconds: number;
  /** Slots without an outcome. */
  due_slots: number;
  /** Fired slots whose run is active. */
  live_slots: number;
  /** All of them. */
  automations: number;
  /** Of these, paused. */
  paused: number;
  /** The next moment of any automation. */
  next_at: string | null;
  /** Steps since the server started. */
  steps: number;
  /** Steps in which something failed. */
  failed_steps: number;
  /** What failed last. */
  last_error: string;
}

export interface ScoreTerm {
  /** affected_traces, share, growth, severity, novelty or confidence. */
  name: string;
  /** What it adds. */
  points: number;
  /** What it could add. */
  most: number;
  /** The number it comes from. */
  why: string;
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
  review: ReviewPolicy;
  budget: Budget;
  capture: Capture;
}

export interface Setup {
  /** Values of plain variables. */
  variables: Record<string, string>;
  /** Of each secret; brokered if not given. */
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

export type Severity = "low" | "medium" | "high" | "critical";

export interface SeverityVolume {
  /** Start of the hour. */
  time: string;
  /** Traces of issues of this severity. */
  low: number;
  medium: number;
  high: number;
  critical: number;
}

export interface Share {
  space_id: string;
  /** Of the space. */
  name: string;
  created_at: string;
}

export type Side = "old" | "new";

export interface SignalSettings {
  /** Minutes between two scans; 1 to 1440, 10 if not given. */
  cadence_minutes: number;
  /** Hours that a scan covers; 1 to 168, 24 if not given. */
  window_hours: number;
  /** Days before the window that it is compared with; 1 to 30, 7 if not given. */
  baseline_days: number;
  /** What a worker should know about the application; at most 20,000 bytes. */
  context: string;
  /** Preset of the workers; none: a playbook that needs no model. */
  preset: string | null;
  /** The application's repository, for investigations and fixes. */
  repo: RepoSettings | null;
  /** Started by one scan, 0 to 20. */
  max_investigations: number;
  least_severity: Severity;
  /** Of all its workers; none: no limit. */
  tokens_per_day: number | null;
  /** Of all its workers; none: no limit. */
  cost_micro_usd_per_day: number | null;
}

export interface SignalView {
  /** Project. */
  project_id: string;
  /** Whether it scans on its schedule. */
  enabled: boolean;
  settings: SignalSettings;
  /** What is agreed to by switching it on, or was. */
  consent_note: string;
  /** Who agreed. */
  consent_by: string | null;
  /** When. */
  consent_at: string | null;
  /** The newest scan. */
  last_scan: Scan | null;
  /** When the next scan is; null when it is off. */
  next_scan_at: string | null;
  /** Issues that are open, investigated or about to be fixed. */
  open_issues: number;
  /** Automation whose slots record every scan and every worker; null: it was never on. */
  automation_id: string | null;
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
  /** What workers can do with this skill without review. */
  warnings: string[];
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

export interface Slot {
  /** Id. */
  id: string;
  /** Automation. */
  automation_id: string;
  /** What makes this moment one: time, crossing, transition or delivery. */
  due_key: string;
  /** When it was due. */
  due_at: string;
  outcome: SlotOutcome;
  reason: SlotReason;
  /** The same in words, where there is more to say. */
  note: string;
  /** The run that it started. */
  run_id: string | null;
  /** How that run ended. */
  run_state: State | null;
  /** What the trigger saw; the worker finds it in /hone/trigger.json. */
  values: unknown;
  /** A person ran it now. */
  by_hand: boolean;
  /** When the row was written. */
  created_at: string;
  /** When it got its outcome. */
  acted_at: string | null;
}

export type SlotOutcome = "due" | "fired" | "skipped" | "failed";

export type SlotReason = "none" | "paused" | "overlap" | "waiting" | "cool_off" | "capacity" | "budget" | "preset_missing" | "coalesced" | "missed" | "owner_gone" | "not_started" | "nothing_new" | "interrupted";

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
  /** Cost of all model calls per day (UTC) in millionths of a US dollar; null: no limit. Models without a price are rejected under a cost limit. */
  cost_micro_usd_per_day: number | null;
  /** At this share workers are notified to finish, 1 to 100. */
  soft_percent: number;
  /** The most that spans of model calls keep: full (messages, tools, responses), metadata (no text) or none (no spans). A preset may keep less, never more. Absent in a change: stays. */
  capture: Capture | null;
}

export interface SpacePolicy {
  /** Whether the network mode `open` is allowed. */
  open_network: boolean;
  /** Hosts that presets and skills may open: `host`, `host:port`, `*.example.com`; none: any. A list also excludes the network mode `open`. */
  hosts: string[] | null;
  /** Whether a skill may put a secret's value into the environment of workers (exposure `env`). */
  env_secrets: boolean;
  minimum_tier: Tier;
  /** Most memory of one sandbox; none: the installation's. */
  memory_bytes: number | null;
  /** Most processors of one sandbox; none: the installation's. */
  cpus: number | null;
  /** Most processes and threads of one sandbox; none: the installation's. */
  pids: number | null;
  /** Largest workspace; none: the installation's. */
  disk_bytes: number | null;
  /** Longest life of one sandbox; none: the installation's. */
  wall_clock_minutes: number | null;
  /** Largest token budget of one run, and the budget of runs that name none; none: no limit. */
  tokens: number | null;
  /** Largest cost budget of one run in millionths of a US dollar, and the budget of runs that name none; none: no limit. */
  cost_micro_usd: number | null;
}

export interface SpacePolicyView {
  policy: SpacePolicy;
  installation: Ceilings;
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

export interface Spent {
  /** Tokens of all its runs today (UTC). */
  tokens: number;
  /** Cost of all its runs today in millionths of a US dollar. */
  cost_micro_usd: number;
}

export type State = "queued" | "preparing" | "running" | "waiting" | "succeeded" | "failed" | "cancelled" | "timed_out" | "budget_stopped" | "lost";

export type Status = "open" | "investigating" | "fix_proposed" | "resolved" | "muted" | "dismissed";

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
  /** The call's id, which the tool's result repeats. */
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

export interface Trigger {
  type: TriggerType;
  /** cron: five fields, six with seconds first, or @hourly and its like. */
  schedule: string | null;
  /** cron: a name like Europe/Berlin; UTC if not given. */
  time_zone: string | null;
  /** metric: what is measured over the window. */
  metric: Metric | null;
  /** metric: only spans that match this filter. */
  filter: string | null;
  /** metric: above, at_least, below or at_most the threshold. */
  comparator: Comparator | null;
  /** metric: as the metric's unit; latencies in milliseconds, cost in USD. */
  threshold: number | null;
  /** metric: 60 to 604800; 900 if not given. */
  window_seconds: number | null;
  /** metric: how often it is evaluated; 60 if not given. */
  every_seconds: number | null;
  /** metric: how long the condition must be true; 0 if not given. */
  for_seconds: number | null;
  /** metric: with fewer spans the value is ignored; 1 if not given. */
  minimum_samples: number | null;
  /** metric: for eval_rate and eval_score. */
  eval_name: string | null;
  /** metric: for eval_rate, the label whose share is measured. */
  eval_label: string | null;
  /** monitor: id of the monitor that must go to triggered. */
  monitor: string | null;
}

export interface TriggerPreview {
  /** cron: the next firings. */
  next: string[];
  /** metric: what would have fired in the last seven days. */
  past: PreviewFiring[];
  /** metric: the value over those days, for a chart. */
  points: PreviewPoint[];
  /** metric: the line in that chart. */
  threshold: number | null;
  /** metric: seconds between two evaluations of this dry run; may be coarser than every_seconds. */
  step_seconds: number;
}

export type TriggerType = "cron" | "metric" | "monitor" | "webhook" | "managed";

export interface UnreadNotices {
  /** Notices that the caller may see and has not read. */
  unread: number;
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

export type VariableType = "name" | "number" | "time" | "address" | "word";

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

export interface VerificationCommand {
  /** Short name, such as tests. */
  name: string;
  /** Shell command, run at the top of the repository in a fresh sandbox without network; exit 0 is green. */
  command: string;
  /** 1 to 3600. */
  timeout_seconds: number;
}

export interface VerificationResult {
  /** As the preset calls it. */
  name: string;
  /** What was run. */
  command: string;
  /** On the commit that the branch left from. */
  base: VerificationRun | null;
  /** On the branch. */
  branch: VerificationRun | null;
}

export interface VerificationRun {
  /** 0 is green; null: it did not end by itself. */
  exit_code: number | null;
  /** It took longer than allowed. */
  timed_out: boolean;
  /** How long it took. */
  duration_ms: number;
  /** The end of what it printed. */
  output: string;
}

export type VerificationState = "none" | "pending" | "running" | "green" | "red" | "failed";

export type ViewPage = "traces" | "sessions";

export interface ViewedFiles {
  /** Files that the caller marked and that have not changed since. */
  paths: string[];
}

export interface VolumePoint {
  /** Start of the hour. */
  time: string;
  /** Traces touched. */
  traces: number;
}

export interface Way {
  /** Header that carries it; empty: a header made for credentials that holds the placeholder. */
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

export interface AutomationChange {
  /** Unique in the space. */
  name?: string | null;
  /** What it is for. */
  description?: string | null;
  /** Id or name of the project its runs are bound to. */
  project?: string | null;
  /** Id or name of the preset of its runs. */
  preset?: string | null;
  /** The prompt of each run; a template. */
  prompt?: string | null;
  /** All of it. */
  trigger?: Trigger | null;
  /** skip, queue or parallel. */
  overlap?: Overlap | null;
  /** coalesce, all or none. */
  catch_up?: CatchUp | null;
  /** 0 to 2592000. */
  cool_off_seconds?: number | null;
  /** All of it. */
  budget?: DayBudget | null;
  /** 0 (never pause) to 100. */
  failure_limit?: number | null;
  /** Pauses or resumes it. */
  paused?: boolean | null;
}

export interface ChangeComment {
  /** New text; only by its author, until it was sent to the session. */
  body?: string | null;
  /** Closes or opens the thread. */
  resolved?: boolean | null;
}

export interface ChangePassword {
  current_password: string;
  /** At least 10 characters. */
  new_password: string;
}

export interface CommentOnIssue {
  /** Plain text or Markdown, at most 20,000 bytes. */
  text: string;
}

export interface ConfigureSignal {
  /** Switch it on or off; left alone if not given. */
  enabled?: boolean | null;
  /** Must be true when it is switched on: yes to consent_note. */
  consent?: boolean | null;
  /** All of them; left alone if not given. */
  settings?: SignalSettings | null;
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

export interface CreateRepo {
  /** https address, without user or token. */
  url: string;
  /** Unique in the space; from the address if not given. */
  name?: string;
  /** Branch, tag or commit that workers get. */
  default_ref?: string;
  /** Id or name of the skill whose credential fetches it. */
  skill?: string | null;
  /** Folder that workers get of a large repository. */
  path_scope?: string;
  /** The forge may be on a private address; for owners of the installation. */
  allow_private?: boolean;
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

export interface Decide {
  /** Needed when changes are requested and no line has a comment. */
  comment?: string | null;
  /** Of a branch: the revision that was reviewed. Needed to approve; a newer one is a conflict. */
  revision?: number | null;
  /** The artifact's digest when it was reviewed. Needed to approve anything but a branch; another content is a conflict. */
  digest?: string | null;
  /** Allows blocking flags; only for approvals. */
  allow_protected?: boolean;
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

export interface DestinationChange {
  /** Unique in the space. */
  name?: string | null;
  /** Of webhook and slack; never shown again. */
  url?: string | null;
  /** Addresses of email, at most 20. */
  to?: string[] | null;
  /** Kinds of notices it receives; empty: all. */
  kinds?: Kind[] | null;
  /** Ids or names: whose notices it wants; empty: all. */
  projects?: string[] | null;
  /** Empty: the usual text. */
  template?: string | null;
  enabled?: boolean | null;
  /** Of a webhook: replaces it and shows it. */
  new_signing_secret?: boolean | null;
}

export interface DestinationWish {
  /** Unique in the space. */
  name: string;
  type: DestinationType;
  /** Of webhook and slack; never shown again. */
  url?: string | null;
  /** Addresses of email, at most 20. */
  to?: string[] | null;
  /** Kinds of notices it receives; empty: all. */
  kinds?: Kind[] | null;
  /** Ids or names: whose notices it wants; empty: all. */
  projects?: string[] | null;
  /** {{title}} {{body}} {{url}} {{kind}} {{space}} {{project}} {{time}}. */
  template?: string | null;
  /** True if not given. */
  enabled?: boolean | null;
}

export interface EvaluatorChange {
  /** What it is for. */
  description?: string | null;
  /** The spans it evaluates. */
  filter?: string | null;
  /** Which of these match. */
  condition?: string | null;
  /** Label of spans that match. */
  label?: string | null;
  /** Their score; null: none. */
  score?: number | null;
  /** Label of those that do not; empty: no eval. */
  other_label?: string | null;
  /** Their score; null: none. */
  other_score?: number | null;
  /** 1 to 100. */
  sample_percent?: number | null;
  /** Whether it evaluates new spans; off, then on: starts again. */
  enabled?: boolean | null;
  /** Also evaluate spans of the last hours that have no eval of it; 1 to 720. */
  backfill_hours?: number | null;
}

export interface ForgeIssueWish {
  /** Link this one, which is there already; the other fields are not needed. */
  url?: string | null;
  /** Repository: id, name or address; that of Signal's settings if not given. */
  repo?: string | null;
  /** Title; that of the issue if not given. */
  title?: string | null;
  /** Markdown; the text of the draft if not given. */
  body?: string | null;
  /** Digest of the draft that was reviewed. Needed unless `body` is given; another draft is a conflict. */
  digest?: string | null;
}

export interface ForkRun {
  /** First message to the fork. */
  prompt: string;
}

export interface IssueChange {
  /** open, fix_proposed, resolved, muted or dismissed. */
  status?: Status | null;
  /** Why; needed for dismissed. At most 2,000 bytes. */
  reason?: string | null;
  /** Scans leave it alone from then on. */
  severity?: Severity | null;
  /** Id of a user; null: no assignee. */
  assignee?: string | null;
  /** Scans leave it alone from then on. */
  title?: string | null;
  /** With muted: open again from then on. */
  muted_until?: string | null;
}

export interface LogIn {
  email: string;
  password: string;
}

export interface MarkNotices {
  /** This one and all before it; everything if not given. */
  up_to?: string | null;
}

export interface MergeIssue {
  /** Issue that becomes a part of this one. */
  issue: string;
}

export interface MonitorChange {
  /** Unique in the project. */
  name?: string | null;
  description?: string | null;
  /** All of them. */
  settings?: MonitorSettings | null;
  enabled?: boolean | null;
}

export interface MonitorWish {
  /** Id or name of the project. */
  project: string;
  /** Unique in the project. */
  name: string;
  /** What to do when it triggers, for example. */
  description?: string | null;
  settings: MonitorSettings;
  /** True if not given. */
  enabled?: boolean | null;
}

export interface MuteWish {
  /** Until then; this or seconds. */
  until?: string | null;
  /** For this many seconds, up to 31,536,000. */
  seconds?: number | null;
  /** Why. */
  reason?: string | null;
}

export interface NewAutomation {
  /** Unique in the space. */
  name: string;
  /** What it is for. */
  description?: string;
  /** Id or name of the project its runs are bound to. */
  project: string;
  /** Id or name of the preset of its runs. */
  preset: string;
  /** The prompt of each run. `{{window.from}}` and other variables. */
  prompt: string;
  trigger: Trigger;
  overlap?: Overlap;
  catch_up?: CatchUp;
  /** 0 to 2592000; 0 if not given. */
  cool_off_seconds?: number;
  budget?: DayBudget;
  /** 0 (never pause) to 100; 5 if not given. */
  failure_limit?: number;
  /** Whether it begins paused. */
  paused?: boolean;
}

export interface NewComment {
  /** Id of a comment: goes into its thread. */
  reply_to?: string | null;
  /** The newest one if not given. */
  revision?: number | null;
  /** File as the diff names it; not given: about the whole. */
  path?: string | null;
  /** `old` or `new`; `new` if not given. */
  side?: Side | null;
  /** Line of that file. */
  line?: number | null;
  /** Markdown, at most 10,000 bytes. */
  body: string;
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
  /** Distinguishes several with one name; the same one is replaced. */
  identifier?: string | null;
  kind?: EvalKind;
  /** A label, a score or an explanation is needed. */
  label?: string | null;
  score?: number | null;
  explanation?: string | null;
  /** Anything. */
  metadata?: unknown | null;
}

export interface NewEvaluator {
  /** Name of the evals it writes; unique in its project. */
  name: string;
  /** What it is for. */
  description?: string;
  /** Id or name of the project. */
  project: string;
  /** The spans it evaluates; all if not given. */
  filter?: string;
  /** Which of these match, in the filter language. */
  condition: string;
  /** Label of spans that match; `fail` if not given. */
  label?: string;
  /** Their score. */
  score?: number | null;
  /** Label of evaluated spans that do not match; not given: they get no eval. */
  other_label?: string;
  /** Their score. */
  other_score?: number | null;
  /** 1 to 100; 100 if not given. */
  sample_percent?: number;
  /** Also evaluate spans of the last hours; 0 to 720, 0 if not given. */
  backfill_hours?: number;
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

export interface OpenRepoIssue {
  /** One line. */
  title: string;
  /** Markdown; mentions are defused and lines that seem to hold a secret are removed. */
  body?: string;
  /** Names of labels that the forge knows. */
  labels?: string[];
}

export interface PauseAutomation {
  /** Shown with the automation and with every skipped moment. */
  reason?: string | null;
}

export interface PreviewEnv {
  /** Id of a skill; or give a type. */
  skill?: string | null;
  type?: SkillType | null;
  /** A .env file. Nothing is stored. */
  text: string;
}

export interface PreviewMonitor {
  /** Id or name of the project. */
  project: string;
  settings: MonitorSettings;
  /** The first moment; a week before `to` if not given. */
  from?: string | null;
  /** The last moment; now if not given. */
  to?: string | null;
}

export interface PreviewTrigger {
  /** Id or name of the project whose data is used. */
  project: string;
  trigger: Trigger;
  /** As the automation would have it. */
  cool_off_seconds?: number | null;
}

export interface ReplaceProject {
  description?: string | null;
}

export interface ReportIssue {
  /** Id or name. */
  project: string;
  /** One line; what goes wrong where. */
  title: string;
  /** What was seen, and why it matters. */
  explanation: string;
  /** medium if not given. */
  severity?: Severity | null;
  /** The spans it is about, in the filter language. */
  filter?: string | null;
  /** Examples; at most 20. */
  trace_ids?: string[] | null;
  /** What identifies the problem when it is reported again; the words of the title if not given. */
  subject?: string | null;
}

export interface RequestPasswordReset {
  /** E-mail address of the account. */
  email: string;
}

export interface Rerun {
  /** Instead of the first prompt. */
  prompt?: string | null;
}

export interface ReviewArtifact {
  decision: ReviewState;
  /** The reason; needed for changes_requested. */
  comment?: string | null;
  /** The artifact's digest when it was reviewed. Needed to approve anything but a branch. */
  digest?: string | null;
  /** Of a branch: the revision that was reviewed. Needed to approve one. */
  revision?: number | null;
}

export interface RotateEncryption {
  what: RotateWhat;
  /** data keys of this space only. */
  space?: string | null;
}

export interface RotateKey {
  /** How long the old key still works; 0 if not given. */
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

export interface SetNewPassword {
  /** At least 10 characters. */
  password: string;
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

export interface SetViewed {
  /** File as the diff names it. */
  path: string;
  /** false takes the mark away. */
  viewed: boolean;
}

export interface SplitIssue {
  /** What gets an issue of its own. */
  fingerprint: string;
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

export interface UpdateRepo {
  /** Unique in the space. */
  name?: string | null;
  /** Branch, tag or commit that workers get. */
  default_ref?: string | null;
  /** Id or name of a skill; empty: none. */
  skill?: string | null;
  /** Folder that workers get; empty: all of it. */
  path_scope?: string | null;
  /** The forge may be on a private address. */
  allow_private?: boolean | null;
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

