"""Monitors and notices end to end: spans trigger a monitor, a webhook hears of it once, an automation starts."""

import hashlib
import hmac
import http.server
import json
import threading

from postgres import Postgres
from server import Server, run, wait_until
from telemetry import otlp_json

OPEN = ("--notice-private-addresses", "true", "--public-url", "https://hone.example.com/")


class Receiver:
    """An HTTP server that remembers what it was sent and answers what it is told."""

    def __init__(self, stack):
        self.got = []
        self.status = 200
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        stack.callback(self.server.server_close)
        stack.callback(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"

    def of(self, kind):
        return [json.loads(body) for _, body in list(self.got) if json.loads(body).get("kind") == kind]


def send(client, good, bad, first=1):
    names = ["bad"] * bad + ["good"] * good
    spans = [(first + i, first + i, 0, name, {}) for i, name in enumerate(names)]
    client.must("POST", "/v1/traces", otlp_json(spans))


def loaded(client):
    path = "/v1/projects/shop/series?metrics=count&bucket=0s"
    wait_until(lambda: client.must("GET", path).data["buckets"], "the spans can be read")


def monitor(client, name="errors", **settings):
    settings = {
        "metric": "error_rate",
        "condition": {"type": "threshold", "threshold": 0.2},
        "window_seconds": 600,
        "frequency_seconds": 60,
    } | settings
    return client.must("POST", "/v1/monitors", {"name": name, "project": "shop", "settings": settings}).data


def evaluate(client, made):
    """Now; the server's own thread may be at it, then a moment later."""
    def done():
        answer = client.post(f"/v1/monitors/{made['id']}/evaluate")
        assert answer.status in (200, 429), answer.text  # either: 429 while the server's own thread evaluates it
        return answer.status == 200 and answer.data
    return wait_until(done, "the monitor is evaluated")


def triggered(client, made):
    wait_until(lambda: evaluate(client, made)["state"] == "triggered", "the monitor triggers")


def test_spans_trigger_a_monitor_and_a_webhook_hears_of_it_once(binary, stack):
    server = stack.enter_context(Server(binary, None, *OPEN))
    receiver = Receiver(stack)
    client = server.admin()
    hook = client.must("POST", "/v1/destinations", {"name": "ops", "type": "webhook", "url": receiver.url}).data
    secret = hook["signing_secret"]
    assert "/hook" not in json.dumps(client.must("GET", "/v1/destinations").data)
    assert client.must("POST", f"/v1/destinations/{hook['id']}/test").data["ok"]
    assert len(receiver.of("test")) == 1

    send(client, good=9, bad=1)
    made = monitor(client)
    wait_until(lambda: evaluate(client, made)["state"] == "healthy", "the monitor has seen the spans")
    send(client, good=0, bad=20, first=100)
    triggered(client, made)
    wait_until(lambda: receiver.of("monitor_triggered"), "the webhook hears of it")
    evaluate(client, made)
    told = receiver.of("monitor_triggered")
    assert len(told) == 1, told
    assert told[0]["title"] == "Triggered: errors" and told[0]["project"]["name"] == "shop", told
    assert told[0]["url"] == f"https://hone.example.com/s/default/projects/shop/monitors/{made['id']}", told
    headers, body = receiver.got[-1]
    signed = hmac.new(secret.encode(), headers["X-Hone-Timestamp"].encode() + b"." + body, hashlib.sha256)
    assert headers["X-Hone-Signature"] == "sha256=" + signed.hexdigest()

    # It is in the list of notices, new until it is read, and in the history.
    notices = client.must("GET", "/v1/notices?kind=monitor_triggered").data
    assert len(notices) == 1 and notices[0]["unread"], notices
    assert client.must("POST", "/v1/notices/read", {}).data["unread"] == 0
    kinds = [event["kind"] for event in client.must("GET", f"/v1/monitors/{made['id']}/history").data]
    # either: no_data is in it when the window ended before the spans at the first evaluation
    assert [kind for kind in kinds if kind != "no_data"] == ["triggered", "healthy", "created"], kinds
    chart = client.must("GET", f"/v1/monitors/{made['id']}/chart").data
    assert chart["triggered"] == 1 and chart["points"][-1]["upper"] == 0.2, chart
    preview = client.must("POST", "/v1/monitor_preview", {"project": "shop", "settings": made["settings"]}).data
    assert preview["points"][-1]["state"] == "triggered", preview["points"][-1]

    # Enough good spans: it recovers and says so.
    send(client, good=900, bad=0, first=1000)
    wait_until(lambda: evaluate(client, made)["state"] == "healthy", "the monitor recovers")
    wait_until(lambda: receiver.of("monitor_recovered"), "the webhook hears of the recovery")
    metrics = client.get("/metrics").text
    assert "hone_notices_sent_total" in metrics and "hone_monitors 1" in metrics, metrics


def test_a_triggered_monitor_starts_its_automation_once(binary, stack):
    server = stack.enter_context(Server(binary, None, *OPEN))
    client = server.admin()
    send(client, good=0, bad=10)
    made = monitor(client)
    client.must("POST", "/v1/presets", {"name": "w", "settings": {"harness": "command", "command": ["/bin/true"]}})
    body = {"name": "look", "project": "shop", "preset": "w", "prompt": "look"}
    automation = client.must(
        "POST", "/v1/automations", body | {"trigger": {"type": "monitor", "monitor": made["id"]}}
    ).data
    client.must("PATCH", f"/v1/monitors/{made['id']}", {"description": "look at the runbook"})
    triggered(client, made)

    def fired():
        slots = client.must("GET", f"/v1/automations/{automation['id']}/slots").data
        return [slot for slot in slots if slot["outcome"] != "due"]

    slots = wait_until(fired, "the automation fires")
    evaluate(client, made)
    assert len(fired()) == 1, slots
    run_id = slots[0]["run_id"]
    over = ("succeeded", "failed", "lost")
    wait_until(lambda: client.must("GET", f"/v1/runs/{run_id}").data["state"] in over, "its run ends")
    # That it ended is a notice of its own.
    wait_until(lambda: client.must("GET", "/v1/notices?kind=run_finished").data, "the end of the run is told")
    server.stop()


def test_private_addresses_are_refused_by_default_and_retries_survive_a_kill(binary, stack):
    receiver = Receiver(stack)
    server = stack.enter_context(Server(binary))
    client = server.admin()
    hook = client.must("POST", "/v1/destinations", {"name": "ops", "type": "webhook", "url": receiver.url}).data
    refused = client.must("POST", f"/v1/destinations/{hook['id']}/test").data
    assert not refused["ok"] and "notice_private_addresses" in refused["problem"], refused
    assert not receiver.got

    other = stack.enter_context(Server(binary, None, *OPEN))
    client = other.admin()
    client.must("POST", "/v1/destinations", {"name": "ops", "type": "webhook", "url": receiver.url})
    receiver.status = 500
    send(client, good=0, bad=10)
    made = monitor(client)
    triggered(client, made)
    wait_until(lambda: receiver.of("monitor_triggered"), "a first attempt")
    other.kill()
    receiver.status = 200
    other.start()
    wait_until(lambda: len(receiver.of("monitor_triggered")) >= 2, "another attempt after the restart", 300)
    ids = {told["delivery_id"] for told in receiver.of("monitor_triggered")}
    assert len(ids) == 1, ids


def test_two_servers_on_one_postgresql_tell_of_a_transition_once(binary, stack):
    postgres = Postgres(stack)
    receiver = Receiver(stack)
    flags = ("--database-url", postgres.url, *OPEN)
    environment = {"HONE_MASTER_KEY": "A" * 43}
    one = stack.enter_context(Server(binary, None, *flags, environment=environment))
    two = stack.enter_context(Server(binary, None, *flags, environment=environment))
    client = one.admin()
    client.must("POST", "/v1/destinations", {"name": "ops", "type": "webhook", "url": receiver.url})
    # Each server has spans of its own here; both have enough that are bad.
    send(client, good=0, bad=10)
    send(two.admin(), good=0, bad=10)
    loaded(client)
    loaded(two.admin())
    made = [monitor(client, f"m{i}") for i in range(5)]
    wait_until(lambda: len(receiver.of("monitor_triggered")) >= len(made), "all of them trigger by themselves", 240)
    told = [notice["title"] for notice in receiver.of("monitor_triggered")]
    assert sorted(told) == sorted(f"Triggered: {each['name']}" for each in made), told


def test_sql_is_the_metric_of_a_monitor_and_is_guarded(binary, stack):
    server = stack.enter_context(Server(binary, None, *OPEN))
    client = server.admin()
    send(client, good=5, bad=5)
    loaded(client)
    window = "start_ns >= {{window.from}} AND start_ns < {{window.to}}"
    share = f"SELECT countIf(status = 'error') / count() FROM spans WHERE {window}"

    def settings(sql, **more):
        condition = {"type": "threshold", "threshold": 0.2}
        return {"sql": sql, "condition": condition, "window_seconds": 600, "frequency_seconds": 60} | more

    def refused(sql, **more):
        answer = client.post("/v1/monitors", {"name": "x", "project": "shop", "settings": settings(sql, **more)})
        assert answer.status in (400, 403), answer.text  # either: the guard forbids tables, and finds syntax invalid
        return answer.text

    assert "window.from" in refused("SELECT 1")
    assert "one row" in refused(f"SELECT span_id FROM spans WHERE {window}")
    assert "one column" in refused(f"SELECT count(), 1 FROM spans WHERE {window}")
    assert "a number" in refused(f"SELECT any(name) FROM spans WHERE {window}")
    refused(f"SELECT count() FROM system.tables WHERE {window}")
    refused(f"SELECT count() FROM hone.eval_history WHERE {window}")
    refused(f"SELEKT count() FROM spans WHERE {window}")
    refused(f"INSERT INTO spans SELECT * FROM spans WHERE {window}")
    assert "exclude each other" in refused(share, metric="count")
    made = client.must("POST", "/v1/monitors", {"name": "share", "project": "shop", "settings": settings(share)}).data
    assert made["settings"]["metric"] is None and made["settings"]["sql"] == share, made
    triggered(client, made)
    shown = client.must("GET", f"/v1/monitors/{made['id']}").data
    assert shown["last_reading"]["value"] == 0.5, shown
    preview = client.must("POST", "/v1/monitor_preview", {"project": "shop", "settings": settings(share)}).data
    assert 2 <= len(preview["points"]) <= 13 and preview["points"][-1]["value"] == 0.5, preview
    assert preview["points"][0]["value"] is None, "a window without spans has no share"
    key = client.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    done = run(binary, "monitor", "create", "errors", "--project", "shop", "--above", "3", "--window", "10m", "--every", "1m",
               "--sql", f"SELECT countIf(status = 'error') FROM spans WHERE {window}",
               environment={"HONE_URL": server.url, "HONE_API_KEY": key})
    assert done.returncode == 0, done.stderr
    assert evaluate(client, client.must("GET", "/v1/monitors").data[1])["last_reading"]["value"] == 5


def test_notices_reach_chats_and_on_call_services(binary, stack):
    server = stack.enter_context(Server(binary, None, *OPEN))
    receivers = {kind: Receiver(stack) for kind in ("teams", "discord", "pagerduty", "opsgenie")}
    client = server.admin()
    for kind, receiver in receivers.items():
        body = {"name": kind, "type": kind, "url": receiver.url, "kinds": ["monitor_triggered", "monitor_recovered"]}
        secret = {"key": "canary-7f3a9e21"} if kind in ("pagerduty", "opsgenie") else {}
        made = client.must("POST", "/v1/destinations", body | secret).data
        assert "canary" not in json.dumps(made) and "/hook" not in json.dumps(made), made
        assert client.must("POST", f"/v1/destinations/{made['id']}/test").data["ok"], kind
    send(client, good=0, bad=10)
    loaded(client)
    made = monitor(client)
    triggered(client, made)
    client.must("PATCH", f"/v1/monitors/{made['id']}", {"settings": made["settings"] | {"condition": {"type": "threshold", "threshold": 2}}})
    wait_until(lambda: evaluate(client, made)["state"] == "healthy", "the monitor recovers")
    for kind, receiver in receivers.items():
        wait_until(lambda: len(receiver.got) >= 3, f"{kind} hears of the test, the trigger and the recovery")

    def sent(kind):
        return [json.loads(body) for _, body in receivers[kind].got]

    opened, closed = (event for event in sent("pagerduty")[1:3])
    assert (opened["event_action"], closed["event_action"]) == ("trigger", "resolve") and opened["dedup_key"] == closed["dedup_key"]
    assert opened["routing_key"] == "canary-7f3a9e21" and opened["payload"]["severity"] == "error", opened
    assert receivers["opsgenie"].got[1][0]["Authorization"] == "GenieKey canary-7f3a9e21"
    assert sent("opsgenie")[1]["alias"] == opened["dedup_key"] and sent("opsgenie")[2]["note"].startswith("Recovered"), sent("opsgenie")
    assert sent("discord")[1]["allowed_mentions"] == {"parse": []} and len(sent("discord")[1]["content"]) <= 2000
    assert sent("teams")[1]["attachments"][0]["content"]["type"] == "AdaptiveCard"
    assert "canary" not in server.output()


def test_monitors_destinations_and_notices_from_the_command_line(binary, stack):
    server = stack.enter_context(Server(binary, None, *OPEN))
    receiver = Receiver(stack)
    client = server.admin()
    send(client, good=0, bad=10)
    key = client.must("POST", "/v1/keys", {"name": "cli", "kind": "service", "role": "admin"}).data["key"]
    environment = {"HONE_URL": server.url, "HONE_API_KEY": key}

    def hone(*arguments, code=0):
        done = run(binary, *arguments, environment=environment)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout

    assert "No monitors" in hone("monitor", "list")
    hone("monitor", "create", "errors", "--project", "shop", "--metric", "error_rate", "--above", "0.2",
         "--window", "10m", "--every", "1m")
    made = client.must("GET", "/v1/monitors").data[0]
    triggered(client, made)
    assert "triggered" in hone("monitor", "evaluate", "errors")
    assert "errors" in hone("monitor", "list", "--state", "triggered")
    assert "triggered" in hone("monitor", "history", "errors")
    hone("monitor", "update", "errors", "--above", "0.5", "--recover", "0.3", "--description", "call Ada")
    shown = json.loads(hone("monitor", "show", "errors", "--json"))
    shown = shown.get("data", shown)
    assert shown["settings"]["condition"]["threshold"] == 0.5, shown
    assert shown["settings"]["window_seconds"] == 600, shown
    assert "Muted errors" in hone("monitor", "mute", "errors", "--for", "30m", "--reason", "deploy")
    hone("monitor", "unmute", "errors")
    created = hone("destination", "create", "ops", "--hook", receiver.url, "--kinds", "monitor_triggered")
    assert "whsec_" in created, created
    assert "Delivered" in hone("destination", "test", "ops")
    assert "whsec_" not in hone("destination", "show", "ops")
    hone("destination", "deliveries", "ops")
    done = run(binary, "destination", "create", "pager", "--type", "pagerduty", "--key", "--hook", receiver.url,
               environment=environment, input="a-key-of-pagerduty\n")
    assert done.returncode == 0 and "a-key" not in done.stdout, done
    assert "Delivered" in hone("destination", "test", "pager")
    assert json.loads(receiver.got[-1][1])["routing_key"] == "a-key-of-pagerduty"
    assert "Triggered: errors" in hone("notice", "list")
    hone("notice", "read")
    hone("destination", "delete", "ops", "--yes")
    hone("monitor", "delete", "errors", "--yes")
    hone("monitor", "show", "errors", code=5)
