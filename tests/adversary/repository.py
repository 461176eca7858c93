"""Boundary: what a repository contains. The attacker is its author: files, links, configuration, submodules and names of
branches that git, the worker and the server's own inspection of branches process. It wants a command on the host, or a file of
the host in what a worker or a reviewer sees."""

import os
import pathlib
import tempfile

from attack import assert_unseen, canary, tree, worker
from repos import add, diff_of, git, shop_with


class HostileRepository:
    """A registered repository whose every part would run `touch marker` on the host or show the file `secret`."""

    def __init__(self, binary, stack):
        self.forge, self.shop = shop_with(binary, stack)
        self.secret = canary("host")
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-marked-")))
        self.folder.chmod(0o777)
        self.marker = self.folder / "ran"
        self.data = self.shop.server.data_dir
        self.file = self.data / "canary"
        self.file.write_text(self.secret)
        self.plant(f"touch {self.marker}")
        self.forge.publish()
        git(self.forge.work, "push", "-q", str(self.forge.bare), "--all")
        self.repo = add(self.shop, self.forge)

    def plant(self, payload):
        work = self.forge.work
        (work / ".gitattributes").write_text("* filter=evil diff=evil merge=evil ident export-subst\n")
        (work / "home").mkdir()
        (work / "home/.gitconfig").write_text(f"[filter \"evil\"]\n\tsmudge = {payload}\n\tclean = {payload}\n[core]\n\thooksPath = .githooks\n")
        (work / ".lfsconfig").write_text("[lfs]\n\turl = http://127.0.0.1:1/\n")
        for folder in (".githooks", "hooks"):
            (work / folder).mkdir()
            for hook in ("post-checkout", "post-merge", "pre-commit", "pre-push", "update"):
                (work / folder / hook).write_text(f"#!/bin/sh\n{payload}\n")
                (work / folder / hook).chmod(0o755)
        # A folder that looks like a repository of its own, with a configuration that runs a program.
        nested = work / "nested"
        (nested / "objects").mkdir(parents=True)
        (nested / "refs/heads").mkdir(parents=True)
        (nested / "HEAD").write_text("ref: refs/heads/main\n")
        (nested / "objects/keep").write_text("")
        (nested / "refs/heads/keep").write_text("0" * 40 + "\n")
        (nested / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = {payload}\n\tsshCommand = {payload}\n\tpager = {payload}\n")
        for name, target in {"passwd": "/etc/shadow", "leak": str(self.file), "key": str(self.data / "master.key"), "up": "../../../.."}.items():
            os.symlink(target, work / name)
        (work / ".gitmodules").write_text(
            f'[submodule "deep"]\n\tpath = deep\n\turl = ext::sh -c {payload.replace(" ", "% ")}\n\tupdate = checkout\n')
        head = git(work, "rev-parse", "HEAD")
        git(work, "update-index", "--add", "--cacheinfo", f"160000,{head},deep")
        self.forge.commit("README.md", "hello \x1b]0;owned\x07 `touch` $(touch)\n")
        for name in (f"x;touch${{IFS}}{self.marker}", f"$(touch${{IFS}}{self.marker})", f"`touch${{IFS}}{self.marker}`"):
            git(work, "branch", "--", name)


USE = r"""
cd shop
head -c 5 README.md; echo
git status -s | head -3; git log --stat -1 | tail -1; git diff --stat HEAD~1 | tail -1
(cd nested && git status) >/dev/null 2>&1; HOME=$PWD/home git status >/dev/null 2>&1
git submodule update --init 2>&1 | tail -1
for link in passwd leak key; do cat $link 2>&1; done
ls up/ up/tmp 2>/dev/null | head -20
sh .githooks/post-checkout 2>/dev/null; git checkout -q -b more 2>/dev/null; git checkout -q - 2>/dev/null
ln -s SECRET_FILE second; git add second; git -c user.email=a@b -c user.name=a commit -qm 'Links'; git push -q 2>&1 && echo pushed
"""


def test_a_repository_runs_a_command_on_the_host_or_shows_one_of_its_files(binary, stack):
    """Gain: code outside of the sandbox by hooks, filters, a nested repository, a submodule or a name of a branch; the master key by
    a link that the server or the worker follows."""
    victim = HostileRepository(binary, stack)
    assert victim.repo["state"] == "ready", victim.repo  # the control: it is fetched, not rejected
    before = tree(victim.data / "sandbox/base")
    run, lines = worker(victim.shop, USE.replace("SECRET_FILE", str(victim.file)), repos=[{"url": victim.forge.url}])
    assert lines[0] == "hello" and lines[-1] == "pushed", lines
    # What the attacker sees: neither through the worker nor through the reviewer's pages does the host's file come out.
    artifact = diff_of(victim.shop, run["id"])
    client = victim.shop.client
    pages = [client.get(f"/v1/reviews/{artifact}{path}").text for path in ("", "/diff", "/patch", "/diff/file?path=second")]
    pages += [client.get(f"/v1/repos/{victim.repo['id']}{path}").text for path in ("", "/refs")]
    assert str(victim.file) in pages[2], pages[2]  # the control: the link itself is shown, as the path that it is
    key = (victim.data / "master.key").read_bytes().strip().decode(errors="replace")
    for secret in (victim.secret, key):
        assert_unseen(secret, "\n".join(lines), *pages)
    assert not any(line.startswith("root:") for line in lines), lines
    # What the victim lost: nothing ran on the host, and the layers below every sandbox are as they were.
    assert not list(victim.folder.iterdir()), list(victim.folder.iterdir())
    assert tree(victim.data / "sandbox/base") == before
    assert victim.file.read_text() == victim.secret


def test_a_repository_with_a_name_like_an_option_or_a_command(binary, stack):
    """Gain: an option of git in place of an address or a branch: `--upload-pack=…` runs a program on the host."""
    victim = HostileRepository(binary, stack)
    client = victim.shop.client
    urls = {f"--upload-pack=touch {victim.marker}": 400, f"ext::sh -c touch% {victim.marker}": 400, f"fd::7/{victim.marker}": 400,
            f"{victim.forge.home}/../{victim.data}": 400, f"https://x@{victim.forge.home[8:]}/team/shop.git": 400,
            f"file://{victim.data}": 403, "file:///etc": 403}
    for url, status in urls.items():
        client.must("POST", "/v1/repos", {"url": url, "name": "evil", "allow_private": True}, status)
    # What cannot be an option is taken as the name of a branch: one that exists, and one that does not.
    refs = {f"--upload-pack=touch {victim.marker}": 400, "-u./x": 400, f"x;touch${{IFS}}{victim.marker}": 200,
            f"main^{{commit}} --exec=touch {victim.marker}": 200}
    for ref, status in refs.items():
        body = {"project": "shop", "prompt": "go", "settings": {"harness": "command", "command": ["/bin/true"],
                                                                 "repos": [{"url": victim.forge.url, "ref": ref}]}}
        started = client.must("POST", "/v1/runs", body, status)
        if status == 200:
            victim.shop.until(started.data["id"])
    assert not list(victim.folder.iterdir()), list(victim.folder.iterdir())
