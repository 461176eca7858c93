-- Rows as schema 25 would have written them: a pull request with two checks of its forge.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, started_by,
    started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, queued_at)
    VALUES ('run_1', 'space_1', 'project_1', 'session', 'look', 'playbook', '', '{}', 'succeeded', '', 'user_1',
    'ada@example.com', '{}', 0, 1, 1, 0, 0, 0, 0, 0, 'run_1', '00', '', 0, '', 1, 1);
INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, previous_digest,
    review, comment, created_at)
    VALUES ('artifact_1', 'space_1', 'project_1', 'run_1', 'branch', 'fix', '', 'text/x-diff', 3, 'ab', '', 'pending', '',
    1);
INSERT INTO pull_requests (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, host, fix_of, forge, branch,
    target, revision, delivered_revision, state, update_state, number, url, title, draft, head_commit, forge_commit,
    people, their_commits, mergeable, checks, check_results, forge_review, error, cause, moved_to, attempts, next_try_at,
    etag, told_until, created_at, updated_at)
    VALUES ('pr_1', 'space_1', 'project_1', 'artifact_1', 'run_1', 'repo_1', 'shop', 'git.example.com', '', 'gitea',
    'hone/run_1/fix', 'main', 1, 1, 'open', '', 7, 'https://git.example.com/a/b/pulls/7', 'Refund', 0, 'bb', 'bb', '',
    '[]', 'yes', 'failed', '[{"id":"12","name":"ci / test","result":"failed","summary":"Failing after 3s","url":""},
    {"id":"","name":"lint","result":"passed","summary":"","url":""}]', 'approved', '', '', '', 0, 0, '', '', 6, 7);
