-- The groups that a provider sent at a person's last sign-in. Owners of the installation read them; roles come from mappings.
CREATE TABLE identity_groups (
    provider TEXT NOT NULL,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT NOT NULL,              -- as the groups claim has it, up to 255 bytes
    PRIMARY KEY (provider, issuer, subject, name),
    FOREIGN KEY (issuer, subject) REFERENCES identities(issuer, subject) ON DELETE CASCADE
);
CREATE INDEX identity_groups_by_identity ON identity_groups(issuer, subject);
CREATE INDEX identity_groups_by_name ON identity_groups(provider, name);
