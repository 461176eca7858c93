-- What runs asked to send, what was decided, and how it ended.

CREATE TABLE egress (
    run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    allowed BIGINT NOT NULL,
    method TEXT NOT NULL,
    target TEXT NOT NULL,          -- host:port
    tls BIGINT NOT NULL,
    path TEXT NOT NULL,            -- without the query
    rule TEXT NOT NULL,
    reason TEXT NOT NULL,
    secrets TEXT NOT NULL,         -- JSON: names
    ended BIGINT NOT NULL,
    status BIGINT,
    address TEXT,                  -- that was dialled
    sent_bytes BIGINT,
    received_bytes BIGINT,
    took_us BIGINT,
    failure TEXT,
    PRIMARY KEY (run_id, number)
);
