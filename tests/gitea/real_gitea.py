"""A real Gitea for the forge tests: built once from the Go module proxy into a cache folder outside the repository, and
started with TLS and SQLite in a temporary folder. It does what tests/git_server/forge_server.py does for the fakes: the same
words of `control`, carried out by people over Gitea's own API."""

import base64
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from repos import git
from reviews import ForgeWithApi
from server import wait_until

VERSION = "1.26.0"
PASSWORD = "a long enough password 1"
SCOPES = "write:repository,write:issue,read:user,read:organization"
WORKFLOW = "name: ci\non: push\njobs:\n  test:\n    runs-on: shell\n    steps:\n      - run: make test\n"


def cache():
    """Gitea does not run as root, so that its program cannot be in a folder that only root can read."""
    base = "/var/cache" if os.geteuid() == 0 else os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return pathlib.Path(base) / f"hone/gitea-{VERSION}"


def build():
    """Its program and its source, where its templates are. The source is a copy of the module, so that the replace lines of
    its go.mod count."""
    folder = cache()
    if not (folder / "gitea").exists():
        folder.mkdir(parents=True, exist_ok=True)
        print(f"building Gitea {VERSION} in {folder}; this takes about ten minutes", flush=True)
        module = json.loads(subprocess.run(["go", "mod", "download", "-json", f"code.gitea.io/gitea@v{VERSION}"], cwd=folder,
                                           check=True, capture_output=True, text=True).stdout)
        shutil.rmtree(folder / "source", ignore_errors=True)
        shutil.copytree(module["Dir"], folder / "source")
        subprocess.run(["chmod", "-R", "u+w,a+rX", str(folder)], check=True)
        subprocess.run(["nice", "-n", "19", "go", "build", "-tags", "sqlite sqlite_unlock_notify", "-o", "../gitea.new", "."],
                       cwd=folder / "source", check=True, env=os.environ | {"CGO_ENABLED": "1"})
        (folder / "gitea.new").rename(folder / "gitea")
    return folder / "gitea", folder / "source"


class Runner:
    """A runner of Gitea Actions that runs nothing: it reports what a test wants (Connect's protocol, as JSON)."""

    def __init__(self, forge):
        self.forge = forge
        self.headers = {}
        token = forge.admin("actions", "generate-runner-token").strip().splitlines()[-1]
        made = self.call("Register", {"name": "test", "token": token, "version": "v1", "labels": ["shell"]})["runner"]
        self.headers = {"x-runner-uuid": made["uuid"], "x-runner-token": made["token"]}
        self.call("Declare", {"version": "v1", "labels": ["shell"]})

    def call(self, method, body):
        return self.forge.http("POST", f"/api/actions/runner.v1.RunnerService/{method}", body, headers=self.headers)

    def report(self, commit, result, log):
        """Ends the job of a commit, and those before it."""
        task = wait_until(lambda: self.call("FetchTask", {"tasksVersion": "0"}).get("task"), "a job waits for a runner")
        if task["context"]["sha"] != commit:
            self.end(task, "SUCCESS", "")
            return self.report(commit, result, log)
        return self.end(task, result, log)

    def end(self, task, result, log):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        rows = [{"time": now, "content": line} for line in log.splitlines()]
        self.call("UpdateLog", {"taskId": task["id"], "index": "0", "rows": rows, "noMore": True})
        state = {"id": task["id"], "result": f"RESULT_{result}", "startedAt": now, "stoppedAt": now, "steps": []}
        self.call("UpdateTask", {"state": state})


