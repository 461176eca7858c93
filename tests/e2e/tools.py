"""Commands beside the server: check, print, backup and restore, the client against a live server."""

import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys

from server import PASSWORD, Server, run, wait_until

TESTS = pathlib.Path(__file__).resolve().parent.parent


def test_check_reports_the_machine_and_fails_when_something_is_missing(binary, stack):
    server = stack.enter_context(Server(binary))
    fine = run(binary, "check", "--data-dir", server.data_dir)
    assert fine.returncode == 0 and "kernel" in fine.stdout and "in use" in fine.stdout, fine
    lines = json.loads(run(binary, "check", "--json", "--data-dir", server.data_dir).stdout)
    names = {"kernel", "data directory", "disk", "database", "transport", "harnesses", "model credentials"}
    assert names <= {line["name"] for line in lines}
    assert all(bool(line["advice"]) == (line["state"] != "ok") for line in lines), lines
    assert all(line["state"] in ("ok", "warning", "missing") for line in lines)
    open_to_all = json.loads(run(binary, "check", "--json", "--listen", "0.0.0.0:7070").stdout)
    assert [line["state"] for line in open_to_all if line["name"] == "transport"] == ["warning"]
    gone = run(binary, "check", "--database-url", "postgres://127.0.0.1:1/nothing?connect_timeout=2")
    assert gone.returncode == 1 and "missing" in gone.stdout, gone
    wrong = run(binary, "check", "--no-such-flag")
    assert wrong.returncode == 2 and "no-such-flag" in wrong.stderr, wrong
    # Commands without a server refuse as the others do, in JSON too.
    for words in (["check", "--wrong"], ["restore", "--wrong"], ["restore"], ["harness", "list", "--wrong"]):
        refused = run(binary, *words, "--json")
        assert json.loads(refused.stderr)["error"]["exit"] == refused.returncode == 2, (words, refused)
    assert run(binary, "image", "list", "--wrong").returncode == 2
    # Looking does not touch: the server still holds its directory.
    assert server.client().get("/readyz").status == 200


