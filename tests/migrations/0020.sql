-- Rows as schema 20 would have written them: a reading of a trace, what it saw, and its verdict about an issue.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO issues (id, space_id, project_id, fingerprint, detector, title, title_by_person, explanation, severity,
    severity_by_person, status, reason, score, score_terms, traces, share, growth, confidence, filter, facts, examples,
    matches, quiet_matches, reopened, first_seen, last_seen, status_at, created_at, updated_at, verdict, verdict_reason,
    verdict_run)
    VALUES ('issue_1', 'space_1', 'project_1', 'ab', 'tool_failure', 'lookup fails', 0, 'because', 'high', 0, 'open',
    '', 70, '[]', 12, 0.1, 2.5, 0.9, 'status = error', '[]', '[]', 1, 0, 0, 1, 2, 1, 1, 1, 'confirmed', 'it does',
    'run_1');
INSERT INTO signal_readings (run_id, project_id, scan_id, sample, traces, findings, confirmed, rejected, refused,
    is_over, created_at) VALUES ('run_1', 'project_1', 'scan_1', '{}', 1, 1, 1, 0, 0, 1, 1);
INSERT INTO signal_sightings (project_id, fingerprint, trace_id, span_id, run_id, started_at, statement, quote,
    created_at) VALUES ('project_1', 'cd', '00', '01', 'run_1', 1, 'The total is wrong.', 'total: 7', 1);
