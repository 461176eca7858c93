"""How much of what people marked in real traces does Signal find? See signal.sh.

signal_marked.py HONE FOLDER     for each NAME.otlp.jsonl[.zst] with NAME.errors.jsonl in the folder, one JSON line

A line of NAME.otlp.jsonl is an OTLP request with one trace; a line of NAME.errors.jsonl is {"trace_id", "errors":
[{"category", "span_id"}]}. The traces of a set go into a project of their own, moved into the last 20 hours, and are
scanned once. A marked error counts as found when the marked span, or another span of its step (the CHAIN span above it
with its children), matches the filter of an open issue. Precision is the share of the matched steps that have a mark;
chance is the same share of all steps. `matched` is the share of all steps that issues match: a category of errors is
reachable when clearly more of it is found. `halves` has recall and precision of every second trace: what is tuned on one
half must hold on the other. `alone` has two random halves, each sent to a project of its own and scanned alone: what is
found must not depend on which other traces are there.
"""

import collections
import json
import pathlib
import random
import subprocess
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))
sys.dont_write_bytecode = True

from server import Client, Server, wait_until  # noqa: E402

HOUR_NS = 3600 * 10**9


def lines_of(path):
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, check=True).stdout.decode().splitlines()
    return path.read_text().splitlines()


def sets_of(folder):
    for marks in sorted(folder.glob("*.errors.jsonl")):
        name = marks.name.removesuffix(".errors.jsonl")
        traces = next((path for path in (folder / f"{name}.otlp.jsonl", folder / f"{name}.otlp.jsonl.zst") if path.exists()), None)
        if traces:
            yield name, lines_of(traces), {row["trace_id"]: row["errors"] for row in map(json.loads, lines_of(marks))}


def spans_of(batch):
    return [span for resource in batch["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]


def moved(batch, number, count, now):
    """The batch with its spans in the last 20 hours, in the order of the file."""
    spans = spans_of(batch)
    by = now - 20 * HOUR_NS + number * (19 * HOUR_NS // count) - min(int(span["startTimeUnixNano"]) for span in spans)
    for span in spans:
        for field in ("startTimeUnixNano", "endTimeUnixNano"):
            span[field] = str(int(span[field]) + by)
        for event in span.get("events", []):
            event["timeUnixNano"] = str(int(event["timeUnixNano"]) + by)
    return batch


def is_chain(span):
    return any(attribute["key"] == "openinference.span.kind" and attribute["value"].get("stringValue") == "CHAIN"
               for attribute in span["attributes"])


class Score:
    def __init__(self):
        self.errors = self.found = self.steps = self.hits = self.all = self.marked = 0
        self.categories = collections.defaultdict(lambda: [0, 0])

    def add(self, spans, errors, flagged):
        parent = {span["spanId"]: span.get("parentSpanId") for span in spans}
        chains = {span["spanId"] for span in spans if is_chain(span)}

        def step(span):
            return parent[span] if parent.get(span) in chains else span

        matched = {step(span) for span in flagged} | {parent[span] for span in flagged if parent.get(span) in chains}
        marks = {step(error["span_id"]) for error in errors}
        every = {step(span) for span in parent}
        for error in errors:
            got = step(error["span_id"]) in matched
            self.errors += 1
            self.found += got
            count = self.categories[error["category"].title()]
            count[0] += got
            count[1] += 1
        self.steps += len(matched)
        self.hits += len(matched & marks)
        self.all += len(every)
        self.marked += len(every & marks)

    def shown(self):
        return {"recall": round(self.found / max(1, self.errors), 3), "precision": round(self.hits / max(1, self.steps), 3)}


def measure(server, client, key, name, lines, marks, is_shown=True):
    project = client.must("POST", "/v1/projects", {"name": name}).data["id"]
    sender, trees, now = Client(server.otlp_url, key), {}, time.time_ns()
    for number, line in enumerate(lines):
        batch = moved(json.loads(line), number, len(lines), now)
        spans = spans_of(batch)
        trees[spans[0]["traceId"]] = spans
        sent = sender.call("POST", "/v1/traces", batch, {"x-project-name": name})
        assert sent.status == 200, sent.text
    total = sum(map(len, trees.values()))

    def is_stored():
        rows = client.must("POST", "/v1/sql", {"project": name, "sql": "SELECT count() AS c FROM spans"}).data
        return int(rows[0]["c"]) >= total

    wait_until(is_stored, "the spans can be queried")
    scan = client.must("POST", f"/v1/projects/{name}/signal/scan").data
    assert not any(detector["failed"] for detector in scan["detectors"]), scan["detectors"]
    issues = client.must("GET", f"/v1/issues?project={project}&limit=100").data
    flagged = collections.defaultdict(set)
    for issue in issues:
        cursor, spans = "", set()
        while True:
            path = f"/v1/projects/{project}/span_rows?limit=500&filter={urllib.parse.quote(issue['filter'])}"
            page = client.must("GET", path + (f"&cursor={cursor}" if cursor else "")).json
            for row in page["data"]:
                spans.add((row["trace_id"], row["span_id"]))
            cursor = page.get("next_cursor")
            if not cursor:
                break
        for trace, span in spans:
            flagged[trace].add(span)
        own, by_trace = Score(), collections.defaultdict(set)
        for trace, span in spans:
            by_trace[trace].add(span)
        for trace, errors in marks.items():
            if trace in trees:
                own.add(trees[trace], errors, by_trace[trace])
        if not is_shown:
            continue
        print(f"  {issue['score']:3} {issue['severity']:8} {issue['traces']:3} traces, {own.hits} of {own.steps} steps "
              f"marked: {issue['detector']}: {issue['title']}", file=sys.stderr)
    whole, halves = Score(), [Score(), Score()]
    for number, (trace, errors) in enumerate(marks.items()):
        if trace in trees:
            for score in (whole, halves[number % 2]):
                score.add(trees[trace], errors, flagged[trace])
    categories = sorted(whole.categories.items(), key=lambda one: -one[1][1])
    return ({"set": name, "traces": len(lines), "spans": total, "issues": len(issues), "errors": whole.errors} | whole.shown()
            | {"chance": round(whole.marked / max(1, whole.all), 3), "matched": round(whole.steps / max(1, whole.all), 3), "scan_ms": scan["took_ms"],
               "halves": [half.shown() for half in halves],
               "categories": {category: f"{got}/{count}" for category, (got, count) in categories}})


def halves_alone(server, client, key, name, lines, marks):
    """Two random halves, each as a set of its own."""
    shuffled = random.Random(1).sample(lines, len(lines))
    made = []
    for number, part in enumerate((shuffled[::2], shuffled[1::2])):
        ids = {spans_of(json.loads(line))[0]["traceId"] for line in part}
        measured = measure(server, client, key, f"{name}-{number + 1}", part,
                           {trace: errors for trace, errors in marks.items() if trace in ids}, False)
        made.append({field: measured[field] for field in ("traces", "issues", "recall", "precision")})
    return made


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sets = list(sets_of(folder))
    if not sets:
        sys.exit(f"{folder} has no NAME.otlp.jsonl[.zst] with NAME.errors.jsonl")
    with Server(binary) as server:
        client = server.admin()
        key = client.must("POST", "/v1/keys", {"name": "sender", "kind": "service", "role": "member"}).data["key"]
        for name, lines, marks in sets:
            measured = measure(server, client, key, name, lines, marks)
            print(json.dumps(measured | {"alone": halves_alone(server, client, key, name, lines, marks)}))


if __name__ == "__main__":
    main()
