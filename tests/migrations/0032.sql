-- Rows as schema 32 would have written them: a kept run with a kept artifact, its files, and a collection.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at) VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, started_by,
    started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, queued_at, ended_at,
    workspace_removed_at, kept_by)
    VALUES ('run_1', 'space_1', 'project_1', 'session', 'look', 'command', '', '{}', 'succeeded', '', 'user_1',
    'ada@example.com', '{}', 0, 1, 0, 0, 0, 0, 0, 0, 'run_1', 'aa', '', 0, '', 1, 1, 2, 3, 'ada@example.com');
INSERT INTO run_files (run_id, space_id, thread, trace_id, server) VALUES ('run_1', 'space_1', '', 'aa', 'local');
INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, review, comment,
    created_at, kept_by)
    VALUES ('artifact_1', 'space_1', 'project_1', 'run_1', 'file', 'a', '', 'text/plain', 1, 'aa', 'approved', '', 1,
    'ada@example.com');
INSERT INTO collections (id, kind, removed, bytes, collected_at) VALUES ('collection_1', 'layers', 2, 100, 1);
