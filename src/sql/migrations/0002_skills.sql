-- Skills, their versions, folders and shares; secrets and the keys that encrypt them. Secrets are never here in clear.

CREATE TABLE skills (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,      -- the space's id, or 'installation'
    space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    description TEXT NOT NULL,
    version BIGINT NOT NULL,
    setup TEXT NOT NULL,      -- JSON: plain variables, exposure, declared variables, hosts, where instructions are
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (scope, name)
);

CREATE TABLE skill_versions (
    skill_id TEXT NOT NULL REFERENCES skills(id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    setup TEXT NOT NULL,
    folder_hash TEXT NOT NULL,
    summary TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_by_name TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    PRIMARY KEY (skill_id, version)
);
CREATE INDEX skill_versions_by_folder ON skill_versions(folder_hash);

-- With which spaces a skill of the installation is shared.
CREATE TABLE skill_shares (
    skill_id TEXT NOT NULL REFERENCES skills(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (skill_id, space_id)
);
CREATE INDEX skill_shares_by_space ON skill_shares(space_id);

-- Uploaded folders by the hash of their content; skill_versions names them.
CREATE TABLE skill_files (
    folder_hash TEXT NOT NULL,
    path TEXT NOT NULL,
    executable BIGINT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (folder_hash, path)
);

-- A data key encrypts the secrets of one scope; it is stored encrypted by the master key that master_key_id names.
CREATE TABLE data_keys (
    scope TEXT NOT NULL,
    version BIGINT NOT NULL,
    space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
    master_key_id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (scope, version)
);

CREATE TABLE secrets (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    space_id TEXT REFERENCES spaces(id) ON DELETE CASCADE,
    skill_id TEXT NOT NULL REFERENCES skills(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    key_version BIGINT NOT NULL,
    sealed BLOB NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    set_at BIGINT NOT NULL,
    last_used_at BIGINT,
    UNIQUE (skill_id, name)
);
CREATE INDEX secrets_by_scope ON secrets(scope, id);
