-- Presets, runs and their transcripts.

CREATE TABLE presets (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    version BIGINT NOT NULL,
    settings TEXT NOT NULL,   -- JSON, as of `version`
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

CREATE TABLE preset_versions (
    preset_id TEXT NOT NULL REFERENCES presets(id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    settings TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (preset_id, version)
);

CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    origin TEXT NOT NULL,
    preset_id TEXT,
    preset_name TEXT,
    automation_id TEXT,
    title TEXT NOT NULL,
    harness TEXT NOT NULL,
    model TEXT NOT NULL,
    manifest TEXT NOT NULL,        -- JSON
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    started_by TEXT NOT NULL,      -- id of the user or key
    started_by_name TEXT NOT NULL,
    rights TEXT NOT NULL,          -- JSON: what the starter could read, the most a run key may
    priority BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    last_event BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    cost_micro_usd BIGINT,
    from_run TEXT,
    fork_of TEXT,                  -- whose thread is copied before the first sandbox
    thread TEXT NOT NULL,          -- whose volume is the workspace
    trace_id TEXT NOT NULL,
    harness_session TEXT NOT NULL, -- what the harness calls it; empty until known
    sandbox_id TEXT,               -- of the live sandbox
    sandbox_command BIGINT,        -- the harness in it
    spool_offset BIGINT NOT NULL,  -- output up to here is in the transcript
    server TEXT,                   -- who looks after it
    wish TEXT NOT NULL,            -- '', 'interrupt', 'cancel': what a person wants
    created_at BIGINT NOT NULL,
    queued_at BIGINT NOT NULL,
    started_at BIGINT,
    waiting_since BIGINT,
    ended_at BIGINT
);
CREATE INDEX runs_by_space ON runs(space_id, id);
CREATE INDEX runs_by_project ON runs(project_id, id);
CREATE INDEX runs_by_state ON runs(state, priority, queued_at);

CREATE TABLE run_events (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,
    body TEXT NOT NULL,            -- JSON
    PRIMARY KEY (run_id, seq)
);

-- Texts that are too long to be shown with their event.
CREATE TABLE run_event_texts (
    run_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    whole_text TEXT NOT NULL,
    whole_input TEXT NOT NULL,
    PRIMARY KEY (run_id, seq),
    FOREIGN KEY (run_id, seq) REFERENCES run_events(run_id, seq) ON DELETE CASCADE
);

-- What a person said and the harness has not been told yet, or when it was told (place in its output).
CREATE TABLE run_inputs (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    seq BIGINT NOT NULL,           -- of its event
    words TEXT NOT NULL,
    sandbox_id TEXT,               -- where it was told
    told_at_offset BIGINT,
    PRIMARY KEY (run_id, seq)
);

-- Keys that belong to a run: they read one project and end with the run.
CREATE TABLE run_keys (
    key_id TEXT PRIMARY KEY REFERENCES api_keys(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    project_id TEXT NOT NULL
);
CREATE INDEX run_keys_by_run ON run_keys(run_id);
