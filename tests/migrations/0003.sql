-- Rows as schema 3 would have written them: a call with a price, one without that broke off, a budget.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO model_usage (id, space_id, project_id, run_id, automation_id, day, started_at, duration_ns, api, model, status,
    input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated_tokens, cost_nano_usd, complete)
    VALUES ('call_1', 'space_1', 'project_1', 'run_1', '', '2026-11-15', 1, 2, 'messages', 'm', 200, 10, 5, 2, 7, 0, 0, 900, 1);
INSERT INTO model_usage (id, space_id, project_id, run_id, automation_id, day, started_at, duration_ns, api, model, status,
    input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated_tokens, cost_nano_usd, complete)
    VALUES ('call_2', 'space_1', 'project_1', 'run_1', 'aut_1', '2026-11-15', 1, 2, 'chat', 'own', 0, 0, 0, 0, 0, 0, 12, NULL, 0);
INSERT INTO space_budgets (space_id, tokens_per_day, cost_micro_usd_per_day, soft_percent, updated_at)
    VALUES ('space_1', 1000000, NULL, 80, 1);
