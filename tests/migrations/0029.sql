-- Rows as schema 29 would have written them: an experiment with a limit of its cost, a protected tag, a proposed example.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO datasets (id, space_id, name, description, metadata, version, example_count, next_position, created_by,
    created_by_name, created_at, updated_at, schema)
    VALUES ('dataset_1', 'space_1', 'tickets', '', '{}', 1, 0, 1, 'user_1', 'ada@example.com', 1, 1, '{"input":{}}');
INSERT INTO experiments (id, dataset_id, space_id, version, name, description, metadata, repetitions, project_id,
    project_name, example_count, created_by, created_by_name, created_at, updated_at)
    VALUES ('experiment_1', 'dataset_1', 'space_1', 1, 'first', '', '{}', 1, 'project_1', 'Experiment-1', 0, 'user_1',
    'ada@example.com', 1, 1);
INSERT INTO experiment_tasks (experiment_id, space_id, task, concurrency, budget_seconds, state, reason, commit_name,
    spent_ms, server, lease_until, attempt_at, started_by_name, created_at, budget_micro_usd)
    VALUES ('experiment_1', 'space_1', '{}', 4, NULL, 'queued', '', '', 0, '', 0, 1, 'ada@example.com', 1, 1000000);
INSERT INTO protected_prompt_tags (space_id, name, created_by_name, created_at)
    VALUES ('space_1', 'production', 'ada@example.com', 1);
INSERT INTO proposed_examples (id, dataset_id, input, output, metadata, hash, reason, state, proposed_by,
    proposed_by_name, run_id, created_at)
    VALUES ('proposal_1', 'dataset_1', '{}', '{}', '{}', 'aa', 'it failed here', 'pending', 'run_1', 'run_1', 'run_1', 1);
