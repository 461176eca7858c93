"""Branches of managed sessions: bundles and patches, honest and hostile, until they are pull requests on github.com, which
is a forge of this machine behind the egress proxy."""

import base64
import json
import shutil
import socket
import socketserver
import threading

from managed_sessions import Shop
from repos import git
from reviews import TOKEN, ForgeWithApi
from server import wait_until

URL = "https://github.com/team/shop"
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


class Tunnel(socketserver.StreamRequestHandler):
    """CONNECT to any host leads to the forge."""

    def handle(self):
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        with socket.create_connection(self.server.forge) as forge:
            back = threading.Thread(target=self.copy, args=(forge, self.connection), daemon=True)
            back.start()
            self.copy(self.connection, forge)
            back.join()

    def copy(self, source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
        except OSError:
            pass
        try:
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class GitHub(ForgeWithApi):
    also_named = ("github.com", "api.github.com")

    def __init__(self, stack):
        super().__init__(stack, "github")
        tunnel = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Tunnel)
        tunnel.daemon_threads = True
        tunnel.forge = (socket.gethostbyname(socket.gethostname()), self.port)
        threading.Thread(target=tunnel.serve_forever, daemon=True).start()
        stack.callback(tunnel.shutdown)
        self.flags = ("--egress-ca-file", str(self.certificate), "--egress-proxy", f"http://127.0.0.1:{tunnel.server_address[1]}")
        self.agent = self.root / "agent"  # the clone on the provider's machine

    def change(self, path, content, message, *, executable=False):
        """A commit on the branch `fix` of a new clone; the last one."""
        shutil.rmtree(self.agent, ignore_errors=True)
        git(self.root, "clone", "-q", str(self.bare), str(self.agent))
        git(self.agent, "checkout", "-q", "-b", "fix")
        self.add(path, content, message)
        return self

    def add(self, path, content, message):
        file = self.agent / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        git(self.agent, "add", "-A")
        git(self.agent, "commit", "-q", "-m", message)
        return self

    def bundle(self):
        git(self.agent, "bundle", "create", "-q", "../out.bundle", "origin/main..fix")
        return (self.root / "out.bundle").read_bytes()

    def patch(self):
        return git(self.agent, "format-patch", "--stdout", "--base=origin/main", "origin/main..fix") + "\n"


class Desk(Shop):
    """A managed session with a repository, whose agent writes what the test tells it to."""

    def __init__(self, binary, stack, *turns, forge=None, **settings):
        self.forge = forge or GitHub(stack)
        plays = {"branch": {"file_lag": 0.5, "turns": list(turns)}}
        skill = {"name": "forge", "type": "github", "secrets": {"GH_TOKEN": TOKEN}}
        super().__init__(binary, stack, "branch", skills=[skill], flags=self.forge.flags, plays=plays, repos=[{"url": URL}], **settings)

    def reviews(self, id):
        return self.client.must("GET", f"/v1/reviews?run={id}&kind=branch").data

    def review(self, id, branch, revision=1):
        def ready():
            for one in self.reviews(id):
                if one["artifact"]["name"] == f"shop/{branch}" and one["revision"] == revision and one["diff_state"] != "pending":
                    return self.client.must("GET", f"/v1/reviews/{one['artifact']['id']}").data
            return None
        return wait_until(ready, f"revision {revision} of {branch} is inspected")

    def step(self, id, text):
        return wait_until(lambda: next((event for event in self.events(id) if text in event["text"]), None), text)


def save(**input):
    return {"custom": [{"name": "save_branch", "input": input}]}


def as_file(name, content):
    return {"file": name, "base64": base64.b64encode(content).decode()}


