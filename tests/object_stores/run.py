#!/usr/bin/env python3
"""The tests of the object store against a second S3 server, which is made by others in another language: versitygw.

tests/object_stores/run.py [--binary build/release/hone] [--program build/debug/tests/objects_test]

First the conformance suite of stores and the other unit tests of the S3 store, then the program itself with artifacts,
backups and parts of the span log there (tests/e2e/objects.py and cold_log.py).
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(here), str(here.parent / "e2e"), str(here.parent)]

import cold_log  # noqa: E402
import objects  # noqa: E402
import suite  # noqa: E402
import versitygw  # noqa: E402


class Bucket(objects.Bucket):
    """The bucket `hone-test` of versitygw, whose objects are plain files."""

    def __init__(self, stack):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-s3-")))
        self.process, self.port = versitygw.start(self.folder, ["hone-test"])
        stack.callback(shutil.rmtree, versitygw.beside_of(self.folder), ignore_errors=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)

    def keys(self, prefix="team"):
        below = self.folder / "hone-test" / prefix
        return sorted(str(path.relative_to(below)) for path in below.rglob("*") if path.is_file())

    def files_of(self, key):
        return [self.folder / "hone-test/team" / key]


def unit_tests(program):
    """Passed and failed cases of the S3 store."""
    environment = os.environ | {"HONE_S3_PROGRAM": str(here / "versitygw.py")}
    done = subprocess.run([program, "-sf=*s3_store.test.cpp", "-nc"], env=environment, text=True, capture_output=True)
    counted = re.search(r"test cases:\s+\d+ \|\s+(\d+) passed \|\s+(\d+) failed", done.stdout)
    assert counted, done.stdout + done.stderr
    passed, failed = map(int, counted.groups())
    print(f"{'FAIL' if failed else 'ok'}  unit tests of the S3 store: {passed} passed, {failed} failed")
    if failed:
        print(done.stdout[-8000:])
    return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="build/release/hone", type=pathlib.Path)
    parser.add_argument("--program", default="build/debug/tests/objects_test", type=pathlib.Path)
    given = parser.parse_args()
    versitygw.build()
    passed, failed = unit_tests(given.program.absolute())
    objects.Bucket = cold_log.Bucket = Bucket
    for name, work in suite.tests_of(["objects", "cold_log"]):
        outcome = suite.outcome_of(name, work, given.binary.absolute())
        passed, failed = passed + (outcome == "ok"), failed + (outcome != "ok")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
