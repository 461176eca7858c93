-- Files that people give to sessions. Several rows can name one content: a rerun gets the files of the first run again.
CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    run_id TEXT REFERENCES runs(id) ON DELETE CASCADE, -- null: not given to a run yet
    path TEXT NOT NULL,            -- in the workspace
    bytes BIGINT NOT NULL,
    uploaded_by TEXT NOT NULL,
    uploaded_by_name TEXT NOT NULL,
    content TEXT NOT NULL,         -- name of its file in DIR/uploads
    placed_at BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX uploads_by_run ON uploads(run_id);
CREATE INDEX uploads_by_content ON uploads(content);
