"""Experiments that the server runs: evaluators of code, commands in sandboxes, addresses, the gate, kills."""

import gzip
import http.server
import json
import pathlib
import tempfile
import threading
import time

from postgres import Postgres
from repos import git
from runs import Shop, shell
from server import Server, wait_until
from telemetry import key_of
from trace_commands import Hone

EXACT = """
def evaluate(document):
    if document["output"] == document["reference"].get("answer"):
        return "pass"
    return {"label": "fail", "explanation": f"not {document['reference']['answer']}"}
"""
DOUBLE = 'import json, sys\nexample = json.load(sys.stdin)\nprint(json.dumps(example["input"]["n"] * 2))\n'


def laboratory(binary, stack, count, *flags, **more):
    server = stack.enter_context(Server(binary, None, *flags, **more))
    key = key_of(server)
    client = server.client(key)
    fill(client, count)
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    return server, client, Hone(server, key), folder


def fill(client, count, name="numbers"):
    lists = {"inputs": [{"n": n} for n in range(count)], "outputs": [{"answer": n * 2} for n in range(count)]}
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": name} | lists)


def evaluator(hone, folder, name="exact", source=EXACT, *options):
    file = folder / f"{name}.py"
    file.write_text(source)
    return hone.json("evaluator", "create", name, "--code", str(file), *(options or ("--labels", "pass=1,fail=0")))


def ended(client, experiment, patience=120):
    def task():
        found = client.must("GET", f"/v1/experiments/{experiment}/task").data
        return found if found["state"] not in ("queued", "running") else None

    return wait_until(task, "the experiment ends", patience)


def start(client, task, dataset="numbers", **more):
    made = client.must("POST", f"/v1/datasets/{dataset}/experiments", more.pop("experiment", {})).data["id"]
    client.must("POST", f"/v1/experiments/{made}/start", {"task": task} | more)
    return made


def runs_of(client, experiment):
    return client.must("GET", f"/v1/experiments/{experiment}/runs").json["data"]


def test_code_has_versions_is_tested_and_never_gives_a_silent_score(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 1)
    made = evaluator(hone, folder)
    assert (made["kind"], made["revision"], made["project_id"]) == ("code", 1, None), made
    documents = [{"output": 4, "reference": {"answer": 4}}, {"output": 5, "reference": {"answer": 4}}, {"output": 5, "reference": {}}]
    lines = "\n".join(json.dumps(each) for each in documents)
    results = hone.json("evaluator", "test", "exact", "-", text=lines)
    assert results[0]["verdict"]["score"] == 1 and results[1]["verdict"]["explanation"] == "not 4", results
    assert results[2]["verdict"] is None and "KeyError" in results[2]["error"], results
    # The same definition again makes no version; another one does, and the old one stays.
    (folder / "exact.py").write_text(EXACT.replace("not ", "expected "))
    for _ in range(2):
        hone.run("evaluator", "update", "exact", "--code", str(folder / "exact.py"), "--labels", "pass=1,fail=0")
    versions = hone.json("evaluator", "versions", "exact")
    assert [each["number"] for each in versions] == [2, 1], versions
    assert versions[1]["code"]["source"] == EXACT and versions[0]["content_hash"] != versions[1]["content_hash"]
    old = hone.json("evaluator", "test", "exact", "-", "--version", "1", text=json.dumps(documents[1]))
    assert old[0]["verdict"]["explanation"] == "not 4", old
    hone.run("evaluator", "create", "exact", "--code", str(folder / "exact.py"), status=6)
    # A rule has versions too.
    client.must("POST", "/v1/projects", {"name": "shop"})
    rule = hone.json("evaluator", "create", "errors", "--project", "shop", "--condition", "status = error")
    hone.run("evaluator", "update", rule["id"], "--label", "bad")
    labels = [each["rule"]["label"] for each in hone.json("evaluator", "versions", rule["id"])]
    assert labels == ["bad", "fail"], labels
    for change in (
        {"code": {"language": "python", "source": ""}},
        {"code": {"language": "perl", "source": "1"}},
        {"code": {"language": "python", "source": "x", "mapping": {"a": {"path": "$[?()]"}}}},
        {"code": {"language": "python", "source": "x", "output": {"type": "categorical"}}},
        {"condition": "status = error"},
        {"code": None},
    ):
        refused = client.post("/v1/evaluators", {"name": "bad", "kind": "code"} | change)
        assert refused.status == 400, (change, refused.text)


