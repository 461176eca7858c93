-- What a person decides about a run of an experiment, beside the eval of an evaluator or a client: one per run, name of
-- the eval, and person.
CREATE TABLE experiment_corrections (
    run_id TEXT NOT NULL REFERENCES experiment_runs(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    author_name TEXT NOT NULL,
    label TEXT,
    score DOUBLE,
    explanation TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, name, author)
);
