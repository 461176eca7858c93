-- Rows as schema 37 would have written them: a queue with a labelled item, and a calibration.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO annotation_queues (id, space_id, project_id, name, instructions, target, reviewers_per_item, shows_verdicts,
    dataset, fill_enabled, fill_filter, fill_ppm, filled_up_to, fill_problem, created_by, created_by_name, created_at,
    updated_at)
    VALUES ('annotationqueue_1', 'space_1', 'project_1', 'tickets', 'Is it right?', 'trace', 2, 0, 'corrected', 1,
    'status = error', 50000, 1, '', 'user_1', 'ada@example.com', 1, 1);
INSERT INTO queue_configs (queue_id, position, config_id) VALUES ('annotationqueue_1', 0, 'annotationconfig_1');
INSERT INTO queue_items (id, queue_id, target_id, trace_id, state, added_by_name, created_at)
    VALUES ('queueitem_1', 'annotationqueue_1', 'aa', 'aa', 'done', 'fill rule', 1);
INSERT INTO queue_reviews (item_id, queue_id, user_id, user_name, state, reserved_until, ms_spent, saw_verdicts, reason,
    updated_at)
    VALUES ('queueitem_1', 'annotationqueue_1', 'user_1', 'ada@example.com', 'done', 0, 900, 0, '', 2);
INSERT INTO queue_evals (item_id, user_id, config_id, queue_id, name, label, score, explanation, withdrawn, published,
    updated_at)
    VALUES ('queueitem_1', 'user_1', 'annotationconfig_1', 'annotationqueue_1', 'correct', 'pass', 1, '', 0, 1, 2);
INSERT INTO calibrations (id, space_id, evaluator_id, number, name, project_id, target, config, failing_label,
    repetitions, canary_of, is_canary, state, reason, result, alarm, cost_limit_micro_usd, lease_until, next_check_at,
    model, started_by_name, created_at, ended_at)
    VALUES ('calibration_1', 'space_1', 'evaluator_1', 1, 'tone', 'project_1', 'trace', 'correct', 'fail', 3, NULL, 1,
    'done', '', '{}', '', NULL, 0, 5, 'gpt-4o', 'ada@example.com', 1, 3);
INSERT INTO calibration_items (calibration_id, position, target_id, trace_id, human, human_score, raters, is_held_out, verdicts,
    explanation, error, cost_nano_usd, duration_ms)
    VALUES ('calibration_1', 0, 'aa', 'aa', 'pass', 1, 2, 0, '[{"label":"pass","score":1}]', '', '', 1000, 12);
