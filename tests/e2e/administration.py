"""What administrators use: custom roles, storage by space, keys by last use, the versions that served, the audit log in files, ended logins."""

import csv
import io
import json
import pathlib
import shutil
import tempfile
import urllib.parse

from runs import Shop, shell
from server import PASSWORD, Server, wait_until
from server import run as command
from telemetry import key_of, otlp_json


def commands_of(binary, shop):
    key = shop.client.must("POST", "/v1/keys", {"name": "cli", "kind": "personal", "scopes": ["all"]}).data["key"]
    environment = {"HONE_URL": shop.server.url, "HONE_API_KEY": key}

    def hone(*words, fails=0):
        done = command(binary, *words, environment=environment)
        assert done.returncode == fails, (words, done)
        return done.stdout + done.stderr
    return hone


def test_a_role_composed_on_the_command_line_limits_a_person_their_keys_and_their_runs(binary, stack):
    shop = Shop(binary, stack)
    hone = commands_of(binary, shop)
    hone("role", "create", "starter", "--permission", "project_read", "--permission", "run_read", "--permission", "run_start",
         "--permission", "key_create", "--permission", "member_read", "--permission", "skill_read")
    link = json.loads(hone("member", "invite", "ada@example.com", "--custom-role", "starter", "--json"))["path"]
    ada = shop.server.client()
    ada.must("POST", f"/v1{link.replace('/invite/', '/invites/')}/accept", {"name": "Ada", "password": "a long enough password"})
    ada.login("ada@example.com", "a long enough password")
    me = ada.must("GET", "/v1/me").data
    assert [(space["name"], space["custom_role"]) for space in me["spaces"]] == [("default", "starter")], me
    body = {"project": "shop", "prompt": "go", "settings": {"harness": "command", "command": list(shell("echo hello"))}}
    run = ada.must("POST", "/v1/runs", body).data["id"]
    assert shop.until(run)["state"] == "succeeded", shop.texts(run)
    for method, path, sent in (("GET", "/v1/presets", None), ("GET", "/v1/audit", None), ("POST", "/v1/projects", {"name": "x"}),
                               ("GET", "/v1/storage", None), ("POST", "/v1/spaces/default/roles", {"name": "more", "permissions": []})):
        refused = ada.call(method, path, sent)
        assert refused.status == 403, (path, refused.text)
    key = ada.must("POST", "/v1/keys", {"name": "mine", "kind": "personal", "scopes": ["all"]}).data["key"]
    by_key = shop.server.client(key=key)
    assert by_key.get("/v1/runs").status == 200 and by_key.get("/v1/presets").status == 403
    # Changed by the owner: with the next request the run cannot be started, by her and by her key.
    hone("role", "update", "starter", "--permission", "project_read", "--permission", "member_read")
    for client in (ada, by_key):
        assert client.call("POST", "/v1/runs", body).status == 403
    assert "1 member has this role" in hone("role", "delete", "starter", "--yes", fails=6)
    user = me["user"]["id"]
    hone("member", "role", user, "viewer")
    hone("role", "delete", "starter", "--yes")
    assert ada.get("/v1/presets").status == 200
    actions = {entry["action"] for entry in shop.client.must("GET", "/v1/audit?limit=200&action=role_*").data}
    assert actions == {"role_create", "role_update", "role_delete"}, actions


def test_the_storage_of_each_space_is_shown_to_owners_of_the_installation(binary, stack):
    shop = Shop(binary, stack)
    hone = commands_of(binary, shop)
    shop.client.must("POST", "/v1/spaces", {"name": "empty"})
    sender = shop.server.client(key_of(shop.server))
    spans = [(1, number, 0 if number == 1 else 1, f"call {number}", {"input.value": f"{number} text " * 200}) for number in range(1, 101)]
    assert sender.post("/v1/traces", otlp_json(spans)).status == 200
    wait_until(lambda: shop.client.get("/v1/projects/shop/disk").data["spans"] == 100, "the spans are stored")
    sandbox = {"init_script": "head -c 3000000 /dev/urandom > /opt/prepared", "network": "none"}
    script = "head -c 2000000 /dev/urandom > kept; hone save_file --name note.txt --text 'a note that is kept'"
    run = shop.start(*shell(script), sandbox=sandbox)["id"]
    assert shop.until(run)["state"] == "succeeded", shop.texts(run)
    rows = {row["space_name"]: row for row in json.loads(hone("space", "storage", "--json"))}
    assert set(rows) == {"default", "empty", ""}, rows
    used, empty, rest = rows["default"], rows["empty"], rows[""]
    assert used["spans"] >= 100 and used["traces_bytes"] > 0, used
    assert used["layers_bytes"] >= 3_000_000 and used["threads_bytes"] >= 2_000_000, used
    assert used["artifacts_bytes"] == len("a note that is kept"), used
    parts = ("traces", "artifacts", "threads", "layers", "repositories")
    assert used["total_bytes"] == sum(used[f"{part}_bytes"] for part in parts), used
    assert empty["total_bytes"] == 0 and rest["space_id"] is None and rest["other_bytes"] > 0, rows
    assert "default" in hone("space", "storage")


