-- Rows as schema 55 would have written them: a person who signed in with two groups.
INSERT INTO users (id, email, name, password_hash, must_change_password, installation_owner, disabled, created_at)
    VALUES ('user_1', 'ada@example.com', 'Ada', '', 0, 0, 0, 1);
INSERT INTO identities (issuer, subject, provider, user_id, email, created_at, last_login_at)
    VALUES ('https://id.example.com', '1234', 'company', 'user_1', 'ada@example.com', 1, 2);
INSERT INTO identity_groups (provider, issuer, subject, name) VALUES ('company', 'https://id.example.com', '1234', 'engineers');
INSERT INTO identity_groups (provider, issuer, subject, name) VALUES ('company', 'https://id.example.com', '1234', 'leads');