def test_a_command_runs_each_example_without_the_reference_and_code_evaluates_it(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 30)
    evaluator(hone, folder)
    (folder / "double.py").write_text(DOUBLE)
    command = ("--command", "python3 double.py", "--file", str(folder / "double.py"), "--evaluator", "exact")
    done = hone.json("experiment", "run", "numbers", *command, "--repeat", "2", "--name", "first", "--tag", "baseline")
    task = done["task"]
    assert (task["state"], task["successful_runs"], task["failed_runs"]) == ("done", 60, 0), task
    assert task["evaluators"] == [task["evaluators"][0] | {"name": "exact", "number": 1, "evals": 60, "failed_evals": 0}], task
    assert sorted(run["output"] for run in runs_of(client, task["experiment_id"])) == sorted(n * 2 for n in range(30) for _ in "ab")
    # What the command can see of its example, and of the network.
    spy = "cat > /workspace/in; python3 - <<'END'\nimport json, os, pathlib, socket\n"
    spy += "seen = {'input': json.load(open('/workspace/in')), 'env': sorted(k for k in os.environ if k.startswith('HONE_'))}\n"
    spy += "seen['files'] = [str(p) for p in pathlib.Path('/task').rglob('*')]\n"
    spy += "try:\n    socket.create_connection(('1.1.1.1', 53), 2)\n    seen['network'] = True\nexcept OSError:\n    seen['network'] = False\n"
    spy += "print(json.dumps(seen))\nEND"
    seen = runs_of(client, hone.json("experiment", "run", "numbers", "--command", spy)["task"]["experiment_id"])[0]
    assert seen["error"] is None, seen
    output = seen["output"]
    assert set(output["input"]) == {"id", "input", "metadata", "repetition"} and "answer" not in json.dumps(output), output
    assert output["network"] is False and output["files"] == ["/task/input.json"], output
    assert output["env"] == ["HONE_EXAMPLE", "HONE_EXPERIMENT", "HONE_REPETITION"], output


def test_the_gate_of_a_run_fails_with_reports_on_a_regression(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 30)
    evaluator(hone, folder)
    (folder / "run.py").write_text(DOUBLE)
    command = ("--command", "python3 run.py", "--file", str(folder / "run.py"), "--evaluator", "exact")
    gate = ("--baseline", "baseline", "--fail-on", "regression")
    hone.run("experiment", "run", "numbers", *command, "--tag", "baseline", "--min", "exact=0.9")
    calm = hone.run("experiment", "run", "numbers", *command, *gate)
    assert "gate passed" in calm.stdout and "done: 30 of 30 runs, 0 failed" in calm.stdout, calm.stdout
    (folder / "run.py").write_text(DOUBLE.replace('* 2', '* (2 if example["input"]["n"] < 15 else 3)'))
    reports = ("--markdown", str(folder / "c.md"), "--junit", str(folder / "j.xml"), "--tag", "baseline")
    failed = hone.run("experiment", "run", "numbers", *command, *gate, *reports, status=10)
    assert "15 broken" in failed.stdout, failed.stdout
    assert "gate failed" in (folder / "c.md").read_text() and "<failure" in (folder / "j.xml").read_text()
    # The tag stays with the good one.
    hone.run("experiment", "run", "numbers", *command, "--min", "exact=0.9", status=10)
    again = hone.json("experiment", "compare", "baseline", "baseline", "--dataset", "numbers")
    assert again["metrics"][0]["base_mean"] == 1, again["metrics"]
    hone.run("experiment", "run", "numbers", "--fail-on", "regression", *command, status=2)
    hone.run("experiment", "run", "numbers", "--command", "exit 3", "--fail-on", "error", status=10)
    hone.run("experiment", "run", "numbers", "--command", "cat", "--evaluator", "none", status=5)


