"""Spans over OTLP/HTTP into a whole server. See ingest_http.sh."""

import contextlib
import json
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))

from server import Server  # noqa: E402
from telemetry import engine_of, key_of  # noqa: E402

OVERLOAD_LOG = 300 << 20
CONNECTIONS = (8, 64, 1)


def metrics(server):
    lines = [line for line in server.client().get("/metrics").text.splitlines() if not line.startswith("#")]
    return {words[0]: float(words[1]) for words in map(str.split, lines) if len(words) == 2}


def resident_mb(pid):
    if pid is None:
        return 0
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) // 1024
    return 0


def send(build, url, key, seconds, connections):
    command = [f"{build}/bench/bench_ingest_http", url, key, str(seconds), str(connections)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def stored(server):
    return metrics(server)["hone_spans_stored_total"]


def loaded(build, server, key, seconds, connections):
    """Until all that was acknowledged can be queried."""
    before, begin = stored(server), time.monotonic()
    found = send(build, f"{server.otlp_url}/v1/traces", key, seconds, connections)
    while metrics(server)["hone_spans_pending"] > 0:
        time.sleep(0.05)
    took = time.monotonic() - begin
    spans = stored(server) - before
    assert spans == found["spans_acknowledged"], (spans, found)
    return found | {"spans_per_second_stored": round(spans / took), "all_visible_seconds_after_last_ack": round(took - found["seconds"], 1)}


class Watch:
    """Memory and log, four times a second, while it lives."""

    def __init__(self, server):
        self.server, self.samples, self.ended = server, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ended.wait(0.25):
            numbers = metrics(self.server)
            self.samples.append((resident_mb(self.server.process.pid), resident_mb(engine_of(self.server)),
                                 numbers["hone_span_log_bytes"] / 1e6, numbers.get("hone_span_parts", 0)))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def report(self):
        """By quarters of the time: what grows without an end is larger in each."""
        quarter = max(1, len(self.samples) // 4)
        parts = [self.samples[at : at + quarter] for at in range(0, quarter * 4, quarter)]
        names = ("server_mb", "engine_mb", "span_log_mb", "parts")
        return {name: [round(max(sample[i] for sample in part)) for part in parts if part] for i, name in enumerate(names)}


def overload(build, seconds):
    with Server(f"{build}/hone", None, "--requests-per-minute", "0", "--span-log-limit", str(OVERLOAD_LOG)) as server:
        key = key_of(server)
        send(build, f"{server.otlp_url}/v1/traces", key, 2, 8)  # the engine runs
        before = stored(server)
        with Watch(server) as watch:
            found = send(build, f"{server.otlp_url}/v1/traces", key, seconds, 8)
        while metrics(server)["hone_spans_pending"] > 0:
            time.sleep(0.1)
        numbers = metrics(server)
        return found | {
            "span_log_limit_mb": OVERLOAD_LOG // 1000000,
            "spans_stored": numbers["hone_spans_stored_total"] - before,
            "most_by_quarter": watch.report(),
        }


def main():
    build, seconds, overload_seconds, peer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    result = {"load_average_before": pathlib.Path("/proc/loadavg").read_text().strip()}
    with Server(f"{build}/hone", None, "--requests-per-minute", "0") as server:
        key = key_of(server)
        send(build, f"{server.otlp_url}/v1/traces", key, 2, 8)  # the engine runs, the project is there
        while metrics(server)["hone_spans_pending"] > 0:
            time.sleep(0.05)
        result["hone"] = [loaded(build, server, key, seconds, connections) for connections in CONNECTIONS]
        result["memory_mb"] = {"server": resident_mb(server.process.pid), "engine": resident_mb(engine_of(server))}
    if peer:
        result["peer_acknowledged"] = [send(build, peer, "none", seconds, connections) for connections in CONNECTIONS]
    if overload_seconds:
        result["overload"] = overload(build, overload_seconds)
    result["load_average_after"] = pathlib.Path("/proc/loadavg").read_text().strip()
    print(json.dumps(result, indent=1))


main()
