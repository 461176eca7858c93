-- Repositories, mirrors, branches that runs pushed.

-- A repository of a space and what its mirror in DIR/mirrors holds. state: new, ready, failed (the last fetch; what was
-- fetched before stays usable).
CREATE TABLE repos (
    id TEXT NOT NULL PRIMARY KEY,
    space_id TEXT NOT NULL,
    name TEXT NOT NULL,
    url TEXT NOT NULL,
    default_ref TEXT NOT NULL,
    skill_id TEXT,
    path_scope TEXT NOT NULL,
    allow_private BIGINT NOT NULL,
    state TEXT NOT NULL,
    head_ref TEXT NOT NULL,
    refs BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    fetched_at BIGINT,
    error TEXT NOT NULL,
    notes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (space_id, name),
    UNIQUE (space_id, url)
);

-- The repositories that a run may clone, under the name it knows them by.
CREATE TABLE run_repos (
    run_id TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    space_id TEXT NOT NULL,
    name TEXT NOT NULL,
    base_ref TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (run_id, repo_id),
    UNIQUE (run_id, name)
);
CREATE INDEX run_repos_by_repo ON run_repos (repo_id);

-- Branches in the quarantine of a run. pushes counts how often.
CREATE TABLE pushed_branches (
    id TEXT NOT NULL PRIMARY KEY,
    space_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    repo_id TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    head_commit TEXT NOT NULL,
    pushes BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    pushed_at BIGINT NOT NULL,
    UNIQUE (run_id, repo_id, branch)
);
CREATE INDEX pushed_branches_by_repo ON pushed_branches (repo_id, id);
