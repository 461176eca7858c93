"""Files of runs: uploads, the workspace to browse and download, and hostile names and links in it."""

import io
import json
import select
import socket
import tarfile

from edge import address, status_of, talk
from runs import Shop, shell
from server import Client, wait_until


def upload(client, path, content, status=200):
    answer = client.call("POST", f"/v1/uploads?path={path}", content, {"Content-Type": "application/octet-stream"})
    assert answer.status == status, answer.text
    return answer.data["id"] if status == 200 else answer.message


def names(client, run, path=""):
    """Without the worker's home, which is a hidden folder."""
    found = [entry["name"] for entry in client.must("GET", f"/v1/runs/{run}/files?path={path}").data]
    return [name for name in found if not name.startswith(".")]


def content(client, run, path, more=""):
    return client.call("GET", f"/v1/runs/{run}/files/content?path={path}{more}")


def test_files_are_in_the_workspace_before_the_first_turn_and_of_a_rerun_too(binary, stack):
    shop = Shop(binary, stack)
    files = [upload(shop.client, "data/in.csv", b"a,b\n1,2\n"), upload(shop.client, "note.txt", "h\u00e4llo".encode())]
    body = {"project": "shop", "prompt": "look", "files": files,
            "settings": {"harness": "command", "command": list(shell("cat; echo; cat data/in.csv note.txt; stat -c %u note.txt"))}}
    run = shop.client.must("POST", "/v1/runs", body).data["id"]
    assert shop.until(run)["state"] == "succeeded", shop.texts(run)
    messages = shop.texts(run, "message")
    assert "- data/in.csv (8 bytes)" in messages and "1,2" in messages and "h\u00e4llo1000" in messages, messages
    again = shop.client.must("POST", f"/v1/runs/{run}/rerun", {}).data["id"]
    assert shop.until(again)["state"] == "succeeded", shop.texts(again)
    assert "1,2" in shop.texts(again, "message"), shop.texts(again)
    answer = shop.client.call("POST", f"/v1/runs/{run}/files", {"uploads": [files[0]]})
    assert answer.status == 404, answer.text  # each is given once


def test_files_are_given_to_a_waiting_session_and_to_one_that_has_ended(binary, stack):
    shop = Shop(binary, stack)
    run = shop.start(*shell("read line; ls | sort; cat late.txt 2>/dev/null || true"), prompt="one")["id"]
    shop.until(run)
    given = shop.client.must("POST", f"/v1/runs/{run}/files", {"uploads": [upload(shop.client, "late.txt", b"late")]}).data
    assert given["id"] == run
    shop.client.must("POST", f"/v1/runs/{run}/messages", {"text": "two"})
    wait_until(lambda: "late" in shop.texts(run, "message"), "the second turn has the file")
    live = shop.start(*shell("echo ready; while [ ! -e now.txt ]; do sleep 0.05; done; cat now.txt"))["id"]
    wait_until(lambda: "ready" in shop.texts(live, "message"), "it runs")
    shop.client.must("POST", f"/v1/runs/{live}/files", {"uploads": [upload(shop.client, "now.txt", b"immediately")]})
    assert shop.until(live)["state"] == "succeeded"
    assert "immediately" in shop.texts(live, "message")


def test_the_tools_of_a_worker_wait_for_the_next_server(binary, stack):
    """A sandbox outlives its server: what calls a tool meanwhile waits instead of failing."""
    shop = Shop(binary, stack)
    script = "echo ready; while [ ! -e end.txt ]; do hone list_projects > list.json || { echo refused $?; exit 1; }; done; cat list.json"
    run = shop.start(*shell(script))["id"]
    wait_until(lambda: "ready" in shop.texts(run, "message"), "it calls tools")
    for _ in range(3):
        shop.again()
    shop.client.must("POST", f"/v1/runs/{run}/files", {"uploads": [upload(shop.client, "end.txt", b"x")]})
    assert shop.until(run)["state"] == "succeeded", shop.texts(run)
    assert any('"shop"' in text for text in shop.texts(run, "message")), shop.texts(run)


def test_paths_that_lead_outside_or_are_no_text_are_refused(binary, stack):
    shop = Shop(binary, stack)
    for path in ("../x", "/etc/passwd", "a/../b", "a//b", ".", "..", "a/./b", "", "a%00b", "a%0Ab", "a%5Cb", "%FF", "a/" * 40 + "b",
                 "x" * 300, "%7F"):
        message = upload(shop.client, path, b"x", 400)
        assert "path" in message or "address" in message, message
    for path in ("b%C3%BCcher/%E6%97%A5%E6%9C%AC.txt", "a%20b", "...", "-rf", "%F0%9F%92%A1"):
        upload(shop.client, path, b"x")
    run = shop.until(shop.start(*shell("true"))["id"])["id"]
    for path in ("../etc/passwd", "/etc/passwd", "a%00b"):
        assert content(shop.client, run, path).status == 400


