"""Managed sessions among several servers on one PostgreSQL: one that is killed or frozen, and two that live."""

from managed_sessions import Shop
from server import wait_until
from servers import Fleet, freeze, thaw


def files(*names):
    return [{"custom": [{"name": "save_file", "input": {"name": name, "text": name}}]} for name in names]


PLAYS = {"long": {"turns": [
    [{"say": "I begin."}, *files("a", "b", "c", "d"), {"say": "Saved."}],
    [{"tool": "bash", "input": {"command": "sleep 3600"}, "until_interrupt": True}],
    [*files("e", "f"), {"say": "The third turn."}]]}}


class Pair(Shop):
    """Two servers, of which one has the session."""

    def __init__(self, binary, stack):
        self.fleet = Fleet(binary, stack, 2, "--server-lost-after", "20s")
        super().__init__(binary, stack, "long", plays=PLAYS, server=self.fleet.servers[0], sandbox={"tool_seconds": 1})
        self.clients = [self.client, self.fleet.servers[1].admin()]

    def owner(self, id):
        return self.fleet.names().index(self.fleet.sql(f"SELECT server FROM runs WHERE id = '{id}'"))

    def use(self, number):
        """The server whose API the test uses from now on."""
        self.client = self.clients[number] = self.fleet.servers[number].admin()

    def streams(self):
        return [one for one in self.api.get("/_log")["requests"] if "/events/stream" in str(one)]

    def names(self, id):
        return sorted(one["name"] for one in self.client.must("GET", f"/v1/artifacts?run={id}").data)


def test_two_live_servers_never_both_have_a_session(binary, stack):
    pair = Pair(binary, stack)
    id = pair.start()
    pair.reached(id, "waiting", turns=1)
    pair.use(1)
    pair.say(id, "go on")
    wait_until(lambda: any(event["input"] and "sleep" in event["input"] for event in pair.events(id)), "the long tool runs")
    pair.client.must("POST", f"/v1/runs/{id}/interrupt")
    pair.reached(id, "waiting", turns=2)
    pair.say(id, "and now")
    pair.reached(id, "waiting", turns=3)
    assert pair.names(id) == ["a", "b", "c", "d", "e", "f"]
    pair.check_same(id)
    assert len(pair.streams()) == 3, pair.streams()  # one follower for each turn
    assert pair.fleet.sql(f"SELECT epoch FROM runs WHERE id = '{id}'") == "1"


def test_a_session_of_a_killed_server_continues_on_the_other_one(binary, stack):
    pair = Pair(binary, stack)
    id = pair.start()
    wait_until(lambda: any(event["kind"] == "message" for event in pair.events(id)), "the session works")
    first = pair.owner(id)
    pair.fleet.servers[first].kill()
    pair.use(1 - first)
    pair.reached(id, "waiting", turns=1)
    assert pair.owner(id) == 1 - first
    truth = pair.check_same(id)
    assert len(truth["accepted"]) == 4, truth["accepted"]
    # Each call had its effect once, or its server died in it: then the agent knows.
    unknown = [event for event in pair.events(id) if "may have had its effect" in event["text"]]
    assert len(unknown) <= 1 and len(set(pair.names(id))) == len(pair.names(id)) >= 3, (unknown, pair.names(id))
    # The first one is back: the session is not its own any more, and its API serves it.
    pair.fleet.servers[first].start()
    pair.use(first)
    pair.say(id, "go on")
    wait_until(lambda: any(event["input"] and "sleep" in event["input"] for event in pair.events(id)), "the long tool runs")
    assert pair.owner(id) == 1 - first
    pair.client.must("POST", f"/v1/runs/{id}/interrupt")
    pair.reached(id, "waiting", turns=2)
    pair.check_same(id)


def test_a_frozen_server_leaves_its_session_to_the_one_that_took_it_over(binary, stack):
    pair = Pair(binary, stack)
    id = pair.start()
    pair.reached(id, "waiting", turns=1)
    pair.say(id, "go on")
    wait_until(lambda: any(event["input"] and "sleep" in event["input"] for event in pair.events(id)), "the long tool runs")
    first = pair.owner(id)
    freeze(pair.fleet.servers[first])
    pair.use(1 - first)
    wait_until(lambda: pair.owner(id) == 1 - first, "the other server has the session")
    thaw(pair.fleet.servers[first])
    wait_until(lambda: "not of this server any more" in pair.fleet.servers[first].output(), "the first one lets it go")
    # It neither ended the session at the provider nor the run.
    assert pair.ask("/v1/sessions/" + pair.session(id))["archived_at"] is None
    assert pair.run(id)["state"] == "running", pair.run(id)
    pair.client.must("POST", f"/v1/runs/{id}/interrupt")
    pair.reached(id, "waiting", turns=2)
    pair.say(id, "and now")
    pair.reached(id, "waiting", turns=3)
    assert pair.names(id) == ["a", "b", "c", "d", "e", "f"]
    pair.check_same(id)
    assert pair.fleet.sql(f"SELECT epoch FROM runs WHERE id = '{id}'") == "2"
