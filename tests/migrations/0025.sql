-- Rows as schema 25 would have written them: an annotation config that a project uses.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at) VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO annotation_configs (id, space_id, name, type, description, direction, labels, lower_bound, upper_bound, threshold,
    created_at, updated_at)
    VALUES ('annotationconfig_1', 'space_1', 'quality', 'categorical', '', 'maximize', '[{"label":"good","score":1}]', NULL, NULL,
    NULL, 1, 1);
INSERT INTO project_annotation_configs (project_id, config_id) VALUES ('project_1', 'annotationconfig_1');
