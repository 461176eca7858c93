"""What clones and pushes cost. See git.sh."""

import contextlib
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/e2e"))

from repos import git  # noqa: E402
from runs import Shop, shell  # noqa: E402
from server import wait_until  # noqa: E402

FILES = 400
MANY = 100_000


def make_repository(folder, mebibytes):
    """Half noise, half text: a pack neither all deltas nor none."""
    work = folder / "work"
    git(folder, "init", "-q", "-b", "main", str(work))
    size = mebibytes * (1 << 20) // FILES
    for number in range(FILES):
        file = work / f"part{number % 20}" / f"file{number}"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(os.urandom(size - (size >> 3)) + b"a line of text\n" * (size >> 7))
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "all")
    git(folder, "clone", "-q", "--bare", str(work), str(folder / "big.git"))
    git(folder / "big.git", "repack", "-q", "-a", "-d")
    return folder / "big.git"


def make_many(folder):
    """A hundred thousand small files in a thousand folders."""
    work = folder / "many"
    git(folder, "init", "-q", "-b", "main", str(work))
    for number in range(MANY):
        file = work / f"d{number % 100}" / f"e{number // 100 % 10}" / f"file{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"value = {number}\n")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "all")
    git(folder, "clone", "-q", "--bare", str(work), str(folder / "many.git"))
    git(folder / "many.git", "repack", "-q", "-a", "-d")
    shutil.rmtree(work)
    return folder / "many.git"


def timed(*arguments, folder):
    target = folder / "clone"
    shutil.rmtree(target, ignore_errors=True)
    os.sync()
    began = time.perf_counter()
    subprocess.run(["git", "clone", "-q", *arguments, str(target)], check=True, env=os.environ | {"HOME": str(folder)})
    took = time.perf_counter() - began
    shutil.rmtree(target)
    return took


WORK = """
clock() { date +%s%N; }
cd /workspace
for i in $(seq ROUNDS); do
    rm -rf again; sync; a=$(clock); git clone -q http://127.0.0.1:3129/git/NAME again; b=$(clock)
    echo "clone $((b - a))"
done
rm -rf again; cd NAME
for i in $(seq ROUNDS); do
    echo $i >> notes; git add notes; git commit -qm "note $i"
    a=$(clock); git push -q; b=$(clock); echo "push $((b - a))"
    sleep 2 # the next one does not wait for this one's diff
done
"""


def seconds_between(first, second):
    parse = datetime.datetime.fromisoformat
    return (parse(second.replace("Z", "+00:00")) - parse(first.replace("Z", "+00:00"))).total_seconds()


def review_times(shop, run):
    """From a push to its diff, and what a reviewer's page asks for then."""
    def ready():
        found = shop.client.must("GET", f"/v1/reviews?run={run}").data
        return found[0]["artifact"]["id"] if found and found[0]["diff_state"] == "ready" else None
    artifact = wait_until(ready, "the diff is there")
    review = shop.client.must("GET", f"/v1/reviews/{artifact}").data
    ready_after = statistics.median(seconds_between(one["pushed_at"], one["ready_at"]) for one in review["revisions"])
    began = time.perf_counter()
    shop.client.must("GET", f"/v1/reviews/{artifact}")
    shop.client.must("GET", f"/v1/reviews/{artifact}/diff")
    shop.client.must("GET", f"/v1/reviews/{artifact}/diff/file?path=notes")
    return ready_after, time.perf_counter() - began


def measure(shop, name, source, rounds):
    local = shop.server.data_dir / "repos" / f"{name}.git"
    local.parent.mkdir(exist_ok=True)
    shutil.copytree(source, local)
    script = WORK.replace("ROUNDS", str(rounds)).replace("NAME", name)
    run = shop.until(shop.start(*shell(script), repos=[{"url": f"file://{local}"}])["id"])
    said = shop.texts(run["id"], "message")
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    times = {"clone": [], "push": []}
    for line in said:
        kind, value = line.split()
        times[kind].append(int(value) / 1e9)
    assert len(times["clone"]) == len(times["push"]) == rounds, said
    ready, page = review_times(shop, run["id"])
    return {kind: statistics.median(values) for kind, values in times.items()} | {"ready": ready, "page": page}


def main():
    binary, rounds, mebibytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-bench-git-", dir="/var/tmp")))
        big = make_repository(folder, mebibytes)
        small = folder / "small.git"
        (folder / "little").mkdir()
        git(folder, "init", "-q", "-b", "main", str(folder / "little"))
        (folder / "little/file").write_text("little\n")
        git(folder / "little", "add", "-A")
        git(folder / "little", "commit", "-q", "-m", "one")
        git(folder, "clone", "-q", "--bare", str(folder / "little"), str(small))
        shop = Shop(binary, stack)
        measured, little = measure(shop, "big", big, rounds), measure(shop, "small", small, rounds)
        files = make_many(folder)
        many = measure(shop, "many", files, rounds)
        many_disk = statistics.median(timed(f"file://{files}", folder=folder) for _ in range(rounds))
        protocol = statistics.median(timed(f"file://{big}", folder=folder) for _ in range(rounds))
        copy = statistics.median(timed("--no-hardlinks", str(big), folder=folder) for _ in range(rounds))
        print(json.dumps({
            "mirror_mib": mebibytes,
            "gateway_clone_s": round(measured["clone"], 3),
            "disk_clone_s": round(protocol, 3),
            "disk_copy_s": round(copy, 3),
            "ratio": round(measured["clone"] / protocol, 2),
            "ratio_to_copy": round(measured["clone"] / copy, 2),
            "small_gateway_clone_s": round(little["clone"], 3),
            "push_s": round(measured["push"], 3),
            "small_push_s": round(little["push"], 3),
            "push_to_diff_s": round(measured["ready"], 3),
            "small_push_to_diff_s": round(little["ready"], 3),
            "review_page_s": round(measured["page"], 3),
            "many_files": MANY,
            "many_gateway_clone_s": round(many["clone"], 3),
            "many_disk_clone_s": round(many_disk, 3),
            "many_push_s": round(many["push"], 3),
            "many_push_to_diff_s": round(many["ready"], 3),
            "many_review_page_s": round(many["page"], 3),
        }, indent=2))


if __name__ == "__main__":
    main()
