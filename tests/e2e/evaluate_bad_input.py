"""Bad input for datasets, experiments, prompts and evaluators that no other file of this folder has: ids of another space,
uploads without examples, parts in unknown encodings, texts of megabytes."""

import json

from datasets import form, upload
from experiments import evaluator, laboratory
from prompts import content
from server import Server
from telemetry import key_of

TIMES = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}


def test_what_belongs_to_another_space_is_not_found(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    admin.must("POST", "/v1/spaces", {"name": "elsewhere"})
    there = "?space=elsewhere"
    sent = {"action": "create", "name": "secret", "inputs": [{"n": 1}]}
    dataset = admin.must("POST", f"/v1/datasets/upload{there}", sent).data
    (example,) = admin.must("GET", f"/v1/datasets/{dataset['dataset_id']}/examples").data["examples"]
    experiment = admin.must("POST", f"/v1/datasets/{dataset['dataset_id']}/experiments", {}).data["id"]
    run = {"dataset_example_id": example["node_id"], "repetition_number": 1, "output": 1} | TIMES
    made = admin.must("POST", f"/v1/experiments/{experiment}/runs", run).data["id"]
    prompt = admin.must("POST", f"/v1/prompts{there}", {"prompt": {"name": "greet"}, "version": content()}).data["id"]
    code = {"language": "python", "source": "def evaluate(document):\n    return True\n"}
    judge = admin.must("POST", f"/v1/evaluators{there}", {"name": "exact", "kind": "code", "code": code}).data["id"]
    outsider = server.client(key_of(server))
    eval = {"experiment_run_id": made, "name": "n", "annotator_kind": "CODE", "result": {"score": 1}} | TIMES
    for method, path, body in (
        ("GET", f"/v1/datasets/{dataset['dataset_id']}", None),
        ("GET", f"/v1/datasets/{dataset['dataset_id']}/examples", None),
        ("GET", f"/v1/datasets/{dataset['dataset_id']}/csv", None),
        ("DELETE", f"/v1/datasets/{dataset['dataset_id']}", None),
        ("POST", f"/v1/datasets/{dataset['dataset_id']}/experiments", {}),
        ("GET", f"/v1/experiments/{experiment}", None),
        ("GET", f"/v1/experiments/{experiment}/runs", None),
        ("POST", f"/v1/experiments/{experiment}/runs", run),
        ("POST", f"/v1/experiments/{experiment}/start", {"task": {"kind": "command", "command": "cat"}}),
        ("GET", f"/v1/experiments/compare?base={experiment}&other={experiment}", None),
        ("POST", "/v1/experiment_evaluations", eval),
        ("DELETE", f"/v1/experiments/{experiment}", None),
        ("GET", f"/v1/prompts/{prompt}/latest", None),
        ("GET", f"/v1/prompt_versions/{prompt}", None),
        ("GET", f"/v1/evaluators/{judge}", None),
        ("POST", f"/v1/evaluators/{judge}/test", {"documents": [{}]}),
    ):
        answer = outsider.call(method, path, body)
        assert answer.status == 404, (method, path, answer.status, answer.text[:200])
        assert "secret" not in answer.text, answer.text
    assert admin.must("GET", f"/v1/experiments/{experiment}").data["successful_run_count"] == 1


def test_uploads_without_examples_unknown_encodings_and_long_texts(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    # A dataset may begin empty; nothing is added to one that is not there.
    empty = client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "empty", "inputs": []}).data
    assert empty["num_created_examples"] == 0, empty
    assert client.must("GET", "/v1/datasets/empty/examples").data["examples"] == []
    assert client.must("POST", "/v1/datasets/empty/experiments", {}).data["example_count"] == 0
    for encoding in ("br", "gzip, gzip", "../gzip"):
        fields = [("action", "create", {}), ("name", "packed", {}), ("input_keys[]", "q", {})]
        body, headers = form([*fields, ("file", b"q\n1\n", {"Content-Type": "text/csv", "Content-Encoding": encoding})])
        refused = client.post("/v1/datasets/upload", body, headers)
        assert refused.status == 422 and refused.json["detail"], (encoding, refused.status, refused.text)
    assert client.must("GET", "/v1/datasets?name=packed").json["data"] == []

    upload(client, "one", inputs=[{"n": 1}])
    (example,) = client.must("GET", "/v1/datasets/one/examples").data["examples"]
    experiment = client.must("POST", "/v1/datasets/one/experiments", {}).data["id"]
    run = {"dataset_example_id": example["node_id"], "repetition_number": 1} | TIMES
    assert client.post(f"/v1/experiments/{experiment}/runs", run | {"output": "x" * (5 << 20)}).status == 413
    made = client.must("POST", f"/v1/experiments/{experiment}/runs", run | {"output": "x" * (2 << 20)}).data["id"]
    eval = {"experiment_run_id": made, "name": "n", "annotator_kind": "CODE"} | TIMES
    client.must("POST", "/v1/experiment_evaluations", eval | {"result": {"explanation": "y" * (3 << 20), "score": 1}})
    refused = client.post("/v1/experiment_evaluations", eval | {"result": {"explanation": "y" * (5 << 20)}})
    assert refused.status == 413 and "4194304" in refused.json["detail"], (refused.status, refused.text[:200])
    (record,) = client.must("GET", f"/v1/experiments/{experiment}/json").json
    assert len(record["annotations"][0]["explanation"]) == 3 << 20 and len(record["output"]) == 2 << 20


def test_prompts_and_code_that_could_never_work_are_refused_when_they_are_saved(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 1)
    for name in ("", "Greet", "a b", "a/b", "-a", "a" * 10_000, "\U0001f600"):
        refused = client.post("/v1/prompts", {"prompt": {"name": name}, "version": content()})
        assert refused.status == 422, (name[:20], refused.status, refused.text[:200])
    for version in ({"template_type": "STRING"}, {"template": {"type": "chat", "messages": "x"}}, {"model_provider": "NOBODY"}, {"template_format": "JINJA"}):
        refused = client.post("/v1/prompts", {"prompt": {"name": "greet"}, "version": content() | version})
        assert refused.status == 422, (version, refused.status, refused.text[:200])
    assert client.must("GET", "/v1/prompts").json["data"] == []
    code = {"language": "python", "source": "def evaluate(document):\n    return True\n"}
    for change in (
        {"source": ""},
        {"source": "a\0b"},
        {"language": "perl"},
        {"mapping": {"a": {"path": ".."}}},
        {"mapping": {"a": {"path": "$[?(@.x)]"}}},
        {"mapping": {"a": {"path": "x", "literal": 1}}},
        {"output": {"type": "categorical", "values": []}},
        {"output": {"type": "numeric", "minimum": 1, "maximum": 0}},
        {"timeout_ms": 0},
    ):
        refused = client.post("/v1/evaluators", {"name": "exact", "kind": "code", "code": code | change})
        assert refused.status == 400, (str(change)[:60], refused.status, refused.text[:200])
    large = {"name": "exact", "kind": "code", "code": code | {"source": "x" * (257 << 10)}}
    assert client.post("/v1/evaluators", large).status == 413
    assert client.must("GET", "/v1/evaluators").json["data"] == []
    made = evaluator(hone, folder, "exact", "def evaluate(document):\n    return True\n", "--labels", "true=1,false=0")
    assert client.post(f"/v1/evaluators/{made['id']}/test", {"documents": [{}] * 21}).status == 400
    assert json.loads(client.get(f"/v1/evaluators/{made['id']}").text)["data"]["revision"] == 1
