"""Playbook: investigate what goes wrong most in a project.

Runs inside a sandbox, needs no model and no network: reads the bound project with the `hone` command, ranks what it
finds by how many traces it touches, and leaves an investigation with charts. The same spans always give the same text.

It prints one JSON object per line, in the shape that coding agents print, so that the transcript shows each step.
"""

import html
import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone


# --- what the transcript sees ----------------------------------------------------------------------------------------


def emit(event):
    print(json.dumps(event, ensure_ascii=False), flush=True)


def say(text):
    emit({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})


class Refused(Exception):
    pass


def hone(tool, **arguments):
    """Calls a tool of Hone; shows call and result in the transcript."""
    call_id = uuid.uuid4().hex[:12]
    shown = {name: value if len(str(value)) < 2000 else f"({len(str(value))} characters)" for name, value in arguments.items()}
    emit({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": call_id, "name": "mcp__hone__" + tool, "input": shown}]}})
    command = ["hone", tool]
    for name, value in arguments.items():
        command += ["--" + name, "@-" if name in ("markdown", "text", "labels") else str(value)]
    text = next((str(arguments[name]) for name in ("markdown", "text", "labels") if name in arguments), None)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    failed = done.returncode != 0
    output = (done.stderr if failed else done.stdout).strip()
    emit({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": call_id, "content": output[:4000], "is_error": failed}]}})
    if failed:
        raise Refused(output)
    return json.loads(output)


def sql(query):
    rows = hone("query_sql", sql=query, limit=10000, max_bytes=250000)
    return rows.get("data", [])


# --- small arithmetic ------------------------------------------------------------------------------------------------

PATTERNS = [
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "<id>"),
    (re.compile(r"\b[A-Z]{2,}-?\d{3,}\b"), "<code>"),
    (re.compile(r"\d+(\.\d+)?"), "<n>"),
    (re.compile(r"'[^']{1,80}'|\"[^\"]{1,80}\""), "<text>"),
]


def template(message):
    """The message with its changing parts left out, so that the same failure reads the same."""
    line = (message or "").strip().splitlines()[0] if (message or "").strip() else "(no message)"
    for pattern, mark in PATTERNS:
        line = pattern.sub(mark, line)
    return line[:160]


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def shown(text, most=300):
    """Untrusted text inside Markdown: one line, no markup that could act."""
    flat = " ".join(str(text).split())[:most]
    return flat.replace("`", "'").replace("<", "‹").replace(">", "›").replace("[", "(").replace("]", ")")


def moment(ns):
    return datetime.fromtimestamp(int(ns) / 1e9, tz=timezone.utc).strftime("%Y-%m-%d %H:%M")


# --- charts ----------------------------------------------------------------------------------------------------------


def picture(width, height, title, parts):
    """An SVG whose colours follow the page around it, light or dark."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        "<style>.ground { fill: #ffffff } .head { fill: #1c1e21 } .words { fill: #4b5157 } .mark { fill: #c2410c } "
        ".line { fill: none; stroke: #c2410c } .rule { stroke: #dadce0 } @media (prefers-color-scheme: dark) { "
        ".ground { fill: #131416 } .head { fill: #e8eaed } .words { fill: #a8adb3 } .mark { fill: #f0854d } "
        ".line { stroke: #f0854d } .rule { stroke: #3a3e44 } }</style>",
        f'<rect width="{width}" height="{height}" class="ground"/>',
        f'<text x="12" y="24" font-size="14" font-weight="600" class="head">{html.escape(title)}</text>', *parts, "</svg>"])


def bar_chart(title, bars, unit=""):
    """Horizontal bars as an SVG; `bars` is a list of (label, value)."""
    width, row, left = 720, 26, 280
    height = 44 + row * len(bars)
    most = max((value for _, value in bars), default=1) or 1
    parts = []
    for index, (label, value) in enumerate(bars):
        top = 40 + index * row
        length = max(1, (width - left - 90) * value / most)
        shown = label if len(label) <= 40 else label[:39] + "…"
        parts.append(f'<text x="{left - 8}" y="{top + 15}" text-anchor="end" class="words">{html.escape(shown)}</text>')
        parts.append(f'<rect x="{left}" y="{top + 3}" width="{length:.1f}" height="16" rx="2" class="mark"/>')
        parts.append(f'<text x="{left + length + 6:.1f}" y="{top + 15}" class="words">{value:,.0f}{unit}</text>')
    return picture(width, height, title, parts)


def time_chart(title, points, marked=None):
    """A line over time as an SVG; `points` is a list of (label, value)."""
    width, height, left, bottom = 720, 220, 56, 40
    most = max((value for _, value in points), default=1) or 1
    step = (width - left - 20) / max(1, len(points) - 1)

    def place(index, value):
        return f"{left + index * step:.1f},{height - bottom - (height - bottom - 44) * value / most:.1f}"

    line = " ".join(place(i, value) for i, (_, value) in enumerate(points))
    parts = [f'<line x1="{left}" y1="{height - bottom}" x2="{width - 20}" y2="{height - bottom}" class="rule"/>',
             f'<text x="{left - 6}" y="50" text-anchor="end" class="words">{most:,.0f}</text>',
             f'<text x="{left - 6}" y="{height - bottom + 4}" text-anchor="end" class="words">0</text>']
    if marked is not None:
        x = left + marked * step
        parts.append(f'<line x1="{x:.1f}" y1="40" x2="{x:.1f}" y2="{height - bottom}" class="rule" stroke-dasharray="3 3"/>')
    parts.append(f'<polyline points="{line}" class="line" stroke-width="2"/>')
    last = len(points) - 1
    for index in sorted({0, last // 2, last}) if points else []:
        anchor = "end" if index == last and last > 0 else "start" if index == 0 else "middle"
        parts.append(f'<text x="{left + index * step:.1f}" y="{height - 18}" text-anchor="{anchor}" class="words">'
                     f"{html.escape(points[index][0])}</text>")
    return picture(width, height, title, parts)


# --- findings --------------------------------------------------------------------------------------------------------


class Finding:
    def __init__(self, kind, title, traces, share, facts, query, examples, cause, fix):
        self.kind, self.title, self.traces, self.share = kind, title, traces, share
        self.facts, self.query, self.examples, self.cause, self.fix = facts, query, examples, cause, fix


def find_errors(total):
    rows = sql(
        "SELECT name, kind, tool_name, if(exception_message != '', exception_message, status_message) AS message, "
        "count() AS spans, uniqExact(trace_id) AS traces, min(start_ns) AS first, max(start_ns) AS last, "
        "groupArray(3)(concat(trace_id, ' ', span_id)) AS examples "
        "FROM spans WHERE status = 'error' GROUP BY name, kind, tool_name, message ORDER BY traces DESC LIMIT 500")
    clusters = {}
    for row in rows:
        key = (row["name"], template(row["message"]))
        cluster = clusters.setdefault(key, {"spans": 0, "traces": 0, "first": int(row["first"]), "last": 0, "examples": [],
                                            "kind": row["kind"], "messages": []})
        cluster["spans"] += int(row["spans"])
        cluster["traces"] += int(row["traces"])
        cluster["first"] = min(cluster["first"], int(row["first"]))
        cluster["last"] = max(cluster["last"], int(row["last"]))
        cluster["examples"] += row["examples"]
        cluster["messages"].append(row["message"])
    findings = []
    for (name, words), cluster in clusters.items():
        if cluster["traces"] < max(3, total["traces"] * 0.002):
            continue
        findings.append(Finding(
            "errors", f"{name} fails: {words}", cluster["traces"], cluster["traces"] / max(1, total["traces"]),
            [f"{cluster['spans']:,} failed spans in {cluster['traces']:,} traces ({percent(cluster['traces'], total['traces'])} of all)",
             f"first seen {moment(cluster['first'])}, last seen {moment(cluster['last'])} (UTC)",
             f"the message as it was: `{shown(cluster['messages'][0])}`"],
            f'status = error and name = "{name}"', cluster["examples"][:3],
            f"Every one of these spans ends in the same message, so one cause in `{shown(name, 80)}` "
            f"({cluster['kind']}) explains them all.",
            f"Handle this failure in `{shown(name, 80)}`: retry what is temporary, refuse bad input before the call, and "
            "return an error that the agent can act on."))
    return findings


def find_slow_versions(total):
    rows = sql(
        "SELECT name, version, count() AS spans, quantile(0.5)(duration_ns) AS p50, quantile(0.95)(duration_ns) AS p95, "
        "min(start_ns) AS first, groupArray(3)(concat(trace_id, ' ', span_id)) AS examples FROM spans "
        "WHERE version != '' AND status != 'error' GROUP BY name, version HAVING spans >= 50 ORDER BY name, first")
    by_name = {}
    for row in rows:
        by_name.setdefault(row["name"], []).append(row)
    findings = []
    for name, versions in by_name.items():
        for before, after in zip(versions, versions[1:]):
            ratio = float(after["p50"]) / max(1.0, float(before["p50"]))
            if ratio < 1.8 or float(after["p50"]) < 2e8:
                continue
            findings.append(Finding(
                "latency", f"{name} became {ratio:.1f} times slower in version {after['version']}", int(after["spans"]),
                int(after["spans"]) / max(1, total["traces"]),
                [f"median {float(before['p50']) / 1e9:.2f} s in {before['version']}, {float(after['p50']) / 1e9:.2f} s in {after['version']}",
                 f"95th percentile {float(before['p95']) / 1e9:.2f} s, then {float(after['p95']) / 1e9:.2f} s",
                 f"{int(after['spans']):,} spans since {moment(after['first'])} (UTC)"],
                f'name = "{name}" and version = "{after["version"]}"', after["examples"],
                f"The change came with version {after['version']}: the spans before and after it differ in nothing else "
                "that is recorded.",
                f"Compare `{shown(name, 80)}` between {before['version']} and {after['version']}; look for work that moved into "
                "the request, a larger prompt, or a call that is no longer cached."))
    return findings


def find_loops(total):
    rows = sql(
        "SELECT name, count() AS traces, max(calls) AS most, groupArray(3)(example) AS examples FROM ("
        "SELECT trace_id, name, count() AS calls, uniqExact(input) AS inputs, any(concat(trace_id, ' ', span_id)) AS example "
        "FROM spans WHERE kind = 'tool' GROUP BY trace_id, name HAVING calls >= 6 AND inputs * 3 <= calls) "
        "GROUP BY name ORDER BY traces DESC LIMIT 20")
    findings = []
    for row in rows:
        if int(row["traces"]) < 3:
            continue
        findings.append(Finding(
            "loop", f"The agent calls {row['name']} repeatedly with the same input", int(row["traces"]),
            int(row["traces"]) / max(1, total["traces"]),
            [f"{int(row['traces']):,} traces repeat the call at least six times, up to {int(row['most'])} times",
             "at most one call in three has a new input"],
            f'kind = tool and name = "{row["name"]}"', row["examples"],
            "The tool's result does not show the agent that a repeated call will not help.",
            "Return a clear final result from the tool when nothing is found, and stop the agent after a few equal calls."))
    return findings


def find_empty_retrieval(total):
    rows = sql(
        "SELECT name, countIf(documents = 0) AS empty, count() AS spans, uniqExactIf(trace_id, documents = 0) AS traces, "
        "groupArrayIf(3)(concat(trace_id, ' ', span_id), documents = 0) AS examples FROM spans WHERE kind = 'retriever' "
        "GROUP BY name HAVING empty >= 5 ORDER BY empty DESC LIMIT 20")
    findings = []
    for row in rows:
        if int(row["empty"]) / max(1, int(row["spans"])) < 0.02:
            continue
        findings.append(Finding(
            "retrieval", f"{row['name']} finds nothing", int(row["traces"]), int(row["traces"]) / max(1, total["traces"]),
            [f"{int(row['empty']):,} of {int(row['spans']):,} retrievals return no document ({percent(int(row['empty']), int(row['spans']))})"],
            f'kind = retriever and name = "{row["name"]}" and documents = 0', row["examples"],
            "The index does not contain what users search for, or its filter is too narrow.",
            "Read the inputs below, add the missing documents to the index, and let the agent report that it found nothing."))
    return findings


def find_cut_outputs(total):
    rows = sql(
        "SELECT name, model, count() AS spans, uniqExact(trace_id) AS traces, groupArray(3)(concat(trace_id, ' ', span_id)) AS examples "
        "FROM spans WHERE kind = 'llm' AND lower(finish_reason) IN ('length', 'max_tokens') GROUP BY name, model "
        "HAVING spans >= 5 ORDER BY spans DESC LIMIT 20")
    return [Finding(
        "cut", f"Outputs of {row['model']} are cut off in {row['name']}", int(row["traces"]),
        int(row["traces"]) / max(1, total["traces"]),
        [f"{int(row['spans']):,} outputs end because the token limit was reached"],
        f'kind = llm and name = "{row["name"]}" and finish_reason = "length"', row["examples"],
        "The limit on output tokens is lower than what the task needs.",
        "Raise the limit, or request a shorter output; treat a cut output as a failure.") for row in rows]


# --- the report ------------------------------------------------------------------------------------------------------


def example_lines(finding):
    lines = []
    for place in finding.examples:
        trace_id, _, span_id = str(place).partition(" ")
        try:
            span = hone("get_span", trace_id=trace_id, span_id=span_id, max_bytes=6000)["data"]
        except (Refused, KeyError):
            continue
        row = span.get("row", span)
        text = span.get("input") or row.get("input") or ""
        lines.append(f"- trace `{trace_id}`, span `{span_id}`"
                     + (f": input `{shown(text, 160)}`" if text else ""))
    return lines


def report(project, total, findings, prompt):
    lines = [f"# What goes wrong in {shown(project, 80)}", ""]
    if prompt.strip():
        lines += [f"> {shown(prompt, 500)}", ""]
    lines += ["## Overview", "",
              f"{total['spans']:,} spans in {total['traces']:,} traces were read, {total['errors']:,} of them failed "
              f"({percent(total['errors'], total['spans'])}). {len(findings)} recurring problems were found, ranked by how many "
              "traces they touch.", "", "![Problems by traces touched](file:problems.svg)", "",
              "![Failed spans per hour](file:errors-over-time.svg)", ""]
    for number, finding in enumerate(findings[:5], 1):
        lines += [f"## {number}. {shown(finding.title, 160)}", "", "**Evidence**", ""]
        lines += [f"- {fact}" for fact in finding.facts]
        lines += [f"- filter: `{finding.query}`"] + example_lines(finding)
        lines += ["", "**Root cause**", "", finding.cause, "", "**Proposed fix**", "", finding.fix, ""]
    if not findings:
        lines += ["Nothing recurs often enough to be called a problem.", ""]
    lines += ["## How this was made", "",
              "By the playbook `investigate`: fixed queries of the project's spans, no model. Messages were grouped by their "
              "words with numbers, ids and quoted texts left out."]
    return "\n".join(lines)


def main():
    prompt = sys.stdin.read()
    say("Reading the project, then searching for failures, slow versions, loops, empty retrievals and cut outputs.")
    described = hone("describe_project")
    numbers = described.get("totals", {})
    total = {"spans": int(numbers.get("count") or 0), "traces": int(numbers.get("traces") or 0),
             "errors": int(numbers.get("errors") or 0)}
    if total["spans"] == 0:
        say("The project has no spans yet.")
        emit({"type": "result", "subtype": "success", "is_error": False, "result": "The project has no spans yet."})
        return
    projects = hone("list_projects").get("data", [])
    project = projects[0]["name"] if projects else "the project"

    findings = []
    for detector in (find_errors, find_slow_versions, find_loops, find_empty_retrieval, find_cut_outputs):
        found = detector(total)
        say(f"{detector.__name__.replace('find_', '').replace('_', ' ')}: {len(found)} found.")
        findings += found
    findings.sort(key=lambda finding: (-finding.traces, finding.title))

    hours = sql("SELECT intDiv(start_ns, 3600000000000) AS hour, countIf(status = 'error') AS errors FROM spans "
                "GROUP BY hour ORDER BY hour")
    hone("save_file", name="errors-over-time.svg", summary="Failed spans per hour",
         text=time_chart("Failed spans per hour", [(moment(int(row["hour"]) * 3600 * 10**9)[5:], float(row["errors"])) for row in hours]))
    hone("save_file", name="problems.svg", summary="Problems by the traces they touch",
         text=bar_chart("Problems by the traces they touch", [(finding.title, finding.traces) for finding in findings[:10]]))
    # Labels need a person to decide. A run that a schedule or a metric started leaves only the report.
    if findings and not os.path.exists("/hone/trigger.json"):
        labels = []
        for finding in findings[:5]:
            for place in finding.examples:
                labels.append({"target_id": str(place).partition(" ")[2], "name": "problem", "label": finding.kind,
                               "explanation": finding.title[:300]})
        hone("label_spans", name="problems", summary="Example spans of each problem", labels=json.dumps(labels))
    text = report(project, total, findings, prompt)
    summary = findings[0].title if findings else "No recurring problem."
    hone("save_investigation", title="What goes wrong most", summary=summary[:500], markdown=text)
    done = f"{len(findings)} problems found; the first: {summary}"
    say(done)
    emit({"type": "result", "subtype": "success", "is_error": False, "result": done})


if __name__ == "__main__":
    try:
        main()
    except Refused as refusal:
        emit({"type": "result", "subtype": "error_during_execution", "is_error": True, "result": str(refusal)[:2000]})
        sys.exit(1)
