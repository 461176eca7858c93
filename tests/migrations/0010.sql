-- Rows as schema 10 would have written them: a project with Signal on, a scan, an issue with all that belongs to it.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO signal_settings (project_id, space_id, enabled, settings, consent_by, consent_by_name, consent_at,
    consent_note, last_scan_at, next_scan_at, updated_at)
    VALUES ('project_1', 'space_1', 1, '{}', 'user_1', 'ada@example.com', 1, 'Signal reads.', 1, 2, 1);
INSERT INTO signal_scans (id, project_id, asked_by, started_at, took_ms, baseline_from, window_from, window_to, spans,
    traces, questions, rows_read, bytes_read, found, new_issues, reopened, quiet, investigations, detectors, failed)
    VALUES ('scan_1', 'project_1', 'schedule', 1, 5, 1, 2, 3, 10, 2, 20, 1000, 5000, 1, 1, 0, 0, 0, '[]', '');
INSERT INTO issues (id, space_id, project_id, fingerprint, detector, title, title_by_person, explanation, severity,
    severity_by_person, status, reason, score, score_terms, traces, share, growth, confidence, filter, facts, examples,
    matches, quiet_matches, reopened, first_seen, last_seen, status_at, created_at, updated_at)
    VALUES ('issue_1', 'space_1', 'project_1', 'ab', 'tool_failure', 'lookup fails', 0, 'because', 'high', 0, 'open',
    '', 70, '[]', 12, 0.1, 2.5, 0.9, 'status = error', '[]', '[]', 1, 0, 0, 1, 2, 1, 1, 1);
INSERT INTO issue_fingerprints (project_id, fingerprint, issue_id, detector, title, filter, traces, last_seen)
    VALUES ('project_1', 'ab', 'issue_1', 'tool_failure', 'lookup fails', 'status = error', 12, 2);
INSERT INTO issue_volume (project_id, fingerprint, hour, traces) VALUES ('project_1', 'ab', 3600000000000, 12);
INSERT INTO issue_comments (id, issue_id, author, author_name, words, created_at)
    VALUES ('comment_1', 'issue_1', 'user_1', 'ada@example.com', 'known', 1);
INSERT INTO issue_history (id, issue_id, who, what, detail, created_at)
    VALUES ('change_1', 'issue_1', 'Signal', 'found', '', 1);
INSERT INTO issue_runs (run_id, issue_id, kind, status_before, is_over, created_at)
    VALUES ('run_1', 'issue_1', 'investigate', 'open', 1, 1);
