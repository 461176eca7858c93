-- Rows as schema 47 would have written them: a rule whose definition was changed after ten evals.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, score, other_label,
    other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, judged, matched, judged_before,
    matched_before, problem, created_by, created_by_name, created_at, updated_at)
    VALUES ('evaluator_1', 'space_1', 'project_1', 'rule', 'errors', '', '', 'status = error', 'fail', 0, 'pass', 1, 100,
    1, NULL, 2, 1, 1, 30, 12, 10, 4, '', 'user_1', 'ada@example.com', 1, 1);
