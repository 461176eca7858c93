"""A server where no namespace can be made: git works behind other walls, and what needs a sandbox is refused with the reason."""

import os
import pathlib
import subprocess
import sys
import tempfile

from repos import TOKEN, Forge, add, git, settled, skill_for
from runs import Shop
from server import Client, Server, wait_until

BARE_PLACE = pathlib.Path(__file__).resolve().parent.parent / "bare_place.py"
USER = 54321


class BareShop(Shop):
    """A server with one project in a place without namespaces, logged in as its owner."""

    def __init__(self, binary, stack, *flags):
        self.home = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-bare-")))
        if os.geteuid() == 0:
            os.chown(self.home, USER, USER)
        self.command = [sys.executable, str(BARE_PLACE)]
        environment = {"HONE_BARE_HOME": str(self.home)}
        self.server = stack.enter_context(Server(binary, self.home / "data", *flags, command=self.command, environment=environment))
        self.client = Client(self.server.url).login()
        self.client.must("POST", "/v1/projects", {"name": "shop"})


def readable(forge):
    """The certificate of the forge, for a server of another user."""
    forge.root.chmod(0o755)
    forge.certificate.chmod(0o644)
    return str(forge.certificate)


def test_a_mirror_is_fetched_through_the_broker_without_namespaces(binary, stack):
    forge = Forge(stack, "--basic", f"x-access-token:{TOKEN}")
    shop = BareShop(binary, stack, "--egress-ca-file", readable(forge))
    skill = skill_for(shop, forge)
    repo = add(shop, forge, skill=skill)
    assert repo["state"] == "ready" and repo["error"] == "", repo
    head = git(forge.work, "rev-parse", "HEAD")
    refs = {ref["name"]: ref["commit"] for ref in shop.client.must("GET", "/v1/repos/shop/refs").data}
    assert refs == {"refs/heads/main": head, "refs/tags/v1": head}, refs
    new = forge.commit("README.md", "a better shop\n")
    forge.publish()
    again = shop.client.must("POST", "/v1/repos/shop/fetch").data
    assert again["state"] == "ready" and again["bytes"] > repo["bytes"], again
    assert new in [ref["commit"] for ref in shop.client.must("GET", "/v1/repos/shop/refs?prefix=refs/heads/").data]
    # The wrong credential, and a place that is not there, are explained as ever.
    shop.client.must("PATCH", "/v1/repos/shop", {"skill": ""})
    failed = shop.client.must("POST", "/v1/repos/shop/fetch").data
    assert failed["state"] == "failed" and "could not fetch" in failed["error"], failed
    made = shop.client.must("POST", "/v1/repos", {"allow_private": True, "url": forge.home + "/no/such.git", "skill": skill}).data
    assert "no such repository" in settled(shop, made["id"])["error"], settled(shop, made["id"])
    # Every start of git is in the audit log with its walls, and nothing of it is left.
    def audited():
        entries = shop.client.must("GET", "/v1/audit?scope=installation&action=sandbox_start&limit=200").text
        return entries if "without_namespaces" in entries else None
    entries = wait_until(audited, "the starts are in the audit log")
    assert TOKEN not in entries and TOKEN not in shop.server.output()
    assert not list((shop.server.data_dir / "git").glob("root-*")), "folders of git are left"
    assert not list((shop.server.data_dir / "sandbox/live").glob("sbx_*")), "sandboxes are left"


def test_a_run_in_a_sandbox_is_refused_with_the_reason(binary, stack):
    shop = BareShop(binary, stack)
    body = {"project": "shop", "prompt": "look", "settings": {"harness": "command", "command": ["/bin/true"]}}
    id = shop.client.must("POST", "/v1/runs", body).data["id"]

    def over():
        found = shop.client.must("GET", f"/v1/runs/{id}").data
        return found if found["state"] in ("failed", "succeeded", "lost") else None
    ended = wait_until(over, "the run has ended")
    assert ended["state"] == "failed" and "namespaces" in ended["reason"], ended


def test_the_check_and_the_state_of_the_server_name_the_walls(binary, stack):
    shop = BareShop(binary, stack)
    done = subprocess.run(shop.command + [binary, "check", "--data-dir", str(shop.home / "other")], capture_output=True, text=True, cwd="/",
                          env=os.environ | {"HONE_BARE_HOME": str(shop.home)})
    assert "without namespaces: Landlock" in done.stdout, (done.stdout, done.stderr)
    findings = shop.client.must("GET", "/v1/diagnosis").text
    assert "without namespaces" in findings, findings
