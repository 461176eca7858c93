-- Rows as schema 14 would have written them: an issue that became an evaluator and an issue on a forge.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO issues (id, space_id, project_id, fingerprint, detector, title, title_by_person, explanation, severity,
    severity_by_person, status, reason, score, score_terms, traces, share, growth, confidence, filter, facts, examples,
    matches, quiet_matches, reopened, first_seen, last_seen, status_at, created_at, updated_at, evaluator_id,
    forge_issue)
    VALUES ('issue_1', 'space_1', 'project_1', 'f1', 'tool_failure', 'it fails', 0, 'often', 'high', 0, 'open', '', 50,
    '[]', 3, 0.5, 1, 0.9, 'status = error', '[]', '[]', 1, 0, 0, 1, 1, 1, 1, 1, 'evaluator_1',
    'https://forge.example/shop/shop/issues/7');
INSERT INTO evaluators (id, space_id, project_id, name, description, filter, condition, label, score, other_label,
    other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, judged, matched, problem,
    created_by, created_by_name, created_at, updated_at)
    VALUES ('evaluator_1', 'space_1', 'project_1', 'tool_failure', '', 'kind = tool', 'status = error', 'fail', 0,
    'pass', 1, 100, 1, 'issue_1', 1, 1, 1, 10, 3, '', 'user_1', 'ada@example.com', 1, 1);
