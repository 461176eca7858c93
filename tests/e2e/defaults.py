"""Started as people start it: from an empty folder without flags, with relative folders and odd names, through links, as
an ordinary user, without HOME, with any umask and locale, over IPv6, from a folder that goes away. Each time spans are
sent, seen through the API, and still there after a restart. And what is said when they cannot be stored."""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile

from repos import git
from runs import OVER
from server import ADMIN, PASSWORD, Client, Server, needs, run, wait_until
from telemetry import TESTS, key_of, otlp_json, otlp_protobuf, rows

USER = 54321
PORTS = ["--listen", "127.0.0.1:0", "--otlp-http-listen", "127.0.0.1:0", "--otlp-grpc-listen", "127.0.0.1:0"]
PROTOBUF = {"Content-Type": "application/x-protobuf"}
UNSET = object()


class Typed(Server):
    """A command as a person types it in a folder: these words and no others."""

    def __init__(self, binary, folder, words, data="hone-data", command=(), environment=None, umask=-1):
        super().__init__(binary, os.path.realpath(pathlib.Path(folder) / data), command=command, environment=environment)
        self.folder, self.words, self.umask = folder, words, umask

    def spawn(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HONE_", "LC_", "LANG"))}
        kept |= {"HONE_ADMIN_PASSWORD": PASSWORD} | self.environment
        self.log.truncate(0)
        self.process = subprocess.Popen(
            [*self.command, self.binary, *self.words],
            cwd=self.folder,
            stdout=self.log,
            stderr=self.log,
            umask=self.umask,
            env={name: value for name, value in kept.items() if value is not UNSET},
        )
        return self


def empty_folder(stack, name=""):
    """Everybody may enter it, so that an ordinary user may, too."""
    top = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-typed-", ignore_cleanup_errors=True)))
    top.chmod(0o755)
    folder = top / (name or "here")
    folder.mkdir(parents=True)
    return folder


def send(server, key, number):
    """One span to the OTLP address, as exporters send it."""
    otlp = Client(server.otlp_url, key)
    sent = otlp.post("/v1/traces", otlp_protobuf(number, number, f"span {number}"), PROTOBUF)
    assert sent.status == 200, sent.bytes


def seen(server, key, count):
    rows(server.client(key), "/v1/projects/shop/span_rows", count)
    ready = server.client().get("/readyz")
    assert (ready.status, ready.text) == (200, "ready\n"), ready.text


def stored_and_still_there(server):
    """Sent, seen, restarted, still there, and another one beside it."""
    with server:
        key = key_of(server)
        send(server, key, 1)
        seen(server, key, 1)
        assert server.stop() == 0, server.output()
        server.start()
        seen(server, key, 1)
        send(server, key, 2)
        seen(server, key, 2)
        assert "spans wait" not in server.output(), server.output()
        private_to_its_owner(server)
        assert server.stop() == 0, server.output()


def private_to_its_owner(server):
    """The folder is its owner's alone, and so is every secret in it."""
    data = server.path_of_data()
    assert data.stat().st_mode & 0o777 == 0o700, oct(data.stat().st_mode)
    for name in ("master.key", "hone.db", "hone.db-wal", "lock"):
        mode = (data / name).stat().st_mode & 0o777
        assert mode == 0o600, (name, oct(mode))
    for folder in ("telemetry", "telemetry/wal", "telemetry/engine", "sandbox"):
        mode = (data / folder).stat().st_mode & 0o777
        assert mode == 0o700, (folder, oct(mode))


def installed(stack, binary):
    """The program and what belongs beside it, where an ordinary user can reach it."""
    place = empty_folder(stack, "bin")
    built = pathlib.Path(binary).resolve().parent
    for name in ("hone", "hone-client", "hone-server", "hone-engine", "hone-inside", "hone-init"):
        shutil.copy2(built / name, place / name)
    shutil.copytree(built / "playbooks" if (built / "playbooks").exists() else TESTS.parent / "playbooks", place / "playbooks")
    library = next(path for path in (built / "libchdb.so", built.parent / "deps/package/libchdb.so") if path.exists()).resolve()
    try:
        os.link(library, place / "libchdb.so")
    except OSError:
        shutil.copy2(library, place / "libchdb.so")
    return place / "hone"


def as_user():
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all"]


def give_to_user(path):
    if os.geteuid() == 0:
        os.chown(path, USER, USER)


def read_only(home):
    """Whatever follows sees this folder as a read-only mount, in a mount namespace of its own."""
    needs("root, for a read-only mount", os.geteuid() == 0)
    mounted = f'mount --bind "{home}" "{home}" && mount -o remount,bind,ro "{home}" && exec "$@"'
    return ["unshare", "--mount", "sh", "-ec", mounted, "sh"]


def test_hone_serve_in_an_empty_folder_stores_what_it_acknowledges(binary, stack):
    folder = empty_folder(stack)
    server = Typed(binary, folder, ["serve", *PORTS], environment={"HONE_ADMIN_PASSWORD": UNSET})
    with server:
        said = wait_until(lambda: "Password" in server.output() and server.output(), "it says how to log in")
        password = re.search(r"Password +(\S+)", said).group(1)
        key = server.client().login(ADMIN, password).must("POST", "/v1/keys", {"name": "mine"}).data["key"]
        # Over all three doors.
        send(server, key, 1)
        assert server.client(key).post("/v1/traces", otlp_json([(2, 2, 0, "by json", {})])).status == 200
        seen(server, key, 2)
        exported = {"OTEL_EXPORTER_OTLP_ENDPOINT": server.otlp_grpc_url, "OTEL_SERVICE_NAME": "by-grpc",
                    "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{key}"}
        subprocess.run(["node", str(TESTS / "send_traces.mjs"), "grpc", "1"], env=os.environ | exported, check=True, timeout=120)
        rows(server.client(key), "/v1/projects/by-grpc/span_rows", 2)
        assert sorted(path.name for path in folder.iterdir()) == ["hone-data"]
        checked = run(binary, "check", cwd=folder)
        assert checked.returncode == 0 and "is ready and stores spans" in checked.stdout, checked
        assert server.stop() == 0
        server.start()
        seen(server, key, 2)
        rows(server.client(key), "/v1/projects/by-grpc/span_rows", 2)
        private_to_its_owner(server)


def test_relative_folders_store_spans_and_come_back_from_a_backup(binary, stack):
    for data in ("./x", "x/y/", "../beside/../b"):
        stored_and_still_there(Typed(binary, empty_folder(stack), ["serve", "--data-dir", data, *PORTS], data))
    folder = empty_folder(stack)
    named = {"HONE_DATA_DIR": "named"}
    stored_and_still_there(Typed(binary, folder, ["serve", *PORTS], "named", environment=named))
    with Typed(binary, folder, ["serve", *PORTS], "named", environment=named) as server:
        key = key_of(server)
        (folder / "backup.tar.zst").write_bytes(server.admin().must("GET", "/v1/backup").bytes)
    restored = run(binary, "restore", "backup.tar.zst", "--data-dir", "./again/", cwd=folder)
    assert restored.returncode == 0 and str(folder / "again") in restored.stdout, restored
    shutil.copy2(folder / "named/master.key", folder / "again/master.key")
    with Typed(binary, folder, ["serve", "--data-dir", "again", *PORTS], "again") as server:
        seen(server, key, 2)


def test_folders_of_any_name_store_spans(binary, stack):
    long = "/".join(letter * 100 for letter in "abc")
    for name in ("with spaces", "quo'te\"s", "<tag> & more", "Gemüse 蔬菜 ☃", "co:lon/com,ma{*}?#%20$HOME", long):
        folder = empty_folder(stack, name)
        stored_and_still_there(Typed(binary, folder, ["serve", *PORTS]))
        if "'" in name or "*" in name:  # a name that SQL or a pattern could misread
            with Typed(binary, folder, ["serve", *PORTS]) as server:
                parquet_goes_out_and_in(server)


def parquet_goes_out_and_in(server):
    client = server.client(key_of(server))
    exported = client.must("GET", "/v1/projects/shop/export?format=parquet").bytes
    report = client.post("/v1/projects/copied/import?format=parquet", exported, {"Content-Type": "application/octet-stream"})
    assert report.status == 200 and report.data["accepted"] == 2, report.text
    rows(client, "/v1/projects/copied/span_rows", 2)


def test_names_that_cannot_work_are_refused_with_the_reason(binary, stack):
    folder = empty_folder(stack)
    for data, reason in (
        ("", "must not be empty"),
        ("line\nbreak", "control characters"),
        ("back\\slash", "backslashes"),
        (b"\xff\xfe", "UTF-8"),
        ("n" * 300, "too long"),
        ("/".join(["d" * 200] * 4), "too long"),
    ):
        refused = Typed(binary, folder, ["serve", "--data-dir", data, *PORTS])
        with refused.spawn():
            assert refused.process.wait(60) in (1, 2), data
            assert reason in refused.output(), (data, refused.output())
    (folder / "file").write_text("not a folder")
    refused = run(binary, "serve", "--data-dir", "file", *PORTS, cwd=folder)
    assert refused.returncode == 1 and "is not a directory" in refused.stderr, refused


def test_a_linked_data_directory_is_one_directory_under_each_name(binary, stack):
    folder = empty_folder(stack)
    (folder / "disk").mkdir(mode=0o700)
    (folder / "other").mkdir()
    (folder / "link").symlink_to("disk")
    server = Typed(binary, folder, ["serve", "--data-dir", "link", *PORTS], "link")
    with server:
        second = run(binary, "serve", "--data-dir", str(folder / "disk"), *PORTS, cwd="/")
        assert second.returncode == 1 and "another hone serve" in second.stderr, second
        key = key_of(server)
        # The link changes while it runs: it stays where it began.
        (folder / "link").unlink()
        (folder / "link").symlink_to("other")
        send(server, key, 1)
        seen(server, key, 1)
        assert list((folder / "other").iterdir()) == []
        assert server.stop() == 0
    (folder / "link").unlink()
    (folder / "link").symlink_to("disk")
    with Typed(binary, folder, ["serve", "--data-dir", "./link/", *PORTS], "link") as server:
        seen(server, key, 1)


def test_an_ordinary_user_without_a_home_stores_spans(binary, stack):
    hone = installed(stack, binary)
    for environment in ({"HOME": UNSET}, {"HOME": "/"}, {"HOME": "/nonexistent"}):
        folder = empty_folder(stack)
        give_to_user(folder)
        stored_and_still_there(Typed(hone, folder, ["serve", *PORTS], command=as_user(), environment=environment))
    # Commands that keep things in the home say which setting is missing.
    clean = {"PATH": os.environ["PATH"]}
    lost = subprocess.run([*as_user(), str(hone), "sandbox", "list"], capture_output=True, text=True, env=clean, cwd="/")
    if os.geteuid() == 0:
        assert lost.returncode == 125 and "--data-dir" in lost.stderr and "HOME" in lost.stderr, lost


WORKER = """hone save_file --name note.txt --text 'a note'
cd shop; echo more >> README.md; git commit -qam 'More'; git push -q && echo pushed"""


def add_repository(server):
    """One on the disk of the server, which only who owns the data directory can put there."""
    space = server.admin().must("GET", "/v1/spaces/default").data["id"]
    bare = server.data_dir / "repos" / space / "shop.git"
    with tempfile.TemporaryDirectory() as work:
        git(work, "init", "-q", "-b", "main", ".")
        (pathlib.Path(work) / "README.md").write_text("a shop\n")
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", "first")
        git(work, "clone", "-q", "--bare", ".", str(bare))
    for path in (bare.parent.parent, *bare.parent.parent.rglob("*")):
        give_to_user(path)
    return f"file://{bare}"


def worked(server, url):
    """A run that saves a file and pushes a branch."""
    admin = server.admin()
    settings = {"harness": "command", "command": ["/bin/sh", "-c", WORKER], "repos": [{"url": url}]}
    run = admin.must("POST", "/v1/runs", {"project": "shop", "prompt": "work", "settings": settings}).data["id"]
    ended = wait_until(lambda: (now := admin.must("GET", f"/v1/runs/{run}").data)["state"] in OVER and now, "the run is over")
    said = [event["text"] for event in admin.must("GET", f"/v1/runs/{run}/events?limit=1000").data]
    assert ended["state"] == "succeeded" and "pushed" in said, (ended, said)
    return run


def work_is_there(server, run):
    admin = server.admin()

    def reviewed():
        found = {one["kind"]: one for one in admin.must("GET", f"/v1/artifacts?run={run}").data}
        branch = admin.must("GET", f"/v1/reviews?run={run}&kind=branch").data
        return found if branch and branch[0]["diff_state"] == "ready" else None

    artifacts = wait_until(reviewed, "the branch can be reviewed")
    assert sorted(artifacts) == ["branch", "file"], artifacts
    assert admin.must("GET", f"/v1/artifacts/{artifacts['file']['id']}/content").text == "a note"
    patch = admin.must("GET", f"/v1/reviews/{artifacts['branch']['id']}/patch").text
    assert "+more" in patch and "README.md" in patch, patch
    assert admin.must("GET", f"/v1/runs/{run}").data["state"] == "succeeded"
    assert admin.must("GET", "/v1/audit/verify").data["ok"]


def test_all_that_an_ordinary_user_makes_is_still_there_after_a_restart_and_in_a_backup(binary, stack):
    hone = installed(stack, binary)
    folder = empty_folder(stack, "with spaces and ü")
    give_to_user(folder)
    give_to_user(folder.parent)
    user = {"command": as_user(), "environment": {"HOME": str(folder.parent)}}
    # The run is traced into this project, too.
    first = "/v1/projects/shop/span_rows?filter=name%20%3D%20%22span%201%22"
    with Typed(hone, folder, ["serve", *PORTS], **user) as server:
        key = key_of(server)
        send(server, key, 1)
        rows(server.client(key), first, 1)
        run_id = worked(server, add_repository(server))
        work_is_there(server, run_id)
        assert server.stop() == 0, server.output()
        server.start()
        rows(server.client(key), first, 1)
        work_is_there(server, run_id)
        access = {"HONE_URL": server.url, "HONE_API_KEY": key_of(server, scopes=["all"])}
        made = run(hone, "backup", "backup.tar.zst", cwd=folder, environment=access)
        assert made.returncode == 0, made
        assert server.stop() == 0, server.output()
    os.chmod(folder / "backup.tar.zst", 0o644)
    restore = [*as_user(), str(hone), "restore", "backup.tar.zst", "--data-dir", "again"]
    restored = subprocess.run(restore, capture_output=True, text=True, cwd=folder, timeout=120)
    assert restored.returncode == 0, restored
    shutil.copy2(folder / "hone-data/master.key", folder / "again/master.key")
    give_to_user(folder / "again/master.key")
    shutil.rmtree(folder / "hone-data")
    with Typed(hone, folder, ["serve", "--data-dir", "again", *PORTS], "again", **user) as server:
        rows(server.client(key), first, 1)
        work_is_there(server, run_id)
        assert sorted(path.name for path in folder.iterdir()) == ["again", "backup.tar.zst"]


def test_an_ordinary_user_whose_home_is_a_read_only_mount_stores_spans(binary, stack):
    hone = installed(stack, binary)
    home, folder = empty_folder(stack, "home"), empty_folder(stack)
    give_to_user(home)
    give_to_user(folder)
    command, environment = [*read_only(home), *as_user()], {"HOME": str(home)}
    written = subprocess.run([*command, "touch", str(home / "x")], capture_output=True, text=True)
    assert written.returncode == 1 and "Read-only file system" in written.stderr, written
    stored_and_still_there(Typed(hone, folder, ["serve", *PORTS], command=command, environment=environment))
    # Its own command line needs nothing there either; a key that it should keep there it cannot keep, and says so.
    inside = run_as(command, hone, home, "sandbox", "run", "--data-dir", str(folder / "kept"), "--", "/bin/echo", "inside")
    assert (inside.returncode, inside.stdout) == (0, "inside\n"), inside
    for words in (["serve", *PORTS], ["sandbox", "run", "--", "/bin/true"]):
        refused = run_as(command, hone, home, *words, folder=home)
        assert refused.returncode in (1, 125) and "Read-only file system" in refused.stderr, refused
    assert list(home.iterdir()) == []


def run_as(command, hone, home, *words, folder="/"):
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run([*command, str(hone), *words], capture_output=True, text=True, cwd=folder, env=environment, timeout=120)


def test_any_umask_leaves_the_data_directory_private(binary, stack):
    for umask in (0, 0o077):  # the usual one is everywhere else
        stored_and_still_there(Typed(binary, empty_folder(stack), ["serve", *PORTS], umask=umask))


def test_any_locale_stores_the_same(binary, stack):
    made = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-locale-"))
    for name in ("de_DE", "tr_TR"):
        compiled = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", f"{made}/{name}.UTF-8"], capture_output=True)
        needs(f"the source of the locale {name} (Debian: locales)", compiled.returncode == 0)
    # A comma in numbers and an i without its dot.
    foreign = {"LOCPATH": made, "LANG": "tr_TR.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"}
    for variables in (foreign, {"LC_ALL": "xx_XX.nonsense", "LANG": "POSIX"}):
        stored_and_still_there(Typed(binary, empty_folder(stack), ["serve", *PORTS], environment=variables))


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_ipv6_takes_spans_at_every_door(binary, stack):
    needs("IPv6", has_ipv6())
    ports = [word.replace("127.0.0.1", "[::1]") for word in PORTS]
    folder = empty_folder(stack)
    server = Typed(binary, folder, ["serve", *ports])
    with server:
        for url in (server.url, server.otlp_url, server.otlp_grpc_url):
            assert url.startswith("http://[::1]:"), url
        key = key_of(server)
        send(server, key, 1)
        seen(server, key, 1)
        exported = {"OTEL_EXPORTER_OTLP_ENDPOINT": server.otlp_grpc_url, "OTEL_SERVICE_NAME": "by-grpc",
                    "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer%20{key}"}
        subprocess.run(["node", str(TESTS / "send_traces.mjs"), "grpc", "1"], env=os.environ | exported, check=True, timeout=120)
        rows(server.client(key), "/v1/projects/by-grpc/span_rows", 2)
        checked = run(binary, "check", cwd=folder)
        assert checked.returncode == 0 and "is ready and stores spans" in checked.stdout, checked
    stored_and_still_there(Typed(binary, empty_folder(stack), ["serve", *ports]))


def test_the_folder_it_was_started_in_may_go_away(binary, stack):
    hone = installed(stack, binary)
    for leave in (lambda folder: folder.rmdir(), lambda folder: folder.chmod(0)):
        folder = empty_folder(stack)
        give_to_user(folder)
        give_to_user(folder.parent)
        server = Typed(hone, folder, ["serve", "--data-dir", "../data", *PORTS], "../data", command=as_user())
        with server:
            leave(folder)  # before the engine starts with the first span
            key = key_of(server)
            send(server, key, 1)
            seen(server, key, 1)
            assert server.stop() == 0
        with Typed(hone, "/", ["serve", "--data-dir", str(server.data_dir), *PORTS], str(server.data_dir), command=as_user()) as again:
            seen(again, key, 1)
    # There is nothing to be relative to; an absolute folder will do.
    gone = empty_folder(stack)
    from_nowhere = ["sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "$@"', "sh"]
    refused = subprocess.run([*from_nowhere, str(binary), "serve", *PORTS], capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1 and "working directory" in refused.stderr, refused
    gone.mkdir()
    data = str(gone.parent / "data")
    stored = Typed(binary, "/", ["serve", "--data-dir", data, *PORTS], data, command=from_nowhere)
    with stored:
        key = key_of(stored)
        send(stored, key, 1)
        seen(stored, key, 1)


def test_hone_demo_keeps_its_data_in_the_folder_it_was_started_in(binary, stack):
    folder = empty_folder(stack, "with spaces and ü")
    server = Typed(binary, folder, ["demo", *PORTS], "hone-demo")

    def project_with_spans():
        for project in server.admin().must("GET", "/v1/projects").data:
            found = server.admin().get(f"/v1/projects/{project['id']}/span_rows?limit=10")
            if found.status == 200 and found.data:
                return project["id"]
        return None

    with server:
        project = wait_until(project_with_spans, "the demo's traces are seen")
        assert sorted(path.name for path in folder.iterdir()) == ["hone-demo"]
        # Its repository is in the data directory.
        fix = wait_until(lambda: re.search(r"A worker proposes a fix|No fix is proposed.*", server.output()), "it proposes a fix", 300)
        assert fix.group().startswith("A worker"), fix.group()
        server.kill()  # its workers are not waited for
        server.end_sandboxes()
    with Typed(binary, folder, ["serve", "--data-dir", "hone-demo", *PORTS], "hone-demo") as server:
        rows(server.admin(), f"/v1/projects/{project}/span_rows?limit=10", 10)


def test_sandboxes_work_in_a_relative_data_directory(binary, stack):
    folder = empty_folder(stack, "with spaces, commas:and 'quotes'")
    ran = run(binary, "sandbox", "run", "--data-dir", "kept", "--", "/bin/echo", "inside", cwd=folder)
    assert (ran.returncode, ran.stdout) == (0, "inside\n"), ran
    assert (folder / "kept/sandbox").is_dir()
    assert run(binary, "image", "list", "--data-dir", "./kept", cwd=folder).returncode == 0


def metrics_of(server):
    lines = [line.split() for line in server.client().get("/metrics").text.splitlines() if not line.startswith("#")]
    return {words[0]: float(words[1]) for words in lines if len(words) == 2}


def kinds_told(admin):
    return [notice["kind"] for notice in reversed(admin.must("GET", "/v1/notices").data) if notice["kind"].startswith("spans_")]


def reported_and_recovered(binary, stack, server, reason, repair):
    """Everything that should say why spans are not stored does, and says when they are."""
    with server:
        admin, key = server.admin(), key_of(server)
        guest = server.client()
        assert guest.get("/readyz").text == "ready\n"
        for number in (1, 2, 3):
            send(server, key, number)
        answer = wait_until(lambda: (asked := guest.get("/readyz")).status == 503 and asked, "readiness says it")
        assert re.match(r"3 spans have waited \d+ s to be stored: .*" + reason, answer.text), answer.text
        assert "span_log_limit" in answer.text
        # It lives, it takes more, and a balancer in front of the senders may keep it.
        assert guest.get("/healthz").status == 200
        assert guest.get("/readyz?exclude=spans").text == "ready\n"
        send(server, key, 4)
        measured = metrics_of(server)
        assert measured["hone_spans_pending"] == 4 and measured["hone_spans_pending_bytes"] > 100, measured
        assert measured["hone_spans_pending_oldest_seconds"] >= 1 and measured["hone_span_load_failures_total"] >= 1, measured
        backlog = server.client(key).must("GET", "/v1/span_backlog").data
        assert backlog["is_late"] and backlog["spans"] == 4 and re.search(reason, backlog["problem"]) and backlog["advice"], backlog
        assert guest.get("/v1/span_backlog").status == 401
        checked = run(binary, "check", "--json", "--data-dir", server.data_dir)
        line = next(line for line in json.loads(checked.stdout) if line["name"] == "running server")
        assert checked.returncode == 1 and line["state"] == "missing", checked.stdout
        assert re.search(reason, line["detail"]) and "span_log_limit" in line["advice"], line
        told = wait_until(lambda: kinds_told(admin), "the owner is told")
        assert told == ["spans_late"], told
        notice = next(each for each in admin.must("GET", "/v1/notices").data if each["kind"] == "spans_late")
        assert "cannot be stored" in notice["title"] and re.search(reason, notice["body"]), notice

        repair()
        rows(server.client(key), "/v1/projects/shop/span_rows", 4)
        wait_until(lambda: guest.get("/readyz").text == "ready\n", "it is ready again")
        wait_until(lambda: kinds_told(admin) == ["spans_late", "spans_caught_up"], "the owner hears that it is over")
        measured = metrics_of(server)
        assert measured["hone_spans_pending"] == measured["hone_spans_pending_bytes"] == 0, measured
        assert not server.client(key).must("GET", "/v1/span_backlog").data["is_late"]
        checked = run(binary, "check", "--data-dir", server.data_dir)
        assert checked.returncode == 0 and "is ready and stores spans" in checked.stdout, checked.stdout


def test_a_missing_engine_is_reported_and_spans_are_stored_once_it_is_there(binary, stack):
    folder = empty_folder(stack)
    library = installed(stack, binary).parent / "libchdb.so"
    words = ["serve", "--engine-library", "later/libchdb.so", "--span-wait-limit", "1s", *PORTS]

    def repair():
        (folder / "later").mkdir()
        (folder / "later/libchdb.so").symlink_to(library)

    reported_and_recovered(binary, stack, Typed(binary, folder, words), r"the span engine does not start: .*libchdb\.so", repair)


def test_a_folder_that_the_engine_may_not_write_is_reported(binary, stack):
    folder = empty_folder(stack)
    give_to_user(folder)
    server = Typed(installed(stack, binary), folder, ["serve", "--span-wait-limit", "1s", *PORTS], command=as_user())
    server.start()
    closed = folder / "hone-data/telemetry"
    closed.chmod(0o500)  # the log below it is open; the engine's folder cannot be made
    reported_and_recovered(binary, stack, server, r"telemetry/engine.*: Permission denied", lambda: closed.chmod(0o700))
