"""Runs end to end: a session in a real sandbox, its transcript, follow-ups, limits, crashes of the server, who may see."""

import json
import pathlib
import signal
import time

from server import PATIENCE, Client, Server, wait_until

OVER = ("succeeded", "failed", "cancelled", "timed_out", "budget_stopped", "lost")


class Shop:
    """A server with one project, logged in as its owner."""

    patience = PATIENCE  # seconds until a run has come where it should

    def __init__(self, binary, stack, *flags):
        self.server = stack.enter_context(Server(binary, None, *flags))
        self.client = Client(self.server.url).login()
        self.client.must("POST", "/v1/projects", {"name": "shop"})

    def again(self):
        """Kills the server and starts another on the same data."""
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        self.server.start()
        self.client = Client(self.server.url).login()

    def start(self, *command, prompt="look", **settings):
        body = {"project": "shop", "prompt": prompt, "settings": {"harness": "command", "command": list(command)} | settings}
        return self.client.must("POST", "/v1/runs", body).data

    def run(self, id):
        return self.client.must("GET", f"/v1/runs/{id}").data

    def until(self, id, *states):
        wanted = states or OVER
        def reached():
            run = self.run(id)
            if run["state"] in wanted:
                return run
            assert run["state"] not in OVER, (run, self.texts(id))
            return None
        return wait_until(reached, f"the run gets {wanted}", self.patience)

    def events(self, id):
        return self.client.must("GET", f"/v1/runs/{id}/events?limit=1000").data

    def texts(self, id, kind=None):
        return [event["text"] for event in self.events(id) if kind in (None, event["kind"])]


def shell(script):
    return ("/bin/sh", "-c", script)


