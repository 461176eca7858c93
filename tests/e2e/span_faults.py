"""What goes wrong around spans: an engine that hangs, a log that is full, a disk that is full, torn files, many clients
at once, slow ones, bombs. Nothing acknowledged is lost, and the server stays up."""

import asyncio
import gzip
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.parse

from disk import on_small_disk
from server import PATIENCE, Server, seeded, wait_until
from telemetry import TESTS, engine_of, key_of, otlp_json, rows


def stored_ids(client):
    asked = {"project": "shop", "sql": "SELECT span_id FROM spans", "format": "json_lines", "limit": 100000}
    answer = client.post("/v1/sql", asked)
    if answer.status != 200:
        return None
    ids = [json.loads(line)["span_id"] for line in answer.text.splitlines()]
    assert len(ids) == len(set(ids)), "a span is stored twice"
    return {int(each, 16) for each in ids}


def all_stored(client, acknowledged):
    wait_until(lambda: (found := stored_ids(client)) is not None and acknowledged <= found, "all are stored", 120)


def test_a_hung_engine_does_not_stop_acknowledgements_and_is_replaced(binary, stack):
    server = stack.enter_context(Server(binary, None, "--span-log-limit", "64MiB", "--requests-per-minute", "0"))
    client = server.client(key_of(server))
    assert client.post("/v1/traces", otlp_json([(1, 1, 0, "first", {})])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 1)
    hung = engine_of(server)
    os.kill(hung, signal.SIGSTOP)
    acknowledged, refusal, number = {1}, None, 1
    try:
        while refusal is None and number < 2000:
            number += 1
            answer = client.post("/v1/traces", otlp_json([(number, number, 0, "big", {"text": "x" * 200_000})]))
            if answer.status == 200:
                acknowledged.add(number)
            else:
                refusal = answer
        assert len(acknowledged) > 100, "the log takes spans while the engine hangs"
        assert refusal is not None and refusal.status == 429, refusal and refusal.text
        assert "retry-after" in refusal.headers and "log is full" in refusal.text, refusal.text
        asked = client.get("/v1/projects/shop/span_rows")
        assert asked.status in (200, 503), asked.text  # either: 200 when it was replaced meanwhile
        if asked.status == 503:
            assert "retry-after" in asked.headers
        assert client.get("/healthz").status == 200
        # Nobody wakes it: the server notices, kills it and starts another one.
        all_stored(client, acknowledged)
        assert engine_of(server) != hung
    finally:
        try:
            os.kill(hung, signal.SIGKILL)
        except ProcessLookupError:
            pass
    # More than what was left of the log: loaded spans have made room.
    after = otlp_json([(5000 + n, 5000, 0, "after", {"text": "x" * 200_000}) for n in range(10)])
    wait_until(lambda: client.post("/v1/traces", after).status == 200, "the log takes spans again")


def exporter(server, key, kind, *words):
    """The unmodified OpenTelemetry exporter with one span; its output is read line by line."""
    environment = os.environ | {
        "OTEL_EXPORTER_OTLP_ENDPOINT": server.otlp_grpc_url if kind == "grpc" else server.otlp_url,
        "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{key}",
    }
    return subprocess.Popen(["node", str(TESTS / "send_refused.mjs"), kind, *words], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_an_exporter_hears_of_what_is_refused_for_good_and_does_not_try_again(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    for kind in ("proto", "http", "grpc"):
        late = exporter(server, key, kind, f"by {kind}", "10", "1000").communicate(timeout=180)[0]
        assert "result 0" in late and "rejectedSpans" in late and "Scheduling" not in late, late
    heavy = exporter(server, key, "proto", "too large", str(65 << 20)).communicate(timeout=180)[0]
    assert "result 1" in heavy and "Scheduling" not in heavy, heavy
    client = server.client(key)
    ledger = client.must("GET", "/v1/projects/pressed/ledger").data
    assert (ledger["received"], ledger["stored"], ledger["rejected"]) == (3, 0, 3), ledger


def test_an_engine_that_is_killed_while_it_answers_gives_503_and_comes_back(binary, stack):
    server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))
    client = server.client(key_of(server))
    assert client.post("/v1/traces", otlp_json([(n, n, 0, "a", {}) for n in range(1, 50)])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 49)
    for _ in range(5):
        os.kill(engine_of(server), signal.SIGKILL)
        statuses = []

        def answered():
            answer = client.get("/v1/projects/shop/span_rows")
            statuses.append(answer.status)
            return answer.status == 200 and len(answer.data) == 49

        wait_until(answered, "it answers again")
        assert set(statuses) <= {200, 429, 503}, statuses  # either: 200 once it is back; 429: many wait for the engine


