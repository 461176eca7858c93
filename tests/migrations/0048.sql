-- Rows as schema 48 would have written them: a server stores a block of spans.
INSERT INTO span_blocks (server, turn, first_frame, last_frame, traces, until_ns)
    VALUES ('server_1', 1, 10, 12, '00112233445566778899aabbccddeeff', 1763200000000000000);
