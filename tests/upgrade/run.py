#!/usr/bin/env python3
"""Servers are replaced one at a time by those of another version, under load; then one goes back.

tests/upgrade/run.py --previous PATH [--binary build/release/hone]

PATH is the program `hone` of the version before, in the folder of its build (`./dev build release` in a checkout of it).
"""

import argparse
import pathlib
import sys

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(here.parent / "e2e"), str(here.parent)]

import suite  # noqa: E402
from server import seeded, wait_until  # noqa: E402
from servers import Fleet, begin_load, is_whole  # noqa: E402


def replace(server, binary):
    assert server.stop() == 0, server.output()
    server.binary = str(binary)
    server.start()


def work_is_done(fleet, load):
    """Both kinds of servers have accepted spans and ended runs since now."""
    spans, runs = load.sent, len(load.runs)
    wait_until(lambda: load.sent >= spans + 2000 and len(load.runs) >= runs + 4, "spans and runs are accepted")
    ended = "SELECT COUNT(*) FROM runs WHERE state = 'succeeded'"
    before = int(fleet.sql(ended))
    wait_until(lambda: int(fleet.sql(ended)) >= before + 4, "runs end")


def upgraded(previous):
    def test(binary, stack):
        fleet = Fleet(previous, stack, 3, "--run-places", "4", "--run-places-per-space", "16")
        load, end_load = begin_load(fleet, seeded())
        work_is_done(fleet, load)
        for server in fleet.servers:
            replace(server, binary)
            work_is_done(fleet, load)  # beside servers of the version before
        # Back, as after a fault of the new version: an older program runs where migrations only added. The first versions did
        # not know that, and run where none was added.
        known = schema_of(previous, stack)
        newer = fleet.sql(f"SELECT COUNT(*) FROM schema_version WHERE version > {known} AND COALESCE(kind, '') != 'expand'")
        may_go_back = fleet.sql("SELECT MAX(version) FROM schema_version") == known or (stores_kinds(previous, stack) and newer == "0")
        if may_go_back:
            replace(fleet.servers[0], previous)
            work_is_done(fleet, load)
        end_load()
        states, fired = is_whole(fleet, load)
        assert set(states) <= {"succeeded"}, states  # a stop loses no run
        print(f"      back to the version before: {'tried' if may_go_back else 'not possible, it refuses a newer schema'}; "
              f"{load.sent} spans, {states} runs, {fired} scheduled, refused {dict(load.refused)}")

    return test


def schema_of(binary, stack):
    fleet = Fleet(binary, stack, 1)
    return fleet.sql("SELECT MAX(version) FROM schema_version")


def stores_kinds(binary, stack):
    fleet = Fleet(binary, stack, 1)
    return fleet.sql("SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'schema_version' AND column_name = 'kind'") == "1"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/release/hone", type=pathlib.Path)
    parser.add_argument("--previous", required=True, type=pathlib.Path)
    given = parser.parse_args()
    outcome = suite.outcome_of("upgrade: servers are replaced one at a time under load", upgraded(given.previous.absolute()), given.binary.absolute())
    print(f"{int(outcome == 'ok')} passed, {int(outcome == 'FAIL')} failed, {int(outcome == 'skip')} skipped")
    return 0 if outcome == "ok" else 1


if __name__ == "__main__":
    sys.exit(main())
