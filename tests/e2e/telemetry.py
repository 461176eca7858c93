"""Traces from unmodified senders: by hand-made bytes and by the OpenTelemetry SDK, read back through the API; and
kill -9 of the server and of its engine while clients send."""

import gzip
import http.client
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import threading
import time

from server import Server, seeded, wait_until

TESTS = pathlib.Path(__file__).resolve().parent.parent
KILLS = int(os.environ.get("HONE_TEST_KILLS", "20"))  # 200 now and then


def now_ns():
    return time.time_ns()


def otlp_json(spans, service="shop"):
    """spans: (trace number, span number, parent number or 0, name, attributes)"""
    made = []
    for trace, span, parent, name, attributes in spans:
        start = now_ns() - 1_000_000_000
        made.append(
            {
                "traceId": f"{trace:032x}",
                "spanId": f"{span:016x}",
                "parentSpanId": f"{parent:016x}" if parent else "",
                "name": name,
                "startTimeUnixNano": str(start),
                "endTimeUnixNano": str(start + 5_000_000),
                "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
                "status": {"code": 2} if name == "bad" else {},
            }
        )
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": made}]}]}


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def otlp_protobuf(trace, span, name, service="shop"):
    start = now_ns() - 1_000_000_000
    key_value = field(1, b"service.name") + field(2, field(1, service.encode()))
    made = field(1, bytes.fromhex(f"{trace:032x}")) + field(2, bytes.fromhex(f"{span:016x}")) + field(5, name.encode())
    made += varint(7 << 3 | 1) + struct.pack("<Q", start) + varint(8 << 3 | 1) + struct.pack("<Q", start + 1_000_000)
    return field(1, field(1, field(1, key_value)) + field(2, field(2, made)))


def key_of(server, **wanted):
    return server.admin().must("POST", "/v1/keys", {"name": "sender"} | wanted).data["key"]


def rows(client, path, count):
    """The rows once they are all there: spans are acknowledged before the engine has them."""

    def ask():
        answer = client.get(path)
        return answer.data if answer.status == 200 and len(answer.data) >= count else None

    found = wait_until(ask, f"{count} rows of {path}")
    assert len(found) == count, found
    return found


