-- Annotation configs: which labels and scores an annotation of a name may have, and the projects that use them.

CREATE TABLE annotation_configs (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,              -- categorical, continuous, freeform
    description TEXT NOT NULL,
    direction TEXT,                  -- minimize, maximize, none
    labels TEXT NOT NULL,            -- JSON: a list of {label, score}
    lower_bound DOUBLE,
    upper_bound DOUBLE,
    threshold DOUBLE,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

CREATE TABLE project_annotation_configs (
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    config_id TEXT NOT NULL REFERENCES annotation_configs(id) ON DELETE CASCADE,
    PRIMARY KEY (project_id, config_id)
);
CREATE INDEX project_annotation_configs_by_config ON project_annotation_configs(config_id);
