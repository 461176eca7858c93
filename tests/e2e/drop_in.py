"""Requests as the SDKs of other products send them, with only host and key changed: traces at their addresses and with
their headers, log records, metrics, and LangSmith's own protocol."""

import base64
import gzip
import json
import os
import struct
import subprocess
import time
import uuid

from server import Client, Server, wait_until
from telemetry import TESTS, field, key_of, now_ns, otlp_json, rows, varint

ROOT = "01a1e3ea-f323-7c4b-bef0-40833510d88f"
CHILD = "01a1e3ea-f4e7-759b-9269-351553d4c146"


def basic(password, user="pk-lf-1"):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def send(url, path, body, headers, method="POST"):
    return Client(url).call(method, path, body, headers)


def span_of(client, project, trace, span):
    return client.must("GET", f"/v1/projects/{project}/traces/{trace}/spans/{span}").data


def wait_for_span(client, project, trace, span, condition, what):
    """The span once it is as it should be: while a span is replaced, it is absent for a moment."""

    def found():
        answer = client.get(f"/v1/projects/{project}/traces/{trace}/spans/{span}")
        return answer.status == 200 and condition(answer.data)

    wait_until(found, what)


def test_traces_arrive_from_sdks_of_other_products_with_host_and_key_changed(binary, stack):
    server = stack.enter_context(Server(binary, None, "--otlp-http-listen", "127.0.0.1:0"))
    key, reader = key_of(server, scopes=["trace_write"]), key_of(server, scopes=["read"])
    ways = [
        ("langfuse", "/api/public/otel/v1/traces", {"Authorization": "KEY-basic", "x-langfuse-public-key": "pk-lf-1"}),
        ("langsmith", "/otel/v1/traces", {"x-api-key": "KEY", "Langsmith-Project": "langsmith"}),
        ("langsmith-prefix", "/api/v1/otel/v1/traces", {"x-api-key": "KEY", "Langsmith-Project": "langsmith-prefix"}),
        ("arize", "/v1/traces", {"authorization": "KEY", "space_id": "U3BhY2U6MQ==", "arize-interface": "otel"}),
        ("arize-older", "/v1/traces", {"api_key": "KEY", "space_id": "U3BhY2U6MQ=="}),
        ("phoenix", "/v1/traces", {"api_key": "KEY"}),
        ("opik", "/api/v1/private/otel/v1/traces", {"Authorization": "KEY", "Comet-Workspace": "w", "projectName": "opik"}),
        ("weave", "/otel/v1/traces", {"Authorization": "KEY-basic", "project_id": "team/weave"}),
        ("mlflow", "/v1/traces", {"Authorization": "Bearer KEY", "x-mlflow-experiment-id": "0"}),
        ("traceloop", "/v1/traces", {"Authorization": "Bearer KEY"}),
        ("undecoded", "/v1/traces", {"Authorization": "Bearer%20KEY"}),
        ("slash", "/v1/traces/", {"Authorization": "Bearer KEY"}),
    ]

    def with_key(headers, value):
        return {name: basic(value) if text == "KEY-basic" else text.replace("KEY", value) for name, text in headers.items()}

    wrong = "hone_" + "x" * 43
    for number, (project, path, headers) in enumerate(ways, 1):
        body = otlp_json([(number, number, 0, "work", {})], service=project)
        for url in (server.url, server.otlp_url):
            taken = send(url, path, body, with_key(headers, key))
            assert taken.status == 200 and taken.json == {}, (project, url, taken.status, taken.text)
            refused = send(url, path, body, with_key(headers, wrong))
            assert refused.status == 401 and refused.json["code"] == 16, (project, url, refused.status, refused.text)
            refused = send(url, path, body, with_key(headers, reader))
            assert refused.status == 403, (project, url, refused.status, refused.text)
    admin = server.admin()
    for project, _, _ in ways:
        assert rows(admin, f"/v1/projects/{project}/span_rows", 1)[0]["name"] == "work"
    # Elsewhere a key is read from `Authorization: Bearer` alone.
    for headers in ({"Authorization": key}, {"x-api-key": key}, {"Authorization": basic(key)}):
        assert send(server.url, "/v1/me", None, headers, "GET").status == 401, headers


