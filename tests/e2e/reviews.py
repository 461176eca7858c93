"""Reviews end to end: a worker pushes, people comment and decide, the branch and a draft pull request reach a forge."""

import hashlib
import hmac
import json
import pathlib
import shutil
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from repos import Forge, add, git, skill_for
from runs import Shop, shell
from server import Server, wait_until
from server import run as command

TOKEN = "canary-51d0c6a2f97e4b38"

# Pushes on the first turn, and what the reviewer said on each later one.
WORKER = """
cd shop
cat > /tmp/said
n=$(git log --oneline origin/main..HEAD 2>/dev/null | wc -l)
printf 'def total(): return %s\\n' $((n + 2)) > services/cart/cart.py
if [ "$n" = 0 ]; then git commit -qam 'Count what is in the cart

It was always one.'; else git commit -qam 'Count again'; grep -o 'use the list' /tmp/said; fi
git push 2>&1 && echo pushed
"""


class ForgeWithApi(Forge):
    """A forge with its API: GitHub Enterprise, Gitea or GitLab."""

    also_named = ()

    def __init__(self, stack, kind, below=""):
        self.root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-forge-")))
        self.certificate, key = self.root / "forge.crt", self.root / "forge.key"
        # A skill's host is a name, and not localhost, which no proxy is asked for.
        name = socket.gethostname().lower()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=forge", "-addext", "subjectAltName=" + ",".join(f"DNS:{one}" for one in (name, *self.also_named)),
                        "-keyout", str(key), "-out", str(self.certificate)], check=True, capture_output=True)
        self.bare, self.work = self.root / "team/shop.git", self.root / "work"
        git(self.root, "init", "-q", "-b", "main", str(self.work))
        self.commit("README.md", "a shop\n")
        self.commit("services/cart/cart.py", "def total(): return 1\n")
        self.bare.parent.mkdir()
        git(self.root, "clone", "-q", "--bare", str(self.work), str(self.bare))
        script = pathlib.Path(__file__).resolve().parent.parent / "git_server/forge_server.py"
        flags = ["--kind", kind, "--token", TOKEN, "--address", socket.gethostbyname(name), "--below", below]
        self.process = subprocess.Popen([sys.executable, script, self.root, self.certificate, key, *flags],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        self.port = int(self.process.stdout.readline())
        self.home = f"https://{name}:{self.port}"
        self.url = self.home + below + "/team/shop.git"
        self.token, self.remote = TOKEN, str(self.bare)  # where people push to

    def ask(self, path, body=None):
        request = urllib.request.Request(self.home + path, None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
            return json.load(answer)

    def state(self):
        return self.ask("/__state")

    def control(self, **wanted):
        self.ask("/__control", wanted)

    def can(self, fault):
        """Whether this forge can be made to do it."""
        return True

    def head(self, branch):
        return git(self.work, "ls-remote", self.remote, f"refs/heads/{branch}").partition("\t")[0]

    def protect(self):
        hook = self.bare / "hooks/pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho 'error: Not allowed to push to protected branch' >&2\nexit 1\n")
        hook.chmod(0o755)

    def unprotect(self):
        (self.bare / "hooks/pre-receive").unlink()

    def add_workflow(self):
        """A fake needs none for its checks."""

    def revoke_token(self):
        self.control(token="another")

    def new_token(self):
        self.control(token=TOKEN)
        return TOKEN


FORGES = {kind: ForgeWithApi for kind in ("github", "gitea", "gitlab", "plain")}


class Desk:
    """A shop with a forge; what reviewers do."""

    def __init__(self, binary, stack, kind="github", **policy):
        self.forge = FORGES[kind](stack, kind)
        self.shop = Shop(binary, stack, "--egress-ca-file", str(self.forge.certificate))
        self.client = self.shop.client
        self.skill = skill_for(self.shop, self.forge, self.forge.token)
        add(self.shop, self.forge, skill=self.skill)
        self.policy = policy

    def settings(self):
        return {"harness": "command", "command": list(shell(WORKER)), "repos": [{"url": self.forge.url}],
                "review": self.policy}

    def hook(self, kind):
        """Delivers what a forge of this kind would send, signed with the repository's secret."""
        made = self.client.must("POST", "/v1/repos/shop/hook", {}).data
        def deliver(body, secret=made["secret"], path=made["path"]):
            sent = json.dumps(body).encode()
            signature = hmac.new(secret.encode(), sent, hashlib.sha256).hexdigest()
            headers = {"github": {"X-Hub-Signature-256": "sha256=" + signature, "X-GitHub-Event": "pull_request"},
                       "gitea": {"X-Gitea-Signature": signature, "X-Gitea-Event": "pull_request"},
                       "gitlab": {"X-Gitlab-Token": secret, "X-Gitlab-Event": "Merge Request Hook"}}[kind]
            request = urllib.request.Request(self.shop.server.url + path, sent,
                                             {"Content-Type": "application/json"} | headers)
            try:
                with urllib.request.urlopen(request) as answer:
                    return answer.status, ""
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode()
        return deliver

    def push(self):
        run = self.shop.start(*shell(WORKER), repos=[{"url": self.forge.url}], review=self.policy)["id"]
        assert self.shop.until(run)["state"] == "succeeded", self.shop.texts(run)
        return run

    def review(self, run, revision=1):
        def ready():
            found = self.client.must("GET", f"/v1/reviews?run={run}&kind=branch").data
            if not found or found[0]["revision"] != revision or found[0]["diff_state"] == "pending":
                return None
            return self.client.must("GET", f"/v1/reviews/{found[0]['artifact']['id']}").data
        return wait_until(ready, f"revision {revision} is looked into")

    def pull_request(self, artifact, *states):
        def reached():
            pull = self.client.must("GET", f"/v1/reviews/{artifact}").data["pull_request"]
            return pull if pull and pull["state"] in states else None
        return wait_until(reached, f"the pull request is {states}")


def test_a_branch_goes_from_a_worker_through_two_reviews_to_a_draft_pull_request(binary, stack):
    desk = Desk(binary, stack, labels=["hone"], reviewers=["ann"])
    forge, client = desk.forge, desk.client
    run = desk.push()
    review = desk.review(run)
    artifact, first = review["artifact"]["id"], review["revisions"][0]
    assert first["state"] == "ready" and first["title"] == "Count what is in the cart", first
    assert (first["files"], first["additions"], first["deletions"], first["flags"]) == (1, 1, 1, []), first
    assert client.must("GET", "/v1/review_counts").data["pending"] == 1
    diff = client.must("GET", f"/v1/reviews/{artifact}/diff").data
    assert [file["path"] for file in diff["files"]] == ["services/cart/cart.py"], diff
    file = client.must("GET", f"/v1/reviews/{artifact}/diff/file?path=services/cart/cart.py").data
    assert [line["content"] for line in file["hunks"][0]["lines"]] == ["def total(): return 1", "def total(): return 2"]
    # Nothing has left the quarantine.
    assert git(forge.bare, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert forge.state()["pulls"] == []

    place = {"path": "services/cart/cart.py", "line": 1, "body": "use the list"}
    client.must("POST", f"/v1/reviews/{artifact}/comments", place)
    asked = client.must("POST", f"/v1/reviews/{artifact}/request_changes", {"comment": "almost"}).data
    assert asked["artifact"]["review"] == "changes_requested", asked
    review = desk.review(run, 2)
    assert "use the list" in desk.shop.texts(run, "message"), desk.shop.texts(run)
    assert review["artifact"]["review"] == "pending" and len(review["revisions"]) == 2, review
    between = client.must("GET", f"/v1/reviews/{artifact}/interdiff?from=1").data
    lines = between["files"][0]["hunks"][0]["lines"]
    assert [line["content"] for line in lines] == ["def total(): return 2", "def total(): return 3"], between
    assert not between["base_changed"]

    stale = client.post(f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert stale.status == 409 and "revision 2" in stale.message, stale.text
    client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 2, "comment": "good"})
    pull = desk.pull_request(artifact, "open", "failed")
    assert pull["state"] == "open" and pull["number"] == 1 and pull["forge"] == "github", pull
    branch, head = review["branch"]["branch"], review["revisions"][1]["head_commit"]
    assert git(forge.bare, "rev-parse", f"refs/heads/{branch}") == head
    there = forge.state()["pulls"]
    assert len(there) == 1 and there[0]["draft"] and there[0]["base"] == "main" and there[0]["head"] == branch, there
    assert there[0]["labels"] == ["hone"] and there[0]["reviewers"] == ["ann"], there
    assert "- Count what is in the cart\n- Count again\n" in there[0]["body"], there[0]["body"]
    assert "Approved in Hone by admin@localhost." in there[0]["body"], there[0]["body"]

    # Its state comes back; 304 until something changes.
    forge.control(checks=[{"name": "ci", "result": "passed"}], approve=1)
    client.must("POST", f"/v1/pull_requests/{pull['id']}/sync")
    def judged():
        now = client.must("GET", f"/v1/pull_requests/{pull['id']}").data
        return now if now["checks"] and now["forge_review"] else None
    now = wait_until(judged, "checks and reviews are known")
    assert (now["checks"], now["forge_review"], now["state"]) == ("passed", "approved", "open"), now
    forge.control(merge=1)
    client.must("POST", f"/v1/pull_requests/{pull['id']}/sync")
    assert desk.pull_request(artifact, "merged")["merged_at"]
    listed = command(binary, "pr", "list", "--json",
                     environment={"HONE_URL": desk.shop.server.url, "HONE_API_KEY": api_key(client)})
    assert json.loads(listed.stdout)[0]["state"] == "merged", listed.stdout

    # The token was used, and is nowhere.
    audit = client.must("GET", "/v1/audit?limit=500").text
    assert "forge_request" in audit and "branch_approved" in audit and TOKEN not in audit
    assert TOKEN not in desk.shop.server.output()
    assert TOKEN not in json.dumps(desk.shop.events(run)) and TOKEN not in there[0]["body"]
    searched = subprocess.run(["grep", "-rlF", TOKEN, desk.shop.server.data_dir], capture_output=True, text=True)
    assert searched.stdout == "", searched.stdout


def api_key(client):
    return client.must("POST", "/v1/keys", {"name": "cli", "kind": "personal", "scopes": ["all"]}).data["key"]


def test_gitea_and_gitlab_get_their_requests_too(binary, stack):
    for kind, title, labels in (("gitea", "WIP: Count what is in the cart", [9]),
                                ("gitlab", "Draft: Count what is in the cart", ["hone"])):
        desk = Desk(binary, stack, kind, labels=["hone"], follow_forge_comments=True)
        run = desk.push()
        artifact = desk.review(run)["artifact"]["id"]
        desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
        pull = desk.pull_request(artifact, "open", "failed")
        assert pull["state"] == "open" and pull["forge"] == kind, pull
        there = desk.forge.state()["pulls"]
        assert there[0]["title"] == title and there[0]["labels"] == labels, there
        desk.forge.control(comment={"body": "use the list", "path": "services/cart/cart.py", "line": 1})
        desk.client.must("POST", f"/v1/pull_requests/{pull['id']}/sync")
        desk.review(run, 2)
        assert "use the list" in desk.shop.texts(run, "message"), desk.shop.texts(run)
        desk.forge.control(close=1)
        desk.client.must("POST", f"/v1/pull_requests/{pull['id']}/sync")
        desk.pull_request(artifact, "closed")


def test_a_plain_git_server_gets_the_branch_signed_off_and_the_patch_is_there(binary, stack):
    desk = Desk(binary, stack, "plain", sign_off=True)
    artifact = desk.review(desk.push())["artifact"]["id"]
    desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
    pull = desk.pull_request(artifact, "only_pushed", "failed")
    assert pull["state"] == "only_pushed" and pull["number"] is None, pull
    log = git(desk.forge.bare, "log", "--format=%an <%ae>%n%B", "main.." + pull["branch"])
    worker = "Hone worker <worker@hone.invalid>"
    assert log.startswith(worker + "\nCount what") and log.endswith("Signed-off-by: " + worker), log
    patch = desk.client.must("GET", f"/v1/reviews/{artifact}/patch").text
    subprocess.run(["git", "-C", str(desk.forge.work), "-c", "user.name=A", "-c", "user.email=a@b.c", "am", "-q"],
                   input=patch.encode(), check=True)
    assert git(desk.forge.work, "rev-parse", "HEAD^{tree}") == git(desk.forge.bare, "rev-parse", pull["branch"] + "^{tree}")


def test_what_the_forge_refuses_is_explained_and_tried_again_without_doubling(binary, stack):
    desk = Desk(binary, stack)
    client, forge = desk.client, desk.forge
    artifact = desk.review(desk.push())["artifact"]["id"]
    # Asked to wait: nothing is lost, the row says when it goes on.
    limited = [403, {"Retry-After": "1"}, {"message": "You have exceeded a secondary rate limit."}]
    forge.control(fail=[limited])
    client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
    def waiting():
        pull = client.must("GET", f"/v1/reviews/{artifact}").data["pull_request"]
        return pull if pull["error"] else None
    pull = wait_until(waiting, "the forge refused")
    assert pull["state"] == "pushed" and "secondary rate limit" in pull["error"], pull
    # The credential may not: said in words, given up, and done when somebody asks again.
    forge.control(fail=[[403, {}, {"message": "Resource not accessible by personal access token"}]])
    client.must("POST", f"/v1/pull_requests/{pull['id']}/sync")
    failed = desk.pull_request(artifact, "failed")
    assert "lacks a scope" in failed["error"] and "(403)" in failed["error"], failed
    assert failed["cause"] == "missing_scope" and failed["attempts"] == 1, failed
    client.must("POST", f"/v1/pull_requests/{pull['id']}/sync")
    assert desk.pull_request(artifact, "open")["number"] == 1
    # Killed after the pull request was opened and before that was written down: the same one is found again.
    desk.shop.server.process.kill()
    desk.shop.server.process.wait()
    with sqlite3.connect(next(desk.shop.server.data_dir.glob("*.db"))) as database:
        database.execute("UPDATE pull_requests SET state='queued', number=NULL, url='', head_commit='', next_try_at=0")
    database.close()
    desk.shop.server.start()
    desk.client = type(client)(desk.shop.server.url).login()
    assert desk.pull_request(artifact, "open")["number"] == 1
    assert len(forge.state()["pulls"]) == 1, forge.state()["pulls"]


def test_protected_paths_and_verification_hold_a_branch_back(binary, stack):
    desk = Desk(binary, stack, protected_paths=["services/**"], require_verified=True,
                verification=[{"name": "count", "command": "grep -q 'return 2' services/cart/cart.py || { echo 'it is not 2'; exit 1; }"}])
    artifact = desk.review(desk.push())["artifact"]["id"]
    def verified():
        revision = desk.client.must("GET", f"/v1/reviews/{artifact}").data["revisions"][0]
        return revision if revision["verification"] in ("green", "red", "failed") else None
    revision = wait_until(verified, "the commands ran")
    result = revision["verification_results"][0]
    assert revision["verification"] == "green", revision
    assert (result["base"]["exit_code"], result["branch"]["exit_code"]) == (1, 0), result
    shown = command(binary, "review", "show", artifact, environment={"HONE_URL": desk.shop.server.url, "HONE_API_KEY": api_key(desk.client)})
    assert "count: base exit 1, branch passed\n    base printed:\n      it is not 2\n" in shown.stdout, shown
    refused = desk.client.post(f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert refused.status == 409 and "allow_protected" in refused.message, refused.text
    desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1, "allow_protected": True})
    assert desk.pull_request(artifact, "open", "failed")["state"] == "open"
    body = desk.forge.state()["pulls"][0]["body"]
    assert "| count (" in body and "| red (exit 1) | green |" in body, body


