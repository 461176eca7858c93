-- Views of a project's lists that people gave a name: the part of a page's address after the question mark.

CREATE TABLE saved_views (
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    page TEXT NOT NULL,        -- 'traces', 'sessions'
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    is_default BIGINT NOT NULL, -- at most one for each page of a project
    saved_by TEXT NOT NULL,     -- user or key
    saved_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (project_id, page, name)
);
