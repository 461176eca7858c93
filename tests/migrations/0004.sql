-- Rows as schema 4 would have written them: a preset, a run with its transcript and what was said to it, a run key.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO presets (id, space_id, name, description, version, settings, created_at, updated_at)
    VALUES ('preset_1', 'space_1', 'investigator', '', 1, '{"harness":"playbook"}', 1, 1);
INSERT INTO preset_versions (preset_id, version, settings, changed_by, changed_at)
    VALUES ('preset_1', 1, '{"harness":"playbook"}', 'ada@example.com', 1);
INSERT INTO runs (id, space_id, project_id, origin, preset_id, preset_name, title, harness, model, manifest, state,
    reason, started_by, started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens,
    cache_write_tokens, output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish,
    created_at, queued_at)
    VALUES ('run_1', 'space_1', 'project_1', 'session', 'preset_1', 'investigator', 'look', 'playbook', '', '{}',
    'queued', '', 'user_1', 'ada@example.com', '{}', 0, 0, 1, 0, 0, 0, 0, 0, 'run_1', '00', '', 0, '', 1, 1);
INSERT INTO run_events (run_id, seq, body) VALUES ('run_1', 1, '{}');
INSERT INTO run_event_texts (run_id, seq, whole_text, whole_input) VALUES ('run_1', 1, 'long', '');
INSERT INTO run_inputs (run_id, seq, words) VALUES ('run_1', 1, 'look');
INSERT INTO api_keys (id, space_id, name, role, scopes, prefix, key_hash, created_by, created_at)
    VALUES ('key_1', 'space_1', 'run_1', 'viewer', 'project_read', 'hone_x', 'h', '', 1);
INSERT INTO run_keys (key_id, run_id, project_id) VALUES ('key_1', 'run_1', 'project_1');