def test_words_that_close_issues_are_flagged_and_do_not_reach_titles_and_descriptions(binary, stack):
    desk = Desk(binary, stack)
    script = "cd shop; echo x > x; git add x; git commit -qm 'closes #8 @boss' && git push"
    run = desk.shop.start(*shell(script), repos=[{"url": desk.forge.url}], review=desk.policy)["id"]
    assert desk.shop.until(run)["state"] == "succeeded", desk.shop.texts(run)
    review = desk.review(run)
    assert [(flag["kind"], flag["blocking"]) for flag in review["revisions"][0]["flags"]] == [("closes_issue", False)], review
    desk.client.must("POST", f"/v1/reviews/{review['artifact']['id']}/approve", {"revision": 1})
    assert desk.pull_request(review["artifact"]["id"], "open", "failed")["state"] == "open"
    there = desk.forge.state()["pulls"][0]
    assert there["title"] == "closes no. 8 @ boss" and "- closes no. 8 &#64;boss" in there["body"] and "#8" not in there["body"], there


def test_requested_changes_reach_the_run_of_an_automation_and_the_same_request_is_updated(binary, stack):
    desk = Desk(binary, stack)
    client = desk.client
    client.must("POST", "/v1/presets", {"name": "fixer", "settings": desk.settings()})
    made = client.must("POST", "/v1/automations", {"name": "nightly", "project": "shop", "preset": "fixer", "prompt": "go",
                                                   "trigger": {"type": "cron", "schedule": "@yearly"}}).data
    client.must("POST", f"/v1/automations/{made['id']}/run", {})
    def started():
        runs = client.must("GET", f"/v1/runs?automation={made['id']}").data
        return runs[0]["id"] if runs else None
    run = wait_until(started, "the automation starts a run")
    assert desk.shop.until(run)["state"] == "succeeded", desk.shop.texts(run)
    artifact = desk.review(run)["artifact"]["id"]
    client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert desk.pull_request(artifact, "open", "failed")["number"] == 1
    # The run is over and its sandbox gone; what it left in the thread's volume is not.
    client.must("POST", f"/v1/reviews/{artifact}/comments",
                {"path": "services/cart/cart.py", "line": 1, "body": "use the list"})
    refused = client.post(f"/v1/reviews/{artifact}/request_changes", {"comment": "almost"})
    assert refused.status == 409, refused.text  # what was approved is decided
    client.must("POST", f"/v1/runs/{run}/messages", {"text": "use the list"})
    review = desk.review(run, 2)
    assert desk.shop.run(run)["origin"] == "automation" and desk.shop.run(run)["turns"] == 2, desk.shop.run(run)
    client.must("POST", f"/v1/reviews/{artifact}/request_changes", {"comment": "almost"})
    review = desk.review(run, 3)
    said = [text for text in desk.shop.texts(run, "follow_up") if "cart.py" in text]
    assert len(said) == 1 and '"line": 1' in said[0] and "almost" in said[0], said
    assert review["artifact"]["review"] == "pending" and len(review["revisions"]) == 3, review
    between = client.must("GET", f"/v1/reviews/{artifact}/interdiff?from=2").data
    lines = [line["content"] for line in between["files"][0]["hunks"][0]["lines"]]
    assert lines == ["def total(): return 3", "def total(): return 4"], between
    # The second approval updates the request that is open.
    client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 3})
    head = review["revisions"][2]["head_commit"]
    def updated():
        pull = client.must("GET", f"/v1/reviews/{artifact}").data["pull_request"]
        return pull if pull["head_commit"] == head and pull["state"] == "open" else None
    assert wait_until(updated, "the request is updated")["number"] == 1
    assert git(desk.forge.bare, "rev-parse", "refs/heads/" + review["branch"]["branch"]) == head
    assert len(desk.forge.state()["pulls"]) == 1


