"""Disks that are full or read-only: clear errors, no crash, nothing lost. Needs mounts of its own (root, or user
namespaces); the server runs in a private mount namespace, so nothing outlives it."""

import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile

from server import Server


def on_small_disk(binary, stack, megabytes):
    """A server whose data directory is a tmpfs of this size, mounted for it alone."""
    mount = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-disk-"))
    script = f'mount -t tmpfs -o size={megabytes}m tmpfs "{mount}" && exec "$@"'
    namespace = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    return Server(binary, f"{mount}/data", command=[*namespace, "sh", "-c", script, "sh"])


def inside(server, *command):
    enter = ["nsenter", "--target", str(server.process.pid), "--mount"]
    if os.geteuid() != 0:
        enter += ["--user", "--preserve-credentials"]
    return subprocess.run([*enter, *map(str, command)], check=True, capture_output=True)


def resize(server, mount, size):
    # Named by both its source and its place: otherwise its old options are given again, which a user may not give.
    return inside(server, "mount", "-o", f"remount,size={size}", "tmpfs", mount)


def descendants(pid):
    children = [int(each) for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children") for each in task.read_text().split()]
    return [pid, *(each for child in children for each in descendants(child))]


def shrink_to_what_is_used(server, mount):
    """The server and its engine stand still meanwhile: else they would write between the two commands."""
    stopped = descendants(server.process.pid)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        used = int(inside(server, "df", "--output=used", "-k", mount).stdout.split()[-1])
        resize(server, mount, f"{used}k")
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def whole(server, admin):
    """The audit chain and the database are intact."""
    verified = admin.must("GET", "/v1/audit/verify").data
    assert verified["ok"], verified


def test_a_full_disk_refuses_writes_clearly_and_loses_nothing(binary, stack):
    server = stack.enter_context(on_small_disk(binary, stack, 8))
    admin = server.admin()
    key = server.client(admin.must("POST", "/v1/keys", {"name": "k"}).data["key"])
    made = [key.must("POST", "/v1/projects", {"name": f"before {n}"}).data["id"] for n in range(5)]
    filler = pathlib.Path(server.path_of_data()).parent / "filler"
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    refusals = []
    for number in range(300):
        answer = key.post("/v1/projects", {"name": f"full {number}", "description": "x" * 1900})
        if answer.status == 200:
            made.append(answer.data["id"])
        else:
            refusals.append(answer)
            if len(refusals) == 5:
                break
    assert len(refusals) == 5, "the disk never got full"
    for refusal in refusals:
        assert refusal.status == 503 and refusal.json["error"]["code"] == "unavailable", refusal.text
        assert "is full: free some space" in refusal.message, refusal.message
        assert "retry-after" in refusal.headers
    # Reading goes on, and the server says that it lives.
    for project in made:
        key.must("GET", f"/v1/projects/{project}")
    assert server.client().get("/healthz").status == 200
    backup = admin.get("/v1/backup")
    assert backup.status == 503, backup.status
    assert not list(pathlib.Path(server.path_of_data()).glob("backup-*"))
    # Room again: writing goes on without a restart.
    filler.unlink()
    made.append(key.must("POST", "/v1/projects", {"name": "after"}).data["id"])
    whole(server, server.admin())
    # What is on the disk opens and holds all of it.
    content = {name: (pathlib.Path(server.path_of_data()) / name).read_bytes() for name in ("hone.db", "hone.db-wal")}
    check_copy(stack, content, made)


def check_copy(stack, content, made):
    copy = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-copy-")))
    for name, data in content.items():
        (copy / name).write_bytes(data)
    database = sqlite3.connect(copy / "hone.db")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    there = {row[0] for row in database.execute("SELECT id FROM projects")}
    database.close()
    assert set(made) <= there


def test_a_disk_that_shrinks_under_the_server_refuses_writes_and_recovers(binary, stack):
    server = stack.enter_context(on_small_disk(binary, stack, 16))
    admin = server.admin()
    key = server.client(admin.must("POST", "/v1/keys", {"name": "k"}).data["key"])
    project = key.must("POST", "/v1/projects", {"name": "before"}).data["id"]
    mount = server.data_dir.parent
    shrink_to_what_is_used(server, mount)
    refusals = 0
    for number in range(400):
        answer = key.post("/v1/projects", {"name": f"refused {number}", "description": "x" * 1900})
        if answer.status != 200:
            assert answer.status == 503, answer.text
            refusals += 1
            if refusals == 3:
                break
    assert refusals == 3
    key.must("GET", f"/v1/projects/{project}")
    resize(server, mount, "16m")
    key.must("POST", "/v1/projects", {"name": "after"})
    whole(server, server.admin())


def test_a_read_only_data_directory_is_refused_at_start(binary, stack):
    server = stack.enter_context(Server(binary))
    server.admin().must("POST", "/v1/projects", {"name": "kept"})
    server.stop()
    before = (server.data_dir / "hone.db").read_bytes()
    script = f'mount --bind "{server.data_dir}" "{server.data_dir}" && mount -o remount,bind,ro "{server.data_dir}" && exec "$@"'
    namespace = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    refused = stack.enter_context(
        Server(binary, server.data_dir, command=[*namespace, "sh", "-c", script, "sh"]).spawn()
    )
    assert refused.process.wait(60) == 1, refused.output()
    said = refused.output()
    assert "ead-only" in said and str(server.data_dir) in said, said
    checked = subprocess.run(
        [*namespace, "sh", "-c", script, "sh", refused.binary, "check", "--data-dir", str(server.data_dir)],
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert checked.returncode == 1 and "not writable" in checked.stdout, checked
    assert (server.data_dir / "hone.db").read_bytes() == before
    with Server(binary, server.data_dir) as again:
        assert again.admin().get("/v1/projects/kept").status == 200


def test_a_disk_too_small_to_start_on_says_so(binary, stack):
    mount = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-disk-"))
    script = f'mount -t tmpfs -o size=32k tmpfs "{mount}" && exec "$@"'
    namespace = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    server = stack.enter_context(
        Server(binary, f"{mount}/data", command=[*namespace, "sh", "-c", script, "sh"]).spawn()
    )
    assert server.process.wait(60) == 1, server.output()
    assert "free some space" in server.output(), server.output()
