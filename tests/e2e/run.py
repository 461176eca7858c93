#!/usr/bin/env python3
"""End-to-end tests: the real binary over real sockets, disks and signals.

tests/e2e/run.py [--binary build/release/hone] [--list] [names…]   a name is part of a test's name

Two files run side by side, since many tests only wait for a clock; the tests of one file follow one another.
"""

import argparse
import concurrent.futures
import contextlib
import importlib
import inspect
import io
import multiprocessing
import os
import pathlib
import sys
import time
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here))
FILES = [path.stem for path in sorted(here.glob("*.py")) if path.stem not in ("run", "server")]

LONGEST = ["agents", "monitors", "automations", "span_faults", "wall_clock"]  # begun first, so that none is left alone at the end


def tests():
    for file in FILES:
        module = importlib.import_module(file)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == file:
                yield f"{file}: {name[5:].replace('_', ' ')}", function


def passes(name, function, binary):
    """Runs one test and prints its line whole, so that two files do not mix theirs."""
    start, said = time.monotonic(), io.StringIO()
    try:
        with contextlib.ExitStack() as stack, contextlib.redirect_stdout(said):
            function(binary, stack)
        result = "ok  "
    except Exception:
        result = "FAIL"
        traceback.print_exc(file=said)
    print(f"{result}  {time.monotonic() - start:6.1f} s  {name}\n{said.getvalue()}", end="", flush=True)
    return result != "FAIL"


def failures_of_file(chosen, binary):
    return [name for name, function in chosen if not passes(name, function, binary)]


def run(chosen, binary):
    """The names of the tests that failed."""
    files = {}
    for name, function in chosen:
        files.setdefault(name.split(":")[0], []).append((name, function))
    ordered = sorted(files, key=lambda file: LONGEST.index(file) if file in LONGEST else len(LONGEST))
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        running = [pool.submit(failures_of_file, files[file], binary) for file in ordered]
        return [name for each in running for name in each.result()]


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
    # Debian's Node.js 18 has Web Crypto behind a flag; LangChain wants it there. Later versions take the flag as well.
    os.environ.setdefault("NODE_OPTIONS", "--experimental-global-webcrypto")
    failed = run(chosen, wanted.binary)
    if 0 < len(failed) <= 3:
        # A machine that stands still for a moment fails a test; a fault fails it twice. Which ones is said either way.
        print(f"once more: {', '.join(failed)}", flush=True)
        failed = failures_of_file([test for test in chosen if test[0] in failed], wanted.binary)
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
