"""Datasets and experiments: the commands, files of every kind, and Phoenix' client from npm against the real binary."""

import base64
import gzip
import json
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import time
import urllib.parse

from phoenix import run_node
from postgres import Postgres
from server import Server, wait_until
from telemetry import key_of, otlp_json, rows
from trace_commands import Hone


def upload(client, name, action="update", **lists):
    return client.must("POST", "/v1/datasets/upload?sync=true", {"action": action, "name": name} | lists).data


def test_phoenix_clients_datasets_experiments_and_prompts_work_unmodified(binary, stack):
    server = stack.enter_context(Server(binary))
    printed = run_node("phoenix_experiments.mjs", "numbers", PHOENIX_HOST=server.url, PHOENIX_API_KEY=key_of(server))
    assert printed.endswith("datasets, experiments and prompts: done\n"), printed


def test_ten_thousand_evaluations_at_the_same_time_are_not_refused(binary, stack):
    server = stack.enter_context(Server(binary))
    # One refusal would end the client with an error: the evaluations are not awaited.
    printed = run_node("phoenix_experiments.mjs", "many", "2000", PHOENIX_HOST=server.url, PHOENIX_API_KEY=key_of(server))
    assert printed.startswith("2000 examples, 2 evaluators"), printed


def test_a_dataset_is_pushed_compared_restored_and_pulled(binary, stack):
    server = stack.enter_context(Server(binary))
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    hone = Hone(server, key_of(server)).run

    questions = folder / "questions.csv"
    questions.write_text('id,question,answer,split\r\nq1,"what, is it?",this,train\r\nq2,why,that,test\r\n')
    pushed = json.loads(hone("dataset", "push", "shop", str(questions), "--json").stdout)
    assert pushed["num_created_examples"] == 2, pushed
    with gzip.open(folder / "more.jsonl.gz", "wt") as more:
        more.write('{"id":"q3","input":{"question":"how"},"output":{"answer":"so"}}\n')
    assert "Added 1" in hone("dataset", "push", "shop", str(folder / "more.jsonl.gz")).stdout
    questions.write_text("id,question,answer\nq1,what now?,this\n")
    assert "changed 1, deleted 2" in hone("dataset", "push", "shop", str(questions), "--action", "update").stdout
    hone("dataset", "push", "shop", str(questions), "--action", "create", status=6)
    versions = json.loads(hone("dataset", "versions", "shop", "--json").stdout)
    # The first version is the empty dataset, which is there before the first file.
    assert [(each["number"], each["example_count"]) for each in versions] == [(4, 1), (3, 3), (2, 2), (1, 0)], versions
    changes = json.loads(hone("dataset", "diff", "shop", "--json").stdout)
    assert sorted(each["change"] for each in changes) == ["changed", "removed", "removed"], changes
    assert "~ q1" in hone("dataset", "diff", "shop").stdout
    hone("dataset", "restore", "shop", "3")
    pulled = [json.loads(line) for line in hone("dataset", "pull", "shop").stdout.splitlines()]
    assert [each["id"] for each in pulled] == ["q1", "q2", "q3"], pulled
    assert pulled[0]["input"] == {"question": "what, is it?"} and pulled[0]["splits"] == ["train"], pulled
    hone("dataset", "pull", "shop", "-o", str(folder / "out.csv"))
    # What was written is read back as the same examples.
    copied = json.loads(hone("dataset", "push", "copy", str(folder / "out.csv"), "--json").stdout)
    assert copied["num_created_examples"] == 3, copied
    assert [json.loads(line)["input"] for line in hone("dataset", "pull", "copy").stdout.splitlines()] == [
        each["input"] for each in pulled
    ]
    assert json.loads(hone("dataset", "show", "shop", "--json").stdout)["example_count"] == 3
    # Examples without an id of their own are copied as well; a file that fails leaves no dataset.
    bare = folder / "bare.jsonl"
    bare.write_text('{"input":{"n":1}}\n{"input":{"n":2}}\n')
    hone("dataset", "push", "bare", str(bare), "--action", "create")
    hone("dataset", "pull", "bare", "-o", str(folder / "pulled.jsonl"))
    assert json.loads(hone("dataset", "push", "twin", str(folder / "pulled.jsonl"), "--json").stdout)["num_created_examples"] == 2
    again = json.loads(hone("dataset", "push", "bare", str(folder / "pulled.jsonl"), "--json").stdout)
    assert (again["num_created_examples"], again["num_updated_examples"]) == (0, 0), again
    bare.write_text('{"input":{"n":1}}\n{"input":\n')
    hone("dataset", "push", "broken", str(bare), "--action", "create", status=8)
    hone("dataset", "show", "broken", status=5)
    hone("dataset", "delete", "shop", "--yes")
    hone("dataset", "show", "shop", status=5)


