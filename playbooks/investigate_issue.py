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

# The usual cause of a finding, and the fix. Fixed text only.
KNOWN = {
    "error_cluster": (
        "Every one of these spans ends in the same message, so one cause explains them all.",
        "Handle this failure where it begins: retry what is temporary, reject bad input before the call, and return an "
        "error that the caller can act on."),
    "tool_failure": (
        "The tool itself fails, always with the same message: a dependency is not available, too slow, or rejects the input.",
        "Give the tool a shorter time limit with one retry, return to the agent what failed and what to do "
        "instead, and monitor the service behind it."),
    "tool_loop": (
        "The tool's result does not show the agent that a repeated call will not help.",
        "Return a clear final result when nothing is found, and stop the agent after a few equal calls."),
    "latency_regression": (
        "The spans take longer than before while nothing else that is recorded about them has changed.",
        "Compare the slow examples with older ones: search for work that moved into the request, a larger input, a "
        "missing index or a cache that no longer hits."),
    "version_regression": (
        "The change came with the new version: spans before and after it differ in nothing else that is recorded.",
        "Compare the two versions of this step, or roll the new one back until the cause is known."),
    "token_spike": (
        "The calls send or receive more than before.",
        "Read the prompt of an example: send only what the task needs, and cut or summarise the conversation."),
    "cost_spike": (
        "More calls, more expensive models or larger prompts in that hour than in any other.",
        "Find the source of the calls, and set a budget that stops them."),
    "truncated_output": (
        "The limit on output tokens is lower than what the task needs.",
        "Raise the limit, or request a shorter output; treat a cut output as a failure."),
    "refused_output": (
        "The prompt, or the users' input, violates the model's rules.",
        "Read the inputs below: state in the prompt what is allowed, and handle refusals in the application."),
    "unparsable_output": (
        "The model returns free text where a program expects a format.",
        "Request structured output with a schema, and retry once with the parser's message when it does not fit."),
    "empty_retrieval": (
        "The index does not contain what users search for, or its filter is too narrow.",
        "Read the inputs below, add the missing documents to the index, and let the agent report that it found nothing."),
    "eval_drop": (
        "Outputs are evaluated worse than in the baseline.",
        "Read the examples with their explanations; compare prompt, model and retrieved documents with better ones."),
    "session_failure": (
        "The last response that users saw was a failure.",
        "Find what fails in the examples first; then give the agent a fallback that lets users continue."),
    "provider_limit": (
        "The provider rejects calls for a time: more requests or tokens than its limit allows, or it is overloaded.",
        "Retry with growing pauses, spread the calls, raise the limit, or configure a second provider."),
    "reported_error": (
        "A tool returns its failure as an ordinary result, so no span is marked as failed.",
        "Set the status of the tool's span to error and raise the failure where it happens, so that it is counted."),
    "unused_tools": (
        "The agent returns a result from the model's memory, or writes about a tool instead of calling it.",
        "Require in the prompt that facts come from a tool, show one correct call, and reject results without a call."),
    "invalid_tool_call": (
        "The model writes calls that the tool's schema does not allow; the schema or its description is unclear.",
        "Use the provider's strict tool mode, simplify the schema, and return to the model which argument is wrong."),
    "agent_loop": (
        "The agent makes no progress: the result of a step does not show it that another try will not help.",
        "Return a clear final result when nothing is found, and stop the agent after a few similar steps."),
    "ignored_instruction": (
        "The instruction competes with others in the prompt, or the model cannot check it itself.",
        "State it once, at the end of the prompt, and enforce it in code instead of in the prompt."),
    "missing_result": (
        "The agent uses all its steps, or ends before it returns a result.",
        "Read the last steps of the examples: raise the limit only when they make progress, else stop earlier."),
    "growing_context": (
        "Each step adds to the conversation until the model cannot read all of it.",
        "Summarise or drop old results of tools, and limit how much of a result is added."),
    "reported": (
        "It was reported; nothing was measured.",
        "Read the examples and decide whether it recurs."),
}

DIMENSIONS = ("version", "model", "service", "tool", "name")


def read_trigger():
    try:
        with open(TRIGGER, encoding="utf-8") as file:
            issue = json.load(file)
        return issue["issue"], str(issue["investigation_title"])
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
    issue, title = read_trigger()
    detector = str(issue.get("detector", "reported"))
    cause, fix = KNOWN.get(detector, KNOWN["reported"])
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
