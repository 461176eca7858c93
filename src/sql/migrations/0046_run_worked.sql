-- How long a run was prepared and ran, without the time it waited for a place or a follow-up. NULL: it is not known,
-- because the session had begun before this was counted.
ALTER TABLE runs ADD COLUMN worked_ns BIGINT DEFAULT 0;
ALTER TABLE runs ADD COLUMN working_since BIGINT;
UPDATE runs SET worked_ns = CASE WHEN origin <> 'session' THEN ended_at - started_at END WHERE started_at IS NOT NULL;
