-- Where a run works: a sandbox of the server, a pod of a cluster, a session of an agent provider.
ALTER TABLE runs ADD COLUMN provider TEXT NOT NULL DEFAULT 'local';
