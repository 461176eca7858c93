"""Skills and secrets over the real binary: a planted secret is found nowhere, keys rotate while the server serves."""

import base64
import io
import json
import os
import pathlib
import resource
import signal
import tarfile
import tempfile
import urllib.parse

import repos
from server import Server, run

CANARY = "canary-5e1f9b7a40c2d836-token"


def disguises(text):
    plain = text.encode()
    return {
        "as it is": plain,
        "hex": plain.hex().encode(),
        "base64": base64.b64encode(plain).rstrip(b"="),
        "base64url": base64.urlsafe_b64encode(plain).rstrip(b"="),
        "URL": urllib.parse.quote(text, safe="").encode(),
        "every byte escaped": "".join(f"%{byte:02X}" for byte in plain).encode(),
        "reversed": plain[::-1],
    }


def assert_nowhere(server, *texts):
    """Neither the data directory, nor the log, nor any of these texts holds the secret in any disguise."""
    places = {str(path): path.read_bytes() for path in server.data_dir.rglob("*") if path.is_file()}
    assert any(name.endswith("hone.db") for name in places), places.keys()
    places["the log"] = server.output().encode()
    for index, text in enumerate(texts):
        places[f"answer {index}"] = text.encode() if isinstance(text, str) else text
    for place, content in places.items():
        for how, needle in disguises(CANARY).items():
            assert needle not in content, f"{place} holds the secret ({how})"


def github(admin, name="forge", value=CANARY):
    return admin.must("POST", "/v1/skills", {"name": name, "type": "github", "secrets": {"GH_TOKEN": value}}).data


def test_a_planted_secret_is_found_nowhere(binary, stack):
    server = stack.enter_context(Server(binary, None, "--log-level", "debug"))
    admin = server.admin()
    skill = github(admin)
    path = f"/v1/skills/{skill['id']}"
    answers = [
        json.dumps(skill),
        admin.must("PUT", f"{path}/secrets/GH_TOKEN", {"value": CANARY}).text,
        admin.must("GET", "/v1/skills").text,
        admin.must("GET", f"{path}/versions").text,
        admin.must("GET", "/v1/secrets").text,
        admin.must("GET", f"/v1/reach?skill={skill['id']}").text,
        admin.must("POST", "/v1/skill_env", {"skill": skill["id"], "text": f"GH_TOKEN={CANARY}"}).text,
        admin.must("GET", "/v1/audit").text,
        # Refusals do not repeat what they refuse.
        admin.call("PUT", f"{path}/secrets/GH_TOKEN", {"value": CANARY + "\r\n"}).text,
        admin.call("PATCH", path, {"variables": {"GH_TOKEN": CANARY}}).text,
        admin.call("POST", "/v1/skills", f'{{"name":"x","type":"github","secrets":{{"GH_TOKEN":"{CANARY}"}}').text,
    ]
    assert_nowhere(server, *answers)
    for what in ("data", "master"):
        admin.must("POST", "/v1/encryption/rotate", {"what": what})
    assert_nowhere(server, admin.must("GET", "/metrics").text)
    assert 'hone_secrets{state="all"} 1' in admin.get("/metrics").text
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    assert_nowhere(server)


def test_a_core_dump_of_the_server_holds_no_secret(binary, stack):
    place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-core-")))
    # In a folder of its own: there the kernel puts a dump that is not piped away.
    server = stack.enter_context(Server(binary, command=("env", "-C", str(place))))
    github(server.admin())
    process = server.process.pid
    assert int(pathlib.Path(f"/proc/{process}/coredump_filter").read_text(), 16) == 0
    now, most = resource.prlimit(process, resource.RLIMIT_CORE)
    assert now == 0
    resource.prlimit(process, resource.RLIMIT_CORE, (most, most))  # dumps all the same, as one that goes to a program
    server.process.send_signal(signal.SIGSEGV)
    server.process.wait()
    for file in place.iterdir():
        content = file.read_bytes()
        for how, needle in disguises(CANARY).items():
            assert needle not in content, f"{file.name} holds the secret ({how})"