def test_an_upload_over_the_limit_is_refused_and_leaves_nothing(binary, stack):
    shop = Shop(binary, stack)
    most = 256 << 20
    key = shop.client.must("POST", "/v1/keys", {"name": "sender"}).data["key"]
    head = f"POST /v1/uploads?path=large HTTP/1.1\r\nHost: hone\r\nAuthorization: Bearer {key}\r\nContent-Type: application/octet-stream\r\n"
    # Its length is stated: refused before a byte of it is sent.
    refused = talk(shop.server, f"{head}Content-Length: {most + 1}\r\n\r\n".encode())
    assert status_of(refused) == 413, refused
    # It is not stated: read until the limit.
    refused = talk_in_chunks(shop.server, f"{head}Transfer-Encoding: chunked\r\n\r\n".encode(), b"x" * (1 << 20), 400)
    assert status_of(refused) == 413, refused[-500:]
    assert not list((shop.server.data_dir / "uploads").glob("*")), "a part of the upload is left"
    upload(shop.client, "small", b"x")


def talk_in_chunks(server, head, piece, count):
    """Sends pieces until the server responds; returns the response."""
    with socket.create_connection(address(server), timeout=120) as connection:
        connection.sendall(head)
        for _ in range(count):
            if select.select([connection], [], [], 0)[0]:
                break
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        return connection.recv(65536)


def test_links_pipes_and_races_of_a_worker_lead_nowhere(binary, stack):
    shop = Shop(binary, stack)
    script = r"""
        ln -s /etc/passwd link; ln -s / root; ln -s .. up; mkfifo pipe; mkdir real folder; echo inside > real/file
        ln -s real linked; mkdir -m 000 closed; printf x > "$(printf 'bad\377name')"; printf y > "$(printf 'line\nbreak')"
        echo plain > plain.txt; echo ready
        # Swaps a folder and a link to the host's /etc as fast as it can.
        while [ ! -e stop ]; do mv folder aside; ln -s /etc folder; rm folder; mv aside folder; done
    """
    run = shop.start(*shell(script))["id"]
    wait_until(lambda: "ready" in shop.texts(run, "message"), "it runs")
    entries = {entry["name"]: entry for entry in shop.client.must("GET", f"/v1/runs/{run}/files").data}
    assert entries["link"]["kind"] == "link" and entries["pipe"]["kind"] == "other" and entries["real"]["kind"] == "folder"
    assert entries["bad\ufffdname"]["path"] == "" and entries["line?break"]["path"] == "", entries
    for path in ("link", "root/etc/passwd", "up/x", "linked/file", "pipe", "real", "closed/x"):
        answer = content(shop.client, run, path)
        assert answer.status in (404, 409), (path, answer.status, answer.text)  # either: the worker's user decides about `closed`
        assert "root:" not in answer.text
    assert content(shop.client, run, "plain.txt").text == "plain\n"
    for _ in range(200):
        answer = content(shop.client, run, "folder/passwd")
        assert answer.status in (404, 409) and "root:" not in answer.text, answer.text  # either: folder, link or nothing
        archive = shop.client.call("GET", f"/v1/runs/{run}/files/archive?path=real")
        assert archive.status == 200
    # A file is written with the rights of the worker: not outside of its own places.
    answer = shop.client.call("POST", f"/v1/runs/{run}/files", {"uploads": [upload(shop.client, "up/escaped", b"x")]})
    assert answer.status == 409 and "up/escaped" in answer.message, answer.text
    shop.client.must("POST", f"/v1/runs/{run}/files", {"uploads": [upload(shop.client, "link", b"replaced")]})
    assert content(shop.client, run, "link").text == "replaced"
    shop.client.must("POST", f"/v1/runs/{run}/files", {"uploads": [upload(shop.client, "stop", b"")]})
    shop.until(run)


