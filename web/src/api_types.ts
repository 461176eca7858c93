// Printed by `hone print types` from the server's route table. Do not edit.

export interface AcceptedProposals {
  /** Newest version of the dataset. */
  version_id: string;
  /** Examples that were added. */
  examples: number;
}

export interface Advice {
  /** What usually causes such a problem. */
  usual_cause: string;
  /** What usually removes it. */
  next_step: string;
}

export interface AgentDecision {
  /** Where the browser goes now. */
  redirect_to: string;
}

export interface AgentDefinition {
  /** Id or name of the preset of the run. */
  preset: string;
  /** What the worker evaluates, and by which criteria. */
  instructions: string;
  output: OutputConfig;
  /** Parts of the document by name; without one it gets all of it. */
  mapping: Record<string, MappedArgument>;
  /** Time of the run, 10000 to 1800000. */
  timeout_ms: number;
  /** Tokens of the run, 1000 to 2000000. */
  max_tokens: number;
}

export interface AgentGrant {
  id: string;
  /** As the client calls itself. */
  client_name: string;
  space_id: string;
  scopes: string[];
  created_at: string;
  /** When it last renewed its token. */
  refreshed_at: string | null;
}

export type AnnotationConfigType = "categorical" | "continuous" | "freeform";

export interface AnnotationLabel {
  label: string;
  /** Number that stands for the label. */
  score: number | null;
}

export interface AnnotationResult {
  label: string | null;
  score: number | null;
  explanation: string | null;
}

export type AnnotatorKind = "HUMAN" | "LLM" | "CODE";

export interface Artifact {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project of the run. */
  project_id: string;
  /** Run that saved it. */
  run_id: string;
  kind: ArtifactKind;
  /** Unique among the run's artifacts of its kind; saving it again replaces it. */
  name: string;
  /** Summary of one or two sentences. */
  summary: string;
  /** Detected from the content. */
  media_type: string;
  /** Size. */
  bytes: number;
  /** BLAKE2b of the content. */
  digest: string;
  review: ReviewState;
  /** Name of the reviewer. */
  reviewer: string | null;
  /** Comment of the reviewer. */
  comment: string;
  /** Time of the review. */
  reviewed_at: string | null;
  /** Time at which the approval took effect, for kinds that have an effect. */
  applied_at: string | null;
  /** Name of the person who keeps it: it does not expire. */
  kept_by: string | null;
  /** Time at which it was saved last. */
  created_at: string;
}

export type ArtifactKind = "investigation" | "labels" | "file" | "branch";

export interface Attempt {
  /** The receiver accepted it. */
  ok: boolean;
  /** HTTP status of a webhook; null without a response, and for mail. */
  status: number | null;
  /** Error, and what to fix; empty when it was accepted. */
  problem: string;
  took_ms: number;
}

export interface AttributeKeyCount {
  key: string;
  /** Number of spans. */
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
  /** Id of the changed object. */
  target: string;
  details: unknown;
  peer: string;
  request_id: string;
  /** Hash of the previous entry. */
  prev_hash: string;
  /** BLAKE2b over this entry and prev_hash. */
  hash: string;
}

export interface AuditVerification {
  /** No entry is missing or changed. */
  ok: boolean;
  /** Entries checked. */
  entries: number;
  /** Hash of the newest entry; keep a copy elsewhere to detect a shortened log. */
  head_hash: string;
  first_bad_seq: number | null;
  message: string;
}

export interface Automation {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project its runs are bound to. */
  project_id: string;
  /** Name of the project. */
  project_name: string;
  /** Unique in its space. */
  name: string;
  /** Purpose, as text. */
  description: string;
  /** Preset of its runs. */
  preset_id: string | null;
  /** Name of the preset; null after it was deleted. */
  preset_name: string | null;
  /** Template of the prompt of each run. */
  prompt: string;
  trigger: Trigger;
  /** Scheduled times are recorded and skipped. */
  paused: boolean;
  /** Why it is paused. */
  pause_reason: string;
  overlap: Overlap;
  catch_up: CatchUp;
  /** Least time between two firings. */
  cool_off_seconds: number;
  budget: DayBudget;
  spent_today: Spent;
  /** It is paused after this many failures in a row; 0: never. */
  failure_limit: number;
  /** Number of failures in a row. */
  failure_streak: number;
  /** Component of Hone that manages it, such as signal. */
  managed_by: string | null;
  /** User or key whose permissions its runs have. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
  /** Its newest slot: a scheduled time and its outcome. */
  last_slot: Slot | null;
  /** cron: the next firing. metric: the next evaluation. */
  next_at: string | null;
  /** webhook: path that accepts deliveries. */
  hook_path: string | null;
  /** webhook: secret that signs deliveries. Shown once, when it is created; null if the caller gave it. */
  hook_secret: string | null;
}

export interface Backfill {
  /** Id. */
  id: string;
  /** Id of the task. */
  task_id: string;
  /** Version of the evaluator, fixed when it was started. */
  version: number;
  /** Filter, fixed when it was started. */
  filter: string;
  /** How many of a million targets are evaluated. */
  rate_ppm: number;
  /** Filters with rates of their own. */
  strata: Stratum[];
  /** Targets that began at or after this time. */
  from: string;
  /** Targets that began before this time. */
  to: string;
  /** Cap. */
  most_targets: number;
  state: BackfillState;
  /** Jobs made. */
  queued: number;
  /** Targets that this version has evaluated before, or that have a job. */
  known: number;
  /** Jobs with a verdict. */
  done: number;
  /** Jobs that failed or were skipped. */
  failed: number;
  /** Jobs that wait or run. */
  waiting: number;
  /** Name of the user or key that started it. */
  created_by: string;
  /** Time of the start. */
  created_at: string;
  /** Time of the end. */
  ended_at: string | null;
}

export interface BackfillEstimate {
  /** Targets of the time. */
  received: number;
  /** Those that match the filter. */
  matched: number;
  /** Those in the sample. */
  sampled: number;
  /** Those that would be evaluated at most: the sample within the cap. Known verdicts cost nothing. */
  targets: number;
  /** Last verdicts of the evaluator that the estimate is from, at most 100. */
  verdicts_measured: number;
  /** Expected; null: no verdict was measured yet. */
  tokens: number | null;
  /** Expected; null: no verdict was measured yet. */
  cost_micro_usd: number | null;
  /** Expected with 4 at the same time; null: not measured yet. */
  seconds: number | null;
}

export type BackfillState = "searching" | "running" | "done" | "cancelled";

export interface BacklogView {
  /** Acknowledged spans that are not stored yet. */
  spans: number;
  /** Their size in the span log. */
  bytes: number;
  /** Waiting time of the oldest of them. */
  oldest_wait_seconds: number;
  /** Failed attempts to store spans since the server started. */
  failures: number;
  /** The oldest has waited longer than `span_wait_limit`. */
  is_late: boolean;
  /** Number of waiting spans, their waiting time and the reason; empty when they are not late. */
  problem: string;
  /** What to do; empty when they are not late. */
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
  /** Artifact of the branch. */
  artifact_id: string;
  /** Run that pushed it. */
  run_id: string;
  /** Id of the repository. */
  repo_id: string;
  /** Name of the repository. */
  repo_name: string;
  /** Name of the branch. */
  branch: string;
  /** Newest revision. */
  revision: number;
  /** Issue that it fixes; empty: none. */
  fix_of: string;
  policy: ReviewPolicy;
}

export interface BranchReplay {
  /** Artifact of the branch. */
  artifact_id: string;
  /** Revision that was replayed. */
  revision: number;
  /** How often it was started. */
  attempt: number;
  state: ReplayState;
  /** Why it failed or was stopped. */
  reason: string;
  outcome: ReplayOutcome;
  settings: ReplaySettings;
  result: ReplayResult;
  /** Dataset with the examples; empty until it is prepared. */
  dataset_id: string;
  /** Experiment on the base commit. */
  base_experiment_id: string;
  /** Experiment on the branch. */
  branch_experiment_id: string;
  /** Name of the person, or the policy of the preset. */
  started_by: string;
  /** Time of the start. */
  created_at: string;
  /** Time at which the experiments began. */
  started_at: string | null;
  /** Time at which it ended. */
  ended_at: string | null;
}

export interface Budget {
  /** Tokens of all model calls of one run; none: no limit. */
  tokens: number | null;
  /** Cost of one run in millionths of a US dollar. */
  cost_micro_usd: number | null;
  /** From this percentage on, requests carry a notice to finish. */
  soft_percent: number;
  /** Tool calls of one run; none: no limit. */
  steps: number | null;
  /** Turns of one session, follow-ups included; none: no limit. */
  turns: number | null;
}

export interface Builtin {
  /** Name. */
  name: string;
  kind: EvaluatorKind;
  /** What it is written for: experiment_run, experiment_pair, span, trace or chat_session. */
  target: string;
  /** What it evaluates. */
  description: string;
  /** The definition, as POST /v1/evaluators takes it; of llm without the model. */
  definition: unknown;
  /** A document with its right label; null for rules. */
  example: BuiltinExample | null;
}

export interface BuiltinExample {
  /** A document as the evaluator gets it. */
  document: unknown;
  /** Label that a good evaluator gives it. */
  label: string;
}

export interface Calibration {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** The evaluator. */
  evaluator_id: string;
  /** Its version. */
  number: number;
  /** Its name. */
  name: string;
  /** Project of the targets. */
  project_id: string;
  target: EvalTarget;
  /** Name of the human evals. */
  config: string;
  /** Verdicts per target, without the cache. */
  repetitions: number;
  /** Its targets are evaluated again every week. */
  is_canary: boolean;
  /** Of a check: the calibration it repeats. */
  canary_of: string | null;
  state: CalibrationState;
  /** Why it failed. */
  reason: string;
  result: CalibrationResult;
  /** Of a weekly check: how the verdicts have drifted; empty: they have not. */
  alarm: string;
  /** Model that the verdicts name; empty: none. */
  model: string;
  /** Targets that people have labelled. */
  targets: number;
  /** Targets that are evaluated until now. */
  evaluated: number;
  /** Limit of its cost. */
  cost_limit_micro_usd: number | null;
  /** Time of the next weekly check. */
  next_check_at: string | null;
  /** Name of the person, `weekly check`, or `change of the model`. */
  started_by: string;
  /** Time of the start. */
  created_at: string;
  /** Time of the end. */
  ended_at: string | null;
}

export interface CalibrationItem {
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  /** Its trace; empty for a chat session. */
  trace_id: string;
  /** Label of people, by majority. */
  human: string;
  /** Score of that label. */
  human_score: number | null;
  /** People who labelled it. */
  raters: number;
  /** Belongs to the part that is kept aside. */
  is_held_out: boolean;
  /** One per repetition; null: there was none. */
  verdicts: (CalibrationVerdict | null)[];
  /** Of the first verdict. */
  explanation: string;
  /** Why a verdict is missing. */
  error: string;
  /** Cost of all its verdicts, in billionths of a US dollar. */
  cost_nano_usd: number;
  /** Time of all its verdicts. */
  duration_ms: number;
  /** The first verdict and people agree. */
  agrees: boolean;
}

export interface CalibrationResult {
  /** Labels, in the order of the matrix. */
  labels: string[];
  /** Rows: labels of people. Columns: labels of the evaluator. */
  matrix: number[][];
  all: KappaView;
  held_out: KappaView;
  precision: RateView;
  recall: RateView;
  /** The failing label. */
  failing_label: string;
  /** Targets with two or more verdicts. */
  repeated: number;
  /** Of these, those whose verdicts differ. */
  flipped: number;
  /** Share of these; null: none was repeated. */
  flip_rate: number | null;
  /** Targets without a verdict, or cannot_judge. */
  without_verdict: number;
  /** Targets left out because people are divided evenly. */
  disputed: number;
  /** Krippendorff's alpha of people on these targets; null: none has two labels. */
  human_alpha: number | null;
  /** Targets that pass for the evaluator and for people. */
  both_pass: number;
  /** Only for the evaluator. */
  only_evaluator_passes: number;
  /** Only for people. */
  only_people_pass: number;
  /** For neither. */
  both_fail: number;
  /** Verdicts of all repetitions. */
  verdicts: number;
  /** Their cost in billionths of a US dollar. */
  cost_nano_usd: number;
  /** Cost of one verdict. */
  mean_cost_nano_usd: number;
  /** Time of one verdict in milliseconds. */
  mean_ms: number;
  /** What limits these numbers, in sentences. */
  warnings: string[];
}

export type CalibrationState = "queued" | "running" | "done" | "failed";

export interface CalibrationVerdict {
  /** Label. */
  label: string | null;
  /** Score. */
  score: number | null;
}

export type CallerKind = "guest" | "user" | "key" | "system";

export interface CallsEstimate {
  /** As the request names it. */
  model: string;
  /** Calls that would be made. */
  calls: number;
  /** Of all calls, estimated from the length of the text. */
  input_tokens: number;
  /** Of all calls: the mean of past calls of the model in this space times their number, or the most that they can write. */
  output_tokens: number;
  /** Past calls of the last 30 days; 0: output_tokens is the most that the calls can write. */
  measured_calls: number;
  /** Of these tokens, in millionths of a US dollar; null: the model has no price. */
  cost_micro_usd: number | null;
}

export interface CapacityView {
  /** Stored spans of all projects. */
  spans: number;
  /** Their compressed size. */
  spans_bytes: number;
  bytes_per_span: number;
  /** From the oldest span to the newest. */
  days_with_spans: number;
  /** Mean over these days. */
  spans_per_day: number;
  span_bytes_per_day: number;
  /** Disk of the data directory. */
  disk_bytes: number;
  disk_free_bytes: number;
  /** At this rate and without retention; null: no rate, or spans are stored elsewhere. */
  days_until_full: number | null;
  /** Cost of the model calls of runs, mean of the last 7 days; calls without a price are not counted. */
  model_cost_micro_usd_per_day: number;
  /** Mean of the last 7 days. */
  model_calls_per_day: number;
  measured_at: string;
}

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
  /** Longest time limit of one sandbox. */
  wall_clock_minutes: number;
  /** Token budget of a run whose settings have no budget; 0: none. */
  default_tokens: number;
}

export interface Change {
  /** Time of the change. */
  time: string;
  /** Signal, an e-mail address, a key or a run. */
  who: string;
  /** found, reopened, status, severity, title, assignee, merged, split, investigation, fix, verdict, monitor, evaluator, forge_issue. */
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
  /** Lower limit. */
  lower: number | null;
  /** Upper limit. */
  upper: number | null;
  state: MonitorState;
  note: string;
}

export interface ChatSession {
  /** Id of the chat session that includes the project. */
  id: string;
  /** session.id of the application. */
  session_id: string;
  project_id: string;
  start_time: string;
  end_time: string;
  /** Traces, sorted by start. */
  traces: SessionTrace[];
  /** Input tokens, including cached ones. */
  token_count_prompt: number;
  /** Output and reasoning tokens. */
  token_count_completion: number;
  token_count_total: number;
}

export interface CheckLog {
  /** Name of the check. */
  name: string;
  /** passed, failed, running or skipped. */
  result: string;
  /** The end of the log, at most 256 KiB; written by programs that the branch can change. */
  text: string;
  /** There is more before it. */
  truncated: boolean;
}

export type CheckResult = "passed" | "failed" | "skipped";

export interface ClonedRepo {
  /** Address that it was cloned from. */
  url: string;
  /** Commit that was checked out. */
  commit: string;
}

export interface ClusterCredentialView {
  /** Whether there are any. */
  stored: boolean;
  /** Address of the cluster's API. */
  server: string;
  /** Namespace of the context. */
  name_space: string;
  /** Context that was chosen; empty: the current one. */
  context: string;
  /** token or client certificate. */
  kind: string;
  set_at: string | null;
  /** Whether this server was set to use them (kubernetes_kubeconfig is `sealed`). */
  in_use: boolean;
}

export interface CodeDefinition {
  language: CodeLanguage;
  /** Python: `def evaluate(document)`. Node: `export function evaluate(document)`. Shell: a script that reads the document as JSON on stdin and writes the result as JSON to stdout. At most 256 KiB. */
  source: string;
  output: OutputConfig;
  /** Arguments by name. With a mapping `evaluate` gets an object of these arguments instead of the document. */
  mapping: Record<string, MappedArgument>;
  /** Time for one document, 100 to 60000. */
  timeout_ms: number;
  dependencies: CodeDependencies;
}

export interface CodeDependencies {
  /** Of Python: packages, such as numpy==2.1.0, from the folder evaluator_packages_dir of the server. */
  pip: string[];
  /** Of Node: packages with their versions, such as ajv@8.17.1, from the same folder as `npm pack` writes them. */
  npm: string[];
  /** Shell script that is run after the packages are installed, without network; it can write to /opt/evaluator and /home/worker. */
  setup: string;
}

export type CodeLanguage = "python" | "node" | "shell";

export interface Collection {
  /** Id. */
  id: string;
  kind: StorageKind;
  /** Number of things that were removed. */
  removed: number;
  /** Bytes that this freed. */
  bytes: number;
  /** Time of the collection. */
  collected_at: string;
}

export interface Comment {
  /** Id. */
  id: string;
  /** Artifact that it belongs to. */
  artifact_id: string;
  /** First comment of its thread; null: it is the first. */
  reply_to: string | null;
  /** Revision that the lines belong to; 0 for artifacts without revisions. */
  revision: number;
  /** File; empty: the whole artifact. */
  path: string;
  side: Side;
  /** Line of that file; null: the whole file. */
  line: number | null;
  /** Markdown. */
  body: string;
  /** Name of the author. */
  author: string;
  /** Name of the user who resolved the thread. */
  resolved_by: string | null;
  /** Time at which the thread was resolved; set on its first comment. */
  resolved_at: string | null;
  /** Time at which it was sent to the session. */
  told_at: string | null;
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  edited_at: string | null;
  /** The caller wrote it. */
  mine: boolean;
}

export type CommentAuthors = "writers" | "anyone";

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

export interface ComparedExample {
  /** Id of the example. */
  example: string;
  /** Id given by the sender. */
  external_id: string | null;
  /** Scores of the base by name, one per repetition. */
  base: Record<string, number[]>;
  /** Scores of the other by name, one per repetition. */
  other: Record<string, number[]>;
  /** Difference of the means, by name. */
  delta: Record<string, number>;
  /** fixed, broken, passed or failed; by name of pass/fail evals. */
  flip: Record<string, string>;
  /** Passes in some repetitions of one experiment. */
  flaky: boolean;
  /** base, other, tie, inconsistent or undecided; by the id of the task in `pairwise`. */
  preferred: Record<string, string>;
}

export interface Comparison {
  /** Id of the first experiment. */
  base: string;
  /** Id of the second experiment. */
  other: string;
  base_name: string;
  other_name: string;
  /** Examples with runs in both. */
  common_examples: number;
  /** One per name of evals, by name. */
  metrics: MetricComparison[];
  /** What evaluators prefer that compare both outputs, by name and version. */
  pairwise: PairSummary[];
  latency: LatencyComparison;
  gate: Gate;
  /** Examples, the largest regression first. */
  examples: ComparedExample[];
  /** Whether `skip` and `limit` leave some out. */
  has_more_examples: boolean;
}

export interface ComparisonView {
  baseline_after: string;
  baseline_before: string;
  after: string;
  before: string;
  all: GroupChange;
  /** Groups, the largest first; empty without group_by. */
  groups: GroupChange[];
  /** There are more groups than shown. */
  is_cut: boolean;
}

export interface Condition {
  type: ConditionType;
  /** Direction: above (if not given) or below the limit triggers; outside, for automatic: both. */
  direction: Direction | null;
  /** threshold: the limit; change: the ratio (1.5 is 50 % more) or difference to the previous window; automatic: the limit while there is too little history. */
  threshold: number | null;
  /** It stays triggered until the value is back beyond this limit, so that it does not flap; the threshold if not given. */
  recover_threshold: number | null;
  /** change: ratio (if not given) or difference. */
  change_by: ChangeBy | null;
  /** automatic: width of the usual range in robust standard deviations, 1 to 20; 4 if not given. */
  sensitivity: number | null;
}

export type ConditionType = "threshold" | "automatic" | "change" | "absence";

export interface ConfigAgreement {
  /** Name of the config. */
  name: string;
  /** Items that two or more people have labelled. */
  items: number;
  /** Labels of these. */
  labels: number;
  /** Krippendorff's alpha; null: no item has two labels. */
  alpha: number | null;
  /** nominal for labels, interval for scores. */
  level: string;
}

export interface ConsentView {
  /** As the client calls itself, unchecked. */
  client_name: string;
  /** Where the browser goes afterwards. */
  redirect_host: string;
  scopes: string[];
}

export interface ConventionShareView {
  name: string;
  /** Spans of the sample that have attributes of the convention. */
  spans: number;
  /** 0 to 1, of the sample. */
  share: number;
  /** Attributes that fill a field of their span. */
  read: number;
  /** Attributes that are only shown and searchable. */
  kept: number;
}

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

export interface CorrectedRateView {
  /** Calibration whose labels correct it. */
  calibration_id: string;
  /** Evals of the calibrated version in this time, at most the newest 10000. */
  evals: number;
  /** Share that passes by the evaluator: a score of 0.5 or more, weighted by inclusion. */
  rate: number;
  /** The same, corrected by labels of people (PPI++). */
  corrected: number;
  /** Lower end of its 95 % interval. */
  low: number;
  /** Upper end. */
  high: number;
  /** Share that passes by the labels of people alone. */
  people_rate: number;
  /** Labels of people. */
  labels: number;
}

export interface CorrectedView {
  correction: CorrectionView;
  /** Id of the project in which the trace of the run has the same verdict as a human eval, which calibrations count; null: the run has no trace. */
  labelled_project: string | null;
}

export interface CorrectionView {
  /** Name of the person. */
  by: string;
  /** Label that the person gives. */
  label: string | null;
  /** Score that the person gives. */
  score: number | null;
  /** Why. */
  explanation: string;
  /** Time of the last change. */
  updated_at: string;
}

export interface Coverage {
  /** Examples times repetitions. */
  expected: number;
  /** Successful runs. */
  runs: number;
  /** Failed runs. */
  failed: number;
  /** Runs that were not sent. */
  missing: number;
}

export interface CreatedId {
  id: string;
}

export interface CustomRole {
  id: string;
  space_id: string;
  name: string;
  description: string;
  /** All that its members can do; space_read is always one of them. */
  permissions: string[];
  /** Members who have it. */
  members: number;
  created_by_name: string;
  created_at: string;
  updated_at: string;
}

export interface DatasetLabelView {
  id: string;
  /** Unique in the space. */
  name: string;
  description: string | null;
  color: string;
}

