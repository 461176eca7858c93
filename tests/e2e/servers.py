"""Several servers on one PostgreSQL with one span store: roles, kills at random of all of them, frozen servers, sessions, drain.

There is no ClickHouse server to test with: our own engine is behind a gate that serves the part of ClickHouse's HTTP
interface that Hone uses, with a user and a password. HONE_TEST_SECONDS sets how long servers are killed (default 45).
"""

import collections
import http.client
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

from disk import descendants
from postgres import Postgres
from server import PATIENCE, Client, Server, seeded, wait_until
from telemetry import otlp_json

SECONDS = float(os.environ.get("HONE_TEST_SECONDS", "45"))
OVER = ("succeeded", "failed", "cancelled", "timed_out", "budget_stopped", "lost")
USER, KEY = "hone", "pass word"
MASTER_KEY = {"HONE_MASTER_KEY": "A" * 43}


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("engine", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Gate(http.server.BaseHTTPRequestHandler):
    """Makes requests for a ClickHouse server into requests for the engine."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.reply(200, b"Ok.\n")  # /ping

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("X-ClickHouse-User") != USER or self.headers.get("X-ClickHouse-Key") != KEY:
            return self.reply(500, b"Authentication failed", {"X-ClickHouse-Exception-Code": "516"})
        self.server.requests += 1
        if self.server.is_away.is_set():
            return self.reply(503, b"away")
        path, _, query = self.path.partition("?")
        arguments = [
            (name, value.removesuffix(" FORMAT RowBinary") if name == "query" else value)
            for name, value in urllib.parse.parse_qsl(query, keep_blank_values=True)
            if name not in self.server.unknown
        ]
        headers = {"X-ClickHouse-User": "hone", "Content-Length": str(len(body))}
        connection = UnixConnection(self.server.socket_path)
        try:
            connection.request("POST", f"{path}?{urllib.parse.urlencode(arguments)}", body, headers)
            response = connection.getresponse()
            code = response.getheader("X-ClickHouse-Exception-Code")
            self.reply(response.status, response.read(), {"X-ClickHouse-Exception-Code": code} if code else {})
        finally:
            connection.close()

    def reply(self, status, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class SpanStore:
    """The engine of this build, and one address or several in front of it."""

    def __init__(self, binary, stack, gates=1):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-store-")))
        self.begin(binary, stack, str(self.folder), (), gates)

    def begin(self, binary, stack, directory, enter, gates=1):
        self.socket = str(self.folder / "s")
        program = pathlib.Path(binary).resolve().parent / "hone-engine"
        self.command = [*enter, program, "--directory", directory, "--socket", self.socket]
        self.start()
        stack.callback(self.stop)
        self.gates = [self.open_gate(stack) for _ in range(gates)]

    def start(self):
        log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        wait_until(self.responds, "the engine responds")

    def pids(self):
        return descendants(self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def responds(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            return self.query("SELECT 1") == "1"
        except OSError:
            return None

    def query(self, sql, database="default"):
        """Rows of all projects are shown in the database `hone` alone."""
        connection = UnixConnection(self.socket)
        try:
            connection.request("POST", f"/?database={database}&log_comment=%2A", sql.encode(), {"X-ClickHouse-User": "hone"})
            response = connection.getresponse()
            text = response.read().decode()
            assert response.status == 200, text
            return text.strip()
        finally:
            connection.close()

    def open_gate(self, stack):
        gate = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gate)
        gate.socket_path, gate.is_away, gate.requests = self.socket, threading.Event(), 0
        gate.unknown = ("wait_end_of_query", "query_id", "cancel_http_readonly_queries_on_client_close")  # of the engine
        threading.Thread(target=gate.serve_forever, daemon=True).start()
        stack.callback(gate.shutdown)
        return gate

    @property
    def url(self):
        return ",".join(f"http://127.0.0.1:{gate.server_port}" for gate in self.gates)

    def flags(self):
        return ("--clickhouse-url", self.url, "--clickhouse-user", USER, "--clickhouse-password", KEY)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)


class Fleet:
    """Servers on one database and one span store."""

    def __init__(self, binary, stack, count, *flags, roles=None):
        self.postgres = Postgres(stack)
        self.store = SpanStore(binary, stack)
        self.flags = ("--database-url", self.postgres.url, "--requests-per-minute", "0", *self.store.flags(), *flags)
        self.servers = []
        for number in range(count):
            own = ("--roles", roles[number]) if roles else ()
            server = Server(binary, None, *self.flags, *own, environment=MASTER_KEY)
            self.servers.append(stack.enter_context(server))

    def sql(self, text):
        return self.postgres.sql("hone", text)

    def names(self):
        return [(server.data_dir / "server_name").read_text() for server in self.servers]


def freeze(server):
    server.process.send_signal(signal.SIGSTOP)


def thaw(server):
    server.process.send_signal(signal.SIGCONT)


def command(*words):
    return {"harness": "command", "command": list(words)}


def start_run(client, script, prompt="work", **more):
    body = {"project": "shop", "prompt": prompt, "settings": command("/bin/sh", "-c", script) | more}
    return client.must("POST", "/v1/runs", body).data["id"]


def run_of(client, id):
    return client.must("GET", f"/v1/runs/{id}").data


def until(client, id, *states):
    return wait_until(lambda: (found := run_of(client, id))["state"] in (states or OVER) and found, f"run {id} gets {states or OVER}")


def events_of(client, id):
    return client.must("GET", f"/v1/runs/{id}/events?limit=1000").data


def test_servers_with_roles_share_the_work(binary, stack):
    fleet = Fleet(binary, stack, 3, roles=["api,scheduler", "ingest", "worker"])
    api, ingest, worker = fleet.servers
    admin = api.admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    key = admin.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "member"}).data["key"]
    # Each serves what its roles are for, and its own health.
    for server in fleet.servers:
        assert server.client().get("/healthz").status == 200 and server.client().get("/readyz").status == 200
        assert "hone_servers" in server.client().get("/metrics").text
    assert ingest.client(key).get("/v1/projects").status == 404
    assert worker.client(key).get("/v1/projects").status == 404
    assert api.client(key).post("/v1/traces", otlp_json([(1, 1, 0, "good", {})])).status == 404
    assert api.otlp_url is None and worker.otlp_url is None and ingest.otlp_url
    sent = ingest.client(key).post("/v1/traces", otlp_json([(number, number, 0, "good", {}) for number in range(1, 51)]))
    assert sent.status == 200, sent.text
    spans = lambda: admin.must("GET", "/v1/projects/shop/spans?limit=100").data
    wait_until(lambda: len(spans()) == 50, "what one server received another one finds")
    # A run that the API's server queues is executed by the worker; its events reach a follower of the first.
    id = start_run(admin, "hone list_projects; echo hello")
    ended = until(admin, id)
    assert ended["state"] == "succeeded", (ended, events_of(admin, id))
    assert fleet.sql(f"SELECT server FROM runs WHERE id = '{id}'") == fleet.names()[2]
    texts = [event["text"] for event in events_of(admin, id) if event["kind"] == "message"]
    assert texts[-1] == "hello" and "shop" in "".join(texts), texts  # the worker reached the API of its own server
    listed = {server["name"]: server for server in admin.must("GET", "/v1/servers").data}
    assert {name: listed[name]["roles"] for name in fleet.names()} == dict(zip(fleet.names(), ["api,scheduler", "ingest", "worker"])), listed
    assert all(server["live"] for server in listed.values())
    # One that stops says so, and the others see it at once.
    assert worker.stop() == 0
    states = {server["name"]: server["live"] for server in admin.must("GET", "/v1/servers").data}
    assert states == {fleet.names()[0]: True, fleet.names()[1]: True, fleet.names()[2]: False}, states


def test_a_follow_up_goes_to_the_server_with_the_workspace_and_elsewhere_when_it_is_lost(binary, stack):
    fleet = Fleet(binary, stack, 2, "--server-lost-after", "20s")
    first, second = fleet.servers
    admin = first.admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    script = 'read line; echo "$line" >> /workspace/lines; cat /workspace/lines'
    id = start_run(admin, script, "one")
    until(admin, id)
    home = fleet.names().index(fleet.sql(f"SELECT server FROM runs WHERE id = '{id}'"))
    other = fleet.servers[1 - home].admin()
    for word in ("two", "three"):  # sent to the server that has not the workspace
        other.must("POST", f"/v1/runs/{id}/messages", {"text": word})
        until(other, id, "succeeded")
        assert fleet.sql(f"SELECT server FROM runs WHERE id = '{id}'") == fleet.names()[home]
    texts = [event["text"] for event in events_of(other, id) if event["kind"] == "message"]
    assert texts[-3:] == ["one", "two", "three"], texts
    # A session that works while its server is frozen is lost after a time, and continues elsewhere without its files.
    busy = start_run(other, "echo begun; sleep 600")
    until(other, busy, "running")
    owner = fleet.names().index(fleet.sql(f"SELECT server FROM runs WHERE id = '{busy}'"))
    watcher = fleet.servers[1 - owner].admin()
    freeze(fleet.servers[owner])
    ended = until(watcher, busy)
    assert ended["state"] == "lost" and fleet.names()[owner] in ended["reason"], ended
    events = len(events_of(watcher, busy))
    if owner == home:
        watcher.must("POST", f"/v1/runs/{id}/messages", {"text": "four"})
        until(watcher, id, "succeeded")
        texts = [event["text"] for event in events_of(watcher, id)]
        assert any("empty workspace" in text for text in texts), texts
    # Awake again, it writes nothing into what it has lost, and its sandbox ends.
    thaw(fleet.servers[owner])
    wait_until(lambda: "not of this server any more" in fleet.servers[owner].output(), "the worker notices")
    assert run_of(watcher, busy)["state"] == "lost" and len(events_of(watcher, busy)) == events
    wait_until(lambda: fleet.servers[owner].client().get("/readyz").status == 200, "it serves on")


class Load:
    """Sends spans with retries until they are accepted, and starts runs with idempotency keys, to any server that responds."""

    def __init__(self, fleet, key, luck):
        self.fleet, self.key, self.luck = fleet, key, luck
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.sent, self.runs, self.refused = 0, set(), collections.Counter()
        self.threads = [threading.Thread(target=self.send, args=(number,)) for number in range(2)]
        self.threads.append(threading.Thread(target=self.start))
        for thread in self.threads:
            thread.start()

    def anyone(self):
        return Client(self.luck.choice([server.url for server in self.fleet.servers]), self.key)

    def until_taken(self, method, path, body, headers=None):
        """As a sender does: the same request again, to another server, until one takes it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                response = self.anyone().call(method, path, body, headers)
                if response.status == 200:
                    return response
                self.refused[response.status] += 1
                # either: the same request is still under way elsewhere (409), or the server stops or has no database (503)
                assert response.status in (409, 503), response.text
            except (OSError, http.client.HTTPException):
                self.refused["no response"] += 1
            assert time.monotonic() < deadline, f"no server takes {path}: {self.refused}"
            time.sleep(0.05)  # the pause of a sender, not a wait of the test

    def send(self, number):
        span = (number + 1) << 32
        while not self.stop.is_set():
            rows = [(span + i, span + i, 0, "good", {}) for i in range(20)]
            self.until_taken("POST", "/v1/traces", otlp_json(rows))
            with self.lock:
                self.sent += len(rows)
            span += len(rows)

    def start(self):
        body = {"project": "shop", "prompt": "work", "settings": command("/bin/sh", "-c", "echo done")}
        number = 0
        while not self.stop.is_set():
            number += 1
            made = self.until_taken("POST", "/v1/runs", body, {"Idempotency-Key": f"run-{number}"})
            self.runs.add(made.data["id"])
            self.stop.wait(0.5)

    def finish(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a sender does not come to its end"


def begin_load(fleet, luck):
    """Spans, runs, and an automation that fires every two seconds. Returns the load and what ends it."""
    admin = fleet.servers[0].admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    key = admin.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "admin", "scopes": ["all"]}).data["key"]
    admin.must("POST", "/v1/presets", {"name": "worker", "settings": command("/bin/true")})
    automation = {"name": "often", "project": "shop", "preset": "worker", "prompt": "work", "overlap": "parallel",
                  "trigger": {"type": "cron", "schedule": "*/2 * * * * *"}}
    automation = admin.must("POST", "/v1/automations", automation).data["id"]
    load = Load(fleet, key, luck)

    def end_load():
        load.finish()
        fleet.servers[0].client(key).must("POST", f"/v1/automations/{automation}/pause", {})

    return load, end_load


