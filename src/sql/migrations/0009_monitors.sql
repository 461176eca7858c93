-- Monitors, their history, and where notices go.

-- Secrets of things that are not skills: the address of a destination, the key of a webhook. Sealed as those of skills.
CREATE TABLE kept_secrets (
    owner_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
    key_version BIGINT NOT NULL,
    sealed BLOB NOT NULL,
    set_at BIGINT NOT NULL,
    PRIMARY KEY (owner_id, name)
);
CREATE INDEX kept_secrets_by_scope ON kept_secrets(scope, key_version);

CREATE TABLE notices (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT REFERENCES projects(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    link TEXT NOT NULL,
    told_key TEXT NOT NULL,        -- the same key is told once
    created_at BIGINT NOT NULL,
    UNIQUE (space_id, told_key)
);
CREATE INDEX notices_by_time ON notices(space_id, id);
CREATE INDEX notices_by_project ON notices(project_id);

-- Up to where a person has read the notices of a space.
CREATE TABLE notice_marks (
    principal TEXT NOT NULL,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    read_up_to TEXT NOT NULL,
    marked_at BIGINT NOT NULL,
    PRIMARY KEY (principal, space_id)
);

CREATE TABLE destinations (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,            -- webhook, slack, email
    shown_target TEXT NOT NULL,    -- what may be shown of where it goes
    kinds TEXT NOT NULL,           -- ",kind,kind,"; empty: all
    projects TEXT NOT NULL,        -- ",project,project,"; empty: all
    enabled BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_sent_at BIGINT,
    last_failed_at BIGINT,
    last_problem TEXT NOT NULL,
    template TEXT NOT NULL,        -- of the message's text; empty: the usual one
    UNIQUE (space_id, name)
);

-- The outbox: one row per notice and destination.
CREATE TABLE deliveries (
    id TEXT PRIMARY KEY,
    notice_id TEXT NOT NULL REFERENCES notices(id) ON DELETE CASCADE,
    destination_id TEXT NOT NULL REFERENCES destinations(id) ON DELETE CASCADE,
    state TEXT NOT NULL,           -- pending, sent, given_up
    attempts BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL, -- one server at a time tries
    problem TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    UNIQUE (notice_id, destination_id)
);
CREATE INDEX deliveries_due ON deliveries(state, next_at);
CREATE INDEX deliveries_by_destination ON deliveries(destination_id, id);

CREATE TABLE monitors (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    settings TEXT NOT NULL,        -- JSON
    enabled BIGINT NOT NULL,
    state TEXT NOT NULL,           -- healthy, no_data, triggered
    state_since BIGINT NOT NULL,
    bad_since BIGINT,              -- beyond the limit since then, not yet long enough
    transition_id TEXT NOT NULL,   -- the change to triggered that is not over; empty: none
    announced BIGINT NOT NULL,     -- whether people and automations know of it
    muted_until BIGINT,
    mute_reason TEXT NOT NULL,
    next_at BIGINT NOT NULL,
    claimed_by TEXT NOT NULL,      -- one server at a time evaluates
    claimed_until BIGINT NOT NULL,
    last_at BIGINT,
    last_reading TEXT NOT NULL,    -- JSON; empty: never evaluated
    problem TEXT NOT NULL,         -- why the last evaluation failed
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (project_id, name)
);
CREATE INDEX monitors_by_space ON monitors(space_id, id);
CREATE INDEX monitors_due ON monitors(enabled, next_at);

-- What changed, and why.
CREATE TABLE monitor_events (
    id TEXT PRIMARY KEY,
    monitor_id TEXT NOT NULL REFERENCES monitors(id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    value DOUBLE,
    bound DOUBLE,
    note TEXT NOT NULL,
    by_name TEXT NOT NULL          -- who did it; empty: an evaluation
);
CREATE INDEX monitor_events_by_monitor ON monitor_events(monitor_id, id);

-- One row per evaluation, for the chart; thinned as it gets older.
CREATE TABLE monitor_values (
    monitor_id TEXT NOT NULL REFERENCES monitors(id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    value DOUBLE,
    samples BIGINT NOT NULL,
    lower_bound DOUBLE,
    upper_bound DOUBLE,
    state TEXT NOT NULL,
    stays BIGINT NOT NULL,         -- the first of its hour, kept longer
    PRIMARY KEY (monitor_id, at)
);

-- For notices about them.
CREATE INDEX runs_by_end ON runs(ended_at);
CREATE INDEX artifacts_by_time ON artifacts(review, created_at);
