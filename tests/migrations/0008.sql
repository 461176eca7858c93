-- Rows as schema 8 would have written them: an automation with a fired slot.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO automations (id, space_id, project_id, name, description, preset_id, prompt, trigger_type, trigger_setup,
    paused, pause_reason, overlap, catch_up, cool_off_seconds, soft_percent, failure_limit, failure_streak, owner,
    owner_name, created_at, updated_at, revision, written_up_to, next_at, watch)
    VALUES ('auto_1', 'space_1', 'project_1', 'nightly', '', 'preset_1', 'look', 'cron',
    '{"type":"cron","schedule":"@daily"}', 0, '', 'skip', 'coalesce', 0, 80, 5, 0, 'user_1', 'ada@example.com', 1, 1, 1,
    1, 86400000000000, '{}');
INSERT INTO automation_slots (id, automation_id, due_key, due_at, outcome, reason, note, run_id, trigger_values,
    by_hand, is_open, created_at, acted_at)
    VALUES ('slot_1', 'auto_1', 'cron 1', 1, 'fired', '', '', 'run_1', '{}', 0, 1, 1, 1);
