#!/usr/bin/env python3
"""Measures datasets and experiments with the real binary: evaluate.py build/release/hone [--rows 1000000].

Prints one JSON object: seconds to store and to read 20,000 examples (10 MB), seconds and peak memory of the server for an
import of many rows, seconds to compare two experiments of 10,000 runs, and seconds of an experiment with Phoenix' own
client, 5,000 examples and two evaluators; milliseconds of one document through a Python evaluator that was not running, and its
documents per second in batches; runs per second of the command `cat` in sandboxes, four at the same time; seconds until a rule
has evaluated spans of the last day; seconds from an acknowledged span to the eval of a model (a scripted one), and milliseconds of a
stored verdict.

Names with `_ratio` compare with a baseline that is measured in the same run: an import with the same rows in a bare SQLite table; the
server's peak memory of the whole import with that of a tenth of it (1: flat); a comparison with reading the runs of both
experiments; 5,000 examples of the client with ten times the time of 500 (1: linear); a rule with its preview, which only counts
the same spans. `machine` states how loud it was."""
import argparse
import contextlib
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

root = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(root / "tests/e2e"), str(root / "tests")]

from server import Server  # noqa: E402
from telemetry import key_of, otlp_json  # noqa: E402


def seconds(work):
    begin = time.monotonic()
    work()
    return round(time.monotonic() - begin, 2)


def peak_memory_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def upload_and_read(client):
    inputs = [{"question": f"question {n} " + "x" * 450} for n in range(20_000)]
    body = {"action": "create", "name": "twenty thousand", "inputs": inputs}
    return {
        "store_20000_examples_s": seconds(lambda: client.must("POST", "/v1/datasets/upload?sync=true", body)),
        "read_20000_examples_s": seconds(lambda: client.must("GET", "/v1/datasets/twenty%20thousand/examples")),
    }


def machine():
    """The load of one minute: near 0 before a benchmark on a quiet machine."""
    load = os.getloadavg()[0]
    return {"cores": os.cpu_count(), "load_before": round(load, 2), "is_quiet": load < 0.5}


def row(n):
    return f'{{"id":"row {n}","input":{{"question":"question {n} of many"}},"output":{{"n":{n}}}}}'


def push(server, key, folder, name, count):
    file = pathlib.Path(folder) / f"{name}.jsonl"
    with file.open("w") as out:
        out.writelines(row(n) + "\n" for n in range(count))
    command = [server.binary, "dataset", "push", name, str(file), "--timeout", "30m"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "HONE_URL": server.url, "HONE_API_KEY": key}
    return seconds(lambda: subprocess.run(command, env=environment, check=True, capture_output=True))


def bare_sqlite(folder, file):
    """The same rows, parsed and inserted into one table without an index beside the key."""
    with sqlite3.connect(pathlib.Path(folder) / "bare.db") as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE rows (id TEXT PRIMARY KEY, input TEXT, output TEXT)")
        with open(file) as lines:
            rows = (json.loads(line) for line in lines)
            database.executemany(
                "INSERT INTO rows VALUES (?, ?, ?)", ((r["id"], json.dumps(r["input"]), json.dumps(r["output"])) for r in rows)
            )


def import_rows(server, key, count):
    with tempfile.TemporaryDirectory() as folder:
        push(server, key, folder, "some", count // 10)
        tenth = peak_memory_mb(server.process.pid)
        taken = push(server, key, folder, "many", count)
        peak = peak_memory_mb(server.process.pid)
        bare = seconds(lambda: bare_sqlite(folder, pathlib.Path(folder) / "many.jsonl"))
    return {
        f"import_{count}_rows_s": taken,
        "server_peak_memory_mb": peak,
        "import_memory_ratio": round(peak / tenth, 2),
        "bare_sqlite_s": bare,
        "import_ratio": round(taken / bare, 2),
    }


def experiment(client, examples, passes):
    made = client.must("POST", "/v1/datasets/compared/experiments", {}).data["id"]
    times = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z"}
    for n, example in enumerate(examples):
        body = {"dataset_example_id": example["node_id"], "repetition_number": 1, "output": n} | times
        run = client.must("POST", f"/v1/experiments/{made}/runs", body).data["id"]
        eval = {"experiment_run_id": run, "name": "correct", "annotator_kind": "CODE", "result": {"score": passes(n)}}
        client.must("POST", "/v1/experiment_evaluations", eval | times)
    return made


def compare(client, count):
    inputs = [{"n": n} for n in range(count)]
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "compared", "inputs": inputs})
    examples = client.must("GET", "/v1/datasets/compared/examples").data["examples"]
    begin = time.monotonic()
    base = experiment(client, examples, lambda n: n % 10 / 10)
    sent = time.monotonic() - begin
    other = experiment(client, examples, lambda n: n % 9 / 10)
    path = f"/v1/experiments/compare?base={base}&other={other}"
    read = seconds_exactly(lambda: [client.must("GET", f"/v1/experiments/{one}/json") for one in (base, other)])
    compared = seconds_exactly(lambda: client.must("GET", path))
    return {
        "runs_and_evals_per_s": round(2 * count / sent),
        f"compare_2x{count}_runs_s": round(compared, 3),
        f"read_2x{count}_runs_s": round(read, 3),
        "compare_ratio": round(compared / read, 2),
    }


