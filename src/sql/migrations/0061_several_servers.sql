-- Which server works on a calibration or a replay until lease_until; '': none. One that was frozen meanwhile finds
-- another name there, or none, and writes nothing.
ALTER TABLE calibrations ADD COLUMN server TEXT NOT NULL DEFAULT '';
ALTER TABLE review_replays ADD COLUMN server TEXT NOT NULL DEFAULT '';
-- Where the objects of a server are; '': written by a version before.
ALTER TABLE servers ADD COLUMN object_store TEXT NOT NULL DEFAULT '';
