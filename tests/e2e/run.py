#!/usr/bin/env python3
"""End-to-end tests: the real binary over real sockets, disks and signals.

tests/e2e/run.py [--binary build/release/hone] [--list] [names…]   a name is part of a test's name

Four files run side by side, since many tests only wait for a clock; the tests of one file follow one another.
A test that fails is red, except for those that tests/flaky.txt names: they get a second try, and the suite says so.
"""

import json
import os
import pathlib
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(here), str(here.parent)]

import forge_faults  # noqa: E402
import openid  # noqa: E402
import suite  # noqa: E402

LONGEST = ["agents", "monitors", "automations", "span_faults", "wall_clock"]  # begun first, so that none is left alone at the end

def report(_):
    """The tables of what people and forges do to pull requests, and of the attacks on sign-in."""
    rows_of = lambda table: [json.loads(line) for line in pathlib.Path(os.environ[table]).read_text().splitlines()]
    forge_faults.print_table(rows_of("HONE_FAULT_TABLE"))
    openid.print_table(rows_of("HONE_SIGN_ON_TABLE"))

if __name__ == "__main__":
    with tempfile.NamedTemporaryFile(prefix="hone-faults-") as faults, tempfile.NamedTemporaryFile(prefix="hone-attacks-") as attacks:
        os.environ["HONE_FAULT_TABLE"], os.environ["HONE_SIGN_ON_TABLE"] = faults.name, attacks.name
        sys.exit(suite.main("e2e", __doc__, here, ("run", "server"), LONGEST, report=report))