def test_a_stored_secret_cannot_be_sent_elsewhere(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    path = f"/v1/skills/{github(admin)['id']}"
    for change in ({"variables": {"GITHUB_URL": "https://evil.example.com"}}, {"exposure": {"GH_TOKEN": "env"}}):
        refused = admin.call("PATCH", path, change)
        assert refused.status == 409 and "again" in refused.message, refused.text
    known = {"variables": {"GITHUB_URL": "https://git.example.com"}, "secrets": {"GH_TOKEN": "another"}}
    assert admin.must("PATCH", path, known).data["version"] == 2


def test_keys_rotate_from_the_command_line_and_survive_a_restart(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    skill = github(admin)
    key = admin.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    environment = {"HONE_URL": server.url, "HONE_API_KEY": key}

    def hone(*arguments):
        return run(binary, *arguments, environment=environment)

    before = (server.data_dir / "master.key").read_text()
    for flag in ("--data", "--master"):
        done = hone("key", "rotate", flag, "--json")
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["data_keys"] == 1, done.stdout
    assert (server.data_dir / "master.key").read_text() != before
    wrong = hone("key", "rotate")
    assert wrong.returncode == 2 and "--master" in wrong.stderr, wrong
    server.stop()
    with Server(binary, server.data_dir) as again:
        assert again.admin().must("GET", f"/v1/skills/{skill['id']}").data["missing"] == []
        again.stop()
        # With the key of before nothing opens, and the start says so.
        (server.data_dir / "master.key").write_text(before)
        refused = Server(binary, server.data_dir).spawn()
        assert refused.process.wait(60) == 1
        assert "master key" in refused.output(), refused.output()


def test_a_master_key_from_the_environment_is_not_left_there(binary, stack):
    key = base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()
    server = stack.enter_context(Server(binary, environment={"HONE_MASTER_KEY": key}))
    github(server.admin())
    assert not (server.data_dir / "master.key").exists()
    environ = open(f"/proc/{server.process.pid}/environ", "rb").read()
    assert key.encode() not in environ
    server.stop()
    next_key = base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()
    changed = {"HONE_MASTER_KEY": next_key, "HONE_MASTER_KEY_OLD": key}
    with Server(binary, server.data_dir, environment=changed) as second:
        assert second.admin().must("GET", "/v1/encryption").data["source"] == "environment"


def test_a_folder_is_uploaded_as_an_archive(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    skill = admin.must("POST", "/v1/skills", {"name": "tidy", "type": "custom"}).data
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        text = b"---\nname: tidy\ndescription: Tidies up.\n---\n# How\n"
        entry = tarfile.TarInfo("tidy/SKILL.md")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    path = f"/v1/skills/{skill['id']}/folder"
    sent = admin.call("PUT", path, packed.getvalue(), {"Content-Type": "application/gzip"})
    assert sent.status == 200 and sent.data["folder"]["name"] == "tidy", sent.text
    files = admin.must("GET", path).data
    assert [file["path"] for file in files] == ["SKILL.md"] and "# How" in files[0]["text"]
    assert admin.call("PUT", path, b"\x1f\x8bnonsense", {"Content-Type": "application/gzip"}).status == 400


def test_a_skill_comes_from_a_repository_and_stays_at_its_commit(binary, stack):
    forge, shop = repos.shop_with(binary, stack)
    manual = "---\nname: tidy\ndescription: Tidies up.\n---\nUse tabs.\n"
    first = forge.commit("skills/tidy/SKILL.md", manual)
    forge.publish()
    repos.add(shop, forge, skill=repos.skill_for(shop, forge))
    client = shop.client
    skill = client.must("POST", "/v1/skills", {"name": "tidy", "type": "custom",
                                               "git": {"url": forge.url, "path": "skills/tidy"}}).data
    path = f"/v1/skills/{skill['id']}"
    fetched = client.must("POST", f"{path}/fetch", {}).data
    assert fetched["git"]["commit"] == first and fetched["folder"]["name"] == "tidy", fetched
    assert client.must("GET", f"{path}/folder").data[0]["text"] == manual
    # The repository goes on; the skill stays until somebody fetches it again.
    second = forge.commit("skills/tidy/SKILL.md", manual + "And no dust.\n")
    forge.publish()
    assert client.must("GET", path).data["git"]["commit"] == first
    again = client.must("POST", f"{path}/fetch", {}).data
    assert again["git"]["commit"] == second and again["version"] == fetched["version"] + 1, again
    for git, status, advice in (({"path": "nowhere"}, 404, "folder nowhere"), ({"ref": "nope"}, 404, "commit nope"),
                                ({"path": "services"}, 400, "SKILL.md")):
        client.must("PATCH", path, {"git": {"url": forge.url} | git})
        answer = client.call("POST", f"{path}/fetch", {})
        assert answer.status == status and advice in answer.message, (git, answer.text)
    assert client.must("GET", path).data["folder"]["hash"] == again["folder"]["hash"]
