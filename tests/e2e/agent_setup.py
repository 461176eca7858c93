"""Setting up workers from the API and the command line: installing an agent on the server, listing a provider's models."""

import json
import os
import pathlib
import signal
import socket
import sys

from models import KEY, Provider
from runs import Shop
from server import Client, Server, run, wait_until

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "npm_registry"))
import npm_registry

INSTALLATIONS = "/v1/harness_installations"


class Owner:
    """A server whose npm uses `registry`, and the owner of its installation."""

    def __init__(self, binary, stack, registry):
        self.server = stack.enter_context(Server(binary, None, environment={"npm_config_registry": registry, "NO_PROXY": "127.0.0.1"}))
        self.client = Client(self.server.url).login()
        self.binary = binary

    def installation(self, harness):
        return next((one for one in self.client.must("GET", INSTALLATIONS).data if one["harness"] == harness), None)

    def until(self, harness, *states):
        def reached():
            one = self.installation(harness)
            assert one is not None and (one["state"] in states or one["state"] == "running"), one
            return one if one["state"] in states else None
        return wait_until(reached, f"the installation of {harness} is {states}")

    def harness(self, name):
        return next(one for one in self.client.must("GET", "/v1/harnesses").data if one["name"] == name)

    def hone(self, *words, fails=0):
        key = self.client.must("POST", "/v1/keys", {"name": "cli", "kind": "personal", "scopes": ["all"]}).data["key"]
        done = run(self.binary, *words, environment={"HONE_URL": self.server.url, "HONE_API_KEY": key})
        assert done.returncode == fails, (words, done)
        return done.stdout + done.stderr


def test_an_owner_installs_an_agent_one_at_a_time_and_sees_its_steps(binary, stack):
    registry = npm_registry.serve()
    owner = Owner(binary, stack, registry.url)
    assert owner.harness("codex")["ready"] is False
    owner.client.must("POST", INSTALLATIONS, {"harness": "opencode"})  # its package never ends
    refused = owner.client.call("POST", INSTALLATIONS, {"harness": "codex"})
    assert refused.status == 409 and "opencode is being installed" in refused.message, refused.text
    assert owner.installation("opencode")["state"] == "running"
    owner.client.must("DELETE", f"{INSTALLATIONS}/opencode")
    assert owner.until("opencode", "cancelled")["ended_at"]
    assert owner.harness("opencode")["ready"] is False
    assert not list((owner.server.data_dir / "harnesses/opencode").glob(".making-*")), "a cancelled installation left files"

    owner.client.must("POST", INSTALLATIONS, {"harness": "codex"})
    done = owner.until("codex", "succeeded")
    assert done["version"] == npm_registry.VERSION and done["started_by"], done
    assert [step["text"] for step in done["steps"]] == ["installing @openai/codex", "starting it once in a sandbox",
                                                        f"codex {npm_registry.VERSION} is ready"], done
    assert owner.harness("codex")["version"] == npm_registry.VERSION
    assert f"codex {npm_registry.VERSION} is ready" in owner.hone("server", "install", "codex")
    assert "succeeded" in owner.hone("server", "installs")
    assert "an installation of codex" in owner.hone("server", "cancel-install", "codex", fails=5)

    # Both ends are in the audit log, in the order in which they happened.
    entries = owner.client.must("GET", "/v1/audit?scope=installation&limit=200").data
    actions = [(entry["action"], entry["target"], entry["details"].get("state")) for entry in reversed(entries)
               if entry["action"].startswith("harness_install")]
    assert actions[:4] == [("harness_install", "opencode", None), ("harness_install_end", "opencode", "cancelled"),
                           ("harness_install", "codex", None), ("harness_install_end", "codex", "succeeded")], actions


