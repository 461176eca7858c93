"""The workbench end to end: a worker gets what a real repository needs, through the broker, and so does verification."""

import json
import pathlib
import tempfile

import registries
import workbench_repos
from repos import Forge, diff_of, git, settled
from runs import Shop, shell
from server import wait_until

# Fails, is mended, passes; and the branch is pushed.
WORKER = """
cd {name}
if {check} > /tmp/before 2>&1; then echo 'it passes already'; exit 1; fi
{mend}
{check} || exit 1
git add -A && git commit -qm 'Mend it' && git push 2>&1 && git status --porcelain && git show --stat --format= HEAD
"""


class Bench:
    """A forge with all repositories, and a server that reaches the registries of this machine."""

    def __init__(self, binary, stack, *flags, kinds=None):
        self.forge = Forge(stack)
        self.scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-repos-")))
        kinds = kinds if kinds is not None else {"npm": registries.npm(), "pypi": registries.pypi()}
        authorities = self.scratch / "authorities.pem"
        authorities.write_text(self.forge.certificate.read_text())
        given = registries.flags(stack, kinds, authorities)
        self.shop = Shop(binary, stack, "--egress-ca-file", str(authorities), *given, *flags)
        self.shop.patience = 600  # installing takes as long as the machine lets it
        self.client = self.shop.client

    def add(self, name, write):
        """A repository on the forge, known to the server."""
        work = self.scratch / name
        git(self.scratch, "init", "-q", "-b", "main", str(work))
        write(work)
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", "first")
        bare = self.forge.root / f"team/{name}.git"
        git(self.scratch, "clone", "-q", "--bare", str(work), str(bare))
        url = f"{self.forge.home}/team/{name}.git"
        self.client.must("POST", "/v1/repos", {"url": url, "allow_private": True})
        return url

    def change(self, name, message="change"):
        work = self.scratch / name
        git(work, "add", "-A")
        git(work, "commit", "-q", "-m", message)
        git(work, "push", "-q", str(self.forge.root / f"team/{name}.git"), "main")
        self.client.must("POST", f"/v1/repos/{name}/fetch")
        repo = settled(self.shop, name)
        assert repo["state"] == "ready", repo

    def start(self, url, script, check="true", sandbox=None, **more):
        review = {"verification": [{"name": "tests", "command": check}]}
        return self.shop.start(*shell(script), repos=[{"url": url}], review=review,
                               sandbox={"init_seconds": 300} | (sandbox or {}), **more)["id"]

    def setup_steps(self, id):
        return [event["text"] for event in self.shop.events(id) if event["step"] == "setup"]

    def verified(self, run):
        artifact = diff_of(self.shop, run)
        def over():
            revision = self.client.must("GET", f"/v1/reviews/{artifact}").data["revisions"][0]
            return revision if revision["verification"] in ("green", "red", "failed") else None
        return artifact, wait_until(over, "the commands ran", 300)

    def egress(self, id):
        return self.client.must("GET", f"/v1/runs/{id}/egress?limit=1000").data


def results_of(revision):
    return {one["name"]: tuple(one[side] and one[side]["exit_code"] for side in ("base", "branch"))
            for one in revision["verification_results"]}


def mended(binary, stack, make, **sandbox):
    """Clone, setup, a worker that mends, verification on base and branch; then the same again with a warm layer."""
    bench = Bench(binary, stack)
    repository = make(bench.scratch)
    url = bench.add(repository.name, repository.write)
    script = WORKER.format(name=repository.name, check=repository.check, mend=repository.mend)
    wanted = {"packages": repository.packages, "setup": repository.setup} | sandbox
    id = bench.start(url, script, repository.check, wanted)
    run = bench.shop.until(id)
    assert run["state"] == "succeeded", (run, bench.shop.texts(id))
    artifact, revision = bench.verified(id)
    assert revision["verification"] == "green", json.dumps(revision, indent=1)
    again = bench.start(url, "true", repository.check, wanted)
    assert bench.shop.until(again)["state"] == "succeeded", bench.shop.texts(again)
    bench.client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1, "allow_protected": True})
    return bench, id, again, results_of(revision)


def test_a_node_repository_with_vitest_is_set_up_mended_and_verified(binary, stack):
    bench, id, again, results = mended(binary, stack, workbench_repos.node)
    assert results == {"setup": (0, 0), "tests": (1, 0)}, results
    assert "setup by package-lock.json took" in bench.setup_steps(id)[0], bench.setup_steps(id)
    assert "reused" in bench.setup_steps(again)[0], bench.setup_steps(again)
    # Only what the worker changed is in the branch, and the mirror was only read.
    shown = bench.shop.texts(id, "message")
    assert not any("node_modules" in line for line in shown), shown
    requests = bench.egress(id)
    assert requests and all(one["allowed"] and one["method"] in ("GET", "HEAD") for one in requests), requests
    assert not bench.egress(again), "the warm start asked a registry"


def test_a_python_repository_with_a_wheel_is_set_up_mended_and_verified(binary, stack):
    bench, id, again, results = mended(binary, stack, workbench_repos.python)
    assert results == {"setup": (0, 0), "tests": (1, 0)}, results
    assert "setup by requirements.txt took" in bench.setup_steps(id)[0], bench.setup_steps(id)
    assert "reused" in bench.setup_steps(again)[0], bench.setup_steps(again)


def test_a_c_plus_plus_repository_needs_nothing_and_is_mended_and_verified(binary, stack):
    bench, id, again, results = mended(binary, stack, workbench_repos.cplusplus)
    assert results == {"tests": (8, 0)}, results  # of ctest
    assert bench.setup_steps(id) == ["cplusplus names nothing to install."], bench.setup_steps(id)


def test_a_monorepo_is_set_up_in_each_of_its_folders(binary, stack):
    bench, id, again, results = mended(binary, stack, workbench_repos.monorepo)
    assert results == {"setup": (0, 0), "tests": (1, 0)}, results
    step = bench.setup_steps(id)[0]
    assert "packages/web/package-lock.json, services/api/requirements.txt" in step, step


def test_a_broken_lock_file_is_told_mended_and_verified_with_a_layer_of_the_branch(binary, stack):
    bench, id, again, results = mended(binary, stack, workbench_repos.broken_lock, init_failure="degrade")
    assert results == {"setup": (1, 0), "tests": (1, 0)}, results
    for run in (id, again):  # the branch's layer is not that of the base
        step = bench.setup_steps(run)[0]
        assert "Setup failed; the run continues without it." in step and "npm ci" in step, step
    # By default a run does not start without what it needs.
    url = f"{bench.forge.home}/team/broken-lock.git"
    strict = bench.shop.until(bench.start(url, "true", sandbox={"packages": ["npm"], "setup": "auto"}))
    assert strict["state"] == "failed" and "setup (package-lock.json) exited with 1" in strict["reason"], strict
