"""PostgreSQL as the database: the same server, the same answers, through restarts of both."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile

from disk import descendants
from server import Server, run, wait_until


class Postgres:
    """A PostgreSQL of our own on a unix socket in a temporary directory; it will not run as root."""

    def __init__(self, stack):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        assert found, "PostgreSQL is not installed (Debian package postgresql-15)"
        self.programs = found[-1].parent
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-pg-")))
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        options = ["--no-sync", "--auth=trust", "--username=hone", "--encoding=UTF8", "--locale=C"]
        self._spawn("initdb", *options, f"--pgdata={self.folder}/data").wait(60)
        self.start()
        stack.callback(self.stop)
        self.sql("postgres", "CREATE DATABASE hone")

    def _spawn(self, program, *arguments):
        drop = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}
        log = open(self.folder / "log", "ab")
        return subprocess.Popen([self.programs / program, *arguments], cwd="/", stdout=log, stderr=log, **drop)

    def start(self):
        self.process = self._spawn(
            "postgres", "-D", f"{self.folder}/data", "-k", str(self.folder), "-c", "listen_addresses=", "-c", "fsync=off"
        )
        ready = [self.programs / "pg_isready", "-q", "-h", str(self.folder), "-U", "hone", "-d", "postgres"]
        wait_until(lambda: subprocess.run(ready).returncode == 0, "PostgreSQL answers")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(60)

    def pids(self):
        return descendants(self.process.pid)

    def kill(self):
        """All of its processes, as when its machine fails. `start` begins with what is on the disk."""
        for pid in reversed(self.pids()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.data_on_disk().joinpath("postmaster.pid").unlink(missing_ok=True)  # its number may be another process by now

    def data_on_disk(self):
        return self.folder / "data"

    def sql(self, database, text):
        psql = shutil.which("psql") or self.programs / "psql"
        shown = subprocess.run(
            [psql, "-h", str(self.folder), "-U", "hone", "-d", database, "-Atc", text],
            check=True,
            capture_output=True,
            text=True,
            cwd="/",
        )
        return shown.stdout.strip()

    @property
    def url(self):
        return f"postgres:///hone?host={self.folder}&user=hone"


def test_everything_works_on_postgresql_and_comes_back_after_restarts(binary, stack):
    postgres = Postgres(stack)
    server = stack.enter_context(Server(binary, None, "--database-url", postgres.url))
    admin = server.admin()
    me = admin.must("GET", "/v1/me").data
    assert me["user"]["email"] == "admin@localhost"
    info = admin.must("GET", "/v1/server").data
    assert info["database"] == "postgres"
    shown = {setting["name"]: setting["value"] for setting in info["settings"]}
    assert str(postgres.folder) not in shown["database_url"], "the address of the database may hold a password"
    for number in range(20):
        admin.must("POST", "/v1/projects", {"name": f"p{number}"})
    admin.must("PATCH", "/v1/projects/p3", {"restricted": True})
    admin.must("DELETE", "/v1/projects/p4", status=204)
    key = admin.must("POST", "/v1/keys", {"name": "k", "kind": "service", "role": "viewer"}).data["key"]
    once = {"Idempotency-Key": "once"}
    first = admin.post("/v1/spaces", {"name": "second"}, once)
    assert first.status == 200 and admin.post("/v1/spaces", {"name": "second"}, once).json == first.json
    names = {project["name"] for project in server.client(key).get("/v1/projects?limit=1000").data}
    assert names == {f"p{number}" for number in range(20)} - {"p3", "p4"}, names
    assert admin.must("GET", "/v1/audit/verify").data["ok"]
    assert not (server.data_dir / "hone.db").exists()
    backup = admin.get("/v1/backup")
    assert backup.status == 400 and "pg_dump" in backup.message, backup.text

    # PostgreSQL goes away: unavailable, not broken; it comes back: so do we, without a restart.
    postgres.stop()
    answer = admin.get("/v1/projects")
    assert answer.status == 503 and "retry-after" in answer.headers, (answer.status, answer.text)
    assert server.client().get("/readyz").status == 503
    assert server.client().get("/healthz").status == 200
    postgres.start()
    wait_until(lambda: server.client().get("/readyz").status == 200, "the server is ready again")
    admin.must("POST", "/v1/projects", {"name": "after the restart"})

    assert server.stop() == 0
    with Server(binary, server.data_dir, "--database-url", postgres.url) as again:
        login = again.admin()
        assert login.must("GET", "/v1/projects/after%20the%20restart").status == 200
        assert login.must("GET", "/v1/audit/verify").data["ok"]
    assert int(postgres.sql("hone", "SELECT COUNT(*) FROM projects")) == 20


def test_check_sees_postgresql(binary, stack):
    postgres = Postgres(stack)
    outcome = run(binary, "check", "--database-url", postgres.url)
    assert outcome.returncode == 0 and "PostgreSQL responds" in outcome.stdout, outcome
    postgres.stop()
    outcome = run(binary, "check", "--database-url", postgres.url)
    assert outcome.returncode == 1 and "database" in outcome.stdout, outcome
