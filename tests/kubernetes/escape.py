"""The attacks of tests/escape inside a pod: what a pod of a cluster gives away and a sandbox of a machine does not is listed
here with the reason, and nothing else may succeed."""

import contextlib
import json
import pathlib
import secrets
import socket

import cluster as clusters
import driving

here = pathlib.Path(__file__).resolve().parent
# What succeeds in a pod, by the beginning of its name: a container runtime decides these, and a pod has no say in them.
KNOWN = {
    "t3_proc": {"pid 1 cmdline": "its words are targets of mounts; the spec of a run is never among them"},
    # Containers see the files of the kernel that no runtime masks. Addresses in them are zero without capabilities.
    "t5_masked": {"read key-users": "counts of keys", "read kallsyms": "names, without addresses",
                  "read cmdline": "the words that the node's kernel was started with", "read config.gz": "how it was built",
                  "read interrupts": "counts", "read iomem": "names, without addresses",
                  "/sys": "mounted read-only in every container"},
    "t25_dns": {"udp 53 ": "the pod has a network device, which accepts a datagram; the policy drops it behind the device"},
    "t4_devices": {"suid mount": "the root is not mounted nosuid; no_new_privs makes set-id files ineffective"},
    "t22_network": {"udp ": "as in t25_dns", "interfaces": "the pod has a network device", "routes": "the same"},
}
ATTACKS = ["t3_proc", "t4_devices", "t5_masked", "t6_mounts", "t8_ptrace", "t12_terminal", "t13_core", "t14_keys", "t16_namespaces",
           "t17_kernel_surface", "t20_exhaust", "t24_metadata", "t25_dns", "t10_zombies", "t10_threads", "t9_signals"]
SPEC = {"mounts": [{"source": str(here.parent / "escape"), "target": "/attacks", "read_only": True}],
        "limits": {"memory_bytes": 512 << 20, "cpus": 0.5}}
LISTENER = """
import socket, time
with socket.create_server(("0.0.0.0", 18998)) as server:
    print("listening", flush=True)
    server.accept()[0].close()
"""


def program(name, *words):
    return {"argv": ["/usr/bin/python3", "/attacks/attacks.py", name, *map(str, words)]}


class Attacks:
    def __init__(self, bench, driver, sandbox):
        self.bench, self.driver, self.sandbox = bench, driver, sandbox
        self.unexpected, self.tried = {}, 0

    def attack(self, name, *words):
        result = self.driver.call("run", sandbox=self.sandbox, command=program(name, *words))
        lines = result["out"].splitlines()
        assert lines, (name, result)
        self.judge(name, json.loads(lines[-1]))

    def judge(self, name, found):
        assert found, name
        self.tried += len(found)
        known = KNOWN.get(name, {})
        won = {what: outcome for what, outcome in found.items() if str(outcome).startswith("GOT")
               and not any(what.startswith(begin) for begin in known)}
        if won:
            self.unexpected.setdefault(name, {}).update(won)
        self.bench.escape.setdefault(name, {}).update(found)


def begin(driver, sandbox, argv, first_line):
    """A command that stays: the future of its end, once it has said this."""
    marker = "/tmp/begun-" + secrets.token_hex(4)
    future = driver.send("run", sandbox=sandbox, command={"argv": ["/bin/sh", "-c", f'"$@" > {marker}', "sh", *argv]})
    waited = driver.shell(sandbox, f"i=0; while [ $i -lt 300 ]; do grep -q {first_line} {marker} && exit 0; i=$((i+1)); sleep 0.1; done; exit 1")
    assert waited["exit_code"] == 0, (argv, waited, future.done() and future.result())
    return future


def files_of_the_node(attacks, victim):
    """What a worker of the node's own could read: a file of an operator, and the workspace of another pod."""
    secret = "canary-" + secrets.token_hex(8)
    canary = attacks.bench.cluster.state / "canary"
    canary.write_text(secret)
    canary.chmod(0o644)
    assert attacks.driver.shell(victim, f"echo {secret} > /workspace/canary")["exit_code"] == 0
    places = [str(canary), f"/proc/1/root{canary}", f"/workspace/../../..{canary}", "/etc/shadow",
              *(str(pathlib.Path.home() / name) for name in (".bashrc", ".ssh/id_rsa")),
              "/var/run/secrets/kubernetes.io/serviceaccount/token", "/var/lib/kubelet/config.yaml", "/etc/kubernetes/admin.conf",
              "/hone-state/../proc/1/environ", "/workspace/canary"]
    places += attacks.bench.places_of_workspace(victim)
    attacks.attack("t1_host_files", *places)
    assert secret not in json.dumps(attacks.bench.escape["t1_host_files"]), attacks.bench.escape["t1_host_files"]
    return canary


