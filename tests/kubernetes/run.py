#!/usr/bin/env python3
"""Hone's client of Kubernetes against a real cluster of one node.

tests/kubernetes/run.py [--client build/release/tests/kubernetes_client]

The programs are built once from the Go module proxy and Debian's packages (programs.py; a quarter of an hour), the cluster is
set up in namespaces of its own (cluster.py; some 15 s), and nothing of it is left.
"""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here))

import cluster as clusters  # noqa: E402
import driving  # noqa: E402
import escape  # noqa: E402
import faults  # noqa: E402
import installation  # noqa: E402
import policy  # noqa: E402
import ready  # noqa: E402
import scale  # noqa: E402
import volumes  # noqa: E402
from configuration import NODE_ADDRESS  # noqa: E402

NAMESPACE = "workers"
SANDBOX = "sbx_01JCQZ5V8M0000000000000001"


class Bench:
    limits_memory = True

    def __init__(self, cluster, client):
        self.cluster, self.client = cluster, client
        self.escape = {}  # attack → what it found
        self.conformance, self.hone = client.with_name("provider_conformance"), client.parent.parent / "hone"
        self.driver = client.with_name("provider_driver")

    def call(self, *words, given=b""):
        done = self.cluster.run(self.client, self.cluster.state / "admin.conf", *words, input=given)
        return done.returncode, done.stdout, done.stderr.decode()

    def must(self, *words, given=b""):
        status, out, errors = self.call(*words, given=given)
        assert status == 0, (words, status, out, errors)
        return json.loads(out)

    def until(self, what, *words):
        end = time.monotonic() + 30
        while self.call(*words)[0] != 0:  # each call takes its time
            assert time.monotonic() < end, what

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, what
            time.sleep(0.1)  # of the processes of others: there is nothing to wait on

    @staticmethod
    def timed(work):
        """Its result, and milliseconds."""
        began = time.monotonic()
        result = work()
        return result, (time.monotonic() - began) * 1000

    # Of the attacks.
    def pod_of(self, sandbox):
        return self.must("get", f"/api/v1/namespaces/{NAMESPACE}/pods/hone-{sandbox[4:].lower()}")["body"]

    def places_of_workspace(self, sandbox):
        uid = self.pod_of(sandbox)["metadata"]["uid"]
        return [f"/var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~empty-dir/workspace/canary"]

    def targets(self, sandbox, port):
        """Ports, each with addresses: the kubelet, the API, and another pod."""
        return [(10250, NODE_ADDRESS), (6443, NODE_ADDRESS), (443, "10.96.0.1"), (port, self.pod_of(sandbox)["status"]["podIP"])]

    def execute(self, *command, given=b""):
        return self.call("exec", NAMESPACE, self.pod, *command, given=given)


def the_server_is_the_version_that_was_built(bench):
    found = bench.must("get", "/version")["body"]
    assert (found["major"], found["minor"]) == ("1", "34"), found


def a_namespace_enforces_restricted_pods(bench):
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    bench.must("post", "/api/v1/namespaces", given=json.dumps(made).encode())
    bench.until("the namespace has its account", "get", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")
    open_pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "open"},
                "spec": {"containers": [{"name": "a", "image": clusters.WORKER_IMAGE}]}}
    status, out, _ = bench.call("post", f"/api/v1/namespaces/{NAMESPACE}/pods", given=json.dumps(open_pod).encode())
    refused = json.loads(out)
    assert status == 1 and refused["status"] == 403, refused
    assert "violates PodSecurity" in refused["message"], refused
    give_rights_of_a_server(bench)


def a_sandboxs_pod_is_admitted_unchanged_and_becomes_ready(bench):
    started = time.monotonic()
    made = bench.must("pod", NAMESPACE, SANDBOX, clusters.WORKER_IMAGE)
    print(f"      from the request to a ready worker: {time.monotonic() - started:.1f} s, {made['events']} events")
    assert made["is_ready"], made
    assert made["differences"] == [], made
    bench.pod, bench.uid = made["name"], made["uid"]


def a_second_request_for_the_same_pod_is_a_conflict(bench):
    status, out, _ = bench.call("pod", NAMESPACE, SANDBOX, clusters.WORKER_IMAGE)
    assert status == 1 and json.loads(out)["reason"] == "AlreadyExists", out


def exec_carries_bytes_errors_and_the_exit_code(bench):
    status, out, errors = bench.execute("/bin/echo", "hello there")
    assert (status, out, errors) == (0, b"hello there\n", ""), (status, out, errors)
    status, out, errors = bench.execute("/bin/sh", "-c", "echo wrong >&2; exit 7")
    assert (status, out, errors) == (7, b"", "wrong\n"), (status, out, errors)
    sent = b"".join(b"%d " % number for number in range(1_200_000))
    started = time.monotonic()
    status, out, errors = bench.execute("/bin/cat", given=sent)
    print(f"      {len(sent) / 1e6:.0f} MB there and back: {time.monotonic() - started:.1f} s")
    assert status == 0 and out == sent, (status, len(out), errors)
    status, _, errors = bench.execute("/bin/absent")
    assert status in (125, 126, 127, 128), (status, errors)  # either: runtimes differ in the code for a missing program


