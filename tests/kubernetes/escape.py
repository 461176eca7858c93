"""The attacks of tests/escape inside a pod: what a pod of a cluster gives away and a sandbox of a machine does not is listed
here with the reason, and nothing else may succeed."""

import json
import pathlib

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
}
ATTACKS = ["t3_proc", "t4_devices", "t5_masked", "t6_mounts", "t8_ptrace", "t12_terminal", "t14_keys", "t16_namespaces",
           "t17_kernel_surface", "t20_exhaust", "t24_metadata", "t25_dns", "t10_zombies", "t10_threads", "t9_signals"]


def run(bench, namespace):
    spec = {"mounts": [{"source": str(here.parent / "escape"), "target": "/attacks", "read_only": True}],
            "limits": {"memory_bytes": 512 << 20, "cpus": 0.5}}
    unexpected, tried = {}, 0
    with driving.pods(bench, namespace, clusters.WORKER_IMAGE) as driver:
        sandbox = driver.start(**spec)
        for name in ATTACKS:
            words = ["/etc/hostname"] if name == "t1_host_files" else []
            result = driver.run(sandbox, "/usr/bin/python3", "/attacks/attacks.py", name, *words)
            lines = result["out"].splitlines()
            assert lines, (name, result)
            found = json.loads(lines[-1])
            tried += len(found)
            known = KNOWN.get(name, {})
            won = {what: outcome for what, outcome in found.items() if str(outcome).startswith("GOT")
                   and not any(what.startswith(begin) for begin in known)}
            if won:
                unexpected[name] = won
            bench.escape[name] = found
        view = driver.call("view", sandbox=sandbox)
        assert view["state"] == "running", view
        driver.call("destroy", sandbox=sandbox)
    print(f"      {len(ATTACKS)} attacks, {tried} attempts")
    assert not unexpected, json.dumps(unexpected, indent=1)