def links_lead_nowhere(attacks, canary):
    """Links and pipes that a worker leaves for who reads its workspace. Inside they lead to what the pod itself has."""
    before = canary.read_text()
    result = attacks.driver.call("run", sandbox=attacks.sandbox, command=program("t2_plant", canary))
    found = json.loads(result["out"].splitlines()[-1])
    attacks.judge("t2_plant", found)
    assert canary.read_text() == before and not canary.with_name("canary.new").exists()
    for path in ("link", "dangling", "etc/passwd", "up/etc/passwd", "up", "hard", "pipe", "../canary", "/etc/passwd"):
        try:
            content = attacks.driver.call("copy", sandbox=attacks.sandbox, path=path)
        except driving.Refused:
            continue
        raise AssertionError((path, content))
    assert attacks.driver.call("copy", sandbox=attacks.sandbox, path="honest")["text"] == "kept"


def nothing_of_another_pod(attacks, victim):
    name = "hone-node-" + secrets.token_hex(6)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0" + name)
        listener.listen()
        left = begin(attacks.driver, victim, program("t15_leave")["argv"], "left")
        attacks.attack("t15_find", name)
        assert not left.done(), left.result()


def no_way_out(attacks, victim):
    """The kubelet, the API and a pod, beside addresses of the internet. A pod that listens shows that its port would be found."""
    listening = begin(attacks.driver, victim, ["/usr/bin/python3", "-c", LISTENER], "listening")
    for port, *addresses in attacks.bench.targets(victim, 18998):
        attacks.attack("t22_network", port, *addresses)
    assert not listening.done(), "another pod was reached"


def a_fork_bomb_is_held(bench, driver):
    sandbox = driver.start(**SPEC | {"limits": SPEC["limits"] | {"pids": 32}})
    result = driver.call("run", sandbox=sandbox, command=program("t10_fork_bomb"))
    found = json.loads(result["out"].splitlines()[-1])
    assert not found["forks"].startswith("GOT"), found
    bench.escape["t10_fork_bomb"] = found
    assert driver.call("stop", sandbox=sandbox)["state"] == "stopped"
    driver.call("destroy", sandbox=sandbox)


def memory_ends_in_oom(bench, driver):
    for kind in ("heap", "memfd", "shm"):
        sandbox = driver.start(**SPEC | {"limits": SPEC["limits"] | {"memory_bytes": 128 << 20}})
        with contextlib.suppress(driving.Refused):  # either: some nodes end the container, not the process alone
            result = driver.call("run", sandbox=sandbox, command=program("t18_memory", kind))
            assert "GOT" not in result["out"], (kind, result)
        view = driver.call("view", sandbox=sandbox)
        # A node may give /dev/shm a size of its own, below the limit of the pod.
        assert "oom" in view["limits_hit"] or (kind == "shm" and "ENOSPC" in result["out"]), (kind, view)
        driver.call("destroy", sandbox=sandbox)


def run(bench, namespace):
    with driving.pods(bench, namespace, clusters.WORKER_IMAGE) as driver:
        attacks = Attacks(bench, driver, driver.start(**SPEC))
        victim = driver.start(**SPEC)
        links_lead_nowhere(attacks, files_of_the_node(attacks, victim))
        nothing_of_another_pod(attacks, victim)
        no_way_out(attacks, victim)
        for name in ATTACKS:
            attacks.attack(name, *(["placeholder-" + secrets.token_hex(4)] if name == "t13_core" else []))
        view = driver.call("view", sandbox=attacks.sandbox)
        assert view["state"] == "running", view
        driver.call("destroy", sandbox=attacks.sandbox)
        driver.call("destroy", sandbox=victim)
        a_fork_bomb_is_held(bench, driver)
        if bench.limits_memory:
            memory_ends_in_oom(bench, driver)
    print(f"      {len(bench.escape)} attacks, {attacks.tried} attempts")
    assert not attacks.unexpected, json.dumps(attacks.unexpected, indent=1)