def hook_body(kind, number):
    """What the forges' documentation shows, as far as anybody reads it."""
    if kind == "gitlab":
        return {"object_kind": "merge_request", "event_type": "merge_request", "user": {"username": "ann"},
                "object_attributes": {"iid": number, "state": "merged", "action": "merge"}}
    return {"action": "closed", "number": number, "pull_request": {"number": number, "state": "closed", "merged": True},
            "repository": {"full_name": "team/shop"}, "sender": {"login": "ann"}}


def test_webhooks_of_each_forge_are_believed_when_they_are_signed_and_say_only_look(binary, stack):
    for kind in ("github", "gitea", "gitlab"):
        desk = Desk(binary, stack, kind, commits="squash", author="Shop Bot <bot@example.com>", sign_off=True)
        artifact = desk.review(run := desk.push())["artifact"]["id"]
        desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
        pull = desk.pull_request(artifact, "open", "failed")
        assert pull["state"] == "open", pull
        # What was delivered is one commit of the bot, signed off.
        log = git(desk.forge.bare, "log", "--format=%an <%ae>%n%B", "main.." + pull["branch"])
        assert log.startswith("Shop Bot <bot@example.com>\nCount what is in the cart"), log
        assert "Signed-off-by: Shop Bot <bot@example.com>" in log, log
        deliver = desk.hook(kind)
        body = hook_body(kind, pull["number"])
        # It claims a merge that did not happen: the forge is asked, and says no.
        assert deliver(body) == (204, "")
        wait_until(lambda: desk.client.must("GET", f"/v1/pull_requests/{pull['id']}").data["polled_at"], "it was asked about")
        assert desk.pull_request(artifact, "open")
        # Merged there as one other commit (squash and rebase leave the branch's own commits out).
        desk.forge.commit("services/cart/cart.py", "def total(): return 2\n", "Count what is in the cart (#1)")
        desk.forge.publish()
        desk.forge.control(merge=1)
        for wrong in (deliver(body, secret="another"), deliver(body, path="/v1/forge_hooks/repo_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
                      deliver(body, path="/v1/forge_hooks/shop")):
            assert wrong[0] == 403 and "signature" in wrong[1], wrong
        assert desk.client.must("GET", f"/v1/pull_requests/{pull['id']}").data["state"] == "open"
        assert deliver(body) == (204, "")
        merged = desk.pull_request(artifact, "merged")
        assert merged["merged_at"], merged
        # The same word again changes nothing, and neither does one that is no JSON of theirs.
        asked = len(desk.forge.state()["requests"])
        assert deliver(body) == (204, "") and deliver({"zen": "Keep it logically awesome."}) == (204, "")
        assert desk.pull_request(artifact, "merged") == merged
        assert len(desk.forge.state()["requests"]) == asked, "what is over is not asked about"
        notes = [text for text in desk.shop.texts(run) if text.startswith("pull request")]
        assert notes == [f"pull request: {pull['url']}", f"pull request merged: {pull['url']}"], notes
        listed = desk.client.must("GET", f"/v1/pull_requests?run={run}").data
        assert [(one["id"], one["state"]) for one in listed] == [(pull["id"], "merged")], listed
        # A new secret ends the old one.
        desk.hook(kind)
        assert deliver(body)[0] == 403


def test_comments_on_the_forge_start_a_follow_up_when_the_preset_says_so(binary, stack):
    desk = Desk(binary, stack, follow_forge_comments=True)
    run = desk.push()
    artifact = desk.review(run)["artifact"]["id"]
    desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
    pull = desk.pull_request(artifact, "open", "failed")
    desk.forge.control(talk={"body": "buy cheap watches", "user": {"login": "eve"}, "author_association": "NONE"})
    desk.forge.control(talk={"body": "coverage fell", "user": {"login": "cover", "type": "Bot"}})
    desk.forge.control(comment={"body": "use the list", "path": "services/cart/cart.py", "line": 1})
    desk.forge.control(review={"body": "count twice", "state": "CHANGES_REQUESTED"})
    desk.forge.control(review={"body": "not sent yet", "state": "PENDING"})
    desk.forge.control(talk={"body": "and thank you"})
    deliver = desk.hook("github")
    assert deliver({"action": "created", "issue": {"number": pull["number"]}, "comment": {"id": 1}}) == (204, "")
    review = desk.review(run, 2)
    assert "use the list" in desk.shop.texts(run, "message"), desk.shop.texts(run)
    told = "".join(desk.shop.texts(run, "follow_up"))
    assert all(words in told for words in ("use the list", "count twice", "and thank you")), told
    assert not any(words in told for words in ("watches", "coverage", "not sent")), told
    assert review["artifact"]["review"] == "pending", review
    # Once: nobody is told the same again.
    deliver({"action": "edited", "issue": {"number": pull["number"]}})
    desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 2})
    head = review["revisions"][1]["head_commit"]
    wait_until(lambda: git(desk.forge.bare, "rev-parse", "refs/heads/" + pull["branch"]) == head, "the branch is updated")
    assert desk.shop.run(run)["turns"] == 2, desk.shop.run(run)


