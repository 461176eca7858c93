-- Datasets: examples with versions, splits and labels.

CREATE TABLE datasets (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    metadata TEXT NOT NULL,          -- a JSON object
    version BIGINT NOT NULL,         -- number of the newest version
    example_count BIGINT NOT NULL,   -- of the newest version
    next_position BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);
CREATE INDEX datasets_by_space ON datasets(space_id, id);

CREATE TABLE dataset_versions (
    id TEXT PRIMARY KEY,
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    note TEXT NOT NULL,
    source TEXT NOT NULL,            -- upload, import, spans, ui, restore
    created BIGINT NOT NULL,         -- examples, compared with the version before
    patched BIGINT NOT NULL,
    deleted BIGINT NOT NULL,
    example_count BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (dataset_id, number)
);

CREATE TABLE dataset_examples (
    id TEXT PRIMARY KEY,
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    position BIGINT NOT NULL,        -- order in the dataset
    external_id TEXT,                -- given by the sender; unique in the dataset
    source_project TEXT,
    source_trace TEXT,
    source_span TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (dataset_id, external_id)
);

-- The content of an example from one version on, until another revision replaces it. Never changed except `replaced`.
CREATE TABLE dataset_revisions (
    example_id TEXT NOT NULL REFERENCES dataset_examples(id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    dataset_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    kind TEXT NOT NULL,              -- create, patch, delete
    replaced BIGINT NOT NULL,        -- number of the version that replaces it; the largest number while none does
    content_hash TEXT NOT NULL,
    input TEXT NOT NULL,             -- JSON
    output TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (example_id, version)
);
CREATE INDEX dataset_revisions_by_position ON dataset_revisions(dataset_id, position, version);

CREATE TABLE dataset_splits (
    id TEXT PRIMARY KEY,
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    color TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (dataset_id, name)
);

CREATE TABLE dataset_split_members (
    split_id TEXT NOT NULL REFERENCES dataset_splits(id) ON DELETE CASCADE,
    example_id TEXT NOT NULL REFERENCES dataset_examples(id) ON DELETE CASCADE,
    PRIMARY KEY (split_id, example_id)
);
CREATE INDEX dataset_split_members_by_example ON dataset_split_members(example_id);

CREATE TABLE dataset_labels (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    color TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

CREATE TABLE dataset_label_uses (
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    label_id TEXT NOT NULL REFERENCES dataset_labels(id) ON DELETE CASCADE,
    PRIMARY KEY (dataset_id, label_id)
);
CREATE INDEX dataset_label_uses_by_label ON dataset_label_uses(label_id);
