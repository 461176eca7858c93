-- Readings: runs that read sampled traces with a model for Signal, and what they found.

CREATE TABLE signal_readings (
    run_id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    scan_id TEXT,                    -- the scan that started it; null: a person did
    sample TEXT NOT NULL,            -- JSON: which traces and issues it was given
    traces BIGINT NOT NULL,
    findings BIGINT NOT NULL,
    confirmed BIGINT NOT NULL,
    rejected BIGINT NOT NULL,
    refused BIGINT NOT NULL,         -- entries that did not pass the checks
    is_over BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX signal_readings_by_project ON signal_readings(project_id, created_at);
CREATE INDEX signal_readings_by_scan ON signal_readings(scan_id);
CREATE INDEX signal_readings_by_over ON signal_readings(is_over);

-- One span of one trace in which a reading saw a problem.
CREATE TABLE signal_sightings (
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    started_at BIGINT NOT NULL,      -- of the span
    statement TEXT NOT NULL,
    quote TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, fingerprint, trace_id, span_id)
);

-- What a reading decided about a finding of statistics: '', 'confirmed' or 'rejected'.
ALTER TABLE issues ADD COLUMN verdict TEXT NOT NULL DEFAULT '';
ALTER TABLE issues ADD COLUMN verdict_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE issues ADD COLUMN verdict_run TEXT;
