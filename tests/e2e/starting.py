"""Starting and stopping: one server per data directory, refusals that say what to do, addresses.json, draining."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile

from server import PASSWORD, Server, wait_until


def refused(server):
    """The server must end by itself; gives its exit code and what it said."""
    server.spawn()
    code = server.process.wait(60)
    return code, server.output()


def pretend_newer(path, kind):
    """Adds the mark of a migration that this build does not know."""
    database = sqlite3.connect(path)
    database.execute(
        "INSERT INTO schema_version (version, name, applied_ns, checksum, kind) "
        "SELECT version + 1, 'of the future', applied_ns, checksum, ? FROM schema_version ORDER BY version DESC LIMIT 1", (kind,))
    database.commit()
    database.close()


def test_a_second_server_on_one_data_directory_refuses(binary, stack):
    first = stack.enter_context(Server(binary))
    before = (first.data_dir / "addresses.json").read_text()
    code, said = refused(Server(binary, first.data_dir))
    assert code == 1, (code, said)
    assert "another hone serve" in said and str(first.process.pid) in said and str(first.data_dir) in said, said
    # The first goes on, and can still be found.
    assert (first.data_dir / "addresses.json").read_text() == before
    assert first.client().get("/readyz").status == 200
    first.admin().must("POST", "/v1/projects", {"name": "still writes"})
    # When the first is gone, the second may.
    assert first.stop() == 0
    with Server(binary, first.data_dir) as second:
        assert second.admin().get("/v1/projects/still%20writes").status == 200


def test_a_data_directory_of_a_newer_version_is_refused_with_advice_and_left_alone(binary, stack):
    server = stack.enter_context(Server(binary))
    server.stop()
    path = server.data_dir / "hone.db"
    pretend_newer(path, "expand")  # it only added: this version works with it
    server.start()
    server.admin().must("POST", "/v1/projects", {"name": "after"})
    server.stop()
    for kind in ("contract", None):  # none: written by a version that did not store it
        pretend_newer(path, kind)
        before = path.read_bytes()
        code, said = refused(Server(binary, server.data_dir))
        assert code == 1, (code, said)
        assert "newer" in said and "upgrade hone" in said, said
        assert path.read_bytes() == before
        assert not (server.data_dir / "addresses.json").exists()
        database = sqlite3.connect(path)
        database.execute("DELETE FROM schema_version WHERE version = (SELECT MAX(version) FROM schema_version)")
        database.commit()
        database.close()


def test_a_file_that_is_no_database_is_refused_and_left_alone(binary, stack):
    server = stack.enter_context(Server(binary))
    server.stop()
    path = server.data_dir / "hone.db"
    for leftover in ("hone.db-wal", "hone.db-shm"):
        (server.data_dir / leftover).unlink(missing_ok=True)
    path.write_bytes(b"this is no database, whatever its name says. " * 200)
    before = path.read_bytes()
    code, said = refused(Server(binary, server.data_dir))
    assert code == 1 and "hone.db" in said, (code, said)
    assert path.read_bytes() == before


def test_a_master_key_that_others_can_read_is_refused(binary, stack):
    server = stack.enter_context(Server(binary))
    assert (server.data_dir / "master.key").stat().st_mode & 0o777 == 0o600
    assert server.data_dir.stat().st_mode & 0o777 == 0o700
    server.stop()
    (server.data_dir / "master.key").chmod(0o644)
    code, said = refused(Server(binary, server.data_dir))
    assert code == 1 and "chmod 600" in said, (code, said)


def test_wrong_settings_are_refused_by_name(binary, stack):
    server = stack.enter_context(Server(binary))
    server.stop()
    for flags, wanted, name in (
        (["--no-such-flag", "1"], 2, "no-such-flag"),
        (["--listen", "nowhere"], 2, "nowhere"),
        (["--body-limit", "many"], 2, "body"),
        (["--tls-certificate-file", "/nonexistent/cert.pem", "--tls-key-file", "/nonexistent/key.pem"], 2, "nonexistent"),
        (["--database-url", "mysql://localhost/x"], 2, "database"),
    ):
        code, said = refused(Server(binary, server.data_dir, *flags))
        assert code == wanted and name in said, (flags, code, said)
    (server.data_dir / "hone.toml").write_text("no_such_setting = 1\n")
    code, said = refused(Server(binary, server.data_dir))
    assert code == 2 and "no_such_setting" in said, (code, said)


def test_a_taken_port_is_refused_by_its_address(binary, stack):
    taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    address = f"127.0.0.1:{taken.getsockname()[1]}"
    server = stack.enter_context(Server(binary, None, "--listen", address).spawn())
    assert server.process.wait(60) == 1
    assert address in server.output(), server.output()
    assert not (server.data_dir / "addresses.json").exists()


def test_addresses_json_is_there_only_while_the_server_can_be_asked(binary, stack):
    server = stack.enter_context(Server(binary))
    path = server.data_dir / "addresses.json"
    addresses = json.loads(path.read_text())
    assert addresses["pid"] == server.process.pid and addresses["http"] == server.url
    assert "http://" + addresses["listen"] == server.url, addresses
    assert "http://" + addresses["otlp_http_listen"] == addresses["otlp_http"], addresses
    assert "http://" + addresses["otlp_grpc_listen"] == addresses["otlp_grpc"], addresses
    assert server.client().get("/readyz").status == 200
    assert server.stop() == 0
    assert not path.exists()
    # One that a killed server left is gone before the next one opens the database.
    server.start()
    server.kill()
    assert path.exists()
    pretend_newer(server.data_dir / "hone.db", "contract")
    code, said = refused(Server(binary, server.data_dir))
    assert code == 1 and "newer" in said, said
    assert not path.exists()


def test_what_a_killed_backup_left_is_cleaned_up(binary, stack):
    server = stack.enter_context(Server(binary))
    server.stop()
    for name in ("backup-01.tmp", "backup-02.tmp.new"):
        (server.data_dir / name).write_bytes(b"half")
    mine = server.data_dir / "backup-of-mine.tar.zst"
    mine.write_bytes(b"kept")
    server.start()
    assert sorted(path.name for path in server.data_dir.glob("backup-*")) == [mine.name]


def test_sigterm_lets_a_running_request_finish(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    idle = socket.create_connection(server_address(server), timeout=60)
    slow = socket.create_connection(server_address(server), timeout=60)
    body = b'{"name":"finished while draining"}'
    head = (
        f"POST /v1/projects HTTP/1.1\r\nHost: hone\r\nContent-Type: application/json\r\n"
        f"Cookie: hone_session={admin.cookie}\r\nX-CSRF-Token: {admin.csrf}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    slow.sendall(head.encode() + body[:10])
    # A request on the same edge that is answered afterwards: the slow one has arrived.
    assert server.client().get("/healthz").status == 200
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: not (server.data_dir / "addresses.json").exists(), "draining begins")
    assert idle.recv(1) == b""  # idle connections end
    wait_until(lambda: refuses(server), "new connections are refused")
    assert server.process.poll() is None
    slow.sendall(body[10:])
    answer = b""
    while piece := slow.recv(65536):
        answer += piece
    assert answer.startswith(b"HTTP/1.1 200"), answer
    assert server.process.wait(60) == 0, server.output()
    with Server(binary, server.data_dir) as again:
        assert again.admin().get("/v1/projects/finished%20while%20draining").status == 200


def test_a_request_that_never_ends_is_cut_when_the_drain_time_is_over(binary, stack):
    server = stack.enter_context(Server(binary, None, "--drain-timeout", "1s"))
    slow = socket.create_connection(server_address(server), timeout=60)
    slow.sendall(b"POST /v1/login HTTP/1.1\r\nHost: hone\r\nContent-Length: 100\r\n\r\n{")
    assert server.client().get("/healthz").status == 200
    assert server.stop() == 0, server.output()
    assert "interrupted at the end of drain_timeout" in server.output()


def test_a_second_sigterm_ends_at_once(binary, stack):
    server = stack.enter_context(Server(binary, None, "--drain-timeout", "10m"))
    slow = socket.create_connection(server_address(server), timeout=60)
    slow.sendall(b"POST /v1/login HTTP/1.1\r\nHost: hone\r\nContent-Length: 100\r\n\r\n{")
    assert server.client().get("/healthz").status == 200
    server.process.send_signal(signal.SIGTERM)
    wait_until(lambda: not (server.data_dir / "addresses.json").exists(), "draining begins")
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) == -signal.SIGTERM


def test_the_generated_password_is_printed_once_and_works(binary, stack):
    server = stack.enter_context(Server(binary, environment={"HONE_ADMIN_PASSWORD": None}))
    said = wait_until(lambda: "Password" in server.output() and server.output(), "the greeting is printed")
    password = next(line.split()[-1] for line in said.splitlines() if "Password" in line)
    me = server.client().login(password=password).get("/v1/me").data
    assert me["must_change_password"] is True
    for path in (path for path in server.data_dir.iterdir() if path.is_file()):  # only its hash is on disk
        assert password.encode() not in path.read_bytes(), path
    assert server.stop() == 0
    with Server(binary, server.data_dir) as again:
        wait_until(lambda: "is ready" in again.output(), "the greeting is printed")
        assert "Password" not in again.output() and PASSWORD not in again.output()


def test_the_operators_own_password_is_taken_whatever_its_length(binary, stack):
    server = stack.enter_context(Server(binary, environment={"HONE_ADMIN_PASSWORD": "short"}))
    assert server.client().login(password="short").get("/v1/me").data["must_change_password"] is False
    wait_until(lambda: "It is short" in server.output(), "the greeting speaks of it")


def server_address(server):
    host, port = server.url.split("//")[1].rsplit(":", 1)
    return host, int(port)


def refuses(server):
    try:
        socket.create_connection(server_address(server), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_version_needs_no_other_program_and_a_missing_one_is_named(binary, stack):
    """`hone` continues in the programs beside it; alone it names the missing one."""
    shown = subprocess.run([str(binary), "--version"], capture_output=True, text=True)
    assert shown.returncode == 0 and shown.stdout.startswith("hone ") and shown.stdout.count("\n") == 1, shown
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy2(binary, folder)
        assert subprocess.run([alone, "--version"], capture_output=True, text=True).stdout == shown.stdout
        for words, missing in ((["project", "list"], "hone-client"), (["serve"], "hone-server"), ([], "hone-client")):
            said = subprocess.run([alone, *words], capture_output=True, text=True)
            assert said.returncode == 1 and f"{missing} in {folder}" in said.stderr, said
    for words in (["help"], []):
        said = subprocess.run([str(binary), *words], capture_output=True, text=True)
        assert said.returncode == 0 and " serve " in said.stdout and " sandbox " in said.stdout and "spawner" not in said.stdout, said


def test_systemd_is_notified_when_the_server_is_ready_and_when_it_stops(binary, stack):
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    for address, name in ((f"{folder}/notify", f"{folder}/notify"), (f"\0hone-test-{os.getpid()}", f"@hone-test-{os.getpid()}")):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(address)
            manager.settimeout(60)
            server = stack.enter_context(Server(binary, environment={"NOTIFY_SOCKET": name}))
            assert manager.recv(100) == b"READY=1"
            assert server.client().get("/readyz").status == 200
            assert server.stop() == 0
            assert manager.recv(100) == b"STOPPING=1"
