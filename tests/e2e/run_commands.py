"""The commands about workers, of the real binary against the real server: sessions, presets, artifacts, what the broker
would say."""

import io
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile

from runs import Shop
from trace_commands import Hone


def started(binary, stack):
    shop = Shop(binary, stack)
    key = shop.client.must("POST", "/v1/keys", {"name": "of a person"}).data["key"]
    return shop, Hone(shop.server, key)


def words(script):
    """Options that make a session a shell script."""
    return ("--harness", "command", "--command", "/bin/sh", "--command=-c", "--command", script)


def test_a_session_is_started_watched_listed_and_saved_from_the_command_line(binary, stack):
    shop, hone = started(binary, stack)
    script = 'read line; echo "got $line"; hone save_file --name note.txt --text "a note"'
    watched = hone.run("session", "start", *words(script), "--title", "first", "hello")
    assert "got hello" in watched.stdout and "note.txt" in watched.stdout, watched.stdout
    assert "succeeded" in watched.stderr, watched.stderr
    [listed] = hone.json("session", "list", "--state", "succeeded", "-p", "shop")
    assert (listed["title"], listed["state"], listed["origin"]) == ("first", "succeeded", "session"), listed
    id = listed["id"]
    assert id in hone.run("session", "list").stdout
    assert hone.json("session", "list", "--state", "running") == []
    assert hone.json("session", "show", id)["turns"] == 1
    assert json.loads(hone.run("session", "show", id, "--manifest").stdout)["prompt"] == "hello"
    assert "got hello" in hone.run("session", "events", id).stdout
    followed = hone.run("session", "events", id, "-f", "--after", "0").stdout  # over: it ends by itself
    assert "got hello" in followed, followed
    assert [event["seq"] for event in hone.json("session", "events", id)][:2] == [1, 2]
    with tempfile.TemporaryDirectory() as directory:
        hone.run("session", "artifacts", id, "--save", directory)
        with open(directory + "/note.txt") as file:
            assert file.read() == "a note"
    again = hone.run("session", "rerun", id)
    assert "got hello" in again.stdout, again.stdout
    assert "got more" in hone.run("session", "rerun", id, "more").stdout
    assert len(hone.json("session", "list", "--all")) == 3


def test_a_session_goes_on_is_forked_and_is_stopped_from_the_command_line(binary, stack):
    shop, hone = started(binary, stack)
    id = hone.json("session", "start", *words("read line; echo $line >> log; cat log"), "--detach", "one")["id"]
    shop.until(id)
    assert "one\n" in hone.run("session", "send", id, "two").stdout
    assert shop.texts(id, "message") == ["one", "one", "two"], shop.texts(id)
    resumed = hone.run("session", "resume", id).stdout
    assert "Continue." in resumed, resumed
    fork = hone.run("session", "fork", id, "other").stdout
    assert "two" in fork and "other" in fork, fork
    assert "other" not in shop.texts(id, "message")
    failed = hone.run("session", "start", *words("exit 3"), "x", status=1)
    assert "failed" in failed.stderr, failed.stderr
    endless = hone.json("session", "start", *words("sleep 600"), "-d", "x")["id"]
    shop.until(endless, "running")
    hone.run("session", "cancel", endless)
    assert shop.until(endless)["state"] == "cancelled"
    assert "run_01ARZ3NDEKTSV4RRFFQ69G5FAV" in hone.run("session", "show", "run_01ARZ3NDEKTSV4RRFFQ69G5FAV", status=5).stderr
    assert hone.run("session", "start", "x", status=2).stderr


