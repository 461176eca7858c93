-- Servers that share the database: who is there, who has what, and entries of the audit log that are not chained yet.

CREATE TABLE servers (
    name TEXT PRIMARY KEY,          -- stays through restarts
    boot TEXT NOT NULL,             -- of the process: a later process of the same name replaces it
    version TEXT NOT NULL,
    schema_version BIGINT NOT NULL, -- the newest that its program has
    roles TEXT NOT NULL,            -- separated by commas
    address TEXT NOT NULL,
    span_store TEXT NOT NULL,       -- where its spans are
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL     -- by the clock of the database
);

-- What one server at a time may do. The epoch grows with each new holder.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,           -- boot of a server
    epoch BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);

-- Grows with each worker that gets the run: what an earlier one writes is rejected.
ALTER TABLE runs ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;

-- On PostgreSQL changes write here, without a row that they share; a server moves the entries into the chain.
CREATE TABLE audit_inbox (
    id TEXT PRIMARY KEY,
    time BIGINT NOT NULL,
    space_id TEXT,
    actor_kind TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    details TEXT NOT NULL,
    peer TEXT NOT NULL,
    request_id TEXT NOT NULL
);
