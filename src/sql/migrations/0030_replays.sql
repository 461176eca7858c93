-- Experiments that run recorded traces again, and rules over the traces of runs.

-- JSON: ids of the projects whose traces the person who started it can read.
ALTER TABLE experiment_tasks ADD COLUMN source_projects TEXT NOT NULL DEFAULT '[]';

-- The project of a rule; null for code.
ALTER TABLE experiment_evaluators ADD COLUMN project_id TEXT;

-- What was replayed of an example, or why it could not be.
CREATE TABLE experiment_replays (
    experiment_id TEXT NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
    example_id TEXT NOT NULL,
    tools TEXT NOT NULL,             -- none, live, recorded
    tool_results BIGINT NOT NULL,    -- recorded results that were given instead of calls
    reason TEXT NOT NULL,            -- why it was not replayed; empty: it was
    PRIMARY KEY (experiment_id, example_id)
);
