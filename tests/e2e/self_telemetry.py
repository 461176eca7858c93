"""Telemetry of a Hone server about itself, received by another Hone server, by one that does not respond, and by itself."""

import http.client
import http.server
import json
import socket
import threading
import time
import urllib.parse

from server import PATIENCE, Server, wait_until

SECRET = "a text that nobody else should see"


class Passing(http.server.BaseHTTPRequestHandler):
    """Keeps what it gets and passes it on to a real receiver."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver = self.server
        if receiver.is_silent.is_set():
            receiver.go_on.wait(PATIENCE)
        target = urllib.parse.urlsplit(receiver.target)
        connection = http.client.HTTPConnection(target.hostname, target.port, timeout=PATIENCE)
        connection.request("POST", self.path, body, {name: self.headers[name] for name in ("Content-Type", "Authorization", "X-Hone-Self-Telemetry")})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        receiver.got.append((self.path, json.loads(body), response.status))
        try:
            self.send_response(response.status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
        except OSError:
            pass  # the sender did not wait

    def log_message(self, *_):
        pass


def passing(stack, target):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Passing)
    server.target, server.got = target, []
    server.is_silent, server.go_on = threading.Event(), threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    stack.callback(server.shutdown)
    return server


def sender_key(server):
    admin = server.admin()
    return admin.must("POST", "/v1/keys", {"name": "sender", "kind": "service", "role": "member"}).data["key"]


def numbers_of(server):
    lines = [line.split() for line in server.client().get("/metrics").text.splitlines() if line and line[0] != "#"]
    return {words[0]: float(words[1]) for words in lines if len(words) == 2}


def spans_in(requests):
    return [span for path, body, _ in requests if path == "/v1/traces" for resource in body["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]


def metrics_in(requests):
    return {metric["name"]: metric for path, body, _ in requests if path == "/v1/metrics" for resource in body["resourceMetrics"] for scope in resource["scopeMetrics"] for metric in scope["metrics"]}


def test_another_hone_receives_requests_runs_scans_and_metrics(binary, stack):
    receiver = stack.enter_context(Server(binary))
    key = sender_key(receiver)
    between = passing(stack, receiver.url)
    flags = ("--telemetry-endpoint", f"http://127.0.0.1:{between.server_port}/", "--telemetry-interval", "1s")
    server = stack.enter_context(Server(binary, None, *flags, environment={"HONE_TELEMETRY_HEADERS": f"Authorization=Bearer%20{key}"}))
    admin = server.admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    parent = "00-" + "a1" * 16 + "-" + "b2" * 8 + "-01"
    assert admin.call("GET", "/v1/projects?limit=" + urllib.parse.quote(SECRET), headers={"traceparent": parent}).status == 400
    run = admin.must("POST", "/v1/runs", {"project": "shop", "prompt": SECRET, "settings": {"harness": "command", "command": ["/bin/sh", "-c", f"echo {SECRET}"]}}).data["id"]
    admin.must("POST", "/v1/projects/shop/signal/scan", {})
    wait_until(lambda: admin.must("GET", f"/v1/runs/{run}").data["state"] == "succeeded", "the run ends")
    names = lambda: {span["name"] for span in spans_in(between.got)}
    wait_until(lambda: names() >= {"GET /v1/projects", "run of command", "scan of a project", "POST /v1/runs"}, "all kinds are sent")
    assert all(status == 200 for _, _, status in between.got), between.got
    assert not [name for name in names() if name in ("GET /metrics", "GET /healthz")], names()
    # Contents stay where they are.
    assert SECRET not in json.dumps(between.got) and key not in json.dumps([body for _, body, _ in between.got])
    mine = next(span for span in spans_in(between.got) if span["traceId"] == "a1" * 16)
    assert mine["parentSpanId"] == "b2" * 8 and mine["kind"] == 2, mine
    # The other Hone has them as spans of the service hone.
    reader = receiver.admin()
    found = wait_until(lambda: (rows := reader.get("/v1/projects/hone/spans?limit=500")).status == 200 and {row["name"] for row in rows.data} >= {"run of command", "scan of a project"} and rows.data, "they are stored")
    assert any(row["context"]["trace_id"] == "a1" * 16 and row["name"] == "GET /v1/projects" for row in found), found[:5]
    wait_until(lambda: metrics_in(between.got), "metrics are sent")
    metrics = metrics_in(between.got)
    requests = metrics["hone_http_requests_total"]["sum"]
    assert requests["isMonotonic"] and requests["aggregationTemporality"] == 2 and len(requests["dataPoints"]) > 1, requests
    assert "gauge" in metrics["hone_connections_open"], metrics["hone_connections_open"]
    histograms = [metric for metric in metrics.values() if "histogram" in metric]
    for point in (point for metric in histograms for point in metric["histogram"]["dataPoints"]):
        assert sum(map(int, point["bucketCounts"])) == int(point["count"]) and len(point["bucketCounts"]) == len(point["explicitBounds"]) + 1, point
    assert histograms, sorted(metrics)
    numbers = numbers_of(server)
    assert numbers["hone_telemetry_spans_sent_total"] > 0 and numbers["hone_telemetry_spans_dropped_total"] == 0, numbers
    # The receiver reports nothing about itself: it has no endpoint.
    assert "hone_telemetry_spans_sent_total" not in numbers_of(receiver)


def test_a_receiver_that_hangs_delays_no_request_and_drops_are_counted(binary, stack):
    receiver = stack.enter_context(Server(binary))
    key = sender_key(receiver)
    between = passing(stack, receiver.url)
    between.is_silent.set()
    flags = ("--telemetry-endpoint", f"http://127.0.0.1:{between.server_port}", "--requests-per-minute", "0", "--telemetry-interval", "1s")
    server = stack.enter_context(Server(binary, None, *flags, environment={"HONE_TELEMETRY_HEADERS": f"Authorization=Bearer%20{key}"}))
    connection = server.client().connection()
    stack.callback(connection.close)
    slowest = 0
    for _ in range(6000):  # more than the queue and the request that hangs have room for
        begun = time.monotonic()
        connection.request("GET", "/v1/me")
        response = connection.getresponse()
        response.read()
        slowest = max(slowest, time.monotonic() - begun)
        assert response.status == 401
    numbers = numbers_of(server)
    assert numbers["hone_telemetry_spans_dropped_total"] > 0 and numbers["hone_telemetry_spans_waiting"] <= 4096, numbers
    assert slowest < 5, slowest  # a request that waited for the receiver would take ten seconds
    between.is_silent.clear()
    between.go_on.set()
    wait_until(lambda: numbers_of(server)["hone_telemetry_spans_waiting"] < 512 and numbers_of(server)["hone_telemetry_spans_sent_total"] >= 4096, "the rest is sent")
    assert server.stop() == 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_server_that_reports_to_itself_does_not_report_its_reports(binary, stack):
    port = free_port()
    server = Server(binary, None, "--listen", f"127.0.0.1:{port}")
    with server:
        key = sender_key(server)
        assert server.stop() == 0
        server.flags += ["--telemetry-endpoint", f"http://127.0.0.1:{port}", "--telemetry-interval", "1s"]
        server.environment["HONE_TELEMETRY_HEADERS"] = f"Authorization=Bearer%20{key}"
        server.start()
        admin = server.admin()
        admin.must("POST", "/v1/projects", {"name": "shop"})
        wait_until(lambda: admin.get("/v1/projects/hone/spans").status == 200 and admin.must("GET", "/v1/projects/hone/spans").data, "its spans are stored")
        sent = lambda: numbers_of(server)["hone_telemetry_spans_sent_total"]
        reports = lambda: sum(value for name, value in numbers_of(server).items() if name.startswith("hone_http_requests_total") and '"/v1/metrics"' in name)
        wait_until(lambda: numbers_of(server)["hone_telemetry_spans_waiting"] == 0, "nothing waits")
        before, first = sent(), reports()
        assert first > 0
        wait_until(lambda: reports() >= first + 8, "eight further reports")
        # Nobody uses it: what is sent are its own slow steps, not one span for each span.
        assert sent() - before <= 40, (before, sent())
        names = {row["name"] for row in admin.must("GET", "/v1/projects/hone/spans?limit=500").data}
        assert "POST /v1/traces" not in names and "POST /v1/metrics" not in names, names


def test_a_wrong_address_or_header_is_rejected_at_the_start(binary, stack):
    for flags, environment, reason in (
        (("--telemetry-endpoint", "collector:4318"), {}, "telemetry_endpoint must be an address"),
        (("--telemetry-endpoint", "http://127.0.0.1:1"), {"HONE_TELEMETRY_HEADERS": "no pair"}, "telemetry_headers must be Name=value"),
        (("--telemetry-endpoint", "http://127.0.0.1:1"), {"HONE_TELEMETRY_HEADERS": "A=b%0d%0aC: d"}, "a value with a line end"),
    ):
        server = Server(binary, None, *flags, environment=environment)
        try:
            server.spawn()
            assert server.process.wait(PATIENCE) != 0 and reason in server.output(), server.output()
        finally:
            server.__exit__()
    # One that is away is a warning.
    server = stack.enter_context(Server(binary, None, "--telemetry-endpoint", "http://127.0.0.1:1"))
    wait_until(lambda: "telemetry of this server is not accepted" in server.output(), "the log says so")
    assert server.client().get("/healthz").status == 200
