-- Rows as schema 1 would have written them: one of everything, with its references.
INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, disabled, created_at, last_login_at)
    VALUES ('user_1', 'ada@example.com', 'Ada', 'hash', 0, 1, 0, 1, NULL);
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO members (space_id, user_id, role, created_at) VALUES ('space_1', 'user_1', 'owner', 1);
INSERT INTO projects (id, space_id, name, description, restricted, retention_days, created_at)
    VALUES ('project_1', 'space_1', 'shop', 'it''s a shop; really', 1, 30, 1);
INSERT INTO bindings (project_id, principal, role, created_at) VALUES ('project_1', 'user_1', 'admin', 1);