def test_keys_of_all_spaces_are_listed_by_last_use(binary, stack):
    shop = Shop(binary, stack)
    hone = commands_of(binary, shop)
    shop.client.must("POST", "/v1/spaces", {"name": "other"})
    shop.client.must("POST", "/v1/keys?space=other", {"name": "never used"})
    rows = json.loads(hone("key", "list", "--installation", "--by-last-use", "--json"))
    assert [(row["name"], row["space_name"]) for row in rows][:1] == [("never used", "other")], rows
    assert rows[-1]["name"] == "cli" and rows[-1]["last_used_at"] and {row["user_email"] for row in rows} == {"admin@localhost"}, rows
    assert json.loads(hone("key", "list", "--installation", "--unused-days", "1", "--json")) == []
    assert "other" not in hone("key", "list")
    hone("key", "list", "--installation", "--space", "other", fails=2)
    # Only for owners of the installation, and not for a key that cannot manage users.
    reader = shop.client.must("POST", "/v1/keys", {"name": "reader", "scopes": ["read", "key_create"]}).data["key"]
    for path, status in (("scope=installation", 403), ("scope=installation&space=other", 400), ("", 200), ("unused_days=0", 400), ("order=name", 400)):
        answer = shop.server.client(key=reader).get(f"/v1/keys?{path}")
        assert answer.status == status, (path, answer.text)


def test_an_upgrade_is_seen_without_asking_anybody(binary, stack):
    folder = pathlib.Path(binary).resolve().parent
    copy = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "installed"
    copy.mkdir()
    for entry in folder.iterdir():
        if entry.name.startswith("hone") and not entry.name.endswith(".debug") and entry.is_file():
            shutil.copy(entry, copy)
    (copy / "playbooks").symlink_to((folder / "playbooks").resolve())
    server = stack.enter_context(Server(str(copy / "hone")))
    admin = server.admin()
    shown = admin.must("GET", "/v1/server").data
    assert [(change["version"], change["previous"]) for change in shown["versions"]] == [(shown["version"], "")], shown["versions"]
    assert shown["program_replaced"] is False
    # As a package manager replaces it: a new file under the same name.
    shutil.copy(copy / "hone-server", copy / "new")
    (copy / "new").rename(copy / "hone-server")
    assert admin.must("GET", "/v1/server").data["program_replaced"] is True
    key = admin.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    said = command(binary, "version", environment={"HONE_URL": server.url, "HONE_API_KEY": key})
    assert said.returncode == 0 and "restart the server to complete the upgrade" in said.stdout, said
    server.stop()
    server.start()
    again = server.admin().must("GET", "/v1/server").data
    assert again["versions"] == shown["versions"] and again["program_replaced"] is False, again


def cell_of(value):
    """As CSV has a value: text that a spreadsheet would take for a formula begins with an apostrophe."""
    if isinstance(value, str):
        return "'" + value if value[:1] in ("=", "+", "-", "@", "\t", "\r") else value
    return "" if value is None else value if isinstance(value, dict) else str(value)


