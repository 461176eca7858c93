-- Users, spaces, members, projects, keys, logins and the audit log. Times are nanoseconds since 1970 (UTC).

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    must_change_password BIGINT NOT NULL,
    installation_owner BIGINT NOT NULL,
    disabled BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    last_login_at BIGINT
);

CREATE TABLE spaces (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE members (
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, user_id)
);
CREATE INDEX members_by_user ON members(user_id);

CREATE TABLE invites (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    role TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX invites_by_space ON invites(space_id, id);

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    restricted BIGINT NOT NULL,
    retention_days BIGINT,
    created_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

-- Who may see a restricted project. A principal is a user or a service key.
CREATE TABLE bindings (
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    principal TEXT NOT NULL,
    role TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, principal)
);
CREATE INDEX bindings_by_principal ON bindings(principal);

-- Projects that are gone for everybody, until every store has deleted their data.
CREATE TABLE deleted_projects (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL,
    name TEXT NOT NULL,
    deleted_at BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    user_id TEXT REFERENCES users(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    role TEXT,
    scopes TEXT NOT NULL,
    prefix TEXT NOT NULL,
    key_hash TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX api_keys_by_space ON api_keys(space_id, id);

CREATE TABLE login_sessions (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    token_hash TEXT NOT NULL UNIQUE,
    csrf_token TEXT NOT NULL,
    peer TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX login_sessions_by_user ON login_sessions(user_id);
CREATE INDEX login_sessions_by_expiry ON login_sessions(expires_at);

-- Wrong passwords per account and per address ("email:…", "peer:…").
CREATE TABLE login_failures (
    subject TEXT PRIMARY KEY,
    failures BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    locked_until BIGINT NOT NULL
);

-- First answers of POST requests that carried an Idempotency-Key.
CREATE TABLE idempotent_answers (
    caller TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    status BIGINT NOT NULL,
    answer TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (caller, idempotency_key)
);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers(created_at);

-- Append only. Each entry's hash covers its content and the hash before it; the head makes appends one at a time.
CREATE TABLE audit_entries (
    seq BIGINT PRIMARY KEY,
    time BIGINT NOT NULL,
    space_id TEXT,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    peer TEXT NOT NULL,
    request_id TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE INDEX audit_entries_by_space ON audit_entries(space_id, seq);

CREATE TABLE audit_head (
    id BIGINT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '');
