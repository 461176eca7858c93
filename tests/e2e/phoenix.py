"""Clients of Arize Phoenix and OpenInference, unmodified from npm, against the real binary; deletes that free the disk;
two windows side by side; a hundred thousand evals at once."""

import http.client
import json
import os
import pathlib
import socket
import sqlite3
import subprocess
import urllib.parse

from server import Server, wait_until
from telemetry import key_of, otlp_json, rows

TESTS = pathlib.Path(__file__).resolve().parent.parent


def run_node(script, *arguments, **environment):
    assert (TESTS / "node_modules/@arizeai/phoenix-client").exists(), "npm ci in tests/ first"
    outcome = subprocess.run(
        ["node", str(TESTS / script), *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    return outcome.stdout


def test_the_phoenix_client_works_unmodified(binary, stack):
    server = stack.enter_context(Server(binary))
    run_node("phoenix_client.mjs", "by phoenix", PHOENIX_HOST=server.url, PHOENIX_API_KEY=key_of(server))


def test_openinference_instrumentations_send_through_phoenix_otel(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    # phoenix-otel is given the address of the API, as it is given Phoenix'.
    run_node("openinference.mjs", "an app", PHOENIX_COLLECTOR_ENDPOINT=server.url, PHOENIX_API_KEY=key)
    client = server.client(key)
    spans = rows(client, "/v1/projects/an%20app/span_rows", 2)
    by_openai = next(span for span in spans if span["provider"] == "openai" or span["model"])
    assert by_openai["kind"] == "llm" and by_openai["model"].startswith("gpt-4o-mini"), by_openai
    assert (by_openai["tokens"]["input"], by_openai["tokens"]["output"]) == (21, 9), by_openai
    assert by_openai["cost_micro_usd"] > 0, by_openai
    path = f"/v1/projects/an%20app/traces/{by_openai['trace_id']}/spans/{by_openai['span_id']}"
    talk = client.must("GET", path).data["conversation"]
    assert "shipped yesterday" in json.dumps(talk), talk
    assert all(span["kind"] == "llm" for span in spans), spans


def test_refusals_of_traces_are_google_rpc_status(binary, stack):
    server = stack.enter_context(Server(binary))
    body = otlp_json([(1, 1, 0, "a", {})])
    guest = server.client().post("/v1/traces", body)
    assert guest.status == 401 and guest.json["code"] == 16 and guest.json["message"], guest.text
    protobuf = {"Content-Type": "application/x-protobuf"}
    guest = server.client().post("/v1/traces", b"", protobuf)
    assert guest.status == 401 and guest.bytes.startswith(b"\x08\x10\x12"), guest.bytes
    reader = server.client(key_of(server, scopes=["read"])).post("/v1/traces", body)
    assert reader.status == 403 and reader.json["code"] == 7, reader.text
    # Nobody says beforehand how much is to come: the edge notices on the way.
    for kind, begins in (("application/x-protobuf", b"\x08\x03\x12"), ("application/json", b'{"code":3')):
        status, answer = send_chunks(server.url, kind, 65 << 20)
        assert status == 413 and answer.startswith(begins) and b"larger than" in answer, (status, answer)


def send_chunks(url, kind, total):
    """Status and body of a POST of /v1/traces whose length is not said beforehand."""
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        head = f"POST /v1/traces HTTP/1.1\r\nHost: t\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        piece = b"100000\r\n" + b"a" * (1 << 20) + b"\r\n"
        try:
            connection.sendall(head.encode())
            for _ in range(total >> 20):
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer is there already
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, response.read()


def test_deletes_by_filter_and_of_a_project_free_the_disk(binary, stack):
    server = stack.enter_context(Server(binary))
    client, admin = server.client(key_of(server)), server.admin()
    for first in range(0, 2000, 200):
        spans = [
            (first + n + 1, first + n + 1, 0, "bad" if n % 2 else "good", {"input.value": os.urandom(1000).hex()})
            for n in range(200)
        ]
        assert client.post("/v1/traces", otlp_json(spans)).status == 200
    rows(client, "/v1/projects/shop/span_rows?limit=1000&filter=name%20%3D%20bad", 1000)
    client.must("POST", "/v1/projects/shop/evals", {"data": [{"target_id": f"{2:016x}", "name": "c", "label": "x"}]})
    before = client.must("GET", "/v1/projects/shop/disk").data
    assert client.post("/v1/projects/shop/delete_spans", {}).status == 400, "all must be said"
    gone = admin.must("POST", "/v1/projects/shop/delete_spans", {"filter": 'name = "bad"'}).data
    assert gone == {"spans": 1000}, gone
    after = client.must("GET", "/v1/projects/shop/disk").data
    assert after["spans"] == 1000 and after["bytes"] < before["bytes"] * 0.8, (before, after)
    assert client.must("GET", "/v1/projects/shop/evals").data == [], "evals go with their spans"
    # A deleted project: the duties start at once, not at their next minute, and no row of it is left.
    admin.must("DELETE", "/v1/projects/shop", status=204)
    wait_until(lambda: purged(server), "the project's rows are gone")


def purged(server):
    """No deleted project waits for its data to go."""
    database = sqlite3.connect(f"file:{server.data_dir}/hone.db?mode=ro", uri=True)
    try:
        return database.execute("SELECT count(*) FROM deleted_projects").fetchone()[0] == 0
    finally:
        database.close()


def test_two_windows_are_compared(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    spans = [(n, n, 0, "bad" if n % 4 == 0 else "good", {"llm.model_name": "m1"}) for n in range(1, 9)]
    assert client.post("/v1/traces", otlp_json(spans)).status == 200
    rows(client, "/v1/projects/shop/span_rows", 8)
    compared = client.must("GET", "/v1/projects/shop/compare?group_by=name").data
    numbers = {each["metric"]: each for each in compared["all"]["metrics"]}
    assert (numbers["count"]["baseline"], numbers["count"]["current"]) == (0, 8), numbers
    assert numbers["count"]["difference"] == 8 and numbers["count"]["ratio"] is None, numbers
    assert numbers["errors"]["current"] == 2 and numbers["latency_p95"]["baseline"] is None, numbers
    assert [group["group"] for group in compared["groups"]] == ["good", "bad"], compared
    assert client.get("/v1/projects/shop/compare?group_by=nothing").status == 400
    found = client.get("/v1/projects/shop/search?text=nowhere")
    assert found.status == 200 and found.data == [], found.text
    assert client.get("/v1/projects/shop/search").status == 400


def test_full_text_search_shows_the_place(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    long = "word " * 200 + "the refund was refused " + "word " * 200
    spans = [(1, 1, 0, "a", {"output.value": long}), (2, 2, 0, "b", {"input.value": 'say "refund" now'})]
    assert client.post("/v1/traces", otlp_json(spans)).status == 200
    rows(client, "/v1/projects/shop/span_rows", 2)
    hits = {hit["span"]["name"]: hit for hit in client.must("GET", "/v1/projects/shop/search?text=refund").data}
    assert set(hits) == {"a", "b"} and hits["a"]["field"] == "output" and hits["b"]["field"] == "input", hits
    assert "refund was refused" in hits["a"]["snippet"] and len(hits["a"]["snippet"]) < 300, hits
    quoted = client.must("GET", "/v1/projects/shop/search?text=%22refund%22").data
    assert {hit["span"]["name"] for hit in quoted} == {"b"}, quoted
    pages = client.must("GET", "/v1/projects/shop/search?text=refund&limit=1")
    assert len(pages.data) == 1 and pages.json["next_cursor"], pages.text


def test_a_hundred_thousand_evals_go_in_at_once_and_are_seen_at_once(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    assert client.post("/v1/traces", otlp_json([(1, 1, 0, "root", {"session.id": "s1"})])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 1)
    count = 100_000
    data = [{"target_id": f"{n:016x}", "name": "correct", "kind": "code", "label": "yes"} for n in range(1, count)]
    data.append({"target": "trace", "target_id": f"{1:032x}", "name": "solved", "kind": "llm", "score": 0.5})
    written = client.must("POST", "/v1/projects/shop/evals", {"data": data})
    assert len(written.data) == count and set(written.data[0]) == {"id"}, written.data[:2]
    asked = {"project": "shop", "sql": "SELECT count() AS n FROM evals"}
    assert int(client.must("POST", "/v1/sql", asked).json["data"][0]["n"]) == count
    series = client.must("GET", "/v1/projects/shop/series?metrics=eval_rate&eval_name=correct&eval_label=yes&bucket=0s")
    assert series.data["buckets"][0]["values"] == [1], series.text
    for wanted in ('eval["correct"].label = "yes"', 'trace_eval["solved"].score = 0.5'):
        found = client.must("GET", "/v1/projects/shop/span_rows?filter=" + wanted.replace(" ", "%20").replace('"', "%22"))
        assert len(found.data) == 1, (wanted, found.text)
    assert client.post("/v1/projects/shop/evals", {"data": data + data[:1]}).status == 400
    session = {"target": "chat_session", "target_id": "s1", "name": "mood", "label": "good"}
    full = client.must("POST", "/v1/projects/shop/evals", {"data": [session]}).data
    assert full[0]["label"] == "good" and full[0]["target"] == "chat_session", full
    listed = client.must("GET", "/v1/projects/shop/evals?target=chat_session").data
    assert [each["name"] for each in listed] == ["mood"], listed
