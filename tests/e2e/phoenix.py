"""Clients of Arize Phoenix and OpenInference, unmodified from npm, against the real binary; deletes that free the disk;
two windows side by side; a hundred thousand evals at once."""

import base64
import http.client
import json
import os
import pathlib
import re
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


def phoenix_operations():
    """(method, path) -> why it is not here; empty when it is. Names of path parameters are left out."""
    found = {}
    for line in (TESTS / "corpus/phoenix_operations.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        operation, _, why = line.partition(" : ")
        found[tuple(operation.split())] = why
    return found


def operations_of(document):
    return {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path))
        for path, methods in document["paths"].items()
        for method in methods
    }


def test_every_operation_of_phoenix_is_here_or_decided(binary, stack):
    server = stack.enter_context(Server(binary))
    wanted = phoenix_operations()
    here = operations_of(server.client().get("/openapi.json").json)
    assert len(wanted) > 100, wanted
    missing = [operation for operation, why in wanted.items() if not why and operation not in here]
    assert not missing, missing
    decided = [operation for operation, why in wanted.items() if why and operation in here]
    assert not decided, decided
    other = os.environ.get("HONE_PHOENIX_OPENAPI")
    if other:
        unknown = operations_of(json.loads(pathlib.Path(other).read_text())) - set(wanted)
        assert not unknown, unknown


def text_span(span, parent=None, trace="order-7", **more):
    return {
        "name": span,
        "context": {"trace_id": trace, "span_id": span},
        "span_kind": "CHAIN",
        "parent_id": parent,
        "start_time": "2026-11-16T10:00:00Z",
        "end_time": "2026-11-16T10:00:01.5Z",
        "status_code": "OK",
    } | more


