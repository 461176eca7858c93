"""What can go wrong in a cluster, and what Hone says and does then: each case with a real cause."""

import json
import time

import cluster as clusters
import driving
import volumes
from driving import Refused

NAMESPACE = "workers"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
COUNT = "i=0; while [ $i -lt 60 ]; do echo line $i; i=$((i+1)); sleep 0.2; done"
COUNTED = "".join(f"line {number}\n" for number in range(60))


def refused(work):
    try:
        work()
    except Refused as error:
        return error
    raise AssertionError("it was not refused")


def a_full_namespace_is_busy(bench, driver):
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
    path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas"
    bench.must("post", path, given=json.dumps(quota).encode())
    bench.wait_for(lambda: bench.must("get", path + "/few")["body"].get("status", {}).get("hard"), "the quota is counted")
    error = refused(driver.start)
    bench.must("remove", path + "/few")
    assert error.code == "busy" and "quota of the namespace is used up" in error.why, error


def a_policy_of_the_cluster_is_repeated_in_its_words(bench, _):
    """Pods of Hone pass `restricted`: the policy here is one of an operator, for a namespace of its own."""
    bench.must("post", "/api/v1/namespaces", given=json.dumps({"apiVersion": "v1", "kind": "Namespace",
               "metadata": {"name": "denied", "labels": {"deny": "pods"}}}).encode())
    bench.until("the account", "get", "/api/v1/namespaces/denied/serviceaccounts/default")
    group = "/apis/admissionregistration.k8s.io/v1/"
    spec = {"failurePolicy": "Fail", "validations": [{"expression": "false", "message": "no pods on Wednesdays"}],
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                                    "resources": ["pods"]}]}}
    bench.must("post", group + "validatingadmissionpolicies", given=json.dumps(
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "no-pods"},
         "spec": spec}).encode())
    bench.must("post", group + "validatingadmissionpolicybindings", given=json.dumps(
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
         "metadata": {"name": "no-pods"},
         "spec": {"policyName": "no-pods", "validationActions": ["Deny"],
                  "matchResources": {"namespaceSelector": {"matchLabels": {"deny": "pods"}}}}}).encode())
    plain = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "try-"},
             "spec": {"containers": [{"name": "a", "image": clusters.WORKER_IMAGE}]}}

    def is_in_force():
        status, out, _ = bench.call("post", "/api/v1/namespaces/denied/pods", given=json.dumps(plain).encode())
        return status == 1 and "Wednesdays" in json.loads(out)["message"]

    bench.wait_for(is_in_force, "the policy is in force")
    with driving.Driver(*bench.cluster.command(bench.driver, "kubernetes"), None, bench.cluster.state / "admin.conf",
                        "denied", clusters.WORKER_IMAGE) as other:
        error = refused(other.start)
    assert error.code == "conflict" and "no pods on Wednesdays" in error.why, error


def an_account_without_rights_is_told_so(bench, _):
    with driving.Driver(*bench.cluster.command(bench.driver, "kubernetes"), None, bench.cluster.state / "nobody.conf",
                        NAMESPACE, clusters.WORKER_IMAGE) as other:
        error = refused(other.start)
    assert error.code == "conflict" and "does not have the right to create pods" in error.why, error


def a_command_that_takes_too_much_memory_ends_and_the_sandbox_stays(bench, driver):
    sandbox = driver.start()
    result = driver.run(sandbox, "/usr/bin/python3", "-c", "kept = [bytearray(1 << 20) for _ in range(400)]; print(len(kept))")
    assert result["exit_code"] != 0, result
    view = driver.call("view", sandbox=sandbox)
    assert "oom" in view["limits_hit"] and view["state"] == "running", view
    assert driver.shell(sandbox, "echo still")["out"] == "still\n"
    driver.call("destroy", sandbox=sandbox)


def a_sandbox_that_fills_its_disk_is_ended_for_it(bench, driver):
    sandbox = driver.start()
    held = driver.send("hold", sandbox=sandbox)
    driver.send("run", sandbox=sandbox, command={"argv": ["/bin/sh", "-c", "dd if=/dev/zero of=/workspace/large bs=1M count=200; sleep 600"]})
    view = driving.result_of(held)
    assert view["state"] == "stopped" and "disk" in view["limits_hit"], view
    driver.call("destroy", sandbox=sandbox)