export interface DatasetSchema {
  /** Object with a JSON Schema for input, output or metadata; null: examples are not compared with one. */
  schema: unknown | null;
}

export interface DatasetSplitView {
  id: string;
  /** Unique in the dataset. */
  name: string;
  description: string | null;
  /** Such as #4f7cac. */
  color: string;
  /** An object. */
  metadata: unknown;
  /** Examples of the newest version. */
  example_count: number;
  created_at: string;
  updated_at: string;
}

export interface DatasetVersionView {
  version_id: string;
  /** Note of the one who made it. */
  description: string | null;
  /** An empty object. */
  metadata: unknown;
  created_at: string;
  /** From 1. */
  number: number;
  source: VersionSource;
  /** Examples that the previous version does not have. */
  created: number;
  /** Examples with other content than in the previous version. */
  patched: number;
  /** Examples of the previous version that this one lacks. */
  deleted: number;
  example_count: number;
  created_by: string;
}

export interface DatasetView {
  /** Id for Phoenix' clients; the plain id and the name are accepted as well. */
  id: string;
  /** Unique in the space. */
  name: string;
  description: string | null;
  /** An object. */
  metadata: unknown;
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
  /** Examples of the newest version. */
  example_count: number;
  /** Number of the newest version. */
  version: number;
}

export interface DayBudget {
  /** Tokens of all its runs per day (UTC); null: no limit. */
  tokens_per_day: number | null;
  /** Cost of all its runs per day (UTC) in millionths of a US dollar; null: no limit. */
  cost_micro_usd_per_day: number | null;
  /** From this percentage on, requests carry a notice to finish; 1 to 100. */
  soft_percent: number;
}

export interface Decision {
  /** Id. */
  id: string;
  /** Revision that was reviewed. */
  revision: number;
  decision: ReviewState;
  /** Name of the reviewer. */
  reviewer: string;
  /** Comment. */
  comment: string;
  /** Blocking flags were allowed. */
  allow_protected: boolean;
  /** It is an approval of the newest revision. */
  counts: boolean;
  /** Time of the review. */
  created_at: string;
  /** Time at which the delivery that it started was cancelled; it no longer counts. */
  withdrawn_at: string | null;
}

export interface Declared {
  /** Name of the environment variable. */
  name: string;
  /** Stored encrypted and never shown. */
  secret: boolean;
  required: boolean;
  /** Default of a plain variable. */
  default_value: string;
  help: string;
  /** Header that carries the secret; empty: authorization, or another credential header that contains the placeholder. */
  header: string;
  /** Value of the header, {} for the secret: Bearer {}. */
  format: string;
  /** Hosts that the secret may be sent to. */
  hosts: Host[];
}

export interface DeletedSpans {
  /** Number of deleted spans. */
  spans: number;
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
  /** Host that receives it, or addresses of email. */
  target: string;
  /** Kinds of notices it receives; empty: all. */
  kinds: Kind[];
  /** Projects whose notices are sent; empty: all. Notices of the space are always sent. */
  projects: string[];
  /** Template of the message; empty: the default text. */
  template: string;
  enabled: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
  last_sent_at: string | null;
  last_failed_at: string | null;
  /** Error of the last attempt; empty: none. */
  last_problem: string;
  /** Notices that are not delivered yet. */
  pending: number;
  /** Signing secret of a webhook; only in the response that creates it. */
  signing_secret: string | null;
}

export type DestinationType = "webhook" | "slack" | "teams" | "discord" | "pagerduty" | "opsgenie" | "email" | "email_digest";

export type Detector = "error_cluster" | "latency_regression" | "token_spike" | "cost_spike" | "tool_failure" | "tool_loop" | "truncated_output" | "refused_output" | "unparsable_output" | "empty_retrieval" | "eval_drop" | "version_regression" | "session_failure" | "provider_limit" | "reported_error" | "unused_tools" | "invalid_tool_call" | "agent_loop" | "ignored_instruction" | "missing_result" | "growing_context" | "reading" | "reported";

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
  /** The line, without its line end. */
  content: string;
  /** The file ends here without a line end. */
  no_newline: boolean;
  /** The line is longer than the shown text. */
  cut: boolean;
}

export interface DiffView {
  /** Number of the revision. */
  revision: number;
  /** Base commit. */
  base_commit: string;
  /** Head commit. */
  head_commit: string;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** The diff is larger than the shown part. */
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
  /** Days before spans are deleted; 0: never. */
  retention_days: number;
  /** Spans, traces and chat sessions that people evaluated: their traces stay. */
  kept_by_people: number;
  /** Of each of the three kinds, the last so many evaluated ones count. */
  kept_by_people_limit: number;
  /** Traces that examples of datasets come from: they stay. */
  kept_by_datasets: number;
  /** Traces that are evidence of issues: they stay. */
  kept_by_issues: number;
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
  /** Time of the decision. */
  time: string;
  /** Whether it was allowed. */
  allowed: boolean;
  /** Method; CONNECT for a tunnel that is forwarded unread. */
  method: string;
  /** Host and port. */
  target: string;
  /** Whether the connection to the host was encrypted. */
  tls: boolean;
  /** Path, without the query. */
  path: string;
  /** Rule that decided. */
  rule: string;
  /** Reason of the decision. */
  reason: string;
  /** Names of the secrets that the broker added. */
  secrets: string[];
  /** Whether it has ended. */
  ended: boolean;
  /** Status of the response; null for a tunnel, or without a response. */
  status: number | null;
  /** Address of the connection. */
  address: string | null;
  /** Bytes of the request. */
  sent_bytes: number | null;
  /** Bytes of the response. */
  received_bytes: number | null;
  /** Duration in microseconds. */
  took_us: number | null;
  /** Error. */
  failure: string | null;
}

export interface EncryptionState {
  /** Id of the master key; it does not reveal the key. */
  master_key: string;
  /** Source of the master key: file, environment or command. */
  source: string;
  /** Number of data keys: one per space that has secrets, and one of the installation. */
  data_keys: number;
  /** Number of secrets of the whole installation. */
  secrets: number;
  /** Time of creation of the oldest data key. */
  oldest_data_key_at: string | null;
}

export interface Enrolment {
  /** Secret for the authenticator app, in base32; only in this response. */
  key: string;
  /** The same as an otpauth address, for a QR code. */
  uri: string;
}

export interface EnvMatch {
  /** Name in the text. */
  name: string;
  /** Variable of the skill that it sets. */
  variable: string;
  /** It is stored as a secret. */
  secret: boolean;
  /** It replaces an existing value. */
  replaces: boolean;
  line: number;
}

export interface EnvPreview {
  /** Variables that would be set. */
  matches: EnvMatch[];
  /** Names that the skill does not have; they are ignored. */
  unknown: string[];
  /** Lines that could not be read. */
  problems: string[];
}

export interface EvalJob {
  /** Hash of evaluator, version, target and generation. */
  key: string;
  /** Id of the task. */
  task_id: string;
  /** Id of the backfill that made it; null: it is about a new target. */
  backfill_id: string | null;
  /** Version of the evaluator. */
  version: number;
  /** Span id, trace id, or the name of the chat session. */
  target_id: string;
  /** Of a span: its trace. */
  trace_id: string;
  /** 2: evaluated again, because spans arrived after the first verdict. */
  generation: number;
  /** Start of the target. */
  target_at: string;
  /** Probability that the target was sampled. */
  inclusion: number;
  state: EvalJobState;
  /** Why it failed or was skipped: missing_variable, too_large, timeout, provider, rejected, unparsable, off_config, code_failed, budget, cap, target_gone, evaluator_span, superseded, cancelled. */
  reason: string;
  /** The same in words. */
  error: string;
  /** How often it was tried. */
  attempts: number;
  /** Label of the verdict. */
  label: string | null;
  /** Score of the verdict. */
  score: number | null;
  /** Whether the verdict was stored before: nothing was spent. */
  cached: boolean;
  /** Tokens of all attempts. */
  tokens: number;
  /** Of these, estimated: the provider did not report them. The cost is estimated with them. */
  estimated_tokens: number;
  /** Cost of all attempts, in billionths of a US dollar. */
  cost_nano_usd: number;
  /** Of the last attempt. */
  duration_ms: number;
  /** Trace of the model's call in the hidden project hone-evals, or id of the agent's run. */
  judge_trace: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the first attempt. */
  begun_at: string | null;
  /** Time of the end. */
  ended_at: string | null;
}

export type EvalJobState = "queued" | "running" | "done" | "failed" | "skipped" | "expired";

export type EvalKind = "human" | "llm" | "code" | "agent";

export interface EvalNameView {
  target: EvalTarget;
  name: string;
  /** Number of evals. */
  count: number;
  /** The most frequent labels. */
  labels: string[];
}

export interface EvalSummary {
  /** Name of the evals. */
  name: string;
  /** Examples with a score. */
  examples: number;
  /** Mean over these examples; repetitions of an example count as one mean. */
  mean: number;
  /** Lower end of the 95 % interval; null: fewer than two examples. */
  low: number | null;
  /** Upper end of the 95 % interval. */
  high: number | null;
  /** Evals that failed; they have no score. */
  errors: number;
  /** Id of the evaluator that this server applied; null: a client sent the evals. */
  evaluator_id: string | null;
  /** Number of its version. */
  evaluator_version: number | null;
}

export type EvalTarget = "span" | "trace" | "chat_session";

export interface EvalTask {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project whose targets it evaluates. */
  project_id: string;
  /** Id of the evaluator. */
  evaluator_id: string;
  /** Name of the evaluator and of the evals. */
  evaluator_name: string;
  evaluator_kind: EvaluatorKind;
  /** Version of the evaluator; null: always the newest one. */
  version: number | null;
  /** Version that new jobs use now. */
  current_version: number;
  target: EvalTarget;
  /** Filter over spans; a trace or a chat session matches when one of its spans does. Empty: all. */
  filter: string;
  /** How many of a million targets are evaluated. */
  rate_ppm: number;
  /** Filters with rates of their own, in order. */
  strata: Stratum[];
  /** Time after the last span of a target. */
  delay_seconds: number;
  /** Cap of verdicts in an hour. */
  most_per_hour: number | null;
  /** Cap of verdicts in a day, UTC. */
  most_per_day: number | null;
  /** Budget of tokens in a day, UTC. */
  tokens_per_day: number | null;
  /** Budget in a day, UTC, in millionths of a US dollar. */
  cost_micro_usd_per_day: number | null;
  on_budget: OnBudget;
  /** Whether it evaluates new targets. */
  enabled: boolean;
  state: EvalTaskState;
  /** Why it is paused or waits; empty: it does not. */
  reason: string;
  /** No job begins before; null: jobs begin. */
  waits_until: string | null;
  /** Jobs that wait. */
  queued: number;
  /** Verdicts of the last 24 hours. */
  done_24h: number;
  /** Jobs that failed in the last 24 hours. */
  failed_24h: number;
  /** Jobs that were skipped in the last 24 hours. */
  skipped_24h: number;
  /** Tokens of its jobs today, UTC, with estimated ones. */
  tokens_today: number;
  /** Cost of its jobs today, UTC. */
  cost_micro_usd_today: number;
  /** Name of the user or key that created it. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
}

export type EvalTaskState = "active" | "paused";

export interface EvalView {
  id: string;
  target: EvalTarget;
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  name: string;
  /** Distinguishes evals of the same name. */
  identifier: string;
  /** Name of the author. */
  annotator: string;
  kind: EvalKind;
  label: string;
  score: number | null;
  explanation: string;
  metadata: unknown;
  created_at: string;
  updated_at: string;
  /** It was deleted; only in the history. */
  deleted: boolean;
  /** Version of the evaluator that wrote it; null: none. */
  evaluator_version: number | null;
  /** Key of the job of a task that wrote it; null: none. */
  job: string | null;
  /** Probability that the target was sampled; 1: it was not by chance. */
  inclusion: number;
}

export interface Evaluator {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project whose spans a rule evaluates; null for the other kinds. */
  project_id: string | null;
  kind: EvaluatorKind;
  /** Name of the evals it writes; unique in its project, without a project in its space. */
  name: string;
  /** Purpose, as text. */
  description: string;
  /** The spans it evaluates; empty: all. */
  filter: string;
  /** Filter that a span must match, in the filter language. */
  condition: string;
  /** Label of spans that match. */
  label: string;
  /** Score of spans that match. */
  score: number | null;
  /** Label of evaluated spans that do not match; empty: they get no eval. */
  other_label: string;
  /** Score of evaluated spans that do not match. */
  other_score: number | null;
  /** Share of the traces it evaluates, 1 to 100. */
  sample_percent: number;
  /** Whether it evaluates new spans. */
  enabled: boolean;
  /** Issue that it was created from. */
  issue_id: string | null;
  /** Number of the newest version; every change makes one, and each eval stores it. */
  revision: number;
  /** Number of evals written. */
  judged: number;
  /** Number of evals of spans that match. */
  matched: number;
  /** Share of verdicts that pass: of the last 24 hours, of a rule since its definition was changed. Null: it has no verdicts that pass or fail. */
  pass_rate: PassRate | null;
  /** Spans received before this time are evaluated. */
  judged_up_to: string;
  /** Time of the last evaluation. */
  last_at: string | null;
  /** Error of the last evaluation; empty: none. */
  problem: string;
  /** Of code: its newest definition; null in lists. */
  code: CodeDefinition | null;
  /** Of llm: its newest definition; null in lists. */
  llm: LlmDefinition | null;
  /** Of agent: its newest definition; null in lists. */
  agent: AgentDefinition | null;
  /** Of remote: its newest definition; null in lists. */
  remote: RemoteDefinition | null;
  /** Name of the user or key that created it. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
}

export type EvaluatorKind = "rule" | "code" | "llm" | "agent" | "remote";

export interface EvaluatorPreview {
  /** Spans it would have evaluated. */
  spans: number;
  /** Number of these spans that match. */
  matched: number;
  /** Hours covered by the preview. */
  hours: number;
}

export interface EvaluatorVersion {
  /** Id of the evaluator. */
  evaluator_id: string;
  /** Id of the space. */
  space_id: string;
  /** Number of the version, from 1. */
  number: number;
  kind: EvaluatorKind;
  /** Name of the evals. */
  name: string;
  /** Definition of a rule. */
  rule: RuleDefinition | null;
  /** Definition of code. */
  code: CodeDefinition | null;
  /** Definition of a model as evaluator. */
  llm: LlmDefinition | null;
  /** Definition of an agent as evaluator. */
  agent: AgentDefinition | null;
  /** Definition of a remote service as evaluator. */
  remote: RemoteDefinition | null;
  /** Equal for versions with the same definition. */
  content_hash: string;
  /** Name of the user or key that made the version. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
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

export interface ExampleDifference {
  /** Id of the example. */
  id: string;
  /** Id given by the sender. */
  external_id: string | null;
  /** added, removed or changed. */
  change: string;
  /** Input, output and metadata in the first version. */
  before: unknown | null;
  /** Input, output and metadata in the second version. */
  after: unknown | null;
}

export interface ExampleRow {
  id: string;
  /** Id given by the sender. */
  external_id: string | null;
  /** An object. */
  input: unknown;
  /** Reference output, an object. */
  output: unknown;
  /** An object. */
  metadata: unknown;
  /** Names of its splits. */
  splits: string[];
  /** Project of the span it came from. */
  source_project: string | null;
  /** Trace it came from; retention keeps it. */
  source_trace: string | null;
  /** Span it came from. */
  source_span: string | null;
  /** Time of its last change. */
  updated_at: string;
}

export interface ExperimentRow {
  id: string;
  name: string;
  description: string;
  /** Number of the dataset version. */
  dataset_version: number;
  /** Runs of each example. */
  repetitions: number;
  example_count: number;
  successful_run_count: number;
  failed_run_count: number;
  missing_run_count: number;
  created_by: string;
  created_at: string;
  /** Such as baseline. */
  tags: string[];
  /** One per name, by name. */
  evals: EvalSummary[];
  /** Project with the traces of the runs. */
  project_name: string;
  /** Id of the dataset. */
  dataset: string;
  /** An object. */
  metadata: unknown;
}

export interface ExperimentTagView {
  id: string;
  /** Unique in the dataset, such as baseline. */
  name: string;
  description: string | null;
}

export interface ExperimentTask {
  /** Id of the experiment. */
  experiment_id: string;
  /** Id of the space. */
  space_id: string;
  task: TaskDefinition;
  /** Runs at the same time. */
  concurrency: number;
  /** Time limit of all attempts together. */
  budget_seconds: number | null;
  /** Limit of the cost of its model calls. */
  budget_micro_usd: number | null;
  state: TaskState;
  /** Why it failed or was stopped. */
  reason: string;
  /** Commit of the repository that is run. */
  commit_name: string;
  /** Time of all attempts until now. */
  spent_ms: number;
  /** Tokens of the model calls of the task and its evaluators. */
  spent_tokens: number;
  /** Their cost in millionths of a US dollar; calls of models without a price count as 0. */
  spent_micro_usd: number;
  /** Project that has the traces of its runs. */
  project_id: string;
  /** Its name. */
  project_name: string;
  /** Evaluators with their fixed versions and their counts. */
  evaluators: TaskEvaluator[];
  /** Examples times repetitions. */
  expected_runs: number;
  /** Runs with an output. */
  successful_runs: number;
  /** Runs with an error. */
  failed_runs: number;
  /** Of a replay: examples that could not be replayed. */
  not_replayed: number;
  /** Name of the user or key that started it. */
  started_by: string;
  /** Time of creation. */
  created_at: string;
  /** Runs and evals that failed before this time are retried. */
  attempt_at: string;
  /** Time of the first run. */
  started_at: string | null;
  /** Time when it was done, failed or stopped. */
  ended_at: string | null;
}

export interface ExperimentView {
  /** Id for Phoenix' clients; the plain id is accepted as well. */
  id: string;
  dataset_id: string;
  dataset_version_id: string;
  name: string;
  description: string | null;
  /** Runs of each example. */
  repetitions: number;
  /** An object. */
  metadata: unknown;
  /** Project with the traces of the runs. */
  project_name: string | null;
  created_at: string;
  updated_at: string;
  /** Examples that were frozen when it was created. */
  example_count: number;
  successful_run_count: number;
  failed_run_count: number;
  missing_run_count: number;
  /** Number of the dataset version. */
  dataset_version: number;
  created_by: string;
}

export interface Explanation {
  method: string;
  /** Address as the broker parses it: host in lower case, without the query. */
  url: string;
  /** Whether the rules allow it. A name that resolves to a private address is rejected in any case. */
  allowed: boolean;
  /** Rule that decides. */
  rule: string;
  /** Reason, in one sentence. */
  reason: string;
  /** The broker reads method and path; else TLS is forwarded unread. */
  inspected: boolean;
  /** Names of the secrets that the broker may add to this request. */
  secrets: string[];
}

export type Exposure = "brokered" | "env";

export interface FacetValue {
  value: string;
  /** Number of spans. */
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
  /** Mode before, such as 100644; empty for an added file. */
  old_mode: string;
  /** Mode after; empty for a deleted file. */
  new_mode: string;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** Not text: no lines are shown. */
  binary: boolean;
  /** Only the first part of its lines is stored. */
  too_large: boolean;
  /** A submodule: a commit of another repository. */
  submodule: boolean;
  /** A symbolic link. */
  symlink: boolean;
  /** The name is not UTF-8 or has control characters. */
  odd_name: boolean;
}

export interface FileDiff {
  file: FileChange;
  /** Changed sections, in order. */
  hunks: Hunk[];
}

export interface FileEntry {
  /** Name; characters that are not text are replaced. */
  name: string;
  /** Path in the workspace; empty when its name is not text: it cannot be opened. */
  path: string;
  kind: FileKind;
  /** Size of a file. */
  bytes: number;
  /** Last change. */
  modified_at: string;
}

export type FileKind = "file" | "folder" | "link" | "other";

export interface FileView {
  path: string;
  bytes: number;
  executable: boolean;
  /** null when it is not text, or longer than 64 KiB. */
  text: string | null;
}

export interface FilterFieldInfo {
  name: string;
  /** text, number, duration, money, time, flag, or the allowed values. */
  type: string;
  doc: string;
}

export type FindingSeverity = "problem" | "notice";

export interface FindingView {
  /** What was checked. */
  name: string;
  /** ok, warning or problem. */
  state: string;
  detail: string;
  /** What to do; empty for ok. */
  advice: string;
}

export interface Fingerprint {
  /** Hash of detector, project and subject. */
  fingerprint: string;
  detector: Detector;
  /** Title of this fingerprint. */
  title: string;
  /** Filter of its spans. */
  filter: string;
  /** Affected traces in the window of the last scan that found it. */
  traces: number;
  /** Time of its newest span. */
  last_seen: string;
}

export interface Flag {
  kind: FlagKind;
  /** An approval must allow it explicitly. */
  blocking: boolean;
  /** File; empty: the whole branch or a commit message. */
  path: string;
  /** Line of the new file. */
  line: number | null;
  /** Explanation; it never contains a secret. */
  message: string;
}

export type FlagKind = "protected_path" | "lock_file" | "secret" | "invisible_text" | "odd_name" | "name_collision" | "symlink" | "submodule" | "lfs_pointer" | "mode_change" | "binary" | "license" | "closes_issue" | "size";

export interface FolderInfo {
  /** BLAKE2b of names and contents. */
  hash: string;
  /** Name in SKILL.md. */
  name: string;
  /** Description in SKILL.md. */
  description: string;
  files: number;
  bytes: number;
}

export interface ForgeCommentView {
  /** User name on the forge. */
  author: string;
  /** File; empty: the whole pull request. */
  path: string;
  /** Line of that file. */
  line: number | null;
  /** Markdown. */
  body: string;
}

export interface ForgeHook {
  /** Path on this server that the forge sends its webhook to. */
  path: string;
  /** Shown once; replaces the previous secret. */
  secret: string;
}

export interface ForgeIssueDraft {
  /** Title. */
  title: string;
  /** Markdown. */
  body: string;
  /** Identifies this text when the issue is created. */
  digest: string;
}

export interface ForkPoint {
  /** Session whose earlier turns the worker reads as text. */
  run: string;
  /** The last of these turns. */
  turn: number;
}

export interface FunnelRow {
  /** Start of the hour, UTC. */
  hour: string;
  /** Targets of the project whose last span was received in it. */
  received: number;
  /** Those that match the filter. */
  matched: number;
  /** Jobs: those in the sample, not counting backfills. */
  sampled: number;
  /** Jobs with a verdict. */
  judged: number;
  /** Of these with a stored verdict, which cost nothing. */
  cached: number;
  /** Jobs without a verdict. */
  failed: number;
  /** Jobs that were not tried. */
  skipped: number;
  /** Jobs that wait or run. */
  waiting: number;
  /** Failed and skipped jobs by reason. */
  reasons: Record<string, number>;
  /** Tokens of its jobs, with estimated ones. */
  tokens: number;
  /** Cost of its jobs. */
  cost_micro_usd: number;
}

