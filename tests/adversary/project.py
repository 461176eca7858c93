"""Boundary: restricted projects. The attacker is a member of the space who is not bound to the project, an API key with
fewer scopes than its user, or the worker of a run that such a caller started."""

import base64
import json
import pathlib
import sys
import time

from attack import assert_unseen, canary
from runs import Shop
from server import Client, wait_until
from telemetry import otlp_json

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "sql"))
from attacks import ATTACKS  # noqa: E402


def project_database(project):
    """The name of the database with a project's views."""
    return f"hone_{project}"


# Inside the sandbox: requests each path of the prompt through the gateway, which adds the run's key.
READ = """
import sys, urllib.error, urllib.request
for path in sys.stdin.read().split():
    try:
        response = urllib.request.urlopen("http://127.0.0.1:3129/api" + path, timeout=30)
    except urllib.error.HTTPError as error:
        response = error
    print(response.status if hasattr(response, "status") else response.code, path, response.read().decode()[:2000], flush=True)
"""


class Closed(Shop):
    """A restricted project with a span and a run that hold a canary."""

    def __init__(self, binary, stack):
        super().__init__(binary, stack)
        self.secret = canary()
        self.closed = self.client.must("POST", "/v1/projects", {"name": "closed", "restricted": True}).data["id"]
        key = self.key("sender")["key"]
        self.span(key, self.secret)
        wait_until(lambda: self.secret in self.client.get("/v1/projects/closed/span_rows?limit=10").text, "the span is stored")
        body = {"project": "closed", "prompt": self.secret, "settings": {"harness": "command", "command": ["/bin/true"]}}
        self.hidden_run = self.client.must("POST", "/v1/runs", body).data["id"]

    def span(self, key, name):
        sent = Client(self.server.url, key).post("/v1/traces", otlp_json([(1, 1, 0, name, {"note": name})], "closed"))
        assert sent.status == 200, sent.text

    def key(self, name, **wanted):
        return self.client.must("POST", "/v1/keys", {"name": name} | wanted).data

    def member(self, email="mallory@example.com", role="member"):
        path = self.client.must("POST", "/v1/spaces/default/invites", {"email": email, "role": role}).data["path"]
        client = self.server.client()
        client.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": email, "password": "a long enough password"})
        return client.login(email, "a long enough password")

    def paths(self):
        project, run = self.closed, self.hidden_run
        return [f"/v1/projects/{project}", "/v1/projects/closed", f"/v1/projects/{project}/span_rows", f"/v1/projects/{project}/traces",
                f"/v1/projects/{project}/evals", f"/v1/projects/{project}/tail", "/v1/projects?limit=1000", f"/v1/runs/{run}",
                f"/v1/runs/{run}/events", f"/v1/runs/{run}/manifest", "/v1/runs?limit=1000", "/v1/artifacts?limit=1000",
                "/v1/reviews?limit=1000", f"/v1/runs?project={project}"]

    def read_as_worker(self, client, project, paths):
        """A run in a project, started by this caller, whose worker requests the paths; what it received."""
        body = {"project": project, "prompt": "\n".join(paths),
                "settings": {"harness": "command", "command": ["/usr/bin/python3", "-c", READ]}}
        started = client.call("POST", "/v1/runs", body)
        assert started.status == 200, started.text
        run = self.until(started.data["id"])
        assert run["state"] == "succeeded", (run, self.texts(run["id"]))
        return "\n".join(self.texts(run["id"], "message"))


