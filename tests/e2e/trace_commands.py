"""The commands about traces, of the real binary against the real server: lists, the tree, SQL, series, evals, the live
tail, export and import. And the live tail and saved views as the API has them."""

import http.client
import json
import os
import subprocess
import tempfile
import threading
import urllib.parse

from server import Server, wait_until
from telemetry import key_of, otlp_json, rows


class Hone:
    """Runs client commands as a person with a key would."""

    def __init__(self, server, key, project="shop"):
        self.binary = str(server.binary)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "HONE_URL": server.url,
            "HONE_API_KEY": key,
            "HONE_PROJECT": project,
        }

    def run(self, *words, text=None, status=0):
        command = [self.binary, *words]
        ran = subprocess.run(command, env=self.environment, input=text, capture_output=True, text=True, timeout=300)
        assert ran.returncode == status, f"{words}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran

    def json(self, *words, text=None):
        return json.loads(self.run(*words, "--json", text=text).stdout)


def started(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    client = server.client(key)
    spans = [(1, 1, 0, "ask", {"session.id": "s1"}), (1, 2, 1, "bad", {}), (2, 3, 0, "other", {})]
    assert client.post("/v1/traces", otlp_json(spans)).status == 200
    rows(client, "/v1/projects/shop/span_rows", 3)
    return server, client, Hone(server, key)


def test_traces_are_listed_drawn_and_counted_from_the_command_line(binary, stack):
    server, client, hone = started(binary, stack)
    listed = hone.run("traces").stdout.splitlines()
    assert listed[0].split()[:2] == ["TRACE", "NAME"] and len(listed) == 3, listed
    assert [row["root_name"] for row in hone.json("traces", "--filter", "status = error")] == ["ask"]
    assert len(hone.json("traces", "--limit", "1")) == 1 and len(hone.json("traces", "--all")) == 2
    assert [row["name"] for row in hone.json("spans", "-q", 'name = "bad"', "--after", "1h")] == ["bad"]
    assert [row["session_id"] for row in hone.json("chat-sessions")] == ["s1"]
    assert "status" in hone.run("fields").stdout
    disk = hone.json("project", "disk", "shop")
    assert (disk["disk"]["spans"], disk["ledger"]["stored"]) == (3, 3), disk
    drawn = hone.run("trace", f"{1:032x}").stdout
    assert "2 spans" in drawn and "└─ ✗ bad" in drawn and "━" in drawn, drawn
    assert "session.id" in hone.run("trace", f"{1:032x}", "--span", f"{1:016x}").stdout
    assert "no" in hone.run("trace", "ff" * 16, status=5).stderr
    assert hone.json("series", "--metrics", "count,errors", "--after", "1h")["metrics"] == ["count", "errors"]
    assert "█" in hone.run("series", "--group-by", "name", "--after", "1h").stdout
    compared = hone.json("compare", "--after", "1h", "--ago", "1d", "--group-by", "name")
    counts = {change["group"]: change["metrics"][0]["current"] for change in compared["groups"]}
    assert counts == {"ask": 1, "bad": 1, "other": 1}, compared
    told = hone.run("compare", "--after", "1h").stdout
    assert ["errors", "0", "1", "new", "worse"] in [line.split() for line in told.splitlines()], told
    assert "column" in hone.run("traces", "-q", "status =", status=8).stderr


def test_sql_from_the_command_line_in_every_format(binary, stack):
    server, client, hone = started(binary, stack)
    ask = "SELECT name, duration_ns FROM spans ORDER BY name"
    assert [line.split()[0] for line in hone.run("sql", ask).stdout.splitlines()] == ["name", "ask", "bad", "other"]
    assert [row["name"] for row in hone.json("sql", text=ask)] == ["ask", "bad", "other"]
    assert hone.run("sql", ask, "--format", "csv").stdout.splitlines()[1].startswith('"ask"')
    assert len(hone.run("sql", ask, "--format", "json_lines").stdout.splitlines()) == 3
    assert len(hone.json("sql", ask, "--limit", "2")) == 2  # cut, not refused
    with tempfile.TemporaryDirectory() as directory:
        file = f"{directory}/rows.parquet"
        hone.run("sql", ask, "--format", "parquet", "-o", file)
        assert open(file, "rb").read(4) == b"PAR1"
    assert hone.run("sql", "DROP TABLE spans", status=8).stderr.startswith("error:")


def test_evals_are_written_one_by_one_and_by_the_thousand(binary, stack):
    server, client, hone = started(binary, stack)
    hone.run("annotate", "--trace", f"{1:032x}", "--name", "correct", "--label", "no", "--score", "0.5")
    hone.run("annotate", "--session", "s1", "--name", "mood", "--label", "glad")
    assert [eval["score"] for eval in hone.json("evals", "--target", "trace")] == [0.5]
    assert [eval["label"] for eval in hone.json("evals", "--target", "chat_session")] == ["glad"]
    lines = "".join(
        json.dumps({"target_id": f"{1:016x}", "name": f"check {number}", "label": "yes", "kind": "code"}) + "\n"
        for number in range(2500)
    )
    assert "2500 evals" in hone.run("annotate", "-", text=lines).stdout
    assert len(hone.json("evals", "--all")) == 2500
    assert "line 2" in hone.run("annotate", "-", text='{"target_id":"x"}\nnonsense\n', status=2).stderr


def test_spans_are_exported_and_imported_again(binary, stack):
    server, client, hone = started(binary, stack)
    copy = Hone(server, client.key, "copy")
    client.must("POST", "/v1/projects", {"name": "copy"})
    with tempfile.TemporaryDirectory() as directory:
        for number, name in enumerate(["spans.jsonl", "spans.parquet", "spans.otlp.json", "spans.pb"]):
            file = f"{directory}/{name}"
            hone.run("export", "-o", file)
            assert "Imported 3 spans" in copy.run("import", file).stdout, name
        exported = hone.run("export", "--filter", "status = error").stdout
        assert len(exported.splitlines()) == 1 and '"bad"' in exported, exported
    assert sorted(row["name"] for row in rows(client, "/v1/projects/copy/span_rows", 3)) == ["ask", "bad", "other"]
    refused = copy.run("import", "-", text="nonsense\n", status=8)
    assert "line 1" in refused.stderr, refused.stderr


def test_the_tail_shows_spans_as_they_come(binary, stack):
    server, client, hone = started(binary, stack)
    tail = subprocess.Popen(
        [hone.binary, "tail", "--json", "--filter", "status = error", "--since", "1h", "--limit", "3"],
        env=hone.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    stack.callback(tail.wait)
    stack.callback(tail.kill)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(iter(tail.stdout.readline, "")))
    reader.start()
    wait_until(lambda: len(lines) == 1, "what was there before")
    for number in (10, 11):
        spans = [(number, number, 0, "bad", {}), (number, number + 50, 0, "good", {})]
        assert client.post("/v1/traces", otlp_json(spans)).status == 200
        wait_until(lambda: len(lines) == number - 8, "the span that just came")
    reader.join(60)
    assert tail.wait(60) == 0
    assert [json.loads(line)["span_id"] for line in lines] == [f"{2:016x}", f"{10:016x}", f"{11:016x}"], lines


def events_of(response):
    """Server-Sent Events as (event, id, data)."""
    event = {}
    for raw in response:
        line = raw.decode().rstrip("\n")
        if line == "" and event:
            yield event.get("event"), event.get("id"), json.loads(event.get("data", "null"))
            event = {}
        elif line and not line.startswith(":"):
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")


def test_a_tail_is_resumed_without_a_gap(binary, stack):
    server, client, hone = started(binary, stack)
    address = urllib.parse.urlsplit(server.url)

    def follow(**headers):
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        stack.callback(connection.close)
        connection.request("GET", "/v1/projects/shop/tail", headers={"Authorization": f"Bearer {client.key}"} | headers)
        response = connection.getresponse()
        assert response.status == 200 and response.getheader("Content-Type").startswith("text/event-stream")
        return connection, events_of(response)

    connection, events = follow()
    assert next(events)[0] == "ready"
    assert client.post("/v1/traces", otlp_json([(20, 20, 0, "first", {})])).status == 200
    event, position, spans = next(events)
    assert event == "spans" and [span["name"] for span in spans] == ["first"], (event, spans)
    connection.close()
    assert client.post("/v1/traces", otlp_json([(21, 21, 0, "between", {})])).status == 200
    rows(client, "/v1/projects/shop/span_rows?trace_id=" + f"{21:032x}", 1)
    connection, events = follow(**{"Last-Event-ID": position})
    seen = []
    while "between" not in seen:
        event, _, spans = next(events)
        seen += [span["name"] for span in spans] if event == "spans" else []
    assert client.get("/v1/projects/shop/tail?filter=status%20%3D").status == 400
    assert server.client().get("/v1/projects/shop/tail").status == 401


def test_saved_views_are_kept_with_their_project(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    path = "/v1/projects/shop/views"
    for name in ("slow%20ones", "failed"):
        admin.must("PUT", f"{path}/{name}", {"query": "filter=latency+%3E+2s", "is_default": True})
    views = admin.must("GET", path).data
    assert [(view["name"], view["is_default"]) for view in views] == [("failed", True), ("slow ones", False)], views
    assert admin.call("PUT", f"{path}/odd", {"query": "a b"}).status == 400
    admin.must("DELETE", f"{path}/failed", status=204)
    assert [view["name"] for view in admin.must("GET", path).data] == ["slow ones"]
