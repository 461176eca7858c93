"""`hone doctor`: each part is broken in turn; the diagnosis names it, and says that it is fine when it is mended."""

import json
import pathlib
import signal
import tempfile

from objects import KEYS, Bucket, Proxy, serve
from server import Server, run, wait_until
from servers import MASTER_KEY, Fleet


def findings(client):
    return {finding["name"]: finding for finding in client.must("GET", "/v1/diagnosis").data}


def expect(client, name, state, words=""):
    def is_found():
        found = findings(client).get(name)
        if state == "absent":
            return found is None
        return found and found["state"] == state and words in found["detail"] and (state == "ok" or found["advice"])

    wait_until(is_found, f"the doctor says {state} of {name}: {words}")


def key_file(stack):
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-keys-")))
    (folder / "keys").write_text("aws_access_key_id = S3RVER\naws_secret_access_key = S3RVER\n")
    (folder / "keys").chmod(0o600)
    return str(folder / "keys")


def test_the_doctor_of_several_servers_finds_what_is_broken_and_nothing_when_it_is_mended(binary, stack):
    bucket = Bucket(stack)
    proxy = Proxy(stack, bucket.port)
    objects = ("--object-store", bucket.location(port=proxy.port), "--object-store-credentials-file", key_file(stack))
    fleet = Fleet(binary, stack, 2, *objects, roles=["api,scheduler,worker", "ingest"])
    first, second = fleet.servers
    admin = first.admin()
    gate = fleet.store.gates[0]
    names = ("database", "span store", "SQL of members", "object store", "clock", "lease", "servers", "spans", "scheduler")
    for name in names:
        expect(admin, name, "ok")
    expect(admin, "servers", "ok", "2 live")
    for name in ("role api", "role ingest", "role worker", "role scheduler", "span stores", "object stores"):
        expect(admin, name, "absent")

    proxy.pause = 0.6  # of each direction
    expect(admin, "object store", "warning", "responds in")
    proxy.pause = 0
    expect(admin, "object store", "ok")
    bucket.process.send_signal(signal.SIGSTOP)
    expect(admin, "object store", "problem")
    bucket.process.send_signal(signal.SIGCONT)
    expect(admin, "object store", "ok")

    gate.is_away.set()
    expect(admin, "span store", "problem", "503")
    gate.is_away.clear()
    expect(admin, "span store", "ok")
    fleet.store.process.send_signal(signal.SIGSTOP)
    expect(admin, "span store", "problem", "does not respond")
    fleet.store.process.send_signal(signal.SIGCONT)
    expect(admin, "span store", "ok")

    name = (second.data_dir / "server_name").read_text()
    assert second.stop() == 0
    expect(admin, "role ingest", "problem", "telemetry is rejected")
    expect(admin, f"server {name}", "warning", "has not reported")
    second.start()
    expect(admin, "role ingest", "absent")
    expect(admin, f"server {name}", "absent")

    # One that has its spans and its objects to itself.
    alone = stack.enter_context(Server(binary, None, "--database-url", fleet.postgres.url, environment=MASTER_KEY))
    expect(admin, "span stores", "problem", "its own engine")
    expect(admin, "object stores", "problem", "its own disk")
    assert alone.stop() == 0
    expect(admin, "span stores", "absent")
    expect(admin, "object stores", "absent")
    for name in names:
        expect(admin, name, "ok")


def test_the_doctor_of_one_server_finds_what_is_broken_and_nothing_when_it_is_mended(binary, stack):
    bucket = Bucket(stack)
    proxy = Proxy(stack, bucket.port)
    server = serve(binary, stack, bucket.location(port=proxy.port))
    admin = server.admin()
    for name in ("span store", "object store", "servers"):
        expect(admin, name, "ok")
    expect(admin, "backups", "warning", "none in the object store")
    key = admin.must("POST", "/v1/keys", {"name": "backup", "kind": "personal", "scopes": ["all"]}).data["key"]
    environment = KEYS | {"HONE_URL": server.url, "HONE_API_KEY": key}
    stored = run(binary, "backup", "store:", environment=environment)
    assert stored.returncode == 0, stored.stderr
    expect(admin, "backups", "ok", "0 days old")
    shown = run(binary, "doctor", "--json", environment=environment)
    assert {"span store", "object store"} <= {finding["name"] for finding in json.loads(shown.stdout)}, shown
    proxy.cut_upload_after = 0  # it is as if the store was killed
    expect(admin, "object store", "problem")
    proxy.cut_upload_after = None
    expect(admin, "object store", "ok")
