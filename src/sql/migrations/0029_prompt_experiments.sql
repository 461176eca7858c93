-- Experiments that call models have a limit of their cost; some tags of prompts are moved only by those who may; workers
-- propose examples that a person accepts or rejects.

ALTER TABLE experiment_tasks ADD COLUMN budget_micro_usd BIGINT; -- of all attempts together

CREATE TABLE protected_prompt_tags (
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,              -- of tags, in all prompts of the space
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, name)
);

CREATE TABLE proposed_examples (
    id TEXT PRIMARY KEY,
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    input TEXT NOT NULL,             -- a JSON object
    output TEXT NOT NULL,            -- a JSON object
    metadata TEXT NOT NULL,          -- a JSON object
    hash TEXT NOT NULL,              -- of the three
    reason TEXT NOT NULL,            -- of who proposes it
    source_project TEXT,
    source_trace TEXT,
    source_span TEXT,
    state TEXT NOT NULL,             -- pending, accepted, rejected
    proposed_by TEXT NOT NULL,
    proposed_by_name TEXT NOT NULL,
    run_id TEXT,                     -- of the worker
    created_at BIGINT NOT NULL,
    decided_by_name TEXT,
    decided_at BIGINT,
    UNIQUE (dataset_id, hash)
);
CREATE INDEX proposed_examples_by_state ON proposed_examples(dataset_id, state, id);
