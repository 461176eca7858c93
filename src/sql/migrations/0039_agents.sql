-- Outside agents that people let in by OAuth: clients that registered themselves, and what people granted them.

CREATE TABLE agent_clients (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    redirect_uris TEXT NOT NULL,     -- JSON
    peer TEXT NOT NULL,              -- address that registered it
    created_at BIGINT NOT NULL,
    granted_at BIGINT                -- when a person last let it in; null: never
);
CREATE INDEX agent_clients_by_peer ON agent_clients(peer, created_at);

-- What a person granted: the rights of a personal key in one space, for the MCP endpoint alone.
CREATE TABLE agent_grants (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL REFERENCES agent_clients(id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,            -- separated by spaces
    created_at BIGINT NOT NULL,
    refreshed_at BIGINT
);
CREATE INDEX agent_grants_by_user ON agent_grants(user_id);

-- A code that the client exchanges for tokens: one minute, once. A used one stays until it expires, so that its second
-- use is noticed.
CREATE TABLE agent_codes (
    code_hash TEXT PRIMARY KEY,
    grant_id TEXT NOT NULL REFERENCES agent_grants(id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL,         -- PKCE, S256
    used_at BIGINT,
    expires_at BIGINT NOT NULL
);
CREATE INDEX agent_codes_by_expiry ON agent_codes(expires_at);

-- Each works once: its second use ends the grant.
CREATE TABLE agent_refresh_tokens (
    token_hash TEXT PRIMARY KEY,
    grant_id TEXT NOT NULL REFERENCES agent_grants(id) ON DELETE CASCADE,
    used_at BIGINT,
    expires_at BIGINT NOT NULL
);
CREATE INDEX agent_refresh_tokens_by_grant ON agent_refresh_tokens(grant_id);

ALTER TABLE api_keys ADD COLUMN grant_id TEXT;  -- of an outside agent: its token, which works at the MCP endpoint alone
CREATE INDEX api_keys_by_grant ON api_keys(grant_id);
