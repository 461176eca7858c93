"""Runs with an init script in pods: what the script left in the home is built once, in a pod, and is there in later ones."""

import contextlib
import hashlib
import pathlib
import shutil
import tempfile

from ends import WORKERS, pods
from repos import Forge, add, skill_for
from runs import Shop, shell
from serve import PODS
from server import wait_until

BUILT = "The init script ran in a pod"


def prepared(script, **more):
    return PODS | {"sandbox": PODS["sandbox"] | {"init_script": script} | more}


@contextlib.contextmanager
def a_server(cluster, *words):
    with contextlib.ExitStack() as stack:
        given = zip(("kubeconfig", "namespace", "image"), (cluster.kubeconfig, *WORKERS))
        words = [word for name, value in given for word in (f"--kubernetes-{name}", str(value))] + list(words)
        Shop.patience = 180
        shop = Shop(str(cluster.hone), stack, *words)
        shop.stack = stack
        yield shop


def layers_of(shop):
    return sorted(path for path in (shop.server.data_dir / "sandbox/layers").glob("v2-*") if path.is_dir())


def nothing_half_made(shop):
    return not [path for path in (shop.server.data_dir / "sandbox/layers").iterdir() if path.name.startswith(".")]


def ended(shop, script, **settings):
    run = shop.until(shop.start(*shell(script), **settings)["id"])
    return run, "\n".join(shop.texts(run["id"]))


def works(shop, script, **settings):
    run, texts = ended(shop, script, **settings)
    assert run["state"] == "succeeded", (run, texts)
    return shop.texts(run["id"], "message"), texts


def a_script_runs_once_for_each_content(cluster, _):
    with a_server(cluster) as shop:
        before = pods(cluster)
        first = prepared("mkdir -p ~/.local/bin; echo '#!/bin/sh\necho from the tool' > ~/.local/bin/tool; "
                         "chmod 755 ~/.local/bin/tool; echo noise; echo gone > /workspace/gone; echo $OF_PRESET", env={"OF_PRESET": "value"})
        said, texts = works(shop, "tool; ls /workspace; echo changed > ~/.local/bin/tool", **first)
        assert said == ["from the tool"], said
        assert BUILT in texts and "noise\nvalue\n" in texts, texts
        said, texts = works(shop, "tool; ls -a ~", **first)
        assert said == ["from the tool", ".", "..", ".local"] and BUILT not in texts and "reused" in texts, (said, texts)
        assert len(layers_of(shop)) == 1
        # Another value of a variable is another content, and so is another script.
        for other in (prepared(first["sandbox"]["init_script"], env={"OF_PRESET": "other"}), prepared("echo 2 > ~/second; sleep 1")):
            _said, texts = works(shop, "true", **other)
            assert BUILT in texts, texts
        assert len(layers_of(shop)) == 3
        said, texts = works(shop, "ls -a ~", **prepared("echo 2 > ~/second; sleep 1"))
        assert said == [".", "..", "second"] and BUILT not in texts, (said, texts)
        wait_until(lambda: pods(cluster) == before, "no pod is left", 60)


def two_runs_that_need_the_same_layer_build_it_once(cluster, _):
    with a_server(cluster) as shop:
        wanted = prepared("sleep 2; echo made > ~/marker")
        runs = [shop.start(*shell("cat ~/marker"), **wanted)["id"] for _ in range(2)]
        for run in runs:
            assert shop.until(run)["state"] == "succeeded", shop.texts(run)
            assert shop.texts(run, "message") == ["made"], shop.texts(run)
        assert sum(BUILT in text for run in runs for text in shop.texts(run)) == 1


