#!/usr/bin/env python3
"""Reads the programs of a release build with readelf and prints which of them is not hardened: position independent, full
RELRO, no executable stack, no memory both writable and executable, no foreign path where libraries are looked for, and every
source of them compiled with stack protector and FORTIFY (which the symbols of a stripped static program do not show).

usage: check_hardening.py build/release
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
PROGRAMS = ("hone", "hone-client", "hone-server", "hone-init", "hone-inside", "hone-pod", "hone-engine")
problems = []


def readelf(program, *options):
    return subprocess.run(["readelf", "-W", *options, folder / program], check=True, capture_output=True, text=True).stdout


def check_program(program):
    def demand(fact, otherwise):
        if not fact:
            problems.append(f"{program} {otherwise}")

    segments, dynamic = readelf(program, "-h", "-l"), readelf(program, "-d")
    is_static = "INTERP" not in segments
    demand(re.search(r"Type:\s+DYN", segments) and re.search(r"\(FLAGS_1\).*\bPIE\b", dynamic), "is not position independent")
    demand("GNU_RELRO" in segments, "has no RELRO segment")
    demand(is_static or "BIND_NOW" in dynamic or re.search(r"\(FLAGS_1\).*\bNOW\b", dynamic), "binds lazily: RELRO is partial")
    demand(re.search(r"GNU_STACK\s.*\sRW\s", segments), "has an executable stack, or does not say")
    demand(not re.search(r"^\s+LOAD\s.*\sRWE\s", segments, re.MULTILINE), "has memory that is writable and executable")
    # Who can write to `lib` beside the program can replace the program.
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
    demand(paths in ([], ["$ORIGIN/lib"]), "loads libraries from elsewhere than the system and `lib` beside it")
    demand("TEXTREL" not in dynamic, "relocates its code")
    if program == "hone-init":  # it starts without the C library, so nothing would apply them
        demand("There are no relocations" in readelf(program, "-r"), "has relocations")
    if not is_static:
        symbols = readelf(program, "--dyn-syms")
        demand("__stack_chk_fail" in symbols, "has no stack protector")
        demand(re.search(r"\b__(mem|str|v?f?s?n?printf|read|recv)\w*_chk\b", symbols), "has no function that FORTIFY checks")


def check_sources():
    """The last word of the command line counts, for each of the flags."""
    weak = {}
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        last = {
            "stack protector": [word for word in words if re.match(r"-f(no-)?stack-protector", word)][-1:] == ["-fstack-protector-strong"],
            "FORTIFY": [word for word in words if "_FORTIFY_SOURCE" in word][-1:] in (["-D_FORTIFY_SOURCE=2"], ["-D_FORTIFY_SOURCE=3"]),
            "optimisation, which FORTIFY needs": [word for word in words if re.match(r"-O", word)][-1:] not in ([], ["-O0"]),
            "position independent code": [word for word in words if re.fullmatch(r"-f(no-)?(pic|PIC|pie|PIE)", word)][-1:] in (["-fPIC"], ["-fPIE"]),
        }
        for what, there in last.items():
            if not there:
                weak.setdefault(what, []).append(pathlib.Path(entry["file"]).name)
    for what, files in weak.items():
        problems.append(f"compiled without {what}: {', '.join(sorted(set(files))[:10])}{' …' if len(files) > 10 else ''}")


for program in PROGRAMS:
    if (folder / program).exists():
        check_program(program)
    else:
        problems.append(f"{program} is not there")
check_sources()
print("\n".join(problems) or "every program is hardened")
sys.exit(1 if problems else 0)
