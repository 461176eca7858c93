"""One online task on two servers that share PostgreSQL and the span store: one is killed between its verdicts and their
writes. No verdict is doubled, none is lost, and the ledger adds up."""

import collections
import http.server
import threading
import time
import urllib.parse

from eval_tasks import evals_of, jobs_of, polite, task_of
from models import Provider
from prompts import add_skill
from server import PATIENCE, Server, wait_until
from servers import KEY, MASTER_KEY, USER, Fleet, Gate, freeze, thaw
from telemetry import otlp_json


class HoldingGate(Gate):
    """In front of the span store of one server: while it holds, evals reach the store (every second one) or do not, and
    the server never learns of it."""

    def do_POST(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("query", [""])[0]
        if self.server.holds.is_set() and query.startswith("INSERT INTO hone.eval"):
            with self.server.lock:
                self.server.held += 1
                passes = self.server.held % 2 == 0
            if not passes:
                self.server.ended.wait(PATIENCE)
                self.close_connection = True
                return
            self.reply = lambda *_: self.server.ended.wait(PATIENCE)
        try:
            super().do_POST()
        except OSError:
            pass  # the server was killed


def holding_gate(store, stack):
    gate = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HoldingGate)
    gate.daemon_threads = True
    plain = store.gates[0]
    gate.socket_path, gate.is_away, gate.requests, gate.unknown = store.socket, threading.Event(), 0, plain.unknown
    gate.holds, gate.ended, gate.lock, gate.held = threading.Event(), threading.Event(), threading.Lock(), 0
    threading.Thread(target=gate.serve_forever, daemon=True).start()
    stack.callback(gate.shutdown)
    stack.callback(gate.ended.set)
    return gate


def test_two_servers_on_one_task_double_and_lose_no_verdict_when_one_dies_before_its_write(binary, stack):
    fleet = Fleet(binary, stack, 1)
    (survivor,) = fleet.servers
    gate = holding_gate(fleet.store, stack)
    flags = ("--database-url", fleet.postgres.url, "--requests-per-minute", "0", "--clickhouse-url", f"http://127.0.0.1:{gate.server_port}",
             "--clickhouse-user", USER, "--clickhouse-password", KEY)
    victim = stack.enter_context(Server(binary, None, *flags, environment=MASTER_KEY))
    client = survivor.admin()
    provider = Provider(stack)
    add_skill(client, provider, "verdict_pass")
    client.must("POST", "/v1/projects", {"name": "shop"})
    key = client.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "member"}).data["key"]
    task = task_of(client, polite(client), tokens_per_day=1_000_000)
    sender, sent = survivor.client(key), 0

    def send(count):
        nonlocal sent
        spans = [(n, n, 0, "chat", {"input.value": f"hello {n}", "output.value": f"good day {n}"}) for n in range(sent + 1, sent + count + 1)]
        answer = sender.post("/v1/traces", otlp_json(spans))
        assert answer.status == 200, answer.text
        sent += count

    # Both have jobs of the task; what the victim decides from now on it cannot write.
    gate.holds.set()

    def running_jobs():
        return int(fleet.sql("SELECT COUNT(*) FROM eval_jobs WHERE state = 'running'"))

    def has_verdicts_to_write():
        # It may write the verdicts of several jobs at once.
        return gate.held >= 2 or (gate.held == 1 and running_jobs() >= 2)

    project = fleet.sql("SELECT id FROM projects WHERE name = 'shop'")
    stored = lambda: int(fleet.store.query(f"SELECT uniqExact(span_id) FROM hone.spans WHERE project = '{project}'", "hone"))
    for _ in range(10):
        send(10)
        wait_until(lambda: stored() == sent, "the spans are stored")
        freeze(survivor)  # the server that searches for traces evaluates them first, and that is mostly the same one
        until = time.monotonic() + 10
        while not has_verdicts_to_write() and time.monotonic() < until:
            time.sleep(0.1)
        if has_verdicts_to_write():
            break
        thaw(survivor)  # it was faster
    assert has_verdicts_to_write(), "the victim has verdicts that are not written"
    running = running_jobs()
    victim.kill()
    thaw(survivor)
    gate.ended.set()
    assert running >= 2, running
    send(10)
    jobs = wait_until(lambda: len(found := jobs_of(client, task, "done")) == sent and found, "every trace is evaluated", 240)
    # None lost, none doubled: one job and one eval for each trace, and one call each, except those that the kill cut off.
    assert len({job["target_id"] for job in jobs}) == sent, len(jobs)
    assert [jobs_of(client, task, state) for state in ("queued", "running", "failed", "skipped", "expired")] == [[]] * 5
    found = evals_of(client)
    assert collections.Counter(one["target_id"] for one in found) == {f"{n:032x}": 1 for n in range(1, sent + 1)}, found
    assert fleet.store.query("SELECT count(), uniqExact(target_id) FROM hone.evals FINAL", "hone").split() == [str(sent), str(sent)]
    calls = provider.get("/_count")["requests"]
    assert sent <= calls <= sent + running, (sent, calls, running)
    # The ledger: what was received was sampled, and what was sampled was judged; the tokens of the jobs are those of the calls.
    def counted():
        rows = client.must("GET", f"/v1/eval_tasks/{task['id']}/funnel").data
        return sum(row["judged"] for row in rows) == sent and rows

    rows = wait_until(counted, "the funnel is complete")
    assert [sum(row[name] for row in rows) for name in ("received", "matched", "sampled")] == [sent] * 3, rows
    assert sum(row["failed"] + row["skipped"] + row["waiting"] for row in rows) == 0, rows
    assert all(job["state"] == "done" and (job["tokens"] > 0 or job["cached"]) for job in jobs), jobs
    # Verdicts that the victim paid for and could not write were taken from the cache.
    assert sum(job["cached"] for job in jobs) >= 1, jobs
