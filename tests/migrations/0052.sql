-- Rows as schema 52 would have written them: a live tail on one server, spans that another one stored.
INSERT INTO span_watches (server, project, until_ns) VALUES ('server_1', 'project_1', 1763200000000000000);
INSERT INTO span_arrivals (id, server, project, first_start_ns, last_start_ns, first_received_ns, last_received_ns, spans, stored_ns)
    VALUES ('01K9AAAAAAAAAAAAAAAAAAAAAA', 'server_2', 'project_1', 1763100000000000000, 1763100000000000001, 1763100000000000002,
            1763100000000000003, 2, 1763100000000000004);
