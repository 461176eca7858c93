"""Each part of an installation of two servers killed, frozen, slow and full, and the network between them, under load; prints
what was seen. Nothing that was accepted is lost, doubled or stuck, and no process ends that was not killed.

The parts are real processes: Hone, PostgreSQL, our own engine behind the gate of servers.py (there is no ClickHouse server to
test with), and `s3rver`. A slow process runs a tenth of the time. Disks are file systems of a fixed size. HONE_TEST_SECONDS sets
how long each fault lasts (default 3), HONE_TEST_FAULTS chooses those whose name has these words ("PostgreSQL killed").
With 20 seconds or more only the faults of LONGER are tried that cross a time-out: HONE_TEST_SECONDS=25, HONE_TEST_SECONDS=55.
"""

import collections
import contextlib
import http.client
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import tempfile
import threading
import time

from disk import descendants
from objects import KEYS, Bucket, TESTS
from postgres import Postgres
from server import PATIENCE, Client, Server, needs, wait_until
from servers import MASTER_KEY, OVER, SpanStore, command
from telemetry import otlp_json

SECONDS = float(os.environ.get("HONE_TEST_SECONDS", "3"))
PROCESS_FAULTS = ("killed", "frozen", "slow", "full")
NETWORK_FAULTS = ("cut", "silent", "slow", "narrow")
NETWORKS = ("network to PostgreSQL", "network to span store", "network to object store")
# What only a longer fault crosses, and from how many seconds on.
LONGER = {
    ("server", "frozen"): (20, "its lease of 15 s; from 45 s on its claim of a block"),
    ("PostgreSQL", "frozen"): (20, "the leases of both servers; from 30 s on the time that PostgreSQL gives a statement"),
    ("network to PostgreSQL", "silent"): (20, "the lease of a server that works"),
    ("span store", "frozen"): (25, "the deadline of inserts, 20 s and 2 s; from 45 s on the claims of both servers"),
    ("network to span store", "silent"): (25, "the deadline of inserts of one server, which has a claim"),
    ("object store", "frozen"): (35, "the 30 s that a request to it has without a byte"),
}


