-- Branches that runs pushed, what people say about them and about other artifacts, and the pull requests that come of
-- it. Diffs and patches are contents of artifacts, named by their hash.

CREATE TABLE review_branches (
    artifact_id TEXT PRIMARY KEY REFERENCES artifacts(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    repo_id TEXT NOT NULL,
    repo_name TEXT NOT NULL,
    branch TEXT NOT NULL,
    revision BIGINT NOT NULL,      -- the newest
    starter TEXT NOT NULL,         -- who started the run: users and keys by id
    fix_of TEXT NOT NULL,          -- issue that the run is to fix; empty: none
    policy TEXT NOT NULL,          -- JSON, src/review/policy.h
    automatic BIGINT NOT NULL,     -- 1: the preset wants no person, as long as nothing is flagged
    UNIQUE (run_id, repo_id, branch)
);

CREATE TABLE review_revisions (
    artifact_id TEXT NOT NULL REFERENCES review_branches(artifact_id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    base_commit TEXT NOT NULL,
    head_commit TEXT NOT NULL,
    state TEXT NOT NULL,           -- pending, ready, failed
    error TEXT NOT NULL,
    title TEXT NOT NULL,
    commits TEXT NOT NULL,         -- JSON
    files BIGINT NOT NULL,
    additions BIGINT NOT NULL,
    deletions BIGINT NOT NULL,
    flags TEXT NOT NULL,           -- JSON
    blocking_flags BIGINT NOT NULL,
    diff_digest TEXT NOT NULL,
    patch_digest TEXT NOT NULL,
    verification TEXT NOT NULL,    -- none, pending, running, green, red, failed
    verification_results TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    pushed_at BIGINT NOT NULL,
    ready_at BIGINT,
    PRIMARY KEY (artifact_id, revision)
);
CREATE INDEX review_revisions_by_state ON review_revisions(state);
CREATE INDEX review_revisions_by_verification ON review_revisions(verification);
CREATE INDEX review_revisions_by_diff ON review_revisions(diff_digest);
CREATE INDEX review_revisions_by_patch ON review_revisions(patch_digest);

CREATE TABLE review_comments (
    id TEXT PRIMARY KEY,
    artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE,
    reply_to TEXT,                 -- first comment of the thread
    revision BIGINT NOT NULL,
    path TEXT NOT NULL,            -- empty: about the whole
    side TEXT NOT NULL,            -- old, new
    line BIGINT,
    body TEXT NOT NULL,
    author TEXT NOT NULL,
    author_name TEXT NOT NULL,
    resolved_by TEXT,
    resolved_at BIGINT,
    told_at BIGINT,                -- when it went to the session
    created_at BIGINT NOT NULL,
    edited_at BIGINT
);
CREATE INDEX review_comments_by_artifact ON review_comments(artifact_id, id);

CREATE TABLE review_viewed (
    artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE,
    viewer TEXT NOT NULL,
    path TEXT NOT NULL,
    revision BIGINT NOT NULL,
    viewed_at BIGINT NOT NULL,
    PRIMARY KEY (artifact_id, viewer, path)
);

-- Everything that was decided, also what no longer counts.
CREATE TABLE review_decisions (
    id TEXT PRIMARY KEY,
    artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    decision TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    reviewer_name TEXT NOT NULL,
    comment TEXT NOT NULL,
    allow_protected BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX review_decisions_by_artifact ON review_decisions(artifact_id, id);

-- One row per approved branch and repository: written with the approval, carried out afterwards.
CREATE TABLE pull_requests (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    artifact_id TEXT NOT NULL UNIQUE REFERENCES artifacts(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    repo_name TEXT NOT NULL,
    fix_of TEXT NOT NULL,
    forge TEXT NOT NULL,           -- github, gitea, gitlab, plain; empty until it is known
    branch TEXT NOT NULL,
    target TEXT NOT NULL,          -- branch it is to be merged into
    revision BIGINT NOT NULL,      -- that was approved
    state TEXT NOT NULL,
    number BIGINT,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    draft BIGINT NOT NULL,
    head_commit TEXT NOT NULL,     -- that the forge has
    checks TEXT NOT NULL,
    forge_review TEXT NOT NULL,
    error TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    next_try_at BIGINT NOT NULL,
    etag TEXT NOT NULL,
    told_until TEXT NOT NULL,      -- newest comment of the forge that the session was told
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    polled_at BIGINT,
    merged_at BIGINT
);
CREATE INDEX pull_requests_by_state ON pull_requests(state, next_try_at);
CREATE INDEX pull_requests_by_repo ON pull_requests(repo_id, state);
CREATE INDEX pull_requests_by_space ON pull_requests(space_id, id);
