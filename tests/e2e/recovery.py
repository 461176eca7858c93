"""A backup of several servers, as docs/scale.md describes it, and the installation that is made of it: PostgreSQL with its own
tools, the bucket and the master key. The span store stays where it is: ClickHouse has its own BACKUP."""

import pathlib
import subprocess
import tempfile

from doctor import key_file
from objects import Bucket
from postgres import Postgres
from server import Server, wait_until
from servers import MASTER_KEY, Fleet, start_run, until
from starting import refused
from telemetry import otlp_json

OTHER_KEY = {"HONE_MASTER_KEY": "B" * 43}


def dump(postgres, file):
    words = [postgres.programs / "pg_dump", "--format=custom", "-h", postgres.folder, "-U", "hone", "-d", "hone", "-f", file]
    subprocess.run(words, check=True, cwd="/")


def restore(postgres, file):
    words = [postgres.programs / "pg_restore", "--exit-on-error", "-h", postgres.folder, "-U", "hone", "-d", "hone", file]
    subprocess.run(words, check=True, cwd="/")


def save_artifact(client, text):
    id = start_run(client, f"hone save_file --name note.txt --text '{text}'")
    assert until(client, id)["state"] == "succeeded"
    return client.must("GET", f"/v1/artifacts?run={id}").data[0]["id"]


def test_an_installation_of_several_servers_is_made_again_from_its_backup(binary, stack):
    bucket = Bucket(stack)
    objects = ("--object-store", bucket.location(), "--object-store-credentials-file", key_file(stack))
    fleet = Fleet(binary, stack, 2, *objects)
    admin = fleet.servers[0].admin()
    admin.must("POST", "/v1/projects", {"name": "shop"})
    admin.must("POST", "/v1/skills", {"name": "code", "type": "github", "secrets": {"GH_TOKEN": "token-of-before"}})
    key = admin.must("POST", "/v1/keys", {"name": "app", "kind": "service", "role": "admin", "scopes": ["all"]}).data["key"]
    app = fleet.servers[1].client(key)
    app.must("POST", "/v1/traces", otlp_json([(7, 7, 0, "a span of before", {})]))
    names = lambda: [span["name"] for span in app.must("GET", "/v1/projects/shop/spans").data]
    wait_until(lambda: names() == ["a span of before"], "it is in the span store: the logs of the servers are not saved")
    before = save_artifact(app, "saved before")
    file = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-dump-"))) / "hone.dump"
    dump(fleet.postgres, file)  # the servers go on
    after = save_artifact(app, "saved after")
    for server in fleet.servers:
        server.kill()
    fleet.postgres.kill()

    again = Postgres(stack)
    restore(again, file)
    flags = ("--database-url", again.url, "--requests-per-minute", "0", *fleet.store.flags(), *objects)
    code, said = refused(Server(binary, None, *flags, environment=OTHER_KEY))
    assert code == 1 and "master key" in said, (code, said)
    server = stack.enter_context(Server(binary, None, *flags, environment=MASTER_KEY))
    app = server.client(key)
    assert app.call("GET", f"/v1/artifacts/{before}/content").text == "saved before"
    # What came after the dump is not known any more. Its content stays in the bucket: this server does not own it.
    assert app.get(f"/v1/artifacts/{after}").status == 404
    assert len([one for one in bucket.keys() if one.startswith("artifacts/")]) == 2, bucket.keys()
    wait_until(lambda: names() == ["a span of before"], "spans are found")
    assert server.admin().must("GET", "/v1/audit/verify").data["ok"]
    # It works on: a new run, with its artifact; and the secret opens.
    assert app.call("GET", f"/v1/artifacts/{save_artifact(app, 'saved again')}/content").text == "saved again"
    assert server.admin().must("GET", "/v1/secrets").data
