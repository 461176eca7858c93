-- Live tails of servers that share a ClickHouse. A server with a watcher of a project has a row in span_watches; a server that
-- stores spans of a watched project writes where they are into span_arrivals, and the watchers' servers read them there.
CREATE TABLE span_watches (
    server TEXT NOT NULL,           -- of the watchers
    project TEXT NOT NULL,
    until_ns BIGINT NOT NULL,       -- by the clock of the database; renewed while there is a watcher
    PRIMARY KEY (server, project)
);

CREATE TABLE span_arrivals (
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,           -- that stored them
    project TEXT NOT NULL,
    first_start_ns BIGINT NOT NULL,
    last_start_ns BIGINT NOT NULL,
    first_received_ns BIGINT NOT NULL,
    last_received_ns BIGINT NOT NULL,
    spans BIGINT NOT NULL,
    stored_ns BIGINT NOT NULL       -- by the clock of the database; the row is deleted after a minute
);
CREATE INDEX span_arrivals_by_time ON span_arrivals (stored_ns);
