-- What calls of models in flight have reserved of a budget that several servers share. A row ends with its call, or an
-- hour after its server was killed.
CREATE TABLE budget_holds (
    id TEXT PRIMARY KEY,
    budget TEXT NOT NULL,           -- "space ID DAY", "automation ID DAY"
    tokens BIGINT NOT NULL,
    cost_nano_usd BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX budget_holds_by_budget ON budget_holds(budget);
