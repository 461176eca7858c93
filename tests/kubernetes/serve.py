#!/usr/bin/env python3
"""Runs in pods through `hone serve`. Started by run.py in the network of the cluster.

serve.py HONE KUBECONFIG NAMESPACE IMAGE STORAGE_CLASS [ONLY]
"""

import base64
import contextlib
import json
import pathlib
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "e2e")]

from models import CALLS, KEY, Provider, model_skill  # noqa: E402
from repos import Forge, add, diff_of, skill_for  # noqa: E402
from runs import Shop, shell  # noqa: E402
from server import wait_until  # noqa: E402
from without_namespaces import BareShop, readable  # noqa: E402

PODS = {"provider": "kubernetes", "sandbox": {"memory_bytes": 128 << 20, "cpus": 0.2, "disk_bytes": 64 << 20}}
MOST_CPUS = 1000  # that a session may request here: more than any node has


def a_run_works_in_a_pod(shop):
    script = 'read line; echo "got $line"; pwd; echo file > /workspace/made; hone help | head -c 4; echo; echo oops >&2'
    run = shop.until(shop.start(*shell(script), prompt="hello\n", **PODS)["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    messages = shop.texts(run["id"], "message")
    assert messages[:2] == ["got hello", "/workspace"] and len(messages) == 3, messages
    assert run["provider"] == "kubernetes", run
    assert any("a pod with uid 1" in text for text in shop.texts(run["id"])), shop.texts(run["id"])


def files_of_a_live_run_are_read(shop):
    run = shop.start(*shell("echo content > made; echo ready; exec sleep 600"), **PODS)["id"]
    shop.until(run, "running")
    wait_until(lambda: "ready" in shop.texts(run, "message"), "it says that it is ready", 60)
    files = shop.client.must("GET", f"/v1/runs/{run}/files").data
    assert [entry["name"] for entry in files] == ["made"], files
    content = shop.client.call("GET", f"/v1/runs/{run}/files/content?path=made")
    assert content.status == 200 and "content" in content.text, content.text
    shop.client.must("POST", f"/v1/runs/{run}/cancel", {})
    assert shop.until(run)["state"] == "cancelled"


def what_a_pod_does_not_have_is_refused(shop):
    body = {"project": "shop", "prompt": "x", "settings": {"harness": "command", "command": ["true"], "provider": "kubernetes",
                                                          "sandbox": {"image": "debian"}}}
    refused = shop.client.call("POST", "/v1/runs", body)
    assert refused.status == 400 and "kubernetes does not have sandbox.image" in refused.text, refused.text


def what_an_init_script_left_in_the_home_is_there_in_later_runs(shop):
    script = "mkdir -p ~/.local/bin; echo 'echo from the tool' > ~/.local/bin/tool; chmod 755 ~/.local/bin/tool; echo of the script > ~/kept"
    wanted = PODS | {"sandbox": PODS["sandbox"] | {"init_script": script}}
    notes = []
    for _ in range(2):
        id = shop.start(*shell("tool; cat ~/kept; echo changed > ~/kept; cat > /dev/null"), prompt="first", **wanted)["id"]
        assert shop.until(id)["state"] == "succeeded", shop.texts(id)
        assert shop.texts(id, "message") == ["from the tool", "of the script"], shop.texts(id)
        notes.append("\n".join(shop.texts(id)))
    assert "The init script ran in a pod" in notes[0] and "reused" in notes[1], notes
    # The home is on a volume: a follow-up finds it as the session left it.
    shop.client.must("POST", f"/v1/runs/{id}/messages", {"text": "second"})
    wait_until(lambda: shop.run(id)["turns"] == 2 and shop.run(id)["state"] in ("succeeded", "failed"), "the follow-up is done", 180)
    assert shop.texts(id, "message")[2:] == ["from the tool", "changed"], shop.texts(id)
    # A changed script is another one, and one that fails ends its run.
    wanted["sandbox"]["init_script"] = "echo trying; touch /bin/tool"
    run = shop.until(shop.start("/bin/true", **wanted)["id"])
    assert run["state"] == "failed" and run["reason"].startswith("the init script exited with 1\n"), run
    assert "trying" in run["reason"] and "only /home/worker is kept" in run["reason"], run


def a_follow_up_finds_workspace_and_home_as_they_were_left(shop):
    id = shop.start(*shell("cat >> all.txt; cat all.txt; cat ~/kept 2> /dev/null; echo home > ~/kept; echo $HONE_RESUMED"),
                    prompt="first", **PODS)["id"]
    assert shop.until(id)["state"] == "succeeded", shop.texts(id)
    # Without a pod: another one reads the volume, as soon as the run's own has ended.
    files = lambda: shop.client.get(f"/v1/runs/{id}/files")
    listed = wait_until(lambda: (answer := files()).status != 429 and answer, "the volume is free")
    assert [entry["name"] for entry in listed.json["data"]] == ["all.txt"], listed.text
    shop.client.must("POST", f"/v1/runs/{id}/messages", {"text": "second"})
    wait_until(lambda: shop.run(id)["turns"] == 2 and shop.run(id)["state"] == "succeeded", "the follow-up is done", 180)
    assert shop.texts(id, "message") == ["first", "0", "first", "second", "home", "1"], shop.texts(id, "message")


def artifacts_and_requests_are_the_same_as_on_this_machine(shop):
    script = ("hone save_file --name note.txt --text 'from a pod' > /dev/null; "
              "wget -q -O /dev/null http://example.org/a?token=1; true")
    id = shop.start(*shell(script), **PODS)["id"]
    assert shop.until(id)["state"] == "succeeded", shop.texts(id)
    assert [one["name"] for one in shop.client.must("GET", f"/v1/artifacts?run={id}").data] == ["note.txt"]
    rows = shop.client.must("GET", f"/v1/runs/{id}/egress").data
    assert [(row["allowed"], row["target"], row["path"]) for row in rows] == [(False, "example.org:80", "/a")], rows


def a_model_is_called_without_its_key_and_a_budget_stops_the_run(shop):
    skill = model_skill(shop, shop.model, "exact")
    calls = ("/usr/bin/python3", "-c", CALLS)
    run = shop.until(shop.start(*calls, "1", skills=[skill], **PODS)["id"])
    said = "\n".join(shop.texts(run["id"]))
    assert run["state"] == "succeeded" and said.count("200 False") == 2 and KEY not in said, (run, said)
    run = shop.until(shop.start(*calls, "5", skills=[skill], budget={"tokens": 3000, "soft_percent": 50}, **PODS)["id"])
    assert run["state"] == "budget_stopped", (run, shop.texts(run["id"]))


def a_branch_is_cloned_pushed_and_reviewed(shop):
    skill = skill_for(shop, shop.forge)
    add(shop, shop.forge, skill=skill)
    script = "cd shop; git log --oneline | wc -l; echo more >> README.md; git commit -qam 'Say more'; git push -q 2>&1 && echo pushed"
    run = shop.until(shop.start(*shell(script), repos=[{"url": shop.forge.url}], skills=[skill], **PODS)["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    said = shop.texts(run["id"], "message")
    assert said[0] == "3" and said[-1] == "pushed", said
    assert diff_of(shop, run["id"])


def a_run_that_no_node_can_take_waits_with_the_reason_and_can_be_cancelled(shop):
    wanted = PODS | {"sandbox": PODS["sandbox"] | {"cpus": MOST_CPUS}}
    id = shop.start("/bin/true", **wanted)["id"]
    wait_until(lambda: any("nodes can take the pod" in text for text in shop.texts(id)), "the reason is shown", 60)
    assert shop.run(id)["state"] == "preparing", shop.run(id)
    shop.client.must("POST", f"/v1/runs/{id}/cancel", {})
    assert shop.until(id)["state"] == "cancelled"


def runs_that_find_no_room_are_queued_and_finish_later(shop):
    """The quota allows two pods, and the first two runs have them."""
    shop.set_quota(2)
    try:
        holding = [shop.start(*shell("read line; exec sleep 600"), **PODS)["id"] for _ in range(2)]
        for id in holding:
            shop.until(id, "running")
        waiting = shop.start(*shell("echo done"), **PODS)["id"]
        wait_until(lambda: any(event["state"] == "queued" for event in shop.events(waiting)[1:]), "it is queued again", 120)
        assert "quota" in shop.run(waiting)["reason"], shop.run(waiting)
        for id in holding:
            shop.client.must("POST", f"/v1/runs/{id}/cancel", {})
        assert shop.until(waiting)["state"] == "succeeded", shop.texts(waiting)
        for id in holding:
            assert shop.until(id)["state"] == "cancelled"
    finally:
        shop.set_quota(None)  # of the cases after it


def a_run_outlives_two_kills_of_its_server(shop):
    script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo line $i; sleep 1; done"
    run = shop.start(*shell(script), **PODS)["id"]
    for line in ("line 2", "line 6"):
        wait_until(lambda: line in shop.texts(run, "message"), line, 120)
        shop.again()
    done = shop.until(run)
    assert done["state"] == "succeeded", (done, shop.texts(run))
    assert shop.texts(run, "message") == [f"line {i}" for i in range(1, 21)], shop.texts(run, "message")


TESTS = [a_run_works_in_a_pod, files_of_a_live_run_are_read, a_run_outlives_two_kills_of_its_server,
         what_a_pod_does_not_have_is_refused, what_an_init_script_left_in_the_home_is_there_in_later_runs, a_follow_up_finds_workspace_and_home_as_they_were_left,
         artifacts_and_requests_are_the_same_as_on_this_machine, a_model_is_called_without_its_key_and_a_budget_stops_the_run,
         a_branch_is_cloned_pushed_and_reviewed, a_run_that_no_node_can_take_waits_with_the_reason_and_can_be_cancelled,
         runs_that_find_no_room_are_queued_and_finish_later]


class Cluster:
    """What an operator changes meanwhile, with an account of its own."""

    def __init__(self, client, kubeconfig, namespace):
        self.command, self.path = [client, kubeconfig], f"/api/v1/namespaces/{namespace}/resourcequotas"

    def set_quota(self, pods):
        if pods is None:
            return self.call("remove", self.path + "/few")
        quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": str(pods)}}}
        self.call("post", self.path, given=json.dumps(quota).encode())
        wait_until(lambda: self.call("get", self.path + "/few")["body"].get("status", {}).get("hard"), "the quota is counted", 60)

    def call(self, *words, given=b""):
        done = subprocess.run([*self.command, *words], input=given, capture_output=True)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return json.loads(done.stdout)


def with_everything_in_it(kubeconfig):
    """The text of a kubeconfig without the files that it names: what `hone cluster set` takes."""
    config = json.loads(pathlib.Path(kubeconfig).read_text())
    for one in [config["clusters"][0]["cluster"], config["users"][0]["user"]]:
        for name in ("certificate-authority", "client-certificate", "client-key"):
            if name in one:
                one[name + "-data"] = base64.b64encode(pathlib.Path(one.pop(name)).read_bytes()).decode()
    return json.dumps(config)


# Of a server that itself can make no namespace: its git has other walls. Its credentials are sealed.
BARE_TESTS = [a_run_works_in_a_pod, a_branch_is_cloned_pushed_and_reviewed]


def carry_out(tests, shop, ending=""):
    results = {}
    for test in tests:
        name = test.__name__.replace("_", " ") + ending
        try:
            test(shop)
            results[name] = True
        except Exception:
            results[name] = False
            traceback.print_exc(file=sys.stdout)
        print("ok  " if results[name] else "FAIL", name, flush=True)
    if False in results.values():
        print(shop.server.output()[-4000:])
    return results


def run_tests(binary, cluster, set_quota, only=""):
    """`cluster`: kubeconfig, namespace, image and storage class. How each test ended, by name."""
    Shop.patience = 180
    words = [word for name, value in zip(("kubeconfig", "namespace", "image", "storage-class"), cluster)
             for word in (f"--kubernetes-{name}", str(value))]
    with contextlib.ExitStack() as stack:
        forge, model = Forge(stack, "--push"), Provider(stack)
        shop = Shop(str(binary), stack, *words, "--egress-ca-file", str(forge.certificate), "--run-max-cpus", str(MOST_CPUS))
        shop.forge, shop.model, shop.set_quota = forge, model, set_quota
        results = carry_out([each for each in TESTS if only in each.__name__], shop)
    with contextlib.ExitStack() as stack:
        forge = Forge(stack, "--push")
        shop = BareShop(str(binary), stack, "--kubernetes-kubeconfig", "sealed", *words[2:], "--egress-ca-file", readable(forge))
        shop.client.must("PUT", "/v1/cluster/credential", {"kubeconfig": with_everything_in_it(cluster[0])})
        shop.again()
        shop.forge = forge
        return results | carry_out([each for each in BARE_TESTS if only in each.__name__], shop, ", by a server without namespaces")


def main():
    binary, kubeconfig, namespace, image, storage = sys.argv[1:6]
    client = pathlib.Path(binary).parent / "tests/kubernetes_client"
    operator = Cluster(client, pathlib.Path(kubeconfig).with_name("admin.conf"), namespace)
    results = run_tests(binary, (kubeconfig, namespace, image, storage), operator.set_quota, *sys.argv[6:7])
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
