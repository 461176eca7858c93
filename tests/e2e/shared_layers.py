"""Prepared layers of servers that share an object store: what one server built, another one fetches, verified."""

import pathlib
import shutil
import tempfile

from server import wait_until
from servers import Fleet, events_of, until

SCRIPT = "echo made >> $HOME/marker; mkdir -p $HOME/tree/deep; ln -s marker $HOME/link; ln $HOME/marker $HOME/hard; chmod 750 $HOME/tree/deep"
LOOK = "cat $HOME/link; stat -c '%a %h' $HOME/tree/deep $HOME/hard | tr '\\n' ' '; touch $HOME/marker && echo writable"


def notes_of(client, run):
    return "\n".join(event["text"] for event in events_of(client, run))


def test_a_server_uses_the_layer_that_another_one_prepared(binary, stack):
    shared = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-objects-")))
    fleet = Fleet(binary, stack, 2, "--object-store", f"file:{shared}")
    admins = [server.admin() for server in fleet.servers]
    admins[0].must("POST", "/v1/projects", {"name": "shop"})

    def run_it(client):
        settings = {"harness": "command", "command": ["/bin/sh", "-c", LOOK], "sandbox": {"init_script": SCRIPT}}
        run = client.must("POST", "/v1/runs", {"project": "shop", "prompt": "look", "settings": settings}).data["id"]
        ended = until(client, run)
        assert ended["state"] == "succeeded", (ended, notes_of(client, run))
        return run

    first = run_it(admins[0])
    home = fleet.names().index(fleet.sql(f"SELECT server FROM runs WHERE id = '{first}'"))
    builder, other = fleet.servers[home], fleet.servers[1 - home]
    assert "The init script ran" in notes_of(admins[home], first)
    manifest = wait_until(lambda: list(shared.glob("layers/*/manifest")), "the layer is in the store")[0]
    assert builder.stop() == 0
    client = admins[1 - home]
    second = run_it(client)
    assert "of another server fetched" in notes_of(client, second) and "The init script ran" not in notes_of(client, second), notes_of(client, second)
    texts = lambda run: [event["text"] for event in events_of(client, run) if event["kind"] == "message"]
    assert texts(second) == texts(first), (texts(first), texts(second))
    third = run_it(client)
    assert "reused" in notes_of(client, third)

    # Contents that were changed in the store are not used: the layer is built again.
    contents = next(path for path in manifest.parent.iterdir() if path.name != "manifest")
    damaged = bytearray(contents.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    contents.write_bytes(damaged)
    layers = other.data_dir / "sandbox/layers"
    for layer in layers.glob("v2-*"):
        if layer.is_dir():
            shutil.rmtree(layer)
    fourth = run_it(client)
    assert "The init script ran" in notes_of(client, fourth) and "another SHA-256" in other.output(), notes_of(client, fourth)
    assert texts(fourth) == texts(first)
    assert not list(layers.glob(".packed*")) and not list(layers.glob(".build*")), list(layers.iterdir())
