-- What runs leave, and what people say about it. Contents lie in files named by their hash.

CREATE TABLE artifacts (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    summary TEXT NOT NULL,
    media_type TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    digest TEXT NOT NULL,
    review TEXT NOT NULL,
    reviewer TEXT,
    reviewer_name TEXT,
    comment TEXT NOT NULL,
    reviewed_at BIGINT,
    applied_at BIGINT,             -- when an approval took effect
    created_at BIGINT NOT NULL,
    UNIQUE (run_id, kind, name)
);
CREATE INDEX artifacts_by_review ON artifacts(space_id, review, id);
CREATE INDEX artifacts_by_digest ON artifacts(digest);
