-- Accounts: addresses that a user logged in from, links that set a new password, and who stands behind a run's key.

CREATE TABLE known_peers (
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    peer TEXT NOT NULL,            -- an IPv4 address, or the first 64 bits of an IPv6 one
    last_login_at BIGINT NOT NULL,
    PRIMARY KEY (user_id, peer)
);
INSERT INTO known_peers (user_id, peer, last_login_at)
    SELECT user_id, peer, MAX(last_seen_at) FROM login_sessions GROUP BY user_id, peer;

-- Subjects are now "pair:EMAIL PEER", "peer:PEER" and "account:EMAIL".
DELETE FROM login_failures;

CREATE TABLE password_resets (
    token_hash TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    created_by TEXT NOT NULL,      -- id of the installation owner; empty: asked for on the login page
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX password_resets_by_user ON password_resets(user_id, created_at);

-- Id of the API key that started the run, or `signal`; empty: a person's login did. The run's key never holds more.
ALTER TABLE run_keys ADD COLUMN starter TEXT NOT NULL DEFAULT '';