def test_errors_of_commands_are_kept_with_their_reason_and_resumed(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 1)
    reasons = {
        "echo why >&2; exit 3": "exited with status 3; stderr: why",
        "echo prose": "not one JSON value",
        "echo 1 2": "not one JSON value",
        "echo NaN": "not one JSON value",
        "true": "the output is empty",
        "kill -9 $$": "signal 9",
        "sleep 60": "took longer than 1000 ms",
        "yes": "ran into a limit: output",
        "no-such-program": "exited with status 127",
    }
    made = {
        command: start(client, {"kind": "command", "command": command, "timeout_ms": 1000 if command == "sleep 60" else 60000})
        for command in reasons
    }
    for command, reason in reasons.items():
        task = ended(client, made[command])
        assert (task["state"], task["failed_runs"]) == ("done", 1), task
        assert reason in runs_of(client, made[command])[0]["error"], (command, runs_of(client, made[command]))
    last = start(client, {"kind": "command", "command": "echo log; echo '{\"a\":1}'", "last_line": True})
    ended(client, last)
    assert runs_of(client, last)[0]["output"] == {"a": 1}
    # A resume tries again what failed.
    resumed = hone.json("experiment", "resume", made["echo prose"])
    assert resumed["failed_runs"] == 1 and resumed["attempt_at"] > resumed["created_at"], resumed
    for body in (
        {"task": {"kind": "command"}},
        {"task": {"kind": "shell", "command": "x"}},
        {"task": {"kind": "command", "command": "x", "files": {"../x": ""}}},
        {"task": {"kind": "http", "url": "file:///etc/passwd"}},
        {"task": {"kind": "command", "command": "x"}, "concurrency": 0},
        {},
    ):
        fresh = client.must("POST", "/v1/datasets/numbers/experiments", {}).data["id"]
        refused = client.post(f"/v1/experiments/{fresh}/start", body)
        assert refused.status == 400, (body, refused.text)
        assert client.get(f"/v1/experiments/{fresh}/task").status == 404
    assert client.post(f"/v1/experiments/{last}/start", {"task": {"kind": "command", "command": "x"}}).status == 409


def test_runs_of_a_client_are_evaluated_and_evals_that_fail_are_no_scores(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 5)
    made = client.must("POST", "/v1/datasets/numbers/experiments", {}).data["id"]
    times = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}
    for n, example in enumerate(client.must("GET", "/v1/datasets/numbers/examples").data["examples"]):
        body = {"dataset_example_id": example["node_id"], "repetition_number": 1, "output": n * 2 if n < 4 else "?"}
        client.must("POST", f"/v1/experiments/{made}/runs", body | times)
    evaluator(hone, folder)
    number = "def evaluate(arguments):\n    return abs(arguments['got'] - arguments['want'])"
    evaluator(hone, folder, "distance", number, "--range", "0..1", "--map", "got=output", "--map", "want=reference.answer")
    evaluator(hone, folder, "missing", number, "--range", "0..1", "--map", "got=output.nothing")
    names = [word for name in ("exact", "distance", "missing") for word in ("--evaluator", name)]
    task = hone.json("experiment", "evaluate", made, *names)
    counts = {each["name"]: (each["evals"], each["failed_evals"]) for each in task["evaluators"]}
    assert counts == {"exact": (5, 0), "distance": (4, 1), "missing": (0, 5)}, counts
    rows = client.must("GET", f"/v1/experiments/{made}/json").json
    evals = {name: [a for row in rows for a in row["annotations"] if a["name"] == name] for name in counts}
    assert all(a["score"] is None and "output.nothing" in a["error"] for a in evals["missing"]), evals["missing"]
    assert [a["score"] for a in evals["exact"]] == [1, 1, 1, 1, 0], evals["exact"]


