-- Experiments: the examples of a dataset version, run and evaluated.

CREATE TABLE experiments (
    id TEXT PRIMARY KEY,
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL,
    version BIGINT NOT NULL,         -- number of the dataset version
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    metadata TEXT NOT NULL,          -- a JSON object
    repetitions BIGINT NOT NULL,
    project_id TEXT NOT NULL,        -- where the traces of its runs go
    project_name TEXT NOT NULL,
    example_count BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX experiments_by_dataset ON experiments(dataset_id, id);

-- The examples that it runs, with the revision that each had when the experiment was created.
CREATE TABLE experiment_examples (
    experiment_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    example_id TEXT NOT NULL REFERENCES dataset_examples(id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,        -- version of the revision
    position BIGINT NOT NULL,
    PRIMARY KEY (experiment_id, example_id)
);
CREATE INDEX experiment_examples_by_position ON experiment_examples(experiment_id, position);
CREATE INDEX experiment_examples_by_example ON experiment_examples(example_id);

CREATE TABLE experiment_runs (
    id TEXT PRIMARY KEY,
    experiment_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    example_id TEXT NOT NULL,
    repetition BIGINT NOT NULL,
    output TEXT NOT NULL,            -- JSON
    error TEXT,
    trace_id TEXT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (experiment_id, example_id, repetition)
);
CREATE INDEX experiment_runs_by_id ON experiment_runs(experiment_id, id);

CREATE TABLE experiment_evals (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES experiment_runs(id) ON DELETE CASCADE,
    experiment_id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,              -- llm, code, human
    label TEXT,
    score DOUBLE,
    explanation TEXT,
    error TEXT,
    metadata TEXT NOT NULL,          -- a JSON object
    trace_id TEXT,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (run_id, name)
);
CREATE INDEX experiment_evals_by_experiment ON experiment_evals(experiment_id, run_id);

-- A tag marks one experiment of a dataset, such as the baseline, and moves.
CREATE TABLE experiment_tags (
    id TEXT PRIMARY KEY,
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    experiment_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    UNIQUE (dataset_id, name)
);
CREATE INDEX experiment_tags_by_experiment ON experiment_tags(experiment_id);

-- Projects that hold the traces of experiments are left out of lists.
ALTER TABLE projects ADD COLUMN hidden BIGINT NOT NULL DEFAULT 0;