def is_whole(fleet, load):
    """Nothing is stuck, lost or doubled. Returns the states of the runs and the number of scheduled times that fired."""
    # Nothing is stuck: every run ends, every slot has an outcome, every lease and reservation ends.
    live = "SELECT COUNT(*) FROM runs WHERE state IN ('queued', 'preparing', 'running', 'waiting')"
    wait_until(lambda: fleet.sql(live) == "0", "every run ends", 3 * PATIENCE)
    wait_until(lambda: fleet.sql("SELECT COUNT(*) FROM automation_slots WHERE outcome = 'due'") == "0", "no slot is due")
    wait_until(lambda: fleet.sql("SELECT COUNT(*) FROM budget_holds") == "0", "no reservation is left")
    wait_until(lambda: fleet.sql("SELECT COUNT(*) FROM audit_inbox") == "0", "every entry is chained")
    # Nothing is lost or doubled: runs, slots, events, spans, audit.
    manual = set(fleet.sql("SELECT id FROM runs WHERE automation_id IS NULL").split())
    assert manual == load.runs, (len(manual - load.runs), len(load.runs - manual))
    fired = fleet.sql("SELECT run_id FROM automation_slots WHERE outcome = 'fired'").split()
    assert len(fired) == len(set(fired)), "a run has two slots"
    assert set(fired) == set(fleet.sql("SELECT id FROM runs WHERE automation_id IS NOT NULL").split())
    assert fleet.sql("SELECT COUNT(*) - COUNT(DISTINCT due_at) FROM automation_slots") == "0", "a scheduled time is doubled"
    gaps = "SELECT COUNT(*) FROM (SELECT run_id FROM run_events GROUP BY run_id HAVING COUNT(*) <> MAX(seq)) AS gaps"
    assert fleet.sql(gaps) == "0", "a transcript has a gap"
    twice = "SELECT COUNT(*) FROM (SELECT run_id FROM run_events WHERE body LIKE '%\"state\":\"succeeded\"%' GROUP BY run_id HAVING COUNT(*) > 1) AS twice"
    assert fleet.sql(twice) == "0", "a run ended twice"
    states = dict(line.split("|") for line in fleet.sql("SELECT state, COUNT(*) FROM runs GROUP BY state").splitlines())
    project = fleet.sql("SELECT id FROM projects WHERE name = 'shop'")
    stored = lambda: fleet.store.query(f"SELECT count(), uniqExact(span_id) FROM hone.spans WHERE project = '{project}'", "hone").split()
    wait_until(lambda: int(stored()[1]) >= load.sent, "every accepted span is stored")
    rows, distinct = map(int, stored())
    assert distinct == load.sent, (rows, distinct, load.sent)
    assert rows == distinct, f"{rows - distinct} of {distinct} spans are stored twice: {load.refused}"
    assert fleet.servers[0].admin().must("GET", "/v1/audit/verify").data["ok"]
    return states, len(fired)