def test_a_bundle_of_a_managed_session_is_reviewed_and_becomes_a_pull_request(binary, stack):
    forge = GitHub(stack)
    first = forge.change("services/cart/cart.py", "def total(): return 2\n", "Count what is in the cart").bundle()
    head = git(forge.agent, "rev-parse", "fix")
    second = forge.add("services/cart/cart.py", "def total(): return 3\n", "Count again").bundle()
    desk = Desk(binary, stack, [as_file("shop.bundle", first), {"say": "It is written."}],
                [as_file("shop.bundle", second), {"say": "Again."}], forge=forge)
    id = desk.start()
    desk.reached(id, "waiting", turns=1)
    review = desk.review(id, "fix")
    revision = review["revisions"][0]
    assert revision["state"] == "ready" and revision["head_commit"] == head and revision["flags"] == [], revision
    assert (revision["title"], revision["files"], revision["additions"], revision["deletions"]) == ("Count what is in the cart", 1, 1, 1), revision
    assert review["branch"]["branch"] == f"hone/{id}/fix" and review["artifact"]["review"] == "pending", review
    assert git(forge.bare, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    desk.again()  # the next process takes no file again
    asked = desk.client.must("POST", f"/v1/reviews/{review['artifact']['id']}/request_changes", {"comment": "almost"}).data
    assert asked["artifact"]["review"] == "changes_requested", asked
    review = desk.review(id, "fix", 2)
    assert len(review["revisions"]) == 2 and review["revisions"][1]["commits"][1]["message"] == "Count again", review
    desk.client.must("POST", f"/v1/reviews/{review['artifact']['id']}/approve", {"revision": 2})

    def opened():
        pull = desk.client.must("GET", f"/v1/reviews/{review['artifact']['id']}").data["pull_request"]
        assert not pull or pull["state"] != "failed", pull
        return pull if pull and pull["state"] == "open" else None
    wait_until(opened, "the pull request is open")
    assert git(forge.bare, "rev-parse", f"refs/heads/hone/{id}/fix") == git(forge.agent, "rev-parse", "fix")
    assert [(pull["draft"], pull["base"]) for pull in forge.state()["pulls"]] == [(True, "main")], forge.state()
    desk.check_same(id)
    assert desk.client.must("GET", f"/v1/artifacts?run={id}&kind=file").data == []
    # The provider got the token for its clone; the agent, the transcript and the log did not.
    assert TOKEN not in json.dumps(desk.events(id)) + desk.server.output()


def test_a_patch_passes_the_same_checks_as_a_push(binary, stack):
    forge = GitHub(stack)
    honest = forge.change("README.md", "a better shop\n", "Describe it better").patch()
    bad = forge.change(".github/workflows/build.yml", "on: push\n", "Build").add("key.txt", f"token = {SECRET}\n", "Keep the key").patch()
    evil = "diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n"
    turns = [save(patch=evil), save(patch=honest, branch="../main"), save(patch=honest, repository="other"), save(base64="not base64!"), save(),
             save(patch=honest, branch="better"), save(patch=bad, branch="worse"), {"say": "Saved."}]
    desk = Desk(binary, stack, turns, forge=forge, review={"protected_paths": ["services/**"]})
    id = desk.start()
    desk.reached(id, "waiting", turns=1)
    desk.check_same(id)
    results = [event for event in desk.events(id) if event["kind"] == "tool_result"]
    said = [(event["failed"], event["text"]) for event in results]
    for (failed, text), part in zip(said, ("invalid path '.git/hooks/x'", "not the name of a branch", f"one of {URL}", "base64 is not valid",
                                           "patch: required", f"hone/{id}/better waits for review", f"hone/{id}/worse waits for review"), strict=True):
        assert part in text and failed == ("waits" not in part), (part, said)
    better, worse = desk.review(id, "better"), desk.review(id, "worse")
    assert len(desk.reviews(id)) == 2, desk.reviews(id)
    assert better["revisions"][0]["flags"] == [] and better["revisions"][0]["title"] == "Describe it better", better
    flags = worse["revisions"][0]["flags"]
    assert {"secret", "protected_path"} <= {flag["kind"] for flag in flags} and worse["revisions"][0]["blocking_flags"] > 0, flags
    refused = desk.client.post(f"/v1/reviews/{worse['artifact']['id']}/approve", {"revision": 1})
    assert refused.status == 409 and "allow_protected" in refused.message, refused.text
    assert git(forge.bare, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_files_that_are_no_branch_leave_a_reason_and_nothing_else(binary, stack):
    forge = GitHub(stack)
    bundle = forge.change("README.md", "x\n", "Change").bundle()
    wrong = forge.add("README.md", "y\n", "Next")
    git(wrong.agent, "bundle", "create", "-q", "../out.bundle", "fix~1..fix")
    needs = (forge.root / "out.bundle").read_bytes()
    stale = forge.patch().replace("a shop", "another shop")
    desk = Desk(binary, stack, [as_file("cut.bundle", bundle[:-20]), as_file("needs.bundle", needs), as_file("text.bundle", b"not a bundle"),
                                {"file": "large.bundle", "content": "# v2 git bundle\n", "repeat": (33 << 20) // 16}, as_file("stale.patch", stale.encode()),
                                as_file("notes.txt", b"a note"), {"say": "Done."}], forge=forge)
    id = desk.start()
    desk.reached(id, "waiting", turns=1)
    desk.step(id, "cut.bundle is not a branch: the branch was refused")
    desk.step(id, "needs.bundle is not a branch: the bundle needs commit")
    desk.step(id, "text.bundle is not a branch: ")
    desk.step(id, "large.bundle was not saved: ")
    assert "It is saved as a file." in desk.step(id, "stale.patch is not a branch: the patch does not apply")["text"]
    wait_until(lambda: len(desk.client.must("GET", f"/v1/artifacts?run={id}").data) == 2, "two files")
    names = sorted(one["name"] for one in desk.client.must("GET", f"/v1/artifacts?run={id}").data)
    assert names == ["notes.txt", "stale.patch"] and desk.reviews(id) == [], names