def test_presets_go_to_files_and_back_and_artifacts_are_decided_about(binary, stack):
    shop, hone = started(binary, stack)
    hone.run("preset", "create", "analyst", "--harness", "playbook", "--description", "looks around")
    form = hone.json("preset", "export", "analyst")
    assert (form["name"], form["settings"]["harness"]) == ("analyst", "playbook"), form
    assert "is unchanged" in hone.run("preset", "apply", "-", text=json.dumps(form)).stdout
    # As a file in git: names of skills instead of their ids, and strings stay strings.
    skill = shop.client.must("POST", "/v1/skills", {"name": "forge", "type": "github", "secrets": {"GH_TOKEN": "ghp_" + "a" * 36}}).data
    form["settings"] |= {"skills": [skill["id"]], "system_prompt": "Look.\n\nThen: write\n", "sandbox": {"env": {"A": "no", "B": "1.0", "C": "2026-01-01"}}}
    hone.run("preset", "apply", "-", text=json.dumps(form))
    with tempfile.TemporaryDirectory() as directory:
        file = directory + "/analyst.yaml"
        hone.run("preset", "export", "analyst", "-o", file)
        with open(file) as written:
            text = written.read()
        assert "- forge" in text and "system_prompt: |\n" in text and 'A: "no"' in text, text
        assert "is unchanged" in hone.run("preset", "apply", file).stdout
        with open(file, "w") as written:
            written.write(text.replace('"no"', "yes").replace("name: analyst", "name: copied"))
        assert "Created preset copied." in hone.run("preset", "apply", file).stdout
        assert hone.json("preset", "show", "copied")["settings"]["sandbox"]["env"] == {"A": "yes", "B": "1.0", "C": "2026-01-01"}
        with open(file, "w") as written:
            written.write("name: &a x\nsettings: *a\n")
        assert "line 1" in hone.run("preset", "apply", file, status=2).stderr
    hone.run("preset", "delete", "copied", "--yes")
    # The value of a secret variable comes from standard input and is shown nowhere.
    made = hone.run("preset", "create", "deploy", "--harness", "command", "--command", "/bin/true", "--secret-env", "TOKEN", text="the value\n")
    shown = hone.json("preset", "show", "deploy")
    assert shown["settings"]["sandbox"]["secret_env"] == {"TOKEN": "********"}, shown
    assert "the value" not in made.stdout + made.stderr
    hone.run("preset", "delete", "deploy", "--yes")
    assert "no value" in hone.run("preset", "create", "other", "--harness", "playbook", "--secret-env", "TOKEN", status=2, text="").stderr
    form["settings"] = {"harness": "command", "command": ["/bin/sh", "-c", "hone save_file --name a --text b"], "outputs": {"file": "review"}}
    assert "version 3" in hone.run("preset", "apply", "-", text=json.dumps(form)).stdout
    form["name"] = "second"
    assert "Created preset second." in hone.run("preset", "apply", "-", text=json.dumps(form)).stdout
    assert [preset["name"] for preset in hone.json("preset", "list")] == ["analyst", "second"]
    assert len(hone.json("preset", "versions", "analyst")) == 3
    changes = hone.run("preset", "diff", "analyst").stdout.splitlines()
    assert "- harness: playbook" in changes and "+ harness: command" in changes and "  " not in [line[:2] for line in changes], changes
    assert hone.run("preset", "diff", "analyst", "1", "2").stdout.startswith(("- ", "+ "))
    assert "have the same settings" in hone.run("preset", "diff", "analyst", "2", "2").stdout
    assert hone.json("preset", "diff", "analyst", "1")["after"]["harness"] == "command"
    assert "preset versions" in hone.run("preset", "diff", "analyst", "1", "9", status=5).stderr
    made = hone.json("preset", "create", "third", "--harness", "command", "--command", "/bin/true", "--skill", "forge")
    assert (made["settings"]["command"], made["settings"]["skills"]) == (["/bin/true"], [skill["id"]]), made
    hone.run("preset", "delete", "third", "--yes")
    hone.run("session", "start", "--preset", "second", "go")
    [artifact] = hone.json("artifact", "list")
    assert "b" in hone.run("artifact", "show", artifact["id"]).stdout.splitlines()
    hone.run("artifact", "reject", artifact["id"], "--comment", "not needed")
    assert hone.json("artifact", "show", artifact["id"])["review"] == "rejected"
    assert hone.json("artifact", "list", "--review", "approved") == []
    hone.run("artifact", "request-changes", artifact["id"], status=8)
    hone.run("preset", "delete", "second", "--yes")
    hone.run("preset", "show", "second", status=5)