def test_traces_go_in_by_json_protobuf_and_gzip_and_come_out_of_the_api(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    sent = client.post("/v1/traces", otlp_json([(1, 1, 0, "root", {"session.id": "s1"}), (1, 2, 1, "bad", {})]))
    assert sent.status == 200 and sent.json == {}, sent.text
    protobuf = {"Content-Type": "application/x-protobuf"}
    otlp = server.client(client.key)
    otlp.url = server.otlp_url
    sent = otlp.post("/v1/traces", otlp_protobuf(2, 3, "by protobuf"), protobuf)
    assert sent.status == 200 and sent.bytes == b"", sent.bytes
    packed = gzip.compress(otlp_protobuf(3, 4, "packed"))
    sent = otlp.post("/v1/traces", packed, protobuf | {"Content-Encoding": "gzip", "X-Project-Name": "named"})
    assert sent.status == 200, sent.bytes

    traces = rows(client, "/v1/projects/shop/trace_rows", 2)
    assert {trace["root_name"] for trace in traces} == {"root", "by protobuf"}, traces
    first = next(trace for trace in traces if trace["root_name"] == "root")
    assert (first["spans"], first["errors"], first["session_id"]) == (2, 1, "s1"), first
    assert rows(client, "/v1/projects/named/trace_rows", 1)[0]["root_name"] == "packed"
    spans = rows(client, "/v1/projects/shop/span_rows?filter=status%20%3D%20error", 1)
    assert spans[0]["name"] == "bad" and spans[0]["parent_id"] == f"{1:016x}", spans
    skeleton = client.must("GET", f"/v1/projects/shop/traces/{1:032x}/skeleton").data
    assert len(skeleton["spans"]) == 2 and not skeleton["is_cut"], skeleton
    payload = client.must("GET", f"/v1/projects/shop/traces/{1:032x}/spans/{1:016x}").data
    assert payload["attributes"] == {"session.id": "s1"} and payload["span"]["name"] == "root", payload
    assert [row["session_id"] for row in rows(client, "/v1/projects/shop/session_rows", 1)] == ["s1"]
    series = client.must("GET", "/v1/projects/shop/series?metrics=count,errors&bucket=0s").data
    assert series["metrics"] == ["count", "errors"] and series["buckets"][0]["values"] == [3, 1], series
    facets = client.must("GET", "/v1/projects/shop/facets?field=name").data
    assert {facet["value"] for facet in facets} == {"root", "bad", "by protobuf"}, facets
    assert client.must("GET", "/v1/projects/shop/attribute_keys").data[0]["key"] == "session.id"

    def balanced():
        ledger = client.must("GET", "/v1/projects/shop/ledger").data
        return ledger if ledger["pending"] == 0 else None

    ledger = wait_until(balanced, "nothing is pending")
    assert (ledger["received"], ledger["stored"], ledger["rejected"]) == (3, 3, 0), ledger
    assert client.must("GET", "/v1/projects/shop/disk").data["spans"] == 3
    found = client.must("POST", "/v1/sql", {"project": "shop", "sql": "SELECT count() AS n FROM spans"}).json
    assert found["data"] == [{"n": 3}], found
    refused = client.post("/v1/sql", {"project": "shop", "sql": "DROP TABLE spans"})
    assert refused.status == 400, refused.text
    wrong = client.get("/v1/projects/shop/trace_rows?filter=status%20%3D")
    assert wrong.status == 400 and "column" in wrong.message, wrong.text
    for path in ("trace_rows", "span_rows", "session_rows"):
        assert client.get(f"/v1/projects/shop/{path}?cursor=!!!!").status == 400, path
    assert "hone_spans_received_total 4" in client.get("/metrics").text
    # A trace that is deleted is gone.
    server.admin().must("DELETE", f"/v1/projects/shop/traces/{1:032x}", status=204)
    rows(client, "/v1/projects/shop/trace_rows", 1)


def test_evals_are_written_replaced_listed_and_filtered_by(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    assert client.post("/v1/traces", otlp_json([(1, 1, 0, "root", {}), (1, 2, 1, "leaf", {})])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 2)
    path = "/v1/projects/shop/evals"
    for label in ("yes", "no"):
        client.must("POST", path, {"data": [{"target_id": f"{1:016x}", "name": "correct", "label": label}]})
    listed = client.must("GET", path).data
    assert [(each["label"], each["kind"]) for each in listed] == [("no", "human")], listed
    history = client.must("GET", f"/v1/projects/shop/eval_history?target_id={1:016x}").data
    assert [each["label"] for each in history] == ["yes", "no"], history
    filtered = "/v1/projects/shop/span_rows?filter=eval%5B%22correct%22%5D.label%20%3D%20%22no%22"
    assert rows(client, filtered, 1)[0]["name"] == "root"
    assert client.post(path, {"data": [{"target_id": "nonsense", "name": "correct", "label": "x"}]}).status == 400


def test_the_otlp_address_serves_nothing_but_traces_and_needs_a_key(binary, stack):
    server = stack.enter_context(Server(binary))
    guest = server.client()
    guest.url = server.otlp_url
    assert guest.get("/healthz").status == 200
    for path in ("/", "/v1/projects", "/v1/me", "/openapi.json", "/metrics"):
        assert guest.get(path).status == 404, path
    assert guest.post("/v1/traces", otlp_json([(1, 1, 0, "a", {})])).status == 401
    reader = server.client(key_of(server, scopes=["read"]))
    assert reader.post("/v1/traces", otlp_json([(1, 1, 0, "a", {})])).status == 403
    # A key that may only send makes the project, sends, and reads nothing.
    sender = server.client(key_of(server, scopes=["trace_write"]))
    assert sender.post("/v1/traces", otlp_json([(1, 1, 0, "a", {})], service="new one")).status == 200
    assert sender.get("/v1/projects/new%20one/trace_rows").status == 403
    assert sender.post("/v1/traces", b"\xff\xff\xff", {"Content-Type": "application/x-protobuf"}).status == 400
    assert sender.post("/v1/traces", b"hello", {"Content-Type": "text/plain"}).status == 415
    # Only the spans that break a rule are left out, and the sender learns of them.
    mixed = otlp_json([(1, 1, 0, "good", {}), (0, 2, 0, "trace id of zeros", {})])
    partial = sender.post("/v1/traces", mixed)
    assert partial.status == 200 and int(partial.json["partialSuccess"]["rejectedSpans"]) == 1, partial.text
    # Somebody of another space cannot read or write here.
    admin = server.admin()
    admin.must("POST", "/v1/spaces", {"name": "other"})
    made = {"name": "k", "kind": "service", "role": "owner", "scopes": ["all"]}
    stranger = server.client(admin.must("POST", "/v1/keys?space=other", made).data["key"])
    project = admin.must("GET", "/v1/projects/new%20one").data["id"]
    for path in ("trace_rows", "span_rows", "series", "evals", "ledger", "disk", "facets"):
        assert stranger.get(f"/v1/projects/{project}/{path}").status == 404, path
    assert stranger.post("/v1/sql", {"project": project, "sql": "SELECT 1"}).status == 404


def test_an_open_otlp_address_takes_traces_without_a_key(binary, stack):
    server = stack.enter_context(Server(binary, None, "--otlp-open", "true"))
    guest = server.client()
    guest.url = server.otlp_url
    assert guest.post("/v1/traces", otlp_json([(1, 1, 0, "a", {})])).status == 200
    rows(server.admin(), "/v1/projects/shop/trace_rows", 1)
    assert server.client().post("/v1/traces", otlp_json([(1, 1, 0, "a", {})])).status == 401, "the API stays shut"
    # An address that was asked for and is taken is a reason not to start.
    taken = server.otlp_url.removeprefix("http://")
    for flag in ("--otlp-http-listen", "--otlp-grpc-listen"):
        refused = subprocess.run(
            [server.binary, "serve", "--data-dir", str(server.data_dir) + "-2", "--listen", "127.0.0.1:0", flag, taken],
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert refused.returncode == 1 and flag[2:].replace("-", "_") in refused.stderr, refused


def test_the_opentelemetry_sdk_sends_without_changes(binary, stack):
    assert (TESTS / "node_modules/@opentelemetry").exists(), "npm ci in tests/ first"
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    for exporter in ("proto", "http", "grpc"):
        environment = os.environ | {
            "OTEL_EXPORTER_OTLP_ENDPOINT": server.otlp_grpc_url if exporter == "grpc" else server.otlp_url,
            "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{key}",
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip" if exporter == "proto" else "none",
            "OTEL_SERVICE_NAME": f"sdk-{exporter}",
        }
        sent = subprocess.run(
            ["node", str(TESTS / "send_traces.mjs"), exporter, "50"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert sent.returncode == 0, sent.stdout + sent.stderr
        client = server.client(key)
        found = rows(client, f"/v1/projects/sdk-{exporter}/span_rows?limit=1000", 100)
        assert {row["name"] for row in found} == {"answer a question", "chat"}, found[:3]
        calls = [row for row in found if row["name"] == "chat"]
        assert all(row["kind"] == "llm" and row["tokens"]["total"] == 30 for row in calls), calls[:3]
        assert all(row["model"] == "gpt-4o-mini" and row["cost_micro_usd"] > 0 for row in calls), calls[:3]
        traces = rows(client, f"/v1/projects/sdk-{exporter}/trace_rows?limit=1000", 50)
        assert all(trace["spans"] == 2 and trace["errors"] == 0 for trace in traces), traces[:3]


class Sender(threading.Thread):
    """Sends batches until the server dies, repeating what was not acknowledged, as an exporter does."""

    def __init__(self, server, key, number):
        super().__init__()
        self.client = server.client(key)
        self.number = number
        self.acknowledged, self.wrong = set(), []

    def run(self):
        connection = self.client.connection()
        headers = {"Authorization": f"Bearer {self.client.key}", "Content-Type": "application/json"}
        batch = 0
        try:
            while True:
                batch += 1
                ids = [self.number * 1_000_000 + batch * 100 + index for index in range(1, 11)]
                body = json.dumps(otlp_json([(each, each, 0, "work", {}) for each in ids]))
                # Every third batch is sent twice: a client that missed the answer.
                for _ in range(2 if batch % 3 == 0 else 1):
                    connection.request("POST", "/v1/traces", body, headers)
                    response = connection.getresponse()
                    answer = response.read()
                    if response.status == 200:
                        self.acknowledged.update(ids)
                    # either: the log is full, or the server is being stopped
                    elif response.status not in (429, 503):
                        self.wrong.append((response.status, answer[:200]))
                        return
        except (OSError, http.client.HTTPException):
            pass  # killed
        finally:
            connection.close()


def engine_of(server):
    """The server may have other children."""
    for task in pathlib.Path(f"/proc/{server.process.pid}/task").glob("*/children"):
        for pid in task.read_text().split():
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--memory-bytes" in words:
                return int(pid)
    return None


def test_no_acknowledged_span_is_lost_or_doubled_by_kills(binary, stack):
    luck = seeded()
    server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))
    key = key_of(server)
    acknowledged = set()
    for kill in range(KILLS):
        senders = [Sender(server, key, kill * 10 + number + 1) for number in range(3)]
        for sender in senders:
            sender.start()
        wanted = luck.randrange(1, 400)
        wait_until(lambda: sum(len(each.acknowledged) for each in senders) >= wanted, "spans are acknowledged")
        if kill % 2 == 0 and (engine := engine_of(server)):
            os.kill(engine, signal.SIGKILL)
            wanted += luck.randrange(1, 200)
            wait_until(lambda: sum(len(each.acknowledged) for each in senders) >= wanted, "the log takes more")
        server.kill()
        for sender in senders:
            sender.join()
            assert not sender.wrong, sender.wrong
            acknowledged |= sender.acknowledged
        server.start()
    client = server.client(key)

    def count():
        asked = {"project": "shop", "sql": "SELECT count() AS n, uniqExact(span_id) AS u FROM spans"}
        answer = client.post("/v1/sql", asked)
        pending = client.must("GET", "/v1/projects/shop/ledger").data["pending"]
        return answer.json["data"][0] if answer.status == 200 and pending == 0 else None

    counts = wait_until(count, "everything is loaded")
    assert int(counts["n"]) == int(counts["u"]), counts
    stored = client.post(
        "/v1/sql",
        {"project": "shop", "sql": "SELECT span_id FROM spans", "format": "csv", "limit": 100000},
    )
    assert stored.status == 200, stored.text
    found = {int(each, 16) for each in re.findall(r"[0-9a-f]{16}", stored.text)}
    assert len(acknowledged) > KILLS * 10 and acknowledged <= found, sorted(acknowledged - found)[:10]
