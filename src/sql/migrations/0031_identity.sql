-- Single sign-on with OpenID Connect, and the second factor of passwords.

-- Secrets of clients are kept encrypted (kept_secrets), by the name of the provider.
CREATE TABLE identity_providers (
    name TEXT PRIMARY KEY,           -- part of the redirect address; never changes
    title TEXT NOT NULL,             -- of the button
    issuer TEXT NOT NULL,
    client_id TEXT NOT NULL,
    scopes TEXT NOT NULL,            -- separated by spaces
    allowed_domains TEXT NOT NULL,   -- JSON: domains of e-mail addresses; empty: all
    groups_claim TEXT NOT NULL,
    mappings TEXT NOT NULL,          -- JSON: group, space id, role
    link_by_email BIGINT NOT NULL,
    enabled BIGINT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- A sign-in that has begun: ten minutes, used once, by the browser that began it.
CREATE TABLE sign_ons (
    state_hash TEXT PRIMARY KEY,
    browser_hash TEXT NOT NULL,
    provider TEXT NOT NULL,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    return_to TEXT NOT NULL,
    link_user_id TEXT NOT NULL,      -- who links the identity to the own account; empty: a login
    expires_at BIGINT NOT NULL
);
CREATE INDEX sign_ons_by_expiry ON sign_ons(expires_at);

-- Who a person is at an issuer.
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    provider TEXT NOT NULL,          -- through which it was linked
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    email TEXT NOT NULL,             -- as the provider sent it last
    created_at BIGINT NOT NULL,
    last_login_at BIGINT,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_by_user ON identities(user_id);

-- Memberships that come from groups; those that people gave are not listed here and stay.
CREATE TABLE group_members (
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    provider TEXT NOT NULL,
    PRIMARY KEY (user_id, space_id)
);

ALTER TABLE login_sessions ADD COLUMN provider TEXT NOT NULL DEFAULT '';  -- where it began; empty: with a password

-- Secrets of second factors are kept encrypted (kept_secrets), by the id of the user.
CREATE TABLE second_factors (
    user_id TEXT PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
    confirmed_at BIGINT,             -- null: enrolment has begun
    last_step BIGINT NOT NULL,       -- the newest time step whose code was used
    created_at BIGINT NOT NULL
);
CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES users(id) ON DELETE CASCADE,
    code_hash TEXT NOT NULL,
    PRIMARY KEY (user_id, code_hash)
);