def test_an_installation_that_fails_states_why_and_what_to_do(binary, stack):
    registry = npm_registry.serve()
    owner = Owner(binary, stack, registry.url)
    for body, words in (({"harness": "playbook"}, "is not a harness that can be installed"), ({"harness": "../x"}, "is not a harness"),
                        ({"harness": "codex", "version": "1 --registry=http://x"}, "is not a version")):
        refused = owner.client.call("POST", INSTALLATIONS, body)
        assert refused.status == 400 and words in refused.message, (body, refused.text)
    owner.client.must("POST", INSTALLATIONS, {"harness": "claude-code"})
    assert "404" in owner.until("claude-code", "failed")["error"]
    owner.client.must("POST", INSTALLATIONS, {"harness": "codex", "version": "1.2.3"})
    assert "1.2.3" in owner.until("codex", "failed")["error"]
    assert "Could not install qwen" in owner.hone("server", "install", "qwen", fails=1)


def test_without_a_network_the_error_names_the_way_around(binary, stack):
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))  # nobody listens
    stack.callback(closed.close)
    owner = Owner(binary, stack, f"http://127.0.0.1:{closed.getsockname()[1]}")
    owner.client.must("POST", INSTALLATIONS, {"harness": "codex"})
    error = owner.until("codex", "failed")["error"]
    assert "the npm registry cannot be reached" in error and "hone harness install codex --from FOLDER" in error, error


def test_a_server_that_stops_cancels_the_installation_and_leaves_no_process(binary, stack):
    registry = npm_registry.serve()
    owner = Owner(binary, stack, registry.url)
    owner.client.must("POST", INSTALLATIONS, {"harness": "opencode"})
    making = owner.server.data_dir / "harnesses/opencode"
    wait_until(lambda: list(making.glob(".making-*/npm.log")), "npm has begun")
    owner.server.process.send_signal(signal.SIGTERM)
    assert owner.server.process.wait(60) == 0
    assert not list(making.glob(".making-*")), "files are left"
    own = str(owner.server.data_dir)
    left = [entry for entry in pathlib.Path("/proc").glob("[0-9]*/cwd") if own in os.path.realpath(entry)]
    assert not left, left


def test_the_models_of_a_provider_are_listed_before_and_after_its_key_is_stored(binary, stack):
    shop, provider = Shop(binary, stack), Provider(stack)
    names = ["scripted-1", "scripted-2", "small-1"]
    for protocol, version in (("anthropic", ""), ("openai", "/v1"), ("gemini", "")):
        variables = {"PROTOCOL": protocol, "BASE_URL": provider.url + "/play/text" + version, "ALLOW_PRIVATE": "true"}
        listed = shop.client.must("POST", "/v1/model_lists", {"variables": variables, "key": KEY}).data
        assert [model["name"] for model in listed] == names, (protocol, listed)
        assert KEY in json.dumps(provider.get("/play/text/_last_aside")["headers"]), protocol
    assert not shop.client.must("GET", "/v1/skills").data, "something was stored"
    # A key that the provider repeats in its error is not shown.
    variables = {"PROTOCOL": "openai", "BASE_URL": provider.url + "/play/status_401", "ALLOW_PRIVATE": "true"}
    refused = shop.client.call("POST", "/v1/model_lists", {"variables": variables, "key": KEY})
    assert refused.status == 400 and "does not accept the key" in refused.message and KEY not in refused.text, refused.text
    skill = shop.client.must("POST", "/v1/skills", {
        "name": "model", "type": "model", "secrets": {"API_KEY": KEY},
        "variables": {"PROTOCOL": "anthropic", "BASE_URL": provider.url + "/play/text", "ALLOW_PRIVATE": "true"}}).data["id"]
    assert [one["name"] for one in shop.client.must("POST", "/v1/model_lists", {"skill": skill}).data] == names
    for body in ({}, {"skill": skill, "key": KEY}, {"skill": skill, "variables": {"PROTOCOL": "openai"}}):
        assert shop.client.call("POST", "/v1/model_lists", body).status == 400, body
    # An address inside needs an owner of the installation who allows it.
    inside = {"PROTOCOL": "openai", "BASE_URL": provider.url}
    assert shop.client.call("POST", "/v1/model_lists", {"variables": inside, "key": KEY}).status == 400
    assert "model_list" in {entry["action"] for entry in shop.client.must("GET", "/v1/audit?limit=200").data}
