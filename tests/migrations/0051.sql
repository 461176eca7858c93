-- Rows as schema 51 would have written them: two experiments that a model compares, one pair, and what a person prefers.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at, schema)
    VALUES ('dataset_1', 'space_1', 'tickets', '', '{}', 1, 0, 1, 'user_1', 'ada@example.com', 1, 1, NULL);
INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, project_id,
    project_name, example_count, created_by, created_by_name, created_at, updated_at)
    VALUES ('experiment_1', 'dataset_1', 'space_1', 1, 'first', '', '{}', 1, 'project_1', 'Experiment-1', 1, 'user_1',
    'ada@example.com', 1, 1);
INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, project_id,
    project_name, example_count, created_by, created_by_name, created_at, updated_at)
    VALUES ('experiment_2', 'dataset_1', 'space_1', 1, 'second', '', '{}', 1, 'project_2', 'Experiment-2', 1, 'user_1',
    'ada@example.com', 1, 1);
INSERT INTO experiment_runs (id, experiment_id, example_id, repetition, output, error, trace_id, started_at, ended_at,
    created_at) VALUES ('experimentrun_1', 'experiment_1', 'example_1', 1, '1', NULL, NULL, 1, 2, 2);
INSERT INTO experiment_runs (id, experiment_id, example_id, repetition, output, error, trace_id, started_at, ended_at,
    created_at) VALUES ('experimentrun_2', 'experiment_2', 'example_1', 1, '2', NULL, NULL, 1, 2, 2);
INSERT INTO pair_tasks (id, space_id, base_id, other_id, evaluator_id, number, name, concurrency, budget_tokens,
    budget_micro_usd, state, reason, server, lease_until, attempt_at, started_by_name, created_at, started_at, ended_at)
    VALUES ('pairtask_1', 'space_1', 'experiment_1', 'experiment_2', 'evaluator_1', 1, 'better', 4, 1000, NULL, 'done',
    '', '', 0, 1, 'ada@example.com', 1, 1, 2);
INSERT INTO pair_evals (task_id, example_id, repetition, base_run_id, other_run_id, winner, first_label, swapped_label,
    explanation, swapped_explanation, error, cached, tokens, cost_nano_usd, duration_ms, trace_id, swapped_trace_id,
    created_at) VALUES ('pairtask_1', 'example_1', 1, 'experimentrun_1', 'experimentrun_2', 'other', 'b', 'a', 'larger',
    'larger', '', 0, 220, NULL, 12, '', '', 2);
INSERT INTO pair_labels (base_run_id, other_run_id, user_id, user_name, winner, created_at)
    VALUES ('experimentrun_1', 'experimentrun_2', 'user_1', 'ada@example.com', 'tie', 3);