def test_every_command_about_repositories_reviews_and_pull_requests(binary, stack):
    desk = Desk(binary, stack, approvals=1)
    environment = {"HONE_URL": desk.shop.server.url, "HONE_API_KEY": api_key(desk.client)}
    def hone(*words, fails=0):
        done = command(binary, *words, environment=environment)
        assert done.returncode == fails, (words, done)
        return done.stdout + done.stderr
    def both(*words):
        """As text and as JSON."""
        return hone(*words), json.loads(hone(*words, "--json"))
    text, repos = both("repo", "list")
    assert "shop" in text and [repo["name"] for repo in repos] == ["shop"], text
    text, repo = both("repo", "update", "shop", "--ref", "main", "--path", "services")
    assert repo["default_ref"] == "main" and repo["path_scope"] == "services", repo
    assert "nothing to change" in hone("repo", "update", "shop", fails=2)
    hone("repo", "update", "shop", "--ref", "", "--path", "")
    assert desk.forge.url in both("repo", "show", "shop")[0]
    assert both("repo", "fetch", "shop")[1]["state"] == "ready"
    assert [ref["name"] for ref in both("repo", "refs", "shop")[1]] == ["refs/heads/main"]
    text, hook = both("repo", "hook", "shop")
    assert desk.shop.server.url + hook["path"] in text and len(hook["secret"]) >= 32, text
    text = hone("repo", "issue", "shop", "Totals are wrong", "--body", "See @ann", "--label", "hone")
    assert "Opened https://forge/issues/41" in text, text
    issue = desk.forge.state()["issues"][0]
    assert issue["title"] == "Totals are wrong" and issue["labels"] == ["hone"] and "@ann" not in issue["body"], issue
    assert "absent" in hone("repo", "show", "absent", fails=5)

    assert "No pending reviews" in hone("review", "list") and json.loads(hone("review", "list", "--json")) == []
    assert "No pull requests" in hone("pr", "list") and json.loads(hone("pr", "list", "--json")) == []
    run = desk.push()
    artifact = desk.review(run)["artifact"]["id"]
    text, branches = both("repo", "branches", "shop")
    assert run in text and branches[0]["run_id"] == run, text
    text, reviews = both("review", "list")
    assert artifact in text and reviews[0]["artifact"]["id"] == artifact, text
    text, review = both("review", "show", artifact)
    assert "Count what is in the cart" in text and "1 file, +1 -1" in text and review["approvals_needed"] == 1, text
    text, patch = both("review", "diff", artifact)
    assert "+def total(): return 2" in text and "+def total(): return 2" in patch["patch"], text
    assert "receives it when you request changes" in hone("review", "comment", artifact, "use the list", "--file", "services/cart/cart.py",
                                          "--line", "1")
    assert "the diff of this revision has no such file" in hone("review", "comment", artifact, "x", "--file", "README.md", fails=8)
    text, comments = both("review", "comments", artifact)
    assert "use the list" in text and comments[0]["line"] == 1, text
    assert "Changes requested" in hone("review", "request-changes", artifact, "almost")
    desk.review(run, 2)
    assert "revision 2" in hone("review", "approve", artifact, "--revision", "1", fails=6)
    assert "Approved" in hone("review", "approve", artifact, "--comment", "good", "--revision", "2")
    pull = desk.pull_request(artifact, "open", "failed")
    text, pulls = both("pr", "list")
    assert pull["url"] in text and pulls[0]["state"] == "open", text
    assert json.loads(hone("pr", "list", "--repo", "shop", "--state", "merged", "--json")) == []
    text, shown = both("pr", "show", pull["id"])
    assert pull["url"] in text and shown["number"] == 1, text
    desk.forge.control(merge=1)
    assert "is checked now" in hone("pr", "sync", pull["id"])
    desk.pull_request(artifact, "merged")
    assert "pull request" in hone("pr", "show", "pull_request_01ARZ3NDEKTSV4RRFFQ69G5FAV", fails=5)
    second = desk.review(desk.push())["artifact"]["id"]
    assert "Rejected" in hone("review", "reject", second, "--comment", "no")
    assert json.loads(hone("review", "list", "--review", "rejected", "--json"))[0]["artifact"]["id"] == second
    for path in ("repo", "review", "pr"):
        assert path in hone(path, "--help")