def test_a_session_runs_to_its_end_and_leaves_nothing_behind(binary, stack):
    shop = Shop(binary, stack)
    run = shop.until(shop.start(*shell("read line; echo \"got $line\"; echo oops >&2; id -u; pwd"), prompt="hello\n")["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    messages = shop.texts(run["id"], "message")
    assert messages == ["got hello", "1000", "/workspace"], messages
    steps = [event["step"] for event in shop.events(run["id"]) if event["step"]]
    assert steps == ["skills", "provision", "project", "harness"], steps
    states = [event["state"] for event in shop.events(run["id"]) if event["state"]]
    assert states == ["preparing", "running", "succeeded"], states
    manifest = shop.client.must("GET", f"/v1/runs/{run['id']}/manifest").data
    assert manifest["tier"] == "ns" and manifest["prompt"] == "hello\n", manifest
    assert not list((shop.server.data_dir / "runs").glob("*")), "files of the run are left"


def test_a_command_that_fails_says_so(binary, stack):
    shop = Shop(binary, stack)
    run = shop.until(shop.start(*shell("echo trying; echo 'no such luck' >&2; exit 3"))["id"])
    assert run["state"] == "failed" and "exit code 3" in run["reason"], run
    assert any("no such luck" in text for text in shop.texts(run["id"])), shop.texts(run["id"])
    run = shop.until(shop.start("/no/such/program")["id"])
    assert run["state"] == "failed", run


def test_a_run_is_cancelled_within_moments_in_each_phase(binary, stack):
    shop = Shop(binary, stack, "--run-places", "4", "--run-places-per-space", "4")
    id = shop.start(*shell("echo started; trap '' TERM INT; while :; do sleep 1; done"))["id"]
    shop.until(id, "running")
    wait_until(lambda: "started" in shop.texts(id, "message"), "it started")
    begun = time.monotonic()
    shop.client.must("POST", f"/v1/runs/{id}/cancel")
    run = shop.until(id)
    assert run["state"] == "cancelled" and "admin@localhost" in run["reason"], run
    assert time.monotonic() - begun < 30
    # While its layer is made, and while another's is: neither waits for the script.
    making = [shop.start("/bin/true", sandbox={"init_script": "sleep 100"})["id"] for _ in range(2)]
    for id in making:
        wait_until(lambda: "skills" in [event["step"] for event in shop.events(id)], "it is being prepared")
    begun = time.monotonic()
    for id in making:
        shop.client.must("POST", f"/v1/runs/{id}/cancel")
    for id in making:
        assert shop.until(id)["state"] == "cancelled"
    assert time.monotonic() - begun < 60
    # Queued behind others: over at once.
    slow = [shop.start(*shell("sleep 600"))["id"] for _ in range(6)]
    answer = shop.client.must("POST", f"/v1/runs/{slow[-1]}/cancel").data
    assert answer["state"] == "cancelled", answer
    for id in slow[:-1]:
        shop.client.must("POST", f"/v1/runs/{id}/cancel")
    for id in slow:
        assert shop.until(id)["state"] == "cancelled"


def test_a_follow_up_finds_the_workspace_as_it_was_left(binary, stack):
    shop = Shop(binary, stack)
    id = shop.start(*shell("cat >> all.txt; cat all.txt; echo $HONE_RESUMED"), prompt="first")["id"]
    assert shop.until(id)["state"] == "succeeded"
    shop.client.must("POST", f"/v1/runs/{id}/messages", {"text": "second"})
    wait_until(lambda: shop.run(id)["turns"] == 2 and shop.run(id)["state"] == "succeeded", "the follow-up is done")
    assert shop.texts(id, "message") == ["first", "0", "first", "second", "1"], shop.texts(id, "message")
    forked = shop.client.must("POST", f"/v1/runs/{id}/fork", {"prompt": "third"}).data["id"]
    assert shop.until(forked)["state"] == "succeeded"
    assert shop.texts(forked, "message") == ["first", "second", "third", "0"], shop.texts(forked, "message")
    # The fork wrote into its own copy, and a repeated run starts from nothing.
    shop.client.must("POST", f"/v1/runs/{id}/messages", {"text": "fourth"})
    wait_until(lambda: shop.run(id)["turns"] == 3 and shop.run(id)["state"] == "succeeded", "the follow-up is done")
    assert shop.texts(id, "message")[-4:] == ["first", "second", "fourth", "1"], shop.texts(id, "message")
    repeated = shop.client.must("POST", f"/v1/runs/{id}/rerun", {}).data["id"]
    assert shop.until(repeated)["state"] == "succeeded"
    assert shop.texts(repeated, "message") == ["first", "0"]


def test_limits_end_a_run_with_their_name(binary, stack):
    shop = Shop(binary, stack)
    greedy = "import time\nblocks = []\nwhile True:\n    blocks.append(bytearray(8 << 20))\n    time.sleep(0.01)"
    run = shop.until(shop.start("/usr/bin/python3", "-c", greedy, sandbox={"memory_bytes": 96 << 20})["id"])
    assert run["state"] == "failed" and "memory" in run["reason"], (run, shop.texts(run["id"]))


def test_a_killed_server_takes_its_runs_up_again(binary, stack):
    shop = Shop(binary, stack)
    count = "for i in $(seq 1 60); do echo line $i; sleep 0.2; done"
    id = shop.start(*shell(count))["id"]
    wait_until(lambda: "line 5" in shop.texts(id, "message"), "it has begun")
    shop.again()
    wait_until(lambda: "line 20" in shop.texts(id, "message"), "it goes on")
    shop.again()
    run = shop.until(id)
    assert run["state"] == "succeeded", (run, shop.texts(id))
    lines = shop.texts(id, "message")
    assert lines == [f"line {i}" for i in range(1, 61)], "lines are missing or were told twice: " + repr(lines)
    assert any("restarted" in text for text in shop.texts(id)), shop.texts(id)


def test_an_init_script_runs_once_and_its_layer_is_reused(binary, stack):
    shop = Shop(binary, stack)
    sandbox = {"init_script": "mkdir -p /opt/prepared && date +%s%N > /opt/prepared/when", "network": "none"}
    told = []
    for _ in range(2):
        run = shop.until(shop.start("/bin/cat", "/opt/prepared/when", sandbox=sandbox)["id"])
        assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
        told.append(shop.texts(run["id"], "message"))
    assert told[0] == told[1], told
    # One that works does not keep the next from the same layer.
    both = [shop.start("/bin/sleep", "600", sandbox=sandbox)["id"] for _ in range(2)]
    for id in both:
        shop.until(id, "running")
    for id in both:
        shop.client.must("POST", f"/v1/runs/{id}/cancel")
    run = shop.until(shop.start("/bin/true", sandbox={"init_script": "echo broken; exit 7"})["id"])
    assert run["state"] == "failed" and "broken" in json.dumps(shop.events(run["id"])), shop.events(run["id"])
    run = shop.until(shop.start("/bin/true", sandbox={"init_script": "exit 7", "init_failure": "degrade"})["id"])
    assert run["state"] == "succeeded", run


def test_hostile_output_is_made_harmless(binary, stack):
    shop = Shop(binary, stack)
    script = "printf '\\033[2Jcleared\\n'; printf 'a\\342\\200\\256b\\n'; printf '\\377\\376\\n'; head -c 3000000 /dev/zero | tr '\\0' 'x'; echo"
    run = shop.until(shop.start(*shell(script))["id"])
    assert run["state"] == "succeeded", run
    messages = shop.texts(run["id"], "message")
    assert messages[0] == "\u241b[2Jcleared" and "\u202e" not in messages[1], messages[:2]
    long = [event for event in shop.events(run["id"]) if event["truncated"]]
    assert long and all(len(event["text"]) <= 16 << 10 for event in long), [len(event["text"]) for event in long]
    whole = shop.client.must("GET", f"/v1/runs/{run['id']}/events/{long[0]['seq']}").data
    assert len(whole["text"]) == 1 << 20


def test_what_a_run_asks_to_send_is_written_down(binary, stack):
    shop = Shop(binary, stack)
    id = shop.start(*shell("curl -s -o /dev/null http://example.org/a?token=1; true"))["id"]
    assert shop.until(id)["state"] == "succeeded"
    rows = shop.client.must("GET", f"/v1/runs/{id}/egress").data
    assert len(rows) == 1, rows
    assert not rows[0]["allowed"] and rows[0]["target"] == "example.org:80" and rows[0]["path"] == "/a", rows
    assert rows[0]["ended"] and rows[0]["reason"], rows
    assert shop.client.must("GET", f"/v1/runs/{id}/egress?after=1").data == []


def test_the_worker_sees_its_own_project_and_no_other(binary, stack):
    shop = Shop(binary, stack)
    shop.client.must("POST", "/v1/projects", {"name": "other"})
    trace = {"resourceSpans": [{"resource": {"attributes": [{"key": "openinference.project.name", "value": {"stringValue": name}}]},
        "scopeSpans": [{"spans": [{"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": f"span of {name}",
            "startTimeUnixNano": str(time.time_ns()), "endTimeUnixNano": str(time.time_ns())}]}]}
        for number, name in ((1, "shop"), (2, "other"))]}
    key = shop.client.must("POST", "/v1/keys", {"name": "sender"}).data["key"]
    Client(shop.server.url, key=key).must("POST", "/v1/traces", trace)
    script = """
        hone list_projects; hone search_spans; hone search_spans --project other; echo "other: $?"
        hone query_sql --sql 'SELECT name FROM spans'
        hone save_file --name note.txt --text 'a note' ; hone save_file --name ../x --text y; echo "bad name: $?"
        env; cat /proc/self/environ | tr '\\0' '\\n'
    """
    wait_until(lambda: shop.client.must("GET", "/v1/projects/shop/span_rows").data, "the span is visible")
    run = shop.until(shop.start(*shell(script))["id"])
    said = "\n".join(shop.texts(run["id"], "message"))
    assert run["state"] == "succeeded", (run, said)
    assert "span of shop" in said and "span of other" not in said, said
    assert "other: 1" in said and "bad name: 1" in said, said
    assert "hone_" not in said.replace("hone_gateway", ""), "a key is in the sandbox"
    # Neither does a follow-up in a new sandbox, nor a fork of it.
    shop.client.must("POST", f"/v1/runs/{run['id']}/messages", {"text": "again"})
    fork = shop.client.must("POST", f"/v1/runs/{shop.until(run['id'])['id']}/fork", {"prompt": "and you?"}).data
    for id, turns in ((run["id"], 2), (shop.until(fork["id"])["id"], 1)):
        said = "\n".join(shop.texts(id, "message"))
        assert said.count("other: 1") == turns and "span of shop" in said and "span of other" not in said, said
    artifacts = shop.client.must("GET", f"/v1/artifacts?run={run['id']}").data
    assert [(one["name"], one["review"], one["media_type"]) for one in artifacts] == [("note.txt", "approved", "text/plain")], artifacts
    content = shop.client.must("GET", f"/v1/artifacts/{artifacts[0]['id']}/content")
    assert content.text == "a note" and "sandbox" in content.headers["content-security-policy"], content.headers


class Follower:
    """An open stream of a run's events."""

    def __init__(self, shop, id, after=None):
        self.connection = shop.client.connection()
        headers = {"Accept": "text/event-stream", "Cookie": f"hone_session={shop.client.cookie}"}
        if after:
            headers["Last-Event-ID"] = str(after)
        self.connection.request("GET", f"/v1/runs/{id}/events", headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200 and self.response.headers["Content-Type"].startswith("text/event-stream")

    def read(self, until):
        seen = []
        while not seen or not until(seen[-1]):
            line = self.response.readline().decode().rstrip("\n")
            if line.startswith("data: "):
                seen.append(json.loads(line[6:]))
        self.connection.close()
        return seen


def test_every_follower_of_a_run_is_told_everything_however_slow(binary, stack):
    shop = Shop(binary, stack)
    # More than the server keeps for a client that does not read.
    wide = "for i in $(seq 1 3000); do printf '%01000d\\n' $i; done"
    ids = [shop.start(*shell(f"read line; {wide}"))["id"] for _ in range(2)]
    over = lambda event: event["state"] in OVER
    slow = [Follower(shop, id) for id in ids]
    quick = [Follower(shop, id) for id in ids * 2]
    for follower in quick + [Follower(shop, id) for id in ids] + slow:
        seen = follower.read(over)
        assert [event["seq"] for event in seen] == list(range(1, seen[-1]["seq"] + 1)), "events are missing or out of order"
        assert [int(event["text"]) for event in seen if event["kind"] == "message"] == list(range(1, 3001))


def test_the_transcript_can_be_followed_live_and_resumed(binary, stack):
    shop = Shop(binary, stack)
    id = shop.start(*shell("for i in 1 2 3 4 5; do echo line $i; sleep 0.3; done"))["id"]
    first = Follower(shop, id).read(lambda event: event["text"] == "line 2")
    rest = Follower(shop, id, first[-1]["seq"]).read(lambda event: event["state"] in OVER)
    numbers = [event["seq"] for event in first + rest]
    assert numbers == list(range(1, numbers[-1] + 1)), numbers
    assert [event["text"] for event in first + rest if event["kind"] == "message"] == [f"line {i}" for i in range(1, 6)]


def test_a_playbook_investigates_and_everything_is_traced(binary, stack):
    shop = Shop(binary, stack)
    spans = []
    for number in range(1, 61):
        failed = number % 3 == 0
        spans.append({"traceId": f"{number:032x}", "spanId": f"{number:016x}", "name": "lookup_order",
                      "startTimeUnixNano": str(time.time_ns() - number * 10**9), "endTimeUnixNano": str(time.time_ns() - number * 10**9 + 10**8),
                      "status": {"code": 2, "message": f"order {number} timed out"} if failed else {"code": 1}})
    trace = {"resourceSpans": [{"resource": {"attributes": [{"key": "openinference.project.name", "value": {"stringValue": "shop"}}]},
                                "scopeSpans": [{"spans": spans}]}]}
    key = shop.client.must("POST", "/v1/keys", {"name": "sender"}).data["key"]
    Client(shop.server.url, key=key).must("POST", "/v1/traces", trace)
    wait_until(lambda: shop.client.must("GET", "/v1/projects/shop/span_rows").data, "the spans are visible")
    body = {"project": "shop", "prompt": "What goes wrong?", "settings": {"harness": "playbook"}}
    run = shop.until(shop.client.must("POST", "/v1/runs", body).data["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    artifacts = {one["name"]: one for one in shop.client.must("GET", f"/v1/artifacts?run={run['id']}").data}
    assert {"What goes wrong most", "problems.svg", "errors-over-time.svg", "problems"} == set(artifacts), artifacts
    report = shop.client.must("GET", f"/v1/artifacts/{artifacts['What goes wrong most']['id']}/content").text
    assert "lookup_order fails: order <n> timed out" in report.replace("‹", "<").replace("›", ">"), report
    # Labels wait for a person; an approval publishes them.
    labels = artifacts["problems"]
    assert labels["review"] == "pending", labels
    unnamed = shop.client.post(f"/v1/artifacts/{labels['id']}/review", {"decision": "approved"})
    assert unnamed.status == 400 and "digest" in unnamed.message, unnamed.text
    shop.client.must("POST", f"/v1/artifacts/{labels['id']}/review", {"decision": "approved", "digest": labels["digest"]})
    evals = shop.client.must("GET", "/v1/projects/shop/evals").data
    assert evals and {each["kind"] for each in evals} == {"agent"}, evals

    def traced():
        rows = shop.client.call("GET", "/v1/projects/hone-runs/span_rows?limit=1000").json.get("data") or []
        return rows if {"agent", "chain", "tool"} <= {row["kind"] for row in rows} else None

    rows = wait_until(traced, "the run, its turn and its tools are traced")
    assert {row["trace_id"] for row in rows} == {run["trace_id"]}


def test_viewers_see_and_do_not_start(binary, stack):
    shop = Shop(binary, stack)
    key = shop.client.must("POST", "/v1/keys", {"name": "reader", "kind": "service", "role": "viewer"}).data["key"]
    viewer = Client(shop.server.url, key=key)
    id = shop.start("/bin/true")["id"]
    shop.until(id)
    assert viewer.get(f"/v1/runs/{id}").status == 200
    body = {"project": "shop", "prompt": "x", "settings": {"harness": "command", "command": ["/bin/true"]}}
    assert viewer.post("/v1/runs", body).status == 403
    assert viewer.post(f"/v1/runs/{id}/messages", {"text": "x"}).status == 403
    answer = shop.client.post("/v1/runs", body | {"prompt": "use ghp_" + "a" * 36})
    assert answer.status == 400 and "skill" in answer.message, answer.text
