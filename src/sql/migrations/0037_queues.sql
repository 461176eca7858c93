-- Queues: spans, traces and chat sessions that people label, one after the other; and calibrations of evaluators against
-- these labels.

CREATE TABLE annotation_queues (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    instructions TEXT NOT NULL,
    target TEXT NOT NULL,                -- span, trace, chat_session
    reviewers_per_item BIGINT NOT NULL,  -- 1 to 10
    shows_verdicts BIGINT NOT NULL,      -- 1: evals of evaluators are visible before a person has decided
    dataset TEXT NOT NULL,               -- name of the dataset that corrected outputs go to; empty: none
    fill_enabled BIGINT NOT NULL,
    fill_filter TEXT NOT NULL,
    fill_ppm BIGINT NOT NULL,            -- share of the matching traces, in millionths
    filled_up_to BIGINT NOT NULL,        -- received before this time: decided
    fill_problem TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

CREATE TABLE queue_configs (
    queue_id TEXT NOT NULL REFERENCES annotation_queues(id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    config_id TEXT NOT NULL,
    PRIMARY KEY (queue_id, config_id)
);

CREATE TABLE queue_items (
    id TEXT PRIMARY KEY,
    queue_id TEXT NOT NULL REFERENCES annotation_queues(id) ON DELETE CASCADE,
    target_id TEXT NOT NULL,
    trace_id TEXT NOT NULL,              -- of a span or a trace
    state TEXT NOT NULL,                 -- pending, done, skipped
    added_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (queue_id, target_id)
);
CREATE INDEX queue_items_by_state ON queue_items (queue_id, state, id);

-- What one person does with one item.
CREATE TABLE queue_reviews (
    item_id TEXT NOT NULL REFERENCES queue_items(id) ON DELETE CASCADE,
    queue_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    state TEXT NOT NULL,                 -- reserved, done, skipped
    reserved_until BIGINT NOT NULL,
    ms_spent BIGINT NOT NULL,
    saw_verdicts BIGINT NOT NULL,
    reason TEXT NOT NULL,                -- why it was skipped
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (item_id, user_id)
);
CREATE INDEX queue_reviews_by_queue ON queue_reviews (queue_id, user_id, updated_at);

CREATE TABLE queue_evals (
    item_id TEXT NOT NULL REFERENCES queue_items(id) ON DELETE CASCADE,
    user_id TEXT NOT NULL,
    config_id TEXT NOT NULL,
    queue_id TEXT NOT NULL,
    name TEXT NOT NULL,                  -- of the config when it was labelled
    label TEXT NOT NULL,
    score DOUBLE,
    explanation TEXT NOT NULL,
    withdrawn BIGINT NOT NULL,           -- 1: undone; its eval is deleted
    published BIGINT NOT NULL,           -- 1: the span store has it
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (item_id, user_id, config_id)
);
CREATE INDEX queue_evals_by_queue ON queue_evals (queue_id, config_id);
CREATE INDEX queue_evals_unpublished ON queue_evals (published, updated_at);

CREATE TABLE calibrations (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    evaluator_id TEXT NOT NULL,
    number BIGINT NOT NULL,              -- version of the evaluator
    name TEXT NOT NULL,                  -- of the evaluator
    project_id TEXT NOT NULL,
    target TEXT NOT NULL,
    config TEXT NOT NULL,                -- name of the human evals
    failing_label TEXT NOT NULL,
    repetitions BIGINT NOT NULL,
    canary_of TEXT,                      -- the calibration whose first verdicts these are compared with
    is_canary BIGINT NOT NULL,           -- 1: its targets are evaluated again every week
    state TEXT NOT NULL,                 -- queued, running, done, failed
    reason TEXT NOT NULL,
    result TEXT NOT NULL,                -- JSON
    alarm TEXT NOT NULL,                 -- of a canary check: why the evaluator has drifted; empty: it has not
    cost_limit_micro_usd BIGINT,
    lease_until BIGINT NOT NULL,
    next_check_at BIGINT,                -- of a canary: when its targets are evaluated again
    model TEXT NOT NULL,                 -- that the verdicts name
    started_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX calibrations_by_evaluator ON calibrations (evaluator_id, created_at);
CREATE INDEX calibrations_by_state ON calibrations (state, lease_until);

CREATE TABLE calibration_items (
    calibration_id TEXT NOT NULL REFERENCES calibrations(id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    target_id TEXT NOT NULL,
    trace_id TEXT NOT NULL,
    human TEXT NOT NULL,                 -- label by majority
    human_score DOUBLE,
    raters BIGINT NOT NULL,
    is_held_out BIGINT NOT NULL,
    verdicts TEXT NOT NULL,              -- JSON: one per repetition; null: none
    explanation TEXT NOT NULL,
    error TEXT NOT NULL,
    cost_nano_usd BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    PRIMARY KEY (calibration_id, position)
);