def test_a_backup_brings_a_pending_review_back(binary, stack):
    desk = Desk(binary, stack)
    run = desk.push()
    artifact = desk.review(run)["artifact"]["id"]
    environment = {"HONE_URL": desk.shop.server.url, "HONE_API_KEY": api_key(desk.client)}
    home = desk.shop.server.data_dir
    file, restored = home.parent / "backup.tar.zst", home.parent / "restored"
    assert command(binary, "backup", file, environment=environment).returncode == 0
    desk.shop.server.stop()
    done = command(binary, "restore", file, "--data-dir", restored)
    assert done.returncode == 0, done
    # Without the key of its secrets it does not start, and makes no other key.
    refused = command(binary, "serve", "--data-dir", restored, "--listen", "127.0.0.1:0")
    assert refused.returncode == 1 and "put your copy back" in refused.stderr, refused
    assert not (restored / "master.key").exists()
    shutil.copy(home / "master.key", restored / "master.key")
    shutil.rmtree(home)
    server = stack.enter_context(Server(binary, restored, "--egress-ca-file", str(desk.forge.certificate)))
    desk.client = server.admin()
    review = desk.review(run)
    assert review["artifact"]["review"] == "pending", review
    diff = desk.client.must("GET", f"/v1/reviews/{artifact}/diff").data
    assert [file["path"] for file in diff["files"]] == ["services/cart/cart.py"], diff
    assert "return 2" in desk.client.must("GET", f"/v1/reviews/{artifact}/patch").text
    desk.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert desk.pull_request(artifact, "open", "failed")["state"] == "open"
    assert git(desk.forge.bare, "rev-parse", "refs/heads/" + review["branch"]["branch"]) == review["revisions"][0]["head_commit"]


