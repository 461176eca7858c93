-- Rows as schema 17 would have written them: a known address, an open link for a new password, a run's key with its starter.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, disabled, created_at)
    VALUES ('user_1', 'a@example.com', 'A', 'x', 0, 1, 0, 1);
INSERT INTO known_peers (user_id, peer, last_login_at) VALUES ('user_1', '192.0.2.1', 2);
INSERT INTO password_resets (token_hash, user_id, created_by, created_at, expires_at) VALUES ('h', 'user_1', '', 1, 2);
INSERT INTO api_keys (id, space_id, user_id, name, role, scopes, prefix, key_hash, created_by, created_at)
    VALUES ('key_1', 'space_1', 'user_1', 'k', NULL, 'all', 'hone_a', 'hash', 'user_1', 1);
INSERT INTO run_keys (key_id, run_id, project_id, starter) VALUES ('key_1', 'run_1', 'project_1', 'key_2');
