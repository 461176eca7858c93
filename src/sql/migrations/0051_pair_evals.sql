-- A model compares the outputs of two experiments, example by example, in both orders.

CREATE TABLE pair_tasks (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL,
    base_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    other_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    evaluator_id TEXT NOT NULL,
    number BIGINT NOT NULL,          -- version of the evaluator
    name TEXT NOT NULL,
    concurrency BIGINT NOT NULL,
    budget_tokens BIGINT,            -- of all attempts together
    budget_micro_usd BIGINT,
    state TEXT NOT NULL,             -- as of experiment_tasks
    reason TEXT NOT NULL,
    server TEXT NOT NULL,            -- that works on it until lease_until
    lease_until BIGINT NOT NULL,
    attempt_at BIGINT NOT NULL,      -- pairs that failed before are tried again
    started_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    UNIQUE (base_id, other_id, evaluator_id, number)
);
CREATE INDEX pair_tasks_by_other ON pair_tasks(other_id);
CREATE INDEX pair_tasks_due ON pair_tasks(state, lease_until);

-- One pair of runs: both verdicts, or why there are none. A verdict is never replaced.
CREATE TABLE pair_evals (
    task_id TEXT NOT NULL REFERENCES pair_tasks(id) ON DELETE CASCADE,
    example_id TEXT NOT NULL,
    repetition BIGINT NOT NULL,
    base_run_id TEXT NOT NULL,
    other_run_id TEXT NOT NULL,
    winner TEXT,                     -- base, other, tie, inconsistent, undecided; null: it failed
    first_label TEXT NOT NULL,       -- with the output of the base shown first
    swapped_label TEXT NOT NULL,     -- with the output of the other shown first
    explanation TEXT NOT NULL,       -- of the first verdict
    swapped_explanation TEXT NOT NULL,
    error TEXT NOT NULL,
    cached BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    cost_nano_usd BIGINT,            -- null: the model has no price
    duration_ms BIGINT NOT NULL,
    trace_id TEXT NOT NULL,
    swapped_trace_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (task_id, example_id, repetition)
);

-- What people prefer, for the agreement of evaluators with them.
CREATE TABLE pair_labels (
    base_run_id TEXT NOT NULL REFERENCES experiment_runs(id) ON DELETE CASCADE,
    other_run_id TEXT NOT NULL REFERENCES experiment_runs(id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    winner TEXT NOT NULL,            -- base, other, tie
    created_at BIGINT NOT NULL,
    PRIMARY KEY (base_run_id, other_run_id, user_id)
);
CREATE INDEX pair_labels_by_other ON pair_labels(other_run_id);
