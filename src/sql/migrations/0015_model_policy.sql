-- The price that made a call's cost, as a line of the price table with its day; empty: none was known. And the most
-- that spans of a space's model calls keep: full, metadata or none.
ALTER TABLE model_usage ADD COLUMN price TEXT NOT NULL DEFAULT '';
ALTER TABLE space_budgets ADD COLUMN capture TEXT NOT NULL DEFAULT 'full';
