-- Tool calls of a run, counted while it runs.
ALTER TABLE runs ADD COLUMN steps BIGINT NOT NULL DEFAULT 0;