class RealGitea(ForgeWithApi):
    UNABLE = {"merge_on_push", "scopes", "hang", "summary", "rerun"}

    def __init__(self, stack, kind="real gitea"):
        self.program, source = build()
        self.stack = stack
        self.root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-gitea-")))
        self.certificate, key = self.root / "forge.crt", self.root / "forge.key"
        name = socket.gethostname().lower()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=forge", "-addext", f"subjectAltName=DNS:{name}",
                        "-keyout", str(key), "-out", str(self.certificate)], check=True, capture_output=True)
        with socket.create_server((socket.gethostbyname(name), 0)) as free:
            address, self.port = free.getsockname()
        self.home = f"https://{name}:{self.port}"
        self.url = self.home + "/team/shop.git"
        self.data = self.root / "data"
        self.data.mkdir()
        self.config = self.data / "app.ini"
        self.config.write_text(f"""RUN_MODE = prod
WORK_PATH = {self.data}
[server]
PROTOCOL = https
DOMAIN = {name}
HTTP_ADDR = {address}
HTTP_PORT = {self.port}
ROOT_URL = {self.home}/
CERT_FILE = {self.certificate}
KEY_FILE = {key}
STATIC_ROOT_PATH = {source}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
PATH = {self.data}/gitea.db
[security]
INSTALL_LOCK = true
SECRET_KEY = {"k" * 40}
INTERNAL_TOKEN = {self.secret("INTERNAL_TOKEN")}
PASSWORD_HASH_ALGO = pbkdf2_v2
[oauth2]
ENABLED = false
[repository]
ROOT = {self.data}/repositories
[indexer]
ISSUE_INDEXER_TYPE = db
[actions]
ENABLED = true
[cron]
ENABLED = false
[log]
MODE = file
LEVEL = Warn
ROOT_PATH = {self.data}/log
""")
        self.user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        if self.user:
            subprocess.run(["chown", "-R", f"{self.user.pw_uid}:{self.user.pw_gid}", str(self.root)], check=True)
            self.root.chmod(0o755)
        self.admin("migrate")
        self.process = None
        self.start()
        stack.callback(self.stop)
        self.populate()

    def secret(self, kind):
        return subprocess.run([str(self.program), "generate", "secret", kind], check=True, capture_output=True, text=True,
                              cwd="/", **self.identity(early=True)).stdout.strip()

    def identity(self, early=False):
        """As whom it runs: not as root."""
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        home = "/tmp" if early else str(self.data)
        more = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
        return more | {"env": {"PATH": os.environ["PATH"], "HOME": home, "USER": "nobody" if user else os.environ.get("USER", "")}}

    def admin(self, *words):
        done = subprocess.run([str(self.program), *words, "--config", str(self.config)], capture_output=True, text=True,
                              cwd=self.data, **self.identity())
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def start(self):
        self.process = subprocess.Popen([str(self.program), "web", "--config", str(self.config)], cwd=self.data,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **self.identity())
        def ready():
            try:
                return self.http("GET", "/api/v1/version")
            except OSError:
                assert self.process.poll() is None, "Gitea has ended"
                return None
        wait_until(ready, "Gitea is ready")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()

    def http(self, method, path, body=None, who=None, headers=None, also=()):
        request = urllib.request.Request(self.home + path, None if body is None else json.dumps(body).encode(), method=method)
        request.add_header("Content-Type", "application/json")
        if who:
            request.add_header("Authorization", f"token {self.tokens[who]}")
        for key, value in (headers or {}).items():
            request.add_header(key, value)
        try:
            with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
                said = answer.read()
        except urllib.error.HTTPError as error:
            if error.code in also:
                return None
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from error
        return json.loads(said) if said else {}

    def api(self, method, path, body=None, who="boss", also=()):
        return self.http(method, "/api/v1" + path, body, who, also=also)

    def make_token(self, who, scopes="all"):
        self.made = getattr(self, "made", 0) + 1
        return self.admin("admin", "user", "generate-access-token", "--username", who, "--token-name", f"t{self.made}", "--raw",
                          "--scopes", scopes).strip().splitlines()[-1]

    def populate(self):
        """boss owns everything, ann and bot can write, eve is a stranger."""
        self.tokens = {}
        for who in ("boss", "ann", "bot", "eve"):
            self.admin("admin", "user", "create", "--username", who, "--password", PASSWORD, "--email", f"{who}@example.com",
                       "--must-change-password=false", *(["--admin"] if who == "boss" else []))
            self.tokens[who] = self.make_token(who)
        self.token = self.make_token("bot", SCOPES)
        self.api("POST", "/orgs", {"username": "team"})
        self.api("POST", "/orgs/team/labels", {"name": "orglabel", "color": "#00aabb"})
        self.api("POST", "/orgs/team/repos", {"name": "shop", "default_branch": "main"})
        for who in ("ann", "bot"):
            self.api("PUT", f"/repos/team/shop/collaborators/{who}", {"permission": "write"})
        self.work = self.root / "work"
        self.work.mkdir()
        git(self.work, "init", "-q", "-b", "main", ".")
        os.environ["GIT_SSL_CAINFO"] = str(self.certificate)  # for the git of people
        self.remote = self.url.replace("https://", f"https://ann:{self.tokens['ann']}@")
        self.commit("README.md", "a shop\n")
        self.commit("services/cart/cart.py", "def total(): return 1\n")
        git(self.work, "push", "-q", self.remote, "main", "main:refs/heads/release")

    # --- what people do -------------------------------------------------------------------------------------------

    def can(self, fault):
        return fault not in self.UNABLE

    def pulls(self):
        return sorted(self.api("GET", "/repos/team/shop/pulls?state=all&limit=50"), key=lambda one: one["number"])

    def state(self):
        return {"pulls": [{"number": one["number"], "title": one["title"], "body": one["body"], "state": one["state"],
                           "labels": [label["name"] for label in one["labels"] or []],
                           "reviewers": [user["login"] for user in one["requested_reviewers"] or []]} for one in self.pulls()]}

    def control(self, **wanted):
        for name, value in wanted.items():
            getattr(self, "do_" + name)(value)

    def newest(self):
        return self.pulls()[-1]

    def edit(self, **changes):
        self.api("PATCH", f"/repos/team/shop/pulls/{self.newest()['number']}", changes)

    def do_merge(self, _):
        one = self.newest()
        if one["title"].startswith("WIP: "):
            self.edit(title=one["title"][5:])
        path = f"/repos/team/shop/pulls/{one['number']}/merge"
        # 405: it still checks for conflicts.
        wait_until(lambda: self.api("POST", path, {"Do": "merge"}, also=(405,)) is not None, "Gitea merges")

    def do_close(self, _):
        self.edit(state="closed")

    def do_reopen(self, _):
        self.edit(state="open")

    def do_set(self, changes):
        changes = {name: value for name, value in changes.items() if name != "draft"}
        if changes.pop("conflicts", False):
            one = self.newest()
            git(self.work, "fetch", "-q", self.remote, one["base"]["ref"])
            git(self.work, "checkout", "-q", "-B", "other", "FETCH_HEAD")
            self.commit("services/cart/cart.py", "def total(): return 99\n", "Another total")
            git(self.work, "push", "-q", self.remote, f"other:refs/heads/{one['base']['ref']}")
            git(self.work, "checkout", "-q", "main")
            wait_until(lambda: not self.newest()["mergeable"], "Gitea knows of the conflict")
        if changes:
            self.edit(**changes)

    def do_talk(self, what):
        who = what.get("user", {}).get("login", "ann")
        self.api("POST", f"/repos/team/shop/issues/{self.newest()['number']}/comments", {"body": what["body"]}, who=who)

    def do_review(self, what):
        events = {"CHANGES_REQUESTED": "REQUEST_CHANGES"}
        self.api("POST", f"/repos/team/shop/pulls/{self.newest()['number']}/reviews",
                 {"body": what["body"], "event": events[what["state"]]}, who="ann")

    def do_repository(self, changes):
        for name, value in changes.items():
            if name == "can_push":
                self.api("PUT", f"/repos/team/{self.name()}/collaborators/bot", {"permission": "write" if value else "read"})
            elif name == "archived":
                self.api("PATCH", f"/repos/team/{self.name()}", {"archived": value})
            elif name == "deleted":  # for bot it is gone
                self.api("PATCH", f"/repos/team/{self.name()}", {"private": value})
                path = f"/repos/team/{self.name()}/collaborators/bot"
                self.api(*(("DELETE", path) if value else ("PUT", path, {"permission": "write"})))
            elif name == "path":
                self.api("PATCH", f"/repos/team/{self.name()}", {"name": value.split("/")[1]})
                self.remote = self.remote.replace("/shop.git", f"/{value.split('/')[1]}.git")
            else:
                raise AssertionError(f"cannot change {name}")

    def name(self):
        return self.remote.rsplit("/", 1)[1].removesuffix(".git")

    def do_git_fail(self, how):
        """Gitea has no fault of its own to offer: it is not there at all."""
        self.start() if how is None else self.stop()

    def protect(self):
        rule = {"rule_name": "hone/**", "enable_push": False}
        self.api("POST", "/repos/team/shop/branch_protections", rule)

    def unprotect(self):
        self.api("DELETE", "/repos/team/shop/branch_protections/" + urllib.request.quote("hone/**", safe=""))

    def revoke_token(self):
        name = f"t{self.made}"
        self.http("DELETE", f"/api/v1/users/bot/tokens/{name}", headers={"Authorization": self.basic("bot")})

    def new_token(self):
        self.token = self.make_token("bot", SCOPES)
        return self.token

    @staticmethod
    def basic(who):
        return "Basic " + base64.b64encode(f"{who}:{PASSWORD}".encode()).decode()

    def add_workflow(self):
        """From now on each push to a branch is a job of Gitea Actions."""
        self.commit(".gitea/workflows/ci.yml", WORKFLOW, "Run tests")
        git(self.work, "push", "-q", self.remote, "main")

    def do_checks(self, checks):
        """Commit statuses; one with a log is a job of Gitea Actions that a runner reports."""
        head = self.newest()["head"]["sha"]
        states = {"passed": "success", "failed": "failure", "running": "pending"}
        for check in checks:
            if "log" in check:
                self.runner().report(head, "FAILURE" if check["result"] == "failed" else "SUCCESS", check["log"])
            else:
                self.api("POST", f"/repos/team/shop/statuses/{head}", {
                    "context": check["name"], "state": states[check["result"]], "description": check.get("summary", "")})

    def runner(self):
        if not hasattr(self, "m_runner"):
            self.m_runner = Runner(self)
        return self.m_runner
