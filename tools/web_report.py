#!/usr/bin/env python3
"""Prints how the tests of web/ ended, from Playwright's JSON report: failures, skips and second tries by name, and as
the last line their sum.

    tools/web_report.py build/web.json"""
import collections
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import flaky  # noqa: E402


def tests(suite, titles=()):
    """(name, status) of every test: expected, unexpected, flaky (passed in a retry) or skipped."""
    for spec in suite.get("specs", ()):
        for test in spec["tests"]:
            yield " › ".join([*titles, spec["title"]]), test["status"]
    for inner in suite.get("suites", ()):
        yield from tests(inner, (*titles, inner["title"]))


report = json.loads(pathlib.Path(sys.argv[1]).read_text())
outcomes = dict(tests(report))
count = collections.Counter(status for _, status in tests(report))
listed = flaky.entries("web")
wrong = [error["message"] for error in report["errors"]] + flaky.problems("web", outcomes)
for what, status in (("FAIL", "unexpected"), ("skip", "skipped")):
    for name in (name for name, each in outcomes.items() if each == status):
        print(f"  {what}  {name}")
for entry in listed:
    print(f"  flaky {entry.name}: {outcomes.get(entry.name, 'not run')} ({entry.reason}, {entry.date})")
for problem in wrong:
    print(f"  FAIL  {problem}")
failed = count["unexpected"] + len(wrong)
print(f"{count['expected'] + count['flaky']} passed, {failed} failed, {count['skipped']} skipped")
sys.exit(1 if failed or not outcomes else 0)
