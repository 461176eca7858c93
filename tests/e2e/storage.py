"""What the server keeps on its disk and removes by itself, with real runs: limits, deletions, kills."""

import http.client
import os
import threading

from run_files import names
from runs import Shop, shell
from server import wait_until


def sizes(client):
    return {kind["kind"]: kind for kind in client.must("GET", "/v1/storage").data["kinds"]}


def bytes_below(folder):
    """What is on disk, holes left out."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def volumes(shop):
    threads = shop.server.data_dir / "sandbox" / "threads"
    return [path for path in threads.glob("*") if path.suffix in (".ext4", ".files") and not path.name.startswith("empty-")]


# Of a server that is to stay small; and what each run writes to its workspace and leaves as an artifact.
SMALL = ["--run-places", "8", "--run-places-per-space", "8", "--keep-runs", "count=60", "--keep-workspaces", "count=20 bytes=200m",
         "--keep-layers", "count=3", "--keep-artifacts", "bytes=1m"]
WORKSPACE_BYTES, NOTE_BYTES = 200_000, 20_000


def many_runs(shop, batches, after_batch=lambda: None):
    """25 runs for each batch, each batch with a layer of its own."""
    script = f"head -c {WORKSPACE_BYTES} /dev/urandom > data; head -c {NOTE_BYTES} /dev/urandom | base64 > note; hone save_file --name note.txt --text @note"
    for batch in range(batches):
        ids = [shop.start(*shell(script), sandbox={"init_script": f"echo {batch} > /home/worker/layer", "disk_bytes": 8 << 20})["id"]
               for _ in range(25)]
        for id in ids:
            assert shop.until(id)["state"] == "succeeded", shop.texts(id)
        after_batch()
        # Before there are twice as many artifacts as are kept: then a run could save none.
        shop.client.must("POST", "/v1/storage/collect", {})
    shop.client.must("POST", "/v1/storage/collect", {})


def test_five_hundred_runs_with_layers_threads_and_artifacts_stay_under_their_limits(binary, stack):
    shop = Shop(binary, stack, *SMALL)
    many_runs(shop, 20)
    kinds = sizes(shop.client)
    assert kinds["runs"]["count"] <= 60, kinds["runs"]
    assert kinds["workspaces"]["count"] <= 20 and kinds["workspaces"]["bytes"] <= 200 << 20, kinds["workspaces"]
    assert kinds["layers"]["count"] <= 3, kinds["layers"]
    assert kinds["artifacts"]["bytes"] <= 1 << 20, kinds["artifacts"]
    assert kinds["runs"]["removed"] == 500 - kinds["runs"]["count"], kinds["runs"]
    assert len(volumes(shop)) <= 20, volumes(shop)
    assert len(list((shop.server.data_dir / "sandbox" / "layers").glob("*/upper"))) <= 3
    assert not list((shop.server.data_dir / "runs").glob("*")) and not list((shop.server.data_dir / "sandbox" / "trash").glob("*"))
    for folder, most in (("sandbox/threads", 220 << 20), ("sandbox/layers", 20 << 20), ("artifacts", 40 << 20)):
        found = bytes_below(shop.server.data_dir / folder)
        assert found <= most, (folder, found)
    history = shop.client.must("GET", "/v1/storage/collections?limit=1000").data
    assert {entry["kind"] for entry in history} >= {"runs", "workspaces", "layers", "artifacts"}, history
    metrics = shop.client.call("GET", "/metrics").text
    assert 'hone_collected_total{kind="runs"}' in metrics, metrics


def test_what_a_live_run_and_a_person_need_stays(binary, stack):
    shop = Shop(binary, stack, "--keep-runs", "count=1", "--keep-workspaces", "count=1")
    live = shop.start(*shell("echo on > mark; echo ready; cat > /dev/null; sleep 600"))["id"]
    wait_until(lambda: "ready" in shop.texts(live, "message"), "the run works")
    kept = shop.start(*shell("echo kept > mark"))["id"]
    shop.until(kept)
    shop.client.must("PATCH", f"/v1/runs/{kept}", {"kept": True, "title": "the good one"})
    for _ in range(3):
        shop.until(shop.start(*shell("true"))["id"])
    shop.client.must("POST", "/v1/storage/collect", {})
    listed = [run["id"] for run in shop.client.must("GET", "/v1/runs").data]
    assert live in listed and kept in listed and len(listed) == 3, listed
    assert shop.run(kept)["title"] == "the good one" and shop.run(kept)["takes_follow_ups"]
    assert names(shop.client, live) == ["mark"], names(shop.client, live)
    assert shop.run(live)["state"] == "running"
    answer = shop.client.call("DELETE", f"/v1/runs/{live}")
    assert answer.status == 409 and "cancel" in answer.message, answer.text


def test_deleting_a_run_a_project_and_a_space_deletes_their_files(binary, stack):
    shop = Shop(binary, stack)
    single = shop.until(shop.start(*shell("echo x > mark; hone save_file --name note.txt --text secret"))["id"])["id"]
    space = shop.client.must("POST", "/v1/spaces", {"name": "other"}).data["id"]
    shop.client.must("POST", f"/v1/projects?space={space}", {"name": "shop"})
    body = {"project": "shop", "prompt": "look", "settings": {"harness": "command", "command": ["/bin/sh", "-c", "echo x > mark"]}}
    elsewhere = shop.client.must("POST", f"/v1/runs?space={space}", body).data["id"]
    shop.until(elsewhere)
    assert len(volumes(shop)) == 2, volumes(shop)
    shop.client.must("DELETE", f"/v1/runs/{single}", status=204)
    assert shop.client.call("GET", f"/v1/runs/{single}").status == 404
    wait_until(lambda: len(volumes(shop)) == 1, "the workspace of the run is deleted")
    shop.client.must("DELETE", f"/v1/spaces/{space}?confirm=other")
    wait_until(lambda: not volumes(shop), "the workspaces of the space are deleted")
    actions = [entry["action"] for entry in shop.client.must("GET", "/v1/audit?limit=50").data]
    assert "run_delete" in actions, actions


def test_a_server_that_is_killed_while_it_collects_goes_on_after_its_start(binary, stack):
    shop = Shop(binary, stack, "--keep-workspaces", "count=1", "--keep-runs", "count=30")
    ids = [shop.start(*shell("head -c 500000 /dev/urandom > data"), sandbox={"disk_bytes": 8 << 20})["id"] for _ in range(30)]
    for id in ids:
        shop.until(id)
    collecting = threading.Thread(target=collect_until_killed, args=(shop.client,))
    collecting.start()
    wait_until(lambda: len(volumes(shop)) < 30, "the collection has begun")
    shop.again()
    collecting.join()
    with_files = 0
    for run in shop.client.must("GET", "/v1/runs?limit=100").data:
        if run["takes_follow_ups"]:
            assert names(shop.client, run["id"]) == ["data"], run
            with_files += 1
    assert with_files >= 1
    shop.client.must("POST", "/v1/storage/collect", {})
    assert len(volumes(shop)) == 1, volumes(shop)
    assert not list((shop.server.data_dir / "sandbox" / "trash").glob("*"))


def collect_until_killed(client):
    try:
        client.call("POST", "/v1/storage/collect", {})
    except OSError:
        pass  # the server was killed
    except http.client.HTTPException:
        pass
