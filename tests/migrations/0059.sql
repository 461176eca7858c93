-- Rows as schema 59 would have written them: an evaluator whose responses name two models.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, score, other_label,
    other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, judged, matched, problem,
    created_by, created_by_name, created_at, updated_at)
    VALUES ('evaluator_1', 'space_1', NULL, 'llm', 'polite', '', '', '', '', NULL, '', NULL, 100, 0, NULL, 1, 1, 1, 0, 0,
    '', 'user_1', 'ada@example.com', 1, 1);
INSERT INTO evaluator_versions (evaluator_id, number, space_id, kind, name, definition, content_hash, created_by_name,
    created_at)
    VALUES ('evaluator_1', 1, 'space_1', 'llm', 'polite', '{}', 'hash', 'ada@example.com', 1);
INSERT INTO replied_models (evaluator_id, number, model, first_seen_at) VALUES ('evaluator_1', 1, 'model-2026-05', 1);
INSERT INTO replied_models (evaluator_id, number, model, first_seen_at) VALUES ('evaluator_1', 1, 'model-2026-11', 2);
