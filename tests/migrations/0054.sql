-- Rows as schema 54 would have written them: a queue that takes what people do not agree about.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO annotation_queues (id, space_id, project_id, name, instructions, target, reviewers_per_item, shows_verdicts,
    dataset, fill_enabled, fill_filter, fill_ppm, filled_up_to, fill_problem, created_by, created_by_name, created_at,
    updated_at, fill_rule)
    VALUES ('annotationqueue_1', 'space_1', 'project_1', 'tickets', 'Is it right?', 'trace', 2, 0, 'corrected', 1,
    'status = error', 50000, 1, '', 'user_1', 'ada@example.com', 1, 1, 'disputed');