export interface Gate {
  /** passed or failed. */
  verdict: string;
  /** Why it failed. */
  reasons: GateReason[];
  /** What the numbers cannot show. */
  notes: string[];
  coverage: Coverage;
}

export interface GateReason {
  /** Name of the evals; empty: of the whole experiment. */
  metric: string;
  /** significance, hard_break, must_pass, pairwise or coverage. */
  guard: string;
  /** Reason as a sentence. */
  message: string;
  delta: number | null;
  low: number | null;
  high: number | null;
  q: number | null;
}

export interface GitSource {
  /** Address of the repository: https, or file for one on the server. */
  url: string;
  /** Branch, tag or commit; empty: the default branch. */
  ref: string;
  /** Folder in the repository that contains SKILL.md; empty: the top. */
  path: string;
  /** Commit that the folder was fetched from; empty: not fetched yet. Set by the server only. */
  commit: string;
}

export interface Group {
  /** Name of the provider that sends it. */
  provider: string;
  /** As the groups claim has it. */
  name: string;
  /** Identities that were in it at their last sign-in. */
  people: number;
  /** Their addresses at the provider: the first 20, in the order of the alphabet. */
  emails: string[];
  /** Roles that the provider's mappings give to it; empty: none. */
  roles: GroupRole[];
  /** Newest sign-in with it; null: only a mapping names it. */
  last_login_at: string | null;
}

export interface GroupChange {
  /** Empty for all spans. */
  group: string;
  metrics: MetricChange[];
}

export interface GroupMapping {
  /** Value of the groups claim; `*` stands for everyone. */
  group: string;
  /** Id or name of a space; stored as its id. */
  space: string;
  role: Role;
}

export interface GroupRole {
  space_id: string;
  /** Empty: the space was deleted. */
  space_name: string;
  role: Role;
}

export interface HarnessInstallation {
  /** Name of the harness. */
  harness: string;
  /** Requested version, empty for the newest; the installed one after its end. */
  version: string;
  state: InstallState;
  /** Why it failed, and what to do. */
  error: string;
  /** Steps so far, the last one is under way. */
  steps: InstallStep[];
  /** Who requested it. */
  started_by: string;
  /** When it was requested. */
  started_at: string;
  /** null while it runs. */
  ended_at: string | null;
}

export interface HarnessRun {
  /** Id of the run. */
  id: string;
  state: State;
  /** Reason of the state. */
  reason: string;
  /** When it ended. */
  ended_at: string | null;
}

export interface HarnessView {
  /** Name in presets. */
  name: string;
  /** Name for people. */
  title: string;
  /** Model protocols it supports; none: it needs no model. */
  protocols: string[];
  /** Accepts a message during a turn. */
  live_follow_up: boolean;
  /** Continues its conversation in a new sandbox. */
  resumes: boolean;
  /** It can be used on this server. */
  ready: boolean;
  /** Installed version that runs use unless their preset pins another. */
  version: string | null;
  /** All installed versions, newest installation first. */
  versions: string[];
  /** Newest version that `hone harness upgrade` found; null before its first check. */
  newest: NewestHarness | null;
  /** Newest run of the space that ended by itself; null: none, or the caller cannot read runs. */
  last_run: HarnessRun | null;
  /** What to do when it is not ready. */
  advice: string | null;
}

export type HookSource = "hone" | "github" | "gitlab" | "grafana" | "pagerduty" | "slack" | "standard" | "hmac";

export interface Host {
  /** Exact name, or *.example.com for every name below example.com. */
  host: string;
  /** 443 if not given. */
  port: number;
  /** true if not given; a secret is never sent to a host without TLS. */
  tls: boolean;
  /** Methods such as GET; empty: all. */
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
  /** Function or section that contains it, as git reports it. */
  heading: string;
  /** Lines in order. */
  lines: DiffLine[];
}

export interface Identity {
  /** Provider through which it was linked. */
  provider: string;
  issuer: string;
  /** Id of the person at the issuer. */
  subject: string;
  /** Address that the provider sent last. */
  email: string;
  created_at: string;
  last_login_at: string | null;
}

export interface ImportProblemView {
  /** Number of the line, or of the row of a Parquet file, from 1. */
  line: number;
  reason: string;
}

export interface ImportReportView {
  /** Accepted spans; duplicates are counted in the ledger only. */
  accepted: number;
  rejected: number;
  /** The first hundred problems. */
  problems: ImportProblemView[];
  has_more_problems: boolean;
}

export interface IncompleteRunView {
  dataset_example: unknown;
  /** Missing or failed. */
  repetition_numbers: number[];
}

export type InitFailure = "abort" | "degrade";

export type InstallState = "running" | "succeeded" | "failed" | "cancelled";

export interface InstallStep {
  /** When it began. */
  time: string;
  /** What is done. */
  text: string;
}

export interface InterdiffView {
  /** Earlier revision. */
  from: number;
  /** Later revision. */
  to: number;
  /** The revisions have different base commits: other changes are included. */
  base_changed: boolean;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** The diff is larger than the shown part. */
  truncated: boolean;
  /** Changes between the revisions, with lines. */
  files: FileDiff[];
}

export interface Invite {
  id: string;
  space_id: string;
  email: string;
  role: Role;
  /** Name of the user or key that created it. */
  created_by: string;
  created_at: string;
  expires_at: string;
  state: InviteState;
  /** Path of the page that accepts it; only in the response that creates it. */
  path: string | null;
  /** Name of the custom role that it gives instead of `role`; or empty. */
  custom_role: string;
}

export interface InviteInfo {
  email: string;
  role: Role;
  space_name: string;
  expires_at: string;
  /** An account with this address exists; accept with its password. */
  user_exists: boolean;
  /** Name of the custom role that it gives; or empty. */
  custom_role: string;
}

export type InviteState = "open" | "accepted" | "revoked" | "expired";

export interface Issue {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Id of the project. */
  project_id: string;
  /** Fingerprint: hash of detector, project and subject; a merged issue has several. */
  fingerprint: string;
  detector: Detector;
  /** One line of plain text. */
  title: string;
  /** Why it was found, as text. */
  explanation: string;
  severity: Severity;
  status: Status;
  /** Why it is muted, dismissed, resolved or reopened. */
  reason: string;
  /** It is reopened then; null: until a member reopens it. */
  muted_until: string | null;
  /** Rank, 0 to 100. */
  score: number;
  /** Terms that add up to the score. */
  score_terms: ScoreTerm[];
  /** Affected traces in the window of the last scan that found it. */
  traces: number;
  /** Share of the traces in the window, 0 to 1. */
  share: number;
  /** Share in the window divided by the share in the baseline. */
  growth: number;
  /** Confidence of the finding, 0 to 1. */
  confidence: number;
  /** Filter of its spans, in the filter language. */
  filter: string;
  /** Numbers that support it. */
  facts: Fact[];
  /** Some of its traces, newest first. */
  examples: Example[];
  /** Scans that found it. */
  matches: number;
  /** Scans that found it while it was muted or dismissed. */
  quiet_matches: number;
  /** How often it was reopened. */
  reopened: number;
  /** User who is responsible for it. */
  assignee: string | null;
  /** E-mail address of the assignee. */
  assignee_name: string | null;
  /** Run or person that reported it, when no detector did. */
  reported_by: string | null;
  /** Artifact of the newest investigation. */
  investigation_id: string | null;
  /** Run of the investigation. */
  investigation_run: string | null;
  /** Time of the investigation. */
  investigated_at: string | null;
  /** Run that proposes a fix. */
  fix_run: string | null;
  /** Monitor created from it. */
  monitor_id: string | null;
  /** Evaluator created from it. */
  evaluator_id: string | null;
  /** Address of the linked issue on a forge. */
  forge_issue: string | null;
  /** confirmed or rejected by a worker with a model that read an example; empty: not read. It changes the confidence in the score, never the status. */
  verdict: string;
  /** Its reason, in one line. */
  verdict_reason: string;
  /** Run of that worker. */
  verdict_run: string | null;
  /** Issue that it was merged into. */
  merged_into: string | null;
  /** Time of its oldest span. */
  first_seen: string;
  /** Time of its newest span. */
  last_seen: string;
  /** Time at which it was found. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
}

export interface IssueComment {
  /** Id. */
  id: string;
  /** E-mail address or name of a key. */
  author: string;
  /** Plain text or Markdown. */
  text: string;
  /** Time of creation. */
  created_at: string;
}

export interface IssueDetail {
  issue: Issue;
  /** Fingerprints: hashes of detector, project and subject; several after a merge. */
  fingerprints: Fingerprint[];
  advice: Advice;
}

export interface JudgeMessage {
  /** system, user or assistant. */
  role: string;
  /** Text with variables, such as {{input}} or {{output.text}}: places in the document, or names of the mapping. */
  content: string;
}

export interface JudgeModel {
  /** Name of the model, as the provider has it. */
  name: string;
  /** Id or name of the model skill; if not given, the one of the space that offers the model. */
  skill: string;
  /** Provider, such as OPENAI or ANTHROPIC; if not given, the one of the skill. */
  provider: string;
  /** Invocation parameters of the provider. temperature is 0 where the model accepts it, unless given here; null leaves it out. */
  parameters: unknown;
}

export interface KappaView {
  /** Targets with a verdict and a label. */
  count: number;
  /** Share of equal labels. */
  agreement: number;
  /** Cohen's kappa; null below 10 targets, and when one label is all there is. */
  kappa: number | null;
  /** Lower end of its 95 % interval. */
  low: number | null;
  /** Upper end. */
  high: number | null;
}

export interface Key {
  id: string;
  name: string;
  kind: KeyKind;
  /** First characters of the key, to recognise it. */
  prefix: string;
  /** The only space that the key works in. */
  space_id: string;
  /** User of a personal key. */
  user_id: string | null;
  /** Role of a service key. */
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
  /** In lists; empty elsewhere. */
  space_name: string;
  /** Of the user of a personal key, in lists; empty elsewhere. */
  user_email: string;
}

export type KeyKind = "personal" | "service";

export type KeyState = "active" | "expired" | "revoked";

export type Kind = "monitor_triggered" | "monitor_recovered" | "issue_new" | "run_finished" | "review_waiting" | "automation_paused" | "budget_near" | "budget_spent" | "spans_late" | "spans_caught_up" | "pull_request_opened" | "pull_request_failed" | "pull_request_merged" | "pull_request_changes_requested" | "pull_request_changed" | "break_glass_login" | "eval_task_paused" | "evaluator_drifted";

export interface LackView {
  /** Path of a setting, such as `sandbox.image`; or automations, fork, workspace, kept_workspace, uploads, network. */
  name: string;
  /** Why the provider does not have it. */
  reason: string;
}

export interface LatencyComparison {
  /** Examples with a successful run in both experiments. */
  pairs: number;
  base_median_ms: number;
  other_median_ms: number;
  /** Median over the examples of other / base. */
  ratio: number;
  /** Sign-flip test of the logarithms. */
  p: number;
}

export interface LedgerView {
  /** stored + repeated + pending + rejected, always. */
  received: number;
  stored: number;
  /** Duplicates, which are not stored again. */
  repeated: number;
  /** Written to the span log, not stored yet. */
  pending: number;
  rejected: number;
  rejected_by_reason: Record<string, number>;
  /** Spans with values that were cut to the limit. */
  truncated: number;
  /** Values replaced by redaction. */
  redacted: number;
  /** Bytes of rows written. */
  bytes: number;
  /** Log records that were stored, on their span or to be searched. */
  log_records: number;
  /** Log records that were dropped. */
  log_records_dropped: number;
  /** Points of metrics that were received. */
  metric_points: number;
  /** Of these, points of metrics that are not about models, or were rejected. */
  metric_points_dropped: number;
  /** Dropped log records and points of metrics. */
  dropped_by_reason: Record<string, number>;
}

export interface LicenseView {
  name: string;
  purpose: string;
  license: string;
}

export type LineKind = "context" | "added" | "deleted";

export interface ListedEvaluator {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project whose spans a rule evaluates; null for the other kinds. */
  project_id: string | null;
  kind: EvaluatorKind;
  /** Name of the evals it writes; unique in its project, without a project in its space. */
  name: string;
  /** Purpose, as text. */
  description: string;
  /** The spans it evaluates; empty: all. */
  filter: string;
  /** Filter that a span must match, in the filter language. */
  condition: string;
  /** Label of spans that match. */
  label: string;
  /** Score of spans that match. */
  score: number | null;
  /** Label of evaluated spans that do not match; empty: they get no eval. */
  other_label: string;
  /** Score of evaluated spans that do not match. */
  other_score: number | null;
  /** Share of the traces it evaluates, 1 to 100. */
  sample_percent: number;
  /** Whether it evaluates new spans. */
  enabled: boolean;
  /** Issue that it was created from. */
  issue_id: string | null;
  /** Number of the newest version; every change makes one, and each eval stores it. */
  revision: number;
  /** Number of evals written. */
  judged: number;
  /** Number of evals of spans that match. */
  matched: number;
  /** Share of verdicts that pass: of the last 24 hours, of a rule since its definition was changed. Null: it has no verdicts that pass or fail. */
  pass_rate: PassRate | null;
  /** Spans received before this time are evaluated. */
  judged_up_to: string;
  /** Time of the last evaluation. */
  last_at: string | null;
  /** Error of the last evaluation; empty: none. */
  problem: string;
  /** Of code: its newest definition; null in lists. */
  code: CodeDefinition | null;
  /** Of llm: its newest definition; null in lists. */
  llm: LlmDefinition | null;
  /** Of agent: its newest definition; null in lists. */
  agent: AgentDefinition | null;
  /** Of remote: its newest definition; null in lists. */
  remote: RemoteDefinition | null;
  /** Name of the user or key that created it. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
  /** Of llm: it compares the outputs of two experiments instead of evaluating one. */
  pairwise: boolean;
}

export interface LlmDefinition {
  model: JudgeModel;
  /** Messages with variables, 1 to 20. */
  messages: JudgeMessage[];
  output: OutputConfig;
  /** Variables by name: a place in the document, or a literal. A variable without an entry is a place. */
  mapping: Record<string, MappedArgument>;
  /** Calls for one verdict, 1, 3 or 5: the majority decides. */
  votes: number;
  /** Whether the model explains its verdict. */
  explain: boolean;
  /** Whether equal documents use the stored verdict of the last 30 days. */
  cache: boolean;
  /** Time of one call, 1000 to 300000. */
  timeout_ms: number;
  /** It compares the outputs of two experiments, {{a}} and {{b}}, in both orders. Its labels are a, b and tie. It cannot evaluate a single output. */
  pairwise: boolean;
}

export interface LogRecordView {
  /** When it happened. */
  time: string;
  /** trace, debug, info, warn, error, fatal; empty if not sent. */
  severity: string;
  /** Name of the event; log if it has none. */
  name: string;
  /** The message. */
  body: string;
  /** service.name of the sender. */
  service: string;
  /** The logger or the instrumentation. */
  scope: string;
  /** Trace of the span that it names; empty if none. */
  trace_id: string;
  /** Span that it names; empty if none. */
  span_id: string;
  attributes: unknown;
}

export interface LoggedOut {
  /** Page of the provider of single sign-on that ends the login there too; null if there is none. */
  end_session_url: string | null;
}

export interface LoginOptions {
  /** Providers of single sign-on. */
  providers: SignOnButton[];
  /** false: only single accounts can log in with a password. */
  passwords: boolean;
}

export interface LoginSession {
  id: string;
  created_at: string;
  /** To within a minute. */
  last_seen_at: string;
  expires_at: string;
  /** Address of the client that logged in. */
  peer: string;
  user_agent: string;
  /** Provider of single sign-on; empty for a password. */
  provider: string;
  user_id: string;
  /** Address of the account. */
  email: string;
  /** The login of this request. */
  current: boolean;
}

export interface ManagedConsent {
  /** Address of the provider. */
  base_url: string;
  /** Name of the owner. */
  consented_by: string;
  /** Time of the consent. */
  consented_at: string;
}

export interface ManagedConsentView {
  /** What leaves this server, one line each. */
  leaves: string[];
  /** What the provider cannot keep, one line each. */
  not_kept: string[];
  /** Addresses that an owner of the space has consented to. */
  consents: ManagedConsent[];
}

export interface ManagedSettings {
  /** Id of an agent: its model, system prompt and tools are used, and Hone's tools only if it has them. Empty: Hone makes one for this content and uses it again. */
  agent: string;
  /** Id of an environment: its network is used. Empty: Hone makes one from sandbox.network and the skills. */
  environment: string;
}

export interface Manifest {
  /** Id of the preset, if the run has one. */
  preset: string | null;
  /** Name of the preset at that time. */
  preset_name: string | null;
  /** Version of the preset. */
  preset_version: number | null;
  settings: Settings;
  /** First prompt. */
  prompt: string;
  /** Version of the harness's program. */
  harness_version: string;
  /** Isolation tier. */
  tier: string;
  /** Hashes of the prepared layers. */
  layers: string[];
  /** Repositories and commits. */
  repos: ClonedRepo[];
  /** Skills and versions. */
  skills: string[];
  /** Names of the secrets available through the broker. */
  secrets: string[];
  /** Preset or run that owns the values of sandbox.secret_env; empty: none. */
  secret_env_of: string;
  /** The run is about spans that started at or after this time. */
  data_from: string | null;
  /** The run is about spans that started before this time. */
  data_to: string | null;
  /** The prompt states data_from and data_to; null: of a run before this was stored. */
  has_window: boolean | null;
  /** Values of the trigger; in the sandbox as /hone/trigger.json. */
  trigger: unknown | null;
  /** Budget of all runs of the automation per day. */
  automation_budget: Budget | null;
  /** Of a pinned rerun: versions that it must have. */
  pins: Pins | null;
  /** Of a fork after an earlier turn: where it begins. */
  fork_point: ForkPoint | null;
}

export interface MappedArgument {
  /** Place in the document, such as output.text or output.items[0].name. */
  path: string | null;
  /** A fixed value instead of a path. */
  literal: unknown | null;
}

export interface Me {
  /** null for a service key. */
  user: User | null;
  /** API key of the request. */
  key: Key | null;
  /** The caller's spaces, at most 1000. */
  spaces: Space[];
  installation_permissions: string[];
  /** Value of the header X-CSRF-Token, needed for writes with a cookie. */
  csrf_token: string | null;
  /** The password was generated and printed once. */
  must_change_password: boolean;
  /** The installation requires a second factor: there are no permissions until the account has one. */
  must_add_second_factor: boolean;
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
  /** Name of the custom role; its permissions count, not those of `role`. Empty: none. */
  custom_role: string;
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
  /** Images, sounds and files of the message, in the order of its parts. */
  media: MessageMedia[];
}

export interface MessageMedia {
  /** image, audio, video or file. */
  kind: string;
  /** Media type, such as image/png. */
  mime: string;
  /** A data: or http address; empty when it was not recorded. */
  source: string;
}

export type Metric = "count" | "errors" | "error_rate" | "latency_p50" | "latency_p95" | "latency_p99" | "latency_mean" | "first_token_p50" | "first_token_p95" | "tokens" | "cost" | "traces" | "eval_rate" | "eval_score";

export interface MetricBucketView {
  /** Start of the bucket. */
  time: string;
  /** Empty without group_by. */
  group: string;
  /** Increase in the bucket; of a gauge the mean of its points. */
  sum: number;
  /** Values of a histogram; otherwise points. */
  count: number;
  /** Of a histogram: sum / count. */
  mean: number | null;
  /** Of a histogram, estimated from its buckets. */
  p50: number | null;
  /** Of a histogram, estimated from its buckets. */
  p95: number | null;
}

export interface MetricChange {
  /** Name of the metric. Latencies are in nanoseconds, costs in dollars, rates 0 to 1. */
  metric: string;
  /** Value in the window to compare with; null: none. */
  baseline: number | null;
  /** Value in the window; null: none. */
  current: number | null;
  /** current - baseline. */
  difference: number | null;
  /** current / baseline; null when the baseline is 0. */
  ratio: number | null;
}

export interface MetricComparison {
  /** Name of the evals. */
  name: string;
  /** Examples with a score in both experiments. */
  pairs: number;
  /** Mean over these examples in the base. */
  base_mean: number;
  /** Mean over these examples in the other. */
  other_mean: number;
  /** other_mean - base_mean. */
  delta: number;
  /** Lower end of the 95 % interval of delta; null: fewer than two pairs. */
  low: number | null;
  /** Upper end of the 95 % interval of delta. */
  high: number | null;
  /** Probability of a difference at least as large by chance. */
  p: number;
  /** p, corrected for the number of metrics (Benjamini-Hochberg). */
  q: number;
  /** Test of p: exact_mcnemar, exact_sign_flip, sign_flip or normal. */
  test: string;
  /** All scores are 0 or 1. */
  is_pass_fail: boolean;
  /** Examples that fail in the base and pass in the other. */
  fixed: number;
  /** Examples that pass in the base and fail in the other. */
  broken: number;
  /** Examples that pass in both. */
  passed_both: number;
  /** Examples that fail in both. */
  failed_both: number;
  /** Examples that pass in some repetitions of one experiment. */
  flaky: number;
  /** Smallest difference that this number of examples shows in 80 % of cases. */
  smallest_delta: number;
  /** improved, regressed or no_difference_shown. */
  verdict: string;
}

export interface MetricSeriesView {
  /** Name of the metric. */
  metric: string;
  /** tokens, cost, latency or usage; empty: no point in the range. */
  use: string;
  /** Unit, as sent. */
  unit: string;
  /** gauge, sum or histogram. */
  kind: string;
  bucket_ns: number;
  /** By time, then by group; buckets without points are left out. */
  buckets: MetricBucketView[];
}

export interface MetricView {
  /** Name of the metric. */
  metric: string;
  /** tokens, cost, latency or usage. */
  use: string;
  /** Unit, as sent. */
  unit: string;
  /** gauge, sum or histogram. */
  kind: string;
  /** Points in the range. */
  points: number;
  /** Time of the last point. */
  last_time: string;
  /** Senders, at most 20. */
  services: string[];
}

export type MirrorState = "new" | "ready" | "failed";

export interface MissingParent {
  /** Position of the span. */
  span: number;
  /** 16 hexadecimal digits. */
  parent_id: string;
}

