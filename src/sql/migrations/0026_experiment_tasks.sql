-- Experiments that the server runs: what is run, by which server, and how far it is.

CREATE TABLE experiment_tasks (
    experiment_id TEXT PRIMARY KEY REFERENCES experiments(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL,
    task TEXT NOT NULL,              -- JSON
    concurrency BIGINT NOT NULL,
    budget_seconds BIGINT,           -- of all attempts together
    state TEXT NOT NULL,             -- queued, running, stopped, done, failed, budget_stopped
    reason TEXT NOT NULL,            -- why it failed or stopped
    commit_name TEXT NOT NULL,       -- of the repository, from the first attempt on
    spent_ms BIGINT NOT NULL,        -- time of all attempts until now
    server TEXT NOT NULL,            -- that runs it until lease_until
    lease_until BIGINT NOT NULL,
    attempt_at BIGINT NOT NULL,      -- runs and evals that failed before are tried again
    started_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT
);
CREATE INDEX experiment_tasks_due ON experiment_tasks(state, lease_until);

-- The evaluators of its runs, each with a fixed version.
CREATE TABLE experiment_evaluators (
    experiment_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    evaluator_id TEXT NOT NULL,
    number BIGINT NOT NULL,
    name TEXT NOT NULL,              -- of the evals
    PRIMARY KEY (experiment_id, name)
);

ALTER TABLE datasets ADD COLUMN schema TEXT;  -- JSON: schemas of input, output and metadata; null: any example is accepted
