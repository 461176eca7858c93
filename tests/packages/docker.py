"""The image in real Docker, on a bare Debian 13 with systemd: the commands of docs/install.md as they stand there."""

import json
import pathlib
import re
import shlex
import shutil

from machine import wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ("systemd", "systemd-sysv", "dbus", "docker.io", "docker-cli", "docker-compose", "skopeo", "golang-github-containers-common", "iptables")
COMPOSE = "docker compose"


def documented():
    """The commands that docs/install.md gives for the image, without the one that makes it."""
    section = (ROOT / "docs/install.md").read_text().split("## Image")[1].split("\n## ")[0]
    commands = re.search(r"```\n(.*?)```", section, re.S).group(1).splitlines()
    assert commands[0] == "./dev package image chart && cd build/packages" and len(commands) == 3, commands
    return commands[1:]


def helpers(here):
    lines = json.loads(here(f"{COMPOSE} exec -T hone hone check --json", check=False))
    return next((line["state"], line["detail"]) for line in lines if line["name"] == "sandbox: helpers of the server (git)")


def use(machine, layout, span, worker):
    """`span`: the name of one; `worker`: the script of a worker. Returns what was typed, and how a worker ended without and with the lines."""
    shutil.copytree(layout, machine.root / "srv/packages/image")
    machine.put(ROOT / "packaging/compose.yaml", "/srv/packages/compose.yaml")
    with machine.booted() as booted:
        wait_until(lambda: booted.type("docker info --format '{{.ServerVersion}}'", check=False), "Docker responds")
        here = lambda command, **more: booted.type(f"cd /srv/packages; {command}", **more)
        for command in documented():
            here(command, shown=True, timeout=900)
        password = wait_until(lambda: here(f"{COMPOSE} logs hone | sed -n 's/^.*| *Password *//p'"), "the first password is in the log")
        said = lambda *words: json.loads(here(f"HONE_PASSWORD={shlex.quote(password)} python3 /srv/client.py {shlex.join(words)}"))
        ready = lambda: here("python3 -c 'import urllib.request; urllib.request.urlopen(\"http://127.0.0.1:7070/readyz\")' && echo ready", check=False)
        wait_until(ready, "the server is ready")
        assert said("span", "first " + span) == ["first " + span]
        refused = said("wait", said("start", worker))
        inside = here(f"{COMPOSE} exec hone sh -c 'id -u; touch /usr/lib/hone/new 2>&1; grep CapBnd /proc/1/status'", check=False)
        assert inside.startswith("65532\n") and "Read-only file system" in inside and re.search(r"CapBnd:\t0+$", inside, re.M), inside
        # Git of the server needs no namespace: it works behind other walls.
        assert helpers(here) == ("ok", "without namespaces: Landlock and a filter of their own"), helpers(here)
        # With the three lines: the container is made again, the data are those of before.
        here("sed -i 's/# - /- /' compose.yaml; " + f"{COMPOSE} up -d", timeout=300)
        wait_until(ready, "the server is ready again")
        assert said("span", "second " + span) == ["first " + span, "second " + span]
        ended = said("wait", said("start", worker))
        assert helpers(here) == ("ok", "in sandboxes with namespaces"), helpers(here)
        here(f"{COMPOSE} restart hone", timeout=300)
        wait_until(ready, "the server is ready after a restart")
        assert said("span", "third " + span) == ["first " + span, "second " + span, "third " + span]
        here(f"{COMPOSE} down", timeout=300)
        left = here("docker ps -aq; docker volume ls -q")
        assert left == "hone_data", left
        transcript = "\n".join(booted.transcript)
        version = booted.type("docker version --format '{{.Server.Version}}'; docker compose version --short").replace("\n", ", Compose ")
    return transcript, version, refused, ended