def a_script_that_fails_ends_the_run_or_not_as_it_was_set(cluster, _):
    with a_server(cluster) as shop:
        before = pods(cluster)
        run, texts = ended(shop, "true", **prepared("echo trying > ~/half; echo 'no such luck'; exit 3"))
        assert run["state"] == "failed" and run["reason"].startswith("the init script exited with 3\nno such luck"), run
        assert "only /home/worker is kept" in run["reason"], run
        # Outside of its home and /tmp there is nothing that it could write.
        for place in ("/usr/bin/tool", "/opt/tool", "/etc/tool"):
            run, texts = ended(shop, "true", **prepared(f"mkdir -p {place.rpartition('/')[0]}; touch {place}"))
            assert run["state"] == "failed" and ("Read-only file system" in run["reason"] or "Permission denied" in run["reason"]), run
        run, texts = ended(shop, "true", **prepared("echo begun; sleep 600", init_seconds=1))
        assert run["state"] == "failed" and run["reason"].startswith("the init script ran into its limit: timeout\nbegun"), run
        assert not layers_of(shop)
        said, texts = works(shop, "ls ~; echo works", **prepared("echo half > ~/half; exit 3", init_failure="degrade"))
        assert said == ["works"] and "the run continues without it" in texts, (said, texts)
        assert not layers_of(shop)
        wait_until(lambda: pods(cluster) == before, "no pod is left", 60)


def what_a_script_leaves_does_no_harm(cluster, _):
    with a_server(cluster) as shop:
        script = ("mkdir -p ~/deep/er ~/closed; echo x > ~/closed/file; chmod 500 ~/closed; ln -s /etc ~/out; ln -s ../../.. ~/up; "
                  "echo a > ~/deep/file; ln ~/deep/file ~/hard; touch \"$HOME/new\nline\" ~/-rf; cp /bin/true ~/set; chmod 6755 ~/set; "
                  "mkfifo ~/pipe; echo made > ~/.hone-layer; sleep 300 & echo left > ~/left")
        said, texts = works(shop, "cd; cat closed/file hard left; stat -c '%a' closed set; stat -c '%h' hard; readlink out up; ls -d -- -rf; "
                            "test ! -e pipe && test ! -e .hone-layer && echo plain", **prepared(script))
        assert said == ["x", "a", "left", "500", "755", "2", "/etc", "../../..", "-rf", "plain"], (said, texts)
        # Nothing of it is unpacked where the server is.
        for layer in layers_of(shop):
            assert sorted(path.name for path in (layer / "upper").iterdir()) == ["home", "image", "sha256"], list(layer.iterdir())
        run, texts = ended(shop, "true", **prepared("cd; for i in $(seq 120); do mkdir d; cd d; done"))
        assert run["state"] == "failed" and "too many directories inside each other" in run["reason"], run
        assert len(layers_of(shop)) == 1


def a_script_reaches_the_hosts_that_are_set_for_it_through_the_broker(cluster, _):
    with a_server(cluster) as shop:
        fetch = "wget -q -O /dev/null http://example.org/a || true; echo ${http_proxy:+through} a proxy > ~/proxy"
        for hosts, said, rows in ((["allowed.example"], "through a proxy", [(False, "example.org:80", "/a")]), ([], "a proxy", [])):
            id = shop.start(*shell("cat ~/proxy"), **prepared(fetch, setup_hosts=hosts))["id"]
            assert shop.until(id)["state"] == "succeeded", shop.texts(id)
            assert [text.strip() for text in shop.texts(id, "message")] == [said], shop.texts(id)
            found = shop.client.must("GET", f"/v1/runs/{id}/egress").data
            assert [(row["allowed"], row["target"], row["path"]) for row in found] == rows, found


def a_layer_that_was_damaged_or_is_of_another_image_is_built_again(cluster, _):
    with a_server(cluster) as shop:
        wanted = prepared("echo made > ~/marker")
        works(shop, "cat ~/marker", **wanted)
        (layer,) = layers_of(shop)
        contents = bytearray((layer / "upper/home").read_bytes())
        contents[-10] ^= 1
        (layer / "upper/home").write_bytes(contents)
        said, texts = works(shop, "cat ~/marker", **wanted)
        assert said == ["made"] and "another SHA-256" in texts and BUILT in texts, (said, texts)
        cluster.control(do="node", image="worker@sha256:" + 64 * "1")
        try:
            said, texts = works(shop, "cat ~/marker", **wanted)
            assert said == ["made"] and "by its digest" in texts and BUILT in texts, (said, texts)
            said, texts = works(shop, "cat ~/marker", **wanted)
            assert said == ["made"] and BUILT not in texts, (said, texts)
        finally:
            cluster.control(do="node", image="worker@sha256:" + 64 * "0")
        assert layers_of(shop) == [layer]


