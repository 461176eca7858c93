-- Rows as schema 43 would have written them: a server with a lease, and an entry of the audit log that is not chained yet.
INSERT INTO servers (name, boot, version, schema_version, roles, address, span_store, started_at, lease_until)
    VALUES ('server_1', 'boot_1', '0.1.0', 44, 'api,ingest,scheduler,worker', 'http://127.0.0.1:7070', 'http://127.0.0.1:8123', 1, 2);
INSERT INTO leases (name, holder, epoch, lease_until) VALUES ('scheduler', 'boot_1', 1, 2);
INSERT INTO audit_inbox (id, time, space_id, actor_kind, actor_id, actor_name, action, target, details, peer, request_id)
    VALUES ('entry_1', 1, NULL, 'system', '', 'system', 'server_join', 'server_1', '{}', '', '');
