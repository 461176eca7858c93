-- Names that responses give for the model of a version of an evaluator. A second name: the provider has another model
-- behind the name that is requested.
CREATE TABLE replied_models (
    evaluator_id TEXT NOT NULL REFERENCES evaluators(id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    model TEXT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    PRIMARY KEY (evaluator_id, number, model)
);
INSERT INTO replied_models (evaluator_id, number, model, first_seen_at)
    SELECT c.evaluator_id, c.number, c.model, MIN(c.created_at) FROM calibrations c JOIN evaluators e ON e.id =
    c.evaluator_id WHERE c.model <> '' GROUP BY c.evaluator_id, c.number, c.model;
