"""Artifacts and backups in an object store: `s3rver` from npm, which checks signatures, and a proxy that breaks things."""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from runs import Shop, shell
from server import Server, needs, run, wait_until
from telemetry import otlp_json

TESTS = pathlib.Path(__file__).resolve().parent.parent
KEYS = {"AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER"}


class Bucket:
    """An S3 server of its own with the bucket `hone-test`."""

    def __init__(self, stack):
        needs("the npm packages of tests/", (TESTS / "node_modules/@20minutes/s3rver").exists())
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-s3-")))
        words = ["node", "--openssl-legacy-provider", str(TESTS / "s3_server.mjs"), str(self.folder), "hone-test"]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        self.port = int(self.process.stdout.readline())

    def files_of(self, key):
        """Where the server keeps one object; the content is in the first file."""
        return [self.folder / f"hone-test/team/{key}._S3rver_{what}" for what in ("object", "object.md5", "metadata.json")]

    def location(self, prefix="team", port=None):
        return f"s3://hone-test/{prefix}?endpoint=http://127.0.0.1:{port or self.port}"

    def keys(self, prefix="team"):
        """Of all objects, as the server has them on its disk."""
        ending = "._S3rver_object"
        below = self.folder / "hone-test" / prefix
        return sorted(str(path.relative_to(below))[:-len(ending)] for path in below.rglob("*" + ending))


class Proxy:
    """Passes bytes between the server under test and the object store; attributes change what it does to them."""

    def __init__(self, stack, port):
        self.target = port
        self.cut_upload_after = None    # bytes of all requests; then it is as if the store was killed
        self.cut_download_after = None  # bytes of responses on one connection; a number for each connection
        self.pause = 0                  # seconds before each piece
        self.change = None              # of responses: bytes -> bytes
        self.uploaded = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()
        stack.callback(self.listener.close)

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def is_dead(self):
        return self.cut_upload_after is not None and self.uploaded > self.cut_upload_after

    def serve(self, client):
        if self.is_dead():
            client.close()
            return
        with socket.create_connection(("127.0.0.1", self.target)) as store, client:
            upward = threading.Thread(target=self.pump, args=(client, store, True), daemon=True)
            upward.start()
            self.pump(store, client, False)
            upward.join()

    def pump(self, source, sink, is_upload):
        limit = None if is_upload or not self.cut_download_after else self.cut_download_after.pop(0)
        try:
            while piece := source.recv(1 << 16):
                time.sleep(self.pause)
                if is_upload:
                    self.uploaded += len(piece)
                    if self.is_dead():
                        break
                elif self.change:
                    piece = self.change(piece)
                if limit is not None:
                    piece, limit = piece[:limit], limit - len(piece)
                sink.sendall(piece)
                if limit is not None and limit <= 0:
                    break
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(binary, stack, location, data_dir=None, **environment):
    return stack.enter_context(Server(binary, data_dir, "--object-store", location, environment=KEYS | environment))


def save_artifact(shop, text):
    """The artifact of a run that saves a file."""
    id = shop.start(*shell(f"hone save_file --name note.txt --text '{text}'"))["id"]
    assert shop.until(id)["state"] == "succeeded", shop.texts(id)
    return shop.client.must("GET", f"/v1/artifacts?run={id}").data[0]


def content(client, artifact):
    return client.call("GET", f"/v1/artifacts/{artifact['id']}/content")


def fill(data_dir, megabytes):
    """Bytes that cannot be compressed, as part of what a backup holds."""
    folder = pathlib.Path(data_dir) / "artifacts" / "ab"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ("ab" * 32)).write_bytes(os.urandom(megabytes << 20))


def check_line(binary, location, data_dir, **environment):
    shown = run(binary, "check", "--json", "--data-dir", data_dir, "--object-store", location, environment=KEYS | environment)
    return next(line for line in json.loads(shown.stdout) if line["name"] == "object store")


class StoreShop(Shop):
    def __init__(self, binary, stack, location):
        self.server = serve(binary, stack, location)
        self.client = self.server.admin()
        self.client.must("POST", "/v1/projects", {"name": "shop"})


def test_artifacts_are_in_the_bucket_and_credentials_nowhere_else(binary, stack):
    bucket = Bucket(stack)
    shop = StoreShop(binary, stack, bucket.location())
    artifact = save_artifact(shop, "in the bucket")
    assert content(shop.client, artifact).text == "in the bucket"
    digest = artifact["digest"]
    assert f"artifacts/{digest[:2]}/{digest}" in bucket.keys(), bucket.keys()
    assert not list((shop.server.data_dir / "artifacts").rglob("*")), "the content is also in the data directory"
    environment = pathlib.Path(f"/proc/{shop.server.process.pid}/environ").read_bytes()
    for name, value in KEYS.items():
        assert f"{name}={value}".encode() not in environment, name
    assert b"S3RVER" not in pathlib.Path(f"/proc/{shop.server.process.pid}/cmdline").read_bytes()
    assert "S3RVER" not in shop.server.output()
    assert "S3RVER" not in shop.client.must("GET", "/v1/server").text
    bucket.process.kill()
    bucket.process.wait()
    lost = content(shop.client, artifact)
    assert lost.status == 503 and "could not be reached" in lost.message, lost.text


