-- Evaluators, what issues became elsewhere, and what the workers of a scan cost.

-- Rules that judge the new spans of a project and write evals of the kind `code`.
CREATE TABLE evaluators (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    name TEXT NOT NULL,              -- of the evals it writes
    description TEXT NOT NULL,
    filter TEXT NOT NULL,            -- the spans it judges
    condition TEXT NOT NULL,         -- which of these match
    label TEXT NOT NULL,
    score DOUBLE,
    other_label TEXT NOT NULL,       -- of those that do not match; empty: they get no eval
    other_score DOUBLE,
    sample_percent BIGINT NOT NULL,
    enabled BIGINT NOT NULL,
    issue_id TEXT,                   -- that it was made from
    revision BIGINT NOT NULL,        -- grows with every change of the rule
    judged_up_to BIGINT NOT NULL,    -- spans received until then are judged
    next_at BIGINT NOT NULL,         -- whoever moves it on judges
    last_at BIGINT,
    judged BIGINT NOT NULL,
    matched BIGINT NOT NULL,
    problem TEXT NOT NULL,           -- why the last look failed
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name)
);
CREATE INDEX evaluators_by_space ON evaluators(space_id, id);
CREATE INDEX evaluators_due ON evaluators(enabled, next_at);

ALTER TABLE issues ADD COLUMN evaluator_id TEXT;
ALTER TABLE issues ADD COLUMN forge_issue TEXT;           -- its address on a forge
ALTER TABLE issues ADD COLUMN forge_claimed_at BIGINT;    -- somebody opens one there right now

ALTER TABLE issue_runs ADD COLUMN scan_id TEXT;           -- the scan that started it
CREATE INDEX issue_runs_by_scan ON issue_runs(scan_id);

ALTER TABLE signal_scans ADD COLUMN memory_bytes BIGINT NOT NULL DEFAULT 0;