class Traces:
    """Sends traces of an agent whose tool fails."""

    def __init__(self, shop, key):
        self.shop, self.sender, self.made = shop, Client(shop.server.url, key), 1000

    def send(self, project, tool, message, count=20):
        spans = []
        for _ in range(count):
            self.made += 1
            start = time.time_ns() - 60_000_000_000
            for index, (name, kind) in enumerate([("handle_ticket", "AGENT"), (tool, "TOOL")]):
                spans.append({
                    "traceId": f"{self.made:032x}", "spanId": f"{self.made * 2 + index:016x}", "name": name,
                    "parentSpanId": f"{self.made * 2:016x}" if index else "",
                    "startTimeUnixNano": str(start + index), "endTimeUnixNano": str(start + 20_000_000 + index),
                    "attributes": [{"key": "openinference.span.kind", "value": {"stringValue": kind}}],
                    "status": {"code": 2, "message": message} if index else {"code": 1}})
        body = {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": spans}]}]}
        answer = self.sender.call("POST", "/v1/traces", body, {"x-project-name": project})
        assert answer.status == 200, answer.text
        last = spans[-1]["traceId"]
        def stored():
            answer = self.shop.client.get(f"/v1/projects/{project}/traces/{last}/skeleton")
            return answer.status == 200 and answer.data["spans"]
        wait_until(stored, "the spans are stored")


def statuses(text):
    """path → status of what READ printed."""
    lines = [line.split(" ", 2) for line in text.splitlines() if line[:3].isdigit()]
    return {line[1]: int(line[0]) for line in lines}


def test_a_member_who_is_not_bound_reads_a_restricted_project_on_every_route(binary, stack):
    """Gain: prompts and traces of a project that only its bound members can see, or the fact that it exists."""
    shop = Closed(binary, stack)
    assert any(shop.secret in shop.client.get(path).text for path in shop.paths()[2:4]), "control: the owner reads it"
    mallory = shop.member()
    received = []
    for path in shop.paths():
        answer = mallory.get(path)
        assert answer.status == (200 if path.endswith("?limit=1000") else 404), (path, answer.text)
        # An error repeats the name that the attacker wrote: what it reveals is compared with a name that does not exist.
        if answer.status == 404:
            name = next(part for part in (shop.hidden_run, shop.closed, "closed") if part in path)
            assert answer.message.replace(name, "x") == mallory.get(path.replace(name, name[:-4] + "0000")).message.replace(
                name[:-4] + "0000", "x"), (path, answer.text)
        else:
            assert shop.closed not in answer.text, "the project's existence is visible"
        received.append(answer.text)
    assert_unseen(shop.secret, *received)
    # Binding itself needs project_bind.
    me = mallory.must("GET", "/v1/me").data["user"]["id"]
    assert mallory.call("PUT", f"/v1/projects/{shop.closed}/bindings/{me}", {"role": "viewer"}).status == 403
    assert mallory.post("/v1/runs", {"project": shop.closed, "prompt": "x", "settings": {"harness": "command", "command": ["/bin/true"]}}).status == 404


def test_a_key_that_cannot_read_starts_a_worker_that_reads_for_it(binary, stack):
    """Gain: everything its user can read, with a key that was limited to starting runs: the worker's key is wider."""
    shop = Closed(binary, stack)
    paths = ["/v1/projects/closed", "/v1/projects/closed/span_rows?limit=10"]
    wide = Client(shop.server.url, shop.key("wide")["key"])
    control = shop.read_as_worker(wide, "closed", paths)
    assert shop.secret in control, control
    narrow = Client(shop.server.url, shop.key("narrow", scopes=["run_start", "run_read", "space_read", "skill_read"])["key"])
    received = shop.read_as_worker(narrow, "closed", paths)
    assert set(statuses(received).values()) == {403}, received
    assert_unseen(shop.secret, received.replace("\n".join(paths), ""))


def test_a_worker_keeps_reading_after_the_key_that_started_it_is_revoked(binary, stack):
    """Gain: access that outlives the revocation of a stolen key, for as long as the run lasts."""
    shop = Closed(binary, stack)
    key = shop.key("stolen")
    script = ("import time, urllib.request, urllib.error\n"
              "def ask():\n"
              "    try: return urllib.request.urlopen('http://127.0.0.1:3129/api/v1/projects/closed/span_rows?limit=10').status\n"
              "    except urllib.error.HTTPError as error: return error.code\n"
              "print('before', ask(), flush=True)\n"
              "while (status := ask()) == 200: time.sleep(0.1)\n"
              "print('after', status, flush=True)\n")
    body = {"project": "closed", "prompt": "go", "settings": {"harness": "command", "command": ["/usr/bin/python3", "-c", script]}}
    run = Client(shop.server.url, key["key"]).must("POST", "/v1/runs", body).data["id"]
    wait_until(lambda: "before 200" in shop.texts(run, "message"), "control: the worker reads")
    shop.client.must("DELETE", f"/v1/keys/{key['id']}")
    wait_until(lambda: "after 401" in shop.texts(run, "message"), "the worker's key has ended")
    shop.until(run)


def test_a_service_key_without_a_binding_reads_through_its_worker_and_a_bound_one_ends_with_its_binding(binary, stack):
    """Gain: a restricted project, by a machine account that was never let in or was removed again."""
    shop = Closed(binary, stack)
    service = shop.key("ci", kind="service", role="member")
    machine = Client(shop.server.url, service["key"])
    body = {"project": "closed", "prompt": "x", "settings": {"harness": "command", "command": ["/bin/true"]}}
    assert machine.post("/v1/runs", body).status == 404
    shop.client.must("PUT", f"/v1/projects/{shop.closed}/bindings/{service['id']}", {"role": "member"})
    control = shop.read_as_worker(machine, "closed", ["/v1/projects/closed/span_rows?limit=10"])
    assert shop.secret in control, control
    # Its worker sees this project and no other.
    elsewhere = shop.read_as_worker(machine, "closed", ["/v1/projects/shop", "/v1/projects"])
    assert statuses(elsewhere)["/v1/projects/shop"] == 404 and '"name":"shop"' not in elsewhere, elsewhere
    shop.client.must("DELETE", f"/v1/projects/{shop.closed}/bindings/{service['id']}")
    assert machine.post("/v1/runs", body).status == 404


def test_a_live_tail_goes_on_after_the_binding_is_taken_away(binary, stack):
    """Gain: new traces of a restricted project after its owner removed the attacker from it."""
    shop = Closed(binary, stack)
    mallory = shop.member()
    me = mallory.must("GET", "/v1/me").data["user"]["id"]
    shop.client.must("PUT", f"/v1/projects/{shop.closed}/bindings/{me}", {"role": "viewer"})
    connection = mallory.connection()
    stack.callback(connection.close)
    connection.request("GET", f"/v1/projects/{shop.closed}/tail", headers={"Cookie": f"hone_session={mallory.cookie}"})
    stream = connection.getresponse()
    assert stream.status == 200, stream.read()
    key, seen = shop.key("sender2")["key"], canary("control")
    shop.span(key, seen)
    received = b""
    while seen.encode() not in received:
        piece = stream.read1(65536)
        assert piece, "control: the tail shows new spans"
        received += piece
    shop.client.must("DELETE", f"/v1/projects/{shop.closed}/bindings/{me}")
    rest = b""
    try:
        while piece := stream.read1(65536):  # the server ends it: this would otherwise wait for the connection's timeout
            rest += piece
    except (ConnectionError, OSError) as end:
        assert "timed out" not in str(end), "the stream stays open"
    later = canary("later")
    shop.span(key, later)
    assert_unseen(later, rest)
    assert json.loads(mallory.get(f"/v1/projects/{shop.closed}/tail").text)["error"]["code"] == "not_found"


def test_a_worker_asks_for_another_project_in_sql(binary, stack):
    """Gain: rows of every project, by SQL from inside a sandbox, where no person reads the query before it runs."""
    shop = Closed(binary, stack)
    other = project_database(shop.closed)
    own = shop.client.must("GET", "/v1/projects/shop").data["id"]
    key, mine = shop.key("own")["key"], canary("mine")
    Client(shop.server.url, key).must("POST", "/v1/traces", otlp_json([(7, 7, 0, mine, {"note": mine})], "shop"))
    wait_until(lambda: mine in shop.client.get("/v1/projects/shop/span_rows?limit=10").text, "the own span is stored")
    outfile = shop.server.data_dir / "telemetry/written"
    statements = [attack.sql.replace("{other}", other).replace("{own}", project_database(own)).replace("{outfile}", str(outfile))
                  for attack in ATTACKS if "\0" not in attack.sql and "sleep" not in attack.sql and len(attack.sql) < 4000]
    assert len(statements) > 100, len(statements)
    script = ("import base64, json, subprocess, sys\n"
              "for sql in ['SELECT name FROM spans'] + json.loads(base64.b64decode(sys.stdin.read())):\n"
              "    done = subprocess.run(['hone', 'query_sql', '--sql', sql], capture_output=True, text=True, errors='replace')\n"
              "    print(json.dumps([done.returncode, done.stdout[:3000], done.stderr[:500]]), flush=True)\n")
    # Encoded: the names of databases look like keys, which a prompt must not hold.
    body = {"project": "shop", "prompt": base64.b64encode(json.dumps(statements).encode()).decode(),
            "settings": {"harness": "command", "command": ["/usr/bin/python3", "-c", script]}}
    run = shop.until(shop.client.must("POST", "/v1/runs", body).data["id"])
    answers = [json.loads(line) for text in shop.texts(run["id"], "message") for line in text.splitlines() if line.startswith("[")]
    assert run["state"] == "succeeded" and len(answers) == len(statements) + 1, (run, len(answers), shop.texts(run["id"])[-3:])
    assert answers[0][0] == 0 and mine in answers[0][1], answers[0]  # the control: the own project is read
    assert sum(code != 0 for code, _, _ in answers) > len(statements) / 2, "most attacks are rejected"
    # An error may repeat the statement, which does not hold the canary.
    assert_unseen(shop.secret, json.dumps(answers))
    assert not outfile.exists()


def test_a_key_that_cannot_read_talks_to_a_worker_of_others(binary, stack):
    """Gain: a restricted project, with a key that was limited to starting runs: a follow-up is done with the rights of the
    session's starter."""
    shop = Closed(binary, stack)
    path = "/v1/projects/closed/span_rows?limit=10"
    body = {"project": "closed", "prompt": "/v1/projects", "settings": {"harness": "command", "command": ["/usr/bin/python3", "-c", READ]}}
    run = shop.until(shop.client.must("POST", "/v1/runs", body).data["id"])["id"]
    narrow = Client(shop.server.url, shop.key("narrow", scopes=["run_start", "run_read", "space_read"])["key"])
    assert narrow.get(f"/v1/runs/{run}").status == 200, "control: the key sees the session"
    for answer in (narrow.post(f"/v1/runs/{run}/messages", {"text": path}), narrow.post(f"/v1/runs/{run}/fork", {"prompt": path})):
        assert answer.status == 404, answer.text
    assert shop.run(run)["turns"] == 1 and path not in "".join(shop.texts(run))
    shop.client.must("POST", f"/v1/runs/{run}/messages", {"text": path})
    wait_until(lambda: shop.run(run)["turns"] == 2 and shop.run(run)["state"] == "succeeded", "the owner's follow-up is done")
    assert shop.secret in "\n".join(shop.texts(run, "message")), "control: the session's worker reads the project"


def test_a_member_reads_with_the_key_of_the_person_who_started_the_session(binary, stack):
    """Gain: a restricted project, by talking to a worker in another project that has the owner's key in a hone skill."""
    shop = Closed(binary, stack)
    skill = shop.client.must("POST", "/v1/skills", {
        "name": "mine", "type": "hone", "secrets": {"HONE_API_KEY": shop.key("owner")["key"]}}).data["id"]
    path = "/v1/projects/closed/span_rows?limit=10"
    script = READ.replace('"http://127.0.0.1:3129/api" + path',
                          'urllib.request.Request("http://127.0.0.1:3129/api" + path, headers={"Authorization": "Bearer " + __import__("os").environ["HONE_API_KEY"]})')
    mallory = shop.member()

    def session():
        body = {"project": "shop", "prompt": path, "settings": {"harness": "command", "command": ["/usr/bin/python3", "-c", script], "skills": [skill]}}
        run = shop.until(shop.client.must("POST", "/v1/runs", body).data["id"])["id"]
        assert shop.secret in "\n".join(shop.texts(run, "message")), "control: the owner's worker reads with the owner's key"
        return run

    def told_after(run, turns):
        wait_until(lambda: shop.run(run)["turns"] == turns and shop.run(run)["state"] == "succeeded", "the follow-up is done")
        return [event["text"] for event in shop.events(run) if event["kind"] == "message" and event["turn"] == turns]

    run = session()
    mallory.must("POST", f"/v1/runs/{run}/messages", {"text": path})
    received = told_after(run, 2)
    assert received and received[0].startswith("403"), received
    assert_unseen(shop.secret, *received)
    # What mallory wrote is still in the conversation when the owner talks next.
    shop.client.must("POST", f"/v1/runs/{run}/messages", {"text": path})
    received = told_after(run, 3)
    assert_unseen(shop.secret, *received)
    fork = mallory.must("POST", f"/v1/runs/{session()}/fork", {"prompt": path}).data["id"]
    shop.until(fork)
    assert_unseen(shop.secret, *shop.texts(fork, "message"))


def test_a_restricted_project_is_read_through_an_investigation_of_signal(binary, stack):
    """Gain: a restricted project in the report of a worker that no person started, because Signal reads every project."""
    shop = Closed(binary, stack)
    mallory = shop.member()
    sender = shop.key("sender2", kind="service", role="member")
    shop.client.must("PUT", f"/v1/projects/{shop.closed}/bindings/{sender['id']}", {"role": "member"})
    traces = Traces(shop, sender["key"])
    wanted = {"enabled": True, "consent": True, "settings": {"max_investigations": 1, "cadence_minutes": 60}}
    assert mallory.call("PUT", f"/v1/projects/{shop.closed}/bindings/signal", {"role": "viewer"}).status == 403
    assert mallory.call("PUT", f"/v1/projects/{shop.closed}/signal", wanted).status == 404
    assert mallory.call("POST", f"/v1/projects/{shop.closed}/signal/scan").status == 404
    histories = {}
    for project in ("shop", "closed"):
        traces.send(project, "lookup_order", shop.secret if project == "closed" else "it fails")
        shop.client.must("PUT", f"/v1/projects/{project}/signal", wanted)
        histories[project] = shop.client.must("GET", f"/v1/projects/{project}/signal").data["automation_id"]

    def slots(project, outcome):
        return [slot for slot in shop.client.must("GET", f"/v1/automations/{histories[project]}/slots").data
                if slot["values"].get("type") == "investigate" and slot["outcome"] == outcome]

    wait_until(lambda: slots("shop", "fired"), "control: the open project is investigated")
    # Nobody has bound Signal: no worker starts, and the history states why.
    refused = wait_until(lambda: slots("closed", "failed"), "the investigation is refused")
    assert "Signal is not bound" in refused[0]["note"], refused
    assert not slots("closed", "fired")
    assert shop.client.must("GET", f"/v1/runs?automation={histories['closed']}").data == []
    received = [mallory.get(path).text for path in ("/v1/issues?status=all", "/v1/runs?limit=100", "/v1/artifacts?limit=100",
                                                    f"/v1/automations/{histories['closed']}/slots")]
    assert_unseen(shop.secret, *received)
