"""The HTTP edge under rude clients: floods, slow senders, thousands of idle connections, broken requests."""

import os
import resource
import select
import socket
import threading
import time

from server import Server, wait_until


def address(server):
    host, port = server.url.split("//")[1].rsplit(":", 1)
    return host, int(port)


def talk(server, sent, half_close=False):
    """Sends bytes, reads until the server closes or is silent after an answer."""
    with socket.create_connection(address(server), timeout=30) as connection:
        try:
            connection.sendall(sent)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = b""
        try:
            while piece := connection.recv(65536):
                answer += piece
        except ConnectionResetError:
            pass
        return answer


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


def test_ten_thousand_idle_connections_leave_room_for_others(binary, stack):
    wanted = 10_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard == resource.RLIM_INFINITY or hard > wanted + 200, f"the hard limit of open files is {hard}"
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    before = memory_kb(server)
    idle = []
    stack.callback(lambda: [connection.close() for connection in idle])
    for number in range(wanted):
        connection = socket.create_connection(address(server), timeout=30)
        idle.append(connection)
        if number % 10 == 0:  # some have begun to talk
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: hone\r\n")
    opened = wait_until(lambda: metric(server, "hone_connections_open") >= wanted, "all connections are accepted")
    assert opened
    for _ in range(20):
        assert server.client().get("/healthz").status == 200
    admin.must("POST", "/v1/projects", {"name": "made beside ten thousand"})
    grown = (memory_kb(server) - before) / wanted
    assert grown < 20, f"{grown:.1f} KB per idle connection"
    # Those that had begun are still served.
    idle[0].sendall(b"Connection: close\r\n\r\n")
    assert idle[0].recv(12) == b"HTTP/1.1 200"
    while idle:
        idle.pop().close()
    wait_until(lambda: metric(server, "hone_connections_open") < 10, "closed connections are let go")


