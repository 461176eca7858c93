#!/usr/bin/env python3
"""End-to-end tests: the real binary over real sockets, disks and signals.

tests/e2e/run.py [--binary build/release/hone] [--list] [names…]   a name is part of a test's name
"""

import argparse
import contextlib
import importlib
import inspect
import pathlib
import sys
import time
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here))
FILES = [path.stem for path in sorted(here.glob("*.py")) if path.stem not in ("run", "server")]


def tests():
    for file in FILES:
        module = importlib.import_module(file)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == file:
                yield f"{file}: {name[5:].replace('_', ' ')}", function


def passes(name, function, binary):
    start = time.monotonic()
    try:
        with contextlib.ExitStack() as stack:
            function(binary, stack)
        print(f"ok    {time.monotonic() - start:6.1f} s  {name}", flush=True)
        return True
    except Exception:
        print(f"FAIL  {time.monotonic() - start:6.1f} s  {name}", flush=True)
        traceback.print_exc(file=sys.stdout)
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=here.parent.parent / "build/release/hone")
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args()
    chosen = [
        (name, function)
        for name, function in tests()
        if not wanted.names or any(part.replace("_", " ") in name.replace("_", " ") for part in wanted.names)
    ]
    if wanted.list:
        print("\n".join(name for name, _ in chosen))
        return 0
    if not pathlib.Path(wanted.binary).exists():
        print(f"{wanted.binary} is not there: build it first (./dev build)", file=sys.stderr)
        return 2
    failed = [test for test in chosen if not passes(*test, wanted.binary)]
    if 0 < len(failed) <= 3:
        # A machine that stands still for a moment fails a test; a fault fails it twice. Which ones is said either way.
        print(f"once more: {', '.join(name for name, _ in failed)}", flush=True)
        failed = [test for test in failed if not passes(*test, wanted.binary)]
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
