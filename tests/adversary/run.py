#!/usr/bin/env python3
"""The adversary's suite: attacks on each boundary that SECURITY.md promises, against the real binary.

tests/adversary/run.py [--binary build/release/hone] [--list] [names…]   a name is part of a test's name

One file per boundary. README.md in this folder says how an attack is written; an attack without a docstring that says what
it would gain is an error, and so is a boundary file that SECURITY.md does not name.
"""

import collections
import pathlib
import re
import sys

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
# The helpers of tests/e2e (Server, Client, Shop, Forge, Model) serve both suites.
sys.path[:0] = [str(here), str(here.parent / "e2e"), str(here.parent)]

import suite  # noqa: E402

HELPERS = ("run", "attack")


def check(tests):
    """What is wrong with the suite itself."""
    promises = (here.parent.parent / "SECURITY.md").read_text()
    found = [f"tests/adversary: \"{name}\" does not say what it would gain (a line `Gain: …` in its docstring)"
             for name, function in tests if "Gain: " not in (function.__doc__ or "")]
    for file in sorted({name.split(":")[0] for name, _ in tests}):
        if f"tests/adversary/{file}.py" not in promises:
            found.append(f"SECURITY.md names no promise that tests/adversary/{file}.py attacks")
    files = {name.split(":")[0] for name, _ in tests}
    for document in ("SECURITY.md", "docs/threat-model.md"):
        text = (here.parent.parent / document).read_text()
        for path in sorted(set(re.findall(r"`(tests/[^` ]+)`", text))):
            if not (here.parent.parent / path).exists():
                found.append(f"{document} names {path}, which does not exist")
            elif path.startswith("tests/adversary/") and pathlib.Path(path).stem not in files:
                found.append(f"{document} names {path}, which holds no attack")
    return found


def report(outcomes):
    count = collections.Counter(name.split(":")[0] for name in outcomes)
    print("attacks per boundary: " + ", ".join(f"{file} {number}" for file, number in sorted(count.items())))


if __name__ == "__main__":
    sys.exit(suite.main("adversary", __doc__, here, HELPERS, check=check, report=report))
