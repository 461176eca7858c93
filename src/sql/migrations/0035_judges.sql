-- Models as evaluators, and tasks that evaluate new spans, traces and chat sessions.

-- Verdicts of models by content; see CacheKey.
CREATE TABLE judge_cache (
    key TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    result TEXT NOT NULL,            -- JSON: label, score, explanation
    model TEXT NOT NULL,
    trace_id TEXT NOT NULL,          -- of the call
    made_at BIGINT NOT NULL
);
CREATE INDEX judge_cache_by_age ON judge_cache(made_at);

CREATE TABLE eval_tasks (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects(id) ON DELETE CASCADE,
    evaluator_id TEXT NOT NULL REFERENCES evaluators(id) ON DELETE CASCADE,
    version BIGINT,                  -- null: the newest one
    target TEXT NOT NULL,            -- span, trace, chat_session
    filter TEXT NOT NULL,
    rate_ppm BIGINT NOT NULL,        -- of a million targets
    strata TEXT NOT NULL,            -- JSON: filters with their own rates
    delay_seconds BIGINT NOT NULL,   -- after the last span of a target
    most_per_hour BIGINT,
    most_per_day BIGINT,
    tokens_per_day BIGINT,
    cost_micro_usd_per_day BIGINT,
    on_budget TEXT NOT NULL,         -- skip, defer
    enabled BIGINT NOT NULL,
    state TEXT NOT NULL,             -- active, paused
    reason TEXT NOT NULL,            -- why it is paused or waits
    waits_until BIGINT NOT NULL,     -- no job begins before: a limit is used up, or the next attempt of a paused task
    failures BIGINT NOT NULL,        -- in a row
    watermark BIGINT NOT NULL,       -- targets whose last span was received until then have jobs
    since_at BIGINT NOT NULL,        -- targets received before are left out
    next_at BIGINT NOT NULL,         -- the server that moves it on searches for targets
    served_at BIGINT NOT NULL,       -- its last job began
    revision BIGINT NOT NULL,        -- grows with each change by a person
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX eval_tasks_by_space ON eval_tasks(space_id, id);
CREATE INDEX eval_tasks_due ON eval_tasks(enabled, next_at);

-- A target that is evaluated by one version. The key is a hash of both, so that nothing is evaluated twice.
CREATE TABLE eval_jobs (
    key TEXT PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES eval_tasks(id) ON DELETE CASCADE,
    backfill_id TEXT,
    version BIGINT NOT NULL,         -- of the evaluator
    target_id TEXT NOT NULL,
    trace_id TEXT NOT NULL,          -- of a span
    generation BIGINT NOT NULL,      -- 2: spans arrived after the first verdict
    target_at BIGINT NOT NULL,       -- start of the target
    seen_until BIGINT NOT NULL,      -- spans received until then are in the verdict
    inclusion DOUBLE NOT NULL,       -- probability of being sampled
    state TEXT NOT NULL,             -- queued, running, done, failed, skipped, expired
    reason TEXT NOT NULL,
    error TEXT NOT NULL,
    priority BIGINT NOT NULL,        -- 0: new targets, 1: backfill
    attempts BIGINT NOT NULL,
    next_at BIGINT NOT NULL,
    server TEXT NOT NULL,            -- that runs it until lease_until
    lease_until BIGINT NOT NULL,
    label TEXT,
    score DOUBLE,
    cached BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    cost_nano_usd BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    judge_trace TEXT NOT NULL,       -- trace of the model's call, or the agent's run
    created_at BIGINT NOT NULL,
    begun_at BIGINT,
    ended_at BIGINT
);
CREATE INDEX eval_jobs_due ON eval_jobs(task_id, state, priority, target_at);
CREATE INDEX eval_jobs_by_time ON eval_jobs(task_id, created_at);
CREATE INDEX eval_jobs_begun ON eval_jobs(task_id, begun_at) WHERE begun_at IS NOT NULL;
CREATE INDEX eval_jobs_running ON eval_jobs(lease_until) WHERE state = 'running';
CREATE INDEX eval_jobs_by_backfill ON eval_jobs(backfill_id, state) WHERE backfill_id IS NOT NULL;

-- Targets per task and hour, before sampling.
CREATE TABLE eval_counts (
    task_id TEXT NOT NULL REFERENCES eval_tasks(id) ON DELETE CASCADE,
    hour BIGINT NOT NULL,            -- its start
    received BIGINT NOT NULL,
    matched BIGINT NOT NULL,
    PRIMARY KEY (task_id, hour)
);

CREATE TABLE eval_backfills (
    id TEXT PRIMARY KEY,
    task_id TEXT NOT NULL REFERENCES eval_tasks(id) ON DELETE CASCADE,
    version BIGINT NOT NULL,         -- of the evaluator, fixed
    filter TEXT NOT NULL,            -- fixed, as are rate and strata
    rate_ppm BIGINT NOT NULL,
    strata TEXT NOT NULL,
    from_at BIGINT NOT NULL,
    to_at BIGINT NOT NULL,
    most_targets BIGINT NOT NULL,
    state TEXT NOT NULL,             -- searching, running, done, cancelled
    cursor_at BIGINT NOT NULL,       -- targets after (cursor_at, cursor_id) have jobs
    cursor_id TEXT NOT NULL,
    queued BIGINT NOT NULL,          -- jobs made
    known BIGINT NOT NULL,           -- targets that this version has evaluated before
    next_at BIGINT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX eval_backfills_by_task ON eval_backfills(task_id, id);
CREATE INDEX eval_backfills_due ON eval_backfills(state, next_at);

-- Runs of workers that evaluate a document, with the verdict that they report.
CREATE TABLE agent_verdicts (
    run_id TEXT PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
    space_id TEXT NOT NULL,
    verdict TEXT,                    -- JSON; null: none was reported
    created_at BIGINT NOT NULL
);
