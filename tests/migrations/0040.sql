-- Rows as schema 40 would have written them: a run of a session of an agent provider.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at) VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, started_by,
    started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, queued_at, steps, provider)
    VALUES ('run_1', 'space_1', 'project_1', 'session', 'look', 'claude-managed', 'm', '{}', 'succeeded', '', 'user_1',
    'ada@example.com', '{}', 0, 1, 1, 0, 0, 0, 0, 0, 'run_1', '00', '', 0, '', 1, 1, 3, 'claude-managed');
