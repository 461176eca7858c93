"""VictoriaTraces from the Go module proxy beside the benchmark of ingest: built once, into a cache folder of the user, and
started on a folder of its own. It acknowledges what is in its memory."""

import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

VERSION = "0.7.1"
MODULE = f"github.com/VictoriaMetrics/VictoriaTraces/app/victoria-traces@v{VERSION}"
RECEIVES_AT = "/insert/opentelemetry/v1/traces"


class Missing(Exception):
    """It cannot be had here; the text is what go printed."""


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))) / f"hone/victoria-traces-{VERSION}"


def build():
    program = cache() / "victoria-traces"
    if not program.exists():
        cache().mkdir(parents=True, exist_ok=True)
        print(f"building VictoriaTraces {VERSION} in {cache()}; this takes some minutes", file=sys.stderr, flush=True)
        environment = os.environ | {"GOBIN": str(cache()), "GOFLAGS": "-p=1"}
        try:
            subprocess.run(["nice", "-n", "19", "go", "install", MODULE], check=True, env=environment, stdout=sys.stderr,
                           stderr=subprocess.PIPE, text=True)
        except FileNotFoundError as why:
            raise Missing(f"VictoriaTraces {VERSION} cannot be built: {why}") from why
        except subprocess.CalledProcessError as why:
            raise Missing(f"VictoriaTraces {VERSION} cannot be built: {why.stderr.strip()}") from why
    return program


def start(folder):
    """The process and its address, when it accepts connections."""
    program = build()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [program, f"-storageDataPath={folder}", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=30d"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, f"http://127.0.0.1:{port}"
        except OSError:
            assert process.poll() is None, "VictoriaTraces ended"
            assert time.monotonic() < deadline, "VictoriaTraces does not respond"
            time.sleep(0.02)


def measured(send, connections, resident_mb, cpu_seconds, disk_bytes):
    """Each load, the memory and disk after it. The disk at the end is that after a clean stop, which writes what is in memory."""
    with tempfile.TemporaryDirectory(prefix="hone-peer-") as folder:
        process, url = start(folder)
        loads, most = [], 0
        try:
            for number in connections:
                loads.append(send(url + RECEIVES_AT, number))
                most = max(most, resident_mb(process.pid))
            cpu = cpu_seconds(process.pid)
            process.terminate()
            process.wait(120)
        finally:
            process.kill()
            process.wait()
        spans = max(1, sum(load["spans_acknowledged"] for load in loads))
        return {"loads": loads, "memory_mb_after_a_load": most, "cpu_us_per_span": round(cpu / spans * 1e6, 1),
                "disk_bytes_per_span": round(disk_bytes(folder) / spans)}
