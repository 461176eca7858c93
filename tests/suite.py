"""Runs the tests of one folder: every function test_* of its files, four files side by side, one line per test.

Used by tests/e2e/run.py and tests/adversary/run.py. A test is a function `test_name(binary, stack)`; it passes, fails, or
skips itself by raising server.Skipped. A test that fails is red, except for those that tests/flaky.txt names: they get a
second try, and the suite says so.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import importlib
import inspect
import io
import multiprocessing
import os
import pathlib
import socketserver
import sys
import time
import traceback

import flaky
from server import Skipped


FILES_AT_ONCE = 4  # on two cores: most tests wait for a clock or a process


def tests_of(files):
    """Name and function of each test: `file: what it says`."""
    for file in files:
        module = importlib.import_module(file)
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and function.__module__ == file:
                yield f"{file}: {name[5:].replace('_', ' ')}", function


def quiet_about_clients(server, request, address):
    """A client that resets its connection is part of many tests; only other errors of a server are worth lines."""
    if not isinstance(sys.exc_info()[1], ConnectionError):
        print(f"{type(server).__name__}: {traceback.format_exc()}", file=sys.stderr, flush=True)


socketserver.BaseServer.handle_error = quiet_about_clients


def outcome_of(name, function, binary):
    """Runs one test and prints its line whole, so that files do not mix theirs."""
    start, said = time.monotonic(), io.StringIO()
    try:
        with contextlib.ExitStack() as stack, contextlib.redirect_stdout(said):
            function(binary, stack)
        result = "ok"
    except Skipped as why:
        result = "skip"
        print(f"      {why}", file=said)
    except Exception:
        result = "FAIL"
        traceback.print_exc(file=said)
    print(f"{result:4}  {time.monotonic() - start:6.1f} s  {name}\n{said.getvalue()}", end="", flush=True)
    return result


def outcomes_of_file(chosen, binary, listed):
    """The outcome of each test; "again" for one that tests/flaky.txt names and that passed its second try."""
    outcomes = {}
    for name, function in chosen:
        outcomes[name] = outcome_of(name, function, binary)
        if outcomes[name] == "FAIL" and name in listed and outcome_of(name, function, binary) == "ok":
            outcomes[name] = "again"
    return outcomes


def run(chosen, binary, listed, longest):
    files = {}
    for name, function in chosen:
        files.setdefault(name.split(":")[0], []).append((name, function))
    ordered = sorted(files, key=lambda file: longest.index(file) if file in longest else len(longest))
    outcomes = {}
    with concurrent.futures.ProcessPoolExecutor(FILES_AT_ONCE, multiprocessing.get_context("fork")) as pool:
        for each in [pool.submit(outcomes_of_file, files[file], binary, listed) for file in ordered]:
            outcomes |= each.result()
    return outcomes


def main(suite, description, folder, helpers, longest=(), check=lambda tests: [], report=lambda outcomes: None):
    """`helpers`: files of the folder that hold no tests. `check` gives the problems of the suite itself; `report` prints
    what a suite adds to the summary."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=pathlib.Path(__file__).resolve().parent.parent / "build/release/hone")
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args()
    wanted.binary = pathlib.Path(wanted.binary).absolute()  # tests start it from other folders
    tests = list(tests_of(path.stem for path in sorted(folder.glob("*.py")) if path.stem not in helpers))
    chosen = [
        (name, function)
        for name, function in tests
        if not wanted.names or any(part.replace("_", " ") in name.replace("_", " ") for part in wanted.names)
    ]
    if wanted.list:
        print("\n".join(name for name, _ in chosen))
        return 0
    if not wanted.binary.exists():
        print(f"{wanted.binary} is not there: build it first (./dev build)", file=sys.stderr)
        return 2
    # Debian's Node.js 18 has Web Crypto behind a flag; LangChain wants it there. Later versions take the flag as well.
    os.environ.setdefault("NODE_OPTIONS", "--experimental-global-webcrypto")
    listed = flaky.entries(suite) if suite in flaky.SUITES else []
    wrong = flaky.problems(suite, {name for name, _ in tests}) if suite in flaky.SUITES else []
    wrong += check(tests)
    outcomes = run(chosen, wanted.binary, {entry.name for entry in listed}, list(longest))
    for entry in listed:
        print(f"flaky  {entry.name}: {outcomes.get(entry.name, 'not run')} ({entry.reason}, {entry.date})")
    for name in (name for name, outcome in outcomes.items() if outcome == "skip"):
        print(f"skipped  {name}")
    for name in (name for name, outcome in outcomes.items() if outcome == "FAIL"):
        print(f"failed  {name}")
    print("".join(f"FAIL  {problem}\n" for problem in wrong), end="")
    report(outcomes)
    count = collections.Counter(outcomes.values())
    failed = count["FAIL"] + len(wrong)
    print(f"{count['ok'] + count['again']} passed, {failed} failed, {count['skip']} skipped")
    return 1 if failed or not chosen else 0
