-- The checks of a pull request on its forge, one by one, beside their common state.
ALTER TABLE pull_requests ADD COLUMN check_results TEXT NOT NULL DEFAULT '[]'; -- JSON