def test_nothing_is_lost_doubled_or_stuck_while_servers_are_killed_at_random(binary, stack):
    luck = seeded()
    fleet = Fleet(binary, stack, 4, "--run-places", "4", "--run-places-per-space", "16")
    load, end_load = begin_load(fleet, luck)
    deeds, end = collections.Counter(), time.monotonic() + SECONDS
    while time.monotonic() < end:
        time.sleep(luck.uniform(0, 2))  # the place of the fault, not a wait
        server, deed = luck.choice(fleet.servers), luck.choice(["kill", "kill", "kill", "stop", "freeze", "database", "store"])
        deeds[deed] += 1
        if deed in ("database", "store"):
            part = fleet.postgres if deed == "database" else fleet.store
            part.kill()
            time.sleep(luck.uniform(0, 1))  # how long it is away
            part.start()
            continue
        if deed == "freeze":
            freeze(server)
            time.sleep(luck.uniform(0, 3))
            thaw(server)
            continue
        server.kill() if deed == "kill" else server.stop()
        server.start()
    end_load()
    states, fired = is_whole(fleet, load)
    assert set(states) <= {"succeeded", "lost"}, states
    print(f"      {dict(deeds)} with 4 servers in {SECONDS:.0f} s: {load.sent} spans, {states} runs, {fired} slots, refused {dict(load.refused)}")


def test_a_copied_data_directory_ends_the_older_of_two_processes(binary, stack):
    fleet = Fleet(binary, stack, 2)
    first, second = fleet.servers
    name = (first.data_dir / "server_name").read_text()
    assert second.stop() == 0
    (second.data_dir / "server_name").write_text(name)
    second.start()
    assert first.process.wait(PATIENCE) == 0
    assert "was its data directory copied" in first.output()
    wait_until(lambda: second.client().get("/readyz").status == 200, "the newer one serves")
