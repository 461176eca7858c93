-- Rows as schema 49 would have written them: an evaluator with several results.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at, schema)
    VALUES ('dataset_1', 'space_1', 'tickets', '', '{}', 1, 0, 1, 'user_1', 'ada@example.com', 1, 1, NULL);
INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, project_id,
    project_name, example_count, created_by, created_by_name, created_at, updated_at)
    VALUES ('experiment_1', 'dataset_1', 'space_1', 1, 'first', '', '{}', 1, 'project_1', 'Experiment-1', 1, 'user_1',
    'ada@example.com', 1, 1);
INSERT INTO experiment_runs (id, experiment_id, example_id, repetition, output, error, trace_id, started_at, ended_at,
    created_at) VALUES ('experimentrun_1', 'experiment_1', 'example_1', 1, '1', NULL, NULL, 1, 2, 2);
INSERT INTO experiment_evals (id, run_id, experiment_id, name, kind, label, score, explanation, error, metadata, trace_id,
    started_at, ended_at, created_at, evaluator)
    VALUES ('experimenteval_2', 'experimentrun_1', 'experiment_1', 'tone.polite', 'code', 'pass', 1, NULL, NULL, '{}', NULL,
    1, 2, 2, 'tone');
