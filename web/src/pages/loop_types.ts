// Provisional shapes until the server prints them.

export type Severity = "low" | "medium" | "high" | "critical";
export type IssueStatus = "open" | "investigating" | "fix_proposed" | "resolved" | "muted" | "dismissed";

export interface ScoreTerm {
  name: string;
  points: number;
  most: number;
  why: string;
}
export interface Fact {
  name: string;
  value: string;
}
export interface Example {
  trace_id: string;
  span_id: string;
  time: string;
}
export interface Fingerprint {
  fingerprint: string;
  detector: string;
  title: string;
  filter: string;
  traces: number;
  last_seen: string;
}
export interface Issue {
  id: string;
  space_id: string;
  project_id: string;
  fingerprint: string;
  detector: string;
  title: string;
  explanation: string;
  severity: Severity;
  status: IssueStatus;
  reason: string;
  muted_until: string | null;
  score: number;
  score_terms: ScoreTerm[];
  traces: number;
  share: number;
  growth: number;
  confidence: number;
  filter: string;
  facts: Fact[];
  examples: Example[];
  matches: number;
  quiet_matches: number;
  reopened: number;
  assignee: string | null;
  assignee_name: string | null;
  reported_by: string | null;
  investigation_id: string | null;
  investigation_run: string | null;
  investigated_at: string | null;
  fix_run: string | null;
  monitor_id: string | null;
  merged_into: string | null;
  first_seen: string;
  last_seen: string;
  created_at: string;
  updated_at: string;
}
export interface IssueDetail {
  issue: Issue;
  fingerprints: Fingerprint[];
}
export interface Comment {
  id: string;
  author: string;
  text: string;
  created_at: string;
}
export interface Change {
  time: string;
  who: string;
  what: string;
  detail: string;
}
export interface VolumePoint {
  time: string;
  traces: number;
}
export interface SeverityVolume {
  time: string;
  low: number;
  medium: number;
  high: number;
  critical: number;
}
export interface DetectorCost {
  detector: string;
  found: number;
  took_ms: number;
}
export interface SignalSettings {
  cadence_minutes: number;
  window_hours: number;
  baseline_days: number;
  context: string;
  preset: string | null;
  repo: import("../api_types").RepoSettings | null;
  max_investigations: number;
  least_severity: Severity;
  tokens_per_day: number | null;
  cost_micro_usd_per_day: number | null;
}
export interface Scan {
  id: string;
  project_id: string;
  asked_by: string;
  started_at: string;
  took_ms: number;
  baseline_from: string;
  window_from: string;
  window_to: string;
  spans: number;
  traces: number;
  questions: number;
  rows_read: number;
  bytes_read: number;
  found: number;
  new_issues: number;
  reopened: number;
  quiet: number;
  investigations: number;
  detectors: DetectorCost[];
  failed: string;
}
export interface SignalView {
  project_id: string;
  enabled: boolean;
  settings: SignalSettings;
  consent_note: string;
  consent_by: string | null;
  consent_at: string | null;
  last_scan: Scan | null;
  next_scan_at: string | null;
  open_issues: number;
}

