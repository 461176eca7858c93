"""Spans as files: exports and imports through the API, backups that hold them, quotas that bound them."""

import gzip
import json

from server import Server, run, wait_until
from telemetry import key_of, now_ns, otlp_json, otlp_protobuf, rows


def send(client, count, service="shop", first=1):
    spans = [(first + n // 5, first + n, 0 if n % 5 == 0 else first + n // 5 * 5, f"step {n}", {"n": str(n)}) for n in range(count)]
    sent = client.post("/v1/traces", otlp_json(spans, service))
    assert sent.status == 200 and sent.json == {}, sent.text


def payloads(client, project):
    listed = client.must("GET", f"/v1/projects/{project}/export?format=jsonl").text
    return [json.loads(line) for line in listed.splitlines()]


def test_exports_of_every_format_go_into_another_project_and_stay_equal(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    send(client, 60)
    rows(client, "/v1/projects/shop/span_rows", 60)
    lines = payloads(client, "shop")
    assert len(lines) == 60 and lines[0]["attributes"] == {"n": "0"}, lines[:1]
    for format in ("jsonl", "otlp", "otlp_proto", "parquet"):
        exported = client.get(f"/v1/projects/shop/export?format={format}")
        assert exported.status == 200 and "attachment" in exported.headers["content-disposition"], exported.headers
        project = f"from-{format}".replace("_", "-")
        client.must("POST", "/v1/projects", {"name": project})
        packed = gzip.compress(exported.bytes) if format != "parquet" else exported.bytes
        headers = {"Content-Type": "application/octet-stream"}
        headers |= {"Content-Encoding": "gzip"} if format != "parquet" else {}
        for _ in range(2):  # the second time changes nothing
            report = client.post(f"/v1/projects/{project}/import?format={format}", packed, headers)
            assert report.status == 200 and report.data["accepted"] == 60, report.text
        rows(client, f"/v1/projects/{project}/span_rows", 60)
        assert payloads(client, project) == lines, format
    narrow = client.must("GET", "/v1/projects/shop/export?filter=name%20%3D%20%22step%207%22").text
    assert [json.loads(line)["name"] for line in narrow.splitlines()] == ["step 7"], narrow
    assert client.get("/v1/projects/shop/export?filter=status%20%3D").status == 400
    assert client.get("/v1/projects/shop/export?format=xml").status == 400


def test_an_import_names_bad_lines_and_needs_the_right_to_send(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    client.must("POST", "/v1/projects", {"name": "target"})
    good = {
        "trace_id": f"{1:032x}",
        "span_id": f"{1:016x}",
        "name": "one",
        "start_time": "2026-11-01T00:00:00Z",
        "end_time": "2026-11-01T00:00:01Z",
    }
    today = now_ns() // 1_000_000_000
    good["start_ns"], good["duration_ns"] = (today - 60) * 1_000_000_000, 5
    file = json.dumps(good) + "\nnonsense\n" + json.dumps(good | {"span_id": "zz"}) + "\n"
    report = client.post("/v1/projects/target/import", file.encode(), {"Content-Type": "application/x-ndjson"})
    assert report.status == 200, report.text
    assert (report.data["accepted"], report.data["rejected"]) == (1, 2), report.text
    assert [problem["line"] for problem in report.data["problems"]] == [2, 3], report.text
    reader = server.client(key_of(server, scopes=["read"]))
    assert reader.post("/v1/projects/target/import", file.encode()).status == 403
    assert client.post("/v1/projects/target/import?format=parquet", b"not a parquet file").status == 400
    # A project is made on first use, as with traces; an id that nobody has is not.
    assert client.post("/v1/projects/new%2Fone/import", file.encode()).data["accepted"] == 1
    assert client.must("GET", "/v1/projects/new%2Fone").data["name"] == "new/one"
    unknown = f"/v1/projects/project_{'0' * 26}/import"
    assert client.post(unknown, file.encode()).status == 404


def test_a_backup_taken_under_load_brings_spans_evals_and_the_log_back(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    client = server.client(key)
    send(client, 200)
    rows(client, "/v1/projects/shop/span_rows?limit=1000", 200)
    client.must("POST", "/v1/projects/shop/evals", {"data": [{"target_id": f"{1:016x}", "name": "ok", "label": "yes"}]})
    send(client, 50, first=1000)  # perhaps still in the log only
    file = server.data_dir / "copy.tar.zst"
    made = run(binary, "backup", file, environment={"HONE_URL": server.url, "HONE_API_KEY": key})
    assert made.returncode == 0, made
    wait_until(lambda: not list((server.data_dir / "telemetry").glob("backup-*")), "the links are gone")
    expected = None

    def all_there():
        found = payloads(client, "shop")
        return found if len(found) == 250 else None

    expected = wait_until(all_there, "everything is loaded")
    send(client, 5, first=5000)  # after the backup
    restored = server.data_dir.parent / "restored"
    outcome = run(binary, "restore", file, "--data-dir", restored)
    assert outcome.returncode == 0, outcome
    for _ in range(2):  # the second start finds everything in place
        with Server(binary, restored) as second:
            again = second.client(key)
            rows(again, "/v1/projects/shop/span_rows?limit=1000", 250)
            assert payloads(again, "shop") == expected
            listed = again.must("GET", "/v1/projects/shop/evals").data
            assert [each["label"] for each in listed] == ["yes"], listed
            ledger = wait_until(
                lambda: (found := again.must("GET", "/v1/projects/shop/ledger").data)["pending"] == 0 and found,
                "nothing is pending",
            )
            assert (ledger["received"], ledger["stored"]) == (250, 250), ledger
            assert second.stop() == 0
    with Server(binary, restored) as second:
        again = second.client(key)
        send(again, 5, first=9000)
        rows(again, "/v1/projects/shop/span_rows?limit=1000", 255)


def test_quotas_refuse_with_their_name_and_show_in_ledger_and_metrics(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    client = server.client(key_of(server))
    send(client, 1)
    path = "/v1/projects/shop/trace_settings"
    admin.must("PUT", path, {"spans_per_day": 3})
    partial = client.post("/v1/traces", otlp_json([(7, n, 0, "more", {}) for n in range(1, 6)]))
    assert partial.status == 200 and int(partial.json["partialSuccess"]["rejectedSpans"]) == 2, partial.text
    assert "project's quota of spans per day" in partial.json["partialSuccess"]["errorMessage"], partial.text
    refused = client.post("/v1/traces", otlp_json([(8, 1, 0, "none", {})]))
    assert refused.status == 429 and "quota" in refused.text and int(refused.headers["retry-after"]) > 0, refused.text
    packed = client.post("/v1/traces", otlp_protobuf(9, 1, "none"), {"Content-Type": "application/x-protobuf"})
    assert packed.status == 429, packed.bytes
    assert admin.must("GET", path).data["used_today"]["spans"] == 3
    ledger = client.must("GET", "/v1/projects/shop/ledger").data
    assert ledger["rejected_by_reason"] == {"over the project's quota of spans per day": 4}, ledger
    assert "hone_spans_over_quota_total 4" in client.get("/metrics").text
    # The count outlives the server.
    assert server.stop() == 0
    server.start()
    admin, client = server.admin(), server.client(client.key)
    assert client.post("/v1/traces", otlp_json([(8, 1, 0, "none", {})])).status == 429
    # A space's quota is for all projects together.
    admin.must("PUT", path, {})
    admin.must("PUT", "/v1/spaces/default/trace_settings", {"bytes_per_day": 10})
    refused = client.post("/v1/traces", otlp_json([(8, 1, 0, "none", {})], service="another"))
    assert refused.status == 429 and "space's quota of bytes per day" in refused.text, refused.text
    admin.must("PUT", "/v1/spaces/default/trace_settings", {})
    send(client, 1, first=77)
    for wrong in ({"spans_per_day": 0}, {"sample": 2}, {"redaction": {"patterns": ["("]}}, {"retention_bytes": 5}):
        assert admin.call("PUT", path, wrong).status == 400, wrong


def test_redaction_and_sampling_are_settings_of_a_project(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    client = server.client(key_of(server))
    client.must("POST", "/v1/projects", {"name": "shop"})
    admin.must("PUT", "/v1/projects/shop/trace_settings", {"redaction": {"keys": ["password"], "emails": True}})
    sent = otlp_json([(1, 1, 0, "a", {"password": "hunter2", "note": "write to ann@example.com"})])
    assert client.post("/v1/traces", sent).status == 200
    rows(client, "/v1/projects/shop/span_rows", 1)
    text = client.must("GET", "/v1/projects/shop/export").text
    assert "hunter2" not in text and "ann@example.com" not in text and "[redacted]" in text, text
    admin.must("PUT", "/v1/projects/shop/trace_settings", {"sample": 0})
    partial = client.post("/v1/traces", otlp_json([(2, 1, 0, "b", {})]))
    assert "sampling" in partial.json["partialSuccess"]["errorMessage"], partial.text
