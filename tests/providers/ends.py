"""How pods end and are kept out, in the cluster that is a stand-in: what its nodes report here is what those of a real one report
(docs/providers.md, the table of failures)."""

import contextlib
import tempfile
import urllib.request

import driving
import faults
from runs import Shop, shell
from serve import PODS
from server import wait_until

WORKERS = ("workers", "worker:1")


def terminated(reason, code):
    return {"phase": "Failed", "containerStatuses": [{"name": "worker", "state": {"terminated": {"reason": reason, "exitCode": code}}}]}


def evicted(message):
    return {"phase": "Failed", "reason": "Evicted", "message": message}


def marked(reason, phase="Failed"):
    return {"phase": phase, "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "by the test"}]}


# What a node reports of a pod whose run works; the limit that its view names; its words; the state of the run.
ENDS = {
    "memory of the container": (terminated("OOMKilled", 137), ["oom"], "reached its memory limit", "failed"),
    "its own volume": (evicted('Usage of EmptyDir volume "workspace" exceeds the limit "64Mi". '), ["disk"],
                       "reached its disk limit", "failed"),
    "its ephemeral storage": (evicted("Pod ephemeral local storage usage exceeds the total limit of containers 3Gi. "), ["disk"],
                              "reached its disk limit", "failed"),
    "the node's need": (evicted("The node was low on resource: memory. "), [], "The node was low on a resource", "lost"),
    "preempted": (marked("PreemptionByScheduler"), [], "gave the place to a pod with a higher priority", "lost"),
    "tainted": (marked("DeletionByTaintManager"), [], "marked as not usable", "lost"),
    "drained": (marked("EvictionByEvictionAPI"), [], "drained the node", "lost"),
    "node removed": (marked("DeletionByPodGC"), [], "The node no longer exists", "lost"),
    "by the kubelet": (marked("TerminationByKubelet"), [], "The node ended the pod", "lost"),
    "deadline": ({"phase": "Failed", "reason": "DeadlineExceeded"}, ["timeout"], "reached its deadline", "timed_out"),
    "unknown": (terminated("ContainerStatusUnknown", 137), [], "does not report what happened", "lost"),
    "node lost": ({"phase": "Failed", "reason": "NodeLost"}, [], "The node does not respond", "lost"),
    "node shut down": ({"phase": "Failed", "reason": "NodeShutdown"}, [], "The node was shut down", "lost"),
    "its first process": (terminated("Error", 143), [], "The container worker ended with 143", "lost"),
}


def pod_of(sandbox):
    return "hone-" + sandbox.split("_")[1].lower()


def delete(cluster, pod):
    """As a client with rights of its own does it."""
    request = urllib.request.Request(cluster.server + f"/api/v1/namespaces/workers/pods/{pod}", method="DELETE",
                                     headers={"Authorization": "Bearer token"})
    urllib.request.urlopen(request, context=cluster.context).close()


def a_pod_that_ends_says_why_and_which_limit_it_was(cluster, _):
    with driving.pods(cluster, *WORKERS) as driver:
        for name, (status, limits, words, _state) in ENDS.items():
            sandbox = driver.start()
            held = driver.send("hold", sandbox=sandbox)
            cluster.control(do="status", pod=pod_of(sandbox), status=status)
            view = driving.result_of(held)
            assert view["state"] == "stopped" and view["limits_hit"] == limits and words in view["error"], (name, view)
            driver.call("destroy", sandbox=sandbox)
        # Marked first, then deleted while its container still runs: what a drain does.
        sandbox = driver.start()
        held = driver.send("hold", sandbox=sandbox)
        running = marked("EvictionByEvictionAPI", "Running") | {"containerStatuses": [{"name": "worker", "state": {"running": {}}}]}
        cluster.control(do="status", pod=pod_of(sandbox), status=running)
        assert driver.shell(sandbox, "echo works")["out"] == "works\n"
        delete(cluster, pod_of(sandbox))
        view = driving.result_of(held)
        assert view["state"] == "stopped" and "drained the node: by the test" in view["error"], view
        driver.call("destroy", sandbox=sandbox)


@contextlib.contextmanager
def a_server(cluster, *words):
    with contextlib.ExitStack() as stack:
        options = zip(("kubeconfig", "namespace", "image"), (cluster.kubeconfig, *WORKERS))
        words = [word for name, value in options for word in (f"--kubernetes-{name}", str(value))] + list(words)
        Shop.patience = 180
        yield Shop(str(cluster.hone), stack, *words)


def pods(cluster):
    return set(cluster.control(do="state")["pods"])


def a_run_whose_pod_ends_has_its_reason(cluster, _):
    with a_server(cluster) as shop:
        for name, (status, _limits, words, state) in ENDS.items():
            before = pods(cluster)
            run = shop.start(*shell("echo begun; exec sleep 600"), **PODS)["id"]
            wait_until(lambda: "begun" in shop.texts(run, "message"), "it works", 60)
            (pod,) = pods(cluster) - before
            cluster.control(do="status", pod=pod, status=status)
            ended = shop.until(run)
            assert ended["state"] == state, (name, ended, shop.texts(run))
            expected = {"failed": {"oom": "ran out of memory", "disk": "workspace is full"}}.get(state, {})
            wanted = next((expected[limit] for limit in _limits if limit in expected), words if state == "lost" else "")
            assert wanted in ended["reason"], (name, ended)


def a_run_whose_pod_is_taken_before_it_begins_gets_another(cluster, _):
    with a_server(cluster) as shop:
        for status in (evicted("The node was low on resource: memory. "), marked("PreemptionByScheduler"), {"phase": "Failed", "reason": "NodeLost"}):
            cluster.control(do="hold", pods=True)
            try:
                before = pods(cluster)
                run = shop.start(*shell("echo done"), **PODS)["id"]
                wait_until(lambda: pods(cluster) - before, "it has a pod", 60)
                (first,) = pods(cluster) - before
                cluster.control(do="status", pod=first, status=status)
                wait_until(lambda: pods(cluster) - before - {first}, "it has another pod", 60)
            finally:
                cluster.control(do="hold", pods=False)
            ended = shop.until(run)
            assert ended["state"] == "succeeded", (status, ended, shop.texts(run))
            assert any(text.startswith("Waiting for the cluster: ") for text in shop.texts(run)), shop.texts(run)
            wait_until(lambda: pods(cluster) == before, "no pod is left", 60)


# --- the network

def with_open_network(case):
    def done(cluster, bench):
        try:
            case(cluster, bench)
        finally:
            cluster.control(do="network", is_open=False)
    done.__name__ = case.__name__
    return done


@with_open_network
def a_pod_whose_network_is_open_is_refused(cluster, _):
    cluster.control(do="network", is_open=True)
    with driving.pods(cluster, *WORKERS) as driver:
        error = faults.refused(driver.start)
        assert error.code == "forbidden" and error.why.startswith("network_open: the pod can connect to 10.96.0.1:443"), error
        assert driver.call("list")["sandboxes"] == []


@with_open_network
def an_enforcer_that_is_late_is_waited_for(cluster, _):
    reached = cluster.control(do="state")["reached"]
    cluster.control(do="network", is_open=True)
    with driving.pods(cluster, *WORKERS) as driver:
        starting = driver.send("start", spec=driving.specification())
        cluster.wait_for(lambda: cluster.control(do="state")["reached"] > reached, "the pod is probed")
        cluster.control(do="network", is_open=False)
        sandbox = driving.result_of(starting)["sandbox"]
        assert driver.shell(sandbox, "echo works")["out"] == "works\n"
        driver.call("destroy", sandbox=sandbox)


@with_open_network
def a_sandbox_is_stopped_when_its_network_is_opened(cluster, _):
    with driving.pods(cluster, *WORKERS) as driver:
        sandbox = driver.start()
        held = driver.send("hold", sandbox=sandbox)
        cluster.control(do="network", is_open=True)
        view = driving.result_of(held)
        assert view["state"] == "stopped" and view["error"].startswith("network_open: "), view
        driver.call("destroy", sandbox=sandbox)


# --- users and kernels

def the_user_of_a_pod_is_what_was_set_or_it_does_not_start(cluster, _):
    with driving.pods(cluster, *WORKERS) as driver:
        sandbox = driver.start()
        view = driver.call("view", sandbox=sandbox)
        assert view["user_namespace"] is False and view["host_uid"] >= 10 ** 9, view
        assert driver.shell(sandbox, "id -u")["out"] == f"{view['host_uid']}\n"
        driver.call("destroy", sandbox=sandbox)
    with driving.pods(cluster, *WORKERS, ("", "", "user_namespace")) as driver:
        sandbox = driver.start()
        view = driver.call("view", sandbox=sandbox)
        assert view["user_namespace"] is True and view["host_uid"] == 300_001_000, view
        assert driver.shell(sandbox, "id -u; echo kept > /workspace/file; cat /workspace/file")["out"] == "1000\nkept\n"
        driver.call("destroy", sandbox=sandbox)
        cluster.control(do="node", user_namespaces=False)
        try:
            error = faults.refused(driver.start)
        finally:
            cluster.control(do="node", user_namespaces=True)
        assert error.code == "conflict" and "gave the pod no user namespace" in error.why, error


def a_runtime_that_is_not_gvisor_is_refused_for_its_tier(cluster, _):
    with driving.pods(cluster, *WORKERS, ("", "", "", "plain")) as driver:
        error = faults.refused(lambda: driver.start(minimum_tier="gvisor"))
        assert error.code == "unavailable" and "the kernel of the pod is not gVisor" in error.why, error
        sandbox = driver.start()
        assert driver.call("view", sandbox=sandbox)["tier"] == "ns"
        driver.call("destroy", sandbox=sandbox)


# --- what is left over

def what_has_ended_is_removed_and_nothing_else(cluster, _):
    with tempfile.TemporaryDirectory(prefix="hone-driver-") as folder:
        words = (cluster.driver, "kubernetes", folder, cluster.kubeconfig, *WORKERS)
        with driving.Driver(*words) as driver:
            ended, live = driver.start(), driver.start()
            assert driver.call("reconcile")["removed"] == 0
            assert sorted(driver.call("list")["sandboxes"]) == sorted([ended, live])
        cluster.control(do="status", pod=pod_of(ended), status=terminated("Error", 1))
        with driving.Driver(*words) as driver:  # another server, which knows none of them
            assert driver.call("reconcile")["removed"] == 1
            assert driver.call("list")["sandboxes"] == [live]
            cluster.control(do="hold", pods=True)
            before = pods(cluster)
            starting = driver.send("start", spec=driving.specification())
            try:
                cluster.wait_for(lambda: pods(cluster) - before, "it is being made")
                assert driver.call("reconcile")["removed"] == 0
            finally:
                cluster.control(do="hold", pods=False)
            started = driving.result_of(starting)["sandbox"]
            for sandbox in (live, started):
                assert driver.shell(sandbox, "echo works")["out"] == "works\n"
                driver.call("destroy", sandbox=sandbox)


def prepared_pods_make_room(cluster, _):
    with driving.pods(cluster, *WORKERS, ("default", "1")) as driver:
        first = driver.start()
        assert driver.call("ready")["ready"]
        cluster.control(do="quota", pods=len(pods(cluster)))
        try:
            second = driver.start(thread="thr-room-1")  # the one that waits has no volume, and has its place
            error = faults.refused(lambda: driver.start(thread="thr-room-2"))
        finally:
            cluster.control(do="quota", pods=None)
        assert error.code == "busy" and "quota of the namespace is used up" in error.why, error
        for sandbox in (first, second):
            assert driver.shell(sandbox, "echo works")["out"] == "works\n"
            driver.call("destroy", sandbox=sandbox)
        driver.call("close")


CASES = [a_pod_that_ends_says_why_and_which_limit_it_was, a_run_whose_pod_ends_has_its_reason,
         a_run_whose_pod_is_taken_before_it_begins_gets_another, a_pod_whose_network_is_open_is_refused,
         an_enforcer_that_is_late_is_waited_for, a_sandbox_is_stopped_when_its_network_is_opened,
         the_user_of_a_pod_is_what_was_set_or_it_does_not_start, a_runtime_that_is_not_gvisor_is_refused_for_its_tier,
         what_has_ended_is_removed_and_nothing_else, prepared_pods_make_room]
