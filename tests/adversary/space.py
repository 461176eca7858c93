"""Boundary: spaces. The attacker is a member, or even an admin, of another space of the same installation; or a member who
wants more for the own space than its policy allows."""

from agents import Model
from attack import assert_unseen, canary
from money import CALL
from network import model_skill
from runs import Shop
from server import PASSWORD, Client, wait_until

SCRIPT = 'test -e /home/worker/mark || echo "$TOKEN" > /home/worker/mark'
SHOW = ("/bin/sh", "-c", "cat /home/worker/mark; ls /home/worker")


def join(shop, space, email, role):
    """A person who was invited to a space; logged in."""
    invite = shop.client.must("POST", f"/v1/spaces/{space}/invites", {"email": email, "role": role}).data
    token = invite["path"].rsplit("/", 1)[1]
    Client(shop.server.url).must("POST", f"/v1/invites/{token}/accept", {"password": PASSWORD})
    return Client(shop.server.url).login(email)


def start(client, space, *command, project="shop", **settings):
    body = {"project": project, "prompt": "look", "settings": {"harness": "command", "command": list(command)} | settings}
    return client.call("POST", f"/v1/runs?space={space}", body)


def own_space(shop, name):
    space = shop.client.must("POST", "/v1/spaces", {"name": name}).data["id"]
    shop.client.must("POST", f"/v1/projects?space={space}", {"name": "shop"})
    return space


def finished(shop, client, answer):
    assert answer.status == 200, answer.text
    run = shop.until(answer.data["id"])
    events = client.must("GET", f"/v1/runs/{run['id']}/events?limit=1000")
    return run, [event["text"] for event in events.data if event["kind"] == "message"], events.text


def test_a_member_of_another_space_asks_for_the_layer_that_a_victim_built(binary, stack):
    """Gain: files that the victim's init script made, with values of its variables in them, mounted into the attacker's sandbox."""
    shop, secret = Shop(binary, stack), canary("layer")
    victim = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    run, lines, _ = finished(shop, shop.client, start(shop.client, victim, *SHOW, sandbox={"init_script": SCRIPT, "env": {"TOKEN": secret}}))
    assert run["state"] == "succeeded" and lines[0] == secret, (run, lines)
    # Control: the victim's own space does get its layer again.
    _, lines, text = finished(shop, shop.client, start(shop.client, victim, *SHOW, sandbox={"init_script": SCRIPT, "env": {"TOKEN": secret}}))
    assert lines[0] == secret and "reused" in text, (lines, text)
    attacker_space = own_space(shop, "attackers")
    attacker = join(shop, attacker_space, "eve@example.com", "admin")
    layers = sorted(path.name for path in (shop.server.data_dir / "sandbox/layers").glob("v2-*") if path.is_dir())
    for guess in ({"TOKEN": "guess"}, {"TOKEN": "*"}, {"TOKEN": secret[:-1]}):
        run, lines, text = finished(shop, attacker, start(attacker, attacker_space, *SHOW, sandbox={"init_script": SCRIPT, "env": guess}))
        assert run["state"] == "succeeded" and lines[0] == guess["TOKEN"], (run, lines)
        assert_unseen(secret, "\n".join(lines), text)
    # Even the same value makes a layer of the attacker's own space: nothing is shared, so nothing tells that it exists.
    _, _, text = finished(shop, attacker, start(attacker, attacker_space, *SHOW, sandbox={"init_script": SCRIPT, "env": {"TOKEN": secret}}))
    assert "reused" not in text, text
    now = {path.name for path in (shop.server.data_dir / "sandbox/layers").glob("v2-*") if path.is_dir()}
    assert set(layers) < now and len(now) == len(layers) + 4, (layers, now)
    assert_unseen(secret, " ".join(now))


def test_settings_with_the_name_of_a_layer_or_a_path_are_refused(binary, stack):
    """Gain: a sandbox with another space's layer or a folder of the host as its root."""
    shop = Shop(binary, stack)
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    for sandbox in ({"layers": ["v2-" + "0" * 64]}, {"root": "/"}, {"image": "../layers/v2-x"}, {"image": "/etc"}, {"thread": "other"}, {"mounts": []}):
        answer = start(shop.client, space, "/bin/true", sandbox=sandbox)
        assert answer.status == 400, (sandbox, answer.status, answer.text)