def person(desk, email, role):
    """Somebody who took an invitation."""
    path = desk.client.must("POST", "/v1/spaces/default/invites", {"email": email, "role": role}).data["path"]
    client = desk.shop.server.client()
    client.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": email, "password": "a long enough password"})
    return client.login(email, "a long enough password")


def test_two_repositories_of_one_run_are_decided_apart_by_two_people_who_did_not_start_it(binary, stack):
    desk = Desk(binary, stack, approvals=2, not_starter=True, role="admin", commits="squash",
                author="Shop Bot <bot@example.com>", trailers=["Reviewed-in: Hone"], sign_off=True)
    space = desk.client.must("GET", "/v1/spaces/default").data["id"]
    local = desk.shop.server.data_dir / "repos" / space / "docs.git"
    local.parent.mkdir(parents=True, exist_ok=True)
    git(desk.forge.root, "clone", "-q", "--bare", str(desk.forge.work), str(local))
    script = """for name in shop docs; do cd /workspace/$name; echo "more of $name" >> README.md; git commit -qam "More of $name"
        git push -q 2>&1 && echo pushed; done"""
    repos = [{"url": desk.forge.url}, {"url": f"file://{local}"}]
    run = desk.shop.start(*shell(script), repos=repos, review=desk.policy)["id"]
    assert desk.shop.until(run)["state"] == "succeeded", desk.shop.texts(run)
    def both():
        found = desk.client.must("GET", f"/v1/reviews?run={run}&kind=branch").data
        ready = {one["repo_name"]: one["artifact"]["id"] for one in found if one["diff_state"] == "ready"}
        return ready if len(ready) == 2 else None
    waiting = wait_until(both, "both branches are looked into")
    docs = waiting["docs"]

    # Whoever started it, and whoever has too small a role, hear why not.
    review = desk.client.must("GET", f"/v1/reviews/{docs}").data
    assert "started" in review["cannot_approve"], review["cannot_approve"]
    refused = desk.client.post(f"/v1/reviews/{docs}/approve", {"revision": 1})
    assert refused.status == 403 and "started" in refused.message, refused.text
    member = person(desk, "mel@example.com", "member")
    refused = member.post(f"/v1/reviews/{docs}/approve", {"revision": 1})
    assert refused.status == 403 and "admin" in refused.message, refused.text
    first, second = person(desk, "ann@example.com", "admin"), person(desk, "bob@example.com", "admin")
    assert first.must("POST", f"/v1/reviews/{docs}/approve", {"revision": 1}).data["approvals"] == 1
    first.call("POST", f"/v1/reviews/{docs}/approve", {"revision": 1})  # twice is once
    assert first.must("GET", f"/v1/reviews/{docs}").data["artifact"]["review"] == "pending"
    second.must("POST", f"/v1/reviews/{docs}/approve", {"revision": 1})
    pull = desk.pull_request(docs, "only_pushed", "failed")
    assert pull["state"] == "only_pushed", pull
    message = git(local, "log", "-1", "--format=%an <%ae>%n%B", pull["branch"])
    assert message.startswith("Shop Bot <bot@example.com>\nMore of docs"), message
    assert "Reviewed-in: Hone" in message and "Signed-off-by: Shop Bot <bot@example.com>" in message, message

    # The other one waits on, and its patch is for `git am`.
    assert desk.client.must("GET", f"/v1/reviews/{waiting['shop']}").data["artifact"]["review"] == "pending"
    patch = desk.client.must("GET", f"/v1/reviews/{waiting['shop']}/patch").text
    subprocess.run(["git", "-C", str(desk.forge.work), "-c", "user.name=A", "-c", "user.email=a@b.c", "am", "-q"],
                   input=patch.encode(), check=True)
    assert git(desk.forge.work, "log", "-1", "--format=%s") == "More of shop"