def memory_kb(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def metric(server, name):
    for line in server.client().get("/metrics").text.splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(f"no metric {name}")


def test_slow_senders_are_cut_and_hold_nobody_up(binary, stack):
    server = stack.enter_context(Server(binary, None, "--request-timeout", "2s", "--control-threads", "2"))
    head = b"GET /v1/me HTTP/1.1\r\nHost: hone\r\n" + b"X-Slow: " + b"a" * 4000
    body = b"POST /v1/login HTTP/1.1\r\nHost: hone\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{"
    senders = [(socket.create_connection(address(server), timeout=30), text) for text in (head, body) for _ in range(50)]
    stack.callback(lambda: [connection.close() for connection, _ in senders])
    for connection, text in senders:
        connection.sendall(text[: 20 if text is head else len(text)])
    open_ones = {connection: text for connection, text in senders}
    deadline = time.monotonic() + 30
    at = 20
    while open_ones and time.monotonic() < deadline:
        # Others are served at once, all the while.
        assert server.client().get("/healthz").status == 200
        assert server.client().get("/v1/me").status == 401
        readable, _, _ = select.select(list(open_ones), [], [], 0.1)
        for connection in readable:
            try:
                answer = connection.recv(65536)
            except ConnectionResetError:
                answer = b""
            assert answer == b"" or status_of(answer) == 408, answer
            del open_ones[connection]
        at += 1
        for connection, text in open_ones.items():  # one byte at a time
            try:
                connection.sendall(b"a" if text is body else text[at : at + 1])
            except (BrokenPipeError, ConnectionResetError):
                pass
    assert not open_ones, f"{len(open_ones)} slow senders were never cut"


def test_floods_of_header_and_body_are_refused_with_their_own_status(binary, stack):
    server = stack.enter_context(Server(binary, None, "--body-limit", "64KiB"))
    start = b"GET /healthz HTTP/1.1\r\nHost: hone\r\nConnection: close\r\n"
    assert status_of(talk(server, start + b"\r\n")) == 200
    assert status_of(talk(server, start + b"".join(b"X-%d: a\r\n" % n for n in range(200)) + b"\r\n")) == 431
    assert status_of(talk(server, start + b"X-Long: " + b"a" * 200_000 + b"\r\n\r\n")) == 431
    assert status_of(talk(server, start + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 5000) for n in range(50)) + b"\r\n")) == 431
    assert status_of(talk(server, b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: hone\r\n\r\n")) == 414
    large = b"POST /v1/login HTTP/1.1\r\nHost: hone\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    assert status_of(talk(server, large % 70_000 + b"a" * 70_000)) == 413
    refused = talk(server, large % (1 << 40))
    assert status_of(refused) == 413, refused
    chunked = large.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked")
    assert status_of(talk(server, chunked + b"8000\r\n" + b"a" * 0x8000 + b"\r\n" + b"ffff\r\n" + b"a" * 0xFFFF)) == 413
    # A header that never ends is cut off although its sender goes on.
    with socket.create_connection(address(server), timeout=30) as connection:
        deadline = time.monotonic() + 30
        try:
            connection.sendall(start)
            while time.monotonic() < deadline:
                connection.sendall(b"X-Flood: aaaaaaaaaaaaaaaa\r\n" * 1000)
        except (BrokenPipeError, ConnectionResetError):
            deadline = None
        assert deadline is None, "the flood was never cut"
    assert server.client().get("/healthz").status == 200


def test_broken_requests_are_answered_400_and_closed(binary, stack):
    server = stack.enter_context(Server(binary))
    for sent in (
        b"GET / HTTP/1.1\r\n\r\n",  # no Host
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX Y: 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n folded: 1\r\n\r\n",
        b"POST /v1/login HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/login HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na",
        b"POST /v1/login HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/login HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200 + b"\r\n\r\n",  # TLS on a plain port
        b"\x00" * 100 + b"\r\n\r\n",
    ):
        answer = talk(server, sent, half_close=True)
        assert status_of(answer) == 400, (sent[:80], answer[:200])
    assert status_of(talk(server, b"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", half_close=True)) == 505
    assert status_of(talk(server, b"GET / HTTP/3.0\r\nHost: a\r\n\r\n", half_close=True)) == 505
    assert server.client().get("/healthz").status == 200


def test_pipelined_requests_are_answered_in_order(binary, stack):
    server = stack.enter_context(Server(binary))
    requests = b"".join(
        b"GET %s HTTP/1.1\r\nHost: hone\r\nX-Request-Id: request-%d\r\n%s\r\n"
        % (path, number, b"Connection: close\r\n" if number == 29 else b"")
        for number, path in enumerate([b"/healthz", b"/v1/me", b"/nothing.js"] * 10)
    )
    answer = talk(server, requests)
    ids = [line.split(b": ")[1] for line in answer.split(b"\r\n") if line.lower().startswith(b"x-request-id: ")]
    assert ids == [b"request-%d" % number for number in range(30)], ids


def test_every_answer_has_a_request_id_and_security_headers(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.client()
    seen = set()
    for path in ("/", "/v1/me", "/v1/nothing", "/v1//x", "/healthz", "/readyz", "/metrics", "/openapi.json", "/a.js"):
        answer = client.get(path)
        assert answer.headers["x-request-id"].startswith("req_"), path
        seen.add(answer.headers["x-request-id"])
        assert answer.headers["x-content-type-options"] == "nosniff", path
        assert "default-src 'none'" in answer.headers["content-security-policy"], path
        assert answer.headers["x-frame-options"] == "DENY", path
    assert len(seen) == 9
    mine = client.call("GET", "/v1/me", headers={"X-Request-Id": "mine-1"})
    assert mine.headers["x-request-id"] == "mine-1"


def test_a_client_that_hangs_up_during_a_download_disturbs_nobody(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    for _ in range(20):
        with socket.create_connection(address(server), timeout=30) as connection:
            connection.sendall(
                f"GET /v1/backup HTTP/1.1\r\nHost: hone\r\nCookie: hone_session={admin.cookie}\r\n\r\n".encode()
            )
            assert connection.recv(12) == b"HTTP/1.1 200"
    wait_until(lambda: not list(server.data_dir.glob("backup-*")), "the copies of cut downloads are removed")
    assert admin.must("GET", "/v1/backup").bytes[:4] == b"\x28\xb5\x2f\xfd"


def test_many_clients_at_once_all_get_their_answers(binary, stack):
    server = stack.enter_context(Server(binary))
    key = server.admin().must("POST", "/v1/keys", {"name": "k"}).data["key"]
    wrong = []

    def work(number):
        client = server.client(key)
        for step in range(15):
            name = f"p{number}-{step}"
            made = client.post("/v1/projects", {"name": name})
            read = client.get(f"/v1/projects/{name}")
            if made.status != 200 or read.status != 200 or read.data["name"] != name:
                wrong.append((made.status, read.status))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:5]
    assert len(server.client(key).get("/v1/projects?limit=1000").data) == 16 * 15


def test_a_download_without_chunks_is_reset_when_its_server_is_killed(binary, stack):
    """To HTTP/1.0 only the end of the connection ends a body: it must not look proper before all of it is sent."""
    server = stack.enter_context(Server(binary))
    key = server.admin().must("POST", "/v1/keys", {"name": "k"}).data["key"]
    attributes = [{"key": "openinference.project.name", "value": {"stringValue": "large"}}]
    for number in range(16):  # more than all socket buffers hold, and not to be compressed
        span = {
            "traceId": f"{number + 1:032x}",
            "spanId": f"{number + 1:016x}",
            "name": "large",
            "startTimeUnixNano": str(time.time_ns()),
            "endTimeUnixNano": str(time.time_ns()),
            "attributes": [{"key": "input.value", "value": {"stringValue": os.urandom(1 << 20).hex()}}],
        }
        body = {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": [span]}]}]}
        server.client(key).must("POST", "/v1/traces", body)
    with socket.socket() as download:
        download.settimeout(60)
        download.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        download.connect(address(server))
        download.sendall(f"GET /v1/backup HTTP/1.0\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
        received = download.recv(16)
        assert received.startswith(b"HTTP/1.1 200"), received
        server.kill()
        try:
            while piece := download.recv(65536):
                received += piece
            raise AssertionError(f"{len(received)} bytes of a broken backup looked like all of it")
        except ConnectionResetError:
            pass
