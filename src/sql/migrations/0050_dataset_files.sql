-- Artifacts that examples of a dataset name, in any of its versions: they are kept.
CREATE TABLE dataset_files (
    dataset_id TEXT NOT NULL REFERENCES datasets(id) ON DELETE CASCADE,
    artifact_id TEXT NOT NULL,
    PRIMARY KEY (artifact_id, dataset_id)
);
CREATE INDEX dataset_files_by_dataset ON dataset_files(dataset_id);
