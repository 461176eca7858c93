#!/usr/bin/env python3
"""Measures datasets, experiments and evaluators with the real binary: evaluate.py build/release/hone [--only PART …].

Prints one JSON object. `rows` has what docs/evaluate.md promises: what was measured, the aim on two cores, the value, and
whether it is reached. `parts` has every number, and `failed` the parts that ended with an error (then the exit status is 1);
the others are measured all the same. `machine` states how loud it was. Each part has a server and a data directory of its own:

judges   seconds from an acknowledged span to the eval of a model (a scripted one), and milliseconds of a stored verdict, of
         requests with 20 documents; seconds from an acknowledged span to the eval of a rule; memory and processor of this
         server afterwards, when its span engine sleeps
rule     seconds until a rule has evaluated spans of the last day and its evals are found; jobs that a backfill finds and makes
         in a second, by a server
queue    jobs made, claimed one by one, and ended in a second, without a server, and the bootstrap of 10,000 pairs
         (bench/evaluate.cpp)
import   seconds to store and to read 20,000 examples (10 MB); seconds and peak memory of the server for an import of many rows
compare  seconds to compare two experiments of 10,000 runs, the first request and the median of five; documents per second of
         an evaluator of code over the runs of one of them, from the request to the stored evals
command  runs per second of the command `cat` in sandboxes, four at the same time; milliseconds of one document through a
         Python evaluator that was not running
client   seconds of an experiment with Phoenix' own client, 5,000 examples and two evaluators; it ends at the first refusal

Names with `_ratio` compare with a baseline that is measured in the same run: an import with the same rows in a bare SQLite table; the
server's peak memory of the whole import with that of a tenth of it (1: flat); a comparison with reading the runs of both
experiments; 5,000 examples of the client with ten times the time of 500 (1: linear); a rule with its preview, which only counts
the same spans."""
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
import traceback
import urllib.parse

root = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(root / "tests/e2e"), str(root / "tests")]

from server import Server, wait_until  # noqa: E402
from telemetry import key_of, otlp_json  # noqa: E402


def seconds(work):
    begin = time.monotonic()
    work()
    return round(time.monotonic() - begin, 2)


def memory_mb(pid, field="VmRSS"):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(field))


def peak_memory_mb(pid):
    return memory_mb(pid, "VmHWM")


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
    return seconds(lambda: subprocess.run(command, env=environment, check=True, capture_output=True, timeout=3600))


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
        "imported_rows": count,
        "import_s": taken,
        "import_peak_memory_mb": peak,
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
    compared = [seconds_exactly(lambda: client.must("GET", path)) for _ in range(5)]
    return {
        "runs_and_evals_per_s": round(2 * count / sent),
        "compared_runs": 2 * count,
        "compare_first_s": round(compared[0], 3),
        "compare_median_s": round(sorted(compared)[2], 3),
        "read_runs_s": round(read, 3),
        "compare_ratio": round(sorted(compared)[2] / read, 2),
    } | evals_of_code(client, base, count)


def evals_of_code(client, experiment, count):
    """From the request to the stored evals of runs that are there."""
    made = make_python(client, "given", "def evaluate(document):\n    return document['output'] is not None")
    begin = time.monotonic()
    client.must("POST", f"/v1/experiments/{experiment}/start", {"task": {"kind": "evaluate"}, "evaluators": [made]})
    done = ended_task(client, experiment)
    taken = time.monotonic() - begin
    assert done["evaluators"][0]["evals"] == count, done
    return {"evaluated_runs": count, "evals_of_code_per_s": round(count / taken)}


def make_python(client, name, source):
    body = {"name": name, "kind": "code", "code": {"language": "python", "source": source}}
    return client.must("POST", "/v1/evaluators", body).data["id"]


def ended_task(client, experiment):
    def over():
        task = client.must("GET", f"/v1/experiments/{experiment}/task").data
        return task["state"] not in ("queued", "running") and task

    task = wait_until(over, "the experiment ends", 1800)
    assert task["state"] == "done" and task["failed_runs"] == 0, task
    return task


