"""What a server may do on its machine: a server of root keeps few of root's capabilities."""

import os
import pathlib
import signal

from runs import Shop, shell
from server import needs, wait_until

# CHOWN, DAC_OVERRIDE, FOWNER, NET_BIND_SERVICE: docs/threat-model.md.
KEPT = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 10


def status(path):
    return dict(line.split(":\t", 1) for line in (path / "status").read_text().splitlines() if ":\t" in line)


def capabilities(path):
    found = status(path)
    return {name: int(found[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapInh", "CapAmb")}


def children(name, data_dir):
    """Processes of this server by the name that they give themselves."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == name:
                if str(data_dir).encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(entry)
        except OSError:
            continue
    return found


def test_a_server_of_root_drops_the_capabilities_that_it_does_not_need(binary, stack):
    needs("root", os.geteuid() == 0)
    mine = capabilities(pathlib.Path("/proc/self"))["CapEff"]
    shop = Shop(binary, stack)
    server = pathlib.Path("/proc") / str(shop.server.process.pid)
    few = {"CapEff": KEPT & mine, "CapPrm": KEPT & mine, "CapBnd": KEPT & mine, "CapInh": 0, "CapAmb": 0}
    for thread in (server / "task").iterdir():
        assert capabilities(thread) == few, (thread, status(thread)["Name"], capabilities(thread))
        assert status(thread)["NoNewPrivs"] == "1"
    # What it starts has no more; only the launcher and the spawner, which make sandboxes, have all.
    data_dir = shop.server.data_dir
    [launcher], [spawner] = children("hone-launcher", data_dir), children("hone-spawner", data_dir)
    assert capabilities(launcher)["CapEff"] == capabilities(spawner)["CapEff"] == mine
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(status(entry)["PPid"]) == shop.server.process.pid and entry != launcher:
                assert capabilities(entry)["CapEff"] & ~KEPT == 0, (entry, status(entry)["Name"])
        except (FileNotFoundError, ProcessLookupError):
            continue
    run = shop.start(*shell("echo works"))["id"]
    assert shop.until(run)["state"] == "succeeded", shop.texts(run)
    # A spawner that ended is replaced, although the server could not make sandboxes itself.
    os.kill(int(spawner.name), signal.SIGKILL)
    wait_until(lambda: not spawner.exists() or status(spawner)["State"].startswith("Z"), "the spawner is gone")
    wait_until(lambda: shop.until(shop.start(*shell("echo again"))["id"])["state"] == "succeeded", "workers run again")
    assert [entry for entry in children("hone-spawner", data_dir) if entry != spawner]
    assert shop.server.stop() == 0
    wait_until(lambda: not children("hone-launcher", data_dir), "the launcher ended with its server")
