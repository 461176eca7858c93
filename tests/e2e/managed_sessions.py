"""Sessions with provider claude-managed through the built server, against the scripted API of tests/managed_agents."""

import json
import urllib.error
import urllib.request

from managed_agents import KEY, ManagedAgents
from server import Server, run, wait_until

OVER = ("succeeded", "failed", "cancelled", "timed_out", "budget_stopped", "lost")
CANARY = "canary-5f0e8d21c4b7"
PLAYS = {
    "hone": {"turns": [
        [{"say": "I look."},
         {"custom": [{"name": "save_investigation", "input": {"title": "A cause", "markdown": "because", "summary": "why"}}]},
         {"tool": "bash", "input": {"command": "ls"}, "result": "README.md\n"},
         {"custom": [{"name": "save_file", "input": {"name": "a.txt", "text": "one"}},
                     {"name": "save_file", "input": {"name": "b.txt", "text": "two"}}]},
         {"say": "Saved."}],
        [{"tool": "bash", "input": {"command": "sleep 3600"}, "until_interrupt": True}],
        [{"say": "The third turn."}]]},
    # Each result is one more step at which the server can be killed before the session goes on.
    "long": {"turns": [
        [{"say": "I look."},
         *[{"custom": [{"name": "save_file", "input": {"name": f"{number}.txt", "text": str(number)}}]} for number in range(24)],
         {"say": "Saved."}],
        [{"tool": "bash", "input": {"command": "sleep 3600"}, "until_interrupt": True}]]},
    "secret": {"turns": [[{"custom": [{"name": "save_file", "input": {"name": "k.txt", "text": "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}}]},
                          {"say": "Done."}]]},
}


class Shop:
    """A server with a project, a model skill whose provider is the scripted API, and the consent to it."""

    def __init__(self, binary, stack, play="hone", consent=True, skills=(), flags=(), plays=PLAYS, server=None, **settings):
        self.api = ManagedAgents(stack)
        request = urllib.request.Request(self.api.url + "/_plays", json.dumps(plays).encode(), method="POST")
        urllib.request.urlopen(request).close()
        self.server = server or stack.enter_context(Server(binary, None, *flags))
        self.client = self.server.admin()
        self.client.must("POST", "/v1/projects", {"name": "shop"})
        self.base_url = f"{self.api.url}/play/{play}"
        skill = self.client.must("POST", "/v1/skills", {
            "name": "provider", "type": "model", "secrets": {"API_KEY": KEY},
            "variables": {"PROTOCOL": "anthropic", "BASE_URL": self.base_url, "ALLOW_PRIVATE": "true"}}).data["id"]
        more = [self.client.must("POST", "/v1/skills", body).data["id"] for body in skills]
        self.settings = {"provider": "claude-managed", "harness": "claude-managed", "model": "claude-opus-4-5",
                         "skills": [skill, *more]} | settings
        self.space = self.client.must("GET", "/v1/spaces").data[0]["id"]
        if consent:
            self.consent()

    def consent(self):
        return self.client.must("POST", f"/v1/spaces/{self.space}/managed-consent", {"base_url": self.base_url}).data

    def again(self):
        """After a kill: the same server, another process."""
        self.server.kill()
        self.server.start()
        self.client = self.server.admin()

    def start(self, prompt="look"):
        return self.client.must("POST", "/v1/runs", {"project": "shop", "prompt": prompt, "settings": self.settings}).data["id"]

    def run(self, id):
        return self.client.must("GET", f"/v1/runs/{id}").data

    def reached(self, id, *states, turns=0):
        def there():
            found = self.run(id)
            assert found["state"] in states or found["state"] not in OVER, found
            return found if found["state"] in states and found["turns"] >= turns else None
        return wait_until(there, f"the session is {' or '.join(states)}")

    def say(self, id, text):
        self.client.must("POST", f"/v1/runs/{id}/messages", {"text": text})

    def events(self, id):
        return self.client.must("GET", f"/v1/runs/{id}/events?limit=1000").data

    def session(self, id):
        """The id of its session at the provider; there is only one for all kills."""
        started = [event["text"].split()[1] for event in self.events(id) if event["text"].startswith("Session sesn_")]
        assert len(started) == 1 and self.api.get("/_count")["sessions"] == 1, started
        return started[0]

    def ask(self, path):
        """The provider's API, as a client of it."""
        request = urllib.request.Request(self.base_url + path, headers={
            "x-api-key": KEY, "anthropic-version": "2026-10-21", "anthropic-beta": "managed-agents-2026-04-01"})
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{path}: {refused.code} {refused.read().decode()}") from refused

    def truth(self, id):
        return self.api.get("/_sessions/" + self.session(id))

    def check_same(self, id):
        """Each event of the provider once and in its order; each call one result; tokens to the token."""
        truth = self.truth(id)
        history = self.ask(f"/v1/sessions/{self.session(id)}/events?order=asc&limit=1000")["data"]
        calls = [event["id"] for event in history if event["type"] in ("agent.tool_use", "agent.custom_tool_use")]
        texts = ["".join(part["text"] for part in event["content"]) for event in history if event["type"] == "agent.message"]
        events = self.events(id)
        assert [event["call_id"] for event in events if event["kind"] == "tool_call"] == calls, events
        assert [event["text"] for event in events if event["kind"] == "message"] == texts, events
        assert set(truth["accepted"].values()) <= {1}, truth["accepted"]
        usage = self.run(id)["usage"]
        expected = truth["usage"]
        assert (usage["input"], usage["output"], usage["cache_read"], usage["cache_write"]) == (
            expected["input_tokens"], expected["output_tokens"], expected["cache_read_input_tokens"],
            expected["cache_creation_input_tokens"]), (usage, expected)
        return truth


def test_a_managed_session_saves_takes_follow_ups_and_an_interrupt(binary, stack):
    shop = Shop(binary, stack)
    id = shop.start()
    first = shop.reached(id, "waiting", turns=1)
    assert first["provider"] == "claude-managed" and first["reason"] == "" and first["cost_micro_usd"] > 0, first
    shop.check_same(id)
    artifacts = shop.client.must("GET", f"/v1/artifacts?run={id}").data
    assert sorted(one["name"] for one in artifacts) == ["A cause", "a.txt", "b.txt"], artifacts
    shop.say(id, "go on")
    wait_until(lambda: any(event["input"] and "sleep" in event["input"] for event in shop.events(id)), "the long tool runs")
    shop.client.must("POST", f"/v1/runs/{id}/interrupt")
    shop.reached(id, "waiting", turns=2)
    shop.say(id, "and now")
    shop.reached(id, "waiting", turns=3)
    shop.check_same(id)
    shop.client.must("POST", f"/v1/runs/{id}/cancel")
    ended = shop.reached(id, "cancelled")
    assert not ended["takes_follow_ups"], ended
    assert shop.ask("/v1/sessions/" + shop.session(id))["archived_at"], "the session was not archived"
    listed = shop.client.must("GET", "/v1/runs?provider=claude-managed").data
    assert [one["id"] for one in listed] == [id]
    assert shop.client.must("GET", "/v1/runs?provider=local").data == []


def test_a_server_that_is_killed_at_each_step_continues_the_session(binary, stack):
    """Killed after each new event of the transcript: nothing is missing, nothing is twice."""
    shop = Shop(binary, stack, play="long", sandbox={"tool_seconds": 1})
    id = shop.start()
    kills = 0
    while shop.run(id)["state"] != "waiting":
        seen = shop.run(id)["last_event"]
        wait_until(lambda: shop.run(id)["last_event"] > seen or shop.run(id)["state"] == "waiting", "an event")
        shop.again()
        kills += 1
    assert kills >= 2, kills
    shop.check_same(id)
    shop.say(id, "go on")
    wait_until(lambda: any(event["input"] and "sleep" in event["input"] for event in shop.events(id)), "the long tool runs")
    shop.again()
    shop.client.must("POST", f"/v1/runs/{id}/interrupt")
    shop.reached(id, "waiting", turns=2)
    shop.check_same(id)
    artifacts = shop.client.must("GET", f"/v1/artifacts?run={id}").data
    # A call that a kill interrupts returns an error to the agent: its file is missing, and none is there twice.
    names = [one["name"] for one in artifacts]
    assert len(names) == len(set(names)) and set(names) <= {f"{number}.txt" for number in range(24)}, names


def test_cuts_and_a_result_of_10_mb_leave_the_transcript_whole(binary, stack):
    shop = Shop(binary, stack, play="three_cuts")
    faults = json.dumps({"cuts": {"count": 3, "within": 1500, "of": "stream"}}).encode()
    urllib.request.urlopen(urllib.request.Request(shop.api.url + "/_faults", faults, method="POST")).close()
    id = shop.start()
    shop.reached(id, "waiting", turns=1)
    assert shop.api.get("/_count")["cut"] == 3
    shop.check_same(id)
    shop = Shop(binary, stack, play="large")
    id = shop.start()
    shop.reached(id, "waiting", turns=1)
    shop.check_same(id)
    result = next(event for event in shop.events(id) if event["kind"] == "tool_result")
    # The list shows its beginning; the whole text is with the event.
    assert result["truncated"] and result["text"].startswith("0123456789"), len(result["text"])


def test_without_consent_nothing_is_saved_and_nothing_leaves(binary, stack):
    shop = Shop(binary, stack, consent=False)
    body = {"project": "shop", "prompt": "look", "settings": shop.settings}
    for path, sent in (("/v1/runs", body), ("/v1/presets", {"name": "managed", "settings": shop.settings})):
        refused = shop.client.call("POST", path, sent)
        assert refused.status == 403 and "no owner has consented" in refused.message, refused.text
    assert shop.api.get("/_count")["requests"] == 0, "something left"
    view = shop.client.must("GET", f"/v1/spaces/{shop.space}/managed-consent").data
    assert view["consents"] == [] and any("Values of secrets" in line for line in view["leaves"]) and view["not_kept"], view
    assert shop.consent()["consents"][0]["base_url"] == shop.base_url
    shop.client.must("POST", "/v1/presets", {"name": "managed", "settings": shop.settings})
    trigger = {"type": "cron", "schedule": "0 0 1 1 *"}
    refused = shop.client.call("POST", "/v1/automations", {"name": "a", "project": "shop", "preset": "managed", "prompt": "x", "trigger": trigger})
    assert refused.status == 400 and "only people start" in refused.message, refused.text
    id = shop.start()
    shop.reached(id, "waiting", turns=1)
    shop.client.must("POST", f"/v1/spaces/{shop.space}/managed-consent/withdraw", {"base_url": shop.base_url})
    assert "withdrawn" in shop.reached(id, "failed")["reason"]
    audit = [entry["action"] for entry in shop.client.must("GET", "/v1/audit?limit=200").data]
    assert "managed_consent_give" in audit and "managed_consent_withdraw" in audit, audit


def test_secrets_of_a_managed_session_are_in_its_vault_only(binary, stack):
    custom = {"name": "pager", "type": "custom", "secrets": {"PAGER_TOKEN": CANARY}, "declared": [
        {"name": "PAGER_TOKEN", "secret": True, "hosts": [{"host": "pager.example.com"}]}]}
    shop = Shop(binary, stack, play="secret", skills=[custom])
    id = shop.start()
    shop.reached(id, "waiting", turns=1)
    stored = json.dumps(shop.api.get("/_secrets"))
    assert CANARY in stored, stored
    # The secret scan of artifacts applies as for other workers.
    assert shop.client.must("GET", f"/v1/artifacts?run={id}").data == []
    shop.client.must("POST", f"/v1/runs/{id}/cancel")
    shop.reached(id, "cancelled")
    assert CANARY not in json.dumps(shop.api.get("/_secrets")), "the vault is still there"
    told = json.dumps(shop.events(id)) + shop.server.output()
    manifest = shop.client.must("GET", f"/v1/runs/{id}/manifest").text
    shop.server.stop()
    for canary in (CANARY, KEY):
        assert canary not in told and canary not in manifest, canary
        for file in shop.server.data_dir.rglob("*"):
            if file.is_file():
                assert canary.encode() not in file.read_bytes(), file


def test_files_of_a_managed_session_become_artifacts_once(binary, stack):
    shop = Shop(binary, stack, play="files")
    id = shop.start()
    shop.reached(id, "waiting", turns=1)

    def saved():
        return [one["name"] for one in shop.client.must("GET", f"/v1/artifacts?run={id}").data]
    wait_until(saved, "the file is saved")
    shop.again()
    shop.client.must("POST", f"/v1/runs/{id}/cancel")
    shop.reached(id, "cancelled")
    assert saved() == ["branch.patch"], saved()


def test_rules_that_the_provider_cannot_keep_are_refused(binary, stack):
    narrow = {"name": "narrow", "type": "custom", "secrets": {"TOKEN": "t"}, "declared": [
        {"name": "TOKEN", "secret": True, "hosts": [{"host": "api.example.com", "path_prefix": "/v1"}]}]}
    shop = Shop(binary, stack, skills=[narrow])
    refused = shop.client.call("POST", "/v1/runs", {"project": "shop", "prompt": "look", "settings": shop.settings})
    assert refused.status == 400 and "paths or methods" in refused.message, refused.text
    for change, word in (({"sandbox": {"memory_bytes": 1 << 30}}, "sandbox.memory_bytes"),
                         ({"repos": [{"url": "https://git.example.com/a/b"}]}, "github.com"),
                         ({"harness": "claude-code"}, "claude-managed")):
        settings = shop.settings | {"skills": shop.settings["skills"][:1]} | change
        refused = shop.client.call("POST", "/v1/runs", {"project": "shop", "prompt": "look", "settings": settings})
        assert refused.status == 400 and word in refused.message, refused.text


def test_ends_of_managed_sessions_are_states_of_runs(binary, stack):
    for play, state, word in (("terminate", "failed", "terminated"), ("deleted", "lost", "deleted"), ("refusal", "waiting", "refused"),
                              ("no_repository", "failed", "repository")):
        shop = Shop(binary, stack, play=play, **({"repos": [{"url": "https://github.com/a/b"}]} if play == "no_repository" else {}))
        ended = shop.reached(shop.start(), state)
        assert word in ended["reason"], (play, ended)
    for budget in ({"cost_micro_usd": 5_000_000}, {"tokens": 1_500_000}):
        shop = Shop(binary, stack, play="expensive", budget=budget)
        ended = shop.reached(shop.start(), "budget_stopped")
        assert "budget" in ended["reason"], ended
    listed = run(binary, "session", "list", "--provider", "claude-managed", "--json", environment={
        "HONE_URL": shop.server.url, "HONE_API_KEY": shop.client.must("POST", "/v1/keys", {"name": "k", "kind": "personal", "scopes": ["all"]}).data["key"]})
    assert ended["id"] in listed.stdout, (listed.stdout, listed.stderr)
