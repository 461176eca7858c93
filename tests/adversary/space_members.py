"""Boundary: spaces and their members. The attacker is the owner of another space of the same installation, or a member who
has just been removed."""

from attack import assert_unseen, canary, tree
from repos import Forge, git
from runs import Shop, shell
from server import Client, wait_until
from server import run as command


def owner_of_another_space(shop, name="other", email="mallory@example.com"):
    """A person who owns a space of their own and has no part in `default`."""
    space = shop.client.must("POST", "/v1/spaces", {"name": name}).data["id"]
    path = shop.client.must("POST", f"/v1/spaces/{name}/invites", {"email": email, "role": "owner"}).data["path"]
    client = shop.server.client()
    client.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": email, "password": "a long enough password"})
    client.login(email, "a long enough password")
    client.must("POST", f"/v1/projects?space={space}", {"name": "mine"})
    return client, space


def test_another_space_registers_or_clones_a_local_repository(binary, stack):
    """Gain: the source code of a repository that lies on the server for another space; or a push into it."""
    shop, forge, secret = Shop(binary, stack), Forge(stack), canary()
    victim = shop.client.must("GET", "/v1/spaces/default").data["id"]
    local = shop.server.data_dir / "repos" / victim / "shop.git"
    local.parent.mkdir(parents=True)
    (forge.work / "SECRET.txt").write_text(secret)
    git(forge.work, "add", "SECRET.txt")
    git(forge.work, "commit", "-qm", "secret")
    git(forge.root, "clone", "-q", "--bare", str(forge.work), str(local))
    run = shop.until(shop.start(*shell("cat shop/SECRET.txt"), repos=[{"url": f"file://{local}"}])["id"])
    assert secret in shop.texts(run["id"], "message"), "control: its own space clones it"
    mallory, other = owner_of_another_space(shop)
    theirs = shop.server.data_dir / "repos" / other
    before = tree(local)
    received = []
    for url in (f"file://{local}", f"file://{theirs}/../{victim}/shop.git", f"file://{local.parent}", f"file://{shop.server.data_dir}",
                f"file:///proc/self/root{local}", f"FILE://{local}", f"file://localhost{local}"):
        registered = mallory.post(f"/v1/repos?space={other}", {"url": url, "name": f"r{len(received)}"})
        assert registered.status == (403 if url.startswith("file://") else 400), (url, registered.text)
        body = {"project": "mine", "prompt": "x",
                "settings": {"harness": "command", "command": ["/bin/sh", "-c", "cat */SECRET.txt"], "repos": [{"url": url}]}}
        started = mallory.post(f"/v1/runs?space={other}", body)
        if started.status == 200:
            ended = wait_until(lambda: (found := mallory.must("GET", f"/v1/runs/{started.data['id']}").data)["ended_at"] and found, "it ends")
            assert ended["state"] == "failed", (url, ended)
            received.append(mallory.must("GET", f"/v1/runs/{started.data['id']}/events?limit=1000").text)
        received += [registered.text, started.text]
    skill = mallory.post(f"/v1/skills?space={other}", {"name": "s", "type": "custom", "git": {"url": f"file://{local}"}})
    assert not (skill.json.get("data") or {}).get("folder"), skill.text
    assert_unseen(secret, skill.text, *received)
    assert tree(local) == before


def test_another_space_uses_a_preset_with_secret_variables(binary, stack):
    """Gain: the value of a secret variable, by starting or reading the preset of another space."""
    shop, secret = Shop(binary, stack), canary("token")
    settings = {"harness": "command", "command": ["/bin/sh", "-c", "echo have=${#DEPLOY_TOKEN}"],
                "sandbox": {"secret_env": {"DEPLOY_TOKEN": secret}}}
    preset = shop.client.must("POST", "/v1/presets", {"name": "deploy", "settings": settings}).data
    run = shop.until(shop.client.must("POST", "/v1/runs", {"project": "shop", "prompt": "x", "preset": "deploy"}).data["id"])
    assert f"have={len(secret)}" in shop.texts(run["id"], "message"), "control: its own worker has the variable"
    mallory, other = owner_of_another_space(shop)
    received = []
    for path in (f"/v1/presets/{preset['id']}", f"/v1/presets/{preset['id']}?space={other}", f"/v1/presets/{preset['id']}/versions",
                 f"/v1/runs/{run['id']}/manifest"):
        answer = mallory.get(path)
        assert answer.status == 404, (path, answer.text)
        received.append(answer.text)
    for status, wanted in ((404, {"preset": preset["id"]}),
                           (400, {"settings": settings | {"sandbox": {"secret_env": {"DEPLOY_TOKEN": "********"}}}}),
                           (400, {"settings": settings | {"sandbox": {"secret_env": {"DEPLOY_TOKEN": ""}}}, "secret_env_of": preset["id"]})):
        answer = mallory.post(f"/v1/runs?space={other}", {"project": "mine", "prompt": "x"} | wanted)
        assert answer.status == status, answer.text
        received.append(answer.text)
    assert_unseen(secret, *received)
    # Nor is it anywhere on disk, in what owners read, in a backup or in the log.
    own = [shop.client.must("GET", path).text for path in ("/v1/presets/deploy", "/v1/presets/deploy/versions", "/v1/audit?limit=200",
                                                            f"/v1/runs/{run['id']}/manifest", f"/v1/runs/{run['id']}/events?limit=1000")]
    assert all("********" in text for text in own[:2] + own[3:4]), own
    backup, restored = shop.server.data_dir / "backup.tar.zst", shop.server.data_dir / "restored"
    backup.write_bytes(shop.client.must("GET", "/v1/backup").bytes)
    shop.server.stop()
    unpacked = command(binary, "restore", str(backup), "--data-dir", str(restored))
    assert unpacked.returncode == 0 and (restored / "hone.db").exists() and not (restored / "master.key").exists(), unpacked
    assert_unseen(secret, shop.server.data_dir, shop.server.output(), *own)


