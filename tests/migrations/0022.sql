-- Rows as schema 22 would have written them: a dataset with two versions, a split and a label.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at)
    VALUES ('dataset_1', 'space_1', 'shop', '', '{}', 2, 1, 1, 'user_1', 'ada@example.com', 1, 2);
INSERT INTO dataset_versions (id, dataset_id, number, note, source, created, patched, deleted, example_count, created_by,
    created_by_name, created_at)
    VALUES ('datasetversion_1', 'dataset_1', 1, '', 'upload', 1, 0, 0, 1, 'user_1', 'ada@example.com', 1);
INSERT INTO dataset_versions (id, dataset_id, number, note, source, created, patched, deleted, example_count, created_by,
    created_by_name, created_at)
    VALUES ('datasetversion_2', 'dataset_1', 2, '', 'upload', 0, 1, 0, 1, 'user_1', 'ada@example.com', 2);
INSERT INTO dataset_examples (id, dataset_id, position, external_id, source_project, source_trace, source_span, created_at)
    VALUES ('example_1', 'dataset_1', 0, 'mine', NULL, NULL, NULL, 1);
INSERT INTO dataset_revisions (example_id, version, dataset_id, position, kind, replaced, content_hash, input, output,
    metadata, created_at)
    VALUES ('example_1', 1, 'dataset_1', 0, 'create', 2, 'h1', '{"q":1}', '{}', '{}', 1);
INSERT INTO dataset_revisions (example_id, version, dataset_id, position, kind, replaced, content_hash, input, output,
    metadata, created_at)
    VALUES ('example_1', 2, 'dataset_1', 0, 'patch', 9223372036854775807, 'h2', '{"q":2}', '{}', '{}', 2);
INSERT INTO dataset_splits (id, dataset_id, name, description, color, metadata, created_at, updated_at)
    VALUES ('split_1', 'dataset_1', 'test', '', '#4f7cac', '{}', 1, 1);
INSERT INTO dataset_split_members (split_id, example_id) VALUES ('split_1', 'example_1');
INSERT INTO dataset_labels (id, space_id, name, description, color, created_at)
    VALUES ('datasetlabel_1', 'space_1', 'golden', '', '#00ff00', 1);
INSERT INTO dataset_label_uses (dataset_id, label_id) VALUES ('dataset_1', 'datasetlabel_1');
