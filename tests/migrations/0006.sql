-- Rows as schema 6 would have written them: a project with a quota, in a space with one.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO project_trace_settings (project_id, settings, updated_at)
    VALUES ('project_1', '{"spans_per_day":1000}', 1);
INSERT INTO space_trace_settings (space_id, settings, updated_at) VALUES ('space_1', '{"bytes_per_day":1000000}', 1);
