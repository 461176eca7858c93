-- Rows as schema 9 would have written them.
INSERT INTO spaces (id, name, description, created_at) VALUES ('space_1', 'default', '', 1);
INSERT INTO projects (id, space_id, name, description, restricted, created_at)
    VALUES ('project_1', 'space_1', 'shop', '', 0, 1);
INSERT INTO notices (id, space_id, project_id, kind, title, body, link, told_key, created_at)
    VALUES ('notice_1', 'space_1', 'project_1', 'run_finished', 'done', '', '/runs/run_1', 'run_finished:run_1', 1);
INSERT INTO notice_marks (principal, space_id, read_up_to, marked_at) VALUES ('user_1', 'space_1', 'notice_1', 1);
INSERT INTO destinations (id, space_id, name, type, shown_target, kinds, projects, enabled, created_by,
    created_by_name, created_at, updated_at, last_problem, template)
    VALUES ('dest_1', 'space_1', 'ops', 'webhook', 'https://hooks.example.com', '', '', 1, 'user_1', 'ada', 1, 1, '', '');
INSERT INTO deliveries (id, notice_id, destination_id, state, attempts, next_at, claimed_until, problem, created_at)
    VALUES ('delivery_1', 'notice_1', 'dest_1', 'pending', 0, 1, 0, '', 1);
INSERT INTO monitors (id, space_id, project_id, name, description, settings, enabled, state, state_since,
    transition_id, announced, mute_reason, next_at, claimed_by, claimed_until, last_reading, problem, created_by,
    created_by_name, created_at, updated_at)
    VALUES ('mon_1', 'space_1', 'project_1', 'errors', '', '{}', 1, 'healthy', 1, '', 0, '', 1, '', 0, '', '',
    'user_1', 'ada', 1, 1);
INSERT INTO monitor_events (id, monitor_id, at, kind, value, bound, note, by_name)
    VALUES ('monevent_1', 'mon_1', 1, 'triggered', 0.5, 0.1, '', '');
INSERT INTO monitor_values (monitor_id, at, value, samples, upper_bound, state, stays)
    VALUES ('mon_1', 1, 0.5, 10, 0.1, 'triggered', 1);
