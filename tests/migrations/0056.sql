-- Rows as schema 56 would have written them: an issue whose detector finds less than its filter.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO issues (id, space_id, project_id, fingerprint, detector, title, title_by_person, explanation, severity,
    severity_by_person, status, reason, score, score_terms, traces, share, growth, confidence, filter, facts, examples,
    matches, quiet_matches, reopened, first_seen, last_seen, status_at, created_at, updated_at)
    VALUES ('issue_1', 'space_1', 'project_1', 'ab', 'tool_loop', 'stock is called repeatedly', 0, 'because', 'high', 0,
    'open', '', 70, '[]', 12, 0.1, 2.5, 0.9, 'kind = tool', '[]', '[]', 1, 0, 0, 1, 2, 1, 1, 1);
INSERT INTO issue_fingerprints (project_id, fingerprint, issue_id, detector, title, filter, traces, last_seen, narrower)
    VALUES ('project_1', 'ab', 'issue_1', 'tool_loop', 'stock is called repeatedly', 'kind = tool', 12, 2,
    '{"sql":"name = {n_name:String}","values":{"n_name":"stock"}}');
