"""What runs cost. See runs.sh."""

import contextlib
import datetime
import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))

from runs import Shop, shell  # noqa: E402

FOLLOWERS = 200
EVENTS = 50
AT_ONCE = 50


def seconds(text):
    """Of a time as the API tells it, with nanoseconds."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    start = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return start + float("0." + (fraction or "0"))


def spread(values, digits=2):
    ordered = sorted(values)
    at = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], digits)
    return {"p50": at(0.5), "p99": at(0.99), "max": round(ordered[-1], digits), "count": len(ordered)}


def plain_start():
    """The harness's own start, without Hone: milliseconds until its first byte."""
    began = time.perf_counter()
    with subprocess.Popen(["/bin/sh", "-c", "echo ready"], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        return (time.perf_counter() - began) * 1000


def first_byte(shop, layered):
    run = shop.until(shop.start(*shell("echo ready"), **layered)["id"])
    assert run["state"] == "succeeded", run
    told = next(event for event in shop.events(run["id"]) if event["kind"] == "message")
    return (seconds(told["time"]) - seconds(run["created_at"])) * 1000


def follow(shop, id):
    """An open stream of the run's events, read by hand: 200 threads would measure themselves."""
    parts = urllib.parse.urlsplit(shop.client.url)
    follower = socket.create_connection((parts.hostname, parts.port))
    follower.sendall((f"GET /v1/runs/{id}/events HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: text/event-stream\r\n"
                      f"Cookie: hone_session={shop.client.cookie}\r\n\r\n").encode())
    return follower


def latencies(shop):
    """Milliseconds from the moment a worker wrote a line to the moment a follower has read it."""
    script = f"read line; sleep 3; i=0; while [ $i -lt {EVENTS} ]; do date +%s.%N; sleep 0.05; i=$((i+1)); done"
    id = shop.start(*shell(script))["id"]
    shop.until(id, "running")
    poll, buffers, found = select.epoll(), {}, []
    sockets = [follow(shop, id) for _ in range(FOLLOWERS)]
    for one in sockets:
        one.setblocking(False)
        poll.register(one.fileno(), select.EPOLLIN)
        buffers[one.fileno()] = (one, bytearray())
    deadline = time.monotonic() + 60
    while len(found) < FOLLOWERS * EVENTS and time.monotonic() < deadline:
        for descriptor, _ in poll.poll(1):
            one, buffer = buffers[descriptor]
            with contextlib.suppress(BlockingIOError):
                buffer += one.recv(1 << 16)
            now = time.time()
            while b"\n" in buffer:
                line, _, rest = bytes(buffer).partition(b"\n")
                buffer[:] = rest
                if line.startswith(b"data: ") and b'"message"' in line:
                    with contextlib.suppress(ValueError):
                        found.append((now - float(json.loads(line[6:])["text"])) * 1000)
    for one in sockets:
        one.close()
    shop.until(id)
    return found


def resident(pids):
    """Proportional memory in KiB, so that shared pages count once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total


def many(shop):
    server = shop.server.process.pid
    before = resident([server])
    began = time.perf_counter()
    ids = [shop.start(*shell("read line; touch up; sleep 600"))["id"] for _ in range(AT_ONCE)]
    for id in ids:
        shop.until(id, "running")
    up = time.perf_counter() - began
    sandboxes = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if belongs(pid, shop.server.data_dir)]
    memory = resident(sandboxes)
    after = resident([server])
    began = time.perf_counter()
    for id in ids:
        shop.client.must("POST", f"/v1/runs/{id}/cancel")
    for id in ids:
        shop.until(id)
    return {"runs": AT_ONCE, "all_running_seconds": round(up, 2), "all_cancelled_seconds": round(time.perf_counter() - began, 2),
            "server_kib_per_run": round((after - before) / AT_ONCE), "shim_kib_per_run": round(memory / AT_ONCE)}


def belongs(pid, data_dir):
    """A shim of this server's sandboxes: it names the data directory on its command line, as the server and the engine do."""
    with contextlib.suppress(OSError):
        process = pathlib.Path(f"/proc/{pid}")
        return (process / "comm").read_text().strip() == "hone-shim" and str(data_dir).encode() in (process / "cmdline").read_bytes()
    return False


def main(binary, runs):
    with contextlib.ExitStack() as stack:
        places = str(AT_ONCE + 10)
        shop = Shop(pathlib.Path(binary), stack, "--run-places", places, "--run-places-per-space", places)
        layered = {"sandbox": {"init_script": "echo prepared > /usr/local/prepared 2>/dev/null || true"}}
        first_byte(shop, layered)  # makes the layer
        plain = spread([plain_start() for _ in range(runs)])
        hone = spread([first_byte(shop, layered) for _ in range(runs)])
        answer = {"first_byte_ms": {"hone": hone, "same_command_alone": plain,
                                    "on_top_ms_p50": round(hone["p50"] - plain["p50"], 2), "aim_ms": 50},
                  "event_to_follower_ms": spread(latencies(shop)) | {"followers": FOLLOWERS, "events": EVENTS},
                  "at_once": many(shop)}
        print(json.dumps(answer, indent=2))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