def test_a_removed_member_goes_on_with_a_key_a_login_or_an_open_stream(binary, stack):
    """Gain: transcripts of a space after its owner removed the attacker: by a personal key, by the cookie, by a stream that
    was opened before."""
    shop = Shop(binary, stack)
    path = shop.client.must("POST", "/v1/spaces/default/invites", {"email": "bob@example.com", "role": "member"}).data["path"]
    bob = shop.server.client()
    bob.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": "bob", "password": "a long enough password"})
    bob.login("bob@example.com", "a long enough password")
    user = bob.must("GET", "/v1/me").data["user"]["id"]
    key = bob.must("POST", "/v1/keys", {"name": "mine"}).data["key"]
    run = shop.start(*shell("while read line; do echo \"$line\"; done; sleep 600"), prompt="first")["id"]
    shop.until(run, "running", "waiting")
    streams = []
    for headers in ({"Cookie": f"hone_session={bob.cookie}"}, {"Authorization": f"Bearer {key}"}):
        connection = bob.connection()
        stack.callback(connection.close)
        connection.request("GET", f"/v1/runs/{run}/events", headers=headers | {"Accept": "text/event-stream"})
        stream = connection.getresponse()
        assert stream.status == 200 and stream.read1(65536), "control: the transcript is live"
        streams.append(stream)
    shop.client.must("DELETE", f"/v1/spaces/default/members/{user}")
    for stream in streams:
        try:
            while stream.read1(65536):
                pass
        except (ConnectionError, OSError) as end:
            assert "timed out" not in str(end), "the stream stays open"
    # Bob has no role anywhere now.
    assert bob.get(f"/v1/runs/{run}").status == 403
    assert Client(shop.server.url, key).get(f"/v1/runs/{run}").status == 401
    shop.client.must("POST", f"/v1/runs/{run}/cancel")
    shop.until(run)


def test_a_revoked_key_and_an_ended_login_keep_their_streams(binary, stack):
    """Gain: a live transcript for as long as the connection lasts, with credentials that were revoked because they leaked."""
    shop = Shop(binary, stack)
    run = shop.start(*shell("sleep 600"))["id"]
    shop.until(run, "running")
    key = shop.client.must("POST", "/v1/keys", {"name": "leaked", "scopes": ["read"]}).data
    thief = Client(shop.server.url).login()
    bystander = Client(shop.server.url).login()
    def follow(headers):
        connection = shop.client.connection()
        stack.callback(connection.close)
        connection.request("GET", f"/v1/runs/{run}/events", headers=headers | {"Accept": "text/event-stream"})
        stream = connection.getresponse()
        assert stream.status == 200 and stream.read1(65536), "control: the transcript is live"
        return stream
    by_key, by_login = follow({"Authorization": f"Bearer {key['key']}"}), follow({"Cookie": f"hone_session={thief.cookie}"})
    stays = follow({"Cookie": f"hone_session={bystander.cookie}"})
    shop.client.must("DELETE", f"/v1/keys/{key['id']}")
    thief.must("POST", "/v1/logout")
    for stream in (by_key, by_login):
        try:
            while stream.read1(65536):
                pass
        except (ConnectionError, OSError) as end:
            assert "timed out" not in str(end), "the stream stays open"
    # Others are not disturbed: what happens next still reaches them.
    shop.client.must("POST", f"/v1/runs/{run}/cancel")
    shop.until(run)
    received = b""
    while b"cancelled" not in received:
        piece = stays.read1(65536)
        assert piece, received
        received += piece
