-- The content that the last save replaced: a reviewer of it is shown what has changed since. Empty: none.
ALTER TABLE artifacts ADD COLUMN previous_digest TEXT NOT NULL DEFAULT '';