def the_worker_is_restricted(bench):
    status, out, errors = bench.execute("/bin/id", "-u")
    assert (status, int(out)) == (0, bench.uid), (status, out, errors)
    _, out, _ = bench.execute("/bin/grep", "-E", "^(CapEff|CapBnd|NoNewPrivs|Seccomp):", "/proc/1/status")
    found = dict(line.split(":\t") for line in out.decode().splitlines())
    assert found == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}, found
    status, _, errors = bench.execute("/bin/touch", "/bin/new")
    assert status == 1 and "Read-only file system" in errors, (status, errors)
    status, _, errors = bench.execute("/bin/touch", "/hone-bin/new")
    assert status == 1 and "Read-only file system" in errors, (status, errors)
    for place in ("/workspace", "/home/worker", "/tmp", "/hone-state"):
        status, _, errors = bench.execute("/bin/touch", place + "/new")
        assert status == 0, (place, errors)
    status, out, errors = bench.execute("/bin/ls", "/var/run/secrets")
    assert status == 1 and "No such file" in errors, (status, out, errors)


def a_pod_is_deleted_by_its_uid_and_watched_until_it_is_gone(bench):
    assert bench.must("delete", NAMESPACE, bench.pod) == {"exists": False}
    status, _, errors = bench.execute("/bin/true")
    assert status == 125 and errors.startswith("not_found: "), (status, errors)


# --- sandboxes in pods ---

def conformance(bench, *words):
    """The lines of the program, and its exit code."""
    with tempfile.TemporaryDirectory(prefix="hone-conformance-") as folder:
        done = bench.cluster.run(bench.conformance, "kubernetes", folder, bench.cluster.state / "hone.conf", NAMESPACE,
                                 clusters.WORKER_IMAGE, *words)
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return done.returncode, lines, done.stderr.decode()


def a_pod_whose_network_is_open_is_refused(bench):
    status, lines, errors = conformance(bench, "first")
    assert status == 1 and lines[0]["why"].startswith("network_open: "), (lines, errors)


def an_enforcer_that_is_late_is_waited_for(bench):
    policy.create(bench, NAMESPACE)
    with policy.Enforcer(bench, NAMESPACE, late=4):
        status, lines, errors = conformance(bench, "first")
    assert status == 0, (lines, errors)


def pods_pass_the_cases_of_providers(bench):
    with policy.Enforcer(bench, NAMESPACE) as enforcer:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        status, lines, errors = conformance(bench)
    for line in lines:
        print(f"      {'ok  ' if line['ok'] else 'FAIL'}  {line['case']}" + (f": {line['why']}" if line["why"] else ""))
    assert status == 0, errors


def sandboxes_of_this_machine_pass_the_same_cases(bench):
    with tempfile.TemporaryDirectory(prefix="hone-conformance-") as folder:
        done = subprocess.run([bench.conformance, "local", folder, bench.hone], capture_output=True)
    assert done.returncode == 0, (done.stdout.decode(), done.stderr.decode())


def a_run_ends_when_its_policy_is_deleted(bench):
    with policy.Enforcer(bench, NAMESPACE) as enforcer, driving.pods(bench, NAMESPACE, clusters.WORKER_IMAGE) as driver:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        sandbox = driver.start()
        held = driver.send("hold", sandbox=sandbox)
        policy.delete(bench, NAMESPACE)
        view = driving.result_of(held)
        driver.call("destroy", sandbox=sandbox)
    policy.create(bench, NAMESPACE)
    assert view["state"] == "stopped" and view["error"].startswith("network_open: "), view


def runs_work_in_pods_through_a_server(bench):
    with policy.Enforcer(bench, NAMESPACE) as enforcer:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        done = bench.cluster.run(sys.executable, here / "serve.py", bench.hone, bench.cluster.state / "hone.conf", NAMESPACE,
                                 clusters.WORKER_IMAGE, volumes.CLASS)
    print("      " + done.stdout.decode().replace("\n", "\n      ").rstrip())
    assert done.returncode == 0, done.stderr.decode()[-4000:]


def attacks_from_inside_a_pod_get_nothing(bench):
    with policy.Enforcer(bench, NAMESPACE) as enforcer:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        escape.run(bench, NAMESPACE)


