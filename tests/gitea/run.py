#!/usr/bin/env python3
"""The conformance suite of forges (tests/e2e/forge_faults.py) against a real Gitea, and how long its good path takes.

tests/gitea/run.py [--binary build/release/hone] [--list] [names…]   a name is part of a test's name

Gitea is built once from the Go module proxy: it needs Go and a C compiler. Tests whose faults a real Gitea cannot be made to
have run against the fake forges only.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(here), str(here.parent / "e2e"), str(here.parent)]

import forge_faults  # noqa: E402
import real_gitea  # noqa: E402
import reviews  # noqa: E402
import suite  # noqa: E402

reviews.FORGES["real gitea"] = real_gitea.RealGitea
forge_faults.KINDS = ("real gitea",)
# These make fakes of their own: they hang, or are below a path.
ONLY_FAKES = ("a gitea below a path gets pull requests", "one of three forges hangs and the others do not wait",
              "why a repository cannot be registered is explained")


def test_the_good_path_is_quick(binary, stack):
    """Single observations on a machine that may be busy; printed, not compared."""
    bench = forge_faults.Bench(binary, stack, "real gitea")
    def timed(what, work):
        start = time.monotonic()
        result = work()
        print(f"      {time.monotonic() - start:6.2f} s  {what}")
        return result
    timed("fetch", lambda: bench.client.must("POST", "/v1/repos/shop/fetch"))
    run = timed("session: clone, commit, push, end", bench.push)
    artifact = timed("the diff is there", lambda: bench.review(run))["artifact"]["id"]
    def approve():
        bench.approve(artifact)
        return bench.pull_request(artifact, "open", "failed")
    pull = timed("approved to open pull request", approve)
    assert pull["state"] == "open", pull
    bench.next_revision(run, 2)
    def update():
        bench.approve(artifact, 2)
        return bench.until(pull, "revision 2 is there", lambda now: now["delivered_revision"] == 2 and now["update_state"] == "")
    timed("second approval to updated pull request", update)
    bench.forge.control(merge=1)
    timed("merge noticed after sync", lambda: bench.synced(pull, "merged", lambda now: now["state"] == "merged"))


def main():
    tests = list(suite.tests_of(["forge_faults"])) + [("gitea: the good path is quick", test_the_good_path_is_quick)]
    wanted = [word.replace("_", " ") for word in sys.argv[1:] if not word.startswith("--") and not word.endswith("hone")]
    binary = pathlib.Path(sys.argv[sys.argv.index("--binary") + 1] if "--binary" in sys.argv else "build/release/hone").absolute()
    tests = [(name, work) for name, work in tests
             if not name.endswith(ONLY_FAKES) and (not wanted or any(word in name for word in wanted))]
    if "--list" in sys.argv:
        print("\n".join(name for name, _ in tests))
        return 0
    real_gitea.build()
    with tempfile.NamedTemporaryFile(prefix="hone-faults-") as table:
        os.environ["HONE_FAULT_TABLE"] = table.name
        outcomes = {name: suite.outcome_of(name, work, binary) for name, work in tests}
        forge_faults.print_table([json.loads(line) for line in pathlib.Path(table.name).read_text().splitlines()])
    failed = sum(outcome == "FAIL" for outcome in outcomes.values())
    print(f"{sum(outcome == 'ok' for outcome in outcomes.values())} passed, {failed} failed, "
          f"{sum(outcome == 'skip' for outcome in outcomes.values())} skipped")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
