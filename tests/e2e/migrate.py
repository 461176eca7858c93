"""`hone migrate spans`: from the embedded engine of a data directory into a ClickHouse, with kill -9 in the middle.

There is no ClickHouse server to test with: the target is our own engine behind the gate of servers.py, which serves the
part of ClickHouse's HTTP interface that Hone uses.
"""

import json
import pathlib
import subprocess
import threading

from drop_in import log_record, logs_json
from server import PATIENCE, Server, run, wait_until
from servers import KEY, USER, Gate, SpanStore
from telemetry import otlp_json

DAY = 86_400_000_000_000
SPANS = 300


class HeldStore(SpanStore):
    """`hold(n)`: the n-th insert of spans from now waits until it is let go, and so may arrive late."""

    def open_gate(self, stack):
        gate = super().open_gate(stack)
        gate.RequestHandlerClass = HeldGate
        gate.left, gate.lock, gate.is_held, gate.go_on, gate.is_over = 0, threading.Lock(), threading.Event(), threading.Event(), threading.Event()
        return gate

    def hold(self, number):
        gate = self.gates[0]
        gate.left = number
        gate.is_held.clear()
        gate.go_on.clear()
        return gate


class HeldGate(Gate):
    def do_POST(self):
        if "INSERT+INTO+hone.spans" in self.path.replace("%20", "+"):
            with self.server.lock:
                self.server.left -= 1
                is_it = self.server.left == 0
            if is_it:
                self.server.is_held.set()
                assert self.server.go_on.wait(PATIENCE)
                try:
                    super().do_POST()
                except OSError:
                    pass  # the command was killed meanwhile: the response has no reader
                self.server.is_over.set()
                return
        super().do_POST()


def some_spans(first, days_ago):
    body = otlp_json([(first + i // 5, first + i, 0, "bad" if i % 7 == 0 else "chat",
                       {"input.value": f"question {first + i} 'quoted\\' \n line", "user.id": f"user {i % 9}"}) for i in range(SPANS)])
    for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for field in ("startTimeUnixNano", "endTimeUnixNano"):
            span[field] = str(int(span[field]) - days_ago * DAY)
    return body


def migrate(binary, data_dir, store, *more, url=None):
    words = ("migrate", "spans", "--to", url or store.url, "--data-dir", data_dir, "--clickhouse-user", USER, *more)
    return run(binary, *words, environment={"HONE_CLICKHOUSE_PASSWORD": KEY})


def report_of(done, code=0):
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout)


def states(report):
    return {(part["table"], part["partition"]): part["state"] for part in report["partitions"]}


