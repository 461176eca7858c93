#!/usr/bin/env python3
"""Phoenix' Python client, unmodified from PyPI, against the real binary: runs phoenix_client.py.

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


def check(binary):
    """How many runs of the script passed, and how many failed."""
    with Server(pathlib.Path(binary)) as server:
        environment = os.environ | {"PHOENIX_BASE_URL": server.url, "PHOENIX_API_KEY": key_of(server)}
        command = [sys.executable, str(here / "phoenix_client.py")]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    good = ran.returncode == 0
    print(f"  {'ok  ' if good else 'FAIL'}  arize-phoenix-client {'' if good else ran.stderr[-3000:]}", flush=True)
    return int(good), int(not good)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/hone")
    passed, failed = check(parser.parse_args().binary)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
