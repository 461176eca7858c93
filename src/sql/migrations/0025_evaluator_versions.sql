-- Evaluators of several kinds, with immutable versions. An evaluator without a project belongs to its space.

CREATE TABLE grown_evaluators (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT REFERENCES projects(id) ON DELETE CASCADE,  -- of a rule
    kind TEXT NOT NULL,              -- rule, code
    name TEXT NOT NULL,              -- of the evals it writes
    description TEXT NOT NULL,
    filter TEXT NOT NULL,            -- of a rule: the spans it evaluates
    condition TEXT NOT NULL,         -- which of these match
    label TEXT NOT NULL,
    score DOUBLE,
    other_label TEXT NOT NULL,       -- of those that do not match; empty: they get no eval
    other_score DOUBLE,
    sample_percent BIGINT NOT NULL,
    enabled BIGINT NOT NULL,
    issue_id TEXT,                   -- that it was created from
    revision BIGINT NOT NULL,        -- number of the newest version
    judged_up_to BIGINT NOT NULL,    -- spans received until then are evaluated
    next_at BIGINT NOT NULL,         -- the server that moves it on evaluates
    last_at BIGINT,
    judged BIGINT NOT NULL,
    matched BIGINT NOT NULL,
    problem TEXT NOT NULL,           -- error of the last evaluation
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name)
);
INSERT INTO grown_evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, score,
    other_label, other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, last_at, judged,
    matched, problem, created_by, created_by_name, created_at, updated_at)
    SELECT id, space_id, project_id, 'rule', name, description, filter, condition, label, score, other_label,
    other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, last_at, judged, matched, problem,
    created_by, created_by_name, created_at, updated_at FROM evaluators;
DROP TABLE evaluators;
ALTER TABLE grown_evaluators RENAME TO evaluators;
CREATE INDEX evaluators_by_space ON evaluators(space_id, id);
CREATE INDEX evaluators_due ON evaluators(enabled, next_at);
CREATE UNIQUE INDEX evaluators_without_project ON evaluators(space_id, name) WHERE project_id IS NULL;

-- What an evaluator was, from one change to the next. Never changed.
CREATE TABLE evaluator_versions (
    evaluator_id TEXT NOT NULL REFERENCES evaluators(id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    space_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,        -- JSON, by kind
    content_hash TEXT NOT NULL,      -- of kind and definition
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (evaluator_id, number)
);
