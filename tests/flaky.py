"""tests/flaky.txt: which tests may be tried a second time. Read by tests/e2e/run.py and tools/web_report.py."""

import dataclasses
import datetime
import pathlib
import re

FILE = pathlib.Path(__file__).resolve().parent / "flaky.txt"
SUITES = ("e2e", "web")
DAYS = 30


@dataclasses.dataclass(frozen=True)
class Entry:
    suite: str
    name: str
    reason: str
    date: str


def entries(suite=None, text=None):
    found = []
    for line in (FILE.read_text() if text is None else text).splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 3 or not all(parts) or ": " not in parts[0]:
            raise SystemExit(f"tests/flaky.txt: not of the form `suite: name | reason | date`: {line}")
        of, name = parts[0].split(": ", 1)
        if of not in SUITES:
            raise SystemExit(f"tests/flaky.txt: tests of the suite {of} are never tried again: {line}")
        if of == "e2e" and re.search(r"^crash:|^power_cut:|kill", name):
            raise SystemExit(f"tests/flaky.txt: tests of crashes, kills and power cuts are never tried again: {line}")
        found.append(Entry(of, name, parts[1], parts[2]))
    return [entry for entry in found if suite in (None, entry.suite)]


def problems(suite, names, text=None, today=None):
    """What is wrong with the entries of a suite that has these tests."""
    today = today or datetime.date.today()
    found = []
    for entry in entries(suite, text):
        if entry.name not in names:
            found.append(f"tests/flaky.txt names a test that does not exist: {entry.name}")
        if not 0 <= (today - datetime.date.fromisoformat(entry.date)).days < DAYS:
            found.append(f"tests/flaky.txt has an entry that is not of the last {DAYS} days: {entry.name} ({entry.date})")
    return found