def phoenix_client(server, key):
    environment = os.environ | {"PHOENIX_HOST": server.url, "PHOENIX_API_KEY": key}

    def run(examples):
        command = ["node", str(root / "tests/phoenix_experiments.mjs"), f"by client {examples}", str(examples)]
        return seconds(lambda: subprocess.run(command, env=environment, check=True, capture_output=True))

    few = run(500)
    many = run(5000)  # ends with an error at the first refusal
    return {
        "phoenix_client_500_examples_2_evaluators_s": few,
        "phoenix_client_5000_examples_2_evaluators_s": many,
        "phoenix_client_ratio": round(many / (10 * few), 2),
    }


def rule_backfill(client, count):
    client.must("POST", "/v1/projects", {"name": "past"})
    now = time.time()
    for first in range(0, count, 50_000):
        lines = []
        for n in range(first, min(first + 50_000, count)):
            begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 3600 + n * 3000 / count))
            status = "error" if n % 10 == 0 else "ok"
            lines.append(
                f'{{"trace_id":"{n // 10 + 1:032x}","span_id":"{n + 1:016x}","name":"step","start_time":"{begun}",'
                f'"end_time":"{begun}","status":"{status}","attributes":{{"n":"{n}"}}}}'
            )
        packed = gzip.compress("\n".join(lines).encode(), 1)
        sent = client.post("/v1/projects/past/import?format=jsonl", packed, {"Content-Type": "application/octet-stream", "Content-Encoding": "gzip"})
        assert sent.status == 200 and sent.data["accepted"] == len(lines), sent.text
    rule = {"name": "errors", "project": "past", "condition": "status = error", "other_label": "ok"}
    preview = seconds_exactly(lambda: client.must("POST", "/v1/evaluator_preview", rule))
    begin = time.monotonic()
    made = client.must("POST", "/v1/evaluators", rule | {"backfill_hours": 24}).data["id"]
    while True:
        found = client.must("GET", f"/v1/evaluators/{made}").data
        assert not found["problem"], found
        if found["judged"] >= count:
            break
        time.sleep(0.05)
    taken = time.monotonic() - begin
    assert (found["judged"], found["matched"]) == (count, (count + 9) // 10), found
    evals = client.must("GET", "/v1/projects/past/span_rows?limit=1&filter=" + urllib.parse.quote('eval["errors"].label = "ok"'))
    assert len(evals.data) == 1, evals.text
    return {
        f"rule_backfill_{count}_spans_s": round(taken, 2),
        "rule_preview_s": round(preview, 2),
        "rule_backfill_ratio": round(taken / preview, 1),
    }


def queue_of_jobs(client, spans):
    """A backfill of a task that is off makes jobs and runs none: how many in a second."""
    source = "def evaluate(document):\n    return True"
    code = client.must("POST", "/v1/evaluators", {"name": "every", "kind": "code", "code": {"language": "python", "source": source}}).data["id"]
    task = client.must("POST", "/v1/eval_tasks", {"project": "past", "evaluator": code, "target": "span"}).data["id"]
    client.must("PATCH", f"/v1/eval_tasks/{task}", {"enabled": False})
    wanted = min(spans, 200_000)
    begin = time.monotonic()
    client.must("POST", f"/v1/eval_tasks/{task}/backfills", {"from": "2020-01-01T00:00:00Z", "most_targets": wanted})
    while client.must("GET", f"/v1/eval_tasks/{task}/backfills").data[0]["queued"] < wanted:
        assert time.monotonic() - begin < 300
        time.sleep(0.05)
    return {"jobs_made_per_s": round(wanted / (time.monotonic() - begin))}


def start_experiment(client, dataset, body):
    made = client.must("POST", f"/v1/datasets/{dataset}/experiments", {}).data["id"]
    client.must("POST", f"/v1/experiments/{made}/start", body)
    while True:
        task = client.must("GET", f"/v1/experiments/{made}/task").data
        if task["state"] not in ("queued", "running"):
            assert task["state"] == "done" and task["failed_runs"] == 0, task
            return task
        time.sleep(0.05)


def server_run(client, count):
    inputs = [{"n": n} for n in range(count)]
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "run", "inputs": inputs})
    source = "def evaluate(document):\n    return document['output'] is not None"
    body = {"name": "given", "kind": "code", "code": {"language": "python", "source": source}}
    evaluator = client.must("POST", "/v1/evaluators", body).data["id"]
    test = {"documents": [{"output": 1}]}
    cold = sorted(seconds_exactly(lambda: client.must("POST", f"/v1/evaluators/{evaluator}/test", test)) for _ in range(20))
    task = {"task": {"kind": "command", "command": "cat"}, "concurrency": 4}
    begin = time.monotonic()
    start_experiment(client, "run", task)
    runs = count / (time.monotonic() - begin)
    begin = time.monotonic()
    done = start_experiment(client, "run", task | {"evaluators": ["given"]})
    both = time.monotonic() - begin
    assert done["evaluators"][0]["evals"] == count, done
    return {
        "python_evaluator_one_document_ms_median": round(cold[len(cold) // 2] * 1000, 1),
        "command_cat_runs_per_s": round(runs),
        "evals_of_code_per_s": round(count / max(both - count / runs, 0.001)),
    }


def seconds_exactly(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def scripted_model(stack):
    """A provider that replies with a verdict, and its address."""
    script = root / "tests/scripted_model/scripted_model.py"
    process = subprocess.Popen([sys.executable, script, "--until-input-ends"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process.stdout.readline().split()[1]


def judges(server, client, key, stack):
    """Verdicts of a model in memory: the time from an acknowledged span to its eval, and a cached verdict."""
    url = scripted_model(stack)
    client.must("POST", "/v1/skills", {"name": "model", "type": "model", "secrets": {"API_KEY": "sk-planted-0123456789abcdef"},
                                       "variables": {"PROTOCOL": "openai", "BASE_URL": f"{url}/play/verdict_pass", "ALLOW_PRIVATE": "true"}})
    labels = {"type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}
    definition = {"model": {"name": "gpt-4o"}, "messages": [{"role": "user", "content": "{{input}} {{output}}"}], "output": labels}
    evaluator = client.must("POST", "/v1/evaluators", {"name": "polite", "kind": "llm", "llm": definition}).data["id"]
    document = {"input": "hello", "output": "good day"}
    test = {"documents": [document] * 20}
    client.must("POST", f"/v1/evaluators/{evaluator}/test", {"documents": [document]})
    cached = sorted(seconds_exactly(lambda: client.must("POST", f"/v1/evaluators/{evaluator}/test", test)) / 20 for _ in range(20))
    client.must("POST", "/v1/projects", {"name": "shop"})
    task = client.must("POST", "/v1/eval_tasks", {"project": "shop", "evaluator": evaluator, "target": "span", "tokens_per_day": 10**9}).data["id"]
    waits = []
    sender = server.client(key)
    for number in range(1, 41):
        attributes = {"input.value": f"hello {number}", "output.value": "good day"}
        assert sender.post("/v1/traces", otlp_json([(number, number, 0, "chat", attributes)])).status == 200
        begin = time.monotonic()
        while len(client.must("GET", f"/v1/eval_tasks/{task}/jobs?state=done&limit=1000").data) < number:
            assert time.monotonic() - begin < 60
            time.sleep(0.02)
        waits.append(time.monotonic() - begin)
    waits.sort()
    return {
        "span_to_eval_of_a_model_s_p95": round(waits[int(len(waits) * 0.95) - 1], 2),
        "span_to_eval_of_a_model_s_median": round(waits[len(waits) // 2], 2),
        "cached_verdict_ms_median": round(cached[len(cached) // 2] * 1000, 2),
    }


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("binary")
parser.add_argument("--rows", type=int, default=1_000_000)
parser.add_argument("--runs", type=int, default=10_000)
parser.add_argument("--server-runs", type=int, default=1000)
parser.add_argument("--spans", type=int, default=1_000_000)
parser.add_argument("--only-rule", action="store_true", help="only the rule over spans")
parser.add_argument("--only-judges", action="store_true", help="only models as evaluators")
parser.add_argument("--only-server-runs", action="store_true", help="leave out what clients do")
wanted = parser.parse_args()
if wanted.only_server_runs:
    with Server(wanted.binary, None, "--requests-per-minute", "0") as server:
        print(json.dumps(server_run(server.client(key_of(server)), wanted.server_runs), indent=2))
    sys.exit()
found = {"machine": machine()}
with contextlib.ExitStack() as stack:
    server = stack.enter_context(Server(wanted.binary, None, "--requests-per-minute", "0"))
    found |= judges(server, server.admin(), key_of(server), stack)
if wanted.only_judges:
    print(json.dumps(found, indent=2))
    sys.exit()
with Server(wanted.binary, None, "--requests-per-minute", "0") as server:
    client = server.client(key_of(server))
    found |= rule_backfill(client, wanted.spans)
    found |= queue_of_jobs(client, wanted.spans)
if wanted.only_rule:
    print(json.dumps(found, indent=2))
    sys.exit()
with Server(wanted.binary) as server:
    key = key_of(server)
    found |= import_rows(server, key, wanted.rows)
    found |= upload_and_read(server.client(key))
with Server(wanted.binary, None, "--requests-per-minute", "0") as server:
    key = key_of(server)
    found |= compare(server.client(key), wanted.runs)
with Server(wanted.binary, None, "--requests-per-minute", "0") as server:
    found |= server_run(server.client(key_of(server)), wanted.server_runs)
with Server(wanted.binary) as server:
    found |= phoenix_client(server, key_of(server))
print(json.dumps(found, indent=2))
