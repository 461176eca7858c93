-- Rows as schema 24 would have written them: a prompt with a version and a tag.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO prompts (id, space_id, name, description, metadata, source_id, created_at)
    VALUES ('prompt_1', 'space_1', 'greet', '', '{}', NULL, 1);
INSERT INTO prompt_versions (id, prompt_id, number, content, created_by, created_by_name, created_at)
    VALUES ('promptversion_1', 'prompt_1', 1, '{"model_name":"gpt-x"}', 'user_1', 'ada@example.com', 1);
INSERT INTO prompt_tags (id, prompt_id, version_id, name, description, updated_at)
    VALUES ('prompttag_1', 'prompt_1', 'promptversion_1', 'production', '', 1);