def test_monitors_go_to_files_and_back(binary, stack):
    shop, hone = started(binary, stack)
    hone.run("monitor", "create", "errors", "--project", "shop", "--metric", "error_rate", "--above", "0.05", "--description", "no")
    with tempfile.TemporaryDirectory() as directory:
        file = directory + "/errors.yaml"
        hone.run("monitor", "export", "errors", "-o", file)
        with open(file) as written:
            text = written.read()
        assert "project: shop" in text and "threshold: 0.05" in text and 'description: "no"' in text, text
        assert "is unchanged" in hone.run("monitor", "apply", file).stdout
        with open(file, "w") as written:
            written.write(text.replace("0.05", "5"))
        assert "Changed monitor errors." in hone.run("monitor", "apply", file).stdout
        assert "is unchanged" in hone.run("monitor", "apply", file).stdout
        shop.client.must("POST", "/v1/projects", {"name": "other"})
        assert "Created monitor errors." in hone.run("monitor", "apply", file, "--project", "other").stdout
    assert {monitor["settings"]["condition"]["threshold"] for monitor in hone.json("monitor", "list")} == {5}
    assert json.loads(hone.run("monitor", "export", "errors", "--format", "json").stdout)["name"] == "errors"


def test_the_broker_explains_what_a_run_could_send(binary, stack):
    shop, hone = started(binary, stack)
    hone.environment["GH_TOKEN"] = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
    skill = shop.client.must("POST", "/v1/skills", {"name": "forge", "type": "github", "secrets": {"GH_TOKEN": hone.environment["GH_TOKEN"]}}).data
    url = "https://api.github.com/repos/a/b"
    alone = hone.json("broker", "explain", url)
    assert alone["allowed"] is False and alone["secrets"] == [], alone
    told = hone.json("broker", "explain", url, "--skill", skill["id"])
    assert told["allowed"] is True and told["inspected"] is True and told["secrets"], told
    assert hone.environment["GH_TOKEN"] not in json.dumps(told)
    assert hone.json("broker", "explain", "https://example.com/", "--allow", "example.com")["allowed"] is True
    assert hone.json("broker", "explain", "https://example.com/", "--mode", "open")["allowed"] is True
    inside = hone.json("broker", "explain", "http://169.254.169.254/latest", "--mode", "open")
    assert inside["allowed"] is False and inside["reason"], inside
    page = hone.run("broker", "explain", url, "--skill", skill["id"]).stdout
    assert "allowed" in page and "yes" in page, page
    hone.run("broker", "explain", "no url", status=8)
    hone.run("broker", "explain", url, "--skill", "skl_01ARZ3NDEKTSV4RRFFQ69G5FAV", status=5)


def pack(folder, name, version, program):
    """A tarball as npm makes it, of a package with one program."""
    with tarfile.open(pathlib.Path(folder, "package.tgz"), "w:gz") as archive:
        for path, content in (("package.json", json.dumps({"name": name, "version": version, "bin": {"codex": "run"}})), ("run", program)):
            entry = tarfile.TarInfo("package/" + path)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content.encode()))


def test_a_harness_is_installed_from_tarballs_without_a_network(binary, stack):
    place = stack.enter_context(tempfile.TemporaryDirectory())

    def harness(*words, status=0):
        # The data directory is relative, and no registry would answer.
        ran = subprocess.run([str(pathlib.Path(binary).resolve()), "harness", *words, "--data-dir", "data"], cwd=place, capture_output=True, text=True,
                             env=os.environ | {"npm_config_registry": "http://127.0.0.1:9/"})
        assert ran.returncode == status, (words, ran.stdout, ran.stderr)
        return ran

    assert "No harness is installed" in harness("list").stdout
    os.mkdir(place + "/tarballs")
    pack(place + "/tarballs", "@openai/codex", "9.9.9", "#!/bin/sh\necho codex 9.9.9\n")
    assert "codex 9.9.9 is ready" in harness("install", "codex", "--from", "tarballs").stderr
    [installed] = json.loads(harness("list", "--json").stdout)
    assert (installed["name"], installed["version"], installed["source"]) == ("codex", "9.9.9", "tarballs"), installed
    # One that does not start is not kept; wrong use says what would be right.
    pack(place + "/tarballs", "@openai/codex", "9.9.10", "#!/bin/sh\necho broken >&2; exit 3\n")
    assert "broken" in harness("install", "codex", "--from", "tarballs/package.tgz", status=1).stderr
    assert "these are: claude-code" in harness("install", "nope", status=2).stderr
    assert "nowhere.tgz" in harness("install", "codex", "--from", "nowhere.tgz", status=1).stderr
    assert "NAME@VERSION" in harness("rm", "codex", status=2).stderr
    harness("rm", "codex@9.9.9")
    assert json.loads(harness("list", "--json").stdout) == []
