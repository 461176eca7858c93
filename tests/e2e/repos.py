"""Repositories end to end: mirrors fetched through the broker, clones and pushes through the gateway, hostile ones."""

import os
import pathlib
import subprocess
import sys
import tempfile

from runs import Shop, shell
from server import run as command
from server import wait_until

TOKEN = "canary-7c1f0b6e9d2a4853"
GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.com",
       "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.com"}


def git(folder, *arguments, text=True):
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=text,
                          env=os.environ | GIT | {"HOME": str(folder)})
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.strip()


class Forge:
    """A git server with TLS and a token, and one repository with two commits, a tag and a folder of a monorepo."""

    def __init__(self, stack, *flags):
        self.root = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-forge-")))
        # A skill's host is a name.
        self.certificate, key = self.root / "forge.pem", self.root / "forge.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=forge", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", str(key), "-out", str(self.certificate)], check=True, capture_output=True)
        self.bare, self.work = self.root / "team/shop.git", self.root / "work"
        git(self.root, "init", "-q", "-b", "main", str(self.work))
        self.commit("README.md", "a shop\n")
        self.commit("services/cart/cart.py", "def total(): return 1\n")
        self.commit("services/mail/mail.py", "def send(): pass\n")
        git(self.work, "tag", "-a", "v1", "-m", "first")
        self.bare.parent.mkdir()
        git(self.root, "clone", "-q", "--bare", str(self.work), str(self.bare))
        script = pathlib.Path(__file__).resolve().parent.parent / "git_server/git_server.py"
        self.process = subprocess.Popen([sys.executable, script, self.root, self.certificate, key, *flags],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        self.port = int(self.process.stdout.readline())
        self.home = f"https://localhost:{self.port}"
        self.url = self.home + "/team/shop.git"

    def commit(self, path, content, message="change"):
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        git(self.work, "add", "-A")
        git(self.work, "commit", "-q", "-m", message)
        return git(self.work, "rev-parse", "HEAD")

    def publish(self):
        git(self.work, "push", "-q", "--follow-tags", str(self.bare), "main")

    def requests(self):
        log = self.root / "requests.log"
        return log.read_text().splitlines() if log.exists() else []


def shop_with(binary, stack, *flags):
    forge = Forge(stack, *flags)
    return forge, Shop(binary, stack, "--egress-ca-file", str(forge.certificate))


def skill_for(shop, forge, token=TOKEN):
    body = {"name": "forge", "type": "github", "variables": {"GITHUB_URL": forge.home}, "secrets": {"GH_TOKEN": token}}
    return shop.client.must("POST", "/v1/skills", body).data["id"]


def add(shop, forge, **more):
    repo = shop.client.must("POST", "/v1/repos", {"url": forge.url, "allow_private": True} | more).data
    return settled(shop, repo["id"])


def settled(shop, id):
    def over():
        repo = shop.client.must("GET", f"/v1/repos/{id}").data
        return None if repo["fetching"] else repo
    return wait_until(over, "the fetch is over")


def diff_of(shop, run):
    """The branch that a run left, once its diff is there."""
    def ready():
        found = shop.client.must("GET", f"/v1/reviews?run={run}&kind=branch").data
        return found[0]["artifact"]["id"] if found and found[0]["diff_state"] == "ready" else None
    return wait_until(ready, "the diff is there")


def files_with(directory, text):
    """Canary search: everything that the server wrote down, without the disks of sandboxes."""
    found = []
    for path in directory.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink() and path.stat().st_size < 64 << 20 and text.encode() in path.read_bytes():
                found.append(str(path))
        except FileNotFoundError:  # a temporary file that the server renamed meanwhile
            continue
    return found


def test_a_mirror_is_fetched_with_the_credential_and_says_what_went_wrong(binary, stack):
    forge, shop = shop_with(binary, stack, "--basic", f"x-access-token:{TOKEN}")
    skill = skill_for(shop, forge)
    repo = add(shop, forge, skill=skill)
    assert repo["state"] == "ready" and repo["error"] == "", repo
    assert repo["head_ref"] == "refs/heads/main" and repo["refs"] == 2 and repo["bytes"] > 0, repo
    refs = {ref["name"]: ref["commit"] for ref in shop.client.must("GET", "/v1/repos/shop/refs").data}
    head = git(forge.work, "rev-parse", "HEAD")
    assert refs == {"refs/heads/main": head, "refs/tags/v1": head}, refs
    # Later only what is new comes.
    new = forge.commit("README.md", "a better shop\n")
    forge.publish()
    again = shop.client.must("POST", "/v1/repos/shop/fetch").data
    assert again["state"] == "ready" and again["bytes"] > repo["bytes"], again
    assert new in [ref["commit"] for ref in shop.client.must("GET", "/v1/repos/shop/refs?prefix=refs/heads/").data]
    # The credential is gone: the error says so, the mirror stays.
    shop.client.must("PATCH", "/v1/repos/shop", {"skill": ""})
    failed = shop.client.must("POST", "/v1/repos/shop/fetch").data
    assert failed["state"] == "failed" and "could not fetch" in failed["error"] and failed["refs"] == 2, failed
    # So do an address that leads nowhere and a repository that is not there.
    for more, advice in (({"url": "https://forge.invalid/a/b"}, "cannot be reached"),
                         ({"url": forge.home + "/no/such.git", "skill": skill}, "no such repository")):
        made = shop.client.must("POST", "/v1/repos", {"allow_private": True} | more).data
        assert advice in settled(shop, made["id"])["error"], settled(shop, made["id"])
        shop.client.must("DELETE", f"/v1/repos/{made['id']}", status=204)
    audit = shop.client.must("GET", "/v1/audit?limit=200").text
    assert "forge_request" in audit and TOKEN not in audit
    assert TOKEN not in shop.server.output()
    shop.client.must("DELETE", "/v1/repos/shop", status=204)
    assert not list((shop.server.data_dir / "mirrors").glob("*.git"))


def test_addresses_that_cannot_be_are_refused_with_advice(binary, stack):
    shop = Shop(binary, stack)
    for url, status, advice in (("git@github.com:team/shop.git", 400, "ssh"), ("ssh://git@github.com/team/shop", 400, "ssh"),
                                ("http://example.com/a", 400, "https"), ("https://user:token@example.com/a", 400, "skill"),
                                ("file:///etc", 403, "local repositories"), ("https://example.com/../x", 400, "ambiguous")):
        answer = shop.client.post("/v1/repos", {"url": url})
        assert answer.status == status and advice in answer.message, (url, answer.text)


def test_a_shallow_clone_is_pushed_from_too(binary, stack):
    forge, shop = shop_with(binary, stack, "--push")
    add(shop, forge)
    script = "cd shop; git log --oneline | wc -l; echo more >> README.md; git commit -qam 'Say more'; git push -q 2>&1 && echo pushed"
    run = shop.until(shop.start(*shell(script), repos=[{"url": forge.url, "depth": 1}])["id"])
    said = shop.texts(run["id"], "message")
    assert said[0] == "1" and said[-1] == "pushed", said
    refused = shop.client.post("/v1/presets", {"name": "deep", "settings": {"harness": "playbook", "repos": [{"url": forge.url, "depth": -1}]}})
    assert refused.status == 400 and "depth" in refused.message, refused.text


def test_a_worker_clones_commits_and_pushes_into_its_quarantine_only(binary, stack):
    forge, shop = shop_with(binary, stack, "--basic", f"x-access-token:{TOKEN}", "--push")
    skill = skill_for(shop, forge)
    add(shop, forge, skill=skill)
    before = git(forge.bare, "for-each-ref")
    script = """
        cd shop; git log --oneline | wc -l; git remote get-url origin; git branch --show-current; cat README.md
        echo more >> README.md; git commit -qam 'Say more'
        git push 2>&1 && echo "pushed"
        git fetch -q && git rev-parse origin/$(git branch --show-current) HEAD | uniq | wc -l
        git push origin HEAD:main 2>&1; echo "main: $?"
        git tag v2; git push origin v2 2>&1; echo "tag: $?"
        git push origin HEAD:refs/heads/hone/run_01ARZ3NDEKTSV4RRFFQ69G5FAV/x 2>&1; echo "other run: $?"
        git push origin --delete main 2>&1; echo "delete: $?"
        git commit -q --amend -m 'Say it better'; git push -q --force 2>&1 && echo "forced"
        git ls-remote http://127.0.0.1:3129/git/other 2>&1; echo "other repo: $?"
        git clone -q --depth 1 http://127.0.0.1:3129/git/shop /tmp/shallow && git -C /tmp/shallow log --oneline | wc -l
        git clone -q --filter=blob:none http://127.0.0.1:3129/git/shop.git /tmp/partial && echo "partial"
        git -c protocol.version=0 clone -q http://127.0.0.1:3129/git/shop /tmp/old && echo "old protocol"
        (env; cat /proc/*/environ; cat .git/config; find /workspace /tmp /home /root /run /etc /hone -xdev -type f -size -1000k -exec cat {} + ) 2>/dev/null | tr '\\0' '\\n' | grep -c CANARY_TEXT; true
    """.replace("CANARY_TEXT", f"'[{TOKEN[0]}]{TOKEN[1:]}'")  # a pattern, so that the search does not find itself
    run = shop.until(shop.start(*shell(script), repos=[{"url": forge.url}], skills=[skill])["id"])
    said = shop.texts(run["id"], "message")
    text = "\n".join(said)
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    branch = f"hone/{run['id']}/work"
    assert said[:4] == ["3", "http://127.0.0.1:3129/git/shop", branch, "a shop"], said
    for wanted in ("pushed", "main: 1", "tag: 1", "other run: 1", "delete: 1", "forced", "other repo: 128", "partial", "old protocol"):
        assert wanted in said, (wanted, text)
    assert f"only branches below hone/{run['id']}/ can be pushed" in text, text
    assert said[-1] == "0", "the credential is in the sandbox"
    branches = shop.client.must("GET", "/v1/repos/shop/branches").data
    assert [(one["branch"], one["pushes"], one["run_id"]) for one in branches] == [(branch, 2, run["id"])], branches
    head = git(forge.work, "rev-parse", "HEAD")
    assert branches[0]["base_commit"] == head and branches[0]["head_commit"] != head, branches
    manifest = shop.client.must("GET", f"/v1/runs/{run['id']}/manifest").data
    assert manifest["repos"] == [{"url": forge.url, "commit": head}], manifest["repos"]
    # The forge has heard of nothing, and nothing but fetches went there.
    assert git(forge.bare, "for-each-ref") == before
    assert not [line for line in forge.requests() if "receive-pack" in line], forge.requests()
    assert TOKEN not in shop.server.output() and TOKEN not in str(shop.events(run["id"]))
    assert not files_with(shop.server.data_dir, TOKEN)
    # What one run pushed no other can read, neither by name nor by commit.
    curious = f"""cd shop; git fetch -q origin {branch} 2>&1; echo "by name: $?"
        git fetch -q origin {branches[0]['head_commit']} 2>&1; echo "by commit: $?"
        git ls-remote origin | grep -c {run['id']}; true"""
    other = shop.until(shop.start(*shell(curious), repos=[{"url": forge.url}], skills=[skill])["id"])
    heard = shop.texts(other["id"], "message")
    assert "by name: 128" in heard and "by commit: 128" in heard and heard[-1] == "0", heard


def test_a_repository_is_registered_by_its_first_run_and_scoped_to_a_folder(binary, stack):
    shop = Shop(binary, stack)
    forge = Forge(stack)
    space = shop.client.must("GET", "/v1/spaces/default").data["id"]
    local = shop.server.data_dir / "repos" / space / "shop.git"
    local.parent.mkdir(parents=True, exist_ok=True)
    git(forge.root, "clone", "-q", "--bare", str(forge.work), str(local))
    script = "cd shop; ls; ls services; git describe --tags; git rev-parse HEAD"
    repos = [{"url": f"file://{local}", "ref": "v1", "path": "services/cart"}]
    run = shop.until(shop.start(*shell(script), repos=repos)["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    said = shop.texts(run["id"], "message")
    assert said == ["README.md", "services", "cart", "v1", git(forge.work, "rev-parse", "v1^{commit}")], said
    repo = shop.client.must("GET", "/v1/repos/shop").data
    assert repo["state"] == "ready" and repo["created_by"] == run["id"], repo
    run = shop.until(shop.start(*shell("true"), repos=[{"url": f"file://{local}", "ref": "nowhere"}])["id"])
    assert run["state"] == "failed" and "nowhere" in run["reason"], run


HOSTILE = r"""
cd shop
mkdir -p hooks; printf '#!/bin/sh\ntouch /tmp/hone-owned-SECRET\n' > hooks/post-checkout; chmod +x hooks/*
printf '* filter=evil -diff -text export-ignore\n' > .gitattributes
printf '[submodule "x"]\n\tpath = x\n\turl = -u./evil\n' > .gitmodules.txt
ln -s /etc/passwd passwd; ln -s ../../../../etc up
printf 'caf\351' > "$(printf 'caf\351')"; touch readme.md
git config core.fsmonitor /bin/false; git config core.hooksPath /workspace/hooks
git add -A; git commit -qm 'hostile but well formed'; git push -q 2>&1 && echo "formed"
blob=$(echo x | git hash-object -w --stdin)
tree() { printf "$1 $2\0" > /tmp/tree; python3 -c "import sys; sys.stdout.buffer.write(bytes.fromhex('$blob'))" >> /tmp/tree; git hash-object -w -t tree --literally /tmp/tree; }
for name in .. .git .GIT; do
    commit=$(git commit-tree -m bad -p HEAD "$(tree 100644 $name)")
    git push origin "$commit:refs/heads/$BRANCHES/bad" 2>&1 | grep -q "hasDot\(dot\|git\): contains '" && echo "refused $name"
done
head -c 60000000 /dev/zero > bomb; git add bomb; git commit -qm bomb; git push 2>&1 | grep -o "bomb has 57 MiB; a file has at most 50 MiB" | head -1
git reset -q --hard HEAD~1
git config core.compression 0; head -c 108000000 /dev/urandom > noise; git add noise; git commit -qm noise
git push 2>&1 | grep -o 'at most [0-9]* MiB' | head -1; git reset -q --hard HEAD~1
"""


def test_hostile_repositories_do_nothing_outside_the_sandbox(binary, stack):
    forge, shop = shop_with(binary, stack)
    (forge.work / ".gitmodules").write_text('[submodule "deep"]\n\tpath = deep\n\turl = https://192.0.2.1/deep\n')
    (forge.work / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    forge.commit("data.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    forge.publish()
    repo = add(shop, forge)
    assert len(repo["notes"]) == 2 and "submodules" in repo["notes"][0] and "LFS" in repo["notes"][1], repo
    marker = pathlib.Path("/tmp/hone-owned-" + repo["id"])
    script = HOSTILE.replace("SECRET", repo["id"]).replace("$BRANCHES", "${PREFIX}")
    script = 'PREFIX=$(git -C shop branch --show-current); PREFIX=${PREFIX%/work}\n' + script
    run = shop.until(shop.start(*shell(script), repos=[{"url": forge.url}])["id"])
    said = shop.texts(run["id"], "message")
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    for wanted in ("formed", "refused ..", "refused .git", "refused .GIT", "bomb has 57 MiB; a file has at most 50 MiB", "at most 100 MiB"):
        assert wanted in said, (wanted, said)
    assert not marker.exists(), "a hook ran on the host"
    # Attributes that call everything binary hide nothing from a reviewer.
    artifact = diff_of(shop, run["id"])
    shown = shop.client.must("GET", f"/v1/reviews/{artifact}/diff/file?path=hooks/post-checkout").data
    assert not shown["file"]["binary"] and len(shown["hunks"][0]["lines"]) == 2, shown
    assert any("LFS" in text for text in shop.texts(run["id"])), shop.texts(run["id"])
    quarantine = shop.server.data_dir / "quarantine" / run["id"] / (repo["id"] + ".git")
    files = sorted(str(path.relative_to(quarantine)) for path in quarantine.rglob("*") if path.is_file())
    other = [name for name in files if not name.startswith("objects/pack/pack-")]
    assert other == ["HEAD", "config", "objects/info/alternates", "packed-refs"], files


def test_the_command_line_knows_repositories(binary, stack):
    forge, shop = shop_with(binary, stack)
    key = shop.client.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    environment = {"HONE_URL": shop.server.url, "HONE_API_KEY": key}
    hone = lambda *arguments: command(binary, *arguments, environment=environment)
    repo = add(shop, forge)
    assert "shop" in hone("repo", "list").stdout
    shown = hone("repo", "show", "shop")
    assert forge.url in shown.stdout and shown.returncode == 0, shown
    fetched = hone("repo", "fetch", "shop")
    assert fetched.returncode == 0 and "ready" in fetched.stdout, fetched
    assert "refs/tags/v1" in hone("repo", "refs", "shop").stdout
    assert "No session" in hone("repo", "branches", "shop").stderr + hone("repo", "branches", "shop").stdout
    added = hone("repo", "add", "ssh://example.com/x")
    assert added.returncode != 0 and "https" in added.stderr, added
    gone = hone("repo", "rm", "shop", "--yes")
    assert gone.returncode == 0, gone
    assert hone("repo", "show", repo["id"]).returncode == 5


CAPS = r"""
cd shop
back() { git reset -q --hard origin/main; git clean -qfd; }
say() { git push --force 2>&1 | grep -o "$1" | head -1; back; }
for i in $(seq 6); do echo $i > file$i; done; git add -A; git commit -qm files; say 'a branch changes at most 5 files'
head -c 2000000 /dev/zero > 'large one'; git add -A; git commit -qm large; say 'large one has 1 MiB; a file has at most 1 MiB'
for i in $(seq 40); do echo $i > file; git add -A; git commit -qm $i; done; say 'a push has at most 100 objects'
for i in 1 2 3; do head -c 900000 /dev/urandom > noise$i; done; git add -A; git commit -qm noise; say 'a push has at most 2 MiB'
# A few objects that name more files than there are atoms.
blob=$(echo x | git hash-object -w --stdin); tree=$(printf '100644 blob %s\tf\n' $blob | git mktree)
for i in $(seq 30); do tree=$(for j in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%s\n' $tree $j; done | git mktree); done
git push --force origin "$(git commit-tree -m bomb -p HEAD $tree):refs/heads/$(git branch --show-current)" 2>&1 | grep -o 'a branch changes at most 5 files' | head -1
# A module that is an option, and one that is a link.
printf '[submodule "x"]\n\tpath = x\n\turl = -u./evil\n' > .gitmodules; git add -A; git commit -qm option; say 'gitmodulesUrl'
link=$(printf /etc/passwd | git hash-object -w --stdin); tree=$(printf '120000 blob %s\t.gitmodules\n' $link | git mktree)
git push --force origin "$(git commit-tree -m link -p HEAD $tree):refs/heads/$(git branch --show-current)" 2>&1 | grep -o 'gitmodulesSymlink' | head -1
echo fine > readme.md; ln -s /etc/passwd link; printf x > "$(printf 'caf\351')"; git add -A; git commit -qm fine; git push -q --force 2>&1 && echo taken
"""


def test_pushes_have_caps_that_the_worker_hears_of_and_reviewers_see_what_is_odd(binary, stack):
    forge, shop = shop_with(binary, stack)
    shop.server.stop()
    shop.server.flags += ["--git-push-files", "5", "--git-push-file-bytes", "1MiB", "--git-push-objects", "100",
                          "--git-push-bytes", "2MiB"]
    shop.server.start()
    shop.client = shop.server.admin()
    add(shop, forge)
    run = shop.until(shop.start(*shell(CAPS), repos=[{"url": forge.url}])["id"])
    said = [text for text in shop.texts(run["id"], "message") if not text.startswith("remote:")]
    assert said == ["a branch changes at most 5 files", "large one has 1 MiB; a file has at most 1 MiB",
                    "a push has at most 100 objects", "a push has at most 2 MiB", "a branch changes at most 5 files",
                    "gitmodulesUrl", "gitmodulesSymlink", "taken"], (said, shop.texts(run["id"]))
    review = shop.client.must("GET", f"/v1/reviews/{diff_of(shop, run['id'])}").data
    flags = {(flag["kind"], flag["path"]) for flag in review["revisions"][0]["flags"]}
    assert {("name_collision", "readme.md"), ("symlink", "link")} <= flags, flags
    assert any(kind == "odd_name" for kind, _ in flags), flags


def test_a_mirror_of_hostile_objects_is_refused_and_old_faults_of_form_are_not(binary, stack):
    forge, shop = shop_with(binary, stack)
    def raw(kind, content):
        return subprocess.run(["git", "hash-object", "-w", "-t", kind, "--literally", "--stdin"], input=content,
                              cwd=forge.bare, capture_output=True, check=True).stdout.decode().strip()
    blob = raw("blob", b"x")
    tree = raw("tree", b"0100644 file\0" + bytes.fromhex(blob))  # a zero too many, as programs of 2008 wrote it
    old = raw("commit", f"tree {tree}\nauthor A<a@b> 1 +051800\ncommitter A <a@b> 1 +0000\n\nold\n".encode())
    git(forge.bare, "update-ref", "refs/heads/old", old)
    assert add(shop, forge)["state"] == "ready", shop.client.must("GET", "/v1/repos/shop").data
    for name in (b"..", b".git"):
        tree = raw("tree", b"100644 " + name + b"\0" + bytes.fromhex(blob))
        bad = raw("commit", f"tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nbad\n".encode())
        git(forge.bare, "update-ref", "refs/heads/bad", bad)
        failed = shop.client.must("POST", "/v1/repos/shop/fetch").data
        assert failed["state"] == "failed" and "fsck" in failed["error"], failed
    git(forge.bare, "update-ref", "-d", "refs/heads/bad")
    assert shop.client.must("POST", "/v1/repos/shop/fetch").data["state"] == "ready"


def test_a_repository_of_a_hundred_thousand_files_is_worked_on_in_one_folder(binary, stack):
    forge, shop = shop_with(binary, stack)
    names = "".join(f"M 100644 :1 d{number % 100}/file{number}\n" for number in range(100_000))
    head = git(forge.work, "rev-parse", "HEAD")
    made = (f"blob\nmark :1\ndata 2\nx\n\ncommit refs/heads/main\ncommitter A <a@b.c> 1 +0000\ndata 4\nmany\nfrom {head}\n"
            + names)
    subprocess.run(["git", "-C", str(forge.bare), "fast-import", "--quiet"], input=made.encode(), check=True)
    assert add(shop, forge)["state"] == "ready"
    script = """cd shop; ls d7 | wc -l; ls | grep -c '^d'; git config remote.origin.partialclonefilter; git show HEAD:d8/file8
        echo y > d7/file7; git commit -qam one; git push -q 2>&1 && echo pushed"""
    run = shop.until(shop.start(*shell(script), repos=[{"url": forge.url, "path": "d7"}])["id"])
    said = shop.texts(run["id"], "message")
    assert run["state"] == "succeeded" and said[:4] == ["1000", "1", "blob:none", "x"] and said[-1] == "pushed", (run, said)
    files = shop.client.must("GET", f"/v1/reviews/{diff_of(shop, run['id'])}/diff").data["files"]
    assert [file["path"] for file in files] == ["d7/file7"], files
