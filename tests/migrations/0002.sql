-- Rows as schema 2 would have written them: a skill, a shared one. (Bytes have no literal that both engines take.)
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO skills (id, scope, space_id, name, type, description, version, setup, created_by, created_at, updated_at)
    VALUES ('skl_1', 'space_1', 'space_1', 'forge', 'github', '', 1, '{}', 'user_1', 1, 1);
INSERT INTO skills (id, scope, space_id, name, type, description, version, setup, created_by, created_at, updated_at)
    VALUES ('skl_2', 'installation', NULL, 'model', 'model', '', 2, '{}', 'user_1', 1, 2);
INSERT INTO skill_versions (skill_id, version, setup, folder_hash, summary, changed_by, changed_by_name, changed_at)
    VALUES ('skl_1', 1, '{}', 'abc', 'created', 'user_1', 'ada@example.com', 1);
INSERT INTO skill_shares (skill_id, space_id, created_at) VALUES ('skl_2', 'space_1', 1);
