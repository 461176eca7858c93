// Skills as the API gives them, and where they are loaded from. Secrets only ever go the other way.

import { api, segment } from "../api";
import { reload } from "../load";
import { space } from "../session";

export type SkillTypeName = "github" | "hone" | "datadog" | "dynatrace" | "model" | "custom";
export type ExposureName = "brokered" | "env";
export type ReminderName = "old" | "unused";

export interface SkillHost {
  host: string;
  port: number;
  tls: boolean;
  methods: string[];
  path_prefix: string;
  websocket: boolean;
}

export interface SkillVariable {
  name: string;
  secret: boolean;
  required: boolean;
  help: string;
  choices: string[];
  default_value: string;
  value: string | null;
  set: boolean;
  exposure: ExposureName | null;
  set_at: string | null;
  last_used_at: string | null;
  reminders: ReminderName[];
  ways: { header: string; format: string; hosts: SkillHost[] }[];
}

export interface SkillView {
  id: string;
  name: string;
  type: SkillTypeName;
  scope: "space" | "installation";
  description: string;
  version: number;
  variables: SkillVariable[];
  missing: string[];
  allow: SkillHost[];
  git: { url: string; ref: string; path: string; commit: string } | null;
  folder: { hash: string; name: string; description: string; files: number; bytes: number } | null;
  shared_with: { space_id: string; name: string; created_at: string }[];
  used_by: { kind: string; id: string; name: string }[];
  created_at: string;
  updated_at: string;
}

export interface SkillVersionView {
  version: number;
  summary: string;
  changed_by: string;
  changed_at: string;
}

export interface SkillFile {
  path: string;
  bytes: number;
  executable: boolean;
  text: string | null;
}

export interface SkillTypeView {
  type: SkillTypeName;
  title: string;
  summary: string;
  help: string;
  variables: {
    name: string;
    secret: boolean;
    required: boolean;
    default_value: string;
    help: string;
    choices: string[];
  }[];
  hosts: string[];
}

export interface SecretView {
  id: string;
  name: string;
  skill_id: string;
  skill_name: string;
  exposure: ExposureName;
  set_at: string;
  last_used_at: string | null;
  reminders: ReminderName[];
  used_by: number;
}

export interface ReachView {
  skill_name: string;
  kind: string;
  host: SkillHost | null;
  variable: string;
  secret_name: string;
  header: string;
  format: string;
  detail: string;
}

export interface EnvPreviewView {
  matches: { name: string; variable: string; secret: boolean; replaces: boolean; line: number }[];
  unknown: string[];
  problems: string[];
}

export const env_warning =
  "Workers can read this secret. Anything they run, a prompt injection included, can send it wherever the network lets them.";

export function skill_address(id: string): string {
  return `/v1/skills/${segment(id)}`;
}

export function list_skills(signal: AbortSignal): Promise<SkillView[]> {
  return api.list<SkillView>("/v1/skills", { space: space.value?.id }, signal);
}

/** Everything that shows skills is read again. */
export async function skills_changed(): Promise<void> {
  await reload("skill");
}

export function host_text(host: SkillHost): string {
  const port = host.port === (host.tls ? 443 : 80) ? "" : `:${host.port}`;
  return `${host.tls ? "" : "http://"}${host.host}${port}${host.path_prefix === "/" ? "" : host.path_prefix}`;
}
