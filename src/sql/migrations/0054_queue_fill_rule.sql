-- What a queue is filled with: all that matches the filter, or only what evaluators or people could not settle.
ALTER TABLE annotation_queues ADD COLUMN fill_rule TEXT NOT NULL DEFAULT 'matching';
