-- Tokens that a provider used and did not report: part of `tokens`, and of the cost beside them.
ALTER TABLE eval_jobs ADD COLUMN estimated_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE pair_evals ADD COLUMN estimated_tokens BIGINT NOT NULL DEFAULT 0;
