-- Evals that a rule had written when its definition was changed last: the others are those of its definition.
ALTER TABLE evaluators ADD COLUMN judged_before BIGINT NOT NULL DEFAULT 0;
ALTER TABLE evaluators ADD COLUMN matched_before BIGINT NOT NULL DEFAULT 0;
UPDATE evaluators SET judged_before = judged, matched_before = matched WHERE revision > 1;
