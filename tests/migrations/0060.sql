-- Rows as schema 60 would have written them: a sign-in that has begun, and a logout token that was used.
INSERT INTO sign_ons (state_hash, browser_hash, provider, nonce, verifier, return_to, link_user_id, expires_at, peer)
    VALUES ('aa', 'bb', 'company', 'nonce', 'verifier', '/', '', 600, '20010db800010002/64');
INSERT INTO used_logout_tokens (token_hash, expires_at) VALUES ('cc', 900);
