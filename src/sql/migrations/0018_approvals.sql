-- Approved labels that are not in the span store yet: written with the approval, deleted when they are published.

CREATE TABLE label_publications (
    artifact_id TEXT PRIMARY KEY REFERENCES artifacts(id) ON DELETE CASCADE,
    digest TEXT NOT NULL,          -- the content that was approved
    attempts BIGINT NOT NULL,
    next_try_at BIGINT NOT NULL,
    error TEXT NOT NULL,           -- why the last attempt failed
    created_at BIGINT NOT NULL
);
CREATE INDEX label_publications_by_time ON label_publications(next_try_at);

-- Approved before, and not published because the server ended in between.
INSERT INTO label_publications (artifact_id, digest, attempts, next_try_at, error, created_at)
    SELECT id, digest, 0, 0, '', created_at FROM artifacts
    WHERE kind = 'labels' AND review = 'approved' AND applied_at IS NULL;
