-- A limit of begun sign-ins for each address, and logout tokens that were used.
ALTER TABLE sign_ons ADD COLUMN peer TEXT NOT NULL DEFAULT '';  -- address or IPv6 /64 that began it; empty: unknown
CREATE INDEX sign_ons_by_peer ON sign_ons(peer, expires_at);

-- A logout token works once.
CREATE TABLE used_logout_tokens (
    token_hash TEXT PRIMARY KEY,     -- of provider and jti
    expires_at BIGINT NOT NULL       -- from then on its iat is too long ago
);
CREATE INDEX used_logout_tokens_by_expiry ON used_logout_tokens(expires_at);
