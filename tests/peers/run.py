#!/usr/bin/env python3
"""Schemathesis, a property-based client, against the OpenAPI document of the real binary; and the Python examples of
docs/send-traces.md (clients.py); and Phoenix' Python client (phoenix_client.py).

tests/peers/run.py [--binary build/release/hone] [--include PATTERN]

HONE_PEERS_EXAMPLES  requests generated for each operation, beside those that its schema suggests; default: 60
HONE_PEERS_SEED      default: 1, so that a failure comes again
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(here), str(here.parent / "e2e")]

import clients  # noqa: E402
import phoenix_server  # noqa: E402
from server import Server  # noqa: E402

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
]
# positive_data_acceptance is left out: that a name is taken, a filter has no such field or a cron line never comes is
# not said by a schema. missing_required_header has nothing to do: no header is required.

EXCLUDED = {
    "GET /v1/projects/{project}/tail": "a live stream: it does not end",
}
# Failures that are none: check, operation and a word of what it says, with the reason.
EXPECTED = {
    ("not_a_server_error", "POST /v1/repos/{repo}/issues", "503"): "the forge of the repository does not exist here",
    ("allow_header_conformance", "POST /v1/sessions/delete", "DELETE, GET"): "also the address of a chat session 'delete'",
    ("allow_header_conformance", "POST /api/v1/runs/batch", "PATCH"): "also the address of a run 'batch'",
    ("allow_header_conformance", "POST /api/v1/runs/multipart", "PATCH"): "also the address of a run 'multipart'",
    ("allow_header_conformance", "POST /v1/datasets/import", "DELETE, GET"): "also the address of a dataset 'import'",
    ("allow_header_conformance", "POST /v1/datasets/upload", "DELETE, GET"): "also the address of a dataset 'upload'",
    ("allow_header_conformance", "POST /v1/datasets/from_spans", "DELETE, GET"): "also the address of a dataset 'from_spans'",
    ("allow_header_conformance", "GET /v1/experiments/compare", "DELETE, PATCH"): "also the address of an experiment 'compare'",
    ("allow_header_conformance", "GET /v1/runs/export", "DELETE, PATCH"): "also the address of a run 'export'",
}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"


def load(admin):
    """Things whose ids the requests can use: several of each, since some are deleted on the way."""
    ids = collections.defaultdict(list)

    def make(name, path, body):
        ids[name].append(admin.must("POST", path, body).data["id"])
        return ids[name][-1]

    ids["space"].append(admin.must("GET", "/v1/spaces").data[0]["id"])
    for number in range(3):
        make("space", "/v1/spaces", {"name": f"space {number}"})
        project = make("project", "/v1/projects", {"name": f"project {number}"})
        attributes = [{"key": "openinference.project.name", "value": {"stringValue": f"project {number}"}}]
        span = {
            "traceId": TRACE,
            "spanId": SPAN,
            "name": "answer",
            "startTimeUnixNano": str(time.time_ns() - 5_000_000),
            "endTimeUnixNano": str(time.time_ns()),
            "attributes": [
                {"key": "openinference.span.kind", "value": {"stringValue": "LLM"}},
                {"key": "input.value", "value": {"stringValue": "where is my order?"}},
                {"key": "session.id", "value": {"stringValue": "chat-1"}},
            ],
        }
        admin.must(
            "POST",
            "/v1/traces",
            {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": [span]}]}]},
        )
        settings = {"harness": "command", "command": ["/bin/true"]}
        preset = f"preset-{number}"
        admin.must("POST", "/v1/presets", {"name": preset, "settings": settings})
        ids["preset"].append(preset)
        make("skill", "/v1/skills", {"name": f"skill {number}", "type": "github", "secrets": {"GH_TOKEN": "ghp_x"}})
        make("repo", "/v1/repos", {"url": f"https://git.example.com/team/{number}"})
        make("key", "/v1/keys", {"name": f"key {number}", "kind": "service", "role": "viewer", "scopes": ["read"]})
        condition = {"type": "threshold", "threshold": 0.1}
        monitor = {"project": project, "settings": {"metric": "error_rate", "condition": condition}}
        make("monitor", "/v1/monitors", {"name": f"monitor {number}"} | monitor)
        make("destination", "/v1/destinations", {"name": f"d {number}", "type": "webhook", "url": "http://127.0.0.1:9/"})
        make("issue", "/v1/issues", {"project": project, "title": f"it fails {number}", "explanation": "often"})
        rule = {"name": f"rule {number}", "project": project, "condition": "status = error"}
        make("evaluator", "/v1/evaluators", rule)
        schedule = {"type": "cron", "schedule": "@yearly"}
        work = {"project": project, "preset": preset, "prompt": "look", "trigger": schedule}
        make("automation", "/v1/automations", {"name": f"automation {number}"} | work)
        make("run", "/v1/runs", {"project": project, "prompt": "look", "settings": settings})
        invite = admin.must(
            "POST", f"/v1/spaces/{ids['space'][0]}/invites", {"email": f"{number}@example.com", "role": "viewer"}
        )
        ids["invite"].append(invite.data["id"])
        admin.must("PUT", f"/v1/projects/{project}/views/view-{number}", {"query": "range=24h"})
        ids["view"].append(f"view-{number}")
    ids |= {"trace": [TRACE], "span": [SPAN], "session": ["chat-1"], "seq": ["1", "2"], "name": ["GH_TOKEN"]}
    return dict(ids)


def schemathesis(server, key, ids, kept, arguments, folder):
    """Runs it; gives its exit status and what it counted."""
    seed = os.environ.get("HONE_PEERS_SEED", "1")
    examples = os.environ.get("HONE_PEERS_EXAMPLES", "60")
    print(f"  seed {seed}, {examples} examples for each operation", flush=True)
    command = [
        *[sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"],
        *["--header", f"Authorization: Bearer {key}", "--checks", ",".join(CHECKS)],
        *["--phases", "examples,coverage,fuzzing", "--seed", seed, "--max-examples", examples],
        *["--generation-database", "none", "--request-timeout", "60", "--continue-on-failure", "--no-color"],
        *["--suppress-health-check", "all", "--warnings", "off", "--report", "ndjson,json"],
        *["--report-ndjson-path", f"{folder}/events.ndjson", "--report-json-path", f"{folder}/report.json"],
    ]
    for name in EXCLUDED:
        command += ["--exclude-name", name]
    if arguments.include:
        command += ["--include-name-regex", arguments.include]
    environment = os.environ | {
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(here),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HONE_PEERS": json.dumps({"ids": ids, "kept": kept}),
    }
    with open(f"{folder}/output.txt", "w") as output:
        return subprocess.run(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT).returncode


def scenarios(events):
    """What was tried: for each scenario the name of its operation and its cases with their checks."""
    with open(events) as lines:
        for line in lines:
            event = json.loads(line)
            if "ScenarioFinished" in event:
                recorder = event["ScenarioFinished"]["recorder"]
                yield recorder["label"], recorder


def is_expected(check, label, failure, interaction):
    said = f"{failure.get('message', '')} {(interaction.get('response') or {}).get('status_code', '')}"
    return any(check == one and label == other and word in said for one, other, word in EXPECTED)


def summarize(folder):
    """One line for each check, with an example of each failure. Gives how many checks passed and failed."""
    run, failed = collections.Counter(), collections.defaultdict(dict)
    operations, cases, expected, statuses = set(), 0, 0, collections.Counter()
    for label, recorder in scenarios(f"{folder}/events.ndjson"):
        operations.add(label)
        cases += len(recorder.get("cases", {}))
        for interaction in recorder.get("interactions", {}).values():
            statuses[(interaction.get("response") or {}).get("status_code", 0) // 100] += 1
        for case, checks in recorder.get("checks", {}).items():
            for check in checks:
                run[check["name"]] += 1
                if check["status"] == "success":
                    continue
                failure = check["failure_info"]["failure"]
                interaction = recorder["interactions"].get(case, {})
                if is_expected(check["name"], label, failure, interaction):
                    expected += 1
                    continue
                failed[check["name"]].setdefault((label, failure.get("title", "")), (failure, interaction))
    answers = ", ".join(f"{count} with {hundred}xx" for hundred, count in sorted(statuses.items()) if hundred)
    print(f"  {cases} requests to {len(operations)} operations: {answers}; {statuses[0]} without an answer")
    for (check, label, _), why in EXPECTED.items():
        print(f"  expected: {check} of {label}: {why}")
    print(f"  {expected} times expected, {len(EXCLUDED)} operations left out: {', '.join(EXCLUDED)}")
    for name in CHECKS:
        print(f"  {'FAIL' if failed[name] else 'ok  '}  {name}: {run[name]} times, {len(failed[name])} kinds of failures")
        for (label, title), (failure, interaction) in failed[name].items():
            request, response = interaction.get("request", {}), interaction.get("response") or {}
            print(f"          {label}: {title}: {failure.get('message', '')[:400]}")
            print(f"            sent {json.dumps(request)[:600]}")
            print(f"            got {json.dumps(response)[:600]}")
    return sum(not failed[name] for name in CHECKS), sum(bool(failed[name]) for name in CHECKS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/hone")
    parser.add_argument("--include", help="only operations whose name, as in 'GET /v1/runs', has this pattern")
    parser.add_argument("--keep", help="where the reports go; default: a temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-peers-") as place:
        folder = os.path.abspath(arguments.keep or place)
        os.makedirs(folder, exist_ok=True)
        with Server(arguments.binary, None, "--requests-per-minute", "0") as server:
            admin = server.admin()
            wanted = {"name": "peers", "kind": "personal", "scopes": ["all"]}
            key = admin.must("POST", "/v1/keys", wanted).data
            ids = load(admin)
            user = admin.must("GET", "/v1/me").data["user"]["id"]
            kept = {"key": key["id"], "user": user, "principal": user, "space": ids["space"][0]}
            status = schemathesis(server, key["key"], ids, kept, arguments, folder)
            passed, failed = summarize(folder)
            # Else the requests would have been nobody's, and most checks would have seen nothing but 401.
            alive = server.process.poll() is None and server.client(key["key"]).get("/v1/me").status == 200
            report = json.loads(pathlib.Path(folder, "report.json").read_text())
        ended = report["complete"] and status in (0, 1) and not report["errors"]
        for good, what in ((alive, "the server runs and takes the key"), (ended, "Schemathesis came to its end")):
            print(f"  {'ok  ' if good else 'FAIL'}  {what}")
            passed, failed = passed + good, failed + (not good)
        if not ended:
            print(pathlib.Path(folder, "output.txt").read_text()[-4000:])
        if not arguments.include:
            for check in (clients.check, phoenix_server.check):
                good, bad = check(arguments.binary)
                passed, failed = passed + good, failed + bad
        print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
