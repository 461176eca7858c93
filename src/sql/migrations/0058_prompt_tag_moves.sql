-- Who moved a tag of a prompt, from which version to which. Without `from_number`: the tag is new; without `to_number`:
-- it was removed. Tags of an earlier version have one row: where they are, without the person.
CREATE TABLE prompt_tag_moves (
    id TEXT PRIMARY KEY,
    prompt_id TEXT NOT NULL REFERENCES prompts(id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    from_number BIGINT,
    to_number BIGINT,
    moved_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX prompt_tag_moves_by_prompt ON prompt_tag_moves(prompt_id, created_at);
INSERT INTO prompt_tag_moves (id, prompt_id, tag, from_number, to_number, moved_by_name, created_at)
    SELECT t.id, t.prompt_id, t.name, NULL, v.number, '', t.updated_at FROM prompt_tags t JOIN prompt_versions v ON
    v.id = t.version_id;