def log_record(trace, span, name, attributes, body=None):
    record = {
        "timeUnixNano": str(now_ns()),
        "eventName": name,
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }
    if span:
        record |= {"traceId": f"{trace:032x}", "spanId": f"{span:016x}"}
    return record | ({"body": body} if body else {})


def logs_json(records, service="shop"):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {"name": "l"}, "logRecords": records}]}]}


def logs_protobuf(trace, span, name, attributes, service):
    def pair(number, key, value):
        return field(number, field(1, key.encode()) + field(2, field(1, value.encode())))

    record = varint(1 << 3 | 1) + struct.pack("<Q", now_ns()) + field(12, name.encode())
    record += b"".join(pair(6, key, value) for key, value in attributes.items())
    record += field(9, bytes.fromhex(f"{trace:032x}")) + field(10, bytes.fromhex(f"{span:016x}"))
    return field(1, field(1, pair(1, "service.name", service)) + field(2, field(2, record)))


def details(text):
    message = [{"role": "user", "parts": [{"type": "text", "content": text}]}]
    return {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(message)}


DETAILS = "gen_ai.client.inference.operation.details"


def test_log_records_are_shown_on_their_span_whatever_arrives_first(binary, stack):
    server = stack.enter_context(Server(binary, None, "--otlp-http-listen", "127.0.0.1:0"))
    key = key_of(server)
    client, bearer = server.client(key), {"Authorization": f"Bearer {key}"}
    protobuf = bearer | {"Content-Type": "application/x-protobuf"}
    # The record first: as JSON, as gzip, and as protobuf on the port for OTLP.
    first = json.dumps(logs_json([log_record(1, 1, DETAILS, details("by json")), log_record(1, 9, "", {}, None)]))
    assert send(server.url, "/v1/logs", first, bearer).json == {}
    packed = gzip.compress(json.dumps(logs_json([log_record(1, 2, DETAILS, details("by gzip"))])).encode())
    assert send(server.url, "/v1/logs", packed, bearer | {"Content-Encoding": "gzip", "Content-Type": "application/json"}).status == 200
    taken = send(server.otlp_url, "/v1/logs", logs_protobuf(1, 3, DETAILS, details("by protobuf"), "shop"), protobuf)
    assert taken.status == 200 and taken.bytes == b"", taken.bytes
    spans = [(1, span, 0, "chat m", {}) for span in (1, 2, 3, 4)]
    assert client.post("/v1/traces", otlp_json(spans)).status == 200
    rows(client, "/v1/projects/shop/span_rows", 4)
    # The span first.
    assert send(server.url, "/v1/logs/", logs_json([log_record(1, 4, DETAILS, details("later"))]), bearer).status == 200
    for span, text in ((1, "by json"), (2, "by gzip"), (3, "by protobuf"), (4, "later")):
        said = [{"role": "user", "content": text, "tool_call_id": "", "tool_calls": [], "media": []}]
        wait_for_span(
            client,
            "shop",
            f"{1:032x}",
            f"{span:016x}",
            lambda data: data["conversation"]["input"] == said,
            f"the message of span {span}",
        )
    rows(client, "/v1/projects/shop/span_rows", 4)
    # What names no span is stored to be searched; a restart loses nothing that waits.
    assert send(server.url, "/v1/logs", logs_json([log_record(0, 0, "other", {})]), bearer).json == {}
    server.kill()
    server.start()
    client = server.client(key)
    assert client.post("/v1/traces", otlp_json([(1, 9, 0, "late", {})])).status == 200
    rows(client, "/v1/projects/shop/span_rows", 5)
    late = span_of(client, "shop", f"{1:032x}", f"{9:016x}")
    assert "log.record" in json.dumps(late), late
    ledger = client.must("GET", "/v1/projects/shop/ledger").data
    assert (ledger["log_records"], ledger["log_records_dropped"]) == (6, 0), ledger


