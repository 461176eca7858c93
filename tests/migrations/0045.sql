-- Rows as schema 45 would have written them: a task with a job that has ended and one that waits.
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
    cost_nano_usd, duration_ms, judge_trace, created_at, begun_at, ended_at)
    VALUES ('bb', 'evaltask_1', 'evalbackfill_1', 1, 't', '', 1, 1, 1, 0.05, 'done', '', '', 0, 1, 1, '', 0, 'pass', 1,
    0, 120, 5, 40, '', 1, 1, 2);
INSERT INTO eval_jobs (key, task_id, backfill_id, version, target_id, trace_id, generation, target_at, seen_until,
    inclusion, state, reason, error, priority, attempts, next_at, server, lease_until, label, score, cached, tokens,
    cost_nano_usd, duration_ms, judge_trace, created_at, begun_at, ended_at)
    VALUES ('cc', 'evaltask_1', NULL, 1, 'u', '', 1, 2, 2, 0.05, 'queued', '', '', 0, 0, 1, '', 0, NULL, NULL, 0, 0, 0, 0,
    '', 1, NULL, NULL);
