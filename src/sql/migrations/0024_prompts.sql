-- Prompts: templates with model settings, immutable versions, tags that point at versions.

CREATE TABLE prompts (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    metadata TEXT NOT NULL,          -- a JSON object
    source_id TEXT,                  -- the prompt that it was copied from
    created_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

CREATE TABLE prompt_versions (
    id TEXT PRIMARY KEY,
    prompt_id TEXT NOT NULL REFERENCES prompts(id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    content TEXT NOT NULL,           -- JSON: model, template, parameters, tools, response format
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (prompt_id, number)
);

CREATE TABLE prompt_tags (
    id TEXT PRIMARY KEY,
    prompt_id TEXT NOT NULL REFERENCES prompts(id) ON DELETE CASCADE,
    version_id TEXT NOT NULL REFERENCES prompt_versions(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (prompt_id, name)
);
CREATE INDEX prompt_tags_by_version ON prompt_tags(version_id);