def test_logs_and_metrics_are_refused_like_traces(binary, stack):
    server = stack.enter_context(Server(binary))
    metrics = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "a", "sum": {"dataPoints": [{}, {}]}}]}]}]}
    for path, body in (("/v1/logs", logs_json([])), ("/v1/metrics", metrics)):
        guest = server.client().post(path, body)
        assert guest.status == 401 and guest.json["code"] == 16, guest.text
        assert server.client(key_of(server, scopes=["read"])).post(path, body).status == 403
        client = server.client(key_of(server))
        assert client.post(path, body).json == {}
        assert client.post(path, "[]").status == 400
        assert client.post(path, b"\x0a\x05zz", {"Content-Type": "application/x-protobuf"}).status == 400
        assert client.post(path, "x", {"Content-Type": "text/plain"}).status == 415
    wait_until(
        lambda: server.client(key_of(server)).must("GET", "/v1/projects/default/ledger").data["metric_points"] == 2,
        "the points are counted",
    )
    ledger = server.client(key_of(server)).must("GET", "/v1/projects/default/ledger").data
    assert ledger["metric_points_dropped"] == 2, ledger
    assert ledger["dropped_by_reason"] == {"the metric is not about models": 2}, ledger


def form(parts):
    """A form as LangSmith's clients write it: (name, content) pairs."""
    body = b""
    for name, content in parts:
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        body += f'--b0\r\nContent-Disposition: form-data; name="{name}"\r\nContent-Type: application/json\r\n'.encode()
        body += f"Content-Length: {len(text)}\r\n\r\n".encode() + text + b"\r\n"
    return body + b"--b0--\r\n"


def iso(seconds_ago):
    return time.strftime("%Y-%m-%dT%H:%M:%S.250000+00:00", time.gmtime(time.time() - seconds_ago))


