#!/usr/bin/env python3
"""Phoenix' Python client, unmodified from PyPI, against the real binary: runs phoenix_client.py, with AsyncClient
phoenix_async_client.py, and phoenix_suite.py with its pytest plugin.

tests/peers/phoenix_server.py [--binary build/release/hone]
"""

import argparse
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here.parent / "e2e"))

from server import Server  # noqa: E402
from telemetry import key_of  # noqa: E402


def run(server, *command, **more):
    environment = os.environ | {"PHOENIX_BASE_URL": server.url, "PHOENIX_API_KEY": key_of(server)} | more
    return subprocess.run([sys.executable, *command], env=environment, cwd=here, capture_output=True, text=True, timeout=600)


def script(server, name):
    """The reason why it failed; empty when it did not."""
    ran = run(server, str(here / name))
    return "" if ran.returncode == 0 else f"{ran.stdout[-1000:]}\n{ran.stderr[-3000:]}"


def plugin(server):
    """Two runs of one suite are one dataset with two experiments; a test that fails is a failed `pass`."""
    suite = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "phoenix_suite.py")
    first, second = run(server, *suite, WRONG="1"), run(server, *suite)
    told = f"{first.stdout[-1500:]}\n{second.stdout[-1500:]}\n{second.stderr[-1500:]}"
    if first.returncode != 1 or second.returncode != 0:
        return f"exit {first.returncode}, {second.returncode}: {told}"
    client = server.client(key_of(server))
    examples = client.must("GET", "/v1/datasets/sums/examples").data["examples"]
    if sorted(example["input"]["a"] for example in examples) != [1, 2, 3]:
        return f"examples {examples}"
    passed = []
    for row in client.must("GET", "/v1/datasets/sums/experiments").data:
        runs = client.must("GET", f"/v1/experiments/{row['id']}/run_rows").data
        named = [(one["name"], one["score"]) for each in runs for one in each["evals"]]
        if len(runs) != 6 or {name for name, _ in named} != {"pass", "close"}:
            return f"{len(runs)} runs of {row}: {named}"
        passed.append(sum(score for name, score in named if name == "pass"))
    return "" if passed == [6, 4] else f"passed {passed} of two experiments: {told}"


def check(binary):
    """How many parts passed, and how many failed."""
    passed = failed = 0
    with Server(pathlib.Path(binary)) as server:
        parts = {
            "arize-phoenix-client": lambda: script(server, "phoenix_client.py"),
            "its AsyncClient": lambda: script(server, "phoenix_async_client.py"),
            "its pytest plugin": lambda: plugin(server),
        }
        for name, part in parts.items():
            reason = part()
            print(f"  {'FAIL' if reason else 'ok  '}  {name} {reason}", flush=True)
            passed, failed = passed + (not reason), failed + bool(reason)
    return passed, failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/hone")
    passed, failed = check(parser.parse_args().binary)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
