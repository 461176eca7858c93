"""Half of the capacity for a long time. See soak.sh.

Projects rotate: spans go to a new one twelve times in the whole time, and the one before the last is counted and deleted, so
that a disk that is flat means that deleted spans are gone from it.

It fails (status 1) when a span or a run is lost or doubled, and, from 20 minutes on, when something is not flat: the median of the
last quarter of the time may be larger than that of the second one by a tenth and GRACE, which is what one merge, one query or one
part of the log needs for a moment.
"""

import bisect
import contextlib
import json
import os
import pathlib
import re
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from disk import descendants  # noqa: E402
from scale import Caller  # noqa: E402
from server import Server, wait_until  # noqa: E402
from servers import OVER, Fleet, command  # noqa: E402
from spans import SPANS, Requests  # noqa: E402

CAPACITY_SECONDS = 20
PROJECTS = 12
QUARTERS = 4
JUDGED_SECONDS = 1200  # shorter ones begin and end with an empty store
GROWTH = 0.1
KINDS = ("socket", "pipe", "anon_inode", "/memfd", "/dev")  # of descriptors; others are files, by their folder
GRACE = {"memory_mb": 64, "resident_mb": 128, "disk_mb": 128, "span_log_mb": 64, "files": 1000, "threads": 64}


class Installation:
    def __init__(self, binary, stack, servers):
        self.fleet = Fleet(binary, stack, servers) if servers > 1 else None
        if self.fleet:
            self.servers = self.fleet.servers
        else:
            self.servers = [stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))]
        self.admin = self.servers[0].admin()
        made = self.admin.must("POST", "/v1/keys", {"name": "soak", "kind": "service", "role": "admin", "scopes": ["all"]})
        self.key = made.data["key"]

    def caller(self, number):
        return Caller(self.servers[number % len(self.servers)].url, self.key)

    def metric(self, name):
        total = 0.0
        for server in self.servers:
            lines = server.client().get("/metrics").text.splitlines()
            total += sum(float(line.split()[-1]) for line in lines if line.startswith((f"hone_{name} ", f"hone_{name}{{")))
        return total

    def sample(self):
        """Memory, descriptors, threads and disk of all servers, what they started, and the span engine. `memory_mb` is what
        belongs to the processes alone; `resident_mb` has mapped files too, those of several processes several times."""
        pids = [pid for server in self.servers for pid in descendants(server.process.pid)]
        folders = [server.data_dir for server in self.servers]
        if self.fleet:
            pids += self.fleet.store.pids()
            folders.append(self.fleet.store.folder)
        found = {"memory_mb": 0.0, "resident_mb": 0.0, "files": 0, "threads": 0, "disk_mb": 0.0, "span_log_mb": 0.0}
        for pid in pids:
            with contextlib.suppress(OSError, ValueError, IndexError):
                status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
                found["memory_mb"] += int(status["RssAnon"].split()[0]) / 1024
                found["resident_mb"] += int(status["VmRSS"].split()[0]) / 1024
                found["threads"] += int(status["Threads"])
                found["files"] += len(os.listdir(f"/proc/{pid}/fd"))
        for top in folders:
            for folder, _, names in os.walk(top):
                for name in names:
                    with contextlib.suppress(OSError):
                        size = os.stat(os.path.join(folder, name), follow_symlinks=False).st_blocks / 2048
                        found["disk_mb"] += size
                        if folder.endswith("telemetry/wal"):
                            found["span_log_mb"] += size
        return {name: round(value, 1) for name, value in found.items()} | {"descriptors": descriptors(pids, folders)}

    def stored(self, project):
        """Rows and different spans of a project, as the store has them."""
        if self.fleet:  # without a reader of ClickHouse there is no SQL for people: the engine itself is asked
            id = self.admin.must("GET", f"/v1/projects/{project}").data["id"]
            text = self.fleet.store.query(f"SELECT count(), uniqExact(span_id) FROM hone.spans WHERE project = '{id}'", "hone")
            return tuple(map(int, text.split()))
        sql = "SELECT count() AS n, uniqExact(span_id) AS ids FROM spans"
        answer = self.admin.post("/v1/sql", {"project": project, "sql": sql, "format": "json_lines"})
        assert answer.status == 200, (answer.status, answer.text)
        return int(answer.json["n"]), int(answer.json["ids"])


