-- Rows as schema 31 would have written them: a provider, a person who signed in through it, and a second factor.
INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, disabled, created_at)
    VALUES ('user_1', 'ada@example.com', 'Ada', '', 0, 0, 0, 1);
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO members (space_id, user_id, role, created_at) VALUES ('space_1', 'user_1', 'member', 1);
INSERT INTO login_sessions (id, user_id, token_hash, csrf_token, peer, user_agent, created_at, last_seen_at, expires_at,
    provider) VALUES ('login_1', 'user_1', 'aa', 'bb', '192.0.2.1', 'test', 1, 1, 2, 'company');
INSERT INTO identity_providers (name, title, issuer, client_id, scopes, allowed_domains, groups_claim, mappings,
    link_by_email, enabled, created_by_name, created_at, updated_at)
    VALUES ('company', 'Company', 'https://id.example.com', 'hone', 'openid email profile', '["example.com"]', 'groups',
    '[{"group":"*","space":"space_1","role":"member"}]', 0, 1, 'admin@localhost', 1, 1);
INSERT INTO sign_ons (state_hash, browser_hash, provider, nonce, verifier, return_to, link_user_id, expires_at)
    VALUES ('aa', 'bb', 'company', 'cc', 'dd', '/', '', 1);
INSERT INTO identities (issuer, subject, provider, user_id, email, created_at, last_login_at)
    VALUES ('https://id.example.com', '1234', 'company', 'user_1', 'ada@example.com', 1, NULL);
INSERT INTO group_members (user_id, space_id, provider) VALUES ('user_1', 'space_1', 'company');
INSERT INTO second_factors (user_id, confirmed_at, last_step, created_at) VALUES ('user_1', NULL, 0, 1);
INSERT INTO recovery_codes (user_id, code_hash) VALUES ('user_1', 'aa');