class SmallDisk:
    """A file system of a fixed size. Processes that begin with `enter` see it; it lasts longer than each of them."""

    def __init__(self, stack, megabytes):
        self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-disk-"))
        script = f'mount -t tmpfs -o size={megabytes}m,mode=777 tmpfs "{self.folder}" && echo ready && exec cat'
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stack.callback(self.holder.wait)
        stack.callback(self.holder.kill)
        assert self.holder.stdout.readline() == b"ready\n", "the file system is there"
        self.enter = ["nsenter", "--target", str(self.holder.pid), "--mount"]
        self.filler = pathlib.Path(f"/proc/{self.holder.pid}/root{self.folder}/filler")

    def fill(self, but=0):
        """All of it, or all but so many bytes."""
        with open(self.filler, "wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * 65536)
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x")
            file.truncate(max(0, file.tell() - but))

    def empty(self):
        self.filler.unlink()


class SmallPostgres(Postgres):
    """Its data are on a small disk, its socket is not."""

    def __init__(self, stack):
        self.disk = SmallDisk(stack, 400)
        super().__init__(stack)

    def _spawn(self, program, *arguments):
        words = [str(word).replace(f"{self.folder}/data", f"{self.disk.folder}/data") for word in arguments]
        user = pwd.getpwnam("postgres")
        drop = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        log = open(self.folder / "log", "ab")
        return subprocess.Popen([*self.disk.enter, *drop, self.programs / program, *words], cwd="/", stdout=log, stderr=log)

    def data_on_disk(self):
        return pathlib.Path(f"/proc/{self.disk.holder.pid}/root{self.disk.folder}/data")


class SmallStore(SpanStore):
    """The engine on a small disk. It can be started again."""

    def __init__(self, binary, stack, place=""):
        self.disk = SmallDisk(stack, 400)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-store-")))
        subprocess.run([*self.disk.enter, "mkdir", "-p", self.disk.folder + place], check=True)
        self.begin(binary, stack, self.disk.folder + place, self.disk.enter)


class SmallBucket(Bucket):
    def __init__(self, stack):
        needs("the npm packages of tests/", (TESTS / "node_modules/@20minutes/s3rver").exists())
        self.disk = SmallDisk(stack, 100)
        self.port = 0
        self.start()
        stack.callback(lambda: (self.process.kill(), self.process.wait()))

    def start(self):
        words = ["node", "--openssl-legacy-provider", str(TESTS / "s3_server.mjs"), self.disk.folder, "hone-test"]
        self.process = subprocess.Popen([*self.disk.enter, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def pids(self):
        return descendants(self.process.pid)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Link:
    """A network between one server and a part: passes bytes, or does not. `target` returns where the part is now."""

    def __init__(self, stack, family, address, target):
        self.family, self.target, self.mode = family, target, "open"
        self.listener = socket.socket(family)
        self.listener.bind(address)
        self.listener.listen(64)
        self.address = self.listener.getsockname()
        self.lock, self.sockets = threading.Lock(), set()
        threading.Thread(target=self.accept, daemon=True).start()
        stack.callback(self.end)

    def end(self):
        self.set("cut")
        self.listener.close()

    def set(self, mode):
        with self.lock:
            self.mode = mode
            cut = list(self.sockets) if mode == "cut" else []
        for one in cut:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near):
        far = socket.socket(self.family)
        with near, far:
            try:
                if self.mode == "cut":
                    return
                far.connect(self.target())
                with self.lock:
                    self.sockets |= {near, far}
                back = threading.Thread(target=self.pump, args=(far, near), daemon=True)
                back.start()
                self.pump(near, far)
                back.join()
            except OSError:
                pass
            finally:
                with self.lock:
                    self.sockets -= {near, far}

    def pump(self, source, sink):
        with contextlib.suppress(OSError):
            while piece := source.recv(1024 if self.mode == "narrow" else 1 << 16):
                while self.mode == "silent":
                    time.sleep(0.01)  # the fault
                time.sleep({"slow": 0.2, "narrow": 0.02}.get(self.mode, 0))  # the fault
                sink.sendall(piece)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Installation:
    """Two servers. The first one reaches the other parts through links."""

    def __init__(self, binary, stack):
        self.postgres, self.store, self.bucket = SmallPostgres(stack), SmallStore(binary, stack), SmallBucket(stack)
        near = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-link-"))
        socket_name = ".s.PGSQL.5432"
        self.links = {
            NETWORKS[0]: Link(stack, socket.AF_UNIX, f"{near}/{socket_name}", lambda: f"{self.postgres.folder}/{socket_name}"),
            NETWORKS[1]: Link(stack, socket.AF_INET, ("127.0.0.1", 0), lambda: ("127.0.0.1", self.store.gates[0].server_port)),
            NETWORKS[2]: Link(stack, socket.AF_INET, ("127.0.0.1", 0), lambda: ("127.0.0.1", self.bucket.port)),
        }
        # A port that stays the same when the object store is started again.
        self.bucket_door = Link(stack, socket.AF_INET, ("127.0.0.1", 0), lambda: ("127.0.0.1", self.bucket.port))
        store, bucket = self.links[NETWORKS[1]].address[1], self.links[NETWORKS[2]].address[1]
        user = self.store.flags()[2:]
        ways = [(f"postgres:///hone?host={near}&user=hone", f"http://127.0.0.1:{store}", bucket),
                (self.postgres.url, self.store.url, self.bucket_door.address[1])]
        self.disk = SmallDisk(stack, 300)
        self.servers = []
        for number, (database, spans, objects) in enumerate(ways):
            flags = ("--database-url", database, "--clickhouse-url", spans, *user, "--requests-per-minute", "0",
                     "--object-store", self.bucket.location(port=objects), "--run-places-per-space", "16")
            here = {"data_dir": None} if number else {"data_dir": f"{self.disk.folder}/data", "command": self.disk.enter}
            server = Server(binary, here["data_dir"], *flags, command=here.get("command", ()), environment=MASTER_KEY | KEYS)
            self.servers.append(stack.enter_context(server))

    def part(self, name):
        return {"PostgreSQL": self.postgres, "span store": self.store, "object store": self.bucket}[name]

    def pids(self, name):
        return [self.servers[0].process.pid] if name == "server" else self.part(name).pids()


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


@contextlib.contextmanager
def fault(installation, part, kind):
    if part in NETWORKS:
        installation.links[part].set(kind)
        yield
        installation.links[part].set("open")
    elif kind == "killed":
        target = installation.servers[0] if part == "server" else installation.part(part)
        target.kill()
        yield
        target.start()
    elif kind == "frozen":
        pids = installation.pids(part)
        signal_all(pids, signal.SIGSTOP)
        yield
        signal_all(pids, signal.SIGCONT)
    elif kind == "slow":
        ends = threading.Event()

        def hold():
            while not ends.is_set():
                pids = installation.pids(part)
                signal_all(pids, signal.SIGSTOP)
                ends.wait(0.09)
                signal_all(pids, signal.SIGCONT)
                ends.wait(0.01)
            signal_all(installation.pids(part), signal.SIGCONT)

        thread = threading.Thread(target=hold)
        thread.start()
        yield
        ends.set()
        thread.join()
    else:
        disk = installation.disk if part == "server" else installation.part(part).disk
        disk.fill()
        yield
        disk.empty()
        if part == "span store" and installation.store.process.poll() is not None:
            installation.store.start()  # it ends when a write fails
        if part == "PostgreSQL" and installation.postgres.process.poll() is not None:
            installation.postgres.data_on_disk().joinpath("postmaster.pid").unlink(missing_ok=True)
            installation.postgres.start()  # a full disk may end it


class Load:
    """Senders of spans, which repeat a request to the other server until one takes it; readers; runs that save a file."""

    def __init__(self, installation, key, first):
        self.installation, self.key, self.next = installation, key, first
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.sent, self.runs, self.spans, self.reads = 0, [], collections.Counter(), collections.Counter()
        self.slowest, self.problems = 0.0, []
        self.threads = [threading.Thread(target=self.guarded, args=work) for work in
                        [(self.send, 0), (self.send, 1), (self.read, 0), (self.read, 1), (self.start, 0)]]
        for thread in self.threads:
            thread.start()

    def guarded(self, work, number):
        try:
            work(number)
        except Exception as problem:
            self.problems.append(f"{work.__name__}: {problem!r}")

    def call(self, number, method, path, body=None, headers=None, counts=None):
        """The response, or None; counted by its status."""
        try:
            answer = Client(self.installation.servers[number].url, self.key).call(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            counts["none"] += 1
            return None
        counts[answer.status] += 1
        # either: what is away now is named by 503, what is busy by 429, and 409 is a request that is still under way elsewhere
        assert answer.status in (200, 409, 429, 503), (path, answer.status, answer.text[:300])
        return answer if answer.status == 200 else None

    def until_taken(self, number, *request):
        """A sender repeats what was not accepted, at the other server."""
        began = time.monotonic()
        for turn in range(10_000):
            answer = self.call((number + turn) % 2, *request)
            if answer:
                with self.lock:
                    self.slowest = max(self.slowest, time.monotonic() - began)
                return answer
            assert time.monotonic() - began < PATIENCE, f"nobody takes {request[1]}"
            time.sleep(0.05)  # the pause of a sender

    def send(self, number):
        while not self.stop.is_set():
            with self.lock:
                first, self.next = self.next, self.next + 20
            body = otlp_json([(span, span, 0, "good", {}) for span in range(first, first + 20)])
            self.until_taken(number, "POST", "/v1/traces", body, None, self.spans)
            with self.lock:
                self.sent += 20

    def read(self, number):
        while not self.stop.is_set():
            for path in ("/v1/projects/shop", "/v1/projects/shop/spans?limit=5"):
                self.call(number, "GET", path, counts=self.reads)
            self.stop.wait(0.05)

    def start(self, number):
        script = "hone save_file --name note.txt --text hello || echo not saved"
        body = {"project": "shop", "prompt": "work", "settings": command("/bin/sh", "-c", script)}
        while not self.stop.is_set():
            number += 1
            header = {"Idempotency-Key": f"run-{self.next}-{number}"}
            self.runs.append(self.until_taken(number, "POST", "/v1/runs", body, header, collections.Counter()).data["id"])
            self.stop.wait(1)

    def finish(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a client does not come to its end"
        assert not self.problems, self.problems


def end_of(installation, admin, id, when):
    """The state in which the run ends."""
    run = {}

    def is_over():
        run.update(admin.must("GET", f"/v1/runs/{id}").data)
        return run["state"] in OVER

    try:
        wait_until(is_over, f"{when}: {id} ends")
    except AssertionError:
        show(installation, admin, id, when)
        raise
    return run["state"]


def show(installation, admin, id, when):
    """What is known of a run that did not end as it must."""
    print(f"      {when}: {admin.must('GET', f'/v1/runs/{id}').data}")
    for event in admin.must("GET", f"/v1/runs/{id}/events?limit=100").data:
        print(f"      {event['kind']}: {event['text'][:200]}")
    for server in installation.servers:
        lines = server.output().splitlines()
        print("\n".join(f"      {line[:300]}" for line in lines if id in line or "duty" in line or "WARN" in line.upper())[-4000:])


def counts_of(counter):
    return " ".join(f"{status}:{counter[status]}" for status in sorted(counter, key=str))


def test_every_part_is_killed_frozen_slow_and_full_under_load(binary, stack):
    needs("root, for disks of a fixed size", os.geteuid() == 0)
    installation = Installation(binary, stack)
    admin = installation.servers[1].admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    key = admin.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "admin", "scopes": ["all"]}).data["key"]
    project = installation.postgres.sql("hone", "SELECT id FROM projects WHERE name = 'shop'")
    clients = lambda: [server.client(key) for server in installation.servers]

    def stored():
        text = installation.store.query(f"SELECT count(), uniqExact(span_id) FROM hone.spans WHERE project = '{project}'", "hone")
        return tuple(map(int, text.split()))

    cells = [(part, kind) for part in ("server", "PostgreSQL", "span store", "object store") for kind in PROCESS_FAULTS]
    cells += [(part, kind) for part in NETWORKS for kind in NETWORK_FAULTS]
    if SECONDS >= min(least for least, _ in LONGER.values()):
        cells = [cell for cell in cells if cell in LONGER and SECONDS >= LONGER[cell][0]]
    cells = [cell for cell in cells if os.environ.get("HONE_TEST_FAULTS", "") in " ".join(cell)]
    sent, table = 0, []
    for part, kind in cells:
        pids = [server.process.pid for server in installation.servers]
        load = Load(installation, key, 1 + (len(table) << 32))
        wait_until(lambda: load.sent >= 20 and load.runs, "the load has begun")
        with fault(installation, part, kind):
            time.sleep(SECONDS)  # how long the fault lasts
        ended = time.monotonic()
        load.finish()
        wait_until(lambda: all(client.get("/readyz").status == 200 for client in clients()), f"{part} {kind}: both are ready again")
        sent += load.sent
        wait_until(lambda: stored()[1] >= sent, f"{part} {kind}: every accepted span is stored")
        rows, distinct = stored()
        assert (rows, distinct) == (sent, sent), f"{part} {kind}: {sent} accepted, {distinct} stored in {rows} rows"
        ended_as = {id: end_of(installation, admin, id, f"{part} {kind}") for id in load.runs}
        states = collections.Counter(ended_as.values())
        recovered = time.monotonic() - ended
        # What a server did when it was killed, or had no disk, is not restarted behind people's backs.
        allowed = {"succeeded"} | ({"lost", "failed"} if part == "server" and kind in ("killed", "full") else set())
        for id in (id for id, state in ended_as.items() if state not in allowed):
            show(installation, admin, id, f"{part} {kind}")
        assert set(states) <= allowed, f"{part} {kind}: {states}"
        ends = [server.process.poll() for server in installation.servers]
        assert ends == [None, None], f"{part} {kind}: a server ended: {ends}"
        same = [server.process.pid for server in installation.servers] == pids
        assert same or (part, kind) == ("server", "killed")
        after = admin.must("POST", "/v1/runs", {"project": "shop", "prompt": "x", "settings": command("/bin/sh", "-c", "hone save_file --name a --text b")}).data["id"]
        state = end_of(installation, admin, after, f"after {part} {kind}")
        assert state == "succeeded" and admin.must("GET", f"/v1/artifacts?run={after}").data, f"{part} {kind}: artifacts are saved again: {state}"
        table.append((part, kind, f"{load.sent}", counts_of(load.spans), counts_of(load.reads), counts_of(states), f"{load.slowest:.1f}", f"{recovered:.1f}"))
        print("      " + " | ".join(table[-1]), flush=True)
    assert admin.must("GET", "/v1/audit/verify").data["ok"]
    heads = ("part", "fault", "spans", "requests with spans by status", "reads by status", "runs", "longest wait s", "recovered s")
    widths = [max(len(row[i]) for row in [heads, *table]) for i in range(len(heads))]
    print(f"\n      each fault lasted {SECONDS:.0f} s; lost and doubled spans: 0")
    for row in [heads, *table]:
        print("      " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
