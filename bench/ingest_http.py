"""Spans over OTLP/HTTP into a whole server. See ingest_http.sh."""

import bisect
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "tests/e2e")]

import victoria_traces  # noqa: E402
from server import Server  # noqa: E402
from telemetry import engine_of, key_of  # noqa: E402

OVERLOAD_LOG = 300 << 20
CONNECTIONS = (8, 64, 1)
MOST_GROWTH = 1.15  # of memory, from the second to the last quarter of an overload
QUIET = 25  # seconds in which the engine neither works nor changes its disk: merged parts are deleted after ten
problems = []


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


def cpu_seconds(pid):
    with contextlib.suppress(OSError, TypeError):
        numbers = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def disk_bytes(folder):
    """What files take; one that is deleted meanwhile takes nothing."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{path}/{name}").st_blocks * 512
    return total


def send(build, url, key, seconds, connections, rate=0):
    command = [f"{build}/bench/bench_ingest_http", url, key, str(seconds), str(connections), "50", str(rate)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def stored(server):
    return metrics(server)["hone_spans_stored_total"]


def wait_visible(server):
    while metrics(server)["hone_spans_pending"] > 0:
        time.sleep(0.05)


def all_stored(found, spans):
    if spans != found["spans_acknowledged"]:
        problems.append(f"{found['spans_acknowledged']} spans were acknowledged, {spans:.0f} stored")


def loaded(build, server, key, seconds, connections):
    """Until all that was acknowledged can be queried."""
    before, begin = stored(server), time.monotonic()
    found = send(build, f"{server.otlp_url}/v1/traces", key, seconds, connections)
    wait_visible(server)
    took = time.monotonic() - begin
    spans = stored(server) - before
    all_stored(found, spans)
    return found | {"spans_per_second_stored": round(spans / took), "all_visible_seconds_after_last_ack": round(took - found["seconds"], 1)}


def share_of(values, share):
    values = sorted(values)
    return round(values[min(len(values) - 1, int(len(values) * share))], 3) if values else 0


def steady(build, server, key, seconds, rate):
    """At a rate that it can take: how long after its acknowledgement each request can be queried."""
    before, seen, ended = stored(server), [], threading.Event()

    def watch():
        while not ended.wait(0.02):
            spans = stored(server) - before
            seen.append((spans, time.monotonic()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        found = send(build, f"{server.otlp_url}/v1/traces", key, seconds, 8, rate)
        wait_visible(server)
        time.sleep(0.1)
    finally:
        ended.set()
        watcher.join()
    all_stored(found, stored(server) - before)
    acknowledged = found.pop("acknowledged_at")
    counts, times = [each[0] for each in seen], [each[1] for each in seen]
    # The log is loaded in its order, so that the request that was acknowledged as the n-th is there with n times its spans.
    spans = found["spans_acknowledged"] / max(1, len(acknowledged))
    visible = [bisect.bisect_left(counts, (number + 1) * spans) for number in range(len(acknowledged))]
    waits = [times[place] - at for place, at in zip(visible, acknowledged) if place < len(times)]
    return found | {"rate": rate, "visible_seconds_after_ack": {"p50": share_of(waits, 0.5), "p99": share_of(waits, 0.99)}}


class Watch:
    """Memory, log and disk over time, four times a second, while it lives."""

    NAMES = ("server_mb", "engine_mb", "span_log_mb", "parts", "disk_mb")

    def __init__(self, server):
        self.server, self.samples, self.ended = server, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.ended.wait(0.25):
            numbers = metrics(self.server)
            self.samples.append((resident_mb(self.server.process.pid), resident_mb(engine_of(self.server)),
                                 numbers["hone_span_log_bytes"] / 1e6, numbers.get("hone_span_parts", 0),
                                 disk_bytes(self.server.data_dir / "telemetry/engine") / 1e6))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()

    def quarters(self):
        quarter = max(1, len(self.samples) // 4)
        return [part for at in range(0, quarter * 4, quarter) if (part := self.samples[at : at + quarter])]

    def most_by_quarter(self):
        """What grows without an end is larger in each."""
        return {name: [round(max(sample[i] for sample in part)) for part in self.quarters()] for i, name in enumerate(self.NAMES)}

    def growth(self):
        """The mean of the last quarter in relation to the second: the first one fills caches."""
        parts, found = self.quarters(), {}
        if len(parts) < 4:
            return found
        for name in ("server_mb", "engine_mb"):
            place = self.NAMES.index(name)
            second, last = (sum(sample[place] for sample in part) / len(part) for part in (parts[1], parts[3]))
            found[name] = round(last / max(second, 1), 3)
            if found[name] > MOST_GROWTH:
                problems.append(f"{name} grew {found[name]} times from the second to the last quarter of the overload")
        return found


def settled(server, most=900):
    """The bytes of the engine's folder after its merges; none: it was never quiet."""
    engine = engine_of(server)
    deadline, since = time.monotonic() + most, time.monotonic()
    last, busy = disk_bytes(server.data_dir / "telemetry/engine"), cpu_seconds(engine)
    while time.monotonic() < deadline:
        time.sleep(1)
        now, cpu = disk_bytes(server.data_dir / "telemetry/engine"), cpu_seconds(engine)
        if now != last or cpu - busy > 0.1:
            since = time.monotonic()
        last, busy = now, cpu
        if time.monotonic() - since > QUIET:
            return last
    problems.append(f"the engine was not quiet within {most} s")
    return None


