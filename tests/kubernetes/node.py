#!/usr/bin/env python3
"""The first process of the test cluster's namespaces (cluster.py starts it): prepares mounts and a network that only they
have, starts the daemons, prints a line when a node is ready, and reaps until its input ends. Lines of the input kill a daemon
or start it again (`kill kubelet`, `start kubelet`). At its end the kernel ends everything with it, and every mount and device
goes with the namespaces.

node.py STATE PROGRAMS
"""

import json
import os
import pathlib
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import configuration  # noqa: E402

state, programs = (pathlib.Path(word) for word in sys.argv[1:3])
children = {}  # pid → name


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=sys.stderr)


def prepare_mounts():
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "proc", "proc", "/proc")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    os.makedirs("/run/lock")
    # Daemons create folders there: these overlays exist in this namespace only.
    for place in ("/var/lib", "/opt"):
        layer = state / "layers" / place.strip("/").replace("/", "-")
        for part in ("upper", "work"):
            (layer / part).mkdir(parents=True)
        run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={place},upperdir={layer}/upper,workdir={layer}/work", place)
    # An overlay cannot be the upper layer of another one: these are on the disk.
    for name, place in {"kubelet": "/var/lib/kubelet", "containerd": "/var/lib/containerd", "log": "/var/log"}.items():
        (state / name).mkdir(exist_ok=True)
        os.makedirs(place, exist_ok=True)
        run("mount", "--bind", state / name, place)
    # The file system of devices of this network namespace, with the control groups of the machine.
    os.makedirs("/run/sys")
    run("mount", "-t", "sysfs", "sysfs", "/run/sys")
    run("mount", "--rbind", "/sys/fs/cgroup", "/run/sys/fs/cgroup")
    run("mount", "--rbind", "/run/sys", "/sys")
    # The kubelet writes these for the whole machine: it gets plain files instead.
    for name, value in {"vm/overcommit_memory": "1", "kernel/panic": "10", "kernel/panic_on_oops": "1"}.items():
        file = pathlib.Path("/run/plain") / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value + "\n")
        run("mount", "--bind", file, f"/proc/sys/{name}")
    # User namespaces may mount /proc only where one exists that nothing was mounted over.
    os.makedirs("/run/proc")
    run("mount", "-t", "proc", "proc", "/run/proc")


def prepare_network():
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "node0", "type", "bridge")  # the kubelet refuses a loopback address
    run("ip", "addr", "add", configuration.NODE_ADDRESS + "/24", "dev", "node0")
    run("ip", "link", "set", "node0", "up")
    run("ip", "route", "add", "default", "via", "10.77.0.254", "dev", "node0")
    pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1\n")


def start(name, command):
    debian = programs / "debian"
    environment = {"PATH": f"{programs}:{debian}/usr/sbin:{debian}/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(state)}
    log = os.open(state / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    null = os.open("/dev/null", os.O_RDONLY)
    actions = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
    program = next(str(path) for part in environment["PATH"].split(":") if (path := pathlib.Path(part) / command[0]).exists())
    children[os.posix_spawn(program, command, environment, file_actions=actions, setsid=True)] = name
    os.close(log)
    os.close(null)


def reap():
    """Ended children of any name; those of ours are an error while the cluster starts."""
    ended = []
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        if pid in children:
            ended.append(children.pop(pid))


def await_that(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name in reap():
            tail = (state / f"{name}.log").read_text(errors="replace").splitlines()[-15:]
            sys.exit(f"{name} ended:\n" + "\n".join(tail))
        if condition():
            return
        time.sleep(0.05)  # of the processes of others: there is nothing to wait on
    logs = "\n".join(f"{path.name}: {path.read_text(errors='replace')[-800:]}" for path in sorted(state.glob("*.log")))
    sys.exit(f"not after {seconds} s: {what}\n{logs}")


def accepts(address):
    try:
        socket.create_connection(address, 1).close()
    except OSError:
        return False
    return True


def api(path):
    """The parsed response, or nothing."""
    context = ssl.create_default_context(cafile=state / "pki/ca.crt")
    context.load_cert_chain(state / "pki/admin.crt", state / "pki/admin.key")
    try:
        with urllib.request.urlopen(configuration.SERVER + path, context=context, timeout=5) as response:
            text = response.read()
    except (OSError, urllib.error.URLError):
        return None
    return json.loads(text) if text.startswith(b"{") else {"text": text.decode()}


def is_node_ready():
    node = api(f"/api/v1/nodes/{configuration.NODE}") or {}
    conditions = node.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def start_cluster():
    commands = configuration.daemons(state)
    start("etcd", commands["etcd"])
    start("containerd", commands["containerd"])
    await_that("etcd accepts connections", lambda: accepts(("127.0.0.1", 2379)))
    start("kube-apiserver", commands["kube-apiserver"])
    await_that("containerd has its socket", lambda: pathlib.Path("/run/containerd/containerd.sock").exists())
    for image in sorted(state.glob("*.image")):
        run(programs / "debian/usr/bin/ctr", "-n", "k8s.io", "images", "import", image)
    await_that("the API server is ready", lambda: api("/readyz") is not None)
    for name in ("kube-controller-manager", "kube-scheduler", "kubelet"):
        start(name, commands[name])
    await_that("the node is ready", is_node_ready)
    await_that("the default account exists", lambda: api("/api/v1/namespaces/default/serviceaccounts/default") is not None)


def main():
    os.chdir("/")
    prepare_mounts()
    prepare_network()
    start_cluster()
    print("ready", flush=True)
    while True:
        ready = select.select([sys.stdin], [], [], 1)[0]
        reap()
        line = sys.stdin.readline() if ready else None
        if line == "":
            return
        if line:
            serve(*line.split())


def serve(verb, name):
    if verb == "kill":
        pid = next((pid for pid, other in children.items() if other == name), None)
        if pid is None:
            return print("it is not running", flush=True)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        del children[pid]
    else:
        start(name, configuration.daemons(state)[name])
    print("done", flush=True)


if __name__ == "__main__":
    main()
