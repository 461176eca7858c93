-- One row per pull request: after a merge or a close the next approval of the branch gets a row of its own. The update of
-- an open one has a state of its own, so that a failed update does not hide the pull request.
CREATE TABLE pull_requests_with_history (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    repo_name TEXT NOT NULL,
    host TEXT NOT NULL,              -- of the forge; empty until it is known
    fix_of TEXT NOT NULL,
    forge TEXT NOT NULL,             -- github, gitea, gitlab, plain; empty until it is known
    branch TEXT NOT NULL,
    target TEXT NOT NULL,            -- branch it is to be merged into
    revision BIGINT NOT NULL,        -- that was approved last
    delivered_revision BIGINT NOT NULL, -- that the forge has; 0: none
    state TEXT NOT NULL,
    update_state TEXT NOT NULL,      -- of an open one: pending, failed, cancelled; empty: the forge has the revision
    number BIGINT,
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    draft BIGINT NOT NULL,
    head_commit TEXT NOT NULL,       -- that was delivered
    forge_commit TEXT NOT NULL,      -- that the forge has; another one was pushed by a person
    people TEXT NOT NULL,            -- what people did with the branch: commits_added, force_pushed; empty: nothing
    their_commits TEXT NOT NULL,     -- JSON
    mergeable TEXT NOT NULL,         -- yes, conflicts; empty: not known
    checks TEXT NOT NULL,
    forge_review TEXT NOT NULL,
    error TEXT NOT NULL,
    cause TEXT NOT NULL,             -- of the error
    moved_to TEXT NOT NULL,          -- address of a repository that moved
    attempts BIGINT NOT NULL,
    next_try_at BIGINT NOT NULL,
    etag TEXT NOT NULL,
    told_until TEXT NOT NULL,        -- newest comment of the forge that the session received
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    polled_at BIGINT,
    merged_at BIGINT,
    ended_at BIGINT
);
INSERT INTO pull_requests_with_history (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, host, fix_of,
    forge, branch, target, revision, delivered_revision, state, update_state, number, url, title, draft, head_commit,
    forge_commit, people, their_commits, mergeable, checks, forge_review, error, cause, moved_to, attempts, next_try_at,
    etag, told_until, created_at, updated_at, polled_at, merged_at, ended_at)
    SELECT id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, '', fix_of, forge, branch, target, revision,
    CASE WHEN state IN ('queued', 'pushed', 'failed') THEN 0 ELSE revision END,
    -- An open one whose update waited or failed was hidden behind these states.
    CASE WHEN number IS NOT NULL AND state IN ('queued', 'pushed', 'failed') THEN 'open' ELSE state END,
    CASE WHEN number IS NULL THEN '' WHEN state IN ('queued', 'pushed') THEN 'pending' WHEN state = 'failed' THEN 'failed'
    ELSE '' END,
    number, url, title, draft, head_commit, head_commit, '', '[]', '', checks, forge_review, error, '', '', attempts,
    next_try_at, etag, told_until, created_at, updated_at, polled_at, merged_at,
    CASE WHEN state IN ('merged', 'closed') THEN updated_at ELSE NULL END FROM pull_requests;
DROP TABLE pull_requests;
ALTER TABLE pull_requests_with_history RENAME TO pull_requests;
CREATE INDEX pull_requests_by_state ON pull_requests(state, next_try_at);
CREATE INDEX pull_requests_by_repo ON pull_requests(repo_id, state);
CREATE INDEX pull_requests_by_space ON pull_requests(space_id, id);
CREATE INDEX pull_requests_by_artifact ON pull_requests(artifact_id, id);

-- What happened to a pull request, in Hone and on the forge.
CREATE TABLE pull_request_events (
    id TEXT PRIMARY KEY,
    pull_request_id TEXT NOT NULL REFERENCES pull_requests(id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX pull_request_events_by_pull_request ON pull_request_events(pull_request_id, id);
CREATE INDEX pull_request_events_by_time ON pull_request_events(created_at);

-- An approval that was withdrawn stays in the history and no longer counts.
ALTER TABLE review_decisions ADD COLUMN withdrawn_at BIGINT;