def test_a_member_asks_for_more_than_the_policy_of_the_space(binary, stack):
    """Gain: an open network, a host outside of the list, a larger machine or budget than the owner of the space allows."""
    shop = Shop(binary, stack)
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    member = join(shop, space, "mallory@example.com", "member")
    wide = {"harness": "command", "command": ["/bin/true"], "sandbox": {"network": "open"}}
    old = shop.client.must("POST", f"/v1/presets?space={space}", {"name": "old", "settings": wide}).data
    raw = shop.client.must("POST", "/v1/skills", {"name": "raw", "type": "custom", "declared": [
        {"name": "RAW", "secret": True, "hosts": [{"host": "api.example.com"}]}], "secrets": {"RAW": canary()}, "exposure": {"RAW": "env"}}).data["id"]
    model = shop.client.must("POST", "/v1/skills", {"name": "model", "type": "model", "secrets": {"API_KEY": canary()},
                                                    "variables": {"PROTOCOL": "openai", "BASE_URL": "https://models.evil.net/v1"}}).data["id"]
    policy = {"open_network": False, "hosts": ["*.example.com"], "env_secrets": False, "memory_bytes": 2 << 30, "cpus": 2, "pids": 512,
              "disk_bytes": 4 << 30, "wall_clock_minutes": 60, "tokens": 1000, "cost_micro_usd": 1_000_000}
    view = shop.client.must("PUT", f"/v1/spaces/{space}/policy", policy).data
    assert view["policy"]["hosts"] == ["*.example.com"] and view["installation"]["memory_bytes"] > 0, view
    attempts = [{"sandbox": {"network": "open"}}, {"sandbox": {"allow_hosts": ["evil.net"]}}, {"sandbox": {"allow_hosts": ["evilexample.com"]}},
                {"sandbox": {"allow_hosts": ["a.example.com:8080"]}}, {"sandbox": {"memory_bytes": (2 << 30) + 1}}, {"sandbox": {"cpus": 2.5}},
                {"sandbox": {"pids": 513}}, {"sandbox": {"disk_bytes": (4 << 30) + 4096}}, {"sandbox": {"wall_clock_minutes": 61}},
                {"budget": {"tokens": 1001}}, {"budget": {"cost_micro_usd": 1_000_001}}, {"skills": [raw]},
                {"sandbox": {"secret_env": {"RAW": canary()}}}, {"repos": [{"url": "https://evil.net/x.git"}]},
                {"repos": [{"url": "https://git.example.com:8443/x.git"}]}, {"skills": [model]}]
    for extra in attempts:
        answer = start(member, space, "/bin/true", **extra)
        assert answer.status == 403 and "policy" in answer.message, (extra, answer.status, answer.text)
        settings = {"harness": "command", "command": ["/bin/true"]} | extra
        answer = member.call("POST", f"/v1/presets?space={space}", {"name": "mine", "settings": settings})
        assert answer.status == 403, (extra, answer.status, answer.text)
        answer = shop.client.call("PATCH", f"/v1/presets/{old['id']}?space={space}", {"settings": settings})
        assert answer.status == 403, (extra, answer.status, answer.text)
    # What was saved before the policy does not start: by hand, as an automation, as a rerun.
    answer = member.call("POST", f"/v1/runs?space={space}", {"project": "shop", "prompt": "x", "preset": "old"})
    assert answer.status == 403 and "open" in answer.message, answer.text
    # Control: within the policy it starts, and gets the policy's budget.
    answer = start(member, space, "/bin/true", sandbox={"allow_hosts": ["api.example.com"]})
    assert answer.status == 200, answer.text
    assert shop.until(answer.data["id"])["state"] == "succeeded"
    budget = shop.client.must("GET", f"/v1/runs/{answer.data['id']}/manifest").data["settings"]["budget"]
    assert (budget["tokens"], budget["cost_micro_usd"]) == (1000, 1_000_000), budget


def test_a_member_changes_the_policy_that_binds_them(binary, stack):
    """Gain: the rules of the space, or of another space."""
    shop = Shop(binary, stack)
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    member = join(shop, space, "mallory@example.com", "member")
    stranger = join(shop, own_space(shop, "attackers"), "eve@example.com", "admin")
    shop.client.must("PUT", f"/v1/spaces/{space}/policy", {"open_network": False})
    assert member.call("PUT", f"/v1/spaces/{space}/policy", {"open_network": True}).status == 403
    for method, body in (("GET", None), ("PUT", {"open_network": True})):
        assert stranger.call(method, f"/v1/spaces/{space}/policy", body).status == 404
    assert shop.client.must("GET", f"/v1/spaces/{space}/policy").data["policy"]["open_network"] is False
    actions = [entry["action"] for entry in shop.client.must("GET", "/v1/audit?limit=200").data]
    assert actions.count("space_policy_update") == 1, actions