def kind_of(target, folders):
    """What a descriptor is, for people: a kind, or the folder of a file without numbers."""
    for kind in KINDS:
        if target.startswith(kind):
            return target.split(":", 1)[-1].strip("[]") if kind == "anon_inode" else kind.strip("/")
    for folder in folders:
        target = target.removeprefix(str(folder) + "/")
    folder = re.sub(r"[0-9a-f]{8}-[0-9a-f-]+", "ID", os.path.dirname(target.removesuffix(" (deleted)")))
    folder = re.sub(r"[0-9]+(_[0-9]+)*", "N", folder)
    return f"{folder}{' (deleted)' if target.endswith(' (deleted)') else ''}" or target


def descriptors(pids, folders):
    """How many of each kind each program has open."""
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            for number in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    key = f"{name}: {kind_of(os.readlink(f'/proc/{pid}/fd/{number}'), folders)}"
                    found[key] = found.get(key, 0) + 1
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


class Latencies:
    def __init__(self):
        self.lock, self.all = threading.Lock(), []

    def add(self, at, seconds):
        with self.lock:
            self.all.append((at, seconds))

    def timed(self, work):
        began = time.monotonic()
        outcome = work()
        self.add(began, time.monotonic() - began)
        return outcome

    def by_quarter(self, begin, length):
        """p50, p99 and the longest, in ms, of each quarter of the time."""
        ordered = sorted(self.all)
        edges = [bisect.bisect_left(ordered, (begin + length * part / QUARTERS,)) for part in range(QUARTERS)] + [len(ordered)]
        quarters = []
        for first, last in zip(edges, edges[1:]):
            times = sorted(seconds * 1000 for _, seconds in ordered[first:last])
            if times:
                at = lambda share: round(times[min(len(times) - 1, int(len(times) * share))], 1)
                quarters.append({"count": len(times), "p50_ms": at(0.5), "p99_ms": at(0.99), "max_ms": round(times[-1], 1)})
        return quarters


