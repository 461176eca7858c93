-- Rows as schema 25 would have written them: a rule of a project, code of a space, a version of each.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, score, other_label,
    other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, judged, matched, problem,
    created_by, created_by_name, created_at, updated_at)
    VALUES ('evaluator_1', 'space_1', 'project_1', 'rule', 'tool_failure', '', 'kind = tool', 'status = error', 'fail',
    0, 'pass', 1, 100, 1, NULL, 1, 1, 1, 10, 3, '', 'user_1', 'ada@example.com', 1, 1),
    ('evaluator_2', 'space_1', NULL, 'code', 'exact', '', '', '', '', NULL, '', NULL, 100, 0, NULL, 1, 1, 1, 0, 0, '',
    'user_1', 'ada@example.com', 1, 1);
INSERT INTO evaluator_versions (evaluator_id, number, space_id, kind, name, definition, content_hash, created_by_name,
    created_at)
    VALUES ('evaluator_1', 1, 'space_1', 'rule', 'tool_failure', '{}', 'hash', 'ada@example.com', 1),
    ('evaluator_2', 1, 'space_1', 'code', 'exact', '{}', 'hash', 'ada@example.com', 1);