def test_a_run_asks_for_the_whole_machine(binary, stack):
    """Gain: all memory, processors and disk of the server, for as long as the attacker wants, from a space without a policy."""
    shop = Shop(binary, stack, "--run-max-memory", "4g", "--run-max-minutes", "120")
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    for sandbox in ({"memory_bytes": 4 << 40}, {"memory_bytes": (4 << 30) + 1}, {"cpus": 1000}, {"pids": 999_999}, {"disk_bytes": 4 << 40}, {"wall_clock_minutes": 121}):
        answer = start(shop.client, space, "/bin/true", sandbox=sandbox)
        assert answer.status == 403 and "installation" in answer.message, (sandbox, answer.status, answer.text)
    # The owner of a space cannot allow more than the installation does.
    shop.client.must("PUT", f"/v1/spaces/{space}/policy", {"memory_bytes": 1 << 40, "wall_clock_minutes": 1440})
    answer = start(shop.client, space, "/bin/true", sandbox={"memory_bytes": 1 << 40})
    assert answer.status == 403 and "installation" in answer.message, answer.text


def test_a_queued_run_waits_for_a_policy_that_became_stricter(binary, stack):
    """Gain: a run with rights that the space does not give any more, because it was queued before."""
    shop = Shop(binary, stack, "--run-places", "1", "--run-places-per-space", "1")
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    holder = start(shop.client, space, "/bin/sleep", "600").data["id"]
    shop.until(holder, "running")
    queued = start(shop.client, space, "/bin/echo", "reached", sandbox={"network": "open"}).data["id"]
    shop.client.must("PUT", f"/v1/spaces/{space}/policy", {"open_network": False})
    shop.client.must("POST", f"/v1/runs/{holder}/cancel")
    run = shop.until(queued)
    assert run["state"] == "failed" and "policy" in run["reason"], run
    assert "reached" not in shop.texts(queued), shop.texts(queued)


def test_what_was_started_before_the_policy_goes_on_by_another_way(binary, stack):
    """Gain: an open network and calls without a limit, through an automation, a rerun, a follow-up or a fork of what the policy does
    not allow any more."""
    shop, model = Shop(binary, stack), Model(stack)
    space = shop.client.must("GET", "/v1/spaces").data[0]["id"]
    wide = {"harness": "command", "command": ["/bin/echo", "reached"], "sandbox": {"network": "open"}}
    shop.client.must("POST", f"/v1/presets?space={space}", {"name": "wide", "settings": wide})
    automation = shop.client.must("POST", "/v1/automations", {"name": "nightly", "project": "shop", "preset": "wide", "prompt": "x",
                                                              "trigger": {"type": "cron", "schedule": "0 0 1 1 *"}}).data["id"]
    old = start(shop.client, space, "/bin/echo", "reached", sandbox={"network": "open"}).data["id"]
    assert shop.until(old)["state"] == "succeeded" and "reached" in shop.texts(old), "control: before the policy it runs"
    # Names a limit of the cost alone, so that the number of tokens is not limited.
    calls = CALL.replace("MODEL", "claude-sonnet-4") + "i=0; while [ $i -lt 8 ]; do call $i; i=$((i + 1)); done"
    spender = start(shop.client, space, "/bin/sh", "-c", calls, skills=[model_skill(shop, model, "endless")],
                    budget={"cost_micro_usd": 1_000_000_000}).data["id"]
    assert shop.until(spender)["state"] == "succeeded" and model.count("endless")["requests"] == 8, "control"

    shop.client.must("PUT", f"/v1/spaces/{space}/policy", {"open_network": False, "tokens": 50_000})
    for answer in (shop.client.call("POST", f"/v1/runs/{old}/rerun", {}), shop.client.call("POST", f"/v1/runs/{old}/fork", {"prompt": "x"})):
        assert answer.status == 403 and "policy" in answer.message, (answer.status, answer.text)
    shop.client.must("POST", f"/v1/runs/{old}/messages", {"text": "again"})
    run = wait_until(lambda: (found := shop.run(old))["state"] == "failed" and found, "the follow-up is rejected")
    assert "policy" in run["reason"] and shop.texts(old, "message") == ["reached"], (run, shop.texts(old))
    shop.client.must("POST", f"/v1/automations/{automation}/run")
    slot = wait_until(lambda: next((slot for slot in shop.client.must("GET", f"/v1/automations/{automation}/slots").data
                                    if "policy" in str(slot)), None), "the trigger is rejected")
    assert slot["outcome"] != "fired" and not slot["run_id"], slot
    # 8 calls of 5000 tokens are settled; two more are within the policy's 50,000.
    shop.client.must("POST", f"/v1/runs/{spender}/messages", {"text": "again"})
    wait_until(lambda: shop.run(spender)["state"] == "budget_stopped", "the follow-up is stopped by the new budget")
    assert model.count("endless")["requests"] == 10, model.count("endless")