# Runs a command that cannot set a host name, as where AppArmor gives new user namespaces no rights: a filter on x86-64.
WITHOUT_RIGHTS = """
import ctypes, os, struct, sys
load, equal, give = 0x20, 0x15, 0x06
refused, allowed = 0x00050000 | 13, 0x7fff0000
steps = [(load, 0, 0, 0), (equal, 0, 1, 170), (give, 0, 0, refused), (give, 0, 0, allowed)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, filter, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_check_sees_user_namespaces_that_have_no_rights(binary, stack):
    def line(*before):
        done = subprocess.run([*before, binary, "check", "--json"], capture_output=True, text=True, timeout=300)
        return next(one for one in json.loads(done.stdout) if one["name"] == "sandbox: user namespaces")

    assert line()["state"] == "ok", line()
    without = line(sys.executable, "-c", WITHOUT_RIGHTS)
    assert without["state"] == "warning" and without["advice"], without
    assert without["detail"] == "Permission denied", without


def test_print_gives_every_document(binary, stack):
    assert json.loads(run(binary, "print", "openapi").stdout)["openapi"] == "3.1.0"
    assert "export interface Project" in run(binary, "print", "types").stdout
    assert "listen" in run(binary, "print", "config").stdout
    assert "project_create" in run(binary, "print", "permissions").stdout
    for wrong in (["print"], ["print", "nonsense"], ["print", "types", "config"]):
        outcome = run(binary, *wrong)
        assert outcome.returncode == 2 and "Usage" in outcome.stderr, outcome


def test_openapi_json_is_valid_openapi(binary, stack):
    server = stack.enter_context(Server(binary))
    served = server.client().get("/openapi.json")
    assert served.json == json.loads(run(binary, "print", "openapi").stdout)
    path = server.data_dir / "openapi.json"
    path.write_bytes(served.bytes)
    validate = ["node", str(TESTS / "validate_openapi.mjs"), str(path)]
    assert (TESTS / "node_modules").exists(), "npm ci in tests/ first"
    outcome = subprocess.run(validate, capture_output=True, text=True, timeout=300)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    # The validator does find faults, in the document and in the schemas.
    broken = served.json
    del broken["info"]["title"]
    path.write_text(json.dumps(broken))
    assert subprocess.run(validate, capture_output=True, timeout=300).returncode == 1
    broken = served.json
    broken["components"]["schemas"]["Project"]["properties"]["name"]["type"] = "strange"
    path.write_text(json.dumps(broken))
    assert subprocess.run(validate, capture_output=True, timeout=300).returncode == 1


def test_every_answer_fits_the_schema_that_openapi_json_promises(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    admin.must("POST", "/v1/projects", {"name": "one"})
    admin.must("POST", "/v1/keys", {"name": "k"})
    admin.must("POST", "/v1/spaces/default/invites", {"email": "a@example.com", "role": "viewer"})
    document = server.client().get("/openapi.json").json
    checked = 0
    for path, methods in document["paths"].items():
        if "get" not in methods or path in ("/v1/backup", "/v1/audit/export", "/v1/projects/{project}/export", "/openapi.json"):
            continue
        filled = path.replace("{space}", "default").replace("{project}", "one")
        # These need two experiments (datasets.py, pairs.py) and an outside agent (outside_agents.py).
        if "{" in filled or path in ("/v1/experiments/compare", "/v1/pair_tasks", "/v1/agent_request"):
            continue
        content = methods["get"]["responses"]["200"]["content"].get("application/json", {})
        if "schema" not in content or path == "/mcp":
            continue  # a file, a stream of events, or nothing at all
        schema = content["schema"]
        needed = {"/v1/projects/{project}/search": "?text=x", "/v1/broker/explain": "?url=https://example.com/",
                  "/v1/projects/{project}/trace_texts": f"?trace_id={1:032x}",
                  "/v1/projects/{project}/span_texts": f"?span_id={1:016x}",
                  "/v1/projects/{project}/metrics/series": "?metric=gen_ai.client.token.usage"}.get(path, "")
        if path.endswith("_annotations"):
            needed = "?identifier=x"
        fits(admin.must("GET", filled + needed).json, schema, document, filled)
        checked += 1
    assert checked >= 12, checked


def fits(value, schema, document, path):
    """The part of JSON Schema that the document uses."""
    if "$ref" in schema:
        target = document
        for part in schema["$ref"].split("/")[1:]:
            target = target[part]
        return fits(value, target, document, path)
    for choices in ("anyOf", "oneOf"):
        if choices in schema:
            for choice in schema[choices]:
                try:
                    return fits(value, choice, document, path)
                except AssertionError as failed:
                    last = failed
            raise last
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float)}
    kind = schema.get("type")
    if kind == "integer":
        assert isinstance(value, int) and not isinstance(value, bool), f"{path} is {value!r}, not a whole number"
    elif kind is not None:
        assert isinstance(value, kinds[kind]), f"{path} is {value!r}, not {kind}"
    if "enum" in schema:
        assert value in schema["enum"], f"{path} is {value!r}, none of {schema['enum']}"
    if isinstance(value, dict) and "properties" in schema:
        for name in schema.get("required", []):
            assert name in value, f"{path}.{name} is missing"
        for name, each in value.items():
            assert name in schema["properties"], f"{path}.{name} is not in the schema"
            fits(each, schema["properties"][name], document, f"{path}.{name}")
    if isinstance(value, list) and "items" in schema:
        for index, each in enumerate(value):
            fits(each, schema["items"], document, f"{path}[{index}]")


def test_backup_and_restore_bring_everything_back(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    for number in range(30):
        admin.must("POST", "/v1/projects", {"name": f"project {number}", "retention_days": number + 1})
    key = admin.must("POST", "/v1/keys", {"name": "for the backup"}).data["key"]
    file = server.data_dir / "copy.tar.zst"
    credentials = {"HONE_URL": server.url, "HONE_API_KEY": key}
    outcome = run(binary, "backup", file, environment=credentials)
    assert outcome.returncode == 0, outcome
    # It is removed when the last byte was sent, which may be a moment after the last byte came.
    wait_until(lambda: not list(server.data_dir.glob("backup-*")), "the server's own copy is gone")
    expected = admin.must("GET", "/v1/projects?limit=1000").json
    audit = admin.must("GET", "/v1/audit/verify").data
    admin.must("DELETE", "/v1/projects/project%203", status=204)

    restored = server.data_dir.parent / "restored"
    outcome = run(binary, "restore", file, "--data-dir", restored)
    assert outcome.returncode == 0, outcome
    with Server(binary, restored) as second:
        again = second.admin()
        assert again.must("GET", "/v1/projects?limit=1000").json == expected
        assert second.client(key).get("/v1/projects/project%203").status == 200
        verified = again.must("GET", "/v1/audit/verify").data
        # Logging in at the second server added to the same chain.
        assert verified["ok"] and verified["entries"] >= audit["entries"], verified
        # A directory that holds something is not overwritten, running or not.
        refused = run(binary, "restore", file, "--data-dir", restored)
        assert refused.returncode == 1, refused
    refused = run(binary, "restore", file, "--data-dir", restored)
    assert refused.returncode == 1 and "holds a database already" in refused.stderr, refused


def test_a_damaged_backup_is_refused_and_leaves_nothing(binary, stack):
    server = stack.enter_context(Server(binary))
    admin = server.admin()
    admin.must("POST", "/v1/projects", {"name": "one"})
    good = admin.must("GET", "/v1/backup").bytes
    target, file = server.data_dir.parent / "target", server.data_dir.parent / "file"
    damaged = {
        "empty": b"",
        "text": b"hello\n" * 1000,
        "cut in the middle": good[: len(good) // 2],
        "cut at the end": good[:-30],
        "flipped": good[: len(good) // 2] + bytes([good[len(good) // 2] ^ 0x55]) + good[len(good) // 2 + 1 :],
        "flipped early": good[:20] + bytes([good[20] ^ 0xFF]) + good[21:],
    }
    for name, content in damaged.items():
        file.write_bytes(content)
        outcome = run(binary, "restore", file, "--data-dir", target)
        if name == "cut at the end" and outcome.returncode == 0:
            shutil.rmtree(target)  # only padding was lost: the hash of the database still held
            continue
        assert outcome.returncode == 1, (name, outcome)
        assert re.search("backup|damaged|decompress", outcome.stderr), (name, outcome.stderr)
        assert not (target / "hone.db").exists() and not (target / "restoring").exists(), name
    assert run(binary, "restore", server.data_dir / "nothing", "--data-dir", target).returncode == 1
    file.write_bytes(good)
    assert run(binary, "restore", file, "--data-dir", target).returncode == 0
    assert sqlite3.connect(target / "hone.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_client_logs_in_works_and_logs_out(binary, stack):
    server = stack.enter_context(Server(binary))
    home = server.data_dir.parent / "home"
    home.mkdir()
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "HONE_URL": server.url}

    def hone(*arguments, **options):
        return run(binary, *arguments, environment=environment, **options)

    assert hone("whoami").returncode != 0
    login = hone("login", "--email", "admin@localhost", "--password-stdin", input=PASSWORD + "\n")
    assert login.returncode == 0, login
    assert "admin@localhost" in hone("whoami").stdout
    created = hone("project", "create", "from the client", "--json")
    assert created.returncode == 0, created
    assert json.loads(created.stdout)["name"] == "from the client", created.stdout
    assert "from the client" in hone("project", "list").stdout
    assert hone("project", "create", "from the client").returncode != 0
    verified = hone("audit", "verify")
    assert verified.returncode == 0, verified
    assert server.admin().get("/v1/projects/from%20the%20client").status == 200
