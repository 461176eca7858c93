"""Half of the capacity for a long time. See soak.sh.

Projects rotate: spans go to a new one twelve times in the whole time, and the one before the last is deleted, so that a disk
that is flat means that deleted spans are gone from it.
"""

import bisect
import contextlib
import json
import os
import pathlib
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
from telemetry import otlp_json  # noqa: E402

SPANS = 200  # of one request, five of each trace
CAPACITY_SECONDS = 20
PROJECTS = 12
QUARTERS = 4


class Requests:
    """Bodies that differ in their ids and times only: made quickly, so that the measurement is of the server."""

    def __init__(self):
        text = "The order was not found in the warehouse, so the agent looked it up again by its number. " * 4
        attributes = {"gen_ai.request.model": "m", "input.value": text, "output.value": text}
        whole = json.dumps(otlp_json([(1, 1, 0, "chat", attributes)]))
        span = json.dumps(otlp_json([(1, 1, 0, "chat", attributes)])["resourceSpans"][0]["scopeSpans"][0]["spans"][0])
        made = json.loads(span)
        self.head, self.tail = whole.split('"spans": [')[0] + '"spans": [', "]}]}]}"
        for field, mark in (("traceId", "%(trace)032x"), ("spanId", "%(span)016x"), ("startTimeUnixNano", "%(start)d"), ("endTimeUnixNano", "%(end)d")):
            span = span.replace(f'"{field}": "{made[field]}"', f'"{field}": "{mark}"')
        self.span = span
        self.lock, self.number = threading.Lock(), 0

    def next(self, service):
        with self.lock:
            self.number += 1
            number = self.number
        now = time.time_ns()
        spans = (self.span % {"trace": (number << 16) + index // 5 + 1, "span": (number << 16) + index + 1,
                              "start": now - 2_000_000, "end": now - 1_000_000} for index in range(SPANS))
        return self.head.replace('"shop"', f'"{service}"') + ",".join(spans) + self.tail


class Installation:
    def __init__(self, binary, stack, servers):
        if servers > 1:
            self.servers = Fleet(binary, stack, servers).servers
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
        """Memory, descriptors, threads and disk of all servers and what they started."""
        pids = [pid for server in self.servers for pid in descendants(server.process.pid)]
        found = {"memory_mb": 0.0, "files": 0, "threads": 0, "disk_mb": 0.0, "span_log_mb": 0.0}
        for pid in pids:
            with contextlib.suppress(OSError, ValueError, IndexError):
                status = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
                found["memory_mb"] += int(status["RssAnon"].split()[0]) / 1024
                found["threads"] += int(status["Threads"])
                found["files"] += len(os.listdir(f"/proc/{pid}/fd"))
        for server in self.servers:
            for folder, _, names in os.walk(server.data_dir):
                for name in names:
                    with contextlib.suppress(OSError):
                        size = os.stat(os.path.join(folder, name), follow_symlinks=False).st_blocks / 2048
                        found["disk_mb"] += size
                        if folder.endswith("telemetry/wal"):
                            found["span_log_mb"] += size
        return {name: round(value, 1) for name, value in found.items()}


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


def capacity(installation, requests):
    """Spans per second from the first request until the last span is stored, with as many clients as keep the server busy."""
    began, sent = time.monotonic(), []

    def work(number):
        caller = installation.caller(number)
        while time.monotonic() - began < CAPACITY_SECONDS:
            caller.call("POST", "/v1/traces", requests.next("capacity"))
            sent.append(SPANS)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
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
        self.late, self.problems, self.states = 0.0, [], {}

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
                self.installation.admin.must("DELETE", f"/v1/projects/soak-{deleted}", status=204)
                deleted += 1
            time.sleep(1)  # the pace

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
    return {"second_quarter": second, "last_quarter": last, "growth": round(last / second - 1, 3) if second else None}


def main(binary, seconds, servers):
    with contextlib.ExitStack() as stack:
        installation = Installation(binary, stack, servers)
        admin = installation.admin
        admin.must("POST", "/v1/projects", {"name": "shop"})
        requests = Requests()
        most = capacity(installation, requests)
        soak = Soak(installation, requests, most / 2, seconds)
        threads = [threading.Thread(target=soak.guarded, args=(work,)) for work in (soak.send, soak.read, soak.run, soak.clean)]
        for thread in threads:
            thread.start()
        samples = soak.samples()
        for thread in threads:
            thread.join()
        assert not soak.problems, soak.problems
        wait_until(lambda: installation.metric("spans_pending") == 0, "all are stored", 600)
        counts = {}
        for name in [f"soak-{PROJECTS - 2}", f"soak-{PROJECTS - 1}"]:  # those that are not deleted
            sql = {"project": name, "sql": "SELECT count() AS n, uniqExact(span_id) AS ids FROM spans", "format": "json_lines"}
            answer = admin.post("/v1/sql", sql)
            found = json.loads(answer.text) if answer.status == 200 else None  # none: a ClickHouse without a reader
            counts[name] = {"sent": soak.sent.get(name, 0)} | ({"rows": found["n"], "distinct": found["ids"]} if found else {})
            if found:
                assert int(found["n"]) == int(found["ids"]) == soak.sent[name], counts
        print(json.dumps({
            "cores": os.cpu_count(), "servers": servers, "seconds": seconds,
            "capacity_spans_per_second": round(most), "sent_spans_per_second": round(sum(soak.sent.values()) / seconds),
            "longest_behind_the_pace_seconds": round(soak.late, 2), "runs": soak.states, "spans": counts,
            "latency_by_quarter": {name: getattr(soak, name).by_quarter(soak.begin, seconds) for name in ("sends", "reads", "runs")},
            "flat": {name: flatness(samples, name) for name in ("memory_mb", "disk_mb", "span_log_mb", "files", "threads")},
            "samples": samples,
        }, indent=2))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