def capacity(installation):
    """Spans per second from the first request until the last span is stored, with as many clients as keep the server busy."""
    began, sent = time.monotonic(), []

    def work(number):
        caller, requests = installation.caller(number), Requests(number + 2)
        while time.monotonic() - began < CAPACITY_SECONDS:
            caller.call("POST", "/v1/traces", requests.next("capacity"))
            sent.append(SPANS)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4 * len(installation.servers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait_until(lambda: installation.metric("spans_pending") == 0, "all are stored", 600)
    return sum(sent) / (time.monotonic() - began)


class Soak:
    def __init__(self, installation, requests, rate, seconds):
        self.installation, self.requests, self.rate, self.seconds = installation, requests, rate, seconds
        self.begin = time.monotonic()
        self.sends, self.reads, self.runs = Latencies(), Latencies(), Latencies()
        self.sent = {}  # by project
        self.late, self.problems, self.states, self.counts = 0.0, [], {}, {}

    def is_over(self):
        return time.monotonic() - self.begin >= self.seconds or bool(self.problems)

    def project(self):
        return min(PROJECTS - 1, int((time.monotonic() - self.begin) / self.seconds * PROJECTS))

    def guarded(self, work):
        try:
            work()
        except Exception as problem:
            self.problems.append(f"{work.__name__}: {problem!r}")

    def send(self):
        callers = [self.installation.caller(number) for number in range(len(self.installation.servers))]
        for number in range(1 << 60):
            due = self.begin + number * SPANS / self.rate
            if self.is_over():
                return
            time.sleep(max(0.0, due - time.monotonic()))  # the pace
            self.late = max(self.late, time.monotonic() - due)
            name = f"soak-{self.project()}"
            body = self.requests.next(name)
            self.sends.timed(lambda: callers[number % len(callers)].call("POST", "/v1/traces", body))
            self.sent[name] = self.sent.get(name, 0) + SPANS

    def read(self):
        caller = self.installation.caller(1)
        while not self.is_over():
            name = f"soak-{self.project()}"
            if name in self.sent:
                for path in ("spans?limit=50", "traces?limit=50", "spans?limit=50&filter=text%20contains%20%22warehouse%22"):
                    self.reads.timed(lambda: caller.call("GET", f"/v1/projects/{name}/{path}"))
            time.sleep(1)  # the pace

    def run(self):
        caller = self.installation.caller(0)
        body = {"project": "shop", "prompt": "work", "settings": command("/bin/sh", "-c", "echo done")}

        def one():
            id = json.loads(caller.call("POST", "/v1/runs", body))["data"]["id"]
            state = lambda: json.loads(caller.call("GET", f"/v1/runs/{id}"))["data"]["state"]
            return wait_until(lambda: (found := state()) in OVER and found, "the run ends")

        while not self.is_over():
            state = self.runs.timed(one)
            self.states[state] = self.states.get(state, 0) + 1
            time.sleep(5)  # the pace

    def clean(self):
        """Deletes projects that are over."""
        deleted = 0
        while not self.is_over():
            while deleted < self.project() - 1:
                self.count(f"soak-{deleted}")
                self.installation.admin.must("DELETE", f"/v1/projects/soak-{deleted}", status=204)
                deleted += 1
            time.sleep(1)  # the pace

    def count(self, project):
        """Every span that was accepted is there, once."""
        sent = self.sent.get(project, 0)
        rows, distinct = self.installation.stored(project)
        if (rows, distinct) != (sent, sent):  # the last may still be in the log
            wait_until(lambda: self.installation.stored(project)[0] >= sent, f"the {sent} spans of {project} are stored", 120)
            rows, distinct = self.installation.stored(project)
        self.counts[project] = {"sent": sent, "rows": rows, "distinct": distinct}

    def samples(self):
        found = []
        every = min(60.0, self.seconds / 20)
        while not self.is_over():
            found.append({"minute": round((time.monotonic() - self.begin) / 60, 1)} | self.installation.sample())
            time.sleep(min(every, max(0.1, self.begin + self.seconds - time.monotonic())))  # the pace
        return found


def flatness(samples, name):
    """The median of the second quarter and of the last one, and the growth between them."""
    values = [sample[name] for sample in samples]
    quarter = max(1, len(values) // QUARTERS)
    second, last = statistics.median(values[quarter : 2 * quarter] or values), statistics.median(values[-quarter:])
    return {"second_quarter": second, "last_quarter": last, "growth": round(last / second - 1, 3) if second else None,
            "most": round(second * (1 + GROWTH) + GRACE[name], 1)}


def faults(soak, flat):
    """What was lost or doubled, and what is not flat."""
    wrong = [f"{name}: {count}" for name, count in soak.counts.items() if not count["sent"] == count["rows"] == count["distinct"]]
    wrong += [f"{number} runs ended as {state}" for state, number in soak.states.items() if state != "succeeded"]
    wrong += [f"{name} grew from {found['second_quarter']} to {found['last_quarter']}; at most {found['most']} is flat"
              for name, found in flat.items() if found["last_quarter"] > found["most"]]
    return wrong


def main(binary, seconds, servers):
    with contextlib.ExitStack() as stack:
        installation = Installation(binary, stack, servers)
        admin = installation.admin
        admin.must("POST", "/v1/projects", {"name": "shop"})
        requests = Requests(1)
        most = capacity(installation)
        soak = Soak(installation, requests, most / 2, seconds)
        threads = [threading.Thread(target=soak.guarded, args=(work,)) for work in (soak.send, soak.read, soak.run, soak.clean)]
        for thread in threads:
            thread.start()
        samples = soak.samples()
        for thread in threads:
            thread.join()
        assert not soak.problems, soak.problems
        wait_until(lambda: installation.metric("spans_pending") == 0, "all are stored", 600)
        for number in range(PROJECTS):
            if f"soak-{number}" not in soak.counts and f"soak-{number}" in soak.sent:
                soak.count(f"soak-{number}")
        flat = {name: flatness(samples, name) for name in GRACE}
        wrong = faults(soak, flat if seconds >= JUDGED_SECONDS else {})
        print(json.dumps({
            "cores": os.cpu_count(), "servers": servers, "seconds": seconds,
            "capacity_spans_per_second": round(most), "sent_spans_per_second": round(sum(soak.sent.values()) / seconds),
            "longest_behind_the_pace_seconds": round(soak.late, 2), "runs": soak.states, "spans": soak.counts,
            "latency_by_quarter": {name: getattr(soak, name).by_quarter(soak.begin, seconds) for name in ("sends", "reads", "runs")},
            "flat": flat, "flatness_judged": seconds >= JUDGED_SECONDS, "samples": samples, "wrong": wrong,
        }, indent=2))
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))
