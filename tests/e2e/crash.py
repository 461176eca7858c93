"""kill -9 again and again while clients write: what was acknowledged is there afterwards."""

import http.client
import json
import sqlite3
import subprocess
import threading

from server import Server, seeded, wait_until

ROUNDS = 30
CLIENTS = 4


class Writer(threading.Thread):
    """Creates projects and keys until the server dies; remembers what was acknowledged."""

    def __init__(self, server, key, name):
        super().__init__()
        self.client = server.client(key)
        self.name_prefix = name
        self.projects, self.keys, self.wrong = [], [], []

    def run(self):
        connection = self.client.connection()
        headers = {"Authorization": f"Bearer {self.client.key}", "Content-Type": "application/json"}
        number = 0
        try:
            while True:
                number += 1
                path = "/v1/keys" if number % 3 == 0 else "/v1/projects"
                connection.request("POST", path, json.dumps({"name": f"{self.name_prefix}-{number}"}), headers)
                response = connection.getresponse()
                body = response.read()
                if response.status != 200:
                    self.wrong.append((response.status, body[:200]))
                    return
                data = json.loads(body)["data"]
                (self.keys if "key" in data else self.projects).append(data["key"] if "key" in data else data["id"])
        except (OSError, http.client.HTTPException, ValueError):
            pass  # killed
        finally:
            connection.close()

    @property
    def acknowledged(self):
        return len(self.projects) + len(self.keys)


def test_nothing_acknowledged_is_lost_over_thirty_kills(binary, stack):
    luck = seeded()
    server = stack.enter_context(Server(binary, None, "--requests-per-minute", "0"))
    key = server.admin().must("POST", "/v1/keys", {"name": "writer"}).data["key"]
    projects, keys = [], []
    for round_number in range(ROUNDS):
        writers = [Writer(server, key, f"r{round_number}-{number}") for number in range(CLIENTS)]
        for writer in writers:
            writer.start()
        # Killed after a random number of acknowledged writes, so at a random place within the next.
        enough = luck.randint(1, 60)
        wait_until(lambda: sum(w.acknowledged for w in writers) >= enough or any(w.wrong for w in writers), "writes")
        server.kill()
        for writer in writers:
            writer.join()
            assert not writer.wrong, writer.wrong
            projects += writer.projects
            keys += writer.keys
        server.start()
        there = {row["id"] for row in everything(server.client(key), "/v1/projects")}
        lost = [project for project in projects if project not in there]
        assert not lost, f"round {round_number}: lost {lost[:3]}"
        if keys:
            assert server.client(keys[-1]).get("/v1/me").status == 200
    for each in luck.sample(keys, min(len(keys), 50)):
        assert server.client(each).get("/v1/me").status == 200
    admin = server.admin()
    verified = admin.must("GET", "/v1/audit/verify").data
    assert verified["ok"], verified
    # Every project has its audit entry, and no entry is without its project.
    created = {entry["target"] for entry in everything(admin, "/v1/audit?action=project_create")}
    assert created == {row["id"] for row in everything(admin, "/v1/projects")}
    assert len(projects) > ROUNDS and len(keys) > ROUNDS // 3
    assert server.stop() == 0
    database = sqlite3.connect(server.data_dir / "hone.db")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    database.close()


def everything(client, path):
    rows, cursor = [], ""
    while cursor is not None:
        page = client.must("GET", path + ("&" if "?" in path else "?") + "limit=1000" + cursor).json
        rows += page["data"]
        cursor = page["next_cursor"] and "&cursor=" + page["next_cursor"]
    return rows


def test_a_kill_during_the_first_start_leaves_a_directory_that_starts(binary, stack):
    luck = seeded()
    for attempt in range(8):
        server = Server(binary)
        with server.spawn():
            # Somewhere between nothing and ready: when a file of the first start appears.
            wanted = luck.choice(["master.key", "hone.db", "hone.db-wal", "addresses.json"])
            wait_until(lambda: (server.data_dir / wanted).exists() or server.process.poll() is not None, wanted)
            server.kill()
            server.start()
            # The first start either happened whole or not at all; the password is right in both cases.
            assert server.admin().must("GET", "/v1/audit/verify").data["ok"], attempt
            assert server.stop() == 0


def test_a_kill_during_a_restore_leaves_no_half_database(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    for number in range(200):
        admin.must("POST", "/v1/projects", {"name": f"p{number}", "description": "x" * 1000})
    file = server.data_dir / "backup.tar.zst"
    file.write_bytes(admin.must("GET", "/v1/backup").bytes)
    target = server.data_dir.parent / "target"
    for _ in range(5):
        restore = subprocess.Popen(
            [server.binary, "restore", str(file), "--data-dir", str(target)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        beside, done = target / "hone.db.restoring", target / "hone.db"
        wait_until(lambda: beside.exists() or done.exists() or restore.poll() is not None, "the restore begins")
        restore.kill()
        restore.wait()
        if done.exists():
            database = sqlite3.connect(done)
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            database.close()
            done.unlink()
