#!/usr/bin/env python3
"""Phoenix' Python client, unmodified from PyPI, against the real binary: runs phoenix_client.py, with AsyncClient
phoenix_async_client.py, and phoenix_suite.py with its pytest plugin; phoenix_suite.eval.mjs with the vitest plugin from npm.

tests/peers/phoenix_server.py [--binary build/release/hone]
"""

import argparse
import os
import pathlib
import shutil
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


def measured(server, dataset, first, second):
    """Two runs of one suite are one dataset with two experiments; a test that fails is a failed `pass`."""
    told = f"{first.stdout[-1500:]}\n{second.stdout[-1500:]}\n{second.stderr[-1500:]}"
    if first.returncode != 1 or second.returncode != 0:
        return f"exit {first.returncode}, {second.returncode}: {told}"
    client = server.client(key_of(server))
    examples = client.must("GET", f"/v1/datasets/{dataset}/examples").data["examples"]
    if sorted(example["input"]["a"] for example in examples) != [1, 2, 3]:
        return f"examples {examples}"
    passed = []
    for row in client.must("GET", f"/v1/datasets/{dataset}/experiments").data:
        runs = client.must("GET", f"/v1/experiments/{row['id']}/run_rows").data
        named = [(one["name"], one["score"]) for each in runs for one in each["evals"]]
        if len(runs) != 6 or {name for name, _ in named} != {"pass", "close"}:
            return f"{len(runs)} runs of {row}: {named}"
        passed.append(sum(score for name, score in named if name == "pass"))
    return "" if passed == [6, 4] else f"passed {passed} of two experiments: {told}"


def pytest_plugin(server):
    suite = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "phoenix_suite.py")
    return measured(server, "sums", run(server, *suite, WRONG="1"), run(server, *suite))


def vitest_plugin(server):
    folder = here.parent.parent / "build/peers/npm-phoenix"
    shutil.copy(here / "phoenix_suite.eval.mjs", folder)
    environment = os.environ | {"PHOENIX_HOST": server.url, "PHOENIX_API_KEY": key_of(server)}
    command = [folder / "node_modules/.bin/vitest", "run", "phoenix_suite.eval.mjs", "--testTimeout=60000", "--hookTimeout=60000"]

    def suite(**more):
        return subprocess.run(command, env=environment | more, cwd=folder, capture_output=True, text=True, timeout=600)

    return measured(server, "sums%20%2F%20of%20vitest", suite(WRONG="1"), suite())


def check(binary):
    """How many parts passed, and how many failed."""
    passed = failed = 0
    with Server(pathlib.Path(binary)) as server:
        parts = {
            "arize-phoenix-client": lambda: script(server, "phoenix_client.py"),
            "its AsyncClient": lambda: script(server, "phoenix_async_client.py"),
            "its pytest plugin": lambda: pytest_plugin(server),
            "the vitest plugin of @arizeai/phoenix-client": lambda: vitest_plugin(server),
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
