-- Rows as schema 15 would have written them: a priced model call, and a space that keeps no texts.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO model_usage (id, space_id, project_id, run_id, automation_id, day, started_at, duration_ns, api, model, status,
    input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, estimated_tokens, cost_nano_usd,
    price, complete)
    VALUES ('call_1', 'space_1', 'project_1', 'run_1', '', '2026-11-15', 1, 2, 'messages', 'claude-sonnet-4', 200, 1, 0, 0,
    1, 0, 0, 18000, 'claude-sonnet-4 3 15 0.3 3.75 since 2025-11-01', 1);
INSERT INTO space_budgets (space_id, tokens_per_day, cost_micro_usd_per_day, soft_percent, capture, updated_at)
    VALUES ('space_1', 1000, NULL, 80, 'metadata', 1);
