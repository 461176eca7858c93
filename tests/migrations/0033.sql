-- Rows as schema 33 would have written them: a file that no run has yet.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO uploads (id, space_id, run_id, path, bytes, uploaded_by, uploaded_by_name, content, placed_at, created_at)
    VALUES ('upload_1', 'space_1', NULL, 'data/in.csv', 3, 'user_1', 'ada@example.com', '01J', NULL, 1);
