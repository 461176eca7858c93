-- What states the spans of a finding beside its filter: a condition in SQL and its values. Empty: the filter states
-- everything. NULL: not known, as for findings of an earlier version whose detector can have such a condition; the next
-- scan that finds them writes it.
ALTER TABLE issue_fingerprints ADD COLUMN narrower TEXT;
UPDATE issue_fingerprints SET narrower = '' WHERE detector NOT IN
    ('tool_loop', 'session_failure', 'unparsable_output', 'eval_drop', 'version_regression');