def test_ids_of_other_systems_come_back_from_every_list(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    spans = [text_span("root step"), text_span("search step", "root step", attributes={"session.id": "visit 1"})]
    sent = client.post("/v1/projects/foreign/spans", {"data": spans})
    assert sent.json == {"total_received": 2, "total_queued": 2}, sent.text
    hexadecimal = text_span("00f067aa0ba902b7", trace="4bf92f3577b34da6a3ce929d0e0e4736")
    assert client.post("/v1/projects/foreign/spans", {"data": [hexadecimal]}).status == 202
    wait_until(lambda: len(client.must("GET", "/v1/projects/foreign/spans").data) == 3, "the spans")
    traces = client.must("GET", "/v1/projects/foreign/traces?include_spans=true").data
    assert {trace["trace_id"] for trace in traces} == {"order-7", "4bf92f3577b34da6a3ce929d0e0e4736"}, traces
    mine = next(trace for trace in traces if trace["trace_id"] == "order-7")
    names = {(span["span_id"], span["parent_id"]) for span in mine["spans"]}
    assert names == {("root step", None), ("search step", "root step")}, mine
    session = client.must("GET", "/v1/projects/foreign/sessions").data[0]
    assert [trace["trace_id"] for trace in session["traces"]] == ["order-7"], session
    assert client.must("GET", "/v1/sessions/visit%201").data["traces"][0]["trace_id"] == "order-7"
    # Annotations, notes and evaluations of documents take the ids, and are found by their identifier alone.
    common = {"name": "tone", "annotator_kind": "CODE", "result": {"label": "good"}, "identifier": "run 1"}
    client.must("POST", "/v1/span_annotations?sync=true", {"data": [common | {"span_id": "search step"}]})
    client.must("POST", "/v1/trace_annotations?sync=true", {"data": [common | {"trace_id": "order-7"}]})
    document = common | {"name": "relevance", "span_id": "search step", "document_position": 0}
    client.must("POST", "/v1/document_annotations?sync=true", {"data": [document]})
    client.must("POST", "/v1/span_notes", {"data": {"span_id": "root step", "note": "seen"}})
    client.must("POST", "/v1/trace_notes", {"data": {"trace_id": "order-7", "note": "seen"}})
    found = client.must("GET", "/v1/projects/foreign/span_annotations?identifier=run%201").data
    assert [note["span_id"] for note in found] == ["search step"], found
    found = client.must("GET", "/v1/projects/foreign/trace_annotations?identifier=run%201").data
    assert [note["trace_id"] for note in found] == ["order-7"], found
    # Deletes take them too.
    admin = server.admin()
    admin.must("DELETE", "/v1/spans/search%20step", status=204)
    admin.must("DELETE", "/v1/traces/order-7", status=204)
    left = client.must("GET", "/v1/projects/foreign/spans").data
    assert [span["context"]["span_id"] for span in left] == ["00f067aa0ba902b7"], left


def tables_of(response):
    """The tables of a multipart response: rows with the names that the client gives to columns."""
    boundary = response.headers["content-type"].split("boundary=")[1]
    tables = []
    for part in response.text.split("--" + boundary)[1:-1]:
        head, _, body = part.partition("\r\n\r\n")
        assert head.strip() == "Content-Type: application/json", head
        found = json.loads(body)["data"]
        tables.append([{name.split("_", 1)[1]: value for name, value in row.items()} for row in found])
    return tables


def test_span_queries_of_the_python_client_are_answered_with_tables(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    documents = [{"document": {"content": "one", "score": 0.5}}, {"document": {"content": "two"}}]
    searched = {"input": {"value": "what is X?"}, "retrieval": {"documents": documents}}
    answered = {"input.value": "what is X?", "output.value": "an answer", "metadata": {"topic": "letters"}}
    spans = [
        text_span("root", attributes=answered),
        text_span("search", "root", span_kind="RETRIEVER", attributes=searched),
        text_span("failed", "root", span_kind="LLM", status_code="ERROR"),
    ]
    assert client.post("/v1/projects/rag/spans", {"data": spans}).status == 202
    wait_until(lambda: len(client.must("GET", "/v1/projects/rag/spans").data) == 3, "the spans")

    def ask(*queries, **more):
        response = client.post("/v1/spans?project_name=rag", {"queries": queries} | more)
        assert response.status == 200, response.text
        return tables_of(response)

    every = ask({})[0]
    assert {row["context.span_id"] for row in every} == {"root", "search", "failed"}, every
    root = next(row for row in every if row["name"] == "root")
    assert root["attributes.output.value"] == "an answer" and root["attributes.metadata"] == {"topic": "letters"}, root
    exploded = {
        "filter": {"condition": "span_kind == 'RETRIEVER'"},
        "select": {"context.trace_id": {"key": "context.trace_id"}, "input.value": {"key": "input.value"}},
        "explode": {"key": "retrieval.documents", "kwargs": {"document": "document.content"}},
        "rename": {"input.value": "input"},
        "index": {"key": "context.span_id"},
    }
    joined = {
        "filter": {"condition": "span_kind == 'RETRIEVER'"},
        "concat": {"key": "retrieval.documents", "kwargs": {"context": "document.content"}},
        "index": {"key": "context.trace_id"},
    }
    first, second = ask(exploded, joined)
    places = [(row["context.span_id"], row["document_position"], row["document"]) for row in first]
    assert places == [("search", 0, "one"), ("search", 1, "two")], first
    assert first[0]["input"] == "what is X?" and first[0]["context.trace_id"] == "order-7", first
    assert second == [{"context.trace_id": "order-7", "context": "one\n\ntwo"}], second
    for condition, names in {
        "parent_id is None": {"root"},
        "status_code == 'ERROR'": {"failed"},
        "'answer' in output.value": {"root"},
        "metadata['topic'] == 'letters'": {"root"},
        "latency_ms > 1000 and not span_id == 'root'": {"search", "failed"},
        "span_kind in ['LLM', 'TOOL']": {"failed"},
    }.items():
        found = {row["name"] for row in ask({"filter": {"condition": condition}})[0]}
        assert found == names, (condition, found)
    assert [row["name"] for row in ask({}, root_spans_only=True)[0]] == ["root"]
    assert len(ask({}, limit=2)[0]) == 2
    assert ask({}, start_time="2026-11-16T11:00:00+00:00")[0] == []
    wrong = client.post("/v1/spans?project_name=rag", {"queries": [{"filter": {"condition": "name ="}}]})
    assert wrong.status == 422 and "column 6" in wrong.json["detail"], wrong.text
    assert client.post("/v1/spans?project_name=none", {"queries": [{}]}).status == 404


def test_annotation_configs_are_kept_and_assigned_to_projects(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    tone = {"name": "tone", "type": "CATEGORICAL", "optimization_direction": "MAXIMIZE"}
    tone["values"] = [{"label": "kind", "score": 1}, {"label": "rude", "score": None}]
    made = client.must("POST", "/v1/annotation_configs", tone).data
    assert made["values"] == tone["values"] and made["description"] is None, made
    assert base64.b64decode(made["id"]).decode().startswith("CategoricalAnnotationConfig:"), made
    length = {"name": "length", "type": "CONTINUOUS", "optimization_direction": "NONE"}
    length |= {"lower_bound": 0, "upper_bound": 9.5}
    second = client.must("POST", "/v1/annotation_configs", length).data
    assert client.must("GET", "/v1/annotation_configs").data == [second, made]
    page = client.must("GET", "/v1/annotation_configs?limit=1")
    assert page.data == [second], page.text
    rest = urllib.parse.urlencode({"limit": 1, "cursor": page.json["next_cursor"]})
    last = client.must("GET", f"/v1/annotation_configs?{rest}")
    assert last.data == [made] and last.json["next_cursor"] is None, last.text
    for identifier in (made["id"], urllib.parse.quote(made["id"]), "tone"):
        assert client.must("GET", f"/v1/annotation_configs/{identifier}").data == made
    free = {"name": "mood", "type": "FREEFORM", "threshold": 0.5}
    changed = client.must("PUT", f"/v1/annotation_configs/{made['id']}", free).data
    assert changed["name"] == "mood" and changed["threshold"] == 0.5 and "values" not in changed, changed
    # Projects use them; the same twice changes nothing.
    client.must("POST", "/v1/projects", {"name": "shop"})
    for _ in range(2):
        assert client.must("PUT", "/v1/projects/shop/annotation_configs/length").data == second
    assert client.must("GET", "/v1/projects/shop/annotation_configs").data == [second]
    both = {"annotation_config_ids": [second["id"], changed["id"]]}
    assert len(client.must("PUT", "/v1/projects/shop/annotation_configs", both).data) == 2
    for _ in range(2):
        client.must("DELETE", "/v1/projects/shop/annotation_configs/length", status=204)
    assert client.must("GET", "/v1/projects/shop/annotation_configs").data == [changed]
    assert client.must("DELETE", "/v1/annotation_configs/mood").data == changed
    assert client.must("GET", "/v1/projects/shop/annotation_configs").data == []
    for body, status in (
        (length, 409),
        (tone | {"name": "note"}, 409),
        (tone | {"values": []}, 422),
        (tone | {"values": [{"label": "a"}, {"label": "a"}]}, 422),
        (length | {"name": "x", "lower_bound": 10}, 422),
        (length | {"name": "x", "optimization_direction": None}, 422),
        ({"name": "x", "type": "OTHER"}, 422),
        ({"name": "", "type": "FREEFORM"}, 422),
    ):
        answer = client.post("/v1/annotation_configs", body)
        assert answer.status == status and answer.json["detail"], (body, answer.text)
    assert client.get("/v1/annotation_configs/none").status == 404
    reader = server.client(key_of(server, scopes=["read"]))
    assert reader.post("/v1/annotation_configs", tone).status == 403


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


def test_query_parameters_that_are_not_known_are_ignored_as_by_phoenix(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    upload = {"action": "create", "name": "numbers", "inputs": [{"n": 1}]}
    client.must("POST", "/v1/datasets/upload?sync=true&future=1", upload)
    dataset = client.must("GET", "/v1/datasets?name=numbers&of_a_newer_client=x").data[0]["id"]
    for path in (f"/v1/datasets/{dataset}", f"/v1/datasets/{dataset}/examples", f"/v1/datasets/{dataset}/versions", "/v1/prompts"):
        client.must("GET", path + "?future=1")
    # Known ones are still read strictly, other families refuse unknown ones, and so do deletions: they would delete more.
    assert client.get("/v1/datasets?limit=many").status == 422
    assert client.get("/v1/monitors?future=1").status == 400
    refused = client.call("DELETE", f"/v1/datasets/{dataset}?future=1")
    assert refused.status == 422 and "query parameter" in refused.json["detail"], refused.text
    client.must("GET", f"/v1/datasets/{dataset}")
