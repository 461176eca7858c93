-- Rows as schema 38 would have written them: a member with a custom role, and an invite for it.
INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, disabled, created_at)
    VALUES ('user_1', 'ada@example.com', 'Ada', '', 0, 0, 0, 1);
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO custom_roles (id, space_id, name, description, permissions, created_by_name, created_at, updated_at)
    VALUES ('role_1', 'space_1', 'auditor', 'Reads the audit log.', 'space_read audit_read', 'admin@localhost', 1, 1);
INSERT INTO members (space_id, user_id, role, created_at, custom_role) VALUES ('space_1', 'user_1', 'viewer', 1, 'role_1');
INSERT INTO invites (id, space_id, email, role, token_hash, created_by, created_at, expires_at, custom_role)
    VALUES ('invite_1', 'space_1', 'bob@example.com', 'viewer', 'aa', 'user_1', 1, 2, 'role_1');
