"""Runs inside a bare machine, with nothing but Python's own library: what a person and a sender do with a new server.

client.py span NAME      sends a span over OTLP, waits until it is stored, prints the names of all spans
client.py start SCRIPT   starts a worker that runs a shell script, waits until its sandbox runs, prints its id
client.py state RUN      prints the state of a worker
client.py wait RUN       waits until the worker ended, prints its state, what it wrote and the tier of its sandbox
client.py key NAME       prints a new API key of the person
HONE_PASSWORD is the password of admin@localhost, HONE_SERVER the server's address (127.0.0.1), HONE_SETTINGS further settings of workers."""

import http.cookiejar
import json
import os
import sys
import time
import urllib.error
import urllib.request

SERVER = os.environ.get("HONE_SERVER", "127.0.0.1")
API, OTLP = f"http://{SERVER}:7070", f"http://{SERVER}:4318"
OVER = ("succeeded", "failed", "cancelled", "timed_out", "budget_stopped", "lost")


class Client:
    def __init__(self):
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.csrf = None
        body = {"email": "admin@localhost", "password": os.environ["HONE_PASSWORD"]}
        self.csrf = self.call("POST", "/v1/login", body)["data"]["csrf_token"]

    def call(self, method, path, body=None, key=None, origin=API):
        headers = {"content-type": "application/json", "origin": API}
        if key:
            headers["authorization"] = "Bearer " + key
        elif self.csrf:
            headers["x-csrf-token"] = self.csrf
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(origin + path, data, headers, method=method)
        try:
            with self.opener.open(request, timeout=30) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            error.msg += ": " + error.read().decode()[:500]
            raise


def wait_for(check, what):
    end = time.monotonic() + 90
    while (found := check()) is None:
        assert time.monotonic() < end, what
        time.sleep(0.2)
    return found


def key(client, name):
    return client.call("POST", "/v1/keys", {"name": name})["data"]["key"]


def span(client, name):
    sender = key(client, "sender of " + name)
    now = time.time_ns()
    client.call("POST", "/v1/traces", {"resourceSpans": [{
        "resource": {"attributes": [{"key": "openinference.project.name", "value": {"stringValue": "shop"}}]},
        "scopeSpans": [{"spans": [{"traceId": f"{now:032x}", "spanId": f"{now % (1 << 62) + 1:016x}", "name": name,
                                   "startTimeUnixNano": str(now), "endTimeUnixNano": str(now + 1000)}]}]}]}, sender, OTLP)

    def stored():
        try:
            names = sorted({row["name"] for row in client.call("GET", "/v1/projects/shop/span_rows")["data"]})
        except urllib.error.HTTPError as error:
            if error.code == 404:  # the first span makes the project
                return None
            raise
        return names if name in names else None

    return wait_for(stored, "the span did not appear")


def run_of(client, run):
    return client.call("GET", f"/v1/runs/{run}")["data"]


def state(client, run):
    return run_of(client, run)["state"]


def start(client, script):
    settings = {"harness": "command", "command": ["/bin/sh", "-c", script]} | json.loads(os.environ.get("HONE_SETTINGS", "{}"))
    run = client.call("POST", "/v1/runs", {"project": "shop", "prompt": "look", "settings": settings})["data"]["id"]
    wait_for(lambda: run if run_of(client, run)["state"] in ("running", *OVER) else None, "the worker did not start")
    return run


def wait(client, run):
    ended = wait_for(lambda: found if (found := run_of(client, run))["state"] in OVER else None, "the worker did not end")
    texts = [event["text"] for event in client.call("GET", f"/v1/runs/{run}/events?limit=1000")["data"]]
    manifest = client.call("GET", f"/v1/runs/{run}/manifest")["data"] if ended["state"] == "succeeded" else {}
    return {"state": ended["state"], "texts": texts, "tier": manifest.get("tier", "")}


if __name__ == "__main__":
    commands = {"span": span, "start": start, "state": state, "wait": wait, "key": key}
    print(json.dumps(commands[sys.argv[1]](Client(), *sys.argv[2:])))