def test_artifacts_of_before_stay_readable_when_a_store_is_set(binary, stack):
    bucket = Bucket(stack)
    shop = Shop(binary, stack)
    before = save_artifact(shop, "in the data directory")
    assert shop.server.stop() == 0
    shop.server.flags = ["--object-store", bucket.location()]
    shop.server.environment = KEYS
    shop.server.start()
    shop.client = shop.server.admin()
    after = save_artifact(shop, "in the bucket")
    assert content(shop.client, before).text == "in the data directory"
    assert content(shop.client, after).text == "in the bucket"
    assert len([key for key in bucket.keys() if key.startswith("artifacts/")]) == 1, bucket.keys()


def test_a_backup_in_the_store_is_listed_and_restored(binary, stack):
    bucket = Bucket(stack)
    home = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-restored-")))
    for number, location in enumerate((bucket.location(), "file")):
        server = serve(binary, stack, location)
        admin = server.admin()
        admin.must("POST", "/v1/projects", {"name": f"shop {number}"})
        fill(server.data_dir, 40)
        key = admin.must("POST", "/v1/keys", {"name": "cli", "kind": "personal", "scopes": ["all"]}).data["key"]
        environment = {"HONE_URL": server.url, "HONE_API_KEY": key}
        empty = run(binary, "backups", environment=environment)
        assert empty.returncode == 0 and "hone backup store:" in empty.stdout + empty.stderr, empty
        made = run(binary, "backup", "store:", "--json", environment=environment)
        assert made.returncode == 0, made
        name, size = (json.loads(made.stdout)[field] for field in ("name", "bytes"))
        assert size > 40 << 20, size
        listed = json.loads(run(binary, "backups", "--json", environment=environment).stdout)
        assert [(one["name"], one["bytes"]) for one in listed] == [(name, size)], listed
        assert server.stop() == 0
        restored = home / str(number)
        from_store = bucket.location() if number == 0 else f"file:{server.data_dir}"
        done = run(binary, "restore", "store:latest", "--data-dir", restored, "--object-store", from_store, environment=KEYS)
        assert done.returncode == 0, done
        assert not list(restored.glob("restoring*")), list(restored.iterdir())
        (restored / "master.key").write_bytes((server.data_dir / "master.key").read_bytes())
        (restored / "master.key").chmod(0o600)
        again = serve(binary, stack, location, restored)
        assert f"shop {number}" in [project["name"] for project in again.admin().must("GET", "/v1/projects").data]
        assert (restored / "artifacts/ab" / ("ab" * 32)).stat().st_size == 40 << 20
        missing = run(binary, "restore", "store:hone-none.tar.zst", "--data-dir", home / "none", "--object-store", from_store, environment=KEYS)
        assert missing.returncode == 1 and "not found" in missing.stderr, missing


def test_exports_are_kept_in_the_store_and_read_with_and_without_the_server(binary, stack):
    bucket = Bucket(stack)
    home = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-exports-")))
    for location in (bucket.location(), "file"):
        server = serve(binary, stack, location)
        admin = server.admin()
        for project in ("shop", "other"):
            admin.must("POST", "/v1/projects", {"name": project})
        key = lambda role: admin.must("POST", "/v1/keys", {"name": role, "kind": "service", "role": role, "scopes": ["all"]}).data["key"]
        environment = {"HONE_URL": server.url, "HONE_API_KEY": key("admin"), "HONE_PROJECT": "shop"}
        app, viewer = server.client(environment["HONE_API_KEY"]), server.client(key("viewer"))
        app.must("POST", "/v1/traces", otlp_json([(n, n, 0, f"span {n}", {}) for n in (1, 2, 3)]))
        wait_until(lambda: len(app.must("GET", "/v1/projects/shop/spans").data) == 3, "the spans are stored")
        whole = app.call("GET", "/v1/projects/shop/export").text
        made = run(binary, "export", "--output", "store:", "--json", environment=environment)
        assert made.returncode == 0, made
        export = json.loads(made.stdout)
        assert export["bytes"] == len(whole.encode()), (export, whole)
        assert [one["name"] for one in json.loads(run(binary, "exports", "--json", environment=environment).stdout)] == [export["name"]]
        place = f"/v1/projects/shop/exports/{export['name']}/content"
        assert viewer.call("GET", place).text == whole
        done = run(binary, "exports", "download", export["name"], "--output", home / "export", environment=environment)
        assert done.returncode == 0 and (home / "export").read_text() == whole, done
        # Without the server: an address in the bucket that needs no credentials. Files have none.
        direct = viewer.get(f"{place}?direct=true")
        if location == "file":
            assert direct.status == 200 and direct.text == whole
        else:
            address = direct.headers["location"]
            assert direct.status == 303 and address.startswith(f"http://127.0.0.1:{bucket.port}/"), direct.headers
            with urllib.request.urlopen(address) as response:
                assert response.read().decode() == whole
                assert "attachment" in response.headers["Content-Disposition"], response.headers
            changed = address.replace("X-Amz-Signature=", "X-Amz-Signature=0")
            assert status_of(changed) == 403
        # Of one project, and not for everybody to make or delete.
        assert app.get(place.replace("/shop/", "/other/")).status == 404
        assert app.get(place.replace(export["name"], "..%2F" + export["name"])).status in (400, 404)  # either: by the path, by the name
        assert viewer.post("/v1/projects/shop/exports").status == 403
        assert viewer.call("DELETE", place.removesuffix("/content")).status == 403
        done = run(binary, "exports", "delete", export["name"], "--yes", environment=environment)
        assert done.returncode == 0 and app.get(place).status == 404, done
        assert not [one for one in bucket.keys() if one.startswith("exports/")], bucket.keys()
        assert server.stop() == 0


