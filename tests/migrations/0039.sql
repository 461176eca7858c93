-- Rows as schema 39 would have written them: an outside agent that a person let in.
INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, disabled, created_at)
    VALUES ('user_1', 'ada@example.com', 'Ada', '', 0, 0, 0, 1);
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO agent_clients (id, name, redirect_uris, peer, created_at, granted_at)
    VALUES ('client_1', 'An agent', '["http://127.0.0.1/callback"]', '192.0.2.1', 1, 1);
INSERT INTO agent_grants (id, client_id, user_id, space_id, scopes, created_at, refreshed_at)
    VALUES ('grant_1', 'client_1', 'user_1', 'space_1', 'read', 1, NULL);
INSERT INTO agent_codes (code_hash, grant_id, client_id, redirect_uri, challenge, used_at, expires_at)
    VALUES ('aa', 'grant_1', 'client_1', 'http://127.0.0.1/callback', 'bb', NULL, 2);
INSERT INTO agent_refresh_tokens (token_hash, grant_id, used_at, expires_at) VALUES ('cc', 'grant_1', NULL, 2);
INSERT INTO api_keys (id, space_id, user_id, name, role, scopes, prefix, key_hash, created_by, created_at, expires_at, grant_id)
    VALUES ('key_1', 'space_1', 'user_1', 'An agent', NULL, 'read', 'hone_abc', 'dd', 'user_1', 1, 2, 'grant_1');