def test_langsmith_clients_send_runs_and_feedback(binary, stack):
    server = stack.enter_context(Server(binary, None, "--otlp-http-listen", "127.0.0.1:0"))
    key = key_of(server)
    client, sender = server.client(key), {"x-api-key": key, "accept": "application/json"}
    for url in (server.url, server.otlp_url):
        for path in ("/info", "/api/v1/info"):
            info = send(url, path, None, sender, "GET")
            assert info.status == 200 and info.json["batch_ingest_config"]["use_multipart_endpoint"] is True, info.text
    multipart = sender | {"Content-Type": "multipart/form-data; boundary=b0"}
    root = {"id": ROOT, "trace_id": ROOT, "name": "agent", "run_type": "chain", "session_name": "chains", "start_time": iso(5)}
    usage = {"input_tokens": 220, "output_tokens": 40, "input_token_details": {"cache_read": 128}}
    child = {
        "id": CHILD,
        "trace_id": ROOT,
        "parent_run_id": ROOT,
        "name": "ChatOpenAI",
        "run_type": "llm",
        "session_name": "chains",
        "start_time": iso(4),
        "end_time": int(time.time() * 1000) - 3000,
    }
    asked = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hello"}]}
    reply = {"model": "gpt-4o-mini", "choices": [{"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}]}
    begins = form(
        [
            (f"post.{ROOT}", root),
            (f"post.{ROOT}.inputs", {"input": "the beginning"}),
            (f"post.{ROOT}.outputs", {}),
            (f"post.{CHILD}", child),
            (f"post.{CHILD}.inputs", asked),
            (f"post.{CHILD}.outputs", reply | {"usage_metadata": usage}),
            (f"post.{CHILD}.extra", {"metadata": {"ls_provider": "openai", "session_id": "sess-1", "user_id": "user-1"}}),
            (f"attachment.{CHILD}.picture", b"\x01\x02"),
        ]
    )
    taken = send(server.url, "/runs/multipart", gzip.compress(begins), multipart | {"Content-Encoding": "gzip"})
    assert taken.status == 202, taken.text
    spans = {span["name"]: span for span in rows(client, "/v1/projects/chains/span_rows", 2)}
    call = spans["ChatOpenAI"]
    assert call["kind"] == "llm" and call["model"] == "gpt-4o-mini" and call["provider"] == "openai", call
    assert (call["tokens"]["input"], call["tokens"]["cache_read"], call["tokens"]["output"]) == (92, 128, 40), call
    assert call["parent_id"] == spans["agent"]["span_id"] and call["trace_id"] == ROOT.replace("-", ""), call
    talk = span_of(client, "chains", call["trace_id"], call["span_id"])["conversation"]
    assert [message["content"] for message in talk["input"] + talk["output"]] == ["Hello", "Hi"], talk
    # The end of the root, in a later request and by another way.
    ends = {"outputs": {"output": "the end"}, "end_time": iso(1), "trace_id": ROOT, "session_name": "chains"}
    taken = send(server.otlp_url, f"/api/v1/runs/{ROOT}", ends, sender, "PATCH")
    assert taken.status == 202, taken.text

    wait_for_span(
        client,
        "chains",
        spans["agent"]["trace_id"],
        spans["agent"]["span_id"],
        lambda agent: (agent["input"], agent["output"]) == ("the beginning", "the end"),
        "the end of the run",
    )
    rows(client, "/v1/projects/chains/span_rows", 2)
    # Feedback is an eval of the run's span.
    feedback = {"id": ROOT, "run_id": CHILD, "key": "correct", "score": 1, "comment": "yes"}
    written = send(server.url, "/feedback", feedback, sender)
    assert written.status == 200, written.text
    evals = client.must("GET", "/v1/projects/chains/evals").data
    assert [(e["name"], e["score"], e["target_id"]) for e in evals] == [("correct", 1, call["span_id"])], evals
    assert send(server.url, "/feedback", feedback | {"run_id": CHILD[:-1] + "0"}, sender).status == 404


def test_langsmith_batches_and_single_runs_need_the_permission_to_send(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server, scopes=["trace_write"])
    run = {"id": ROOT, "name": "failing", "run_type": "tool", "session_name": "single", "start_time": iso(3)}
    failed = run | {"end_time": iso(1), "error": "OrderNotFound: order 1 does not exist"}
    for path, body in (("/runs", run), ("/runs/batch", {"post": [], "patch": [failed]})):
        for wrong in ({}, {"x-api-key": "lsv2_test"}, {"x-api-key": "hone_" + "x" * 43}):
            assert send(server.url, path, body, wrong).status == 401, (path, wrong)
        assert send(server.url, path, body, {"x-api-key": key_of(server, scopes=["read"])}).status == 403
        taken = send(server.url, path, body, {"x-api-key": key})
        assert taken.status == 202, taken.text
    admin = server.admin()

    def is_failed():
        found = admin.get("/v1/projects/single/span_rows")
        return found.status == 200 and [(s["name"], s["status"], s["tool_name"]) for s in found.data] == [("failing", "error", "failing")]

    wait_until(is_failed, "the failed run")
    assert send(server.url, "/feedback", {"run_id": ROOT, "key": "k", "score": 0}, {"x-api-key": key}).status == 403
    assert send(server.url, "/runs/multipart", b"no form", {"x-api-key": key, "Content-Type": "multipart/form-data"}).status == 400


READ_PROJECTS = """
import { Client } from "langsmith";
const client = new Client({ apiUrl: process.env.LANGSMITH_ENDPOINT, apiKey: process.env.LANGSMITH_API_KEY });
const names = [];
for await (const project of client.listProjects({ nameContains: "shop" })) names.push(project.name);
const missing = await client.readProject({ projectName: "none" }).then(() => "found", (error) => error.message);
const shop = await client.readProject({ projectName: "shop" });
console.log(JSON.stringify({ names, missing, shop, has: await client.hasProject({ projectName: "shop" }) }));
"""


def test_langsmiths_client_reads_projects(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    client = server.client(key)
    for name in ("shop", "shop 2", "other"):
        client.must("POST", "/v1/projects", {"name": name})
    file = TESTS / f".langsmith-{os.getpid()}.mjs"
    stack.callback(lambda: file.unlink(missing_ok=True))
    file.write_text(READ_PROJECTS)
    environment = os.environ | {"LANGSMITH_ENDPOINT": server.url, "LANGSMITH_API_KEY": key}
    ran = subprocess.run(["node", str(file)], env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran
    read = json.loads(ran.stdout)
    assert sorted(read["names"]) == ["shop", "shop 2"] and read["has"] is True, read
    assert "not found" in read["missing"], read
    assert read["shop"]["name"] == "shop" and uuid.UUID(read["shop"]["id"]) and uuid.UUID(read["shop"]["tenant_id"]), read
    guest = server.client()
    assert guest.get("/sessions?name=shop").status == 401
    assert client.get("/sessions?limit=0").status == 400 and client.get("/sessions?offset=-1").status == 400
    assert len(client.get("/api/v1/sessions?limit=2").json) == 2 and len(client.get("/sessions?limit=2&offset=2").json) == 1