class Application(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        example = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(example)
        n = example["input"]["n"]
        status, body = {1: (500, b"broken"), 2: (302, b""), 3: (200, b"prose")}.get(n, (200, json.dumps(n * 2).encode()))
        self.send_response(status)
        self.send_header("Location", "http://169.254.169.254/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_an_address_is_posted_to_within_the_outgoing_rules(binary, stack):
    application = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
    application.seen = []
    threading.Thread(target=application.serve_forever, daemon=True).start()
    stack.callback(application.shutdown)
    place = f"127.0.0.1:{application.server_port}"
    server, client, hone, folder = laboratory(binary, stack, 5, "--egress-private-hosts", place)
    task = hone.json("experiment", "run", "numbers", "--address", f"http://{place}/run")["task"]
    assert (task["state"], task["successful_runs"], task["failed_runs"]) == ("done", 2, 3), task
    errors = sorted(run["error"] for run in runs_of(client, task["experiment_id"]) if run["error"])
    assert "status 302 (redirects are not followed)" in errors[0] and "status 500: broken" in errors[1], errors
    assert "not one JSON value" in errors[2], errors
    assert len(application.seen) == 5 and "answer" not in json.dumps(application.seen), application.seen
    elsewhere = hone.json("experiment", "run", "numbers", "--address", f"http://127.0.0.1:{application.server_port + 1}/")["task"]
    errors = {run["error"] for run in runs_of(client, elsewhere["experiment_id"])}
    assert len(errors) == 1 and "egress_private_hosts" in errors.pop(), errors
    assert len(application.seen) == 5


def test_a_command_runs_the_files_of_a_commit(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 3)
    space = client.must("GET", "/v1/spaces").data[0]["id"]
    work = folder / "work"
    work.mkdir()
    git(work, "init", "--quiet", "-b", "main", ".")
    (work / "run.sh").write_text("#!/bin/sh\necho 1\n")
    (work / "run.sh").chmod(0o755)
    git(work, "add", ".")
    git(work, "commit", "--quiet", "-m", "one")
    old = git(work, "rev-parse", "HEAD").strip()
    (work / "run.sh").write_text("#!/bin/sh\necho 2\n")
    git(work, "commit", "--quiet", "-am", "two")
    place = server.data_dir / "repos" / space
    place.mkdir(parents=True)
    git(folder, "clone", "--quiet", "--bare", str(work), str(place / "app.git"))
    client.must("POST", "/v1/repos", {"url": f"file://{place}/app.git", "name": "app"})
    for options, output in ((("--repo", "app"), 2), (("--repo", "app", "--ref", old), 1)):
        task = hone.json("experiment", "run", "numbers", "--command", "./run.sh", *options)["task"]
        assert (task["state"], task["successful_runs"]) == ("done", 3), task
        assert {run["output"] for run in runs_of(client, task["experiment_id"])} == {output}
        assert output == 2 or task["commit_name"] == old, task
    gone = hone.run("experiment", "run", "numbers", "--command", "./run.sh", "--repo", "app", "--ref", "none", status=1)
    assert "none of app" in gone.stderr, gone.stderr
    hone.run("experiment", "run", "numbers", "--command", "x", "--repo", "unknown", status=5)


def test_a_killed_server_loses_and_doubles_nothing(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 60)
    evaluator(hone, folder, "exact", EXACT.replace("def", "import time\ndef", 1).replace('    if', '    time.sleep(0.02)\n    if', 1))
    task = {"kind": "command", "command": "sleep 0.1; python3 double.py", "files": {"double.py": DOUBLE}}
    made = start(client, task, evaluators=["exact"], experiment={"repetitions": 2})

    def counts():
        found = client.must("GET", f"/v1/experiments/{made}/task").data
        return found["successful_runs"], found["evaluators"][0]["evals"], found["state"]

    wait_until(lambda: counts()[0] >= 20, "some runs are there")
    server.kill()
    server.start()
    client = server.client(client.key)
    between = counts()
    assert 20 <= between[0] < 120, between
    wait_until(lambda: counts()[0] == 120, "all runs are there")
    server.kill()
    server.start()
    client = server.client(client.key)
    done = ended(client, made)
    assert done["state"] == "done" and done["failed_runs"] == 0, done
    runs = runs_of(client, made)
    keys = {(run["dataset_example_id"], run["repetition_number"]) for run in runs}
    assert len(runs) == len(keys) == 120 and done["evaluators"][0]["evals"] == 120, done
    rows = client.must("GET", f"/v1/experiments/{made}/json").json
    assert all([a["name"] for a in row["annotations"]] == ["exact"] and row["annotations"][0]["score"] == 1 for row in rows)
    assert not list((server.data_dir / "experiments").iterdir()), "short-lived files are left"


def test_an_experiment_is_stopped_resumed_and_ended_by_its_budget(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 40)
    slow = {"kind": "command", "command": "sleep 0.3; cat"}
    made = start(client, slow, concurrency=2)
    wait_until(lambda: client.must("GET", f"/v1/experiments/{made}/task").data["successful_runs"] >= 2, "it runs")
    hone.run("experiment", "stop", made)
    hone.run("experiment", "stop", made, status=6)

    def quiet():
        before = client.must("GET", f"/v1/experiments/{made}/task").data["successful_runs"]
        time.sleep(1)
        return before == client.must("GET", f"/v1/experiments/{made}/task").data["successful_runs"]

    wait_until(quiet, "no further run begins")
    stopped = client.must("GET", f"/v1/experiments/{made}/task").data
    assert stopped["state"] == "stopped" and 0 < stopped["successful_runs"] < 40, stopped
    assert hone.json("experiment", "resume", made)["successful_runs"] == 40
    short = start(client, slow, concurrency=1, budget_seconds=2)
    task = ended(client, short)
    assert task["state"] == "budget_stopped" and 0 < task["successful_runs"] < 40, task
    # An experiment that is deleted while it runs ends its work.
    gone = start(client, slow)
    client.must("DELETE", f"/v1/experiments/{gone}", status=204)
    assert client.get(f"/v1/experiments/{gone}/task").status == 404
    again = start(client, {"kind": "command", "command": "cat"})
    assert ended(client, again)["successful_runs"] == 40


class WaitingApplication(http.server.BaseHTTPRequestHandler):
    """Answers nobody before `open` is set."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.open.wait(60)
        self.send_response(200)
        self.send_header("Content-Length", "1")
        self.end_headers()
        self.wfile.write(b"1")

    def log_message(self, *_):
        pass


def test_two_servers_share_experiments_and_double_none(binary, stack):
    application = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WaitingApplication)
    application.open = threading.Event()
    threading.Thread(target=application.serve_forever, daemon=True).start()
    stack.callback(application.shutdown)
    place = f"127.0.0.1:{application.server_port}"
    database = Postgres(stack)
    flags = ("--database-url", database.url, "--egress-private-hosts", place)
    first, client, hone, folder = laboratory(binary, stack, 20, *flags)
    second = stack.enter_context(Server(binary, None, *flags))
    task = {"kind": "http", "url": f"http://{place}/run"}
    made = [start(client, task, experiment={"repetitions": 2}) for _ in range(6)]

    # No experiment ends before the application answers, so six of them need both servers.
    def shared():
        return len(database.sql("hone", "SELECT DISTINCT server FROM experiment_tasks WHERE server <> ''").split()) == 2

    wait_until(shared, "both servers have experiments")
    application.open.set()
    wait_until(lambda: client.must("GET", f"/v1/experiments/{made[0]}/task").data["successful_runs"] >= 5, "runs are stored")
    first.kill()
    other = second.client(client.key)
    for id in made:
        task = ended(other, id)
        assert (task["state"], task["successful_runs"]) == ("done", 40), task
        runs = runs_of(other, id)
        assert len({(run["dataset_example_id"], run["repetition_number"]) for run in runs}) == len(runs) == 40


def test_a_schema_is_compared_with_every_upload_and_names_the_row(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 3)
    schema = {"input": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}}}}
    file = folder / "schema.json"
    file.write_text(json.dumps(schema))
    hone.run("dataset", "schema", "numbers", str(file))
    assert hone.json("dataset", "schema", "numbers") == {"schema": schema}
    rows = folder / "rows.jsonl"
    rows.write_text('{"input":{"n":7}}\n{"input":{"n":"seven"}}\n')
    refused = hone.run("dataset", "push", "numbers", str(rows), status=8)
    assert "example 2: input does not fit the schema of the dataset: n: " in refused.stderr, refused.stderr
    for inputs, reason in (([{"n": 1}, {}], "example 2: "), ([{"n": -1}], "example 1: ")):
        body = {"action": "append", "name": "numbers", "inputs": inputs}
        refused = client.post("/v1/datasets/upload", body)
        assert refused.status == 422 and reason in refused.json["detail"], refused.text
    assert client.must("GET", "/v1/datasets/numbers").data["example_count"] == 3
    rows.write_text('{"input":{"n":7}}\n')
    hone.run("dataset", "push", "numbers", str(rows))
    # One that the examples do not fit is refused, and one that could cost without bound.
    put = "/v1/datasets/numbers/schema"
    narrow = {"schema": {"input": {"properties": {"n": {"maximum": 2}}}}}
    assert client.call("PUT", put, narrow).status == 409
    for bad in ({"input": {"pattern": "(a+)+$"}}, {"input": {"$ref": "#"}}, {"inputs": {}}, {}, {"input": 7}, {"input": {"type": 7}}):
        refused = client.call("PUT", put, {"schema": bad})
        assert refused.status == 400, (bad, refused.text)
    hone.run("dataset", "schema", "numbers", "--clear")
    client.must("POST", "/v1/datasets/upload", {"action": "append", "name": "numbers", "inputs": [{"other": 1}]})


def test_datasets_of_other_tools_are_imported_and_shown_first(binary, stack):
    server, client, hone, folder = laboratory(binary, stack, 1)
    files = {
        "promptfoo": "tests:\n  - vars:\n      city: [Rome, Oslo]\n    assert:\n      - type: equals\n        value: yes it is\n",
        "openai-evals": '{"input":[{"role":"user","content":"2+2"}],"ideal":"4"}\n{"item":{"q":"why","ground_truth":"so"}}\n',
        "langfuse": json.dumps({"data": [{"id": "a", "input": {"q": 1}, "expectedOutput": {"text": "x"}}, {"id": "b", "input": "t"}]}),
        "langsmith": '{"id":"a","inputs":{"q":1},"outputs":{"text":"x"},"split":"test"}\n{"inputs":{"q":2},"metadata":{"k":1}}\n',
    }
    for tool, text in files.items():
        file = folder / tool
        file.write_text(text)
        shown = hone.json("dataset", "import", tool, str(file), "--from", tool, "--dry-run")
        assert len(shown) == 2 and client.get(f"/v1/datasets/{tool}").status == 404, shown
        stored = hone.json("dataset", "import", tool, str(file), "--from", tool)
        assert stored["num_created_examples"] == 2, stored
        pulled = [json.loads(line) for line in hone.run("dataset", "pull", tool).stdout.splitlines()]
        for given, there in zip(shown, pulled, strict=True):
            assert all(there[part] == given[part] for part in ("input", "output", "metadata")), (given, there)
        if tool == "langsmith":
            assert pulled[0]["splits"] == ["test"] and pulled[0]["id"] == "a", pulled
    (folder / "bad").write_text('{"inputs":{"q":1}}\n{"outputs":{}}\n')
    refused = hone.run("dataset", "import", "bad", str(folder / "bad"), "--from", "langsmith", status=8)
    assert "row 2: it has no inputs" in refused.stderr, refused.stderr
    assert client.get("/v1/datasets/bad").status == 404


class CountingApplication(WaitingApplication):
    """Counts the requests that it has not answered yet."""

    def do_POST(self):
        with self.server.lock:
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)
        super().do_POST()
        with self.server.lock:
            self.server.now -= 1


def test_lanes_of_experiments_have_half_of_the_places_and_runs_go_first(binary, stack):
    application = http.server.ThreadingHTTPServer(("127.0.0.1", 0), CountingApplication)
    application.open, application.lock, application.now, application.most = threading.Event(), threading.Lock(), 0, 0
    threading.Thread(target=application.serve_forever, daemon=True).start()
    stack.callback(application.shutdown)
    stack.callback(application.open.set)
    place = f"127.0.0.1:{application.server_port}"
    shop = Shop(binary, stack, "--run-places", "4", "--run-places-per-space", "4", "--egress-private-hosts", place)
    client = shop.client
    fill(client, 20)
    task = {"kind": "http", "url": f"http://{place}/run"}
    made = [start(client, task, concurrency=8) for _ in range(2)]
    wait_until(lambda: application.now == 2, "both places of experiments are taken")
    # Runs have the others, also while the experiments wait for more.
    runs = [shop.start(*shell("sleep 600"))["id"] for _ in range(3)]
    for id in runs[:2]:
        shop.until(id, "running")

    def waits():
        return client.must("GET", f"/v1/runs/{runs[2]}").data["reason"]

    assert "experiments have 2 of them" in wait_until(waits, "the third run states what it waits for")
    # A lane that ends makes room for the run that waits, not for the next example.
    application.open.set()
    shop.until(runs[2], "running")
    for id in runs:
        client.must("POST", f"/v1/runs/{id}/cancel")
    for id in made:
        assert (ended(client, id)["state"], ended(client, id)["successful_runs"]) == ("done", 20)
    assert application.most == 2, application.most


def import_spans(client, count):
    """Spans of the last hour in the project `past`, every tenth failed."""
    begin = time.time() - 3600
    lines = []
    for n in range(count):
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin + n * 3000 / count))
        status = "error" if n % 10 == 0 else "ok"
        lines.append(
            f'{{"trace_id":"{n // 10 + 1:032x}","span_id":"{n + 1:016x}","name":"step","start_time":"{moment}","end_time":"{moment}","status":"{status}"}}'
        )
    headers = {"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"}
    client.must("POST", "/v1/projects", {"name": "past"})
    sent = client.post("/v1/projects/past/import?format=jsonl", gzip.compress("\n".join(lines).encode(), 1), headers)
    assert sent.status == 200 and sent.data["accepted"] == count, sent.text


def test_a_killed_server_completes_a_rule_over_past_spans_and_doubles_none(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client(key_of(server))
    count = 60_000
    import_spans(client, count)
    rule = {"name": "errors", "project": "past", "condition": "status = error", "other_label": "ok", "backfill_hours": 24}
    made = client.must("POST", "/v1/evaluators", rule).data["id"]
    for looks in (0, 2, 8, 30, 100):  # the later, the more of its work is done when the server dies
        for _ in range(looks):
            client.must("GET", f"/v1/evaluators/{made}")
        server.kill()
        server.start()
        client = server.client(client.key)
        client.must("PATCH", f"/v1/evaluators/{made}", {"backfill_hours": 24})

    def evals():
        sql = "SELECT count() AS n, uniqExact(target_id) AS spans, countIf(label = 'fail') AS failed FROM evals"
        found = client.must("POST", "/v1/sql", {"project": "past", "sql": sql}).data[0]
        return tuple(int(found[name]) for name in ("n", "spans", "failed"))

    wait_until(lambda: evals() == (count, count, count // 10), "every span has one eval")
    wait_until(lambda: client.must("GET", f"/v1/evaluators/{made}").data["last_at"], "the rule has ended")
    assert evals() == (count, count, count // 10)
    for span in range(1, count, 997):
        history = client.must("GET", f"/v1/projects/past/eval_history?target_id={span:016x}").data
        assert len(history) == 1, history