export type TriggerType = "cron" | "metric" | "monitor" | "webhook" | "managed";
export type Comparator = "above" | "at_least" | "below" | "at_most";
export interface Trigger {
  type: TriggerType;
  schedule: string | null;
  time_zone: string | null;
  metric: string | null;
  filter: string | null;
  comparator: Comparator | null;
  threshold: number | null;
  window_seconds: number | null;
  every_seconds: number | null;
  for_seconds: number | null;
  minimum_samples: number | null;
  eval_name: string | null;
  eval_label: string | null;
  monitor: string | null;
}
export type Overlap = "skip" | "queue" | "parallel";
export type CatchUp = "coalesce" | "all" | "none";
export interface DayBudget {
  tokens_per_day: number | null;
  cost_micro_usd_per_day: number | null;
  soft_percent: number;
}
export type SlotOutcome = "due" | "fired" | "skipped" | "failed";
export interface Slot {
  id: string;
  automation_id: string;
  due_key: string;
  due_at: string;
  outcome: SlotOutcome;
  reason: string;
  note: string;
  run_id: string | null;
  run_state: import("../api_types").State | null;
  values: unknown;
  by_hand: boolean;
  created_at: string;
  acted_at: string | null;
}
export interface Automation {
  id: string;
  space_id: string;
  project_id: string;
  project_name: string;
  name: string;
  description: string;
  preset_id: string | null;
  preset_name: string | null;
  prompt: string;
  trigger: Trigger;
  paused: boolean;
  pause_reason: string;
  overlap: Overlap;
  catch_up: CatchUp;
  cool_off_seconds: number;
  budget: DayBudget;
  spent_today: { tokens: number; cost_micro_usd: number };
  failure_limit: number;
  failure_streak: number;
  managed_by: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
  last_slot: Slot | null;
  next_at: string | null;
  hook_path: string | null;
  hook_secret: string | null;
}
export interface PreviewPoint {
  time: string;
  value: number | null;
  samples: number;
}
export interface PreviewFiring {
  due_at: string;
  outcome: SlotOutcome;
  reason: string;
  value: number | null;
}
export interface TriggerPreview {
  next: string[];
  past: PreviewFiring[];
  points: PreviewPoint[];
  threshold: number | null;
  step_seconds: number;
}
export interface SchedulerState {
  last_step: string | null;
  behind_seconds: number;
  due_slots: number;
  live_slots: number;
  automations: number;
  paused: number;
  next_at: string | null;
  steps: number;
  failed_steps: number;
  last_error: string;
}
export type MonitorState = "healthy" | "no_data" | "triggered";
export type ConditionType = "threshold" | "automatic" | "change" | "absence";
export type Direction = "above" | "below" | "outside";
export type ChangeBy = "ratio" | "difference";
export interface Condition {
  type: ConditionType;
  direction: Direction | null;
  threshold: number | null;
  recover_threshold: number | null;
  change_by: ChangeBy | null;
  sensitivity: number | null;
}
export interface MuteWindow {
  from: string | null;
  to: string | null;
  days: string[] | null;
  start: string | null;
  end: string | null;
  time_zone: string | null;
}
export interface MonitorSettings {
  metric: string;
  filter: string;
  group_by: string | null;
  eval_name: string | null;
  eval_label: string | null;
  condition: Condition;
  window_seconds: number;
  frequency_seconds: number;
  for_seconds: number;
  minimum_samples: number;
  mute_windows: MuteWindow[];
}
export interface Reading {
  at: string;
  value: number | null;
  samples: number;
  group: string;
  lower: number | null;
  upper: number | null;
  recover_lower: number | null;
  recover_upper: number | null;
  usual: number | null;
  note: string;
}
export interface Monitor {
  id: string;
  space_id: string;
  project_id: string;
  name: string;
  description: string;
  settings: MonitorSettings;
  enabled: boolean;
  state: MonitorState;
  state_since: string;
  bad_since: string | null;
  muted: boolean;
  muted_until: string | null;
  mute_reason: string;
  next_at: string | null;
  last_reading: Reading | null;
  problem: string;
  created_by: string;
  created_at: string;
  updated_at: string;
}
export interface MonitorEvent {
  id: string;
  at: string;
  kind: string;
  value: number | null;
  bound: number | null;
  note: string;
  by: string;
}
export interface ChartPoint {
  at: string;
  value: number | null;
  samples: number;
  lower: number | null;
  upper: number | null;
  state: MonitorState;
  note: string;
}
export interface MonitorChart {
  points: ChartPoint[];
  triggered: number;
  is_cut: boolean;
}
export interface NextFiring {
  due_at: string;
}
export interface PromptVariable {
  name: string;
  type: string;
  doc: string;
  trigger: TriggerType | null;
}

export interface NoticeView {
  id: string;
  space_id: string;
  project_id: string | null;
  kind: string;
  title: string;
  body: string;
  link: string;
  created_at: string;
  unread: boolean;
}
export type DestinationType = "webhook" | "slack" | "email";
export interface Destination {
  id: string;
  space_id: string;
  name: string;
  type: DestinationType;
  target: string;
  kinds: string[];
  projects: string[];
  template: string;
  enabled: boolean;
  created_by: string;
  created_at: string;
  updated_at: string;
  last_sent_at: string | null;
  last_failed_at: string | null;
  last_problem: string;
  pending: number;
  signing_secret: string | null;
}
export interface Delivery {
  id: string;
  notice_id: string;
  destination_id: string;
  kind: string;
  title: string;
  state: "pending" | "sent" | "given_up";
  attempts: number;
  next_at: string | null;
  problem: string;
  created_at: string;
  finished_at: string | null;
}
export interface Attempt {
  ok: boolean;
  status: number | null;
  problem: string;
  took_ms: number;
}
