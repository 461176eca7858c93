-- Sessions that an agent provider runs. There is no reference to the run: after its run is deleted, the session is
-- deleted at the provider and then here.
CREATE TABLE managed_sessions (
    run_id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    skill_id TEXT NOT NULL,          -- whose key and base URL are used
    base_url TEXT NOT NULL,
    session_id TEXT NOT NULL,        -- empty: not made yet
    vault_id TEXT NOT NULL,          -- empty: none
    progress TEXT NOT NULL,          -- JSON of managed::Progress
    began_at BIGINT NOT NULL,        -- when the run was first given to the provider
    active_since BIGINT NOT NULL,    -- the wall clock of the run counts from here
    stopped_at BIGINT                -- archived or deleted at the provider, without a vault
);
CREATE INDEX managed_sessions_by_space ON managed_sessions(space_id);

-- Which events of the provider are in the transcript.
CREATE TABLE managed_events (
    run_id TEXT NOT NULL REFERENCES managed_sessions(run_id) ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    sequence BIGINT NOT NULL,
    PRIMARY KEY (run_id, event_id),
    UNIQUE (run_id, sequence)
);

-- Calls of custom tools. A row without a reply was begun: its effect is not repeated.
CREATE TABLE managed_replies (
    run_id TEXT NOT NULL REFERENCES managed_sessions(run_id) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    begun_by TEXT NOT NULL,          -- the server process
    reply TEXT,
    failed BIGINT NOT NULL,
    PRIMARY KEY (run_id, call_id)
);

-- An owner of the space has consented that data of the space is sent to this address.
CREATE TABLE managed_consents (
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    base_url TEXT NOT NULL,
    note TEXT NOT NULL,              -- what was shown
    consented_by TEXT NOT NULL,
    consented_by_name TEXT NOT NULL,
    consented_at BIGINT NOT NULL,
    PRIMARY KEY (space_id, base_url)
);
