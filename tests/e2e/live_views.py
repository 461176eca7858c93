"""Live views on a server that neither runs the worker nor received the span: two servers on one PostgreSQL and one span store."""

import http.client
import threading
import time
import zlib

from server import PATIENCE, wait_until
from servers import Fleet, start_run, until
from telemetry import otlp_json
from trace_commands import events_of


class Follower:
    """One stream of Server-Sent Events, read by a thread of its own."""

    def __init__(self, stack, client, path, **headers):
        self.connection = client.connection()
        stack.callback(self.connection.close)
        login = {"Authorization": f"Bearer {client.key}"} if client.key else {"Cookie": f"hone_session={client.cookie}"}
        self.connection.request("GET", path, headers={"Accept": "text/event-stream"} | login | headers)
        response = self.connection.getresponse()
        assert response.status == 200 and response.getheader("Content-Type").startswith("text/event-stream"), response.read()
        self.events, self.times = [], []
        threading.Thread(target=self.read, args=(response,), daemon=True).start()

    def read(self, response):
        try:
            for event in events_of(response):
                self.times.append(time.monotonic())
                self.events.append(event)
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # the test is over

    def wait_for(self, condition, what):
        return wait_until(lambda: condition(self.events), f"{what}: {self.events[-3:]}", PATIENCE)

    def names(self):
        return [span["name"] for kind, _, spans in self.events if kind == "spans" for span in spans]


def test_a_transcript_is_followed_on_the_other_server_while_both_servers_are_busy(binary, stack):
    fleet = Fleet(binary, stack, 2, "--run-places", "1")
    admins = [server.admin() for server in fleet.servers]
    admins[0].must("POST", "/v1/projects", {"name": "shop"})
    script = "n=0; while true; do n=$((n+1)); echo line $n; sleep 0.05; done"
    runs = [start_run(admins[0], script) for _ in range(2)]  # one place each: one on each server
    for run in runs:
        until(admins[0], run, "running")
    names = fleet.names()
    homes = [names.index(fleet.sql(f"SELECT server FROM runs WHERE id = '{run}'")) for run in runs]
    assert sorted(homes) == [0, 1]
    # Each server has events of its own run all the time, and a follower of the other's.
    followers = [Follower(stack, admins[1 - home], f"/v1/runs/{run}/events") for run, home in zip(runs, homes)]
    for follower in followers:
        follower.wait_for(lambda events: len(events) > 5, "the first events")
        before = len(follower.events)
        follower.wait_for(lambda events: len(events) > before + 60, "events while this server is busy")
        numbers = [int(id) for kind, id, _ in follower.events if kind == "event"]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "an event is missing or doubled"
    # A command that is sent to the other server ends them, and the followers see it.
    for run, home in zip(runs, homes):
        admins[1 - home].must("POST", f"/v1/runs/{run}/cancel", {})
    for follower in followers:
        follower.wait_for(lambda events: any("cancelled" in str(body) for _, _, body in events), "its end")


def test_a_live_tail_shows_what_another_server_received(binary, stack):
    fleet = Fleet(binary, stack, 2)
    first, second = fleet.servers
    admin = first.admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    key = admin.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "member", "scopes": ["all"]}).data["key"]

    def accepted(server, *names):
        spans = [(number := zlib.crc32(name.encode()), number, 0, name, {}) for name in names]
        return server.client(key).post("/v1/traces", otlp_json(spans)).status == 200

    assert accepted(second, "before")  # nobody watches: nothing is written for watchers
    wait_until(lambda: admin.must("GET", "/v1/projects/shop/spans").data, "it is stored")
    assert fleet.sql("SELECT COUNT(*) FROM span_arrivals") == "0"
    here, there = Follower(stack, first.client(key), "/v1/projects/shop/tail"), Follower(stack, second.client(key), "/v1/projects/shop/tail")
    failed = Follower(stack, first.client(key), "/v1/projects/shop/tail?filter=status%20%3D%20error")
    for follower in (here, there, failed):
        follower.wait_for(lambda events: events and events[0][0] == "ready", "it begins")
    assert accepted(second, "one", "bad")  # `bad` has the status error
    here.wait_for(lambda _: set(here.names()) >= {"one", "bad"}, "spans of the other server")
    failed.wait_for(lambda _: failed.names() == ["bad"], "those that match")
    # Both at once, with times that overlap: each span once, on both.
    wanted = ["one", "bad"]
    for number in range(20):
        assert accepted(first, f"a {number}") and accepted(second, f"b {number}")
        wanted += [f"a {number}", f"b {number}"]
    for follower in (here, there):
        follower.wait_for(lambda _: len(follower.names()) >= len(wanted), "all spans")
        assert sorted(follower.names()) == sorted(wanted), follower.names()
    assert failed.names() == ["bad"]
    # A client that was away gets what came meanwhile, on any server.
    position = [id for _, id, _ in here.events if id][-1]
    here.connection.close()
    assert accepted(second, "between")
    wait_until(lambda: "between" in there.names(), "it is stored")
    again = Follower(stack, first.client(key), "/v1/projects/shop/tail", **{"Last-Event-ID": position})
    again.wait_for(lambda _: "between" in again.names(), "what came between")
    # The server that stores is killed: what it had accepted comes when it is back.
    assert accepted(second, "late")
    second.kill()
    second.start()
    again.wait_for(lambda _: "late" in again.names(), "what the killed server had accepted")
    assert again.names().count("late") == 1 and again.names().count("between") == 1, again.names()
    # Rows of watches and arrivals end by themselves.
    assert int(fleet.sql("SELECT COUNT(*) FROM span_watches")) <= 2
