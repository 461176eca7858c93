-- Rows as schema 57 would have written them: a run whose verdict a person corrected.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at, hidden)
    VALUES ('project_1', 'space_1', 'Experiment-1', '', 0, 1, 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at)
    VALUES ('dataset_1', 'space_1', 'shop', '', '{}', 1, 1, 1, 'user_1', 'ada@example.com', 1, 2);
INSERT INTO dataset_versions (id, dataset_id, number, note, source, created, patched, deleted, example_count, created_by,
    created_by_name, created_at)
    VALUES ('datasetversion_1', 'dataset_1', 1, '', 'upload', 1, 0, 0, 1, 'user_1', 'ada@example.com', 1);
INSERT INTO dataset_examples (id, dataset_id, position, external_id, source_project, source_trace, source_span, created_at)
    VALUES ('example_1', 'dataset_1', 0, 'mine', NULL, NULL, NULL, 1);
INSERT INTO dataset_revisions (example_id, version, dataset_id, position, kind, replaced, content_hash, input, output,
    metadata, created_at)
    VALUES ('example_1', 1, 'dataset_1', 0, 'create', 9223372036854775807, 'h1', '{"q":1}', '{}', '{}', 1);
INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, project_id,
    project_name, example_count, created_by, created_by_name, created_at, updated_at)
    VALUES ('experiment_1', 'dataset_1', 'space_1', 1, 'first', '', '{}', 1, 'project_1', 'Experiment-1', 1, 'user_1',
    'ada@example.com', 1, 1);
INSERT INTO experiment_examples (experiment_id, example_id, revision, position)
    VALUES ('experiment_1', 'example_1', 1, 0);
INSERT INTO experiment_runs (id, experiment_id, example_id, repetition, output, error, trace_id, started_at, ended_at,
    created_at)
    VALUES ('experimentrun_1', 'experiment_1', 'example_1', 1, '{"a":1}', NULL, NULL, 1, 2, 2);
INSERT INTO experiment_evals (id, run_id, experiment_id, name, kind, label, score, explanation, error, metadata, trace_id,
    started_at, ended_at, created_at)
    VALUES ('experimenteval_1', 'experimentrun_1', 'experiment_1', 'correct', 'code', 'pass', 1, NULL, NULL, '{}', NULL,
    1, 2, 2);
INSERT INTO experiment_corrections (run_id, name, author, author_name, label, score, explanation, updated_at)
    VALUES ('experimentrun_1', 'correct', 'user_1', 'ada@example.com', 'fail', 0, 'it is wrong', 3);
