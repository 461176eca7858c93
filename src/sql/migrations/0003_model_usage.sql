-- What model calls used, one row per call, and the spending limits of spaces. Times are nanoseconds since 1970 (UTC).
-- Usage outlives the project and the run it belongs to: it is what was paid for.

CREATE TABLE model_usage (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    automation_id TEXT NOT NULL,
    day TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    duration_ns BIGINT NOT NULL,
    api TEXT NOT NULL,
    model TEXT NOT NULL,
    status BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    estimated_tokens BIGINT NOT NULL,
    cost_nano_usd BIGINT,
    complete BIGINT NOT NULL
);
CREATE INDEX model_usage_by_space ON model_usage(space_id, day);
CREATE INDEX model_usage_by_run ON model_usage(run_id);
CREATE INDEX model_usage_by_automation ON model_usage(automation_id, day);

CREATE TABLE space_budgets (
    space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
    tokens_per_day BIGINT,
    cost_micro_usd_per_day BIGINT,
    soft_percent BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
