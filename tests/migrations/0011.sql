-- Rows as schema 11 would have written them.
INSERT INTO repos (id, space_id, name, url, default_ref, skill_id, path_scope, allow_private, state, head_ref, refs, bytes,
    fetched_at, error, notes, created_by, created_at)
VALUES ('repo_01J00000000000000000000001', 'space_01J00000000000000000000001', 'shop', 'https://git.example.com/team/shop',
    '', NULL, '', 0, 'ready', 'refs/heads/main', 3, 4096, 1767225600000000, '', '', 'admin@localhost', 1767225600000000);
INSERT INTO run_repos (run_id, repo_id, space_id, name, base_ref, base_commit, created_at)
VALUES ('run_01J00000000000000000000001', 'repo_01J00000000000000000000001', 'space_01J00000000000000000000001', 'shop',
    'refs/heads/main', 'ce013625030ba8dba906f756967f9e9ca394464a', 1767225600000000);
INSERT INTO pushed_branches (id, space_id, run_id, repo_id, branch, base_commit, head_commit, pushes, created_at, pushed_at)
VALUES ('branch_01J00000000000000000000001', 'space_01J00000000000000000000001', 'run_01J00000000000000000000001',
    'repo_01J00000000000000000000001', 'hone/run_01J00000000000000000000001/fix',
    'ce013625030ba8dba906f756967f9e9ca394464a', 'ce013625030ba8dba906f756967f9e9ca394464b', 1, 1767225600000000,
    1767225600000000);
