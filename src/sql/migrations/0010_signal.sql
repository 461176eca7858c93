-- Signal: settings of projects, scans, issues.

CREATE TABLE signal_settings (
    project_id TEXT PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    enabled BIGINT NOT NULL,
    settings TEXT NOT NULL,          -- JSON
    consent_by TEXT,                 -- who said yes, last
    consent_by_name TEXT,
    consent_at BIGINT,
    consent_note TEXT,               -- to which words
    last_scan_at BIGINT,
    next_scan_at BIGINT,             -- null: off; whoever moves it on makes the scan
    updated_at BIGINT NOT NULL
);
CREATE INDEX signal_settings_by_due ON signal_settings(next_scan_at);

CREATE TABLE signal_scans (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    asked_by TEXT NOT NULL,          -- 'schedule', or who
    started_at BIGINT NOT NULL,
    took_ms BIGINT NOT NULL,
    baseline_from BIGINT NOT NULL,
    window_from BIGINT NOT NULL,
    window_to BIGINT NOT NULL,
    spans BIGINT NOT NULL,           -- in the window
    traces BIGINT NOT NULL,
    questions BIGINT NOT NULL,
    rows_read BIGINT NOT NULL,
    bytes_read BIGINT NOT NULL,
    found BIGINT NOT NULL,
    new_issues BIGINT NOT NULL,
    reopened BIGINT NOT NULL,
    quiet BIGINT NOT NULL,           -- matches of muted and dismissed issues
    investigations BIGINT NOT NULL,
    detectors TEXT NOT NULL,         -- JSON
    failed TEXT NOT NULL
);
CREATE INDEX signal_scans_by_project ON signal_scans(project_id, id);

CREATE TABLE issues (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,       -- its first one
    detector TEXT NOT NULL,
    title TEXT NOT NULL,
    title_by_person BIGINT NOT NULL, -- 1: scans leave it alone
    explanation TEXT NOT NULL,
    severity TEXT NOT NULL,
    severity_by_person BIGINT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,            -- why it is muted, dismissed, resolved
    muted_until BIGINT,
    score BIGINT NOT NULL,           -- 0 to 100
    score_terms TEXT NOT NULL,       -- JSON
    traces BIGINT NOT NULL,
    share DOUBLE NOT NULL,
    growth DOUBLE NOT NULL,
    confidence DOUBLE NOT NULL,
    filter TEXT NOT NULL,
    facts TEXT NOT NULL,             -- JSON
    examples TEXT NOT NULL,          -- JSON
    matches BIGINT NOT NULL,         -- scans that found it
    quiet_matches BIGINT NOT NULL,   -- of these, while it was muted or dismissed
    reopened BIGINT NOT NULL,        -- how often it came back
    assignee TEXT,
    assignee_name TEXT,
    reported_by TEXT,
    investigation_id TEXT,           -- artifact
    investigation_run TEXT,
    investigated_at BIGINT,
    fix_run TEXT,
    monitor_id TEXT,
    merged_into TEXT,
    first_seen BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    status_at BIGINT NOT NULL,       -- when the status was changed last
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX issues_by_rank ON issues(space_id, score, id);
CREATE INDEX issues_by_project ON issues(project_id, status);

-- What an issue is recognised by. Merging moves rows to the other issue, splitting takes one away.
CREATE TABLE issue_fingerprints (
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    issue_id TEXT NOT NULL REFERENCES issues(id) ON DELETE CASCADE,
    detector TEXT NOT NULL,
    title TEXT NOT NULL,
    filter TEXT NOT NULL,
    traces BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    PRIMARY KEY (project_id, fingerprint)
);
CREATE INDEX issue_fingerprints_by_issue ON issue_fingerprints(issue_id);

CREATE TABLE issue_volume (
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    hour BIGINT NOT NULL,
    traces BIGINT NOT NULL,
    PRIMARY KEY (project_id, fingerprint, hour)
);

CREATE TABLE issue_comments (
    id TEXT PRIMARY KEY,
    issue_id TEXT NOT NULL REFERENCES issues(id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    author_name TEXT NOT NULL,
    words TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX issue_comments_by_issue ON issue_comments(issue_id, id);

CREATE TABLE issue_history (
    id TEXT PRIMARY KEY,
    issue_id TEXT NOT NULL REFERENCES issues(id) ON DELETE CASCADE,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX issue_history_by_issue ON issue_history(issue_id, id);

-- Runs about an issue: investigations and fixes.
CREATE TABLE issue_runs (
    run_id TEXT PRIMARY KEY,
    issue_id TEXT NOT NULL REFERENCES issues(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,              -- 'investigate', 'fix'
    status_before TEXT NOT NULL,     -- what the issue goes back to
    is_over BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX issue_runs_by_issue ON issue_runs(issue_id);
CREATE INDEX issue_runs_by_over ON issue_runs(is_over);