export interface ModelUsageView {
  /** The day, model, run, automation or project; empty: none. */
  group: string;
  /** Model calls. */
  calls: number;
  /** Calls without the provider's final numbers. */
  incomplete_calls: number;
  /** Calls without a response, or with an error. */
  failed_calls: number;
  /** Input tokens neither read from nor written to a cache. */
  input_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
  /** Output tokens without reasoning, where the provider reports it separately. */
  output_tokens: number;
  reasoning_tokens: number;
  /** Sum of the five, as the providers counted. */
  total_tokens: number;
  /** Estimated tokens of interrupted calls beyond the provider's numbers. They count for budgets. */
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
  /** Time since which the condition is true, while it is shorter than for_seconds. */
  bad_since: string | null;
  /** No notices now, because a member muted it or a mute window is active. */
  muted: boolean;
  /** End of the mute that a member set. */
  muted_until: string | null;
  mute_reason: string;
  /** Time of the next evaluation; null when it is disabled. */
  next_at: string | null;
  /** Result of the last evaluation. */
  last_reading: Reading | null;
  /** Error of the last evaluation; empty: none. */
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
  /** Limit that the value crossed. */
  bound: number | null;
  note: string;
  /** Name of the user or key; empty: an evaluation. */
  by: string;
}

export type MonitorEventKind = "created" | "changed" | "triggered" | "recovered" | "no_data" | "healthy" | "muted" | "unmuted" | "failed";

export interface MonitorSettings {
  /** As in GET …/series. Latency in milliseconds, cost in USD, rates 0 to 1. Null with sql. */
  metric: Metric | null;
  /** Instead of metric: a SELECT over the project's tables that returns one number. {{window.from}} and {{window.to}} stand for the window, in nanoseconds since 1970; for threshold and change. */
  sql: string | null;
  /** Only spans that match; GET /v1/filter_fields lists fields. */
  filter: string;
  /** threshold and change: the 20 largest groups are evaluated; the worst one decides. */
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
  /** Triggers only after the condition was true for this many seconds, up to 604,800. */
  for_seconds: number;
  /** A window with fewer spans has no data; for absence, it triggers. 1 if not given. */
  minimum_samples: number;
  /** Times without notices, at most 20. */
  mute_windows: MuteWindow[];
}

export type MonitorState = "healthy" | "no_data" | "triggered";

export interface MuteWindow {
  /** Start of a one-time window. */
  from: string | null;
  /** End of a one-time window. */
  to: string | null;
  /** Weekly: mon, tue, wed, thu, fri, sat, sun; every day if not given. */
  days: string[] | null;
  /** Weekly: time of day like 22:00. */
  start: string | null;
  /** Weekly: time of day like 06:00; if it is before start, on the next day. */
  end: string | null;
  /** Weekly: a name like Europe/Berlin; UTC if not given. */
  time_zone: string | null;
}

export interface NamedVerdict {
  /** Name of the eval: the evaluator's name, a dot and the name of the result. */
  name: string;
  label: string | null;
  score: number | null;
  explanation: string | null;
  /** An object. */
  metadata: unknown;
}

export interface NewestHarness {
  /** Newest version in the registry. */
  version: string;
  /** Time of the check. */
  checked_at: string;
}

export interface NextFiring {
  /** Scheduled time. */
  due_at: string;
}

export interface NextQueueItem {
  /** Reserved for the caller for 15 minutes; null: none is left. */
  item: QueueItem | null;
}

export interface NotReplayed {
  set: ReplaySet;
  /** The recorded trace. */
  trace_id: string;
  /** Why it cannot be replayed. */
  reason: string;
}

