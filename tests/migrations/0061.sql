-- Rows as schema 61 would have written them: a calibration and a replay that a server works on, and that server.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, started_by,
    started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, queued_at)
    VALUES ('run_1', 'space_1', 'project_1', 'session', 'fix', 'playbook', '', '{}', 'succeeded', '', 'user_1',
    'ada@example.com', '{}', 0, 1, 1, 0, 0, 0, 0, 0, 'run_1', '00', '', 0, '', 1, 1);
INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, review,
    comment, created_at)
    VALUES ('artifact_1', 'space_1', 'project_1', 'run_1', 'branch', 'shop/fix', 'Refund whole orders', 'text/x-diff',
    3, 'ab', 'approved', '', 1);
INSERT INTO review_replays (artifact_id, revision, attempt, state, reason, outcome, settings, result, dataset_id,
    base_experiment_id, branch_experiment_id, lease_until, server, started_by_name, created_at, started_at, ended_at)
    VALUES ('artifact_1', 1, 1, 'running', '', 'none', '{}', '{}', 'dataset_1', 'experiment_1', 'experiment_2', 9,
    'server_1', 'ada@example.com', 1, 2, NULL);
INSERT INTO calibrations (id, space_id, evaluator_id, number, name, project_id, target, config, failing_label,
    repetitions, canary_of, is_canary, state, reason, result, alarm, cost_limit_micro_usd, lease_until, server, next_check_at,
    model, started_by_name, created_at, ended_at)
    VALUES ('calibration_1', 'space_1', 'evaluator_1', 1, 'tone', 'project_1', 'trace', 'correct', 'fail', 3, NULL, 0,
    'running', '', '{}', '', NULL, 9, 'server_1', NULL, 'gpt-4o', 'ada@example.com', 1, NULL);
INSERT INTO servers (name, boot, version, schema_version, roles, address, span_store, object_store, started_at, lease_until)
    VALUES ('server_1', 'boot_1', '0.1', 61, 'api', 'http://a', 'http://clickhouse', 's3://hone/', 1, 9);
