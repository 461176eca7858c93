// Printed by `hone print types` from the server's route table. Do not edit.

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

export type Role = "viewer" | "annotator" | "member" | "admin" | "owner";

export interface RoleInfo {
  role: Role;
  doc: string;
  permissions: string[];
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

export interface ReplaceProject {
  description?: string | null;
}

export interface RotateKey {
  /** How long the old key goes on working; 0 if not given. */
  grace_seconds?: number;
}

export interface SetRole {
  role: Role;
}

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

