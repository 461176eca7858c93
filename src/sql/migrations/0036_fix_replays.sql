-- Verified fixes: the evidence of an issue and a control set, run on the base and on the branch of a review.

CREATE TABLE review_replays (
    artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    attempt BIGINT NOT NULL,         -- from 1; a new start replaces what there was
    state TEXT NOT NULL,             -- queued, running, done, failed, stopped
    reason TEXT NOT NULL,            -- why it failed or was stopped
    outcome TEXT NOT NULL,           -- none, not_reproduced, fixed, partly, unchanged, regressed
    settings TEXT NOT NULL,          -- JSON
    result TEXT NOT NULL,            -- JSON
    dataset_id TEXT NOT NULL,        -- empty: not prepared yet
    base_experiment_id TEXT NOT NULL,
    branch_experiment_id TEXT NOT NULL,
    lease_until BIGINT NOT NULL,     -- no other server works on it until then
    started_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    PRIMARY KEY (artifact_id, revision)
);
CREATE INDEX review_replays_by_state ON review_replays (state, lease_until);