def what_goes_wrong_in_a_cluster_is_handled(bench):
    failed = []
    with policy.Enforcer(bench, NAMESPACE) as enforcer, driving.pods(bench, NAMESPACE, clusters.WORKER_IMAGE) as driver, \
            driving.pods(bench, NAMESPACE, "test.local/absent:1") as imageless:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        bench.absent_image = imageless.send("start", spec=driving.specification())
        for case in faults.CASES:
            if outcome("  " + case.__name__.replace("_", " "), lambda case=case: case(bench, driver)) != "ok":
                failed.append(case.__name__)
    assert not failed, failed


def a_run_gets_a_pod_that_was_prepared(bench):
    def pods():
        pods = bench.must("get", f"/api/v1/namespaces/{NAMESPACE}/pods")["body"]["items"]
        return sum("deletionTimestamp" not in pod["metadata"] for pod in pods)  # those of the case before still end
    with policy.Enforcer(bench, NAMESPACE) as enforcer:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        ready.a_run_gets_a_pod_that_was_prepared(bench, NAMESPACE, clusters.WORKER_IMAGE, pods)


def a_thousand_pods_are_watched_listed_and_cleaned_up(bench):
    scale.run(bench, NAMESPACE)


def the_chart_is_installed_used_upgraded_and_removed(bench):
    installation.run(bench)


def nothing_of_them_is_left(bench):
    def gone():
        return bench.must("get", f"/api/v1/namespaces/{NAMESPACE}/pods")["body"]["items"] == []
    bench.wait_for(gone, "no pod is left")


TESTS = [the_server_is_the_version_that_was_built, a_namespace_enforces_restricted_pods,
         a_sandboxs_pod_is_admitted_unchanged_and_becomes_ready, a_second_request_for_the_same_pod_is_a_conflict,
         exec_carries_bytes_errors_and_the_exit_code, the_worker_is_restricted,
         a_pod_is_deleted_by_its_uid_and_watched_until_it_is_gone, a_pod_whose_network_is_open_is_refused,
         an_enforcer_that_is_late_is_waited_for, pods_pass_the_cases_of_providers,
         sandboxes_of_this_machine_pass_the_same_cases, a_run_ends_when_its_policy_is_deleted,
         attacks_from_inside_a_pod_get_nothing, a_run_gets_a_pod_that_was_prepared, what_goes_wrong_in_a_cluster_is_handled,
         runs_work_in_pods_through_a_server, a_thousand_pods_are_watched_listed_and_cleaned_up,
         the_chart_is_installed_used_upgraded_and_removed, nothing_of_them_is_left]

SET_UP = TESTS[:2]


def give_rights_of_a_server(bench):
    """The account of `hone serve`: no more than docs/providers.md lists."""
    rules = [({"pods"}, "create get list watch delete"), ({"pods/exec"}, "get create"), ({"pods/log"}, "get"),
             ({"events"}, "list"), ({"persistentvolumeclaims"}, "create get list delete")]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "hone"},
            "rules": [{"apiGroups": [""], "resources": sorted(names), "verbs": verbs.split()} for names, verbs in rules]
            + [{"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": ["list"]}]}
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/"
    bench.must("post", path + "roles", given=json.dumps(role).encode())
    bench.must("post", path + "rolebindings", given=json.dumps({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "hone"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "hone"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "hone"}]}).encode())


def outcome(name, work):
    start = time.monotonic()
    try:
        work()
        result = "ok"
    except Exception:
        result = "FAIL"
        traceback.print_exc(file=sys.stdout)
    print(f"{result:4}  {time.monotonic() - start:6.1f} s  {name}", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", default=here.parent.parent / "build/release/tests/kubernetes_client")
    parser.add_argument("--only", default="", help="tests whose name has one of these texts, with commas; set-up is always done")
    options = parser.parse_args()
    client = pathlib.Path(options.client).absolute()
    if why := clusters.why_not():
        print(f"skipped  the suite kubernetes: {why}\n0 passed, 0 failed, 1 skipped")
        return 0
    results, made = [], []
    with contextlib.ExitStack() as stack:
        results.append(outcome("a cluster starts in namespaces of its own", lambda: made.append(clusters.Cluster(stack, client.parent.parent / "hone-pod"))))
        if made:
            print(f"      from nothing to a ready node: {made[0].took:.1f} s")
            bench = Bench(made[0], client)
            volumes.create(bench, 32)
            results += [outcome(test.__name__.replace("_", " "), lambda test=test: test(bench)) for test in TESTS
                        if test in SET_UP or any(word in test.__name__ for word in options.only.split(","))]

    def check():
        assert made and made[0].left_behind() == [], made and made[0].left_behind()

    results.append(outcome("nothing of the cluster is left", check))
    print(f"{results.count('ok')} passed, {results.count('FAIL')} failed, 0 skipped")
    return 1 if "FAIL" in results else 0


if __name__ == "__main__":
    sys.exit(main())
