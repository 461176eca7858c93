-- Rows as schema 58 would have written them: a prompt whose tag was set, and moved to the second version.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO prompts (id, space_id, name, description, metadata, source_id, created_at)
    VALUES ('prompt_1', 'space_1', 'greet', '', '{}', NULL, 1);
INSERT INTO prompt_versions (id, prompt_id, number, content, created_by, created_by_name, created_at)
    VALUES ('promptversion_1', 'prompt_1', 1, '{}', 'user_1', 'ada@example.com', 1);
INSERT INTO prompt_versions (id, prompt_id, number, content, created_by, created_by_name, created_at)
    VALUES ('promptversion_2', 'prompt_1', 2, '{}', 'user_1', 'ada@example.com', 2);
INSERT INTO prompt_tags (id, prompt_id, version_id, name, description, updated_at)
    VALUES ('prompttag_1', 'prompt_1', 'promptversion_2', 'production', '', 3);
INSERT INTO prompt_tag_moves (id, prompt_id, tag, from_number, to_number, moved_by_name, created_at)
    VALUES ('tagmove_1', 'prompt_1', 'production', NULL, 1, 'ada@example.com', 2);
INSERT INTO prompt_tag_moves (id, prompt_id, tag, from_number, to_number, moved_by_name, created_at)
    VALUES ('tagmove_2', 'prompt_1', 'production', 1, 2, 'ada@example.com', 3);
