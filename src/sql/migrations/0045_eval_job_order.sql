-- The next job is the first entry of an index, however many wait; what a task spent today is read from an index alone.
DROP INDEX eval_jobs_due;
CREATE INDEX eval_jobs_due ON eval_jobs(task_id, state, priority, target_at DESC);
DROP INDEX eval_jobs_begun;
CREATE INDEX eval_jobs_begun ON eval_jobs(task_id, begun_at, tokens, cost_nano_usd) WHERE begun_at IS NOT NULL;
