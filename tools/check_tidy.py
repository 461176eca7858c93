#!/usr/bin/env python3
"""Runs clang 14 (its warnings, the thread-safety analysis) and clang-tidy over src/, in one pass per file.

    python3 tools/check_tidy.py build/tidy [file...]

A file that passed is not looked at again until it, a project header it includes, its compile command or .clang-tidy
changes: build/tidy/checked keeps the hash of all that. Library headers are known by clang-tidy's version only; delete
that folder after an upgrade of the machine. Each finding is printed once, however many files include its header."""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

TIDY = "clang-tidy-14"
# Tests are compiled with all warnings, but most checks would only ponder doctest's macros.
TEST_CHECKS = "-*,clang-diagnostic-*,bugprone-use-after-move,bugprone-dangling-handle,misc-unused-using-decls"
root = pathlib.Path(__file__).resolve().parent.parent
build = root / sys.argv[1]
include = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


@functools.cache
def content(path):
    return path.read_bytes() if path.is_file() else b""


def inputs(path, seen):
    """The file and every project header it reaches."""
    if path in seen:
        return seen
    seen.add(path)
    for name in include.findall(content(path)):
        for place in (root / "src" / name.decode(), path.parent / name.decode()):
            if place.is_file():
                inputs(place.resolve(), seen)
    return seen


def fingerprint(path, command, common):
    digest = hashlib.sha256(common + command.encode())
    for each in sorted(inputs(path, set())):
        digest.update(str(each.relative_to(root)).encode() + b"\0" + hashlib.sha256(content(each)).digest())
    return digest.hexdigest()


def check(path):
    options = ["--checks=" + TEST_CHECKS] if path.name.endswith(".test.cpp") else []
    done = subprocess.run([TIDY, "-p", build, "--quiet", *options, path], capture_output=True, text=True)
    noise = re.compile(r"^(\d+ (warning|error)s? .*generated|Suppressed .*|Use -header-filter.*|.* warnings treated as errors?)\.?$")
    trouble = [line for line in done.stderr.splitlines() if line and not noise.match(line)]
    return path, done.returncode == 0, done.stdout, "\n".join(trouble)


def findings(text):
    """The output cut into findings: a headline and the lines that explain it."""
    found = []
    for line in text.splitlines():
        if re.match(r"^\S.*: (warning|error): ", line) or not found:
            found.append([])
        found[-1].append(line.replace(str(root) + "/", ""))
    return ["\n".join(lines) for lines in found]


def main():
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    common = version + content(root / ".clang-tidy") + TEST_CHECKS.encode()
    commands = {pathlib.Path(entry["file"]): entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())}
    wanted = [pathlib.Path(name).resolve() for name in sys.argv[2:]] or [
        path for path in commands if root / "src" in path.parents and not path.name.endswith((".fuzz.cpp", ".bench.cpp"))]
    stamps = build / "checked"
    stamps.mkdir(exist_ok=True)
    pending = {}
    for path in sorted(wanted, key=lambda path: (path.name.endswith(".test.cpp"), path)):
        stamp = stamps / str(path.relative_to(root)).replace("/", "-")
        hashed = fingerprint(path, commands[path], common)
        if not stamp.exists() or stamp.read_text() != hashed:
            pending[path] = (stamp, hashed)
    print(f"  {len(wanted)} files, {len(wanted) - len(pending)} unchanged since they passed", flush=True)
    seen, bad = set(), 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for path, good, output, trouble in pool.map(check, pending):
            stamp, hashed = pending[path]
            if good:
                stamp.write_text(hashed)
                continue
            bad += 1
            fresh = [finding for finding in findings(output) if finding not in seen]
            seen.update(fresh)
            print(f"  FAIL  {path.relative_to(root)}", *fresh, *([trouble] if trouble else []), sep="\n", flush=True)
    print(f"{len(wanted) - bad} passed, {bad} failed")
    return 1 if bad else 0


sys.exit(main())
