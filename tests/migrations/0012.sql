-- Rows as schema 12 would have written them: a branch in its second revision, a comment, an approval, a pull request.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, started_by,
    started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, queued_at)
    VALUES ('run_1', 'space_1', 'project_1', 'session', 'look', 'playbook', '', '{}', 'succeeded', '', 'user_1',
    'ada@example.com', '{}', 0, 1, 1, 0, 0, 0, 0, 0, 'run_1', '00', '', 0, '', 1, 1);
INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, review,
    comment, created_at)
    VALUES ('artifact_1', 'space_1', 'project_1', 'run_1', 'branch', 'shop/fix', 'Refund whole orders', 'text/x-diff',
    3, 'ab', 'approved', '', 1);
INSERT INTO review_branches (artifact_id, run_id, repo_id, repo_name, branch, revision, starter, fix_of, policy,
    automatic)
    VALUES ('artifact_1', 'run_1', 'repo_1', 'shop', 'hone/run_1/fix', 2, 'user_1', '', '{}', 0);
INSERT INTO review_revisions (artifact_id, revision, base_commit, head_commit, state, error, title, commits, files,
    additions, deletions, flags, blocking_flags, diff_digest, patch_digest, verification, verification_results,
    attempts, pushed_at, ready_at)
    VALUES ('artifact_1', 1, 'aa', 'bb', 'ready', '', 'Refund', '[]', 1, 1, 0, '[]', 0, 'cd', 'ab', 'none', '[]', 0,
    1, 2),
    ('artifact_1', 2, 'aa', 'cc', 'ready', '', 'Refund', '[]', 1, 2, 0, '[]', 0, 'ce', 'ab', 'green', '[]', 0, 3, 4);
INSERT INTO review_comments (id, artifact_id, revision, path, side, line, body, author, author_name, created_at)
    VALUES ('comment_1', 'artifact_1', 1, 'a.py', 'new', 3, 'why?', 'user_1', 'ada@example.com', 2);
INSERT INTO review_viewed (artifact_id, viewer, path, revision, viewed_at)
    VALUES ('artifact_1', 'user_1', 'a.py', 2, 5);
INSERT INTO review_decisions (id, artifact_id, revision, decision, reviewer, reviewer_name, comment, allow_protected,
    created_at)
    VALUES ('decision_1', 'artifact_1', 2, 'approved', 'user_1', 'ada@example.com', 'good', 0, 6);
INSERT INTO pull_requests (id, space_id, project_id, artifact_id, run_id, repo_id, repo_name, fix_of, forge, branch,
    target, revision, state, number, url, title, draft, head_commit, checks, forge_review, error, attempts,
    next_try_at, etag, told_until, created_at, updated_at)
    VALUES ('pr_1', 'space_1', 'project_1', 'artifact_1', 'run_1', 'repo_1', 'shop', '', 'github', 'hone/run_1/fix',
    'main', 2, 'open', 7, 'https://github.com/a/b/pull/7', 'Refund', 1, 'cc', 'passed', 'none', '', 1, 0, '', '', 6,
    7);