def test_the_audit_log_is_exported_as_json_lines_and_csv_with_each_filter(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    name = '=1+1,"x"'
    made = admin.must("POST", "/v1/keys", {"name": name, "scopes": ["all"]}).data
    project = server.client(key=made["key"]).must("POST", "/v1/projects", {"name": "by\u00e4 key"}).data["id"]
    after = admin.must("GET", "/v1/audit?limit=1").data[0]["time"]
    admin.must("POST", "/v1/spaces", {"name": "other"})
    admin.must("POST", "/v1/projects?space=other", {"name": "elsewhere"})
    admin.must("POST", "/v1/projects", {"name": "later"})
    server.client().post("/v1/login", {"email": "+1@example.com", "password": "wrong"})
    actor = urllib.parse.quote(name)
    for query, least in (("", 3), ("scope=installation", 6), (f"actor={actor}", 1), (f"actor={made['id']}", 1), ("action=project_create", 2),
                         ("action=project_*", 2), (f"target={project}", 1), (f"after={after}", 2), (f"before={after}", 1), ("space=other", 1),
                         (f"actor={actor}&action=project_create&target={project}&after={after}", 1),
                         (f"actor={actor}&action=key_create", 0), ("scope=installation&action=nothing_such", 0)):
        listed = admin.must("GET", f"/v1/audit?limit=1000&{query}").data[::-1]
        assert len(listed) >= least and (least or not listed), (query, listed)
        lines = admin.must("GET", f"/v1/audit/export?{query}")
        assert lines.headers["content-type"] == "application/x-ndjson" and 'filename="audit.jsonl"' in lines.headers["content-disposition"]
        assert [json.loads(line) for line in lines.text.splitlines()] == listed, query
        table = admin.must("GET", f"/v1/audit/export?format=csv&{query}")
        assert table.headers["content-type"] == "text/csv; charset=utf-8" and 'filename="audit.csv"' in table.headers["content-disposition"]
        header, *rows = csv.reader(io.StringIO(table.text, newline=""), strict=True)
        assert header[:4] == ["seq", "time", "space_id", "actor_kind"] and header[-1] == "hash" and len(rows) == len(listed), (query, table.text)
        for row, entry in zip(rows, listed):
            assert header == list(entry) and len(row) == len(header), row
            found = dict(zip(header, row)) | {"details": json.loads(row[header.index("details")])}
            assert found == {column: cell_of(value) for column, value in entry.items()}, (found, entry)
    own = admin.must("GET", f"/v1/audit/export?format=csv&actor={actor}").text
    assert own.count("\r\n") == 2 and ',"\'=1+1,""x""",project_create,' in own, own
    refused = admin.must("GET", "/v1/audit/export?format=csv&scope=installation&action=login_*").text
    assert ",'+1@example.com," in refused, refused
    assert admin.get("/v1/audit/export?format=xlsx").status == 400 and admin.get("/v1/audit/export?scope=installation&space=other").status == 400
    reader = admin.must("POST", "/v1/keys", {"name": "reader", "scopes": ["project_read"]}).data["key"]
    assert server.client(key=reader).get("/v1/audit/export").status == 403


def test_an_owner_ends_all_logins_of_one_person_and_none_of_another(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    people = {}
    for email in ("ada@example.com", "bob@example.com"):
        invite = admin.must("POST", "/v1/spaces/default/invites", {"email": email, "role": "member"}).data
        server.client().must("POST", f"/v1/invites/{invite['path'].split('/')[-1]}/accept", {"password": PASSWORD})
        people[email] = [server.client().login(email, PASSWORD) for _ in range(2)]
    ada, bob = people.values()
    key = ada[0].must("POST", "/v1/keys", {"name": "of Ada", "kind": "personal"}).data["key"]
    user = ada[0].must("GET", "/v1/me").data["user"]["id"]
    assert bob[0].call("DELETE", f"/v1/users/{user}/login_sessions").status == 403
    listed = admin.must("GET", f"/v1/login_sessions?user={user}").data
    admin.must("DELETE", f"/v1/users/{user}/login_sessions")
    assert [client.get("/v1/me").status for client in (*ada, *bob, admin)] == [401, 401, 200, 200, 200]
    assert server.client(key=key).get("/v1/me").status == 200, "a key is no login"
    assert admin.must("GET", f"/v1/login_sessions?user={user}").data == []
    entry, = admin.must("GET", "/v1/audit?scope=installation&action=login_sessions_end").data
    assert (entry["actor_name"], entry["target"], entry["details"]) == ("admin@localhost", user, {"count": len(listed)}), entry
    assert len(listed) >= 2
    server.client().login("ada@example.com", PASSWORD)
