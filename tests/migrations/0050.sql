-- Rows as schema 50 would have written them: an example names an artifact.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at, schema)
    VALUES ('dataset_1', 'space_1', 'tickets', '', '{}', 1, 0, 1, 'user_1', 'ada@example.com', 1, 1, NULL);
INSERT INTO dataset_files (dataset_id, artifact_id) VALUES ('dataset_1', 'artifact_1');