def status_of(address):
    try:
        with urllib.request.urlopen(address) as response:
            return response.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def test_check_names_what_is_wrong_with_a_store(binary, stack):
    bucket = Bucket(stack)
    data_dir = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-check-"))
    good = check_line(binary, bucket.location(), data_dir)
    assert good["state"] == "ok" and "can be written, read, listed and deleted" in good["detail"], good
    assert bucket.keys() == [], bucket.keys()
    assert check_line(binary, "file", data_dir)["state"] == "ok"
    for location, environment, message in (
        (bucket.location(), {"AWS_SECRET_ACCESS_KEY": "wrong-secret"}, "the secret key of"),
        (bucket.location(), {"AWS_ACCESS_KEY_ID": "nobody"}, "does not know the access key"),
        (bucket.location().replace("hone-test", "other-bucket"), {}, "the bucket other-bucket does not exist"),
        (bucket.location(port=1), {}, "could not be reached"),
        (bucket.location(), {"AWS_SECRET_ACCESS_KEY": ""}, "needs credentials"),
        ("s3://hone-test?endpoint=nowhere", {}, "endpoint is an address"),
    ):
        line = check_line(binary, location, data_dir, **environment)
        assert line["state"] == "missing" and message in line["detail"], (location, line)
        assert "wrong-secret" not in json.dumps(line), line
    server = Server(binary, None, "--object-store", "s3://x", environment=KEYS).spawn()
    assert server.process.wait(60) != 0 and "not a name of a bucket" in server.output(), server.output()


def test_a_store_that_dies_in_the_middle_of_a_backup_leaves_no_backup(binary, stack):
    bucket = Bucket(stack)
    proxy = Proxy(stack, bucket.port)
    server = serve(binary, stack, bucket.location(port=proxy.port))
    admin = server.admin()
    fill(server.data_dir, 40)
    for limit in (1 << 20, 20 << 20, 39 << 20):  # in the first part, in the second, in the last
        proxy.uploaded, proxy.cut_upload_after = 0, limit
        failed = admin.post("/v1/backups")
        assert failed.status == 503 and "could not be reached" in failed.message, failed.text
        proxy.cut_upload_after = None
        assert admin.must("GET", "/v1/backups").data == []
    assert not list(server.data_dir.glob("backup-*")), "copies of the database are left"
    made = admin.must("POST", "/v1/backups").data
    assert [one["name"] for one in admin.must("GET", "/v1/backups").data] == [made["name"]]


def test_a_slow_store_is_waited_for(binary, stack):
    bucket = Bucket(stack)
    proxy = Proxy(stack, bucket.port)
    proxy.pause = 0.02
    server = serve(binary, stack, bucket.location(port=proxy.port))
    fill(server.data_dir, 18)
    assert server.admin().must("POST", "/v1/backups").data["bytes"] > 18 << 20


def test_downloads_that_are_cut_resume_and_changed_ones_are_refused(binary, stack):
    bucket = Bucket(stack)
    proxy = Proxy(stack, bucket.port)
    home = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-restored-")))
    server = serve(binary, stack, bucket.location())
    fill(server.data_dir, 18)
    server.admin().must("POST", "/v1/backups")
    through_proxy = ["--object-store", bucket.location(port=proxy.port)]

    proxy.cut_download_after = [5 << 20, 5 << 20]  # of the first two connections; the list is in the first
    done = run(binary, "restore", "store:latest", "--data-dir", home / "resumed", *through_proxy, environment=KEYS)
    assert done.returncode == 0, done
    assert (home / "resumed/artifacts/ab" / ("ab" * 32)).stat().st_size == 18 << 20

    proxy.cut_download_after = [100_000] + [0] * 100
    done = run(binary, "restore", "store:latest", "--data-dir", home / "never", *through_proxy, environment=KEYS)
    assert done.returncode == 1 and "could not be reached" in done.stderr, done
    assert not (home / "never/hone.db").exists()

    proxy.cut_download_after = None
    seen = [0]

    def change(piece):
        before, seen[0] = seen[0], seen[0] + len(piece)
        return piece if before < 9 << 20 or before > 10 << 20 else bytes(len(piece))

    proxy.change = change
    done = run(binary, "restore", "store:latest", "--data-dir", home / "changed", *through_proxy, environment=KEYS)
    assert done.returncode == 1 and "damaged" in done.stderr, done
    assert not (home / "changed/hone.db").exists()