def test_a_full_disk_refuses_spans_and_keeps_what_it_took(binary, stack):
    server = stack.enter_context(on_small_disk(binary, stack, 200))
    client = server.client(key_of(server))
    assert client.post("/v1/traces", otlp_json([(1, 1, 0, "first", {})])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 1)
    filler = pathlib.Path(server.path_of_data()).parent / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 65536)
        except OSError:
            pass
    acknowledged, refusal, number = {1}, None, 1
    while refusal is None and number < 500:
        number += 1
        answer = client.post("/v1/traces", otlp_json([(number, number, 0, "more", {"text": os.urandom(20_000).hex()})]))
        if answer.status == 200:
            acknowledged.add(number)
        else:
            refusal = answer
    assert refusal is not None and refusal.status == 503 and "retry-after" in refusal.headers, refusal and refusal.text
    filler.unlink()
    wait_until(
        lambda: client.post("/v1/traces", otlp_json([(9000, 9000, 0, "again", {})])).status == 200, "there is room again"
    )
    all_stored(client, acknowledged | {9000})


def test_a_torn_log_after_a_kill_loses_nothing_that_was_acknowledged(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    client = server.client(key)
    acknowledged, luck = set(), seeded()
    for turn in range(3):
        engine = engine_of(server)
        if engine:
            os.kill(engine, signal.SIGSTOP)  # what comes now stays in the log
        for number in range(turn * 100 + 1, turn * 100 + 31):
            assert client.post("/v1/traces", otlp_json([(number, number, 0, "a", {})])).status == 200
            acknowledged.add(number)
        server.kill()
        if engine:
            os.kill(engine, signal.SIGKILL)
        segments = sorted((server.data_dir / "telemetry/wal").glob("*.wal"))
        with open(segments[-1], "ab") as file:  # half a frame, or what was on the disk before
            file.write([b"HFRM\xff\x00\x00\x00", b"\x00" * 5000, luck.randbytes(777)][turn])
        server.start()
        client = server.client(key)
    all_stored(client, acknowledged)


async def one_request(address, body, key):
    reader, writer = await asyncio.open_connection(*address)
    head = (
        f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]) if answer else 0


def test_a_thousand_clients_at_once_are_all_served(binary, stack):
    server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))
    key = key_of(server)
    parts = urllib.parse.urlsplit(server.otlp_url)
    address = (parts.hostname, parts.port)

    async def storm():
        bodies = {n: json.dumps(otlp_json([(n, n, 0, "storm", {})])).encode() for n in range(1, 1001)}
        waiting = dict(bodies)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:  # a full queue says 503: the client comes again, as exporters do
            answers = await asyncio.gather(*(one_request(address, body, key) for body in waiting.values()))
            assert set(answers) <= {200, 429, 503}, set(answers)  # either: the last two ask to come again
            waiting = {n: body for (n, body), status in zip(waiting.items(), answers) if status != 200}
            if not waiting:
                return
            await asyncio.sleep(0.5)
        raise AssertionError(f"{len(waiting)} clients were never served")

    asyncio.run(storm())
    all_stored(server.client(key), set(range(1, 1001)))


def test_slow_clients_hold_nobody_up(binary, stack):
    server = stack.enter_context(Server(binary, None, "--request-timeout", "3s"))
    key = key_of(server)
    parts = urllib.parse.urlsplit(server.otlp_url)
    head = (
        f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        "Content-Length: 100000\r\n\r\n{"
    )
    slow = []
    for _ in range(200):
        connection = socket.create_connection((parts.hostname, parts.port))
        stack.callback(connection.close)
        connection.sendall(head.encode())
        slow.append(connection)
    sender = server.client(key)
    sender.url = server.otlp_url
    for number in range(1, 21):
        assert sender.post("/v1/traces", otlp_json([(number, number, 0, "quick", {})])).status == 200
    for connection in slow:  # they are told, or cut
        connection.settimeout(60)
        answer = connection.recv(4096)
        assert answer == b"" or b" 408 " in answer.split(b"\r\n")[0], answer[:100]


