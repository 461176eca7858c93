-- Kinds of notices that are counted as new for a person; without a row those that need a person are.

CREATE TABLE notice_settings (
    principal TEXT NOT NULL,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    kinds TEXT NOT NULL,           -- "kind,kind"; empty: none
    chosen_at BIGINT NOT NULL,
    PRIMARY KEY (principal, space_id)
);
