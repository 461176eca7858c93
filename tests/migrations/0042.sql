-- Rows as schema 42 would have written them: the kinds of notices that a person has counted.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO notice_settings (principal, space_id, kinds, chosen_at)
    VALUES ('user_1', 'space_1', 'monitor_triggered,run_finished', 1);
