#!/usr/bin/env python3
"""Runs clang 14 (its warnings, the thread-safety analysis) and clang-tidy over src/.

    python3 tools/check_tidy.py build/tidy [file...]

A file that passed is not checked again until it, a project header it includes, its compile command or .clang-tidy
changes: build/tidy/checked keeps the hash of all that. Library headers are known by clang-tidy's version only; delete
that folder after an upgrade of the machine. Each finding is printed once, however many files include its header.

Most of the time goes into the headers, so files of one folder that have no name in common are checked as one. Those
that do not go together after all are checked in halves."""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TIDY = "clang-tidy-14"
# Tests are compiled with all warnings, but most checks would only ponder doctest's macros.
TEST_CHECKS = "-*,clang-diagnostic-*,bugprone-use-after-move,bugprone-dangling-handle,misc-unused-using-decls"
MOST_TOGETHER = 20
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
    digest = hashlib.sha256(common + command.replace(str(root), "").encode())
    for each in sorted(inputs(path, set())):
        digest.update(str(each.relative_to(root)).encode() + b"\0" + hashlib.sha256(content(each)).digest())
    return digest.hexdigest()


def flags_of(command):
    """A compile command without the compiler, its input and its output."""
    words = shlex.split(command)[1:]
    for option in ("-o", "-c"):
        del words[words.index(option):words.index(option) + 2]
    return words


def own_names(path):
    """The names a source file declares for itself, roughly: what stands at the start of a line and is no member."""
    text = content(path).decode()
    types = re.findall(r"^(?:struct|class|enum class|union) (\w+)|^using (\w+) =", text, re.MULTILINE)
    names = {name for pair in types for name in pair if name}
    names.update(re.findall(r"^(?!using )[A-Za-z][^(\n=:{]*?(?:\w::\w[^(\n=:{]*?)*[ &*](\w+)(?:\(|\[| =|\{|;)", text, re.MULTILINE))
    return names


def groups(paths, commands):
    """Files of one folder with the same flags, at most a few together, and none with a name of another in its group."""
    open_groups, done = [], []
    for path in paths:
        kind, names = (path.parent, path.name.endswith(".test.cpp"), flags_of(commands[path])), own_names(path)
        for group in open_groups:
            if group["kind"] == kind and len(group["paths"]) < MOST_TOGETHER and not group["names"] & names:
                break
        else:
            group = {"kind": kind, "paths": [], "names": set()}
            open_groups.append(group)
            done.append(group["paths"])
        group["paths"].append(path)
        group["names"] |= names
    return done


def check(paths, flags):
    """Returns (path, whether it passed, the message) of each."""
    options = ["--checks=" + TEST_CHECKS] if paths[0].name.endswith(".test.cpp") else []
    with tempfile.TemporaryDirectory(dir=build) as folder:
        whole = paths[0] if len(paths) == 1 else pathlib.Path(folder) / "together.cpp"
        if len(paths) > 1:
            whole.write_text("".join(f'#include "{path}" // NOLINT(bugprone-suspicious-include)\n' for path in paths))
        done = subprocess.run([TIDY, "--quiet", *options, whole, "--", *flags], capture_output=True, text=True)
    if done.returncode == 0:
        return [(path, True, "", "") for path in paths]
    noise = re.compile(r"^(\d+ (warning|error)s? .*generated|Suppressed .*|Use -header-filter.*|.* warnings treated as errors?)\.?$")
    trouble = "\n".join(line for line in done.stderr.splitlines() if line and not noise.match(line))
    if len(paths) == 1:
        return [(paths[0], False, done.stdout, trouble)]
    if "clang-diagnostic-error" in done.stdout: # they do not go together
        half = len(paths) // 2
        return check(paths[:half], flags) + check(paths[half:], flags)
    places = set(re.findall(r"^(\S+?):\d+:\d+: (?:warning|error): ", done.stdout, re.MULTILINE))
    named = [path for path in paths if str(path) in places]
    if len(named) < len(places): # a header is at fault, and with it each file
        named = paths
    return [(path, path not in named, done.stdout if path == named[0] else "", "") for path in paths]


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
        path for path in commands if {root / "src", root / "bench"} & set(path.parents) and not path.name.endswith(".fuzz.cpp")]
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
        longest_first = sorted(groups(pending, commands), key=len, reverse=True)
        started = [pool.submit(check, group, flags_of(commands[group[0]])) for group in longest_first]
        for outcome in concurrent.futures.as_completed(started):
            for path, good, output, trouble in outcome.result():
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
