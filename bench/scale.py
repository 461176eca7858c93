"""What several servers do together. See scale.sh."""

import contextlib
import http.client
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from disk import descendants  # noqa: E402
from server import wait_until  # noqa: E402
from servers import Fleet, command  # noqa: E402
from spans import SPANS, Requests  # noqa: E402

CLIENTS = 4  # processes for each server
RUNS = 24
TICKS = os.sysconf("SC_CLK_TCK")


class Caller:
    """A client with one connection that stays open."""

    def __init__(self, url, key):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, method, path, body=None):
        self.connection.request(method, path, body if isinstance(body, str) else body and json.dumps(body), self.headers)
        response = self.connection.getresponse()
        text = response.read()
        assert response.status == 200, (response.status, text[:300])
        return text


class Quota:
    """A part of one core for a server and everything that it starts: a group of processes of the kernel, version 1 or 2."""

    def __init__(self, name, percent):
        lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        one = [(mount[1], path) for _, parts, path in lines for mount in mounts
               if "cpu" in parts.split(",") and mount[2] == "cgroup" and "cpu" in mount[3].split(",")]
        two = [(mount[1], path) for _, parts, path in lines for mount in mounts if not parts and mount[2] == "cgroup2"]
        for (mount, path), is_one in [(each, True) for each in one] + [(each, False) for each in two]:
            for parent in (pathlib.Path(mount + path.rstrip("/")), pathlib.Path(mount)):
                self.folder = parent / f"hone-{os.getpid()}-{name}"
                with contextlib.suppress(OSError):
                    self.folder.mkdir()
                    if is_one:
                        (self.folder / "cpu.cfs_period_us").write_text("100000")
                        (self.folder / "cpu.cfs_quota_us").write_text(str(percent * 1000))
                    else:
                        (self.folder / "cpu.max").write_text(f"{percent * 1000} 100000")
                    return
                with contextlib.suppress(OSError):
                    self.folder.rmdir()
        sys.exit("bench/scale: this needs to give each server a part of a core (root, and the cgroup controller cpu)")

    def take(self, pids):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                (self.folder / "cgroup.procs").write_text(str(pid))

    def throttled(self):
        """How many periods of 0.1 s with work there were, and in how many the server was stopped at its part."""
        found = dict(line.split() for line in (self.folder / "cpu.stat").read_text().splitlines())
        return int(found["nr_periods"]), int(found["nr_throttled"])

    def remove(self):
        wait_until(self.is_removed, "no process is left in the group of a server")

    def is_removed(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        return not self.folder.exists()


def cpu_seconds(pids):
    """Of these processes and of their children that have ended."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return total / TICKS


def idle_seconds():
    numbers = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]))
    return (numbers[3] + numbers[4]) / TICKS


class Installation:
    def __init__(self, binary, stack, count, percent):
        self.quotas = [Quota(number, percent) for number in range(count)]
        for quota in self.quotas:
            stack.callback(quota.remove)
        self.fleet = Fleet(binary, stack, count, "--run-places-per-space", str(RUNS))
        self.servers, self.percent = self.fleet.servers, percent
        for server, quota in zip(self.servers, self.quotas):
            quota.take(descendants(server.process.pid))
        self.admin = self.servers[0].admin()
        self.admin.must("POST", "/v1/projects", {"name": "shop"})
        made = self.admin.must("POST", "/v1/keys", {"name": "bench", "kind": "service", "role": "admin", "scopes": ["all"]})
        self.key = made.data["key"]

    def used(self):
        """CPU seconds so far, by part. The gate before the span store is in this process."""
        own = os.times()
        return {
            "servers": [cpu_seconds(descendants(server.process.pid)) for server in self.servers],
            "postgresql": cpu_seconds(self.fleet.postgres.pids()),
            "span_engine": cpu_seconds(self.fleet.store.pids()),
            "gate": own.user + own.system,
            "idle": idle_seconds(),
        }

    def watched(self, work):
        """What a piece of work gives, and who was busy meanwhile: in cores, and of a server in its part of one."""
        before, periods, began = self.used(), [quota.throttled() for quota in self.quotas], time.monotonic()
        result = work()
        took, after = time.monotonic() - began, self.used()
        cores = {name: round((after[name] - before[name]) / took, 2) for name in ("postgresql", "span_engine", "gate", "idle")}
        # On a machine that others use too, this says so.
        used = sum(cores.values()) + sum(new - old for new, old in zip(after["servers"], before["servers"])) / took
        cores["clients_and_others"] = round(max(0.0, os.cpu_count() - used), 2)
        throttled = []
        for quota, (all_before, stopped_before) in zip(self.quotas, periods):
            every, stopped = quota.throttled()
            throttled.append(round((stopped - stopped_before) / max(1, every - all_before), 2))
        of_quota = [round((new - old) / took / self.percent * 100, 2) for new, old in zip(after["servers"], before["servers"])]
        return result | {"server_cpu_of_quota": of_quota, "server_stopped_at_quota": throttled, "cores": cores,
                         "limit": limit_of(of_quota, throttled, cores)}

    def clients(self, act, seconds):
        """Runs the clients, each a process of its own; what they did per second, and how long each took."""
        begin, processes = time.time() + 2, []
        for number in range(CLIENTS * len(self.servers)):
            words = {"url": self.servers[number % len(self.servers)].url, "key": self.key, "client": number + 1, "act": act,
                     "begin": begin, "seconds": seconds}
            processes.append(subprocess.Popen([sys.executable, __file__, "client", json.dumps(words)], stdout=subprocess.PIPE, text=True))
        time.sleep(max(0.0, begin - time.time()))  # until the clients begin

        def work():
            said = [process.communicate()[0] for process in processes]
            assert all(process.returncode == 0 for process in processes), "a client failed"
            times = sorted(itertools.chain.from_iterable(json.loads(text) for text in said))
            at = lambda share: round(times[min(len(times) - 1, int(len(times) * share))], 1)
            return {"per_second": round(len(times) / seconds, 1), "p50_ms": at(0.5), "p99_ms": at(0.99)}

        return self.watched(work)

    def spans(self, seconds):
        """As the others, in spans; and until all of them are stored."""
        began = time.monotonic()
        found = self.clients("spans", seconds)
        found["per_second"] = round(found["per_second"] * SPANS)
        wait_until(lambda: sum(self.pending(server) for server in self.servers) == 0, "all are stored", 600)
        found["stored_per_second"] = round(found["per_second"] * seconds / (time.monotonic() - began - 2))
        return found

    def pending(self, server):
        lines = server.client().get("/metrics").text.splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("hone_spans_pending "))

    def runs(self):
        body = {"project": "shop", "prompt": "work", "settings": command("/bin/true")}
        callers = [Caller(server.url, self.key) for server in self.servers]

        def work():
            began = time.monotonic()
            ids = [json.loads(callers[i % len(callers)].call("POST", "/v1/runs", body))["data"]["id"] for i in range(RUNS)]
            ended = "SELECT COUNT(*) FROM runs WHERE state = 'succeeded'"
            wait_until(lambda: self.fleet.sql(ended) == str(RUNS), "all runs end", 300)
            assert len(set(ids)) == RUNS
            return {"per_second": round(RUNS / (time.monotonic() - began), 2)}

        found = self.watched(work)
        owners = self.fleet.sql("SELECT server, COUNT(*) FROM runs GROUP BY server").splitlines()
        return found | {"by_server": sorted(int(line.split("|")[1]) for line in owners)}


def limit_of(of_quota, throttled, cores):
    """Which part has no more to give: what it is that does not grow with the number of servers."""
    if min(throttled) >= 0.7 or min(of_quota) >= 0.85:
        return "servers"
    if cores["idle"] < 0.1:
        return "the machine; the busiest part: " + max(("postgresql", "span_engine", "gate", "clients_and_others"), key=lambda name: cores[name])
    return "waiting; the busiest shared part: " + max(("postgresql", "span_engine", "gate"), key=lambda name: cores[name])


def client(words):
    """One client: what it did, as milliseconds of each, on standard output."""
    caller, requests, times = Caller(words["url"], words["key"]), Requests(words["client"]), []
    actions = {
        "changes": lambda number: caller.call("POST", "/v1/projects", {"name": f"p{words['client']}-{number}"}),
        "reads": lambda number: caller.call("GET", "/v1/projects/shop"),
        "spans": lambda number: caller.call("POST", "/v1/traces", requests.next("shop")),
    }
    act = actions[words["act"]]
    requests.next("shop")
    time.sleep(max(0.0, words["begin"] - time.time()))  # all begin at the same time
    end = time.monotonic() + words["seconds"]
    for number in itertools.count():
        began = time.monotonic()
        if began >= end:
            break
        act(number)
        times.append(round((time.monotonic() - began) * 1000, 1))
    print(json.dumps(times))


def measure(binary, count, seconds, percent):
    with contextlib.ExitStack() as stack:
        installation = Installation(binary, stack, count, percent)
        result = {
            "servers": count,
            "changes": installation.clients("changes", seconds),
            "reads": installation.clients("reads", seconds),
            "spans": installation.spans(seconds),
            "runs": installation.runs(),
        }
        result["audit_ok"] = installation.admin.must("GET", "/v1/audit/verify").data["ok"]
        if count > 1:
            dead = installation.servers[-1]
            name = (dead.data_dir / "server_name").read_text()
            dead.kill()
            began = time.monotonic()
            wait_until(lambda: not next(s for s in installation.admin.must("GET", "/v1/servers").data if s["name"] == name)["live"], "the lease ends")
            result["dead_server_noticed_seconds"] = round(time.monotonic() - began, 1)
        return result


def main(binary, seconds, percent):
    rows = [measure(binary, count, seconds, percent) for count in (1, 2, 4)]
    grown = [{"servers": row["servers"]} | {
        name: {"times_one_server": round(row[name]["per_second"] / rows[0][name]["per_second"], 2), "limit": row[name]["limit"]}
        for name in ("changes", "reads", "spans", "runs")} for row in rows]
    print(json.dumps({"cores": os.cpu_count(), "percent_of_a_core_of_each_server": percent, "clients_of_each_server": CLIENTS,
                      "seconds": seconds, "grown": grown, "measured": rows}, indent=2))


if __name__ == "__main__":
    if sys.argv[1] == "client":
        client(json.loads(sys.argv[2]))
    else:
        main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
