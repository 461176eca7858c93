"""Experiments that run recorded traces again, and rules over the traces of runs."""

import http.server
import json
import pathlib
import tempfile
import threading
import zipfile

from experiments import ended, laboratory, runs_of, start
from server import wait_until
from telemetry import otlp_json

# Adds the recorded stock to the question, and calls nothing.
APPLICATION = """
import json, sys
example = json.load(sys.stdin)
stock = {tool["name"]: tool.get("result", tool.get("error")) for tool in example.get("replay", {}).get("tools", [])}
print(json.dumps({"question": example["input"]["question"], "stock": stock}))
"""


def span(trace, number, parent, kind, name, **more):
    return (trace, number, parent, name, {"openinference.span.kind": kind} | {key.replace("_", ".", 1): value for key, value in more.items()})


def recorded(binary, stack, *flags):
    """A project `shop` with five traces, and a dataset `asked` of their roots and of one example without a trace."""
    server, client, hone, folder = laboratory(binary, stack, 1, *flags)
    question = json.dumps({"question": "how many?"})
    spans = [
        span(1, 0x11, 0, "AGENT", "ask", input_value=question, output_value='{"answer": 3}'),
        span(1, 0x12, 0x11, "TOOL", "stock", tool_name="stock", input_value='{"item": 7}', output_value='{"left": 3}'),
        span(1, 0x13, 0x12, "TOOL", "database", tool_name="database", input_value="{}", output_value='{"secret": 1}'),
        span(1, 0x14, 0x11, "TOOL", "price", tool_name="price", input_value="{}", output_value="9 EUR"),
        span(2, 0x21, 0, "AGENT", "ask", input_value=question, output_value='{"answer": 4}'),
        span(3, 0x31, 0, "AGENT", "ask", output_value='{"answer": 5}'),
        span(4, 0x41, 0, "AGENT", "ask", input_value=question, output_value='{"answer": 6}', session_id="chat"),
        span(5, 0x51, 0, "AGENT", "bad", input_value=question),
        span(5, 0x52, 0x51, "TOOL", "stock", tool_name="stock", input_value="{}"),
    ]
    client.must("POST", "/v1/traces", otlp_json(spans))
    # The turn before the one of trace 4, in the same chat session, was earlier.
    before = otlp_json([span(6, 0x61, 0, "AGENT", "ask", input_value=question, output_value="{}", session_id="chat")])
    for one in before["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        one["startTimeUnixNano"] = str(int(one["startTimeUnixNano"]) - 60_000_000_000)
        one["endTimeUnixNano"] = str(int(one["endTimeUnixNano"]) - 60_000_000_000)
    client.must("POST", "/v1/traces", before)
    ids = [f"{number:016x}" for number in (0x11, 0x21, 0x31, 0x41, 0x51)]
    client.must("POST", "/v1/datasets/from_spans", {"project": "shop", "name": "asked", "span_ids": ids})
    client.must("POST", "/v1/datasets/upload", {"action": "append", "name": "asked", "inputs": [{"question": "typed"}]})
    return server, client, hone, folder


def by_trace(client, experiment):
    """What was replayed, by the number of the trace; None: without a trace."""
    found = client.must("GET", f"/v1/experiments/{experiment}/replays").data
    return {int(one["source_trace"], 16) if one["source_trace"] else None: one for one in found}


def test_recorded_traces_run_again_with_recorded_tools_and_the_rest_is_listed(binary, stack):
    server, client, hone, folder = recorded(binary, stack)
    (folder / "app.py").write_text(APPLICATION)
    command = ("--replay", "--command", "python3 app.py", "--file", str(folder / "app.py"), "--tools", "recorded")
    task = hone.json("experiment", "run", "asked", *command)["task"]
    assert (task["state"], task["successful_runs"], task["failed_runs"], task["not_replayed"]) == ("done", 2, 4, 4), task
    outputs = [run["output"] for run in runs_of(client, task["experiment_id"]) if not run["error"]]
    # What a stubbed tool had called itself is not offered; the input is the recorded one.
    assert sorted(outputs, key=str) == sorted(
        [
            {"question": "how many?", "stock": {"stock": {"left": 3}, "price": "9 EUR"}},
            {"question": "how many?", "stock": {}},
        ],
        key=str,
    ), outputs
    found = by_trace(client, task["experiment_id"])
    assert (found[1]["tools"], found[1]["tool_results"], found[1]["reason"]) == ("recorded", 2, ""), found[1]
    assert (found[2]["tools"], found[2]["tool_results"], found[2]["reason"]) == ("none", 0, ""), found[2]
    for trace, reason in ((3, "no recorded input"), (4, "continues the chat session chat"), (5, "no result of the tool stock"), (None, "not made from a span")):
        assert reason in found[trace]["reason"], found[trace]
    errors = [run["error"] for run in runs_of(client, task["experiment_id"]) if run["error"]]
    assert len(errors) == 4 and all(error.startswith("cannot be replayed: ") for error in errors), errors
    listed = hone.json("experiment", "replays", task["experiment_id"], "--not-replayed")
    assert len(listed) == 4 and all(one["reason"] for one in listed), listed
    shown = hone.run("experiment", "status", task["experiment_id"]).stdout
    assert "not replayed" in shown, shown


def test_recorded_outputs_are_evaluated_as_they_were(binary, stack):
    server, client, hone, folder = recorded(binary, stack)
    task = hone.json("experiment", "run", "asked", "--replay")["task"]
    # Without running anything, a missing input does not matter; a recorded failure is one.
    assert (task["successful_runs"], task["failed_runs"], task["not_replayed"]) == (4, 2, 1), task
    runs = runs_of(client, task["experiment_id"])
    assert sorted(run["output"]["answer"] for run in runs if not run["error"]) == [3, 4, 5, 6], runs
    assert sorted(run["trace_id"] for run in runs if run["trace_id"]) == [f"{n:032x}" for n in range(1, 6)], runs
    assert any(run["error"] and "the recorded run failed" in run["error"] for run in runs), runs


class Shop(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        example = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((example, self.headers["traceparent"]))
        body = json.dumps(len(example["replay"].get("tools", []))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def test_an_address_is_not_sent_what_could_have_effects_again(binary, stack):
    shop = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    shop.seen = []
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    stack.callback(shop.shutdown)
    place = f"127.0.0.1:{shop.server_port}"
    server, client, hone, folder = recorded(binary, stack, "--egress-private-hosts", place)
    address = ("--replay", "--address", f"http://{place}/")
    careful = hone.json("experiment", "run", "asked", *address)["task"]
    assert (careful["successful_runs"], careful["not_replayed"]) == (1, 5), careful
    assert "set replay_tools to recorded" in by_trace(client, careful["experiment_id"])[1]["reason"]
    assert len(shop.seen) == 1 and "tools" not in shop.seen[0][0]["replay"], shop.seen
    # The run has the trace that the application was asked to continue.
    traces = {run["trace_id"] for run in runs_of(client, careful["experiment_id"]) if not run["error"]}
    assert traces == {shop.seen[0][1].split("-")[1]}, (traces, shop.seen)
    stubs = hone.json("experiment", "run", "asked", *address, "--tools", "recorded")["task"]
    assert sorted(run["output"] for run in runs_of(client, stubs["experiment_id"]) if not run["error"]) == [0, 2]
    live = hone.json("experiment", "run", "asked", *address, "--tools", "live")["task"]
    found = by_trace(client, live["experiment_id"])
    assert (found[1]["tools"], found[1]["tool_results"]) == ("live", 0) and live["successful_runs"] == 3, found


def test_a_replay_that_could_not_run_is_refused(binary, stack):
    server, client, hone, folder = recorded(binary, stack)
    hone.run("experiment", "run", "numbers", "--replay", status=8)
    hone.run("experiment", "run", "asked", "--command", "cat", "--tools", "live", status=2)
    hone.run("experiment", "run", "asked", "--replay", "--command", "cat", "--tools", "some", status=8)
    made = client.must("POST", "/v1/datasets/asked/experiments", {}).data["id"]
    for task in ({"replay_tools": "recorded"}, {"command": "cat", "url": "http://example.com/"}, {"command": "cat", "replay_tools": "none"}, {"repo": "x"}):
        refused = client.post(f"/v1/experiments/{made}/start", {"task": {"kind": "replay"} | task})
        assert refused.status == 400, (task, refused.text)
    assert client.get(f"/v1/experiments/{made}/replays?cursor=%21").status == 400
    # A trace that is deleted afterwards is named as gone.
    project = client.must("GET", "/v1/projects").data[0]["name"]
    client.must("DELETE", f"/v1/projects/{project}/traces/{2:032x}", status=204)
    gone = start(client, {"kind": "replay", "command": "cat"}, "asked")
    ended(client, gone)
    assert "the trace is gone" in by_trace(client, gone)[2]["reason"], by_trace(client, gone)


def test_a_rule_evaluates_the_traces_of_runs_and_never_guesses(binary, stack):
    server, client, hone, folder = recorded(binary, stack)
    pass_or_fail = ("--label", "called", "--score", "0", "--else", "calm", "--else-score", "1")
    rule = hone.json("evaluator", "create", "tools", "--project", "shop", "--condition", "kind = tool", *pass_or_fail)
    hone.run("evaluator", "create", "prices", "--project", "shop", "--filter", "kind = tool", "--condition", 'tool = "price"', "--score", "1")
    names = ("--evaluator", "shop/tools", "--evaluator", "shop/prices")
    task = hone.json("experiment", "run", "asked", "--replay", *names)["task"]
    counts = {each["name"]: (each["number"], each["evals"], each["failed_evals"]) for each in task["evaluators"]}
    assert counts == {"tools": (1, 4, 0), "prices": (1, 4, 0)}, task
    rows = client.must("GET", f"/v1/experiments/{task['experiment_id']}/json").json
    found = {row["trace_id"]: {a["name"]: (a["label"], a["score"]) for a in row["annotations"]} for row in rows if not row["error"]}
    assert found[f"{1:032x}"] == {"tools": ("called", 0), "prices": ("fail", 1)}, found
    for quiet in (2, 3, 4):
        assert found[f"{quiet:032x}"] == {"tools": ("calm", 1), "prices": ("cannot_judge", None)}, found
    # A version that was fixed stays, also after a change; the id names a rule as well.
    hone.run("evaluator", "update", rule["id"], "--else", "quiet")
    again = hone.json("experiment", "run", "asked", "--replay", "--evaluator", f"{rule['id']}@1")["task"]
    rows = client.must("GET", f"/v1/experiments/{again['experiment_id']}/json").json
    assert {a["label"] for row in rows for a in row["annotations"]} == {"called", "calm"}, rows
    # Runs of a client: with a trace that is here, with one that is not, and without one.
    made = client.must("POST", "/v1/datasets/asked/experiments", {}).data["id"]
    times = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}
    traces = [f"{1:032x}", f"{99:032x}", None]
    for trace, example in zip(traces, client.must("GET", "/v1/datasets/asked/examples").data["examples"]):
        body = {"dataset_example_id": example["node_id"], "repetition_number": 1, "output": 1, "trace_id": trace}
        client.must("POST", f"/v1/experiments/{made}/runs", body | times)
    counted = hone.json("experiment", "evaluate", made, "--evaluator", "shop/tools")["evaluators"][0]
    assert (counted["evals"], counted["failed_evals"]) == (1, 2), counted
    errors = sorted(a["error"] for row in client.must("GET", f"/v1/experiments/{made}/json").json for a in row["annotations"] if a["error"])
    assert "has no trace" in errors[0] and "no spans here" in errors[1], errors
    # Refused: a command has no trace; a rule that does not exist, or in a project that does not.
    refused = hone.run("experiment", "run", "asked", "--command", "cat", "--evaluator", "shop/tools", status=8)
    assert "have no trace" in refused.stderr, refused.stderr
    for name in ("shop/none", "nowhere/tools", "tools"):
        hone.run("experiment", "run", "asked", "--replay", "--evaluator", name, status=5)


def wheel(folder, name, version, module):
    """A package as pip installs it."""
    information = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as packed:
        packed.writestr(f"{name}.py", module)
        packed.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        packed.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{information}/RECORD", "")


def test_packages_of_code_come_from_the_servers_folder_and_go_with_their_evaluator(binary, stack):
    packages = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    packages.chmod(0o755)
    wheel(packages, "doubled", "1.0", "def double(n):\n    return n * 2\n")
    for file in packages.iterdir():
        file.chmod(0o644)
    server, client, hone, folder = laboratory(binary, stack, 5, "--evaluator-packages-dir", str(packages))
    source = 'import doubled\ndef evaluate(document):\n    return doubled.double(document["input"]["n"]) == document["output"]'
    (folder / "doubles.py").write_text(source)
    code = ("--code", str(folder / "doubles.py"))
    made = hone.json("evaluator", "create", "doubles", *code, "--pip", "doubled==1.0")
    assert made["code"]["dependencies"]["pip"] == ["doubled==1.0"], made
    task = {"kind": "command", "command": "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"input\"][\"n\"] * 2)'"}
    done = ended(client, start(client, task, evaluators=["doubles"]))
    assert (done["state"], done["evaluators"][0]["evals"]) == ("done", 5), done
    layers = server.data_dir / "sandbox/layers"
    there = [each.name for each in layers.glob("v2-*/upper")]
    assert len(there) == 1, there
    # Without the package: the reason, not a score.
    hone.run("evaluator", "create", "missing", *code, "--pip", "doubled==2.0")
    missing = hone.json("evaluator", "test", "missing", "-", text='{"input":{"n":1},"output":2}')
    assert missing[0]["verdict"] is None and "doubled==2.0" in missing[0]["error"], missing
    for bad in ("--index-url=http://x", "a b", "a;b", "../x"):
        hone.run("evaluator", "create", "bad", *code, f"--pip={bad}", status=8)
    hone.run("evaluator", "create", "bad", *code, "--npm", "ajv@8.17.1", status=8)
    # The layer goes with the evaluator, at the next start.
    hone.run("evaluator", "delete", "doubles", "--yes")
    server.stop()
    server.start()
    wait_until(lambda: not list(layers.glob("v2-*/upper")), "the layer is removed")
