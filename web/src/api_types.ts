// The shapes of the HTTP API. Same spelling as the JSON, the columns and the flags.

export type RoleName = "owner" | "admin" | "member" | "annotator" | "viewer";

export interface User {
  id: string;
  email: string;
  name: string;
  installation_owner: boolean;
  disabled: boolean;
  created_at: string;
  last_login_at: string | null;
}

export interface Space {
  id: string;
  name: string;
  description: string;
  created_at: string;
  role: RoleName | null;
  permissions: string[];
}

export interface Me {
  user: User | null;
  key: Key | null;
  spaces: Space[];
  installation_permissions: string[];
  csrf_token: string | null;
  must_change_password: boolean;
}

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: RoleName;
  disabled: boolean;
  created_at: string;
  last_login_at: string | null;
}

export interface Invite {
  id: string;
  space_id: string;
  email: string;
  role: RoleName;
  created_by: string;
  created_at: string;
  expires_at: string;
  state: "open" | "accepted" | "revoked" | "expired";
}

export interface InviteInfo {
  email: string;
  role: RoleName;
  space_name: string;
  expires_at: string;
  user_exists: boolean;
}

export interface Project {
  id: string;
  name: string;
  description: string;
  space_id: string;
  restricted: boolean;
  retention_days: number | null;
  created_at: string;
}

export interface Binding {
  principal: string;
  name: string;
  role: RoleName;
  created_at: string;
}

export interface Key {
  id: string;
  name: string;
  kind: "personal" | "service";
  prefix: string;
  space_id: string;
  user_id: string | null;
  role: RoleName | null;
  scopes: string[];
  created_by: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  state: "active" | "expired" | "revoked";
}

export interface LoginSession {
  id: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  peer: string;
  user_agent: string;
  current: boolean;
}

export interface AuditEntry {
  seq: number;
  time: string;
  space_id: string | null;
  actor_kind: "user" | "key" | "guest" | "system";
  actor_id: string;
  actor_name: string;
  action: string;
  target: string;
  details: Record<string, unknown>;
  peer: string;
  request_id: string;
  prev_hash: string;
  hash: string;
}

export interface AuditVerification {
  ok: boolean;
  entries: number;
  head_hash: string;
  first_bad_seq: number | null;
  message: string;
}

export interface RoleInfo {
  role: RoleName;
  doc: string;
  permissions: string[];
}

export interface PermissionInfo {
  name: string;
  doc: string;
  installation: boolean;
}

export interface SettingInfo {
  name: string;
  doc: string;
  value: string;
  source: "default" | "file" | "environment" | "flag";
}

export interface ServerInfo {
  version: string;
  started_at: string;
  schema_version: number;
  database: "sqlite" | "postgres";
  data_dir_bytes: number;
  roles: RoleInfo[];
  permissions: PermissionInfo[];
  settings: SettingInfo[];
}