def a_pod_that_another_client_deletes_ends_with_that_reason(bench, driver):
    sandbox = driver.start()
    held = driver.send("hold", sandbox=sandbox)
    bench.must("delete", NAMESPACE, "hone-" + sandbox[4:].lower())
    view = driving.result_of(held)
    assert view["state"] == "stopped" and view["error"], view
    driver.call("destroy", sandbox=sandbox)


def restarted(daemon):
    def case(bench, driver):
        sandbox = driver.start()
        output = driver.send("run", sandbox=sandbox, command={"argv": ["/bin/sh", "-c", COUNT]})
        time.sleep(2)  # the output is under way
        bench.cluster.tell("kill", daemon)
        time.sleep(3)
        bench.cluster.tell("start", daemon)
        assert driving.result_of(output)["out"] == COUNTED
        assert driver.shell(sandbox, "echo again")["out"] == "again\n"
        bench.until("the API", "get", f"/api/v1/namespaces/{NAMESPACE}")
        driver.call("destroy", sandbox=sandbox)
    case.__name__ = f"no line is lost or repeated when {daemon.replace('-', '_')} is killed and started again".replace(" ", "_")
    return case


def the_volume_of_a_thread_outlives_its_pods(bench, _):
    with driving.pods(bench, NAMESPACE, clusters.WORKER_IMAGE, [volumes.CLASS]) as driver:
        thread = {"thread": "thr-1", "keep_home": True}
        first = driver.start(**thread)
        made = driver.shell(first, "echo kept > /workspace/file; echo home > ~/file; mkdir -m 700 /workspace/own; ls -ld /workspace")
        assert made["exit_code"] == 0, made
        error = refused(lambda: driver.start(**thread))
        assert error.code == "busy" and "still has the volume" in error.why, error
        driver.call("destroy", sandbox=first)

        def started():
            try:
                return driver.start(**thread)
            except Refused as error:
                assert error.code == "busy", error
                return None
        found = []
        bench.wait_for(lambda: found.append(started()) or found[-1], "the volume is free")
        second = found[-1]
        again = driver.shell(second, "cat /workspace/file ~/file; echo more >> /workspace/file; test -d /workspace/own")
        assert again["exit_code"] == 0 and again["out"] == "kept\nhome\n", again
        driver.call("destroy", sandbox=second)
        # Files of a session that has no pod: a pod of its own reads them.
        names = []
        def read():
            reply = driver.send("files", thread="thr-1").result(120)
            assert reply["ok"] or reply["code"] == "busy", reply
            names.append(reply.get("names"))
            return reply["ok"]
        bench.wait_for(read, "its files are read")
        assert sorted(names[-1]) == ["file", "own"], names
        assert refused(lambda: driver.call("files", thread="thr-2")).code == "not_found"
        # The reader gives way to a run.
        bench.wait_for(lambda: found.append(started()) or found[-1], "the reader is gone")
        driver.call("destroy", sandbox=found[-1])


def what_a_pod_has_of_the_image_that_is_absent(bench, driver):
    """Started by `begin_slow_cases`, because Hone waits two minutes for an image."""
    error = refused(lambda: driving.result_of(bench.absent_image, 400))
    assert error.code == "unavailable" and "test.local/absent:1" in error.why, error


CASES = [a_full_namespace_is_busy, a_policy_of_the_cluster_is_repeated_in_its_words, an_account_without_rights_is_told_so,
         a_command_that_takes_too_much_memory_ends_and_the_sandbox_stays, a_sandbox_that_fills_its_disk_is_ended_for_it,
         a_pod_that_another_client_deletes_ends_with_that_reason, restarted("kube-apiserver"), restarted("kubelet"),
         restarted("containerd"), the_volume_of_a_thread_outlives_its_pods, what_a_pod_has_of_the_image_that_is_absent]
CASES[-1].__name__ = "an_image_that_is_absent_is_named"
