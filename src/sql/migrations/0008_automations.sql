-- Automations, and a row for every moment at which one was due. Times are nanoseconds since 1970 (UTC).

CREATE TABLE automations (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    preset_id TEXT,                -- may name one that is gone: its slots say so
    settings TEXT,                 -- JSON: a worker of its own, for what Hone itself manages
    managed_by TEXT,               -- 'signal' and the like: people cannot change or delete it here
    prompt TEXT NOT NULL,          -- a template
    trigger_type TEXT NOT NULL,
    trigger_setup TEXT NOT NULL,   -- JSON
    monitor_id TEXT,               -- of a monitor trigger
    paused BIGINT NOT NULL,
    pause_reason TEXT NOT NULL,
    overlap TEXT NOT NULL,
    catch_up TEXT NOT NULL,
    cool_off_seconds BIGINT NOT NULL,
    tokens_per_day BIGINT,
    cost_micro_usd_per_day BIGINT,
    soft_percent BIGINT NOT NULL,
    failure_limit BIGINT NOT NULL,
    failure_streak BIGINT NOT NULL,
    owner TEXT NOT NULL,           -- id of the user or key whose rights its runs have
    owner_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revision BIGINT NOT NULL,      -- grows with every change by people
    written_up_to BIGINT NOT NULL, -- due moments up to here are in the ledger
    next_at BIGINT,                -- when the scheduler must look next; none: only when it is told
    watch TEXT NOT NULL,           -- JSON: what a metric trigger remembers between looks
    last_slot TEXT,
    last_fired_at BIGINT,
    hook_key TEXT,                 -- id of the master key that seals the webhook's secret
    hook_sealed BLOB,
    UNIQUE (space_id, name)
);
CREATE INDEX automations_by_next ON automations(next_at);
CREATE INDEX automations_by_project ON automations(project_id);
CREATE INDEX automations_by_monitor ON automations(monitor_id);

-- The ledger. The key makes a due moment one row, however many servers see it.
CREATE TABLE automation_slots (
    id TEXT PRIMARY KEY,
    automation_id TEXT NOT NULL REFERENCES automations(id) ON DELETE CASCADE,
    due_key TEXT NOT NULL,
    due_at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    note TEXT NOT NULL,
    run_id TEXT,
    run_state TEXT,                -- how its run ended
    trigger_values TEXT NOT NULL,  -- JSON; given to the worker as data
    prompt TEXT,                   -- instead of the automation's own
    by_hand BIGINT NOT NULL,       -- a person's wish: neither a pause nor a cool-off is in its way
    is_open BIGINT NOT NULL,       -- 1 while something is to be done: start its run, or note how the run ended
    created_at BIGINT NOT NULL,
    acted_at BIGINT,
    UNIQUE (automation_id, due_key)
);
CREATE INDEX automation_slots_by_time ON automation_slots(automation_id, id);
CREATE INDEX automation_slots_open ON automation_slots(is_open, due_at);
CREATE INDEX automation_slots_by_run ON automation_slots(run_id);
CREATE INDEX runs_by_automation ON runs(automation_id, state);
