-- Rows as schema 41 would have written them: a managed session with an event and a reply, and the consent to it.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO managed_sessions (run_id, space_id, skill_id, base_url, session_id, vault_id, progress, began_at, active_since, stopped_at)
    VALUES ('run_1', 'space_1', 'skl_1', 'https://api.anthropic.com', 'sesn_1', '', '{}', 1, 1, NULL);
INSERT INTO managed_events (run_id, event_id, sequence) VALUES ('run_1', 'sevt_1', 1);
INSERT INTO managed_replies (run_id, call_id, begun_by, reply, failed) VALUES ('run_1', 'sevt_2', 'srv_1', 'saved', 0);
INSERT INTO managed_consents (space_id, base_url, note, consented_by, consented_by_name, consented_at)
    VALUES ('space_1', 'https://api.anthropic.com', 'what leaves', 'user_1', 'ada@example.com', 1);
