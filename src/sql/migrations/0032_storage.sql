-- What runs have on disk, what a person keeps, and what the server collected.

ALTER TABLE runs ADD COLUMN workspace_removed_at BIGINT;
ALTER TABLE runs ADD COLUMN kept_by TEXT; -- name of the person who keeps it from expiry
ALTER TABLE artifacts ADD COLUMN kept_by TEXT;

-- From before anything of a run is on disk until nothing of it is: the row outlives the run, which can go with its
-- project or its space. So there is no foreign key.
CREATE TABLE run_files (
    run_id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL,
    thread TEXT NOT NULL,          -- whose volume is the workspace; empty: it was removed
    trace_id TEXT NOT NULL,
    server TEXT                    -- that has the files; null: none has
);
INSERT INTO run_files (run_id, space_id, thread, trace_id, server) SELECT id, space_id, thread, trace_id, server FROM runs;

-- What the server removed by itself, one row per kind and time.
CREATE TABLE collections (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    removed BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    collected_at BIGINT NOT NULL
);
CREATE INDEX collections_by_time ON collections(collected_at);