export interface NoticeSettings {
  /** Kinds that are counted as new for the caller. */
  kinds: Kind[];
  /** The caller has chosen nothing: what needs a person. */
  is_default: boolean;
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

export interface OfferedModel {
  /** As requests name it. */
  name: string;
  /** Name for people; empty: the provider has none. */
  title: string;
}

export type OnBudget = "skip" | "defer";

export interface OpenedIssue {
  /** Number on the forge. */
  number: number;
  /** Page on the forge. */
  url: string;
}

export type Origin = "session" | "automation";

export interface OutputConfig {
  type: OutputType;
  /** Of categorical: the labels with their scores. */
  values: OutputValue[];
  /** Of numeric: the smallest score. */
  minimum: number | null;
  /** Of numeric: the largest score. */
  maximum: number | null;
}

export interface OutputPolicies {
  investigation: OutputPolicy;
  labels: OutputPolicy;
  file: OutputPolicy;
  branch: OutputPolicy;
}

export type OutputPolicy = "auto" | "review";

export type OutputType = "boolean" | "categorical" | "numeric" | "text";

export interface OutputValue {
  /** A label that the evaluator can return. */
  label: string;
  /** Score of this label; null: none. */
  score: number | null;
}

export type Overlap = "skip" | "queue" | "parallel";

export type PackageKind = "npm" | "pypi" | "debian" | "crates" | "go" | "maven";

export interface PairAgreement {
  /** Pairs with verdicts and a label of people. */
  count: number;
  /** Pairs left out because people are divided evenly. */
  disputed: number;
  /** Share of equal labels. A verdict that changed with the order counts as a tie. */
  agreement: number;
  /** Cohen's kappa; null below 10 pairs, and when one label is all there is. */
  kappa: number | null;
  /** Lower end of its 95 % interval. */
  low: number | null;
  /** Upper end. */
  high: number | null;
}

export interface PairEval {
  /** Id of the example. */
  example_id: string;
  /** Repetition of both runs. */
  repetition: number;
  /** Run of the base. */
  base_run_id: string;
  /** Run of the other. */
  other_run_id: string;
  /** base, other, tie; inconsistent: the verdict changed with the order; undecided: cannot_judge; null: the evaluator failed. */
  winner: PairWinner | null;
  /** Label with the output of the base shown first: a is the base. */
  first_label: string;
  /** Label with the output of the other shown first: a is the other. */
  swapped_label: string;
  /** Of the first verdict. */
  explanation: string;
  /** Of the second verdict. */
  swapped_explanation: string;
  /** Why there is no verdict. */
  error: string;
  /** Both verdicts were stored ones, or the outputs are equal: no cost. */
  cached: boolean;
  /** Tokens of both verdicts. */
  tokens: number;
  /** Of these, estimated: the provider did not report them. The cost is estimated with them. */
  estimated_tokens: number;
  /** Their cost in billionths of a US dollar; null: no price. */
  cost_nano_usd: number | null;
  /** Their time. */
  duration_ms: number;
  /** Trace of the first verdict, in the project hone-evals. */
  trace_id: string;
  /** Trace of the second verdict. */
  swapped_trace_id: string;
  /** What people prefer, by their names: base, other or tie. */
  people: Record<string, string>;
}

export interface PairSummary {
  /** Its task. */
  task_id: string;
  /** Name of the evaluator. */
  name: string;
  /** Its id. */
  evaluator_id: string;
  /** Its version. */
  version: number;
  /** State of the task. */
  state: string;
  /** Why it failed or was stopped. */
  reason: string;
  /** Examples with verdicts. */
  examples: number;
  /** Examples for which the other is better in both orders. */
  wins: number;
  /** Examples for which the base is better in both orders. */
  losses: number;
  /** Examples for which neither is better. */
  ties: number;
  /** Examples for which the verdict changed with the order: never a win. */
  inconsistent: number;
  /** Examples that could not be decided. */
  undecided: number;
  /** wins / (wins + losses); null: there are neither. */
  win_rate: number | null;
  /** Lower end of its 95 % interval (Wilson). */
  low: number;
  /** Upper end. */
  high: number;
  /** Exact sign test of wins and losses. */
  p: number;
  /** p, corrected together with the evals of the comparison (Benjamini-Hochberg). */
  q: number;
  /** improved, regressed or no_difference_shown. */
  verdict: string;
  /** Pairs with verdicts in both orders. */
  pairs: number;
  /** Pairs of runs with an output in both experiments. */
  expected_pairs: number;
  /** Pairs for which the evaluator failed. */
  failed_pairs: number;
  /** Pairs whose verdict changed with the order. */
  flipped_pairs: number;
  /** Share of these among the decided pairs; null: there are none. */
  flip_rate: number | null;
  /** Lower end of its 95 % interval (Wilson). */
  flip_low: number;
  /** Upper end. */
  flip_high: number;
  /** Verdicts for the output that was shown first. */
  first_picks: number;
  /** Verdicts for one of both outputs. */
  picks: number;
  /** first_picks / picks: 0.5 without position bias. */
  first_share: number | null;
  /** Exact sign test of flipped pairs that favour the first position against those that favour the second. */
  bias_p: number;
  /** Position bias: first, second or none, by bias_p < 0.05. */
  favours: string;
  people: PairAgreement;
}

export interface PairTask {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Id of the first experiment. */
  base: string;
  /** Id of the second experiment. */
  other: string;
  /** Id of the evaluator. */
  evaluator_id: string;
  /** Its version. */
  number: number;
  /** Its name. */
  name: string;
  /** Pairs at the same time. */
  concurrency: number;
  /** Limit of its tokens. */
  budget_tokens: number | null;
  /** Limit of its cost. */
  budget_micro_usd: number | null;
  state: TaskState;
  /** Why it failed or was stopped. */
  reason: string;
  /** Pairs: repetitions of examples with an output in both experiments. */
  expected: number;
  /** Pairs with verdicts. */
  done: number;
  /** Pairs for which the evaluator failed. */
  failed: number;
  /** Examples that have another content in the other experiment; they are not compared. */
  changed: number;
  /** Tokens of its calls. */
  spent_tokens: number;
  /** Their cost in millionths of a US dollar; calls of models without a price count as 0. */
  spent_micro_usd: number;
  /** Name of the user or key that started it. */
  started_by: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the first pair. */
  started_at: string | null;
  /** Time when it was done, failed or stopped. */
  ended_at: string | null;
  /** Pairs that failed before this time are retried. */
  attempt_at: string;
}

export type PairWinner = "base" | "other" | "tie" | "inconsistent" | "undecided";

export interface PassRate {
  /** Version of the evaluator that gave these verdicts. */
  version: number;
  /** Number of these verdicts. */
  scored: number;
  /** Share that passes: a score of 0.5 or more. Verdicts of a sample are weighted by their inclusion. */
  rate: number;
  /** Lower end of Wilson's 95 % interval. */
  low: number;
  /** Upper end. */
  high: number;
}

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

export interface PeopleCommit {
  /** Commit. */
  id: string;
  /** Name of its author. */
  author: string;
  /** First line of its message. */
  title: string;
}

export interface PermissionInfo {
  name: string;
  doc: string;
  /** Held by installation owners only. */
  installation: boolean;
}

export interface Pins {
  /** Version of the harness's program; empty: it has none. */
  harness_version: string;
  /** Skills and versions. */
  skills: string[];
}

export interface Preset {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Unique in its space. */
  name: string;
  /** Purpose, as text. */
  description: string;
  /** Increases with every change of the settings. */
  version: number;
  settings: Settings;
  /** Actions that its workers can take without review, and rules that have no effect. Empty in lists. */
  warnings: string[];
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
}

export interface PresetVersion {
  /** Number, from 1. */
  version: number;
  settings: Settings;
  /** Name of the user or key that created it. */
  changed_by: string;
  /** Time of the change. */
  changed_at: string;
  /** Differences to the previous version: `model: a → b`. */
  changed: string[];
}

export interface PreviewFiring {
  /** Time at which it would have fired. */
  due_at: string;
  outcome: SlotOutcome;
  reason: SlotReason;
  /** Value of the metric. */
  value: number | null;
}

export interface PreviewPoint {
  /** End of the window. */
  time: string;
  /** Value of the metric in the window that ends then; null: no data. */
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
  /** Days before spans are deleted; null: the server's default. */
  retention_days: number | null;
  created_at: string;
}

export interface ProjectTraceSettings {
  /** Disk space for the project's spans; above it the oldest spans are deleted, in addition to the retention by days. */
  retention_bytes: number | null;
  /** Spans per day (UTC); more are rejected until the next day. */
  spans_per_day: number | null;
  /** Bytes of spans per day (UTC); more are rejected until the next day. */
  bytes_per_day: number | null;
  /** Share of traces that is stored, 0 to 1; null: all. */
  sample: number | null;
  /** Redaction of spans before they are stored. */
  redaction: RedactionSettings | null;
  /** Days before log records are deleted, at most 365; 0: they are not stored; null: 7. */
  log_retention_days: number | null;
}

export interface ProjectTraceSettingsView {
  settings: ProjectTraceSettings;
  used_today: UseToday;
}

export interface PromptTagMove {
  /** Id. */
  id: string;
  /** Name of the tag. */
  tag: string;
  /** Number of the version that had it; null: none had it. */
  from_version: number | null;
  /** Number of the version that has it since; null: it was removed. */
  to_version: number | null;
  /** Name of the user or key; empty: not recorded then. */
  moved_by: string;
  /** Time of the change. */
  moved_at: string;
}

export interface PromptTagView {
  id: string;
  /** Unique in the prompt. */
  name: string;
  description: string | null;
}

export interface PromptTemplate {
  /** The template. */
  text: string;
  /** JSON text. */
  variables: string;
  /** The template's version. */
  version: string;
}

export interface PromptTraceRow {
  /** Id of the trace. */
  trace_id: string;
  /** Id of its project. */
  project_id: string;
  /** Name of its project. */
  project_name: string;
  /** Id of the version. */
  version_id: string;
  /** Number of the version. */
  version_number: number;
  /** Name of the newest span that names the version. */
  name: string;
  /** Number of spans that name the version. */
  spans: number;
  /** Time at which the newest of these spans began. */
  started_at: string;
}

export interface PromptVariable {
  /** Written {{name}} in a prompt. */
  name: string;
  type: VariableType;
  /** Meaning of the variable. */
  doc: string;
  /** Only for triggers of this type; null: for all. */
  trigger: TriggerType | null;
}

export interface PromptVersionRow {
  id: string;
  /** From 1. */
  number: number;
  /** Model, template, parameters, tools, as they were sent. */
  content: unknown;
  /** Tags that point at it. */
  tags: string[];
  created_by: string;
  created_at: string;
}

export interface PromptView {
  id: string;
  /** Unique in the space. */
  name: string;
  description: string | null;
  source_prompt_id: string | null;
  /** An object. */
  metadata: unknown;
}

export interface Proposal {
  /** Id of the proposal; the example gets it as its external id. */
  id: string;
  /** An object. */
  input: unknown;
  /** Reference output, an object. */
  output: unknown;
  /** An object. */
  metadata: unknown;
  /** Why it should be in the dataset. */
  reason: string;
  /** Id of the project of its trace. */
  source_project: string | null;
  /** Trace that it comes from. */
  source_trace: string | null;
  /** Span that it comes from. */
  source_span: string | null;
  state: ProposalState;
  /** Name of the key. */
  proposed_by: string;
  /** Run of the worker. */
  run_id: string | null;
  /** Time of the proposal. */
  created_at: string;
  /** Who accepted or rejected it. */
  decided_by: string | null;
  /** Time of the decision. */
  decided_at: string | null;
}

export type ProposalState = "pending" | "accepted" | "rejected";

export interface ProtectedPromptTag {
  /** Name of the tag, in all prompts of the space. */
  name: string;
  /** Name of the user or key that protected it. */
  created_by: string;
  /** Time of the protection. */
  created_at: string;
}

export interface Provider {
  /** Part of the redirect address; cannot be changed. */
  name: string;
  /** Text of the button on the login page. */
  title: string;
  /** Address of the provider, exactly as its metadata states it. */
  issuer: string;
  client_id: string;
  /** The secret itself is never shown. */
  has_client_secret: boolean;
  scopes: string[];
  /** Domains of verified e-mail addresses that can sign in; empty: all. */
  allowed_domains: string[];
  /** Claim with the groups, by name or path. */
  groups_claim: string;
  mappings: GroupMapping[];
  /** A first sign-in is linked to the account that has the same, verified address. */
  link_by_email: boolean;
  /** false: signing in through it is refused. */
  enabled: boolean;
  /** Address to register at the provider; empty if public_url is not set. */
  redirect_uri: string;
  /** Address of back-channel logout, to register at a provider that supports it. */
  logout_uri: string;
  created_by: string;
  created_at: string;
  updated_at: string;
}

export interface ProviderCheck {
  /** Metadata and keys can be read and used. */
  ok: boolean;
  /** Empty when ok. */
  problem: string;
  /** Address to register at the provider. */
  redirect_uri: string;
  authorization_endpoint: string;
  /** Empty: logging out ends only the login here. */
  end_session_endpoint: string;
  /** Responses have the `iss` parameter (RFC 9207). */
  sends_issuer: boolean;
  /** Keys that can verify signatures. */
  keys: number;
  /** Clock of the provider; ID tokens tolerate 60 s. */
  provider_date: string;
}

export interface ProviderView {
  name: RunProvider;
  /** Name for people. */
  title: string;
  /** Where its runs work. */
  text: string;
  /** Whether this installation has it. */
  available: boolean;
  /** Whether the policy of the space allows it. */
  allowed: boolean;
  /** What to do if it is not available or not allowed; otherwise empty. */
  advice: string;
  /** The only harness that it runs; empty: any of the harness list. */
  harness: string;
  /** Settings and capabilities that it does not have. */
  lacks: LackView[];
}

export interface PullRequest {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project of the run. */
  project_id: string;
  /** Artifact of the approved branch. */
  artifact_id: string;
  /** Run that pushed it. */
  run_id: string;
  /** Id of the repository. */
  repo_id: string;
  /** Name of the repository. */
  repo_name: string;
  /** Issue that it fixes; empty: none. */
  fix_of: string;
  /** github, gitea, gitlab or plain; empty until it is known. */
  forge: string;
  /** Branch on the forge. */
  branch: string;
  /** Branch that it is merged into. */
  target: string;
  /** Revision that was approved last. */
  revision: number;
  /** Revision that the forge has; 0: none. */
  delivered_revision: number;
  state: PullRequestState;
  /** State of the update of an open one to the approved revision: pending, failed or cancelled; empty: the forge has it. */
  update_state: string;
  /** Number on the forge. */
  number: number | null;
  /** Page on the forge. */
  url: string;
  /** Title. */
  title: string;
  /** It is a draft. */
  draft: boolean;
  /** Commit that Hone delivered. */
  head_commit: string;
  /** Newest commit on the forge. */
  forge_commit: string;
  /** What people did with the branch on the forge: commits_added, force_pushed; empty: nothing. */
  people: string;
  /** Commits on the branch that people pushed, at most 50. */
  their_commits: PeopleCommit[];
  /** Whether the forge can merge it: yes, conflicts; empty: not known. */
  mergeable: string;
  /** State of the forge's checks: passed, failed, running; empty: none. */
  checks: string;
  /** The checks one by one, failed ones first, at most 50. */
  check_results: PullRequestCheck[];
  /** Review state on the forge: approved, changes_requested; empty: none. */
  forge_review: string;
  /** The last error, and what to do about it. */
  error: string;
  /** Cause of the error, as docs/review.md lists them; empty: none, or not known. */
  cause: string;
  /** New address of a repository that moved; empty: it did not. */
  moved_to: string;
  /** Failed attempts in a row. */
  attempts: number;
  /** Time of the next poll of the forge. */
  next_try_at: string;
  /** Time at which the branch was approved. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
  /** Time of the last poll of the forge. */
  polled_at: string | null;
  /** Time of the merge. */
  merged_at: string | null;
  /** Time at which it was merged, closed, cancelled or abandoned. */
  ended_at: string | null;
}

export interface PullRequestCheck {
  /** Number of the job on the forge, for its log; empty: it has no log. */
  id: string;
  /** Name, as the forge shows it. */
  name: string;
  /** passed, failed, running or skipped. */
  result: string;
  /** One line of the check. */
  summary: string;
  /** Page of the check. */
  url: string;
}

export interface PullRequestEvent {
  /** Id. */
  id: string;
  kind: PullRequestEventKind;
  /** Details in one sentence; may be empty. */
  message: string;
  /** Time at which Hone noticed it. */
  created_at: string;
}

export type PullRequestEventKind = "approved" | "opened" | "updated" | "failed" | "update_failed" | "follow_failed" | "succeeded_by" | "cancelled" | "abandoned" | "taken_over" | "checks_sent" | "merged" | "closed" | "reopened" | "retargeted" | "ready" | "draft" | "commits_added" | "force_pushed" | "branch_restored" | "changes_requested" | "checks_failed" | "conflicts";

export type PullRequestState = "queued" | "pushed" | "open" | "merged" | "closed" | "only_pushed" | "failed" | "cancelled" | "abandoned";

export interface PushedBranch {
  /** Id. */
  id: string;
  /** Run that pushed it. */
  run_id: string;
  /** Id of the repository. */
  repo_id: string;
  /** Name in the quarantine: hone/RUN/… */
  branch: string;
  /** Commit that the branch starts from; empty: no shared history. */
  base_commit: string;
  /** Newest commit. */
  head_commit: string;
  /** Number of pushes. */
  pushes: number;
  /** First push. */
  created_at: string;
  /** Last push. */
  pushed_at: string;
}

export interface Queue {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project of its items. */
  project_id: string;
  /** Name, unique in the space. */
  name: string;
  /** What people decide and by which criteria; Markdown. */
  instructions: string;
  target: EvalTarget;
  /** People who label each item, 1 to 10. */
  reviewers_per_item: number;
  /** Verdicts of evaluators are visible before the person has labelled the item. */
  shows_verdicts: boolean;
  /** Name of the dataset that corrected outputs go to; empty: none. */
  dataset: string;
  /** New matching traces are added by themselves. */
  fill_enabled: boolean;
  /** Which ones, in the filter language; empty: all. */
  fill_filter: string;
  fill_rule: QueueFillRule;
  /** Share of them in millionths, decided by the trace id. */
  fill_ppm: number;
  /** Traces before this time were considered. */
  filled_up_to: string;
  /** Why the last attempt to fill it failed; empty: it did not. */
  fill_problem: string;
  /** What is labelled. */
  configs: QueueConfig[];
  /** Items that wait for labels. */
  pending: number;
  /** Items with all labels. */
  done: number;
  /** Items that were skipped. */
  skipped: number;
  /** Name of the user or key that created it. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
  /** Time of the last change. */
  updated_at: string;
}

export interface QueueAgreement {
  /** Agreement of people, per config. */
  configs: ConfigAgreement[];
  /** Progress per person, most items first. */
  people: ReviewerProgress[];
}

export interface QueueConfig {
  /** Id of the annotation config. */
  id: string;
  /** Name of the evals that it writes. */
  name: string;
  type: AnnotationConfigType;
  /** What it is about. */
  description: string;
  /** Labels with their scores, in the order of the keys 1 to 9. */
  labels: AnnotationLabel[];
  /** Smallest score. */
  lower_bound: number | null;
  /** Largest score. */
  upper_bound: number | null;
}

export interface QueueEval {
  /** Id or name of the annotation config. */
  config: string;
  /** Of a categorical one: one of its labels. */
  label: string | null;
  /** Of a continuous one: a number within its bounds. */
  score: number | null;
  /** A reason, or the text of a freeform one. */
  explanation: string | null;
}

export type QueueFillRule = "matching" | "undecided" | "split" | "disputed";

export interface QueueFilled {
  /** Items that were added. */
  added: number;
  /** Targets that match; those that are in the queue already are not added. */
  seen: number;
}

export interface QueueItem {
  /** Id. */
  id: string;
  /** Its queue. */
  queue_id: string;
  target: EvalTarget;
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  /** The trace of a span, or the trace itself. */
  trace_id: string;
  state: QueueItemState;
  /** People who have labelled it. */
  labelled_by: number;
  /** Until then it is reserved for the caller; null: it is not. */
  reserved_until: string | null;
  /** reserved, done or skipped by the caller; empty: not yet. */
  my_state: string;
  /** What the caller gave. */
  my_evals: QueueEval[];
  /** Verdicts of evaluators, once the caller may see them. */
  verdicts: QueueVerdict[];
  /** There may be verdicts, shown after the caller's labels. */
  verdicts_hidden: boolean;
  /** Name of the user or key, or `fill rule`. */
  added_by: string;
  /** Time at which it was added. */
  created_at: string;
}

export type QueueItemState = "pending" | "done" | "skipped";

export interface QueueVerdict {
  /** Name of the eval. */
  name: string;
  /** llm, code or agent. */
  kind: string;
  /** Its label. */
  label: string;
  /** Its score. */
  score: number | null;
  /** Its explanation. */
  explanation: string;
}

export interface RateView {
  /** null: there is nothing to count. */
  rate: number | null;
  /** Lower end of Wilson's 95 % interval. */
  low: number;
  /** Upper end. */
  high: number;
}

export interface Reach {
  skill_id: string;
  skill_name: string;
  /** brokered, open (no secret), env, model, gateway, or plain. */
  kind: string;
  /** null for a variable that is only in the environment. */
  host: Host | null;
  /** Environment variable of the worker. */
  variable: string;
  /** Secret that the broker adds to the request; empty: none. */
  secret_name: string;
  header: string;
  format: string;
  /** Explanation, as text. */
  detail: string;
}

export interface Reading {
  /** End of the window. */
  at: string;
  /** Value of the metric; null: none. */
  value: number | null;
  /** Spans in the window. */
  samples: number;
  /** The worst group, with group_by. */
  group: string;
  /** Lower limit. */
  lower: number | null;
  /** Upper limit. */
  upper: number | null;
  /** It recovers above this value. */
  recover_lower: number | null;
  /** It recovers below this value. */
  recover_upper: number | null;
  /** automatic: the median of the history; change: the value of the previous window. */
  usual: number | null;
  /** Note: basis of the usual range, or why there is none. */
  note: string;
}

export interface ReadingStarted {
  /** Run that reads. */
  run_id: string;
  /** Traces that it was given. */
  traces: number;
}

export interface ReadingTotals {
  /** Readings of the last 30 days. */
  readings: number;
  /** Traces that they were given. */
  traces: number;
  /** Findings that they reported. */
  findings: number;
  /** Issues that they confirmed. */
  confirmed: number;
  /** Issues that they rejected. */
  rejected: number;
  /** Entries that did not pass the checks. */
  refused: number;
  /** Tokens that they used. */
  tokens: number;
  /** Their cost in millionths of a US dollar. */
  cost_micro_usd: number;
  /** Tokens for 1,000 traces. */
  tokens_per_1000_traces: number;
  /** Cost of 1,000 traces in millionths of a US dollar. */
  cost_micro_usd_per_1000_traces: number;
  /** Start of the newest one. */
  last_at: string;
}

export interface RecoveryCodes {
  /** Each replaces a code once; only in this response. */
  codes: string[];
}

export interface RedactionSettings {
  /** Attributes whose values are redacted; a * at the end matches any rest. */
  keys: string[];
  /** Regular expressions (RE2) whose matches are redacted. */
  patterns: string[];
  /** Redacts API keys, tokens and private keys of known formats. */
  secrets: boolean;
  /** Redacts e-mail addresses. */
  emails: boolean;
  /** Redacts Authorization headers, API keys and tokens; on unless it is switched off here. */
  credentials: boolean;
}

export interface Ref {
  /** Full name: refs/heads/main. */
  name: string;
  /** Object that the ref points to. */
  object: string;
  /** Commit of an annotated tag; else the same as object. */
  commit: string;
}

export type Reminder = "old" | "unused";

export interface RemoteDefinition {
  /** Address that gets the document by POST; https, or http. */
  url: string;
  output: OutputConfig;
  /** Parts of the document by name; without one it gets all of it. */
  mapping: Record<string, MappedArgument>;
  /** Time of one request, 1000 to 120000. */
  timeout_ms: number;
}

export interface Replay {
  /** Id of the example. */
  example_id: string;
  /** Project of the recorded trace. */
  source_project: string | null;
  /** The recorded trace. */
  source_trace: string | null;
  /** The span whose input is replayed. */
  source_span: string | null;
  tools: ReplayTools;
  /** Recorded results that the application got instead of calls. */
  tool_results: number;
  /** Why it was not replayed; empty: it was. */
  reason: string;
}

export type ReplayOutcome = "none" | "not_reproduced" | "fixed" | "partly" | "unchanged" | "regressed";

export interface ReplayPolicy {
  /** Shell command that runs the application on one example, at the top of the repository in a sandbox without network: the example as JSON on stdin, the output as JSON on stdout. */
  command: string;
  /** Evaluator that decides whether an output passes, by id or name, with @NUMBER for a version; if not given, the evaluator of the issue. */
  evaluator: string;
  /** Evaluator of the control set; the same one if not given. */
  control_evaluator: string;
  /** Runs of each example on each side, 1 to 9. */
  repetitions: number;
  /** Most traces of the issue, 1 to 20; 6 or more are needed for p < 0.05. */
  evidence: number;
  /** Most passing traces of the same entry point, 0 to 20. */
  control: number;
  /** Time of one run, 1 to 3600. */
  timeout_seconds: number;
  /** Time of all runs of one side together, 1 to 86400. */
  budget_seconds: number;
  /** The last line of stdout is the output; lines before it are ignored. */
  last_line: boolean;
  /** The application calls its tools in the sandbox; if not given, it gets their recorded results. */
  live_tools: boolean;
}

export interface ReplayResult {
  /** Replayed traces of the issue. */
  evidence: number;
  /** Of these, those that fail on the base. */
  reproduced: number;
  /** Of the reproduced ones, those that pass on the branch. */
  fixed: number;
  /** Replayed traces of the control set. */
  control: number;
  /** Of these, those that pass on the base. */
  control_base_passed: number;
  /** Of these, those that pass on the branch. */
  control_branch_passed: number;
  /** Examples of both sets that pass on the base and not on the branch. */
  broken: number;
  /** Exact McNemar test of the evidence, two-sided. Six fixed examples are the least that reach 0.05. */
  p: number;
  /** Examples whose tools were not called: the application got recorded results. */
  with_recorded_tools: number;
  /** Cost of model calls in millionths of a US dollar. */
  spent_micro_usd: number;
  /** Time of both experiments. */
  spent_ms: number;
  /** The first error of a run or of an evaluator; empty: none. */
  problem: string;
  /** Every replayed example, evidence first. */
  examples: ReplayedExample[];
  /** What could not be replayed, with the reason. */
  not_replayed: NotReplayed[];
}

export type ReplaySet = "evidence" | "control";

export interface ReplaySettings {
  /** Issue whose traces are the evidence. */
  issue: string;
  /** Shell command that runs the application on one example. */
  command: string;
  /** Evaluator of the evidence, with @NUMBER for its version. */
  evaluator: string;
  /** Evaluator of the control set. */
  control_evaluator: string;
  /** Runs of each example on each side. */
  repetitions: number;
  /** Most traces of the issue. */
  evidence: number;
  /** Most traces of the control set. */
  control: number;
  /** Time of one run. */
  timeout_seconds: number;
  /** Time of each of the two experiments. */
  budget_seconds: number;
  /** The last line of stdout is the output. */
  last_line: boolean;
  /** The application calls its tools in a sandbox without network instead of getting recorded results. */
  live_tools: boolean;
  /** The policy of the preset started it. */
  automatic: boolean;
}

export interface ReplaySide {
  /** Repetitions that passed. */
  passed: number;
  /** Repetitions that failed; the others have no verdict. */
  failed: number;
  verdict: ReplayVerdict;
}

export type ReplayState = "queued" | "running" | "done" | "failed" | "stopped";

export type ReplayTools = "none" | "live" | "recorded";

export type ReplayVerdict = "pass" | "fail" | "none";

export interface ReplayedExample {
  set: ReplaySet;
  /** Id of the example in the dataset. */
  example_id: string;
  /** The recorded trace, in the project of the issue. */
  trace_id: string;
  base: ReplaySide;
  branch: ReplaySide;
  /** Recorded results of tools that the application got instead of calls. */
  tool_results: number;
}

export interface Repo {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Unique in the space; the folder it is cloned into. */
  name: string;
  /** Address that it is cloned from. */
  url: string;
  /** Branch, tag or commit that workers get; empty: the forge's default branch. */
  default_ref: string;
  /** Skill whose credential fetches it; null: none is needed. */
  skill_id: string | null;
  /** Folder that workers get of a large repository; empty: all of it. */
  path_scope: string;
  /** The forge may be on a private address. */
  allow_private: boolean;
  state: MirrorState;
  /** A fetch is running. */
  fetching: boolean;
  /** The forge's default branch: refs/heads/main. */
  head_ref: string;
  /** Number of branches and tags in the mirror. */
  refs: number;
  /** Size of the mirror. */
  bytes: number;
  /** Last successful fetch. */
  fetched_at: string | null;
  /** Error of the last fetch. */
  error: string;
  /** Parts that a worker does not get: submodules, contents of LFS. */
  notes: string[];
  /** User, key or run that used it first. */
  created_by: string;
  /** Time of creation. */
  created_at: string;
}

export interface RepoCheck {
  /** read, forge, repository, push, pull_requests, labels, comments, checks or webhook. */
  name: string;
  result: CheckResult;
  /** What was found, and what to do. */
  message: string;
}

export interface RepoSettings {
  /** Address to clone from: https, or file for one on the server. */
  url: string;
  /** Branch, tag or commit; empty: the default branch. */
  ref: string;
  /** Folder of a large repository that the worker needs. */
  path: string;
  /** Number of commits to clone; 0: all. */
  depth: number;
}

export interface RetriedJobs {
  /** Jobs that are retried. */
  jobs: number;
}

export interface ReviewCount {
  kind: ArtifactKind;
  review: ReviewState;
  /** Number of artifacts. */
  count: number;
}

export interface ReviewCounts {
  /** Number of artifacts of all kinds that wait for a review. */
  pending: number;
  /** Counts by kind and state. */
  counts: ReviewCount[];
}

export interface ReviewItem {
  artifact: Artifact;
  /** Of a branch: name of the repository. */
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
  /** Of a branch: number of blocking flags. */
  blocking_flags: number | null;
  /** Of a branch: state of its diff. */
  diff_state: RevisionState | null;
  /** Of a branch: result of the verification. */
  verification: VerificationState | null;
  /** Number of unresolved threads. */
  open_comments: number;
  /** State of its pull request. */
  pull_request: PullRequestState | null;
}

export interface ReviewPolicy {
  /** Number of people who must approve a branch, 1 to 10. */
  approvals: number;
  /** The member who started the run cannot approve its branches. */
  not_starter: boolean;
  role: Role;
  /** Further patterns of protected paths, whose change needs an explicit approval: deploy/**, *.tf. */
  protected_paths: string[];
  /** Lock files of package managers are protected too. */
  protect_lock_files: boolean;
  /** Commands run on the base and on the branch. */
  verification: VerificationCommand[];
  /** A branch cannot be approved while its commands have not passed. */
  require_verified: boolean;
  replay: ReplayPolicy;
  /** Each revision is replayed when it is pushed, and cannot be approved until its outcome is fixed. */
  require_replayed: boolean;
  /** false only pushes the branch. */
  open_pull_request: boolean;
  /** Pull requests are opened as drafts. */
  draft: boolean;
  /** Most open pull requests of Hone in one repository, 1 to 100. */
  open_pull_requests: number;
  /** Labels of pull requests. */
  labels: string[];
  /** User names on the forge whose review is requested. */
  reviewers: string[];
  commits: CommitStyle;
  /** Author of the delivered commits: Name <mail@example.com>; empty: the worker, or Hone for a squashed commit. */
  author: string;
  /** Lines at the end of each delivered commit's message: Key: value. */
  trailers: string[];
  /** Adds Signed-off-by of its author to each delivered commit. */
  sign_off: boolean;
  /** Changes requested on the forge are sent to the session. */
  follow_forge_comments: boolean;
  follow_comments_of: CommentAuthors;
}

export type ReviewState = "pending" | "approved" | "rejected" | "changes_requested";

export interface ReviewView {
  artifact: Artifact;
  /** The branch, when the artifact is one. */
  branch: Branch | null;
  /** Revisions of the branch, oldest first. */
  revisions: Revision[];
  /** All decisions, oldest first. */
  decisions: Decision[];
  /** Number of approvals of the newest revision that count. */
  approvals: number;
  /** Number of approvals needed. */
  approvals_needed: number;
  /** Number of unresolved threads. */
  open_comments: number;
  /** Why the caller cannot approve it now; null: the caller can. */
  cannot_approve: string | null;
  /** Replay of the newest revision; null: none was started. */
  replay: BranchReplay | null;
  /** Newest pull request of the approved branch. */
  pull_request: PullRequest | null;
  /** Pull requests of the same branch that are over, oldest first. */
  earlier_pull_requests: PullRequest[];
}

export interface ReviewerProgress {
  /** The person. */
  user_id: string;
  /** Name. */
  name: string;
  /** Items labelled. */
  done: number;
  /** Items skipped. */
  skipped: number;
  /** Time of all labelled items. */
  ms_spent: number;
  /** Time of the last one. */
  last_at: string | null;
}

export interface Revision {
  /** Number, from 1; each push of the branch creates one. */
  revision: number;
  /** Commit that the branch starts from. */
  base_commit: string;
  /** Newest commit. */
  head_commit: string;
  state: RevisionState;
  /** Why it has no diff. */
  error: string;
  /** First line of the first commit's message. */
  title: string;
  /** Commits, oldest first, at most 100. */
  commits: Commit[];
  /** Number of changed files. */
  files: number;
  /** Added lines. */
  additions: number;
  /** Deleted lines. */
  deletions: number;
  /** Flags, blocking ones first. */
  flags: Flag[];
  /** Flags that an approval must allow explicitly. */
  blocking_flags: number;
  verification: VerificationState;
  /** Results of each command on the base and on the branch. */
  verification_results: VerificationResult[];
  /** Time of the push. */
  pushed_at: string;
  /** Time at which the diff was ready. */
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
  /** Id of the current master key. */
  master_key: string;
  /** Number of data keys that were encrypted again (master) or created (data). */
  data_keys: number;
  /** Number of secrets that were encrypted again. */
  secrets: number;
}

export interface RuleDefinition {
  /** The spans it evaluates; empty: all. */
  filter: string;
  /** Filter that a span must match. */
  condition: string;
  /** Label of spans that match. */
  label: string;
  /** Score of spans that match. */
  score: number | null;
  /** Label of evaluated spans that do not match. */
  other_label: string;
  /** Score of evaluated spans that do not match. */
  other_score: number | null;
  /** Share of the traces it evaluates. */
  sample_percent: number;
}

export interface Run {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Project it is bound to. */
  project_id: string;
  origin: Origin;
  /** Id of the preset, if the run has one. */
  preset_id: string | null;
  /** Name of the preset at that time. */
  preset_name: string | null;
  /** Automation that started it. */
  automation_id: string | null;
  /** First line of the prompt, unless one was given. */
  title: string;
  provider: RunProvider;
  /** Name of the harness. */
  harness: string;
  /** Model; empty when the harness needs none. */
  model: string;
  state: State;
  /** Reason of the state, for example the error. */
  reason: string;
  /** E-mail address, key or automation. */
  started_by: string;
  /** Runs with a higher priority start first. */
  priority: number;
  /** Number of turns. */
  turns: number;
  /** Number of tool calls. */
  steps: number;
  /** Sequence number of its newest event. */
  last_event: number;
  usage: Usage;
  /** Cost; null when a model's price is unknown. */
  cost_micro_usd: number | null;
  /** Run it repeats or was forked from. */
  from_run: string | null;
  /** Its trace in the project hone-runs. */
  trace_id: string;
  /** Whether it accepts a follow-up now. */
  takes_follow_ups: boolean;
  /** Time at which its workspace expired; it takes no follow-ups since. */
  workspace_removed_at: string | null;
  /** Name of the person who keeps it: it does not expire. */
  kept_by: string | null;
  /** Time of creation. */
  created_at: string;
  /** Time at which its first sandbox was created. */
  started_at: string | null;
  /** Time at which it ended. */
  ended_at: string | null;
  /** Time that it was prepared and ran until its last change of state, in nanoseconds; without the time that it waited. null: not known. */
  worked_ns: number | null;
  /** Since when it works now; null: it does not. */
  working_since: string | null;
}

export interface RunEval {
  name: string;
  label: string | null;
  score: number | null;
  explanation: string | null;
  /** Why there is no result. */
  error: string | null;
  /** Trace of the evaluation. */
  trace_id: string | null;
  /** Project that has it; null: there is no trace. */
  trace_project: string | null;
  /** Verdicts of people, newest first; one of each person. */
  corrections: CorrectionView[];
}

export interface RunEvent {
  /** Sequence number, from 1. */
  seq: number;
  /** Time of the event. */
  time: string;
  kind: EventKind;
  /** Turn it belongs to; 0 before the first. */
  turn: number;
  /** Text of the event. */
  text: string;
  /** Step of the preparation: provision, clone, layers, init, skills, project, harness. */
  step: string | null;
  /** New state of the run. */
  state: State | null;
  /** Tool that was called. */
  tool: string | null;
  /** Id shared by a tool call and its result. */
  call_id: string | null;
  /** Arguments of a call, as JSON text. */
  input: string | null;
  /** Name of the author of a follow-up. */
  author: string | null;
  /** Artifact that was saved. */
  artifact: string | null;
  /** Tokens as the harness counts them. */
  usage: Usage | null;
  /** The step failed. */
  failed: boolean;
  /** Text or input is cut; GET …/events/{seq} has more. */
  truncated: boolean;
}

export type RunProvider = "local" | "kubernetes" | "claude-managed";

export interface RunRow {
  id: string;
  /** Id of the example. */
  example: string;
  /** Id of the example given by the sender. */
  external_id: string | null;
  /** From 1. */
  repetition: number;
  /** Input of the example. */
  input: unknown;
  /** Reference output of the example. */
  reference: unknown;
  /** Any JSON. */
  output: unknown;
  /** Why there is no output. */
  error: string | null;
  latency_ms: number;
  /** Trace of the run. */
  trace_id: string | null;
  /** Id of the project of a recorded trace; null: the project of the experiment. */
  trace_project: string | null;
  /** By name. */
  evals: RunEval[];
}

export interface SandboxSettings {
  /** `host` (the machine's /usr, read-only) or the name of an image. */
  image: string;
  /** Shell script that prepares the root file system, or the home of a pod; its result is cached by content. */
  init_script: string;
  init_failure: InitFailure;
  /** Time limit of the init script, and of setup. */
  init_seconds: number;
  /** Environment variables; not for secrets. */
  env: Record<string, string>;
  /** Environment variables that are secrets: stored encrypted and shown as ********; saving ******** keeps the value. The worker can read them; a skill keeps a secret outside the sandbox. */
  secret_env: Record<string, string>;
  /** Memory of all processes. */
  memory_bytes: number;
  /** Number of processors. */
  cpus: number;
  /** Processes and threads at the same time. */
  pids: number;
  /** Size of the workspace. */
  disk_bytes: number;
  /** Time limit of one sandbox; at most 1440. */
  wall_clock_minutes: number;
  /** The sandbox of a waiting session is stopped after this time. */
  idle_minutes: number;
  /** Time limit of one call of Hone's own tools (the MCP server, and `hone TOOL` inside). */
  tool_seconds: number;
  network: EgressMode;
  /** Further hosts: `host` or `host:port`, `*.example.com`. */
  allow_hosts: string[];
  /** Package mirrors of the installation that can be read: by the init script, setup and verification, and by the worker unless its network is `none`. */
  packages: PackageKind[];
  /** Hosts that the init script, setup and verification can reach, and the worker cannot. */
  setup_hosts: string[];
  /** Installs what a repository needs, once for each content of its lock files: `auto` (its .hone/setup.sh, the postCreateCommand of its devcontainer, or its lock files), or a shell script. Empty: nothing. */
  setup: string;
  minimum_tier: Tier;
}

export interface SavedView {
  page: ViewPage;
  name: string;
  /** filter=…&range=…, as in the address of the page. */
  query: string;
  /** Shown when the page is opened without a filter or range. */
  is_default: boolean;
  /** Name of the user or key that saved it last. */
  saved_by: string;
  created_at: string;
  updated_at: string;
}

export interface Scan {
  /** Id. */
  id: string;
  /** Id of the project. */
  project_id: string;
  /** `schedule`, or the user or key that requested it. */
  asked_by: string;
  /** Time of the start. */
  started_at: string;
  /** Duration in milliseconds. */
  took_ms: number;
  /** Start of the baseline: the time that the window is compared with. */
  baseline_from: string;
  /** Start of the scanned window. */
  window_from: string;
  /** End of the scanned window. */
  window_to: string;
  /** Spans in the window. */
  spans: number;
  /** Traces in the window. */
  traces: number;
  /** Queries to the span store. */
  questions: number;
  /** Rows read by these queries. */
  rows_read: number;
  /** Bytes read by these queries. */
  bytes_read: number;
  /** Peak memory of the server's own span engine during the scan; 0: unknown. */
  memory_bytes: number;
  /** Number of findings. */
  found: number;
  /** Number of new issues. */
  new_issues: number;
  /** Number of reopened issues. */
  reopened: number;
  /** Findings of muted or dismissed issues. */
  quiet: number;
  /** Workers started. */
  investigations: number;
  /** Tokens that these workers have used so far. */
  tokens: number;
  /** Cost of these workers in millionths of a US dollar. */
  cost_micro_usd: number;
  /** Findings and cost of each detector. */
  detectors: DetectorCost[];
  /** Error; empty: none. */
  failed: string;
}

export interface SchedulerState {
  /** Time of the last step of this server's scheduler. */
  last_step: string | null;
  /** Delay of the most overdue automation. */
  behind_seconds: number;
  /** Slots without an outcome. */
  due_slots: number;
  /** Fired slots whose run is active. */
  live_slots: number;
  /** Number of automations. */
  automations: number;
  /** Number of paused automations. */
  paused: number;
  /** The next scheduled time of any automation. */
  next_at: string | null;
  /** Steps since the server started. */
  steps: number;
  /** Steps with an error. */
  failed_steps: number;
  /** The last error. */
  last_error: string;
}

export interface ScoreTerm {
  /** affected_traces, share, growth, severity, novelty or confidence. */
  name: string;
  /** Points that it adds to the score. */
  points: number;
  /** Most points that it can add. */
  most: number;
  /** Number that the points are computed from. */
  why: string;
}

export interface SearchHit {
  span: SpanRow;
  /** input or output. */
  field: string;
  /** Text around the first match. */
  snippet: string;
}

export interface SecondFactorState {
  /** A login with the password needs a code. */
  enabled: boolean;
  /** Setting second_factor_required of the installation. */
  required: boolean;
  /** Recovery codes that are left. */
  recovery_codes: number;
  confirmed_at: string | null;
}

export interface SecretRoute {
  /** Header that carries it; empty: a credential header that contains the placeholder. */
  header: string;
  /** Value of the header, {} for the secret. */
  format: string;
  hosts: Host[];
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
  /** Time at which it was set last. */
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
  /** One value per metric, in the same order; null: no value. */
  values: (number | null)[];
}

export interface ServerInfo {
  version: string;
  /** The program on the disk is another one than the one that runs: a restart completes the upgrade. */
  program_replaced: boolean;
  /** The versions that served, newest first, at most 20; for installation owners, empty for others. */
  versions: VersionChange[];
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

export interface ServerView {
  /** Stays through restarts. */
  name: string;
  address: string;
  version: string;
  /** The newest that its program has. */
  schema_version: number;
  /** api, ingest, scheduler, worker; separated by commas. */
  roles: string;
  /** Where it stores spans. */
  span_store: string;
  /** Where it keeps artifacts and other objects; empty for versions that do not state it. */
  object_store: string;
  started_at: string;
  /** By the clock of the database; renewed every 5 seconds. */
  lease_until: string;
  /** Whether its lease lasts. */
  live: boolean;
  /** Whether it is the one that responds. */
  this_server: boolean;
}

export interface SessionAnnotation {
  id: string;
  created_at: string;
  updated_at: string;
  /** APP: written by a person; API: written by a key. */
  source: string;
  /** Id of the user; null for a key. */
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
  provider: RunProvider;
  /** claude-code, codex, opencode, gemini, qwen, copilot, command, playbook or, with its provider, claude-managed. */
  harness: string;
  /** Installed version of the harness's program; empty: the one that was installed last. */
  harness_version: string;
  /** Model name, as the provider of the model skill calls it. */
  model: string;
  /** Program and arguments of the harness `command`, or name of a playbook. */
  command: string[];
  /** Added to the system prompt of the harness; at most 100,000 characters. */
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
  managed: ManagedSettings;
}

export interface Setup {
  /** Values of plain variables. */
  variables: Record<string, string>;
  /** Exposure of each secret; brokered if not given. */
  exposure: Record<string, Exposure>;
  /** Variables of a custom skill. */
  declared: Declared[];
  /** Hosts of a custom skill that need no secret. */
  allow: Host[];
  /** Repository that contains the skill's folder. */
  git: GitSource | null;
  /** The uploaded folder. */
  folder: FolderInfo | null;
}

export type Severity = "low" | "medium" | "high" | "critical";

export interface SeverityVolume {
  /** Start of the hour. */
  time: string;
  /** Affected traces of issues with this severity. */
  low: number;
  medium: number;
  high: number;
  critical: number;
}

export interface Share {
  space_id: string;
  /** Name of the space. */
  name: string;
  created_at: string;
}

export type Side = "old" | "new";

export interface SignOnButton {
  name: string;
  title: string;
}

export interface SignalSettings {
  /** Minutes between two scans; 1 to 1440, 10 if not given. */
  cadence_minutes: number;
  /** Hours that a scan covers; 1 to 168, 24 if not given. */
  window_hours: number;
  /** Days before the window that it is compared with; 1 to 30, 7 if not given. */
  baseline_days: number;
  /** Facts about the application for the workers; at most 20,000 bytes. */
  context: string;
  /** Preset of the workers; none: a playbook without a model. */
  preset: string | null;
  /** The application's repository, for investigations and fixes. */
  repo: RepoSettings | null;
  /** Most investigations that one scan starts, 0 to 20. */
  max_investigations: number;
  least_severity: Severity;
  /** Tokens of all its workers per day; none: no limit. */
  tokens_per_day: number | null;
  /** Cost of all its workers per day in millionths of a US dollar; none: no limit. */
  cost_micro_usd_per_day: number | null;
  /** Traces that a worker with a model reads after a scan, 0 to 50; 0 (if not given): none. Needs `preset`. */
  sampled_traces: number;
  /** Hours between two such readings; 1 to 168, 24 if not given. */
  sampling_hours: number;
  /** Most tokens of one reading; 1,000 to 10,000,000, 200,000 if not given. */
  sampled_tokens: number;
}

export interface SignalView {
  /** Id of the project. */
  project_id: string;
  /** Whether it scans on its schedule. */
  enabled: boolean;
  settings: SignalSettings;
  /** Text of the consent that is needed to enable it. */
  consent_note: string;
  /** Name of the user who consented. */
  consent_by: string | null;
  /** Time of the consent. */
  consent_at: string | null;
  /** The newest scan. */
  last_scan: Scan | null;
  /** Time of the next scan; null when it is disabled. */
  next_scan_at: string | null;
  /** Issues that are open, under investigation or have a proposed fix. */
  open_issues: number;
  /** Automation whose slots record every scan and every worker; null: it was never enabled. */
  automation_id: string | null;
  /** What workers with a model found in sampled traces, and its cost; null: there was no reading. */
  readings: ReadingTotals | null;
}

export interface SigningSecret {
  /** Key of the HMAC-SHA-256 in X-Hone-Signature, over X-Hone-Time, a dot and the body. Shown only now. */
  signing_secret: string;
}

export interface Skill {
  id: string;
  name: string;
  type: SkillType;
  scope: SkillScope;
  /** null: a skill of the installation. */
  space_id: string | null;
  description: string;
  /** Increases with every change. */
  version: number;
  variables: VariableView[];
  /** Required variables without a value; a run cannot use the skill until they are set. */
  missing: string[];
  /** Actions that workers can take with this skill without review. */
  warnings: string[];
  /** Hosts that can be reached without a secret. */
  allow: Host[];
  git: GitSource | null;
  folder: FolderInfo | null;
  /** Visible to members who can share it; empty for others. */
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
  /** Hosts that it can send requests to, with variables in braces. */
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
  /** Summary of the change. */
  summary: string;
  /** Name of the user or key. */
  changed_by: string;
  changed_at: string;
  setup: Setup;
}

export interface Slot {
  /** Id. */
  id: string;
  /** Id of the automation. */
  automation_id: string;
  /** Key that makes this entry unique: its time, threshold crossing, state change or delivery. */
  due_key: string;
  /** Scheduled time. */
  due_at: string;
  outcome: SlotOutcome;
  reason: SlotReason;
  /** Details of the reason, as text. */
  note: string;
  /** Run that it started. */
  run_id: string | null;
  /** Final state of that run. */
  run_state: State | null;
  /** Values of the trigger; the run reads them from /hone/trigger.json. */
  values: unknown;
  /** Started by a person. */
  by_hand: boolean;
  /** Time of creation. */
  created_at: string;
  /** Time of the outcome. */
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
  /** Permissions of the caller in this space. */
  permissions: string[];
  /** Name of the caller's custom role; its permissions count, not those of `role`. Empty: none. */
  custom_role: string;
}

export interface SpaceBudget {
  /** Tokens of all model calls per day (UTC); null: no limit. */
  tokens_per_day: number | null;
  /** Cost of all model calls per day (UTC) in millionths of a US dollar; null: no limit. Models without a price are rejected under a cost limit. */
  cost_micro_usd_per_day: number | null;
  /** From this percentage on, requests carry a notice to finish; 1 to 100. */
  soft_percent: number;
  /** The most that spans of model calls contain: full (messages, tools, responses), metadata (no text) or none (no spans). A preset can reduce it. Unchanged if not given. */
  capture: Capture | null;
}

export interface SpacePolicy {
  /** Whether the network mode `open` is allowed. */
  open_network: boolean;
  /** Hosts that presets and skills may open, with those of repositories and of model skills: `host`, `host:port`, `*.example.com`; none: any. A list also excludes the network mode `open`. */
  hosts: string[] | null;
  /** Whether secret values may be in the environment of workers: skills with exposure `env`, and `sandbox.secret_env`. */
  env_secrets: boolean;
  minimum_tier: Tier;
  /** Providers that are allowed; none: all that the installation has. */
  providers: RunProvider[] | null;
  /** Most memory of one sandbox; none: the installation's. */
  memory_bytes: number | null;
  /** Most processors of one sandbox; none: the installation's. */
  cpus: number | null;
  /** Most processes and threads of one sandbox; none: the installation's. */
  pids: number | null;
  /** Largest workspace; none: the installation's. */
  disk_bytes: number | null;
  /** Longest time limit of one sandbox; none: the installation's. */
  wall_clock_minutes: number | null;
  /** Largest token budget of one run, and the budget of runs without one; none: no limit. */
  tokens: number | null;
  /** Largest cost budget of one run in millionths of a US dollar, and the budget of runs without one; none: no limit. */
  cost_micro_usd: number | null;
  /** Days that ended runs with their transcripts and artifacts are kept, if less than the installation's. */
  run_days: number | null;
  /** Days that the workspace of an ended run is kept for follow-ups, if less than the installation's. */
  workspace_days: number | null;
}

export interface SpacePolicyView {
  policy: SpacePolicy;
  installation: Ceilings;
}

export interface SpaceStorage {
  /** null: what belongs to no space. */
  space_id: string | null;
  space_name: string;
  total_bytes: number;
  spans: number;
  /** Its share of the compressed parts, by rows. */
  traces_bytes: number;
  /** Artifacts of runs, each content once. */
  artifacts_bytes: number;
  /** Workspaces that sessions keep for follow-ups. */
  threads_bytes: number;
  /** Roots that init scripts prepared. */
  layers_bytes: number;
  /** Mirrors of repositories. */
  repositories_bytes: number;
  /** Of no space: the database, the span log, images, harnesses, what is being deleted. */
  other_bytes: number;
  /** At most a minute ago. */
  measured_at: string;
}

export interface SpaceTraceSettings {
  /** Spans per day (UTC) of all projects together; more are rejected until the next day. */
  spans_per_day: number | null;
  /** Bytes of spans per day (UTC) of all projects together; more are rejected until the next day. */
  bytes_per_day: number | null;
}

export interface SpaceTraceSettingsView {
  settings: SpaceTraceSettings;
  used_today: UseToday;
}

export interface Span {
  /** Id that includes the project. */
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
  /** Attributes as sent. */
  attributes: unknown;
  events: SpanEvent[];
}

export interface SpanAnnotation {
  id: string;
  created_at: string;
  updated_at: string;
  /** APP: written by a person; API: written by a key. */
  source: string;
  /** Id of the user; null for a key. */
  user_id: string | null;
  name: string;
  annotator_kind: AnnotatorKind;
  result: AnnotationResult;
  metadata: unknown;
  identifier: string;
  span_id: string;
}

export interface SpanContext {
  /** As it was sent. */
  trace_id: string;
  /** As it was sent. */
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
  /** Version of the service. */
  version: string;
  finish_reason: string;
  exception_message: string;
  /** From the start to the first token; 0: not known. */
  first_token_ns: number;
  input: string;
  input_mime: string;
  output: string;
  output_mime: string;
  /** Attributes as sent; JSON text where a key is repeated. */
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
  /** The same, exactly. */
  cost_nano_usd: number;
  user_id: string;
  /** The chat session. */
  session_id: string;
  tool_name: string;
  exception_type: string;
  /** It sends or receives a message between parts of the application (OpenTelemetry's kinds producer and consumer) and is no step of an agent. */
  is_message: boolean;
}

export interface SpanSeries {
  /** Names of the metrics. Latencies are in nanoseconds, costs in dollars, rates 0 to 1. */
  metrics: string[];
  /** Length of a bucket; 0: one bucket. */
  bucket_ns: number;
  /** Sorted by time and group; empty buckets are omitted. */
  buckets: SeriesBucket[];
}

export interface SpanTextView {
  /** Spans of several traces can have the same id. */
  trace_id: string;
  span_id: string;
  /** As people read it; cut. */
  input: string;
  /** As people read it; cut. */
  output: string;
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

export type StorageKind = "runs" | "workspaces" | "quarantines" | "mirrors" | "artifacts" | "layers" | "images" | "sandboxes" | "uploads";

export interface StorageView {
  /** Size of the file system of the data directory. */
  disk_bytes: number;
  /** Bytes that are free on it. */
  free_bytes: number;
  /** Last time that old data was collected since the start. */
  collected_at: string | null;
  /** What is stored, by kind. */
  kinds: StoredKind[];
}

export interface StoredBackup {
  /** For `hone restore store:NAME`. */
  name: string;
  bytes: number;
  created_at: string;
  /** Where it is. */
  store: string;
}

export interface StoredExport {
  name: string;
  bytes: number;
  created_at: string;
  /** It is deleted then, by `export_lifetime`. */
  expires_at: string;
}

export interface StoredKind {
  kind: StorageKind;
  /** Number of them. */
  count: number;
  /** Disk that they take. Of runs: 0, they are rows of the database. */
  bytes: number;
  /** Of them, those that stay although they are over a limit: a live run, an open review, an open pull request or a person needs them. */
  needed: number;
  /** The setting keep_…: age, number and bytes. */
  limits: string;
  /** Bytes that the limits allow on this disk. */
  limit_bytes: number | null;
  /** Number that the server removed in the last 30 days. */
  removed: number;
  /** Bytes that this freed. */
  freed_bytes: number;
}

export interface Stratum {
  /** Targets that match; the first stratum that matches decides. */
  filter: string;
  /** How many of a million of them are evaluated, 1 to 1000000. */
  rate_ppm: number;
}

export interface TaskDefinition {
  kind: TaskKind;
  /** Shell command. It reads {id, input, metadata, repetition} as JSON on stdin and writes its output as JSON to stdout. It never gets the reference output. */
  command: string;
  /** Files of the command by their path, at most 2 MiB together; they are in its working directory. */
  files: Record<string, string>;
  /** Id or name of a registered repository; its files are in the working directory of the command. */
  repo: string;
  /** Branch, tag or commit of the repository; its default if not given. */
  ref: string;
  /** Image of the sandbox; `host`: the server's own programs. */
  image: string;
  /** Environment variables of the command. Not for secrets: they are stored as given. */
  env: Record<string, string>;
  /** The last line of stdout is the output; lines before it are ignored. */
  last_line: boolean;
  /** Address that gets the same JSON by POST and responds with the output as JSON. */
  url: string;
  /** Time of one run, 100 to 3600000. */
  timeout_ms: number;
  /** Prompt whose variables get the input of the example: NAME for its newest version, NAME@TAG, NAME:NUMBER, or the id of a version. Stored as the id of the version. */
  prompt: string;
  /** Content of the version, as POST /v1/prompts has it: given instead of `prompt`, or stored with it. */
  prompt_version: unknown;
  /** Model provider instead of the version's, such as ANTHROPIC. */
  provider: string;
  /** Model instead of the version's. */
  model: string;
  /** Id or name of the model skill; if not given, the one of the space that offers the model. */
  skill: string;
  /** Invocation parameters that replace those of the version; null removes one. */
  parameters: unknown;
  /** Of a replay: recorded: the application gets the recorded results of its tools as replay.tools. live: it calls them. If not given, a command calls them in its sandbox, and for a url traces that called tools are not replayed. */
  replay_tools: ReplayTools | null;
}

export interface TaskEvaluator {
  /** Id of the evaluator. */
  evaluator_id: string;
  /** Its version. */
  number: number;
  /** Name of the evals. */
  name: string;
  /** Runs with a verdict. */
  evals: number;
  /** Runs for which it failed. */
  failed_evals: number;
}

export type TaskKind = "command" | "http" | "evaluate" | "prompt" | "replay";

export type TaskState = "queued" | "running" | "stopped" | "done" | "failed" | "budget_stopped";

export interface TestedDocument {
  /** Null: there is none. */
  verdict: Verdict | null;
  /** Why there is no verdict. */
  error: string | null;
  /** Kind of the failure: missing_variable, too_large, timeout, provider, rejected, unparsable, off_config, budget, code_failed, unavailable, target_gone. */
  reason: string | null;
  duration_ms: number;
  /** Whether the verdict was stored before: nothing was spent. */
  cached: boolean;
  /** Of the model. */
  tokens: number;
  /** Of these, estimated: the provider did not report them. The cost is estimated with them. */
  estimated_tokens: number;
  /** Null: the model has no price. */
  cost_micro_usd: number | null;
  /** Trace of the model's call in the hidden project hone-evals, or id of the agent's run. */
  judge_trace: string | null;
  /** Of a target: the document that was evaluated. */
  document: unknown | null;
}

export type Tier = "ns" | "gvisor";

export interface TokenCounts {
  /** Input tokens neither read from nor written to a cache. */
  input: number;
  cache_read: number;
  cache_write: number;
  /** Output tokens without reasoning. */
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
  /** Id that includes the project. */
  id: string;
  /** As it was sent. */
  trace_id: string;
  project_id: string;
  start_time: string;
  end_time: string;
  /** Input tokens, including cached ones. */
  token_count_prompt: number;
  /** Output and reasoning tokens. */
  token_count_completion: number;
  token_count_total: number;
  /** Spans of the trace; only with include_spans. */
  spans: TraceSpan[] | null;
}

export interface TraceAnnotation {
  id: string;
  created_at: string;
  updated_at: string;
  /** APP: written by a person; API: written by a key. */
  source: string;
  /** Id of the user; null for a key. */
  user_id: string | null;
  name: string;
  annotator_kind: AnnotatorKind;
  result: AnnotationResult;
  metadata: unknown;
  identifier: string;
  trace_id: string;
}

export interface TraceDiagnosisView {
  after: string;
  before: string;
  /** Spans in the window. */
  spans: number;
  /** Model calls in the window. */
  calls: number;
  /** Spans whose attributes were read: the newest of each service, at most 1000. */
  sampled: number;
  /** Problems first. */
  findings: TraceFindingView[];
  /** Most frequent first. */
  conventions: ConventionShareView[];
  /** Attributes of no convention whose names are about models; at most 50, most frequent first. */
  unknown_attributes: UnknownAttributeView[];
}

export interface TraceFindingView {
  /** Constant name of the finding, such as calls_without_tokens. */
  name: string;
  severity: FindingSeverity;
  title: string;
  /** What is missing because of it. */
  explanation: string;
  /** The line to change in the sender. */
  fix: string;
  /** Filter of the spans; empty: they cannot be listed. */
  filter: string;
  /** Spans, log records or points of metrics. */
  count: number;
  /** 0 to 1: of the spans, or of the model calls. */
  share: number;
  /** Services with most of them. */
  services: string[];
  /** Instrumentations with most of them. */
  scopes: string[];
}

export interface TraceOutline {
  /** The trace has more spans than one response holds. */
  is_cut: boolean;
  /** Start of the first span. */
  start_time: string;
  /** Each text once; the first one is empty. */
  texts: string[];
  /** One per span, by start time. The other columns have the same order; a column with zeros only is empty. */
  span_ids: string[];
  /** Position of the parent; -1: the trace has none. */
  parents: number[];
  /** Spans whose parent is not in the trace. */
  missing_parents: MissingParent[];
  /** Positions of spans with is_message. */
  messages: number[];
  /** After start_time. */
  starts_ns: number[];
  durations_ns: number[];
  /** This and the next columns: positions in texts. */
  names: number[];
  kinds: number[];
  statuses: number[];
  status_messages: number[];
  services: number[];
  models: number[];
  providers: number[];
  users: number[];
  /** Chat sessions. */
  sessions: number[];
  tools: number[];
  /** Types of exceptions. */
  exceptions: number[];
  /** Neither read from nor written to a cache. */
  input_tokens: number[];
  cache_read_tokens: number[];
  cache_write_tokens: number[];
  /** Without reasoning. */
  output_tokens: number[];
  reasoning_tokens: number[];
  costs_nano_usd: number[];
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
  /** The same, exactly. */
  cost_nano_usd: number;
}

export interface TraceSkeleton {
  /** Sorted by start; parents may be missing. */
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

export interface TraceTextView {
  /** 32 hexadecimal digits. */
  trace_id: string;
  /** The application's name of the agent or function that ran; else the root's name. */
  title: string;
  /** Input of the root, else of its first model call; cut. */
  input: string;
  /** Output of the root, else of its last model call, else how it failed; cut. */
  output: string;
  /** Whether the root failed. */
  failed: boolean;
  /** First line of the failure that ended first; empty: none failed. */
  error: string;
  /** service.version of its spans. */
  version: string;
}

export interface Trigger {
  type: TriggerType;
  /** cron: five fields, six with seconds first, or a shorthand such as @hourly. */
  schedule: string | null;
  /** cron: a name like Europe/Berlin; UTC if not given. */
  time_zone: string | null;
  /** metric: the metric, computed over the window. */
  metric: Metric | null;
  /** metric: only spans that match this filter. */
  filter: string | null;
  /** metric: above, at_least, below or at_most the threshold. */
  comparator: Comparator | null;
  /** metric: in the unit of the metric; latencies in milliseconds, cost in USD. */
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
  /** monitor: id of the monitor; fires when its state becomes triggered. */
  monitor: string | null;
  /** webhook: who signs the deliveries: hone (if not given), github, gitlab, grafana, pagerduty, slack, standard or hmac. */
  source: HookSource | null;
  /** webhook of hmac: header with the signature; X-Signature if not given. */
  signature_header: string | null;
  /** webhook of hmac: header with the seconds since 1970, signed as "timestamp.body"; null: the body alone is signed. */
  timestamp_header: string | null;
}

export interface TriggerPreview {
  /** cron: the next firings. */
  next: string[];
  /** metric: firings that the last seven days would have had. */
  past: PreviewFiring[];
  /** metric: values over these days, for a chart. */
  points: PreviewPoint[];
  /** metric: the threshold, for the chart. */
  threshold: number | null;
  /** metric: seconds between two evaluations of this preview; may be longer than every_seconds. */
  step_seconds: number;
}

export type TriggerType = "cron" | "metric" | "monitor" | "webhook" | "managed";

export interface UnknownAttributeView {
  key: string;
  /** Spans of the sample. */
  spans: number;
  /** Instrumentations that send it. */
  scopes: string[];
}

export interface UnreadNotices {
  /** Number of notices that the caller can see and has not read. */
  unread: number;
  /** Those of the kinds that the caller chose to have counted. */
  counted: number;
  /** When the caller last marked notices as read; null: never. */
  marked_at: string | null;
}

export interface Upload {
  /** Id. */
  id: string;
  /** Id of the space. */
  space_id: string;
  /** Run that it was given to. */
  run_id: string | null;
  /** Path in the workspace. */
  path: string;
  /** Size. */
  bytes: number;
  /** Name of the person or key. */
  uploaded_by: string;
  /** Time at which it was written into the workspace. */
  placed_at: string | null;
  /** Time of the upload. */
  created_at: string;
}

export interface UploadedView {
  dataset_id: string;
  /** The newest version; an old one when nothing changed. */
  version_id: string;
  num_created_examples: number;
  num_updated_examples: number;
  num_deleted_examples: number;
  /** Texts from which an API key, a token or another credential was removed. */
  num_redacted_texts: number;
}

export interface Usage {
  /** Input tokens that were not read from a cache. */
  input: number;
  /** Tokens read from a cache. */
  cache_read: number;
  /** Tokens written to a cache. */
  cache_write: number;
  /** Output tokens without reasoning. */
  output: number;
  /** Tokens of reasoning. */
  reasoning: number;
}

export interface Use {
  /** Kind of object, such as preset. */
  kind: string;
  id: string;
  name: string;
}

export interface UseToday {
  /** Counted only while there is a limit. */
  spans: number;
  bytes: number;
}

export interface User {
  id: string;
  /** Lower-case; used to log in. */
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
  /** Allowed values; empty: any. */
  choices: string[];
  default_value: string;
  /** Value of a plain variable. */
  value: string | null;
  /** It has a value. */
  set: boolean;
  /** Of a secret: brokered stays outside the sandbox, env is visible in it. */
  exposure: Exposure | null;
  secret_id: string | null;
  /** Time at which the secret was set last. */
  set_at: string | null;
  /** To within a minute. */
  last_used_at: string | null;
  /** old: set long ago; unused: not used for a long time. */
  reminders: Reminder[];
  /** Hosts that the secret may be sent to. */
  ways: SecretRoute[];
}

export interface Verdict {
  label: string | null;
  score: number | null;
  explanation: string | null;
  /** An object. */
  metadata: unknown;
  /** Of an evaluator that returns several results: those with other names. */
  results: NamedVerdict[];
}

export interface VerificationCommand {
  /** Short name, such as tests. */
  name: string;
  /** Shell command, run at the top of the repository in a fresh sandbox; it passes with exit code 0. Its network is that of setup: sandbox.packages and sandbox.setup_hosts. */
  command: string;
  /** 1 to 3600. */
  timeout_seconds: number;
}

export interface VerificationResult {
  /** Name in the preset. */
  name: string;
  /** The command. */
  command: string;
  /** Result on the base commit of the branch. */
  base: VerificationRun | null;
  /** Result on the branch. */
  branch: VerificationRun | null;
}

export interface VerificationRun {
  /** 0: passed; null: it did not exit by itself. */
  exit_code: number | null;
  /** It exceeded its time limit. */
  timed_out: boolean;
  /** Duration in milliseconds. */
  duration_ms: number;
  /** End of its output. */
  output: string;
}

export type VerificationState = "none" | "pending" | "running" | "green" | "red" | "failed";

export interface VersionChange {
  version: string;
  /** The version that served before; empty: none was recorded. */
  previous: string;
  /** Its first start. */
  since: string;
}

export type VersionSource = "upload" | "import" | "spans" | "ui" | "restore";

export type ViewPage = "traces" | "sessions" | "charts" | "queries";

export interface ViewedFiles {
  /** Files that the caller marked as viewed and that have not changed since. */
  paths: string[];
}

export interface VolumePoint {
  /** Start of the hour. */
  time: string;
  /** Affected traces. */
  traces: number;
}

export interface WrittenAnnotation {
  id: string;
}

export interface AcceptInvite {
  /** Name of a new user. */
  name?: string | null;
  /** Password of the new or of the existing account. */
  password: string;
  /** Code of an existing account with a second factor. */
  code?: string | null;
}

export interface AddToQueue {
  /** Span ids, trace ids or chat sessions of its project, 1 to 1000. */
  target_ids: string[];
}

export interface AnnotateDocuments {
  /** The annotations, at most 100000. */
  data: NewDocumentAnnotation[];
}

export interface AnnotateSessions {
  /** The annotations, at most 100000. */
  data: NewSessionAnnotation[];
}

export interface AnnotateSpans {
  /** The annotations, at most 100000. */
  data: NewSpanAnnotation[];
}

export interface AnnotateTraces {
  /** The annotations, at most 100000. */
  data: NewTraceAnnotation[];
}

export interface AuthorizationRequest {
  client_id: string;
  /** One of the client's, exactly. */
  redirect_uri: string;
  /** code */
  response_type: string;
  /** PKCE. */
  code_challenge: string;
  /** S256 */
  code_challenge_method: string;
  /** read if not given; or names of permissions, with spaces. */
  scope?: string;
  /** Returned to the client. */
  state?: string;
  /** Address of the MCP endpoint (RFC 8707). */
  resource?: string;
}

export interface AutomationChange {
  /** Unique in the space. */
  name?: string | null;
  /** Purpose, as text. */
  description?: string | null;
  /** Id or name of the project its runs are bound to. */
  project?: string | null;
  /** Id or name of the preset of its runs. */
  preset?: string | null;
  /** Template of the prompt of each run. */
  prompt?: string | null;
  /** Replaces the whole trigger. */
  trigger?: Trigger | null;
  /** skip, queue or parallel. */
  overlap?: Overlap | null;
  /** coalesce, all or none. */
  catch_up?: CatchUp | null;
  /** 0 to 2592000. */
  cool_off_seconds?: number | null;
  /** Replaces the whole budget. */
  budget?: DayBudget | null;
  /** 0 (never pause) to 100. */
  failure_limit?: number | null;
  /** Pauses or resumes it. */
  paused?: boolean | null;
  /** webhook: replaces the secret by one that the sender made; never shown again. */
  hook_secret?: string | null;
}

export interface BeginSecondFactor {
  password: string;
}

export interface ChangeComment {
  /** New text; only by its author, before it is sent to the session. */
  body?: string | null;
  /** Resolves or reopens the thread. */
  resolved?: boolean | null;
}

export interface ChangeDataset {
  name?: string | null;
  description?: string | null;
  /** Replaces the metadata. */
  metadata?: Record<string, unknown> | null;
}

export interface ChangeDatasetLabel {
  name?: string | null;
  color?: string | null;
  /** null: none. */
  description?: string | null;
}

export interface ChangeExperiment {
  /** Must not be null. */
  name?: string | null;
  /** null: none. */
  description?: string | null;
  /** Replaces the metadata; must not be null. */
  metadata?: Record<string, unknown> | null;
}

export interface ChangePassword {
  current_password: string;
  /** At least 10 characters. */
  new_password: string;
}

export interface ChangePrompt {
  /** null: none. */
  description?: string | null;
  /** Replaces the metadata. */
  metadata?: Record<string, unknown> | null;
}

export interface ChangeSplit {
  name?: string | null;
  /** null: none. */
  description?: string | null;
  color?: string | null;
  /** Replaces the metadata. */
  metadata?: Record<string, unknown> | null;
  add_example_ids?: string[] | null;
  /** Wins over add_example_ids. */
  remove_example_ids?: string[] | null;
}

export interface ChooseNotices {
  /** Kinds that are counted as new for the caller; the others are only listed. */
  kinds: Kind[];
}

export interface CommentOnIssue {
  /** Plain text or Markdown, at most 20,000 bytes. */
  text: string;
}

export interface ConfigureSignal {
  /** Enables or disables it; unchanged if not given. */
  enabled?: boolean | null;
  /** Must be true to enable it: consent to consent_note. */
  consent?: boolean | null;
  /** Replaces all settings; unchanged if not given. */
  settings?: SignalSettings | null;
}

export interface ConfirmSecondFactor {
  /** The code that the authenticator app shows now. */
  code: string;
}

export interface ConsentTo {
  /** Base URL of the model skill: https://api.anthropic.com. */
  base_url: string;
}

export interface CorrectVerdict {
  /** Name of the eval of this run. */
  name: string;
  /** The right label; a label, a score or both are needed. */
  label?: string | null;
  /** The right score. */
  score?: number | null;
  /** Why; at most 100,000 bytes. */
  explanation?: string;
}

export interface CreateCustomRole {
  name: string;
  description?: string;
  /** Names of permissions that the caller has itself; what is not listed is denied. */
  permissions: string[];
}

export interface CreateDatasetLabel {
  name: string;
  /** # and six hexadecimal digits in lower case. */
  color: string;
  description?: string | null;
}

export interface CreateExperiment {
  name?: string | null;
  description?: string | null;
  metadata?: Record<string, unknown> | null;
  /** Id or number of a version; the newest if not given. */
  version_id?: string | null;
  /** Ids or names of splits; all examples if not given. */
  splits?: string[] | null;
  /** 1 to 1000; 1 if not given. */
  repetitions?: number | null;
}

export interface CreateExperimentRun {
  /** Id of an example of the experiment. */
  dataset_example_id: string;
  /** Any JSON; null if not given. */
  output?: unknown | null;
  /** From 1. */
  repetition_number: number;
  /** With or without an offset. */
  start_time: string;
  /** With or without an offset. */
  end_time: string;
  /** Trace of the run; it may arrive later. */
  trace_id?: string | null;
  /** Why the run failed. */
  error?: string | null;
}

export interface CreateInvite {
  email: string;
  /** A built-in role; or give custom_role. */
  role?: Role | null;
  /** Id or name of a custom role of the space. */
  custom_role?: string | null;
}

export interface CreateKey {
  name: string;
  kind?: KeyKind;
  /** Permission names, or all (default), or read. */
  scopes?: string[] | null;
  /** Role of a service key. */
  role?: Role | null;
  expires_at?: string | null;
  /** Days until it expires, instead of expires_at. */
  expires_in_days?: number | null;
}

export interface CreatePreset {
  /** Unique in the space. */
  name: string;
  /** Purpose, as text. */
  description?: string | null;
  settings: Settings;
}

export interface CreateProject {
  name: string;
  description?: string | null;
  /** Only users and keys with a binding see it. */
  restricted?: boolean;
  /** Days before spans are deleted; the server's default if not given. */
  retention_days?: number | null;
}

export interface CreatePrompt {
  prompt: NewPromptData;
  /** model_provider, model_name, template, template_type, template_format, invocation_parameters, tools, response_format, description. */
  version: Record<string, unknown>;
}

export interface CreateRepo {
  /** https address, without user or token. */
  url: string;
  /** Unique in the space; taken from the address if not given. */
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
  /** Repository that contains a custom skill's folder. */
  git?: GitSource | null;
  /** Text of a .env file; names that the skill does not have are ignored. */
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
  /** Spans as GET returns them: name, context, span_kind, parent_id, start_time, end_time, status_code, status_message, attributes, events. */
  data: unknown[];
}

export interface CreateSplit {
  name: string;
  description?: string | null;
  /** # and six hexadecimal digits in lower case. */
  color?: string | null;
  metadata?: Record<string, unknown> | null;
  /** Examples that belong to it. */
  example_ids?: string[] | null;
}

export interface CreateTraceNote {
  data: NewTraceNote;
}

export interface Decide {
  /** Needed when changes are requested and no line has a comment. */
  comment?: string | null;
  /** Of a branch: the revision that was reviewed. Needed to approve; a newer revision is a conflict. */
  revision?: number | null;
  /** Digest of the artifact when it was reviewed. Needed to approve any artifact but a branch; changed content is a conflict. */
  digest?: string | null;
  /** Allows blocking flags; only for approvals. */
  allow_protected?: boolean;
}

export interface DecideAgent {
  request: AuthorizationRequest;
  /** Id or name of the space that the agent can use. */
  space: string;
  /** false: the agent gets the error access_denied. */
  allow: boolean;
}

export interface DecideProposals {
  /** Ids of pending proposals, at most 200. */
  ids: string[];
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
  /** Needed when neither filter nor time is given. */
  all?: boolean;
}

export interface DestinationChange {
  /** Unique in the space. */
  name?: string | null;
  /** Address of webhook, slack, teams and discord; never shown again. With pagerduty and opsgenie the key must be sent with it. */
  url?: string | null;
  /** pagerduty and opsgenie: the key; never shown again. */
  key?: string | null;
  /** Addresses for email and email_digest, at most 20. */
  to?: string[] | null;
  /** Kinds of notices it receives; empty: all. */
  kinds?: Kind[] | null;
  /** Ids or names of projects whose notices are sent; empty: all. */
  projects?: string[] | null;
  /** Template of the message; empty: the default text. */
  template?: string | null;
  enabled?: boolean | null;
  /** webhook: replaces the signing secret and returns the new one. */
  new_signing_secret?: boolean | null;
}

export interface EstimateCalls {
  call: PlaygroundRun;
  /** Id or name of a dataset: one call for each of its examples, whose inputs are the variables. Empty: one call. */
  dataset?: string;
  /** Id or name of a split: only its examples. */
  split?: string;
  /** Calls for each example, 1 to 1000. */
  repetitions?: number;
}

export interface EvalTaskChange {
  /** Version of the evaluator; null: follow the newest one. */
  version?: number | null;
  /** Filter over spans. */
  filter?: string | null;
  /** How many of a million targets are evaluated. */
  rate_ppm?: number | null;
  /** Filters with rates of their own. */
  strata?: Stratum[] | null;
  /** Time after the last span of a target. */
  delay_seconds?: number | null;
  /** Cap of verdicts in an hour; null: none. */
  most_per_hour?: number | null;
  /** Cap of verdicts in a day; null: none. */
  most_per_day?: number | null;
  /** Budget of tokens in a day; null: none. */
  tokens_per_day?: number | null;
  /** Budget in a day; null: none. */
  cost_micro_usd_per_day?: number | null;
  /** skip or defer. */
  on_budget?: OnBudget | null;
  /** Whether it evaluates new targets. Targets that arrive while it is off are left out. True also resumes a paused task. */
  enabled?: boolean | null;
}

export interface EvaluationResult {
  /** Text; a number or boolean becomes text. */
  label?: unknown | null;
  /** A number; true, false and numbers as text become one. */
  score?: unknown | null;
  explanation?: string | null;
  metadata?: Record<string, unknown> | null;
}

export interface EvaluatorChange {
  /** Purpose, as text. */
  description?: string | null;
  /** The spans it evaluates. */
  filter?: string | null;
  /** Filter that a span must match, in the filter language. */
  condition?: string | null;
  /** Label of spans that match. */
  label?: string | null;
  /** Score of spans that match; null: none. */
  score?: number | null;
  /** Label of evaluated spans that do not match; empty: no eval. */
  other_label?: string | null;
  /** Score of evaluated spans that do not match; null: none. */
  other_score?: number | null;
  /** Share of the traces it evaluates, 1 to 100. */
  sample_percent?: number | null;
  /** Whether it evaluates new spans; off, then on: starts again. */
  enabled?: boolean | null;
  /** Also evaluate spans of the last hours that have no eval of it; 1 to 720. */
  backfill_hours?: number | null;
  /** Of code: its new definition. */
  code?: CodeDefinition | null;
  /** Of llm: its new definition. */
  llm?: LlmDefinition | null;
  /** Of agent: its new definition. */
  agent?: AgentDefinition | null;
  /** Of remote: its new definition. */
  remote?: RemoteDefinition | null;
}

export interface FillQueue {
  /** How far back, 1 to 8760; 24 if not given. */
  hours?: number;
  /** Most items, 1 to 1000; 100 if not given. */
  limit?: number;
}

export interface ForgeIssueRequest {
  /** Link this existing issue; the other fields are not needed. */
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
  /** Turn after which it begins; without it, the end of the session with a copy of its workspace. After an earlier turn the worker reads the turns until there as text, in a new workspace. */
  turn?: number | null;
}

export interface FrameConcatenation {
  /** Attribute that is a list; its texts are joined. */
  key: string;
  /** Columns with the place of their text in each object. */
  kwargs?: Record<string, string> | null;
  /** Between the texts; an empty line if not given. */
  separator?: string | null;
}

export interface FrameCondition {
  /** Such as span_kind == 'LLM' and latency_ms > 1000. */
  condition?: string | null;
}

export interface FrameExplosion {
  /** Attribute that is a list of objects; each becomes a row. */
  key: string;
  /** Columns with the place of their value in the object; all if none. */
  kwargs?: Record<string, string> | null;
  /** First column of the index. */
  primary_index_key?: string | null;
}

export interface FrameKey {
  /** Field or attribute. */
  key: string;
}

export interface FrameQuery {
  /** Columns; all fields if not given. */
  select?: Record<string, FrameKey> | null;
  /** Which spans. */
  filter?: FrameCondition | null;
  explode?: FrameExplosion | null;
  concat?: FrameConcatenation | null;
  /** New names of columns. */
  rename?: Record<string, string> | null;
  /** Column of the index; context.span_id if not given. */
  index?: FrameKey | null;
}

export interface GiveFiles {
  /** Ids of uploads of the caller that no run has yet. */
  uploads: string[];
}

export interface ImportFromChatSession {
  /** Id or name of the project. */
  project: string;
  /** Name of the dataset; it is made when there is none. */
  name: string;
  /** The chat session; if not given, the one that each trace belongs to. */
  session?: string;
  /** Traces of the turns, up to 200; if not given, all turns of the session. */
  trace_ids?: string[];
  /** Names of splits for the new examples. */
  splits?: string[] | null;
}

export interface ImportFromIssue {
  /** Name of the dataset; it is made when there is none. */
  name: string;
  /** At most this many, newest first; 1 to 50, 50 if not given. */
  limit?: number;
}

export interface ImportFromSpans {
  /** Id or name of the project. */
  project: string;
  /** Name of the dataset; it is made when there is none. */
  name: string;
  /** Spans to import, in the filter language; if not given, roots. */
  filter?: string;
  /** Only these spans. */
  span_ids?: string[] | null;
  /** Started at or after this time. */
  after?: string | null;
  /** Started before this time. */
  before?: string | null;
  /** At most this many, newest first; 1 to 10000, 1000 if not given. */
  limit?: number;
  /** Names of splits for the new examples. */
  splits?: string[] | null;
}

export interface InstallHarness {
  /** Name of the harness, such as claude-code. */
  harness: string;
  /** Version of its npm package; the newest if not given. */
  version?: string;
}

export interface IssueChange {
  /** open, fix_proposed, resolved, muted or dismissed. */
  status?: Status | null;
  /** The reason; needed for dismissed. At most 2,000 bytes. */
  reason?: string | null;
  /** Later scans do not change it. */
  severity?: Severity | null;
  /** Id of a user; null: no assignee. */
  assignee?: string | null;
  /** Later scans do not change it. */
  title?: string | null;
  /** With muted: it is reopened then. */
  muted_until?: string | null;
}

export interface LabelPair {
  /** Id of the example. */
  example: string;
  /** Repetition; 1 if not given. */
  repetition?: number;
  winner: PairWinner;
}

export interface LabelQueueItem {
  /** One for each config that applies; at least one. */
  evals: QueueEval[];
  /** Time that the person needed, in milliseconds. */
  ms_spent?: number;
  /** The correct output. It goes to the dataset of the queue, with the input of the target. */
  reference?: unknown | null;
}

export interface LogIn {
  email: string;
  password: string;
  /** Code of the authenticator app, or a recovery code. If it is missing and needed, the response is 401 with `WWW-Authenticate: TOTP`. */
  code?: string | null;
}

export interface MarkNotices {
  /** Id of a notice: marks it and all older ones; all if not given. */
  up_to?: string | null;
}

export interface MergeIssue {
  /** Id of the issue to merge into this one. */
  issue: string;
}

export interface ModelListRequest {
  /** Id or name of a model skill; or give variables. */
  skill?: string;
  /** Variables of a model skill that is not stored, such as PROTOCOL. Needs skill_write and secret_write. */
  variables?: Record<string, string>;
  /** Key for `variables`. It is not stored. */
  key?: string;
}

export interface MonitorChange {
  /** Unique in the project. */
  name?: string | null;
  description?: string | null;
  /** Replaces all settings. */
  settings?: MonitorSettings | null;
  enabled?: boolean | null;
}

export interface MuteRequest {
  /** End of the mute; give this or seconds. */
  until?: string | null;
  /** Length of the mute in seconds, up to 31,536,000. */
  seconds?: number | null;
  /** Reason of the mute. */
  reason?: string | null;
}

export interface NewAnnotationLabel {
  label: string;
  /** Number that stands for the label. */
  score?: number | null;
}

export interface NewAutomation {
  /** Unique in the space. */
  name: string;
  /** Purpose, as text. */
  description?: string;
  /** Id or name of the project its runs are bound to. */
  project: string;
  /** Id or name of the preset of its runs. */
  preset: string;
  /** Template of the prompt of each run, with variables such as `{{window.from}}`. */
  prompt: string;
  trigger: Trigger;
  overlap?: Overlap;
  catch_up?: CatchUp;
  /** 0 to 2592000; 0 if not given. */
  cool_off_seconds?: number;
  budget?: DayBudget;
  /** 0 (never pause) to 100; 5 if not given. */
  failure_limit?: number;
  /** Whether it is created paused. */
  paused?: boolean;
  /** webhook: the secret that the sender made, as PagerDuty and Slack do; never shown again. If not given, Hone makes one. */
  hook_secret?: string | null;
}

export interface NewBackfill {
  /** Targets that began at or after this time. */
  from: string;
  /** Targets that began before this time; now if not given. */
  to?: string | null;
  /** Cap, 1 to 1000000; 10000 if not given. The newest targets come first. */
  most_targets?: number;
  /** Instead of the rate of the task; its strata are not used then. */
  rate_ppm?: number | null;
}

export interface NewComment {
  /** Id of a comment whose thread it replies to. */
  reply_to?: string | null;
  /** The newest one if not given. */
  revision?: number | null;
  /** File as the diff names it; not given: the whole artifact. */
  path?: string | null;
  /** `old` or `new`; `new` if not given. */
  side?: Side | null;
  /** Line of that file. */
  line?: number | null;
  /** Markdown, at most 10,000 bytes. */
  body: string;
}

export interface NewDestination {
  /** Unique in the space. */
  name: string;
  type: DestinationType;
  /** Address of webhook, slack, teams and discord; never shown again. pagerduty and opsgenie: only for another region than the usual one. */
  url?: string | null;
  /** pagerduty: the integration key of a service (Events API v2); opsgenie: an API key. Never shown again. */
  key?: string | null;
  /** Addresses for email and email_digest, at most 20. */
  to?: string[] | null;
  /** Kinds of notices it receives; empty: all. */
  kinds?: Kind[] | null;
  /** Ids or names of projects whose notices are sent; empty: all. */
  projects?: string[] | null;
  /** Template of the message; its variables are {{title}} {{body}} {{url}} {{kind}} {{space}} {{project}} {{time}}. */
  template?: string | null;
  /** True if not given. */
  enabled?: boolean | null;
}

export interface NewDocumentAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Any JSON object. */
  metadata?: unknown | null;
  /** An annotation with the same name and identifier on the same target is replaced. */
  identifier?: string;
  span_id: string;
  /** Position in the list of documents, from 0. */
  document_position: number;
}

export interface NewEval {
  target?: EvalTarget;
  /** Span id, trace id, or the chat session's name. */
  target_id: string;
  name: string;
  /** Distinguishes evals of the same name; an eval with the same identifier is replaced. */
  identifier?: string | null;
  kind?: EvalKind;
  /** A label, a score or an explanation is needed. */
  label?: string | null;
  score?: number | null;
  explanation?: string | null;
  /** Any JSON object. */
  metadata?: unknown | null;
}

export interface NewEvalTask {
  /** Id or name of the project. */
  project: string;
  /** Id or name of the evaluator; not a rule. */
  evaluator: string;
  /** Version of the evaluator; the newest one of now if not given. */
  version?: number | null;
  /** Follow the newest version instead of a fixed one. */
  latest?: boolean;
  target: EvalTarget;
  /** Filter over spans; all targets if not given. */
  filter?: string;
  /** How many of a million targets are evaluated, 0 to 1000000; all if not given. */
  rate_ppm?: number;
  /** Filters with rates of their own, at most 10; the first that matches decides, rate_ppm is for the rest. */
  strata?: Stratum[];
  /** Time after the last span of a target; 0 for spans, 30 for traces, 900 for chat sessions if not given. */
  delay_seconds?: number | null;
  /** Cap of verdicts in an hour; none if not given. */
  most_per_hour?: number | null;
  /** Cap of verdicts in a day, UTC; none if not given. */
  most_per_day?: number | null;
  /** Budget of tokens in a day, UTC; 1000000 if neither it nor the cost is given. */
  tokens_per_day?: number | null;
  /** Budget in a day, UTC, in millionths of a US dollar; none if not given. */
  cost_micro_usd_per_day?: number | null;
  on_budget?: OnBudget;
}

export interface NewEvaluator {
  /** Name of the evals it writes; unique in its project, without a project in its space. */
  name: string;
  kind?: EvaluatorKind;
  /** Purpose, as text. */
  description?: string;
  /** Of a rule: id or name of the project. */
  project?: string;
  /** The spans it evaluates; all if not given. */
  filter?: string;
  /** Of a rule: filter that a span must match, in the filter language. */
  condition?: string;
  /** Label of spans that match; `fail` if not given. */
  label?: string;
  /** Score of spans that match. */
  score?: number | null;
  /** Label of evaluated spans that do not match; not given: they get no eval. */
  other_label?: string;
  /** Score of evaluated spans that do not match. */
  other_score?: number | null;
  /** Share of the traces it evaluates, 1 to 100; 100 if not given. */
  sample_percent?: number;
  /** Also evaluate spans of the last hours; 0 to 720, 0 if not given. */
  backfill_hours?: number;
  /** Of code: its definition. All other fields but name and description belong to rules. */
  code?: CodeDefinition | null;
  /** Of llm: its definition. */
  llm?: LlmDefinition | null;
  /** Of agent: its definition. */
  agent?: AgentDefinition | null;
  /** Of remote: its definition. */
  remote?: RemoteDefinition | null;
}

export interface NewMonitor {
  /** Id or name of the project. */
  project: string;
  /** Unique in the project. */
  name: string;
  /** Text for people, for example what to do when it triggers. */
  description?: string | null;
  settings: MonitorSettings;
  /** True if not given. */
  enabled?: boolean | null;
}

export interface NewPromptData {
  /** Letters in lower case, digits, - and _. */
  name: string;
  /** Of a new prompt. */
  description?: string | null;
  /** Prompt that it is copied from. */
  source_prompt_id?: string | null;
  /** Of a new prompt. */
  metadata?: Record<string, unknown> | null;
}

export interface NewProvider {
  /** Lower-case letters, digits and hyphens; part of the redirect address. */
  name: string;
  /** Text of the button on the login page; the name if not given. */
  title?: string | null;
  /** Address of the provider, exactly as its metadata states it. */
  issuer: string;
  client_id: string;
  /** Stored encrypted; none for a public client. */
  client_secret?: string | null;
  /** openid, email and profile if not given. */
  scopes?: string[] | null;
  /** Domains of verified e-mail addresses that can sign in; empty: all. */
  allowed_domains?: string[] | null;
  /** Claim with the groups, by name or path; `groups` if not given. */
  groups_claim?: string | null;
  /** Roles of groups in spaces. With mappings, an account in none of the groups is refused. */
  mappings?: GroupMapping[] | null;
  /** Link a first sign-in to the account that has the same, verified address. Only for providers that verify addresses. */
  link_by_email?: boolean | null;
  enabled?: boolean | null;
}

export interface NewQueue {
  /** Name, unique in the space. */
  name: string;
  /** Id or name of the project. */
  project: string;
  /** Annotation configs by id or name, 1 to 20. */
  configs: string[];
  /** What people decide and by which criteria; Markdown. */
  instructions?: string;
  target?: EvalTarget;
  /** People who label each item, 1 to 10. */
  reviewers_per_item?: number;
  /** Show verdicts of evaluators before the person decides. */
  shows_verdicts?: boolean;
  /** Name of the dataset that corrected outputs go to. */
  dataset?: string;
  /** Add new matching traces by itself. */
  fill_enabled?: boolean;
  /** Which ones, in the filter language. */
  fill_filter?: string;
  fill_rule?: QueueFillRule;
  /** Share of them in millionths; 1000000 if not given. */
  fill_ppm?: number;
}

export interface NewSessionAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Any JSON object. */
  metadata?: unknown | null;
  /** An annotation with the same name and identifier on the same target is replaced. */
  identifier?: string;
  session_id: string;
}

export interface NewSessionNote {
  session_id: string;
  note: string;
  /** A note with the same identifier is replaced; without an identifier each note is new. */
  identifier?: string;
}

export interface NewSpanAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Any JSON object. */
  metadata?: unknown | null;
  /** An annotation with the same name and identifier on the same target is replaced. */
  identifier?: string;
  span_id: string;
}

export interface NewSpanNote {
  span_id: string;
  note: string;
  /** A note with the same identifier is replaced; without an identifier each note is new. */
  identifier?: string;
}

export interface NewTraceAnnotation {
  name: string;
  annotator_kind: AnnotatorKind;
  /** A label, a score or an explanation is needed. */
  result?: AnnotationResult | null;
  /** Any JSON object. */
  metadata?: unknown | null;
  /** An annotation with the same name and identifier on the same target is replaced. */
  identifier?: string;
  trace_id: string;
}

export interface NewTraceNote {
  trace_id: string;
  note: string;
  /** A note with the same identifier is replaced; without an identifier each note is new. */
  identifier?: string;
}

export interface OpenRepoIssue {
  /** Title; one line. */
  title: string;
  /** Markdown; mentions are disabled, and lines that may contain a secret are removed. */
  body?: string;
  /** Names of labels that exist on the forge. */
  labels?: string[];
}

export interface PauseAutomation {
  /** Shown with the automation and with each skipped time. */
  reason?: string | null;
}

export interface PlaygroundRun {
  /** Prompt: NAME for its newest version, NAME@TAG, NAME:NUMBER, or the id of a version. */
  prompt?: string;
  /** Content of a version, as POST /v1/prompts has it, instead of `prompt`. */
  prompt_version?: unknown;
  /** Model provider instead of the version's, such as ANTHROPIC. */
  provider?: string;
  /** Model instead of the version's. */
  model?: string;
  /** Id or name of the model skill; if not given, the one of the space that offers the model. */
  skill?: string;
  /** Invocation parameters that replace those of the version; null removes one. */
  parameters?: unknown;
  /** Values of the variables of the template. */
  variables?: unknown;
  /** Project that gets the trace, by id or name; `hone-playground`, which lists do not show, if not given. */
  project?: string;
  /** Time of the call, 1000 to 600000. */
  timeout_ms?: number;
}

export interface PreviewEnv {
  /** Id of a skill; or give a type. */
  skill?: string | null;
  type?: SkillType | null;
  /** Text of a .env file. Nothing is stored. */
  text: string;
}

export interface PreviewMonitor {
  /** Id or name of the project. */
  project: string;
  settings: MonitorSettings;
  /** Start time; a week before `to` if not given. */
  from?: string | null;
  /** End time; now if not given. */
  to?: string | null;
}

export interface PreviewTrigger {
  /** Id or name of the project whose data is used. */
  project: string;
  trigger: Trigger;
  /** cool_off_seconds of the automation. */
  cool_off_seconds?: number | null;
}

export interface ProtectTag {
  /** Name of the tag: letters in lower case, digits, - and _. */
  name: string;
}

export interface ProviderChange {
  title?: string | null;
  /** Needs the client secret again. */
  issuer?: string | null;
  client_id?: string | null;
  /** null removes it. */
  client_secret?: string | null;
  scopes?: string[] | null;
  allowed_domains?: string[] | null;
  groups_claim?: string | null;
  /** Replaces all of them. */
  mappings?: GroupMapping[] | null;
  link_by_email?: boolean | null;
  enabled?: boolean | null;
}

export interface QuerySpans {
  /** Each becomes one table; at most 20. */
  queries: FrameQuery[];
  /** Started at or after this time. */
  start_time?: string | null;
  /** Started before this time. */
  end_time?: string | null;
  /** Spans of each query, 1 to 100000; 1000 if not given. */
  limit?: number | null;
  /** Only spans without a parent. */
  root_spans_only?: boolean | null;
}

export interface QueueChange {
  /** Name, unique in the space. */
  name?: string | null;
  /** Annotation configs by id or name; labels of others are kept. */
  configs?: string[] | null;
  /** Markdown. */
  instructions?: string | null;
  /** 1 to 10; open and done items are counted again. */
  reviewers_per_item?: number | null;
  /** Show verdicts before the person decides. */
  shows_verdicts?: boolean | null;
  /** Name of a dataset; empty: none. */
  dataset?: string | null;
  /** Add new matching traces by itself. */
  fill_enabled?: boolean | null;
  /** In the filter language. */
  fill_filter?: string | null;
  /** matching, undecided, split or disputed. */
  fill_rule?: QueueFillRule | null;
  /** Share in millionths. */
  fill_ppm?: number | null;
}

export interface RemoveSecondFactor {
  password: string;
  /** Code of the app, or a recovery code. */
  code: string;
}

export interface ReplaceProject {
  description?: string | null;
}

export interface ReportIssue {
  /** Id or name of the project. */
  project: string;
  /** One line: the problem and where it happens. */
  title: string;
  /** Observation, and why it matters. */
  explanation: string;
  /** medium if not given. */
  severity?: Severity | null;
  /** Filter of its spans, in the filter language. */
  filter?: string | null;
  /** Ids of example traces; at most 20. */
  trace_ids?: string[] | null;
  /** Text that identifies the problem when it is reported again; the words of the title if not given. */
  subject?: string | null;
}

export interface RequestPasswordReset {
  /** E-mail address of the account. */
  email: string;
}

export interface Rerun {
  /** Replaces the first prompt. */
  prompt?: string | null;
  /** true: with the commits, versions and data of now; otherwise pinned to those of the run. */
  latest?: boolean | null;
  /** Replaces the provider of the run. */
  provider?: RunProvider | null;
}

export interface RestoreVersion {
  /** Id or number of the version to restore. */
  version_id: string;
}

export interface RetryJobs {
  /** failed, skipped, expired; all three if not given. */
  states?: EvalJobState[];
  /** Only jobs with this reason; all if not given. */
  reason?: string;
  /** Only these jobs; at most 1000. */
  keys?: string[];
}

export interface ReviewArtifact {
  decision: ReviewState;
  /** The reason; needed for changes_requested. */
  comment?: string | null;
  /** Digest of the artifact when it was reviewed. Needed to approve any artifact but a branch. */
  digest?: string | null;
  /** Of a branch: the revision that was reviewed. Needed to approve it. */
  revision?: number | null;
}

export interface RotateEncryption {
  what: RotateWhat;
  /** data: only the data keys of this space. */
  space?: string | null;
}

export interface RotateKey {
  /** Seconds for which the old key still works; 0 if not given. */
  grace_seconds?: number;
}

export type RotateWhat = "master" | "data";

export interface RunSql {
  /** Id or name of the project; the query reads only its data. */
  project: string;
  /** One SELECT over spans, evals, traces, chat_sessions, logs and metric_points. */
  sql: string;
  format?: SqlFormat;
  /** Number of rows, at most 100000; 10000 if not given. */
  limit?: number | null;
}

export interface SaveView {
  /** filter=…&range=…, as in the address of the page. */
  query: string;
  /** Show it when the page is opened without a filter or range. */
  is_default?: boolean;
}

export interface SendMessage {
  /** The follow-up; at most 100,000 characters. */
  text: string;
}

export interface SetClusterCredential {
  /** Text of a kubeconfig with its certificates and credentials in it; it may not name files or programs. */
  kubeconfig: string;
  /** Context to use; none: the current one. */
  context?: string | null;
}

export interface SetDatasetLabels {
  /** All labels of the dataset. */
  dataset_label_ids?: string[] | null;
}

export interface SetEvaluation {
  experiment_run_id: string;
  /** Replaces the eval of the run with this name. */
  name: string;
  /** LLM, CODE or HUMAN. */
  annotator_kind: string;
  start_time: string;
  end_time: string;
  result?: EvaluationResult | null;
  /** Why there is no result. */
  error?: string | null;
  metadata?: Record<string, unknown> | null;
  trace_id?: string | null;
}

export interface SetExperimentTag {
  /** Letters in lower case, digits, - and _. */
  name: string;
  description?: string | null;
}

export interface SetMemberRole {
  /** A built-in role; or give custom_role. */
  role?: Role | null;
  /** Id or name of a custom role of the space. */
  custom_role?: string | null;
}

export interface SetNewPassword {
  /** At least 10 characters. */
  password: string;
}

export interface SetProjectAnnotationConfigs {
  /** All annotation configs of the project. */
  annotation_config_ids: string[];
}

export interface SetPromptTag {
  /** Letters in lower case, digits, - and _. */
  name: string;
  description?: string | null;
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
  /** false removes the mark. */
  viewed: boolean;
}

export interface SkipQueueItem {
  /** Why it cannot be labelled. */
  reason?: string;
}

export interface SplitIssue {
  /** Fingerprint to move to a new issue. */
  fingerprint: string;
}

export type SqlFormat = "json" | "json_lines" | "csv" | "arrow" | "parquet";

export interface StartCalibration {
  /** Id or name of the project whose targets people have labelled. */
  project: string;
  /** Name of the human evals, such as that of an annotation config. */
  config: string;
  target?: EvalTarget;
  /** Version of the evaluator; the newest if not given. */
  version?: number | null;
  /** Label whose precision and recall are shown; if not given, the one with the lowest score. */
  failing_label?: string | null;
  /** Verdicts per target without the cache, 1 to 5; 3 if not given. The flip rate needs 2. */
  repetitions?: number;
  /** Most targets, newest labels first, 1 to 1000; 200 if not given. */
  limit?: number;
  /** Evaluate up to 50 of these targets again every week and after each change of the model, and send a notice when the verdicts have drifted. */
  canary?: boolean;
  /** Stops when the verdicts have cost this much; no limit if not given. */
  cost_limit_micro_usd?: number | null;
}

export interface StartPairs {
  /** Id of the first experiment; with `dataset` also a tag or a name. */
  base: string;
  /** Id of the second experiment, on the same dataset. */
  other: string;
  /** Pairwise evaluator by id or name, with @NUMBER for a version other than the newest. */
  evaluator: string;
  /** Id or name of the dataset, to find experiments by tag or name. */
  dataset?: string;
  /** Pairs at the same time, 1 to 16; 4 if not given. */
  concurrency?: number;
  /** Stops when its calls have used this many tokens; no limit if not given. */
  budget_tokens?: number | null;
  /** Stops when its calls have cost this much, in millionths of a US dollar; no limit if not given. The model needs a price. */
  budget_micro_usd?: number | null;
}

export interface StartReplay {
  /** The newest one if not given; another one is a conflict. */
  revision?: number | null;
  /** Issue whose traces are the evidence; the one that the branch fixes. */
  issue?: string | null;
  /** Shell command that runs the application on one example; the preset's if not given. */
  command?: string | null;
  /** Evaluator by id or name, with @NUMBER for a version; the preset's, else the issue's, if not given. A score of 0.5 or more passes. */
  evaluator?: string | null;
  /** Evaluator of the control set; the same one if not given. */
  control_evaluator?: string | null;
  /** Runs of each example on each side, 1 to 9. */
  repetitions?: number | null;
  /** Most traces of the issue, 1 to 20. */
  evidence?: number | null;
  /** Most traces of the control set, 0 to 20. */
  control?: number | null;
  /** Time of one run, 1 to 3600. */
  timeout_seconds?: number | null;
  /** Time of all runs of one side, 1 to 86400. */
  budget_seconds?: number | null;
  /** The last line of stdout is the output. */
  last_line?: boolean | null;
  /** true: tools are called in the sandbox instead of getting recorded results. */
  live_tools?: boolean | null;
}

export interface StartRun {
  /** Id or name of the project it is bound to. */
  project: string;
  /** First message to the worker; at most 100,000 characters. */
  prompt: string;
  /** Id or name of a preset; or give `settings`. */
  preset?: string | null;
  /** Settings of this run only; or give `preset`. */
  settings?: Settings | null;
  /** Replaces the provider of the preset or of `settings`. */
  provider?: RunProvider | null;
  /** Shown in lists; the first line of the prompt if not given. */
  title?: string | null;
  /** Runs with a higher priority start first; -10 to 10. */
  priority?: number;
  /** Ids of uploads: they are in the workspace before the first turn. */
  files?: string[];
  /** Ids of skills for this run, besides those of the preset. */
  skills?: string[];
  /** The prompt limits the worker to spans that started at or after this time. */
  data_from?: string | null;
  /** The prompt limits the worker to spans that started before this time; the time of the start if not given. */
  data_to?: string | null;
}

export interface StartTask {
  task: TaskDefinition;
  /** Evaluators by id or name, of rules PROJECT/NAME, each with @NUMBER for a version other than the newest. Code evaluates outputs. Rules evaluate the spans of the run's trace, so they need runs with a trace: of clients, of a url, or recorded ones. */
  evaluators?: string[];
  /** Runs at the same time, 1 to 16; 4 if not given. */
  concurrency?: number;
  /** Stops when the experiment has run for this long, all attempts together; no limit if not given. */
  budget_seconds?: number | null;
  /** Stops when the model calls of a task of kind prompt have cost this much, in millionths of a US dollar; no limit if not given. The model needs a price. */
  budget_micro_usd?: number | null;
}

export interface TargetName {
  kind: EvalTarget;
  /** Id or name of the project. */
  project: string;
  /** Span id, trace id, or the name of the chat session. */
  id: string;
  /** Of a span: its trace. */
  trace_id?: string;
}

export interface TestEvaluator {
  /** Up to 20 documents, as objects with input, output, reference and metadata. */
  documents?: unknown[];
  /** Up to 20 spans, traces or chat sessions instead of documents. */
  targets?: TargetName[];
  /** Number of the version; the newest if not given. */
  version?: number | null;
  /** Of llm: a definition that is not saved, instead of a version. */
  llm?: LlmDefinition | null;
  /** Of code: a definition that is not saved, instead of a version. */
  code?: CodeDefinition | null;
  /** Whether stored verdicts of equal documents are used. */
  cache?: boolean;
}

export interface UpdateArtifact {
  /** true: the artifact and its run do not expire; false: they do. */
  kept: boolean;
}

export interface UpdateCustomRole {
  name?: string | null;
  description?: string | null;
  /** Replaces all of them. */
  permissions?: string[] | null;
}

export interface UpdateMe {
  name?: string | null;
}

export interface UpdatePreset {
  /** Unique in the space. */
  name?: string | null;
  /** Purpose, as text. */
  description?: string | null;
  /** Replaces all settings; creates a version when they differ. */
  settings?: Settings | null;
}

export interface UpdateProject {
  name?: string | null;
  description?: string | null;
  restricted?: boolean | null;
  /** null: the server's default. */
  retention_days?: number | null;
}

export interface UpdateRepo {
  /** New address of a repository that was renamed or moved. */
  url?: string | null;
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

export interface UpdateRun {
  /** New title. */
  title?: string | null;
  /** true: the run and its workspace do not expire; false: they do. */
  kept?: boolean | null;
}

export interface UpdateSkill {
  name?: string | null;
  description?: string | null;
  /** Plain variables to set; null removes a value. */
  variables?: Record<string, string | null>;
  /** Secrets to set; others are unchanged. */
  secrets?: Record<string, string>;
  /** A change to env needs the secret in the same request. */
  exposure?: Record<string, Exposure>;
  /** Replaces all variables. New hosts of a stored secret need the secret in the same request. */
  declared?: Declared[] | null;
  /** Replaces all hosts. */
  allow?: Host[] | null;
  /** null removes it. */
  git?: GitSource | null;
  /** Text of a .env file; names that the skill does not have are ignored. */
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

export interface WriteAnnotationConfig {
  /** Name of the annotations; unique in the space. */
  name: string;
  /** CATEGORICAL, CONTINUOUS or FREEFORM. */
  type: string;
  description?: string | null;
  /** MINIMIZE, MAXIMIZE or NONE; can be left out for FREEFORM. */
  optimization_direction?: string | null;
  /** Labels of a CATEGORICAL config. */
  values?: NewAnnotationLabel[] | null;
  /** Least score; not of CATEGORICAL. */
  lower_bound?: number | null;
  /** Largest score; not of CATEGORICAL. */
  upper_bound?: number | null;
  /** Score that separates good from bad; only of FREEFORM. */
  threshold?: number | null;
}

export interface WriteEvals {
  /** The evals, at most 100000. */
  data: NewEval[];
}