def test_stored_spans_move_into_a_clickhouse_although_the_move_is_killed(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    key = admin.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "member"}).data["key"]
    sender = server.client(key)
    for day in range(4):
        assert sender.post("/v1/traces", some_spans(1 + day * 1000, day)).status == 200
    assert sender.post("/v1/logs", logs_json([log_record(0, 0, "started", {"a": "b"}, {"stringValue": f"line {i}"}) for i in range(20)])).status == 200
    counted = lambda: len(admin.must("GET", "/v1/projects/shop/spans?limit=1000").data)
    wait_until(lambda: counted() == 1000, "spans are stored")
    wait_until(lambda: len(admin.must("GET", "/v1/projects/shop/logs?limit=100").data) == 20, "log records are stored")
    evals = [{"target_id": f"{1 + i:016x}", "name": name, "label": "good", "score": i / 7 if i % 2 else None} for i in range(30) for name in ("a", "b")]
    admin.must("POST", "/v1/projects/shop/evals", {"data": evals})
    admin.must("POST", "/v1/projects/shop/evals", {"data": [entry | {"label": "bad"} for entry in evals[:10]]})
    shown = lambda who: {path: who.must("GET", f"/v1/projects/shop/{path}").data for path in ("spans?limit=1000", "traces?limit=200", "evals?limit=200", "logs?limit=100")}
    before = shown(admin)
    store = HeldStore(binary, stack)

    running = migrate(binary, server.data_dir, store)
    assert running.returncode == 1 and "a server is running" in running.stderr and "stop it first" in running.stderr, running
    # What is accepted and not stored when the server dies is in its log, and is stored by its next process.
    assert sender.post("/v1/traces", otlp_json([(9_000_001, 9_000_001, 0, "last", {})])).status == 200
    server.kill()

    dry = report_of(migrate(binary, server.data_dir, store, "--dry-run", "--json"))
    assert dry["dry_run"] and not dry["equal"] and dry["copied_rows"] == 0 and set(states(dry).values()) == {"missing"}, dry
    # either: the span of the last moment was stored, or is in the log
    assert dry["rows"] >= 4 * SPANS + 20 and dry["bytes"] > 0 and dry["seconds"] > 0, dry
    assert store.query("SELECT count() FROM system.databases WHERE name = 'hone'") == "0", "a dry run changes nothing"

    # Killed when the second block is on its way: it arrives when the next move is over.
    gate = store.hold(2)
    words = [binary, "migrate", "spans", "--to", store.url, "--data-dir", str(server.data_dir), "--clickhouse-user", USER, "--clickhouse-password", KEY]
    moving = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert gate.is_held.wait(PATIENCE)
    moving.kill()
    moving.wait()
    rows = lambda: int(store.query("SELECT count() FROM hone.spans", "hone"))
    assert 0 < rows() < 4 * SPANS
    dry = report_of(migrate(binary, server.data_dir, store, "--dry-run", "--json"))
    assert {"missing", "equal"} <= set(states(dry).values()), dry
    moved = report_of(migrate(binary, server.data_dir, store, "--json"))
    assert moved["equal"] and 0 < moved["copied_rows"] < moved["rows"] and {"copied", "equal"} == set(states(moved).values()), moved
    assert {table for table, _ in states(moved)} == {"spans", "trace_times", "evals", "eval_history", "logs"}, states(moved)
    assert all(part["rows"] == part["target_rows"] and part["checksum"] == part["target_checksum"] for part in moved["partitions"])
    all_rows = rows()
    gate.go_on.set()
    assert gate.is_over.wait(PATIENCE), "the late insert arrives"
    again = report_of(migrate(binary, server.data_dir, store, "--json"))
    assert again["equal"] and again["copied_rows"] == 0 and set(states(again).values()) == {"equal"} and rows() == all_rows, again
    text = migrate(binary, server.data_dir, store)
    assert text.returncode == 0 and "0 rows were copied" in text.stdout and "checksums of all partitions are equal" in text.stdout, text

    # Another content at the target is reported and stays; what is missing is copied.
    store.query("ALTER TABLE hone.spans UPDATE output = 'changed' WHERE span_id = '%016x' SETTINGS mutations_sync = 1" % 1005, "hone")
    store.query("ALTER TABLE hone.spans DELETE WHERE span_id = '%016x' SETTINGS mutations_sync = 1" % 2005, "hone")
    store.query("ALTER TABLE hone.evals DELETE WHERE name = 'a' SETTINGS mutations_sync = 1", "hone")
    differs = report_of(migrate(binary, server.data_dir, store, "--json"), 1)
    found = [part for part in differs["partitions"] if part["state"] == "differs"]
    assert not differs["equal"] and len(found) == 1 and found[0]["table"] == "spans" and found[0]["rows"] == found[0]["target_rows"], differs
    assert sorted(part["table"] for part in differs["partitions"] if part["state"] == "copied") == ["evals", "spans"], differs
    assert store.query("SELECT output FROM hone.spans WHERE span_id = '%016x'" % 1005, "hone") == "changed" and rows() == all_rows
    text = migrate(binary, server.data_dir, store)
    assert text.returncode == 1 and "as many rows, with other contents" in text.stdout, text
    store.query("ALTER TABLE hone.spans DELETE WHERE span_id = '%016x' SETTINGS mutations_sync = 1" % 1005, "hone")
    assert report_of(migrate(binary, server.data_dir, store, "--json"))["copied_rows"] == 1

    # The server continues with it, with what its log had.
    server.flags += store.flags()
    server.start()
    client = server.admin()
    wait_until(lambda: [row for row in client.must("GET", "/v1/projects/shop/spans?limit=5").data if row["name"] == "last"], "the log is stored")
    after = shown(client)
    without_last = lambda rows: [row for row in rows if row.get("name") != "last" and row.get("root_name") != "last"]
    assert len(without_last(after["spans?limit=1000"])) in (999, 1000)
    for path in ("evals?limit=200", "logs?limit=100"):
        assert after[path] == before[path], (path, after[path][:3], before[path][:3])
    assert set(row["context"]["span_id"] for row in without_last(after["spans?limit=1000"])) <= set(row["context"]["span_id"] for row in before["spans?limit=1000"])
    assert rows() == 4 * SPANS + 1


def test_a_move_that_cannot_begin_says_why(binary, stack):
    store = HeldStore(binary, stack)
    folder = pathlib.Path(store.folder)
    refused = migrate(binary, folder / "none", store)
    assert refused.returncode == 1 and "not found" in refused.stderr, refused
    (folder / "empty").mkdir()
    refused = migrate(binary, folder / "empty", store)
    assert refused.returncode == 1 and "no stored spans" in refused.stderr, refused
    refused = run(binary, "migrate", "spans", "--data-dir", folder / "empty")
    assert refused.returncode == 2 and "--to URL" in refused.stderr, refused
    refused = run(binary, "migrate", "--json")
    assert refused.returncode == 2 and json.loads(refused.stderr)["error"]["code"] == "invalid", refused
    server = stack.enter_context(Server(binary))
    server.admin().must("POST", "/v1/projects", {"name": "shop"})
    assert server.client(server.admin().must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "member"}).data["key"]).post(
        "/v1/traces", otlp_json([(1, 1, 0, "good", {})])).status == 200
    wait_until(lambda: server.admin().must("GET", "/v1/projects/shop/spans").data, "it is stored")
    assert server.stop() == 0
    wrong = run(binary, "migrate", "spans", "--to", store.url, "--data-dir", server.data_dir, "--clickhouse-user", "other")
    assert wrong.returncode == 1 and "refuses our user or password" in wrong.stderr, wrong
    store.gates[0].is_away.set()
    away = migrate(binary, server.data_dir, store)
    assert away.returncode == 1 and "cannot be reached" in away.stderr and "run the command again" in away.stderr, away
    store.gates[0].is_away.clear()
    assert report_of(migrate(binary, server.data_dir, store, "--json"))["equal"]