def test_an_import_that_is_killed_is_invisible_and_the_next_one_is_whole(binary, stack):
    server = stack.enter_context(Server(binary))
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    client = server.client(key_of(server))
    hone = Hone(server, client.key)
    upload(client, "shop", inputs=[{"n": -1}, {"n": -2}], example_ids=["row 0", "kept"])
    file = folder / "rows.jsonl"
    with file.open("w") as out:
        out.writelines(f'{{"id":"row {n}","input":{{"n":{n}}},"split":"new"}}\n' for n in range(200_000))

    def stored():
        with sqlite3.connect(f"file:{server.data_dir}/hone.db?mode=ro", uri=True) as database:
            return database.execute("SELECT COUNT(*) FROM dataset_examples").fetchone()[0]

    command = [hone.binary, "dataset", "push", "shop", str(file), "--action", "update"]
    with subprocess.Popen(command, env=hone.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as pushing:
        wait_until(lambda: stored() > 2000, "rows arrive")
        server.kill()
        error = pushing.communicate(timeout=60)[1]
    assert pushing.returncode == 7, (pushing.returncode, error)
    server.start()
    client = server.client(client.key)
    left = client.must("GET", "/v1/datasets/shop/examples").data["examples"]
    assert [(each["id"], each["input"]["n"]) for each in left] == [("row 0", -1), ("kept", -2)], left
    assert len(client.must("GET", "/v1/datasets/shop/versions").data) == 1
    hone = Hone(server, client.key)
    pushed = hone.json("dataset", "push", "shop", str(file), "--action", "update")
    counts = [pushed[f"num_{what}_examples"] for what in ("created", "updated", "deleted")]
    assert counts == [199_999, 1, 1], pushed
    found = client.must("GET", "/v1/datasets/shop/examples").data["examples"]
    assert len(found) == len({each["id"] for each in found}) == 200_000
    assert len(client.must("GET", "/v1/datasets/shop/examples?split=new").data["examples"]) == 200_000


def test_spans_become_examples_once_and_keep_their_source(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    spans = [
        (n, n, 0, f"ask {n}", {"input.value": json.dumps({"q": n}), "output.value": f"reply {n}"}) for n in range(1, 4)
    ]
    assert client.post("/v1/traces", otlp_json(spans)).status == 200
    rows(client, "/v1/projects/shop/span_rows", 3)
    body = {"project": "shop", "name": "from spans", "filter": 'name != "ask 2"', "splits": ["seen"]}
    made = client.must("POST", "/v1/datasets/from_spans", body).data
    assert made["num_created_examples"] == 2, made
    assert client.must("POST", "/v1/datasets/from_spans", body).data["num_created_examples"] == 0
    examples = client.must("GET", "/v1/datasets/from%20spans/examples?split=seen").data["examples"]
    assert {json.dumps(each["input"]) for each in examples} == {'{"q": 1}', '{"q": 3}'}, examples
    assert examples[0]["output"]["output"].startswith("reply"), examples
    assert len(examples[0]["source"]["span_id"]) == 16, examples
    missing = client.post("/v1/datasets/from_spans", body | {"filter": 'name = "none"'})
    assert missing.status == 404, missing.text


def form(parts):
    boundary = "----hone"
    body = b""
    for name, value, headers in parts:
        body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n'.encode()
        for key, text in headers.items():
            body += f"{key}: {text}\r\n".encode()
        body += b"\r\n" + (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def test_a_gzip_csv_part_is_uploaded_as_the_python_client_sends_it(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    table = b"question,answer,meta,part\nhow,so,1,train\nwhy,,2,\n"
    fields = [
        ("action", "create", {}),
        ("name", "by form", {}),
        ("input_keys[]", "question", {}),
        ("output_keys[]", "answer", {}),
        ("metadata_keys[]", "meta", {}),
        ("split_keys[]", "part", {}),
    ]

    def send(*files):
        body, headers = form([*fields, *files])
        return client.post("/v1/datasets/upload?sync=true", body, headers)

    csv = {"Content-Type": "text/csv", "Content-Encoding": "gzip"}
    made = send(("file", gzip.compress(table), csv))
    assert made.status == 200 and made.data["num_created_examples"] == 2, made.text
    examples = client.must("GET", "/v1/datasets/by%20form/examples").data["examples"]
    assert examples[0]["input"] == {"question": "how"} and examples[1]["output"] == {}, examples
    assert send(("file", gzip.compress(table), csv)).status == 409
    fields[1] = ("name", "broken", {})
    for content, headers, status in (
        (b"not gzip", csv, 422),
        (gzip.compress(b"x" * (400 << 20)), csv, 413),  # a small file that unpacks to much
        (table, {"Content-Type": "application/x-pandas-pyarrow"}, 422),
        (b"question,question\n1,2\n", {"Content-Type": "text/csv"}, 422),
        (b"question,answer,meta,part\n1\n", {"Content-Type": "text/csv"}, 422),
    ):
        refused = send(("file", content, headers))
        assert refused.status == status, (content[:20], refused.status, refused.text)
        assert refused.json["detail"] == refused.json["error"]["message"], refused.text
    assert client.must("GET", "/v1/datasets?name=broken").json["data"] == []


def test_bad_uploads_are_refused_and_store_nothing(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    good = {"action": "create", "name": "n", "inputs": [{"a": 1}]}
    for change in (
        {"inputs": None},
        {"inputs": [{"a": 1}], "outputs": [{}, {}]},
        {"inputs": [None]},
        {"inputs": ["text"]},
        {"action": "replace"},
        {"name": ""},
        {"name": "x" * 10_000},
        {"example_ids": ["a", "b"]},
        {"inputs": [{}, {}], "example_ids": ["a", "a"]},
        {"splits": [7]},
        {"splits": [""]},
    ):
        refused = client.post("/v1/datasets/upload", good | change)
        assert refused.status == 422, (change, refused.text[:300])
    for raw in (b'{"action":"create","name":"n","inputs":[{"a":NaN}]}', b"[" * 1000, b""):
        assert client.post("/v1/datasets/upload", raw, {"Content-Type": "application/json"}).status == 422, raw[:40]
    assert client.post("/v1/datasets/upload", b"x", {"Content-Type": "text/plain"}).status == 422
    assert client.must("GET", "/v1/datasets").json["data"] == []
    # Fields that Phoenix does not name are ignored, large numbers and unusual names are kept.
    name = "a/b %2F \U0001f600"
    upload(client, name, inputs=[{"n": 9007199254740993}], unknown=1)
    read = client.must("GET", f"/v1/datasets/{urllib.parse.quote(name, safe='')}/examples")
    assert read.data["examples"][0]["input"]["n"] == 9007199254740993, read.text
    # An example of another dataset is not one of this.
    node = read.data["examples"][0]["node_id"]
    foreign = client.post("/v1/datasets/upload", {"action": "update", "name": "other", "inputs": [{}], "example_ids": [node]})
    assert foreign.status == 422, foreign.text


def test_deep_wide_and_large_uploads_are_stored_whole_or_not_at_all(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    deep = {}
    for _ in range(300):
        deep = {"a": deep}
    good = {"action": "create", "name": "n", "inputs": [{"a": 1}]}
    many = [f"split {n}" for n in range(10_000)]
    for change in ({"inputs": [deep]}, {"splits": [many]}, {"inputs": [{"x": "y" * (5 << 20)}]}):
        refused = client.post("/v1/datasets/upload", good | change)
        assert refused.status == 422 and refused.json["detail"], (str(change)[:60], refused.text[:300])
    assert client.post("/v1/datasets/upload", b" " * ((100 << 20) + 1), {"Content-Type": "application/json"}).status == 413
    assert client.must("GET", "/v1/datasets").json["data"] == []
    key = "k" * (1 << 20)
    upload(client, "wide", inputs=[{key: 1}, {"b": 2}])
    first = client.must("GET", "/v1/datasets/wide/examples").data
    assert first["examples"][0]["input"] == {key: 1}
    # An update without examples deletes all of them; the version before has them still.
    emptied = client.must("POST", "/v1/datasets/upload", {"action": "update", "name": "wide", "inputs": []}).data
    assert emptied["num_deleted_examples"] == 2, emptied
    assert client.must("GET", "/v1/datasets/wide/examples").data["examples"] == []
    before = client.must("GET", f"/v1/datasets/wide/examples?version_id={urllib.parse.quote(first['version_id'])}").data
    assert len(before["examples"]) == 2, before


def test_ids_and_cursors_of_other_things_are_refused(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    admin.must("POST", "/v1/spaces", {"name": "elsewhere"})
    there = server.client(admin.must("POST", "/v1/keys?space=elsewhere", {"name": "there"}).data["key"])
    client = server.client(key_of(server))
    for name in ("one", "two"):
        upload(client, name, inputs=[{"n": n} for n in range(3)])
    versions = {name: client.must("GET", f"/v1/datasets/{name}/examples").data for name in ("one", "two")}
    foreign = urllib.parse.quote(versions["two"]["version_id"])
    assert client.get(f"/v1/datasets/one/examples?version_id={foreign}").status == 404
    assert client.post("/v1/datasets/one/experiments", {"version_id": versions["two"]["version_id"]}).status == 404
    experiment = client.must("POST", "/v1/datasets/one/experiments", {}).data["id"]
    runs = f"/v1/experiments/{experiment}/runs"
    body = {"dataset_example_id": versions["one"]["examples"][0]["node_id"], "repetition_number": 1, "output": 1} | TIMES
    assert client.post(runs, body | {"repetition_number": -1}).status == 422
    # An example of another dataset is not in the experiment; a run that failed is replaced, a good one stays.
    assert client.post(runs, body | {"dataset_example_id": versions["two"]["examples"][0]["node_id"]}).status == 404
    failed = client.must("POST", runs, body | {"output": None, "error": "it threw"}).data["id"]
    good = client.must("POST", runs, body).data["id"]
    assert good == failed and client.post(runs, body).status == 409
    eval = {"experiment_run_id": good, "name": "n", "annotator_kind": "CODE", "result": {"explanation": "because"}} | TIMES
    assert client.post("/v1/experiment_evaluations", eval | {"result": {"explanation": "x" * (5 << 20)}}).status == 413
    assert client.post("/v1/experiment_evaluations", eval).status == 200
    for cursor in ("not a cursor", client.must("GET", "/v1/datasets?limit=1").json["next_cursor"]):
        asked = client.get(f"/v1/experiments/{experiment}/incomplete-runs?cursor={urllib.parse.quote(cursor, safe='')}")
        assert asked.status == 422, (cursor, asked.text)
    # From another space nothing of it is there.
    for path in ("/v1/datasets/one", f"/v1/datasets/{versions['one']['dataset_id']}", f"/v1/experiments/{experiment}", runs):
        assert there.get(path).status == 404, path
    assert there.post("/v1/experiment_evaluations", eval).status == 404
    assert there.post(runs, body).status == 404


def test_twenty_thousand_examples_are_stored_and_read_within_the_clients_timeout(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    inputs = [{"question": f"question {n} " + "x" * 400} for n in range(20_000)]
    begin = time.monotonic()
    upload(client, "large", inputs=inputs, outputs=[{"a": n} for n in range(20_000)])
    stored = time.monotonic() - begin
    read = client.must("GET", "/v1/datasets/large/examples")
    print(f"20,000 examples: stored in {stored:.2f} s, read in {time.monotonic() - begin - stored:.2f} s")
    examples = read.data["examples"]
    assert len(examples) == 20_000 and examples[19_999]["input"] == inputs[19_999]
    assert len({each["id"] for each in examples}) == 20_000


def test_runs_and_evaluations_survive_a_kill_and_bad_ones_are_refused(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    upload(client, "d", inputs=[{"n": n} for n in range(50)])
    experiment = client.must("POST", "/v1/datasets/d/experiments", {"project_name": "x"}).data
    examples = client.must("GET", "/v1/datasets/d/examples").data["examples"]
    runs = f"/v1/experiments/{experiment['id']}/runs"

    def run(n, **change):
        times = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01.5+00:00"}
        body = {"dataset_example_id": examples[n]["node_id"], "repetition_number": 1, "output": n, "id": "temp-1"}
        return client.post(runs, body | times | change)

    def evaluate(run_id, **change):
        body = {
            "experiment_run_id": run_id,
            "name": "correct",
            "annotator_kind": "CODE",
            "start_time": "2026-01-01T00:00:00Z",
            "end_time": "2026-01-01T00:00:01Z",
            "result": {"score": 1, "name": "ignored"},
        }
        return client.post("/v1/experiment_evaluations", body | change)

    for n in range(25):
        assert evaluate(run(n).data["id"]).status == 200
    server.kill()
    server.start()
    client = server.client(client.key)
    after = client.must("GET", f"/v1/experiments/{experiment['id']}").data
    assert (after["successful_run_count"], after["missing_run_count"]) == (25, 25), after
    assert len(client.must("GET", runs).json["data"]) == 25
    assert run(0).status == 409
    for change in (
        {"repetition_number": 0},
        {"repetition_number": 2},
        {"repetition_number": 10**9},
        {"end_time": "2025-01-01T00:00:00Z"},
        {"start_time": "yesterday"},
        {"dataset_example_id": None},
    ):
        assert run(30, **change).status == 422, change
    assert run(30, dataset_example_id="DatasetExample:none").status == 404
    made = run(30, output={"deep": [1, None]}).data["id"]
    for change, status in (
        ({"result": {"score": True, "label": 3}}, 200),
        ({"result": {"score": "0.5"}}, 200),
        ({"result": {}, "error": "it threw"}, 200),
        ({"result": None, "error": None}, 422),
        ({"result": {"score": "high"}}, 422),
        ({"annotator_kind": "ROBOT"}, 422),
        ({"result": {"explanation": "x" * (3 << 20)}}, 200),
        ({"experiment_run_id": "nothing"}, 404),
    ):
        reply = evaluate(made, **change)
        assert reply.status == status, (str(change)[:80], reply.text[:300])
    raw = b'{"experiment_run_id":"%s","name":"n","annotator_kind":"CODE","start_time":"2026-01-01T00:00:00Z","end_time":"2026-01-01T00:00:00Z","result":{"score":1e999}}' % made.encode()
    assert client.post("/v1/experiment_evaluations", raw, {"Content-Type": "application/json"}).status == 422
    # Deleting the dataset deletes the experiment; its id is then unknown.
    client.must("DELETE", "/v1/datasets/d", status=204)
    assert client.get(f"/v1/experiments/{experiment['id']}").status == 404
    assert evaluate(made).status == 404


def test_the_gate_of_a_comparison_fails_on_a_regression(binary, stack):
    server = stack.enter_context(Server(binary))
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    key = key_of(server)
    client = server.client(key)
    upload(client, "d", inputs=[{"n": n} for n in range(30)])
    examples = client.must("GET", "/v1/datasets/d/examples").data["examples"]

    def experiment(name, passes):
        made = client.must("POST", "/v1/datasets/d/experiments", {"name": name}).data
        times = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}
        for n, example in enumerate(examples):
            body = {"dataset_example_id": example["node_id"], "repetition_number": 1, "output": n} | times
            run = client.must("POST", f"/v1/experiments/{made['id']}/runs", body).data["id"]
            sent = {"experiment_run_id": run, "name": "correct", "annotator_kind": "CODE"} | times
            client.must("POST", "/v1/experiment_evaluations", sent | {"result": {"score": int(passes(n))}})
        return made["id"]

    base = experiment("base", lambda n: n < 27)
    experiment("same", lambda n: n < 27)
    experiment("worse", lambda n: n >= 15)

    hone = Hone(server, key).run
    hone("experiment", "tag", base, "baseline")
    gate = ("--dataset", "d", "--fail-on", "regression")
    calm = hone("experiment", "compare", "baseline", "same", *gate)
    assert "gate passed" in calm.stdout and "no difference shown" in calm.stdout, calm.stdout
    markdown, junit = folder / "comment.md", folder / "evals.xml"
    reports = ("--markdown", str(markdown), "--junit", str(junit))
    failed = hone("experiment", "compare", "baseline", "worse", *gate, *reports, status=10)
    assert "3 fixed, 15 broken" in failed.stdout, failed.stdout
    assert "Experiment gate failed" in markdown.read_text() and "<failure" in junit.read_text()
    found = json.loads(hone("experiment", "compare", "baseline", "worse", "--dataset", "d", "--json").stdout)
    assert found["gate"]["reasons"][0]["guard"] == "significance", found["gate"]
    assert abs(found["metrics"][0]["delta"] + 0.4) < 1e-9, found["metrics"]
    assert len(json.loads(hone("experiment", "list", "d", "--json").stdout)) == 3
    hone("experiment", "compare", "baseline", "none", "--dataset", "d", status=5)


TIMES = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}


def test_bodies_ids_and_times_are_read_as_the_clients_send_them(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    name = "plug in/suite ü"
    uploaded = client.must("POST", "/v1/datasets/upload?sync=true", {"action": "update", "name": name, "inputs": [{"n": 1}, {"n": 2}]}).data
    # Ids are padded standard base64 of Type:id, with one spelling everywhere; paths have = or %3D, and names are escaped.
    dataset = uploaded["dataset_id"]
    assert base64.b64encode(base64.b64decode(dataset, validate=True)).decode() == dataset, dataset
    assert base64.b64decode(dataset).decode().startswith("Dataset:"), dataset
    assert base64.b64decode(uploaded["version_id"]).decode().startswith("DatasetVersion:"), uploaded
    for spelling in (dataset, urllib.parse.quote(dataset, safe=""), urllib.parse.quote(name, safe="")):
        found = client.must("GET", f"/v1/datasets/{spelling}").data
        assert (found["id"], found["name"], found["example_count"], found["metadata"]) == (dataset, name, 2, {}), found
    assert [each["id"] for each in client.must("GET", "/v1/datasets?name=" + urllib.parse.quote(name)).data] == [dataset]
    examples = client.must("GET", f"/v1/datasets/{dataset}/examples?version_id={urllib.parse.quote(uploaded['version_id'])}").data
    assert examples["version_id"] == uploaded["version_id"] and examples["dataset_id"] == dataset, examples
    ids = [each["node_id"] for each in examples["examples"]]
    assert all(base64.b64decode(each).decode().startswith("DatasetExample:") for each in ids), ids
    # Times are written so that Python 3.10 reads them, and read with any number of digits, with and without a zone.
    for stamp in (found["created_at"], found["updated_at"], examples["examples"][0]["updated_at"]):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", stamp), stamp
    made = client.must("POST", f"/v1/datasets/{dataset}/experiments", {"project_name": "sent by the client", "splits": None}).data
    counts = ("example_count", "successful_run_count", "failed_run_count", "missing_run_count", "repetitions")
    assert [made[count] for count in counts] == [2, 0, 0, 2, 1] and made["metadata"] == {} and made["project_name"], made
    # Fields that are not known are ignored; an output that is missing is null.
    run = {"id": "temp-1", "experiment_id": made["id"], "dataset_example_id": ids[0], "repetition_number": 1, "unknown": [1]}
    spans = {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01.123456789+02:00"}
    refused = client.post(f"/v1/experiments/{made['id']}/runs", run | spans)
    assert refused.status == 422 and "end_time" in refused.json["detail"] and refused.json["error"], refused.text
    first = client.must("POST", f"/v1/experiments/{made['id']}/runs", run | {"start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01.1Z"}).data["id"]
    assert base64.b64decode(first).decode().startswith("ExperimentRun:"), first
    assert client.must("GET", f"/v1/experiments/{made['id']}/runs").json["data"][0]["output"] is None
    # The eval of a run in the next request, with the fields of both clients.
    python = {"id": "DRY_RUN_1", "result": {"name": "a", "score": True, "label": None, "extra": 1}}
    javascript = {"result": {"score": "0.5", "metadata": {"by": "code"}}, "trace_id": None}
    thrown = {"result": {}, "error": "it threw"}
    for name, more in {"python": python, "javascript": javascript, "thrown": thrown}.items():
        client.must("POST", "/v1/experiment_evaluations", {"experiment_run_id": first, "name": name, "annotator_kind": "CODE"} | TIMES | more)
    evals = {each["name"]: each for each in client.must("GET", f"/v1/experiments/{made['id']}/json").json[0]["annotations"]}
    assert (evals["python"]["score"], evals["javascript"]["score"], evals["thrown"]["score"]) == (1, 0.5, None), evals
    assert evals["thrown"]["error"] == "it threw" and evals["javascript"]["metadata"].get("by") == "code", evals
    nothing = client.post("/v1/experiment_evaluations", {"experiment_run_id": first, "name": "none", "annotator_kind": "CODE"} | TIMES)
    assert nothing.status == 422 and nothing.json["detail"], nothing.text


def test_lists_that_clients_do_not_page_are_whole(binary, stack):
    server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))
    client = server.client(key_of(server))
    count = 1100  # more than the largest page of other lists
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "long", "inputs": [{"n": n} for n in range(count)]})
    examples = client.must("GET", "/v1/datasets/long/examples").data["examples"]
    assert [each["input"]["n"] for each in examples] == list(range(count))
    made = client.must("POST", "/v1/datasets/long/experiments", {}).data["id"]
    for n, example in enumerate(examples):
        client.must("POST", f"/v1/experiments/{made}/runs", {"dataset_example_id": example["node_id"], "repetition_number": 1, "output": n} | TIMES)
    assert len(client.must("GET", f"/v1/experiments/{made}/runs").json["data"]) == count
    assert len(client.must("GET", f"/v1/experiments/{made}/json").json) == count
    paged = client.must("GET", f"/v1/experiments/{made}/runs?limit=10").json
    assert len(paged["data"]) == 10 and paged["next_cursor"], paged


def test_projects_of_experiments_are_hidden_and_go_with_the_dataset(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "numbers", "inputs": [{"n": 1}]})
    made = client.must("POST", "/v1/datasets/numbers/experiments", {}).data
    project = made["project_name"]

    def names(more=""):
        return [each["name"] for each in client.must("GET", "/v1/projects" + more).data]

    # It is there at once, for the spans of the first run, but in no list that does not ask for it.
    assert client.must("GET", f"/v1/projects/{project}").data["name"] == project
    assert client.must("GET", f"/v1/projects/{project}/spans?trace_id={1:032x}").data == []
    assert project not in names() and project in names("?include_experiment_projects=true"), names()
    client.must("DELETE", "/v1/datasets/numbers", status=204)
    assert client.get(f"/v1/experiments/{made['id']}").status == 404
    assert client.get(f"/v1/projects/{project}").status == 404
    assert project not in names("?include_experiment_projects=true")


def test_what_one_server_stored_another_one_has_in_the_next_request(binary, stack):
    database = Postgres(stack)
    first = stack.enter_context(Server(binary, None, "--database-url", database.url))
    key = key_of(first)
    second = stack.enter_context(Server(binary, None, "--database-url", database.url))
    one, other = first.client(key), second.client(key)
    one.must("POST", "/v1/datasets/upload", {"action": "create", "name": "numbers", "inputs": [{"n": 1}]})
    example = other.must("GET", "/v1/datasets/numbers/examples").data["examples"][0]["node_id"]
    made = other.must("POST", "/v1/datasets/numbers/experiments", {}).data["id"]
    run = one.must("POST", f"/v1/experiments/{made}/runs", {"dataset_example_id": example, "repetition_number": 1, "output": 1} | TIMES).data["id"]
    body = {"experiment_run_id": run, "name": "right", "annotator_kind": "CODE", "result": {"score": 1}} | TIMES
    other.must("POST", "/v1/experiment_evaluations", body)
    assert one.must("GET", f"/v1/experiments/{made}/json").json[0]["annotations"][0]["score"] == 1
    assert other.must("GET", f"/v1/experiments/{made}").data["successful_run_count"] == 1