def test_a_question_ends_when_nobody_waits_for_its_answer(binary, stack):
    server = stack.enter_context(Server(binary, None))
    admin = server.admin()
    key = key_of(server)
    spans = [(1, number, 0, f"step {number}", {}) for number in range(1, 3001)]
    assert server.client(key).post("/v1/traces", otlp_json(spans)).status == 200
    wait_until(lambda: len(stored_ids(admin) or ()) == len(spans), "all are stored")
    endless = "SELECT count() FROM spans a, spans b, spans c WHERE length(a.name) + length(b.name) > length(c.name) + 99"
    body = json.dumps({"project": "shop", "sql": endless}).encode()

    def metric(name):
        lines = [line for line in admin.get("/metrics").text.splitlines() if line.startswith(f"hone_{name} ")]
        return int(lines[0].split()[1])

    parts = urllib.parse.urlsplit(server.url)
    for number in range(1, 4):
        with socket.create_connection((parts.hostname, parts.port)) as leaving:
            leaving.sendall(f"POST /v1/sql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
                            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            wait_until(lambda: metric("queries_running") == 1, "it is being answered")
        wait_until(lambda: metric("queries_running") == 0, "it has ended")
        assert metric("edge_abandoned_requests_total") == number
    asked = admin.post("/v1/sql", {"project": "shop", "sql": "SELECT count() AS spans FROM spans"})
    assert asked.status == 200 and "3000" in asked.text, asked.text


def test_bombs_and_broken_bodies_are_refused(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    protobuf = {"Content-Type": "application/x-protobuf"}
    bomb = gzip.compress(b"\x00" * (300 << 20), 9)
    before = time.monotonic()
    refused = client.post("/v1/traces", bomb, protobuf | {"Content-Encoding": "gzip"})
    assert refused.status == 413, refused.bytes[:200]
    assert time.monotonic() - before < 60
    for encoding in ("gzip", "zstd"):
        assert client.post("/v1/traces", b"\x1f\x8bnonsense", protobuf | {"Content-Encoding": encoding}).status == 400
    assert client.post("/v1/traces", b"x", protobuf | {"Content-Encoding": "br"}).status == 400
    deep = b'{"resourceSpans":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert client.post("/v1/traces", deep).status == 400
    memory = int(pathlib.Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]) * 4096
    assert memory < 600 << 20, memory


def test_the_doctor_states_parts_merges_and_how_long_spans_wait(binary, stack):
    server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))
    admin = server.admin()
    client = server.client(key_of(server))

    def finding(name):
        return next(each for each in admin.must("GET", "/v1/diagnosis").data if each["name"] == name)

    session = {"session.id": "talk"}
    for number in range(1, 4):
        assert client.post("/v1/traces", otlp_json([(number, number, 0, "first", session)])).status == 200
        rows(client, "/v1/projects/shop/span_rows", number)

    def looked_at():
        doomed = admin.must("POST", "/v1/projects", {"name": f"doomed {time.monotonic_ns()}"}).data["id"]
        admin.must("DELETE", f"/v1/projects/{doomed}", status=204)  # wakes the duty that makes the times of sessions
        return not finding("span parts")["detail"].startswith("0,")

    wait_until(looked_at, "the parts are read")
    parts = finding("span parts")
    assert parts["state"] == "ok" and "at most" in parts["detail"] and "merges run" in parts["detail"], parts
    spans = finding("spans")
    assert spans["state"] == "ok" and spans["detail"].startswith("0 wait to be stored, the oldest for 0 s"), spans
    lines = {line.split()[0] for line in admin.get("/metrics").text.splitlines()}
    assert {"hone_span_parts", "hone_span_merging_bytes", "hone_span_upgrade_days", "hone_spans_pending_oldest_seconds",
            "hone_records_pending_requests", "hone_records_pending_oldest_seconds"} <= lines
    records = finding("log records and metrics")
    assert records["state"] == "ok" and records["detail"].startswith("0 requests wait"), records
    # The same duty makes what lists of chat sessions read: they show the same before and after.
    sessions = client.must("GET", "/v1/projects/shop/session_rows").data
    assert [(each["session_id"], each["traces"], each["spans"]) for each in sessions] == [("talk", 3, 3)], sessions
    wait_until(lambda: "hone_span_upgrade_days 0" in admin.get("/metrics").text, "all days have their times")
    assert client.must("GET", "/v1/projects/shop/session_rows").data == sessions
    # Waiting spans are named with their time.
    engine = engine_of(server)
    os.kill(engine, signal.SIGSTOP)
    try:
        assert client.post("/v1/traces", otlp_json([(9, 9, 0, "late", {})])).status == 200
        waits = re.compile(r"1 wait to be stored, the oldest for [1-9]\d* s")
        wait_until(lambda: waits.match(finding("spans")["detail"]), "it waits")
    finally:
        os.kill(engine, signal.SIGCONT)
    rows(client, "/v1/projects/shop/span_rows", 4)
