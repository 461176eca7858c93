-- Roles that owners compose of permissions, for the members of one space.

CREATE TABLE custom_roles (
    id TEXT PRIMARY KEY,
    space_id TEXT NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    permissions TEXT NOT NULL,       -- names, separated by spaces; a name that the server does not have counts for nothing
    created_by_name TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (space_id, name)
);

-- With a custom role the column `role` is 'viewer' and does not count.
ALTER TABLE members ADD COLUMN custom_role TEXT REFERENCES custom_roles(id);
CREATE INDEX members_by_custom_role ON members(custom_role);
-- No reference: a role that was deleted meanwhile makes nobody a member.
ALTER TABLE invites ADD COLUMN custom_role TEXT;
