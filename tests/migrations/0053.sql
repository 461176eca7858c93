-- Rows as schema 53 would have written them: a job and a pair whose model reported no usage.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, score, other_label,
    other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, judged, matched, problem,
    created_by, created_by_name, created_at, updated_at)
    VALUES ('evaluator_1', 'space_1', NULL, 'llm', 'polite', '', '', '', '', NULL, '', NULL, 100, 1, NULL, 1, 1, 1, 0,
    0, '', 'user_1', 'ada@example.com', 1, 1);
INSERT INTO evaluator_versions (evaluator_id, number, space_id, kind, name, definition, content_hash, created_by_name,
    created_at) VALUES ('evaluator_1', 1, 'space_1', 'llm', 'polite', '{}', 'hash', 'ada@example.com', 1);
INSERT INTO eval_tasks (id, space_id, project_id, evaluator_id, version, target, filter, rate_ppm, strata, delay_seconds,
    most_per_hour, most_per_day, tokens_per_day, cost_micro_usd_per_day, on_budget, enabled, state, reason, waits_until,
    failures, watermark, since_at, next_at, served_at, revision, created_by, created_by_name, created_at, updated_at)
    VALUES ('evaltask_1', 'space_1', 'project_1', 'evaluator_1', 1, 'trace', '', 50000, '[]', 30, 100, NULL, 1000, NULL,
    'skip', 1, 'active', '', 0, 0, 1, 1, 1, 1, 1, 'user_1', 'ada@example.com', 1, 1);
INSERT INTO eval_jobs (key, task_id, backfill_id, version, target_id, trace_id, generation, target_at, seen_until,
    inclusion, state, reason, error, priority, attempts, next_at, server, lease_until, label, score, cached, tokens,
    cost_nano_usd, duration_ms, judge_trace, created_at, begun_at, ended_at, estimated_tokens)
    VALUES ('bb', 'evaltask_1', NULL, 1, 't', '', 1, 1, 1, 0.05, 'done', '', '', 0, 1, 1, '', 0, 'pass', 1,
    0, 120, 5, 40, '', 1, 1, 2, 120);
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
    estimated_tokens, created_at) VALUES ('pairtask_1', 'example_1', 1, 'experimentrun_1', 'experimentrun_2', 'other', 'b',
    'a', 'larger', 'larger', '', 0, 220, NULL, 12, '', '', 220, 2);