def test_a_workspace_is_browsed_and_downloaded_after_the_end(binary, stack):
    shop = Shop(binary, stack)
    long = "deep/" + "x" * 120 + "/\u00e4.txt"
    script = f"mkdir -p sub '{long[:125]}'; echo one > sub/one.txt; ln -s /etc/passwd sub/link; echo two > '{long}'; printf '\\211PNG\\r\\n\\032\\nrest' > chart.png"
    run = shop.until(shop.start(*shell(script))["id"])["id"]
    assert names(shop.client, run) == ["deep", "sub", "chart.png"]
    image = content(shop.client, run, "chart.png")
    assert image.headers["content-type"] == "image/png" and image.headers["content-disposition"].startswith("inline")
    archive = shop.client.call("GET", f"/v1/runs/{run}/files/archive")
    with tarfile.open(fileobj=io.BytesIO(archive.bytes)) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
    assert files["sub/one.txt"] == b"one\n" and files[long] == b"two\n" and "sub/link" not in files, files.keys()
    # A follow-up starts while people look at the files.
    shop.client.must("POST", f"/v1/runs/{run}/messages", {"text": "again"})
    shop.until(run)
    stranger = shop.client.must("POST", "/v1/keys", {"name": "narrow", "scopes": ["run_read"]}).data["key"]
    assert Client(shop.server.url, stranger).call("GET", f"/v1/runs/{run}/files").status in (403, 404)  # either: no project_read


def test_a_page_of_a_worker_is_shown_without_scripts(binary, stack):
    shop = Shop(binary, stack)
    run = shop.until(shop.start(*shell("echo '<script>alert(1)</script><b>hi</b>' > page.html"))["id"])["id"]
    plain = content(shop.client, run, "page.html")
    assert plain.headers["content-type"].startswith("text/plain") and plain.headers["x-content-type-options"] == "nosniff"
    page = content(shop.client, run, "page.html", "&preview=page")
    policy = page.headers["content-security-policy"]
    assert page.headers["content-type"].startswith("text/html")
    assert "sandbox;" in policy and "default-src 'none'" in policy and "script-src" not in policy and "frame-ancestors 'self'" in policy


def test_records_are_renamed_filtered_exported_and_rerun_as_they_were(binary, stack):
    shop = Shop(binary, stack)
    first = shop.until(shop.start(*shell("cat"), prompt="=one")["id"])["id"]
    shop.client.must("PATCH", f"/v1/runs/{first}", {"title": "=SUM(A1)"})
    shop.until(shop.start(*shell("true"), prompt="two")["id"])
    listed = lambda query: [run["id"] for run in shop.client.must("GET", f"/v1/runs?{query}").data]
    assert listed("title=sum") == [first] and listed("title=%25") == [] and listed("harness=codex") == []
    assert len(listed("harness=command&person=admin@localhost")) == 2 and listed("person=nobody") == []
    assert listed("cost_from=1") == [] and listed("before=2020-01-01T00:00:00Z") == []
    lines = shop.client.call("GET", "/v1/runs/export").text.splitlines()
    assert [json.loads(line)["title"] for line in lines] == ["two", "=SUM(A1)"], lines
    table = shop.client.call("GET", "/v1/runs/export?format=csv&title=sum").text.splitlines()
    assert table[0].startswith("id,title,") and "'=SUM(A1)" in table[1] and len(table) == 2, table
    window = {"project": "shop", "prompt": "three", "data_from": "2026-01-01T00:00:00Z", "data_to": "2026-02-01T00:00:00Z",
              "settings": {"harness": "command", "command": list(shell("cat"))}}
    third = shop.client.must("POST", "/v1/runs", window).data["id"]
    shop.until(third)
    assert any("2026-01-01" in text for text in shop.texts(third, "message")), shop.texts(third)
    again = shop.client.must("POST", f"/v1/runs/{third}/rerun", {}).data["id"]
    manifest = shop.client.must("GET", f"/v1/runs/{again}/manifest").data
    assert manifest["data_to"].startswith("2026-02-01") and manifest["pins"] is not None, manifest
    assert shop.until(again)["state"] == "succeeded"
    # A window without a beginning is stated again too; a program that was given none gets its input unchanged.
    only_to = shop.client.must("POST", "/v1/runs", {**window, "data_from": None}).data["id"]
    shop.until(only_to)
    for run, has_window in ((only_to, True), (first, False)):
        again = shop.client.must("POST", f"/v1/runs/{run}/rerun", {}).data["id"]
        shop.until(again)
        assert any("Use only data until" in text for text in shop.texts(again, "message")) == has_window, shop.texts(again)
    latest = shop.client.must("POST", f"/v1/runs/{third}/rerun", {"latest": True}).data["id"]
    manifest = shop.client.must("GET", f"/v1/runs/{latest}/manifest").data
    assert manifest["pins"] is None and manifest["data_from"] is None, manifest
