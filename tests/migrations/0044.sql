-- Rows as schema 44 would have written them: a call of a model in flight.
INSERT INTO budget_holds (id, budget, tokens, cost_nano_usd, created_at)
    VALUES ('hold_1', 'space space_1 2026-11-17', 100, 5, 1);
