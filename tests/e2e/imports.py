"""Imports of other products' exports, and what the doctor finds in traces: the commands of the real binary against the real
server."""

import datetime
import http.server
import json
import threading

from server import Server
from telemetry import key_of, now_ns, otlp_json, rows
from trace_commands import Hone

TRACE = "0123456789abcdef0123456789abcdef"


def at(seconds):
    """So many seconds after an hour ago, as exports write it."""
    time = datetime.datetime.fromtimestamp(now_ns() // 3_600_000_000_000 * 3600 - 3600 + seconds, datetime.timezone.utc)
    return time.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def started(binary, stack, project="shop"):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    return server, server.client(key), Hone(server, key, project)


def written(server, name, lines):
    file = server.data_dir.parent / name
    file.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(file)


def langfuse_trace():
    observation = {"traceId": TRACE, "startTime": at(0), "endTime": at(2), "level": "DEFAULT"}
    call = {"model": "gpt-4o-mini", "usageDetails": {"input": 12, "output": 7}, "costDetails": {"total": 0.25}}
    call |= {"input": [{"role": "user", "content": "Where is it?"}], "output": {"role": "assistant", "content": "Here."}}
    return {"id": TRACE, "name": "support", "timestamp": at(0), "sessionId": "chat-1", "userId": "ann", "tags": ["beta"],
            "metadata": {"tier": "gold"}, "input": "Where is it?", "output": "Here.", "observations": [
                observation | {"id": "00000000000000a1", "type": "AGENT", "name": "agent"},
                observation | {"id": "00000000000000a2", "parentObservationId": "00000000000000a1", "type": "GENERATION",
                               "name": "answer"} | call]}


def test_an_export_of_langfuse_is_imported_once_and_bad_lines_are_named(binary, stack):
    server, client, hone = started(binary, stack)
    file = written(server, "langfuse.jsonl", ["{ broken", langfuse_trace(), {"name": "no id"}])
    dry = hone.run("import", "langfuse", file, "--dry-run", status=8)
    assert "Would import 2 spans, rejected 2." in dry.stdout and "Nothing was stored" in dry.stdout, dry
    assert "line 1:" in dry.stderr and "line 3: the trace has no id" in dry.stderr, dry
    assert client.get("/v1/projects/shop").status == 404, "a dry run creates no project"
    for _ in range(2):
        ran = hone.run("import", "langfuse", file, status=8)
        assert "Imported 2 spans, rejected 2." in ran.stdout, ran
        spans = {span["name"]: span for span in rows(client, "/v1/projects/shop/span_rows", 2)}
    call, agent = spans["answer"], spans["agent"]
    assert (call["kind"], call["model"], call["tokens"]["total"], call["cost_micro_usd"]) == ("llm", "gpt-4o-mini", 19, 250000), call
    assert (agent["kind"], agent["session_id"], agent["user_id"]) == ("agent", "chat-1", "ann"), agent
    assert call["parent_id"] == agent["span_id"] and call["trace_id"] == TRACE, call
    assert [row["name"] for row in hone.json("spans", "-q", 'metadata["tier"] = "gold" and tags = "beta"')] == ["agent"]
    # The same as one pretty-printed list, with one trace more.
    other = json.loads(json.dumps(langfuse_trace()).replace(TRACE, "f" * 32).replace("00000000000000a", "00000000000000b"))
    pretty = written(server, "langfuse.json", [json.dumps([langfuse_trace(), other], indent=2)])
    assert hone.json("import", "langfuse", pretty)["accepted"] == 4
    rows(client, "/v1/projects/shop/span_rows", 4)


def test_runs_of_langsmith_are_imported_from_lines_and_from_parquet(binary, stack):
    server, client, hone = started(binary, stack)
    root, child = "01a1e3ea-f323-7c4b-bef0-40833510d88f", "01a1e3ea-f4e7-759b-9269-351553d4c146"
    runs = [
        {"id": root, "trace_id": root, "name": "chain", "run_type": "chain", "start_time": at(0), "end_time": at(3),
         "inputs": {"input": "Where is it?"}, "outputs": {"output": "Here."}, "tags": [], "error": None},
        {"id": child, "trace_id": root, "parent_run_id": root, "name": "ChatOpenAI", "run_type": "llm",
         "start_time": at(1), "end_time": at(2), "inputs": {"messages": [{"role": "user", "content": "Where is it?"}]},
         "outputs": {"choices": [{"message": {"role": "assistant", "content": "Here."}, "finish_reason": "stop"}]},
         "prompt_tokens": 12, "completion_tokens": 7,
         "extra": {"metadata": {"ls_model_name": "gpt-4o-mini", "thread_id": "chat-1"}}, "error": None},
    ]
    file = written(server, "runs.jsonl", [*runs, {"id": "not a UUID", "start_time": at(0), "name": "bad"}])
    ran = hone.run("import", "langsmith", file, status=8)
    assert "line 3: the id of a run is not a UUID" in ran.stderr, ran
    spans = {span["name"]: span for span in rows(client, "/v1/projects/shop/span_rows", 2)}
    assert spans["ChatOpenAI"]["tokens"]["total"] == 19 and spans["ChatOpenAI"]["session_id"] == "chat-1", spans
    assert spans["ChatOpenAI"]["parent_id"] == spans["chain"]["span_id"], spans
    # A bulk export has objects as texts. The engine writes the file.
    texts = [{name: json.dumps(value) if isinstance(value, (dict, list)) else value or "" for name, value in run.items()} for run in runs]
    names = ["id", "trace_id", "parent_run_id", "name", "run_type", "start_time", "end_time", "inputs", "outputs", "extra"]
    selects = [", ".join("'" + str(run.get(name, "")).replace("\\", "\\\\").replace("'", "\\'") + f"' AS {name}" for name in names) for run in texts]
    sql = " UNION ALL ".join(f"SELECT {columns}" for columns in selects)
    made = client.must("POST", "/v1/sql", {"project": "shop", "sql": sql, "format": "parquet"})
    parquet = server.data_dir.parent / "runs.parquet"
    parquet.write_bytes(made.bytes)
    client.must("POST", "/v1/projects", {"name": "bulk"})
    assert hone.json("import", "langsmith", str(parquet), "-p", "bulk")["accepted"] == 2
    bulk = {span["name"]: span for span in rows(client, "/v1/projects/bulk/span_rows", 2)}
    assert bulk["ChatOpenAI"]["span_id"] == spans["ChatOpenAI"]["span_id"], bulk
    assert bulk["ChatOpenAI"]["session_id"] == "chat-1", bulk


class Phoenix:
    """Two pages of spans over HTTP, for a key."""

    def __init__(self, stack, pages):
        seen = self.seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append((self.path, self.headers.get("Authorization")))
                page = pages.get(self.path) if self.headers.get("Authorization") == "Bearer k" else None
                body = json.dumps(page or {}).encode()
                self.send_response(200 if page else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.server_close)
        stack.callback(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"


def phoenix_span(number):
    return {"id": "x", "name": f"step {number}", "context": {"trace_id": f"{1:032x}", "span_id": f"{number:016x}"},
            "span_kind": "LLM", "parent_id": None, "start_time": at(number), "end_time": at(number + 1), "status_code": "OK",
            "status_message": "", "attributes": {"llm.model_name": "gpt-4o-mini", "llm.token_count.prompt": 3}, "events": []}


def test_the_spans_of_a_running_phoenix_are_imported_page_by_page(binary, stack):
    server, client, hone = started(binary, stack)
    path = "/v1/projects/my%20app/spans?limit=200"
    phoenix = Phoenix(stack, {
        path: {"data": [phoenix_span(1), phoenix_span(2)], "next_cursor": "a b"},
        path + "&cursor=a%20b": {"next_cursor": None, "data": [phoenix_span(3)]},
    })
    refused = hone.run("import", "phoenix", phoenix.url, "--source-project", "my app", status=3)
    assert "401" in refused.stderr and "PHOENIX_API_KEY" in refused.stderr, refused
    hone.environment["PHOENIX_API_KEY"] = "k"
    for _ in range(2):
        assert hone.json("import", "phoenix", phoenix.url, "--source-project", "my app")["accepted"] == 3
        spans = rows(client, "/v1/projects/shop/span_rows", 3)
    assert {span["tokens"]["total"] for span in spans} == {3}, spans
    # Hone itself serves Phoenix's API.
    hone.environment["PHOENIX_API_KEY"] = client.key
    client.must("POST", "/v1/projects", {"name": "copy"})
    assert hone.json("import", "phoenix", server.url, "--source-project", "shop", "-p", "copy")["accepted"] == 3
    rows(client, "/v1/projects/copy/span_rows", 3)
    lost = hone.run("import", "phoenix", "http://127.0.0.1:9", status=7)
    assert "Phoenix cannot be reached" in lost.stderr, lost


def test_results_of_batches_become_model_calls_with_their_requests(binary, stack):
    server, client, hone = started(binary, stack)
    question = [{"role": "user", "content": "Where is it?"}]
    requests = written(server, "input.jsonl", [
        {"custom_id": "r-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "gpt-4o-mini", "messages": question}}])
    created = now_ns() // 1_000_000_000 - 600
    output = written(server, "output.jsonl", [
        {"id": "batch_req_1", "custom_id": "r-1", "error": None, "response": {"status_code": 200, "request_id": "q", "body": {
            "id": "chatcmpl-1", "object": "chat.completion", "created": created, "model": "gpt-4o-mini",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Here."}}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 7}}}},
        "nonsense",
        {"id": "batch_req_2", "custom_id": "r-2", "response": None, "error": {"code": "batch_expired", "message": "too late"}},
    ])
    for _ in range(2):
        ran = hone.run("import", "openai-batch", output, "--requests", requests, status=8)
        assert "Imported 2 spans, rejected 1." in ran.stdout and "line 2:" in ran.stderr, ran
        spans = rows(client, "/v1/projects/shop/span_rows", 2)
    calls = {span["status"]: span for span in spans}
    assert calls["unset"]["tokens"]["total"] == 19 and calls["unset"]["cost_micro_usd"] > 0, calls
    assert (calls["error"]["exception_type"], calls["error"]["status_message"]) == ("batch_expired", "too late"), calls
    detail = client.must("GET", f"/v1/projects/shop/traces/{calls['unset']['trace_id']}/spans/{calls['unset']['span_id']}").data
    said = [(message["role"], message["content"]) for message in detail["conversation"]["input"] + detail["conversation"]["output"]]
    assert said == [("user", "Where is it?"), ("assistant", "Here.")], said
    results = written(server, "results.jsonl", [
        {"custom_id": "a-1", "result": {"type": "succeeded", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Here."}],
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 2, "output_tokens": 3}}}},
        {"custom_id": "a-2", "result": {"type": "expired"}},
    ])
    asked = written(server, "requests.jsonl", [{"custom_id": "a-1", "params": {"model": "claude-sonnet-4-5", "messages": question}}])
    for _ in range(2):
        assert hone.json("import", "anthropic-batch", results, "--requests", asked, "-p", "claude")["accepted"] == 2
        spans = rows(client, "/v1/projects/claude/span_rows", 2)
    calls = {span["status"]: span for span in spans}
    tokens = calls["unset"]["tokens"]
    assert (tokens["input"], tokens["cache_read"], tokens["cache_write"], tokens["output"]) == (5, 10, 2, 3), tokens
    piped = hone.run("import", "anthropic-batch", "-", text=open(results).read(), status=2)
    assert "--time" in piped.stderr, piped


def test_the_doctor_names_what_is_missing_and_the_line_to_change(binary, stack):
    server, client, hone = started(binary, stack)
    calls = [(1, 1, 0, "bare", {"gen_ai.operation.name": "chat"}), (2, 2, 0, "GET /", {"http.request.method": "GET"}),
             (3, 3, 0, "think", {"acme.prompt": "x" * 9000})]
    assert client.post("/v1/traces", otlp_json(calls)).status == 200
    assert client.post("/v1/metrics", json.dumps({"resourceMetrics": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeMetrics": [{"metrics": [{"name": "m", "gauge": {"dataPoints": [{"asInt": "1"}]}}]}]}]}).encode(),
        {"Content-Type": "application/json"}).status == 200
    rows(client, "/v1/projects/shop/span_rows", 3)
    found = hone.json("doctor", "traces", "shop")
    assert (found["spans"], found["calls"], found["sampled"]) == (3, 1, 3), found
    findings = {finding["name"]: finding for finding in found["findings"]}
    assert {"calls_without_tokens", "calls_without_model", "calls_without_texts", "unknown_attributes"} <= findings.keys(), findings
    assert findings["metrics_dropped"]["count"] == 1 and findings["spans_without_kind"]["count"] == 2, findings
    assert [attribute["key"] for attribute in found["unknown_attributes"]] == ["acme.prompt"], found
    text = hone.run("doctor", "traces", "shop").stdout
    assert "Change: span.set_attribute(\"gen_ai.request.model\"" in text and "hone spans -q 'kind = unknown'" in text, text
    listed = hone.json("spans", "-q", findings["calls_without_tokens"]["filter"])
    assert [span["name"] for span in listed] == ["bare"], listed
    # Without spans in the window, and without the right to read.
    assert hone.json("doctor", "traces", "shop", "--before", "10d", "--after", "11d")["spans"] == 0
    other = server.client(key_of(server, scopes=["trace_write"]))
    assert other.get("/v1/projects/shop/trace_diagnosis").status == 403
    assert client.get("/v1/projects/none/trace_diagnosis").status == 404
    assert client.get("/v1/projects/shop/trace_diagnosis?filter=status%20%3D").status == 400
