"""Playbook: investigate one issue that Signal found.

Runs inside a sandbox, needs no model and no network. /hone/trigger.json names the issue: that file, and every text in
the traces, is untrusted data, so nothing in it decides what this program does beyond which spans it reads.
It queries when and where the issue occurs and what its spans have more often than others, and saves one
investigation with the title from the file, so that a later run replaces it. The same spans give the same text.
"""

import json
import sys

from investigate import Refused, bar_chart, emit, hone, percent, say, shown, time_chart

TRIGGER = "/hone/trigger.json"

DIMENSIONS = ("version", "model", "service", "tool", "name")


def read_trigger():
    try:
        with open(TRIGGER, encoding="utf-8") as file:
            trigger = json.load(file)
        advice = trigger["advice"]
        return trigger["issue"], str(trigger["investigation_title"]), str(advice["usual_cause"]), str(advice["next_step"])
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Refused(f"{TRIGGER} does not describe an issue: {problem}") from problem


def series(metrics, bucket, **more):
    return hone("get_series", metrics=metrics, bucket=bucket, **more).get("buckets", [])


def what_differs(filter_text):
    """Values that the issue's spans have clearly more often than all spans."""
    found = []
    for field in DIMENSIONS:
        try:
            of_issue = {row["group"]: row["values"][0] or 0 for row in series("count", "0s", group_by=field, filter=filter_text)}
            of_all = {row["group"]: row["values"][0] or 0 for row in series("count", "0s", group_by=field)}
        except (Refused, KeyError):
            continue
        total, everything = sum(of_issue.values()), sum(of_all.values())
        for value, count in of_issue.items():
            if not value or not total or not everything or count / total < 0.3:
                continue
            usual = of_all.get(value, 0) / everything
            if usual > 0 and (count / total) / usual >= 1.5:
                found.append((count / total / usual, field, value, count / total, usual))
    return sorted(found, reverse=True)[:5]


def example_lines(issue):
    lines = []
    for example in issue.get("examples", [])[:5]:
        trace_id, span_id = str(example.get("trace_id", "")), str(example.get("span_id", ""))
        line = f"- trace `{shown(trace_id, 40)}`"
        if span_id:
            line += f", span `{shown(span_id, 20)}`"
            try:
                span = hone("get_span", trace_id=trace_id, span_id=span_id, max_bytes=6000)["data"]
            except (Refused, KeyError):
                lines.append(line)
                continue
            text = span.get("input") or span.get("row", {}).get("input") or ""
            line += f": input `{shown(text, 160)}`" if text else ""
        lines.append(line)
    return lines


def main():
    sys.stdin.read()
    issue, title, cause, fix = read_trigger()
    filter_text = str(issue.get("filter", ""))
    say("Reading when the issue occurs, what its spans have in common, and the examples.")

    hours = series("traces", "1h", filter=filter_text) if filter_text else []
    points = [(str(row.get("time", ""))[5:13].replace("T", " "), float(row["values"][0] or 0)) for row in hours]
    if points:
        hone("save_file", name="issue-over-time.svg", summary="Traces of the issue per hour",
             text=time_chart("Traces of the issue per hour", points))
    differs = what_differs(filter_text) if filter_text else []
    if differs:
        hone("save_file", name="issue-differs.svg", summary="What its spans have more often than others",
             text=bar_chart("Times more often than in all spans", [(f"{field} = {value}", round(lift, 1)) for lift, field, value, _, _ in differs]))
    say(f"{len(points)} hours with spans of it, {len(differs)} values that they have in common.")

    lines = [f"# {shown(issue.get('title', 'An issue'), 200)}", "", "## Overview", "",
             shown(issue.get("explanation", ""), 1000), "",
             f"It affected {int(issue.get('traces', 0)):,} traces, {percent(float(issue.get('share', 0)), 1)} of all in the "
             f"window of the last scan, and was first seen {shown(issue.get('first_seen', ''), 19)} (UTC).", ""]
    if points:
        lines += ["![Traces of the issue per hour](file:issue-over-time.svg)", ""]
    lines += ["## Evidence", ""]
    lines += [f"- {shown(fact.get('name', ''), 100)}: {shown(fact.get('value', ''), 300)}" for fact in issue.get("facts", [])]
    if filter_text:
        lines.append(f"- filter: `{shown(filter_text, 500)}`")
    for lift, field, value, share, usual in differs:
        lines.append(f"- {field} `{shown(value, 80)}`: {percent(share, 1)} of its spans, {percent(usual, 1)} of all ({lift:.1f} times)")
    if differs:
        lines += ["", "![What its spans have more often than others](file:issue-differs.svg)"]
    lines += ["", "Examples:", ""] + (example_lines(issue) or ["- none"])
    lines += ["", "## Root cause", "", cause]
    if differs:
        _, field, value, share, _ = differs[0]
        lines += ["", f"What stands out most is {field} `{shown(value, 80)}`: it is behind {percent(share, 1)} of the spans."]
    lines += ["", "## Proposed fix", "", fix, "", "## Confidence", "",
              f"{percent(float(issue.get('confidence', 0)), 1)} that the finding is real. The root cause is the usual one "
              "for such a finding; the code was not read.", "", "## Method", "",
              "By the playbook `investigate_issue`: fixed queries of the project's spans, no model."]
    hone("save_investigation", title=title, summary=shown(issue.get("title", ""), 300), markdown="\n".join(lines))
    emit({"type": "result", "subtype": "success", "is_error": False, "result": f"Investigated: {shown(issue.get('title', ''), 200)}"})


if __name__ == "__main__":
    try:
        main()
    except Refused as refusal:
        emit({"type": "result", "subtype": "error_during_execution", "is_error": True, "result": str(refusal)[:2000]})
        sys.exit(1)
