"""What several servers do together. See scale.sh."""

import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))

from server import wait_until  # noqa: E402
from servers import Fleet, command  # noqa: E402
from telemetry import otlp_json  # noqa: E402

CLIENTS = 8
RUNS = 24
SPANS = 200  # of one request


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


def rate(fleet, key, seconds, act):
    """How often per second `act(caller, client, number)` is done by clients that are spread over the servers."""
    end = time.monotonic() + seconds

    def work(client):
        caller = Caller(fleet.servers[client % len(fleet.servers)].url, key)
        for number in itertools.count():
            if time.monotonic() >= end:
                return number
            act(caller, client, number)

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        return round(sum(pool.map(work, range(CLIENTS))) / seconds, 1)


def send_spans(caller, client, number):
    first = (client << 40) + number * SPANS + 1
    caller.call("POST", "/v1/traces", otlp_json([(first + i, first + i, 0, "work", {}) for i in range(SPANS)]))


def runs_per_second(fleet, key):
    body = {"project": "shop", "prompt": "work", "settings": command("/bin/true")}
    callers = [Caller(server.url, key) for server in fleet.servers]
    began = time.monotonic()
    ids = [json.loads(callers[i % len(callers)].call("POST", "/v1/runs", body))["data"]["id"] for i in range(RUNS)]
    wait_until(lambda: fleet.sql("SELECT COUNT(*) FROM runs WHERE state = 'succeeded'") == str(RUNS), "all runs end")
    took = time.monotonic() - began
    owners = fleet.sql("SELECT server, COUNT(*) FROM runs GROUP BY server").splitlines()
    assert len(set(ids)) == RUNS
    return {"runs_per_second": round(RUNS / took, 2), "runs_by_server": sorted(int(line.split("|")[1]) for line in owners)}


def measure(binary, count, seconds):
    with contextlib.ExitStack() as stack:
        fleet = Fleet(binary, stack, count, "--run-places-per-space", str(RUNS))
        admin = fleet.servers[0].admin()
        admin.must("POST", "/v1/projects", {"name": "shop"})
        key = admin.must("POST", "/v1/keys", {"name": "bench", "kind": "service", "role": "admin", "scopes": ["all"]}).data["key"]
        result = {
            "servers": count,
            "changes_per_second": rate(fleet, key, seconds, lambda caller, client, number: caller.call("POST", "/v1/projects", {"name": f"p{client}-{number}"})),
            "reads_per_second": rate(fleet, key, seconds, lambda caller, client, number: caller.call("GET", "/v1/projects/shop")),
            "spans_per_second": rate(fleet, key, seconds, send_spans) * SPANS,
        } | runs_per_second(fleet, key)
        result["audit_ok"] = admin.must("GET", "/v1/audit/verify").data["ok"]
        if count > 1:
            dead = fleet.servers[-1]
            name = (dead.data_dir / "server_name").read_text()
            dead.kill()
            began = time.monotonic()
            wait_until(lambda: not next(s for s in admin.must("GET", "/v1/servers").data if s["name"] == name)["live"], "the lease ends")
            result["dead_server_noticed_seconds"] = round(time.monotonic() - began, 1)
        return result


def main(binary, seconds):
    rows = [measure(binary, count, seconds) for count in (1, 2, 4)]
    first = rows[0]
    for row in rows[1:]:
        row["times_one_server"] = {name: round(row[name] / first[name], 2) for name in first if name.endswith("_per_second")}
    print(json.dumps({"cores": os.cpu_count(), "clients": CLIENTS, "seconds": seconds, "measured": rows}, indent=2))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
