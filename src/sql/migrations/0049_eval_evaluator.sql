-- Evals of experiments that this server made: the evaluator that it applied, whose results can have several names.
ALTER TABLE experiment_evals ADD COLUMN evaluator TEXT;
