-- Rows as schema 16 would have written them: a space with a policy.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO space_policies (space_id, policy, updated_by, updated_at)
    VALUES ('space_1', '{"open_network":false,"hosts":["*.example.com"],"tokens":1000}', 'admin@localhost', 1);