def channels_that_are_cut_lose_nothing_of_a_layer(cluster, _):
    with a_server(cluster) as shop:
        wanted = prepared("head -c 30000000 /dev/urandom > ~/large; sha256sum < ~/large")
        hashes = []
        for _ in range(2):  # out of the pod of the script, and into that of the run
            run = shop.start(*shell("sha256sum < ~/large"), **wanted)["id"]
            is_preparing = lambda: shop.run(run)["state"] in ("queued", "preparing")
            for _ in range(6):
                wait_until(lambda: cluster.control(do="state")["execs"] or not is_preparing(), "there is a channel", 60)
                cluster.control(do="cut_exec")
            assert shop.until(run)["state"] == "succeeded", shop.texts(run)
            assert BUILT in "\n".join(shop.texts(run)) or hashes, shop.texts(run)
            hashes += shop.texts(run, "message")
            assert hashes[0] in "\n".join(shop.texts(run)), hashes
        assert len(hashes) == 2 and len(set(hashes)) == 1, hashes
        (layer,) = layers_of(shop)
        assert hashlib.sha256((layer / "upper/home").read_bytes()).hexdigest() == (layer / "upper/sha256").read_text()


def a_server_that_is_killed_while_a_script_runs_builds_it_again(cluster, _):
    with a_server(cluster) as shop:
        before = pods(cluster)
        run = shop.start(*shell("cat ~/marker"), **prepared("echo begun; sleep 4; echo made > ~/marker"))["id"]
        wait_until(lambda: pods(cluster) - before, "the script has a pod", 60)
        first = pods(cluster) - before
        shop.again()
        assert shop.until(run)["state"] == "succeeded", shop.texts(run)
        assert shop.texts(run, "message") == ["made"], shop.texts(run)
        wait_until(lambda: pods(cluster) == before, f"neither {first} nor another pod is left", 60)
        assert len(layers_of(shop)) == 1
        assert nothing_half_made(shop)


def a_run_that_is_cancelled_while_its_script_runs_ends(cluster, _):
    with a_server(cluster) as shop:
        before = pods(cluster)
        run = shop.start(*shell("true"), **prepared("sleep 600"))["id"]
        wait_until(lambda: pods(cluster) - before, "the script has a pod", 60)
        shop.client.must("POST", f"/v1/runs/{run}/cancel", {})
        assert shop.until(run)["state"] == "cancelled"
        wait_until(lambda: pods(cluster) == before, "no pod is left", 60)
        assert not layers_of(shop)


def a_script_that_finds_no_room_waits_as_a_run_does(cluster, _):
    with a_server(cluster) as shop:
        cluster.control(do="quota", pods=len(pods(cluster)))
        try:
            run = shop.start(*shell("cat ~/marker"), **prepared("echo made > ~/marker"))["id"]
            wait_until(lambda: any(event["state"] == "queued" for event in shop.events(run)[1:]), "it is queued again", 120)
            assert "quota" in shop.run(run)["reason"], shop.run(run)
        finally:
            cluster.control(do="quota", pods=None)
        assert shop.until(run)["state"] == "succeeded", shop.texts(run)


def a_home_on_a_volume_gets_its_layer_once(cluster, _):
    with a_server(cluster, "--kubernetes-storage-class", "default") as shop:
        wanted = prepared("echo of the script > ~/marker; echo tool > ~/tool")
        id = shop.start(*shell("cat ~/marker ~/tool; echo of the session > ~/marker; rm ~/tool"), prompt="first", **wanted)["id"]
        assert shop.until(id)["state"] == "succeeded", shop.texts(id)
        assert shop.texts(id, "message") == ["of the script", "tool"], shop.texts(id)
        # Another session begins with what the script made.
        said, _texts = works(shop, "cat ~/marker", **wanted)
        assert said == ["of the script"], said
        for layer in layers_of(shop):  # also when it is not there any more, and is built again
            assert (layer / "upper/home").exists()
        shop.client.must("POST", f"/v1/runs/{id}/messages", {"text": "second"})
        wait_until(lambda: shop.run(id)["turns"] == 2 and shop.run(id)["state"] in ("succeeded", "failed"), "the follow-up is done", 180)
        assert shop.texts(id, "message")[2:] == ["of the session"], shop.texts(id)


