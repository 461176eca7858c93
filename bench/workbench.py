"""How soon a worker can work. See workbench.sh."""

import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))

import storage  # noqa: E402
import workbench_repos  # noqa: E402
from runs import OVER, Follower, Shop  # noqa: E402
from workbench import Bench  # noqa: E402

# A harness whose first act is a tool call.
FIRST_CALL = """echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Bash","input":{}}]}}'"""

# What a developer would type on the host, in the folder of the clone.
ON_HOST = {
    "node": "npm ci --no-audit --no-fund",
    "python": "/usr/bin/python3 -m pip install --quiet --target deps -r requirements.txt",
    "cplusplus": "true",
    "monorepo": "(cd packages/web && npm ci --no-audit --no-fund) && "
                "/usr/bin/python3 -m pip install --quiet --target deps -r services/api/requirements.txt",
    "broken-lock": "npm ci --no-audit --no-fund || true",
}


def first_call(bench, url, repository):
    """Milliseconds from the request to the first tool call, and whether the layer was there."""
    sandbox = {"packages": repository.packages, "setup": repository.setup, "init_failure": "degrade"}
    began = time.perf_counter()
    id = bench.start(url, FIRST_CALL, sandbox=sandbox)
    events = Follower(bench.shop, id).read(lambda event: event["kind"] == "tool_call" or event["state"] in OVER)
    assert events[-1]["kind"] == "tool_call", bench.shop.texts(id)
    took = (time.perf_counter() - began) * 1000
    bench.shop.until(id)
    steps = bench.setup_steps(id)
    return took, bool(steps) and "reused" in steps[0]


def on_host(url, repository, scratch, certificate):
    """The same clone and commands without Hone, with an empty home: nothing is cached."""
    folder = tempfile.mkdtemp(dir=scratch)
    home = tempfile.mkdtemp(dir=scratch)
    for name in (".npmrc", ".config/pip/pip.conf"):
        source = pathlib.Path.home() / name
        if source.exists():
            pathlib.Path(home, name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, pathlib.Path(home, name))
    environment = os.environ | {"HOME": home, "GIT_SSL_CAINFO": str(certificate), "GIT_CONFIG_NOSYSTEM": "1",
                                "PIP_NO_CACHE_DIR": "1", "npm_config_cache": home + "/npm"}
    script = f"set -e; git clone -q {url} clone; cd clone; {ON_HOST[repository.name]}"
    began = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", script], cwd=folder, env=environment, check=True, capture_output=True)
    took = (time.perf_counter() - began) * 1000
    shutil.rmtree(folder)
    shutil.rmtree(home)
    return took


def quiet():
    """Whether the machine has something else to do."""
    return os.getloadavg()[0] < 0.5


FOLDERS = ("sandbox/threads", "sandbox/layers", "artifacts", "runs")


def after_many_runs(binary, batches):
    """Bytes on the disk after many runs of a server with small limits, beside what the same commands leave on a host."""
    with contextlib.ExitStack() as stack:
        shop = Shop(pathlib.Path(binary), stack, *storage.SMALL)

        def below():
            return {folder: storage.bytes_below(shop.server.data_dir / folder) for folder in FOLDERS}

        peaks = []
        began = time.perf_counter()
        storage.many_runs(shop, batches, lambda: peaks.append(sum(below().values())))
        took = time.perf_counter() - began
        left = below()
        note = (storage.NOTE_BYTES + 2) // 3 * 4
        return {"runs": batches * 25, "limits": " ".join(storage.SMALL[4:]), "bytes": left, "bytes_in_all": sum(left.values()),
                "bytes_at_most": max(peaks), "host_bytes": batches * 25 * (storage.WORKSPACE_BYTES + note),
                "data_directory_bytes": storage.bytes_below(shop.server.data_dir), "seconds": round(took, 1)}


def main(binary, starts, batches):
    result = {"bench": "workbench", "quiet": quiet(), "warm_starts": starts, "repositories": {}}
    hits = tried = 0
    with contextlib.ExitStack() as stack:
        bench = Bench(pathlib.Path(binary), stack)
        for make in workbench_repos.ALL:
            repository = make(bench.scratch)
            url = bench.add(repository.name, repository.write)
            cold, _ = first_call(bench, url, repository)
            warm = [first_call(bench, url, repository) for _ in range(starts)]
            # Of the one with a broken lock file there is no layer; of the one without dependencies none is needed.
            has_layer = repository.name not in ("cplusplus", "broken-lock")
            if has_layer:
                hits += sum(hit for _, hit in warm)
                tried += len(warm)
            times = [took for took, _ in warm]
            host = on_host(url, repository, bench.scratch, bench.forge.certificate)
            result["repositories"][repository.name] = {
                "cold_ms": round(cold), "warm_p50_ms": round(statistics.median(times)), "warm_max_ms": round(max(times)),
                "host_ms": round(host), "cold_to_host": round(cold / host, 2),
                "warm_to_host": round(statistics.median(times) / host, 3), "has_layer": has_layer,
            }
        layers = pathlib.Path(bench.shop.server.data_dir) / "sandbox/layers"
        result["layer_hit_ratio"] = round(hits / tried, 3)
        result["layers_bytes"] = sum(file.lstat().st_blocks * 512 for file in layers.rglob("*"))
    result["disk"] = after_many_runs(binary, batches)
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
