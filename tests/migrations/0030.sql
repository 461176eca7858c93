-- Rows as schema 30 would have written them: an experiment that runs recorded traces again.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at)
    VALUES ('dataset_1', 'space_1', 'tickets', '', '{}', 1, 0, 1, 'user_1', 'ada@example.com', 1, 1);
INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, project_id,
    project_name, example_count, created_by, created_by_name, created_at, updated_at)
    VALUES ('experiment_1', 'dataset_1', 'space_1', 1, 'first', '', '{}', 1, 'project_1', 'Experiment-1', 0, 'user_1',
    'ada@example.com', 1, 1);
INSERT INTO experiment_tasks (experiment_id, space_id, task, concurrency, budget_seconds, state, reason, commit_name,
    spent_ms, server, lease_until, attempt_at, started_by_name, created_at, source_projects)
    VALUES ('experiment_1', 'space_1', '{}', 4, NULL, 'queued', '', '', 0, '', 0, 1, 'ada@example.com', 1,
    '["project_2"]');
INSERT INTO experiment_evaluators (experiment_id, position, evaluator_id, number, name, project_id)
    VALUES ('experiment_1', 0, 'evaluator_2', 1, 'errors', 'project_2');
INSERT INTO experiment_replays (experiment_id, example_id, tools, tool_results, reason)
    VALUES ('experiment_1', 'example_1', 'recorded', 2, '');