def phoenix_client(server, key, count):
    environment = os.environ | {"PHOENIX_HOST": server.url, "PHOENIX_API_KEY": key}

    def run(examples):
        command = ["node", str(root / "tests/phoenix_experiments.mjs"), f"by client {examples}", str(examples)]
        return seconds(lambda: subprocess.run(command, env=environment, check=True, capture_output=True, timeout=3600))

    few = run(count // 10)
    many = run(count)  # ends with an error at the first refusal
    return {
        "phoenix_client_examples": count,
        "phoenix_client_of_a_tenth_s": few,
        "phoenix_client_s": many,
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
    # A rule leaves out what is not visible yet.
    wait_until(lambda: client.must("POST", "/v1/evaluator_preview", rule).data["spans"] >= count, "all spans are visible", 900)
    preview = seconds_exactly(lambda: client.must("POST", "/v1/evaluator_preview", rule))
    begin = time.monotonic()
    made = client.must("POST", "/v1/evaluators", rule | {"backfill_hours": 24}).data["id"]

    def over():
        found = client.must("GET", f"/v1/evaluators/{made}").data
        assert not found["problem"], found
        return found["judged"] >= count and found

    found = wait_until(over, "all spans are evaluated", 900)
    # The oldest span, which a query finds only by its eval.
    wanted = urllib.parse.quote('eval["errors"].label = "fail" and span_id = "0000000000000001"')
    evals = client.must("GET", "/v1/projects/past/span_rows?limit=1&filter=" + wanted)
    taken = time.monotonic() - begin
    assert (found["judged"], found["matched"]) == (count, (count + 9) // 10), found
    assert len(evals.data) == 1, evals.text
    return {
        "rule_backfill_spans": count,
        "rule_backfill_s": round(taken, 2),
        "rule_preview_s": round(preview, 2),
        "rule_backfill_ratio": round(taken / preview, 1),
    }


def queue_of_jobs(client, spans):
    """A backfill of a task that is off makes jobs and runs none: how many in a second."""
    code = make_python(client, "every", "def evaluate(document):\n    return True")
    task = client.must("POST", "/v1/eval_tasks", {"project": "past", "evaluator": code, "target": "span"}).data["id"]
    client.must("PATCH", f"/v1/eval_tasks/{task}", {"enabled": False})
    wanted = min(spans, 200_000)
    begin = time.monotonic()
    client.must("POST", f"/v1/eval_tasks/{task}/backfills", {"from": "2020-01-01T00:00:00Z", "most_targets": wanted})
    while client.must("GET", f"/v1/eval_tasks/{task}/backfills").data[0]["queued"] < wanted:
        assert time.monotonic() - begin < 300
        time.sleep(0.05)
    return {"jobs_found_and_made": wanted, "jobs_found_and_made_per_s": round(wanted / (time.monotonic() - begin))}


def queue_and_statistics(binary, jobs):
    program = pathlib.Path(binary).resolve().parent / "bench/bench_evaluate"
    run = lambda count: json.loads(subprocess.run([program, str(count)], check=True, stdout=subprocess.PIPE, timeout=3600).stdout)
    tenth, found = run(jobs // 10), run(jobs)
    return found | {"queue_memory_growth_mb": found["queue_memory_mb"] - tenth["queue_memory_mb"]}


def children(pid):
    return [int(one) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() for one in (task / "children").read_text().split()]


def idle(server):
    """Memory of the server and its children once the span engine sleeps, and of the processor in five seconds."""
    pid = server.process.pid
    names = lambda: [pathlib.Path(f"/proc/{one}/comm").read_text().strip() for one in children(pid)]
    begin = time.monotonic()
    while any("engine" in name for name in names()):
        assert time.monotonic() - begin < 120, names()
        time.sleep(0.2)
    ticks = lambda: sum(int(number) for number in pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ")[1].split()[11:13])
    before = ticks()
    time.sleep(5)
    used = (ticks() - before) / os.sysconf("SC_CLK_TCK")
    return {"idle_memory_mb": memory_mb(pid) + sum(memory_mb(one) for one in children(pid)), "idle_processor_percent": round(used / 5 * 100, 2)}


def rule_online(server, client, key):
    """A rule is applied every minute; the span arrives after it was applied, so that it waits longest."""
    rule = {"name": "online", "project": "shop", "condition": "status = error", "label": "bad", "other_label": "good"}
    made = client.must("POST", "/v1/evaluators", rule).data["id"]
    wait_until(lambda: client.must("GET", f"/v1/evaluators/{made}").data["last_at"], "the rule is applied", 120)
    assert server.client(key).post("/v1/traces", otlp_json([(9_000_001, 9_000_001, 0, "waits for the rule", {})])).status == 200
    begin = time.monotonic()
    wanted = "/v1/projects/shop/span_rows?limit=1&filter=" + urllib.parse.quote('name = "waits for the rule" and eval["online"].label = "good"')
    while not client.must("GET", wanted).data:
        assert time.monotonic() - begin < 180
        time.sleep(0.5)
    return {"span_to_eval_of_a_rule_s": round(time.monotonic() - begin, 1)}


def server_run(client, count):
    inputs = [{"n": n} for n in range(count)]
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "run", "inputs": inputs})
    evaluator = make_python(client, "given", "def evaluate(document):\n    return document['output'] is not None")
    test = {"documents": [{"output": 1}]}
    cold = sorted(seconds_exactly(lambda: client.must("POST", f"/v1/evaluators/{evaluator}/test", test)) for _ in range(20))
    made = client.must("POST", "/v1/datasets/run/experiments", {}).data["id"]
    begin = time.monotonic()
    client.must("POST", f"/v1/experiments/{made}/start", {"task": {"kind": "command", "command": "cat"}, "concurrency": 4})
    ended_task(client, made)
    return {
        "python_evaluator_one_document_ms_median": round(cold[len(cold) // 2] * 1000, 1),
        "command_cat_runs": count,
        "command_cat_runs_per_s": round(count / (time.monotonic() - begin)),
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
    stored = client.must("POST", f"/v1/evaluators/{evaluator}/test", test).data
    assert all(one["cached"] and one["tokens"] == 0 for one in stored), stored
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


def part_judges(binary, wanted):
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0", "--engine-idle-stop", "10s"))
        found = judges(server, server.admin(), key_of(server), stack)
        found |= rule_online(server, server.admin(), key_of(server))
        return found | idle(server)


def part_rule(binary, wanted):
    with Server(binary, None, "--requests-per-minute", "0") as server:
        client = server.client(key_of(server))
        found = rule_backfill(client, wanted.spans)
        before = peak_memory_mb(server.process.pid)
        found |= queue_of_jobs(client, wanted.spans)
        return found | {"jobs_made_memory_mb": peak_memory_mb(server.process.pid) - before}


def part_queue(binary, wanted):
    return queue_and_statistics(binary, wanted.jobs)


def part_import(binary, wanted):
    with Server(binary) as server:
        key = key_of(server)
        return import_rows(server, key, wanted.rows) | upload_and_read(server.client(key))


def part_compare(binary, wanted):
    with Server(binary, None, "--requests-per-minute", "0") as server:
        return compare(server.client(key_of(server)), wanted.runs)


def part_command(binary, wanted):
    with Server(binary, None, "--requests-per-minute", "0") as server:
        return server_run(server.client(key_of(server)), wanted.server_runs)


def part_client(binary, wanted):
    with Server(binary) as server:
        return phoenix_client(server, key_of(server), wanted.client_examples)


PARTS = {
    "judges": part_judges,
    "rule": part_rule,
    "queue": part_queue,
    "import": part_import,
    "compare": part_compare,
    "command": part_command,
    "client": part_client,
}

# What is measured, the number of a part, and the aim on two cores; `ends`: only that it came to its end.
ROWS = [
    ("a rule over 1,000,000 past spans, evals found", "rule_backfill_s", "<", 10),
    ("one document through Python that was not running, ms", "python_evaluator_one_document_ms_median", "<", 60),
    ("documents through code in batches, per second", "evals_of_code_per_s", ">", 500),
    ("acknowledged span to eval of a rule, s", "span_to_eval_of_a_rule_s", "<", 65),
    ("acknowledged span to eval of a model, s, p95", "span_to_eval_of_a_model_s_p95", "<", 3),
    ("jobs made per second, in a queue of 1,000,000", "queue_adds_per_s", ">", 20_000),
    ("jobs claimed per second, in a queue of 1,000,000", "queue_claims_per_s", ">", 2_000),
    ("memory of 1,000,000 jobs more than of 100,000, MB", "queue_memory_growth_mb", "<", 10),
    ("jobs found and made per second, by a server", "jobs_found_and_made_per_s", ">", 20_000),
    ("20,000 examples stored, s", "store_20000_examples_s", "<", 1),
    ("20,000 examples read, s", "read_20000_examples_s", "<", 1),
    ("peak memory of the server, import of 1,000,000 rows, MB", "import_peak_memory_mb", "<", 300),
    ("Phoenix' client, 5,000 examples, 2 evaluators, no refusal, s", "phoenix_client_s", "ends", None),
    ("two experiments of 10,000 runs compared, first request, s", "compare_first_s", "<", 0.2),
    ("two experiments of 10,000 runs compared, median, s", "compare_median_s", "<", 0.2),
    ("bootstrap of 10,000 pairs, 10,000 times, s", "bootstrap_10000x10000_s", "<", 1),
    ("runs of the command cat per second, 4 at the same time", "command_cat_runs_per_s", ">", 100),
    ("a stored verdict, ms, without tokens", "cached_verdict_ms_median", "<", 1),
    ("idle memory with a rule and a task, span engine asleep, MB", "idle_memory_mb", "<", 100),
]


def compared_with_aims(numbers, is_whole):
    """Null instead of true or false: the load was smaller than the one of the aim."""
    rows = []
    for what, name, sign, aim in ROWS:
        value = numbers.get(name)
        is_reached = value is not None and (sign == "ends" or (value < aim if sign == "<" else value > aim))
        words = "comes to its end" if aim is None else f"{sign} {aim}"
        rows.append({"what": what, "aim": words, "measured": value, "is_reached": is_reached if is_whole else None})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="only these parts")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the import")
    parser.add_argument("--runs", type=int, default=10_000, help="of each experiment that is compared")
    parser.add_argument("--server-runs", type=int, default=1000, help="of the command")
    parser.add_argument("--client-examples", type=int, default=5000, help="of Phoenix' client")
    parser.add_argument("--spans", type=int, default=1_000_000, help="that the rule evaluates")
    parser.add_argument("--jobs", type=int, default=1_000_000, help="of the queue")
    wanted = parser.parse_args()
    found = {"machine": machine(), "parts": {}, "failed": {}}
    numbers = {}
    for name in wanted.only:
        print(f"evaluate: {name} …", file=sys.stderr, flush=True)
        begin = time.monotonic()
        try:
            part = PARTS[name](wanted.binary, wanted)
        except Exception as error:  # the other parts are measured all the same
            traceback.print_exc()
            found["failed"][name] = f"{type(error).__name__}: {error}"[:2000]
            continue
        numbers |= part
        found["parts"][name] = part | {"took_s": round(time.monotonic() - begin, 1)}
    sizes = ("rows", "runs", "server_runs", "client_examples", "spans", "jobs")
    found["has_whole_load"] = all(getattr(wanted, size) >= parser.get_default(size) for size in sizes)
    rows = compared_with_aims(numbers, found["has_whole_load"])
    found["rows"] = [row for row in rows if row["measured"] is not None or len(wanted.only) == len(PARTS)]
    marks = {True: "ok ", False: "NOT", None: " ? "}
    for row in found["rows"]:
        print(f"{marks[row['is_reached']]}  {row['what']}: {row['measured']} (aim {row['aim']})", file=sys.stderr)
    print(json.dumps(found, indent=2))
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
