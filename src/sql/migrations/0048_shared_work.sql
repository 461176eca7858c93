-- Blocks of spans that servers store now in a ClickHouse that they share. A server that has spans of the same traces waits
-- for the row: its check of what is stored and its insert are then one step. A row ends with its block, or when its time is
-- over: its server was killed.
CREATE TABLE span_blocks (
    server TEXT PRIMARY KEY,        -- one loader each
    turn BIGINT NOT NULL,           -- the lower one is first
    first_frame BIGINT NOT NULL,    -- of the span log of the server: after a restart the block is the same again
    last_frame BIGINT NOT NULL,
    traces TEXT NOT NULL,           -- 16 hexadecimal digits of the hash of each, sorted
    until_ns BIGINT NOT NULL        -- by the clock of the database
);

-- The server whose quarantine has the commits: it inspects, verifies and delivers them. Empty: any, as before this column.
ALTER TABLE review_revisions ADD COLUMN server TEXT NOT NULL DEFAULT '';