def of_hone(build, seconds):
    with Server(f"{build}/hone", None, "--requests-per-minute", "0") as server:
        key = key_of(server)
        send(build, f"{server.otlp_url}/v1/traces", key, 2, 8)  # the engine runs, the project is there
        wait_visible(server)
        engine = engine_of(server)
        before, cpu = stored(server), (cpu_seconds(server.process.pid), cpu_seconds(engine))
        with Watch(server) as watch:
            loads = [loaded(build, server, key, seconds, connections) for connections in CONNECTIONS]
            visible = steady(build, server, key, seconds, loads[0]["spans_per_second_stored"] // 2)
        after = settled(server)
        spans, all_spans = stored(server) - before, stored(server)
        if engine_of(server) != engine:
            problems.append("the engine was started again, so that its CPU is not known")
        most = watch.most_by_quarter()
        return {
            "loads": loads,
            "steady_half_rate": visible,
            "cpu_us_per_span": {"server": round((cpu_seconds(server.process.pid) - cpu[0]) / spans * 1e6, 1),
                                "engine": round((cpu_seconds(engine) - cpu[1]) / spans * 1e6, 1)},
            "disk_bytes_per_span": {"after_merges": after and round(after / all_spans),
                                    "peak": round(max(most["disk_mb"]) * 1e6 / all_spans)},
            "memory_mb_most": {"server": max(most["server_mb"]), "engine": max(most["engine_mb"])},
        }


def of_peer(build, peer, seconds):
    """The same loads; what an acknowledgement means and when spans are visible is the peer's own."""
    if peer != "victoria":
        return [send(build, peer, "none", seconds, connections) for connections in CONNECTIONS]
    try:
        return victoria_traces.measured(lambda url, connections: send(build, url, "none", seconds, connections), CONNECTIONS,
                                        resident_mb, cpu_seconds, disk_bytes)
    except victoria_traces.Missing as why:
        problems.append(str(why))
        return {"error": str(why)}


def overload(build, seconds):
    with Server(f"{build}/hone", None, "--requests-per-minute", "0", "--span-log-limit", str(OVERLOAD_LOG)) as server:
        key = key_of(server)
        send(build, f"{server.otlp_url}/v1/traces", key, 2, 8)  # the engine runs
        wait_visible(server)
        before = stored(server)
        with Watch(server) as watch:
            found = send(build, f"{server.otlp_url}/v1/traces", key, seconds, 8)
        wait_visible(server)
        spans = stored(server) - before
        all_stored(found, spans)
        if found["refused_without_retry_after"]:
            problems.append(f"{found['refused_without_retry_after']} refusals had no Retry-After")
        return found | {
            "span_log_limit_mb": OVERLOAD_LOG // 1000000,
            "spans_stored": spans,
            "most_by_quarter": watch.most_by_quarter(),
            "growth_of_memory": watch.growth(),
        }


def main():
    build, seconds, overload_seconds, peer = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    result = {"load_average_before": pathlib.Path("/proc/loadavg").read_text().strip(), "hone": of_hone(build, seconds)}
    if peer:
        result["peer"] = of_peer(build, peer, seconds)
    if overload_seconds:
        result["overload"] = overload(build, overload_seconds)
    result["load_average_after"] = pathlib.Path("/proc/loadavg").read_text().strip()
    result["problems"] = problems
    print(json.dumps(result, indent=1))
    return 1 if problems else 0


sys.exit(main())
