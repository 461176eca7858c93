-- What presets, sessions and automations of a space may request at most.
CREATE TABLE space_policies (
    space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
    policy TEXT NOT NULL,          -- JSON: run/space_policy.h
    updated_by TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
