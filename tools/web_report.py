#!/usr/bin/env python3
"""Prints how the tests of web/ ended, from Playwright's JSON report: failures, skips and second tries by name, and as
the last line their sum.

    tools/web_report.py build/web.json"""
import collections
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import flaky  # noqa: E402


COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def reason(test):
    """The first lines of what a test failed with, without colours."""
    errors = [error.get("message", "") for result in test["results"] for error in result.get("errors", ())]
    lines = [line for line in COLOURS.sub("", "\n".join(errors)).splitlines() if line.strip()]
    return "".join(f"\n        {line}" for line in lines[:16])


def tests(suite, titles=()):
    """(name, status, reason) of every test: expected, unexpected, flaky (passed in a retry) or skipped."""
    for spec in suite.get("specs", ()):
        for test in spec["tests"]:
            yield " › ".join([*titles, spec["title"]]), test["status"], reason(test)
    for inner in suite.get("suites", ()):
        yield from tests(inner, (*titles, inner["title"]))


report = json.loads(pathlib.Path(sys.argv[1]).read_text())
outcomes = {name: status for name, status, _ in tests(report)}
reasons = {name: reason for name, _, reason in tests(report)}
count = collections.Counter(status for _, status, _ in tests(report))
listed = flaky.entries("web")
wrong = [error["message"] for error in report["errors"]] + flaky.problems("web", outcomes)
for what, status in (("FAIL", "unexpected"), ("skip", "skipped")):
    for name in (name for name, each in outcomes.items() if each == status):
        print(f"  {what}  {name}{reasons[name]}")
for entry in listed:
    print(f"  flaky {entry.name}: {outcomes.get(entry.name, 'not run')} ({entry.reason}, {entry.date})")
for problem in wrong:
    print(f"  FAIL  {problem}")
failed = count["unexpected"] + len(wrong)
print(f"{count['expected'] + count['flaky']} passed, {failed} failed, {count['skipped']} skipped")
sys.exit(1 if failed or not outcomes else 0)
