#!/usr/bin/env python3
"""Compares the metrics that the dashboard and the alert rules name with those that the program writes.

tools/check_metrics.py     prints what does not exist, and exits with 1
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "packaging/monitoring"
WRITTEN = re.compile(r'\b(?:gauge|counter|family)\(\s*(?:MetricKind::\w+,\s*)?"([a-z0-9_]+)"')
NAMED = re.compile(r"\bhone_([a-z0-9_]+)\b")
PARTS = ("_bucket", "_sum", "_count")  # of a histogram


def written():
    """Names of the metrics in the sources, without their prefix."""
    names = set()
    for file in (ROOT / "src").rglob("*.cpp"):
        if not file.name.endswith(".test.cpp"):
            names.update(WRITTEN.findall(file.read_text()))
    return names


def expressions():
    """(file, expression) of every query of the two files."""
    dashboard = json.loads((FOLDER / "grafana.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield "grafana.json", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield "grafana.json", variable["query"]["query"]
    for line in (FOLDER / "alerts.yaml").read_text().splitlines():
        if line.strip().startswith("expr:"):
            yield "alerts.yaml", line.split("expr:", 1)[1]


def problems(known):
    """Lines about metrics that are named and not written; a file without any metric is one too."""
    seen = dict.fromkeys(("grafana.json", "alerts.yaml"), 0)
    for file, expression in expressions():
        for name in NAMED.findall(expression):
            seen[file] += 1
            whole = next((name.removesuffix(part) for part in PARTS if name.endswith(part) and name not in known), name)
            if whole not in known:
                yield f"packaging/monitoring/{file} names hone_{name}, which the program does not write"
    for file, count in seen.items():
        if count == 0:
            yield f"packaging/monitoring/{file} names no metric"


if __name__ == "__main__":
    found = list(problems(written()))
    print("\n".join(found))
    sys.exit(1 if found else 0)
