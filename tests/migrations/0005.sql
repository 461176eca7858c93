-- Rows as schema 5 would have written them: a view that opens by itself.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO saved_views (project_id, page, name, query, is_default, saved_by, saved_by_name, created_at, updated_at)
    VALUES ('project_1', 'traces', 'slow errors', 'filter=status+%3D+error', 1, 'user_1', 'ada@example.com', 1, 1);