def pods_that_were_prepared_get_the_layer_of_their_run(cluster, _):
    with a_server(cluster, "--kubernetes-ready", "2") as shop:
        for turn in range(2):
            for letter in "abc":
                said, texts = works(shop, "ls ~; cat ~/" + letter, **prepared(f"echo {letter} > ~/{letter}"))
                assert said == [letter, letter], (said, texts)
                assert (BUILT in texts) == (turn == 0), texts
            said, texts = works(shop, "ls ~; echo none", **PODS)
            assert said == ["none"], (said, texts)


def servers_share_layers_of_pods_through_the_object_store(cluster, _):
    with contextlib.ExitStack() as stack:
        shared = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-objects-")))
        shop = stack.enter_context(a_server(cluster, "--object-store", f"file:{shared}"))
        wanted = prepared("echo made > ~/marker")
        works(shop, "cat ~/marker", **wanted)
        manifest = wait_until(lambda: list(shared.glob("layers/*/manifest")), "the layer is in the store")[0]
        (layer,) = layers_of(shop)
        shutil.rmtree(layer)
        said, texts = works(shop, "cat ~/marker", **wanted)
        assert said == ["made"] and "of another server fetched" in texts, (said, texts)
        shutil.rmtree(layer)
        contents = next(path for path in manifest.parent.iterdir() if path.name != "manifest")
        damaged = bytearray(contents.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        contents.write_bytes(damaged)
        said, texts = works(shop, "cat ~/marker", **wanted)
        assert said == ["made"] and BUILT in texts, (said, texts)


def a_repository_gets_its_setup_over_the_init_script(cluster, _):
    with contextlib.ExitStack() as stack:
        forge = Forge(stack)
        shop = stack.enter_context(a_server(cluster, "--egress-ca-file", str(forge.certificate)))
        add(shop, forge, skill=skill_for(shop, forge))
        wanted = prepared("mkdir -p ~/.local/bin; echo 'echo tool' > ~/.local/bin/tool; chmod 755 ~/.local/bin/tool",
                          setup="tool > built.txt; mkdir -p deps/one; echo dep > deps/one/file; cat README.md > ~/readme")
        look = "cd shop; cat built.txt deps/one/file ~/readme; tool; git status --porcelain"
        for turn in range(2):
            said, texts = works(shop, look, repos=[{"url": forge.url}], **wanted)
            assert said == ["tool", "dep", "a shop", "tool"], (said, texts)
            assert ("its result is kept for later runs" in texts) == (turn == 0), texts
        assert len(layers_of(shop)) == 2
        failing = prepared("true", setup="echo trying; exit 4")
        run, texts = ended(shop, "true", repos=[{"url": forge.url}], **failing)
        assert run["state"] == "failed" and "exited with 4" in run["reason"], run


CASES = [a_script_runs_once_for_each_content, two_runs_that_need_the_same_layer_build_it_once,
         a_script_that_fails_ends_the_run_or_not_as_it_was_set, what_a_script_leaves_does_no_harm,
         a_script_reaches_the_hosts_that_are_set_for_it_through_the_broker,
         a_layer_that_was_damaged_or_is_of_another_image_is_built_again, channels_that_are_cut_lose_nothing_of_a_layer,
         a_server_that_is_killed_while_a_script_runs_builds_it_again, a_run_that_is_cancelled_while_its_script_runs_ends,
         a_script_that_finds_no_room_waits_as_a_run_does, a_home_on_a_volume_gets_its_layer_once,
         pods_that_were_prepared_get_the_layer_of_their_run, servers_share_layers_of_pods_through_the_object_store,
         a_repository_gets_its_setup_over_the_init_script]
