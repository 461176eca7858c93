#!/usr/bin/env python3
"""Pods as processes of this machine, for fake_api.py: what a node would do with a pod of Hone, with namespaces, a read-only root,
volumes, its user and a network that leads nowhere; without control groups and without a filter of the runtime. Needs root.
Pods with the RuntimeClass `gvisor` run in gVisor (runsc), those with any other as without one.

pod_runtime.py FOLDER IMAGE CONTAINER    the first process of a container (FOLDER/pod.json), in namespaces that unshare made
"""

import contextlib
import ctypes
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time

MOST_CPUS = 50  # of the node
NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts")
GVISOR = "gvisor"  # the RuntimeClass
GVISOR_NAMESPACES = ("--mount", "--net")  # runsc makes the others, and finds its own processes by their numbers
RUNSC = ("runsc", "--platform=ptrace", "--network=none", "--ignore-cgroups", "--host-uds=none")
SERVICE = "10.96.0.1"  # the cluster's API as pods see it
FIRST_OF_NAMESPACE, USERS_OF_NAMESPACE = 300_000_000, 65_536  # hostUsers: false
CLONE_NEWUSER = 0x10000000
# An open network: what listens is told by a line for each connection.
OPEN_NETWORK = f"""
import socket, subprocess
subprocess.run(["ip", "address", "replace", "{SERVICE}/32", "dev", "lo"], check=True)
with socket.create_server(("{SERVICE}", 443)) as listener:
    print("open", flush=True)
    while True:
        listener.accept()
        print("reached", flush=True)
"""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
# What container runtimes hide of /proc, and what they mount read-only there (the defaults of containerd and CRI-O).
MASKED = "acpi asound kcore keys latency_stats sched_debug scsi timer_list timer_stats".split()
READ_ONLY = "bus fs irq sys sysrq-trigger".split()
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38


# --- inside the namespaces

def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=sys.stderr)


def make_place(path, like):
    if like.is_dir():
        path.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def bind(source, target, read_only):
    make_place(target, source)
    run("mount", "--bind", source, target)
    if read_only:
        run("mount", "-o", "remount,bind,ro", target)


def mask(proc):
    for path in (proc / name for name in MASKED):
        if path.is_dir():
            run("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", path)
        elif path.exists():
            run("mount", "--bind", "/dev/null", path)
    for path in (proc / name for name in READ_ONLY):
        if path.exists():
            bind(path, path, True)


def is_gvisor(pod):
    return pod["spec"].get("runtimeClassName") == GVISOR


def in_user_namespace(pod):
    return (pod["spec"].get("hostUsers") is False) and FIRST_OF_NAMESPACE


def mounts_of(folder, container):
    """Source, target and whether it is read-only."""
    for mount in container["volumeMounts"]:
        source = folder / "volumes" / mount["name"]
        yield source / mount["subPath"] if "subPath" in mount else source, mount["mountPath"], mount.get("readOnly", False)


def make_root(folder, image, container, with_mounts=True):
    layer = folder / ("layer-" + container["name"])
    root = layer / "root"
    for name in ("upper", "work", "root"):
        (layer / name).mkdir(parents=True)
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={image},upperdir={layer}/upper,workdir={layer}/work", root)
    for name in ("proc", "dev"):
        (root / name).mkdir(exist_ok=True)
    if not with_mounts:
        for source, target, _ in mounts_of(folder, container):
            make_place(root / target.lstrip("/"), source)
        return root
    run("mount", "-t", "proc", "proc", root / "proc")
    mask(root / "proc")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root / "dev")
    for name in DEVICES:
        bind(pathlib.Path("/dev", name), root / "dev" / name, False)
    for name, kind, options in (("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"), ("shm", "tmpfs", "mode=1777")):
        (root / "dev" / name).mkdir()
        run("mount", "-t", kind, "-o", options, kind, root / "dev" / name)
    (root / "dev/ptmx").symlink_to("pts/ptmx")
    for source, target, read_only in mounts_of(folder, container):
        bind(source, root / target.lstrip("/"), read_only)
    run("mount", "-o", "remount,bind,ro", root)
    run("ip", "link", "set", "lo", "up")
    return root


def become(user, group):
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in range(64):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    os.setgroups([group])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


def enter_user_namespace(root):
    """A child, which is still root of the node, writes the maps. Before the root is changed: no process in another one may."""
    libc, (reader, writer) = ctypes.CDLL(None, use_errno=True), os.pipe()
    child = os.fork()
    if child == 0:
        os.read(reader, 1)
        for name in ("uid_map", "gid_map"):
            with open(root / "proc" / str(os.getppid()) / name, "w") as file:
                file.write(f"0 {FIRST_OF_NAMESPACE} {USERS_OF_NAMESPACE}")
        os._exit(0)
    assert libc.unshare(CLONE_NEWUSER) == 0
    os.write(writer, b"x")
    assert os.waitpid(child, 0)[1] == 0
    os.close(reader)
    os.close(writer)


def become_gvisor(folder, image, container, environment, security):
    root = make_root(folder, image, container, with_mounts=False)
    bundle = folder / ("bundle-" + container["name"])
    bundle.mkdir()
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"}]
    mounts += [{"destination": target, "type": "bind", "source": str(source.resolve()),
                "options": ["rbind", "ro" if read_only else "rw"]} for source, target, read_only in mounts_of(folder, container)]
    process = {"user": {"uid": security["runAsUser"], "gid": security["runAsGroup"], "additionalGids": [security["fsGroup"]]},
               "args": container["command"], "cwd": container.get("workingDir", "/"), "noNewPrivileges": True,
               "env": [f"{name}={value}" for name, value in environment.items()], "capabilities": {}}
    (bundle / "config.json").write_text(json.dumps({
        "ociVersion": "1.0.0", "process": process, "root": {"path": str(root), "readonly": True}, "hostname": "worker", "mounts": mounts,
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")]}}))
    os.execvp(RUNSC[0], [*RUNSC, "--root", str(folder / "runsc"), "run", "--bundle", str(bundle), container["name"]])


def first_process(folder, image, name):
    pod = json.loads((folder / "pod.json").read_text())
    spec = pod["spec"]
    container = next(each for each in spec["initContainers"] + spec["containers"] if each["name"] == name)
    environment = {"PATH": "/usr/bin:/bin", "KUBERNETES_SERVICE_HOST": SERVICE, "KUBERNETES_SERVICE_PORT": "443"}
    environment |= {each["name"]: each["value"] for each in container.get("env", [])}
    security = spec["securityContext"]
    if is_gvisor(pod):
        become_gvisor(folder, image, container, environment, security)
    root = make_root(folder, image, container)
    if in_user_namespace(pod):
        enter_user_namespace(root)
    os.chroot(root)
    os.chdir(container.get("workingDir", "/"))
    become(security["runAsUser"], security["runAsGroup"])
    os.execve(container["command"][0], container["command"], environment)


# --- in fake_api.py

class Pods:
    def __init__(self, image, folder):
        self.image, self.folder = pathlib.Path(image), pathlib.Path(folder)
        self.processes = {}  # name of the pod → the process that unshare is
        self.is_held = False  # pods stay as they were made
        self.is_open = False  # the network of pods that start
        self.has_user_namespaces = True  # otherwise hostUsers has no effect on this node
        self.openers = {}  # name of the pod → the process that keeps its network open
        self.reached = 0  # how often pods have reached something
        self.image_id = "worker@sha256:" + 64 * "0"  # of pods that start

    def make_volumes(self, folder, pod):
        spec, first = pod["spec"], in_user_namespace(pod) or 0
        for volume in spec["volumes"]:
            place = folder / "volumes" / volume["name"]
            if "persistentVolumeClaim" in volume:
                kept = self.folder / "claims" / volume["persistentVolumeClaim"]["claimName"]
                kept.mkdir(parents=True, exist_ok=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(kept)
            else:
                place.mkdir(parents=True)
            os.chown(place, first, first + spec["securityContext"]["fsGroup"])
            os.chmod(place, 0o2770)

    def start(self, folder, pod, container):
        namespaces = GVISOR_NAMESPACES if is_gvisor(pod) else NAMESPACES
        words = ["unshare", *namespaces, "--fork", "--kill-child", sys.executable, __file__, folder, self.image, container]
        with open(folder / f"{container}.log", "wb") as log:
            return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def run(self, state, pod):
        """From its creation to its end; a thread of its own."""
        name = pod["metadata"]["name"]
        with state.lock:
            state.lock.wait_for(lambda: not self.is_held or name not in state.pods)
            if name not in state.pods:
                return None
        if not self.has_user_namespaces:
            pod["spec"].pop("hostUsers", None)
        if int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].rstrip("m")) > MOST_CPUS * 1000:
            return self.report(state, name, {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                 "message": "0/1 nodes are available: 1 Insufficient cpu."}]})
        folder = self.folder / name
        folder.mkdir()
        (folder / "pod.json").write_text(json.dumps(pod))
        self.make_volumes(folder, pod)
        code = self.start(folder, pod, "tools").wait()
        if code == 0:
            process = self.start(folder, pod, "worker")
            while process.poll() is None and not self.first_process(process, pod):
                time.sleep(0.02)  # nothing reports that a process executed another program
            if self.is_open:
                self.open_network(name, process, pod)
            with state.lock:
                self.processes[name] = process
                is_deleted = name not in state.pods
            if is_deleted:  # before there was a process to end
                return self.end(state, name)
            worker = {"name": "worker", "imageID": self.image_id, "state": {"running": {}}}
            self.report(state, name, {"phase": "Running", "containerStatuses": [worker]})
            code = process.wait()
        ended = {"name": "worker", "state": {"terminated": {"reason": "Error", "exitCode": code % 256}}}
        self.report(state, name, {"phase": "Failed", "containerStatuses": [ended]})

    @staticmethod
    def report(state, name, status):
        with state.lock:
            if name in state.pods:
                # A node changes no mark that the cluster has set.
                marks = [each for each in state.pods[name]["status"].get("conditions", []) if each["type"] == "DisruptionTarget"]
                state.pods[name]["status"] = status | {"conditions": marks + status.get("conditions", [])}
                state.change("MODIFIED", state.pods[name])

    def end(self, state, name):
        with state.lock:
            ended = [self.openers.pop(name, None), self.processes.pop(name, None)]
        for process in filter(None, ended):
            # --kill-child does not reach a process that has become another user.
            with contextlib.suppress(OSError):
                for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
                    os.kill(int(child), signal.SIGKILL)
            process.kill()
            process.wait()
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def open_network(self, name, process, pod):
        opener = subprocess.Popen(["nsenter", "--target", self.first_process(process, pod), "--net", sys.executable, "-c", OPEN_NETWORK],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert opener.stdout.readline() == "open\n"
        self.openers[name] = opener
        threading.Thread(target=self.count_connections, args=(opener,), daemon=True).start()

    def count_connections(self, opener):
        for _ in opener.stdout:
            self.reached += 1

    def set_network(self, state, is_open):
        """Of pods that run, and of those that start later."""
        self.is_open = is_open
        for name, process in self.processes.items():
            if is_open and name not in self.openers and process.poll() is None:
                self.open_network(name, process, state.pods[name])
        if not is_open:
            for opener in self.openers.values():
                opener.kill()  # its address stays, and nothing listens there
                opener.wait()
            self.openers = {}

    def first_process(self, process, pod):
        """Of the pod, as this machine counts; nothing before it is the program of the container."""
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if children and is_gvisor(pod):
            state = subprocess.run([*self.in_gvisor(children[0], pod), "state", "worker"], capture_output=True)
            return children[0] if state.returncode == 0 and json.loads(state.stdout)["status"] == "running" else None
        with contextlib.suppress(OSError):
            if children and os.readlink(f"/proc/{children[0]}/exe").endswith("/hone-pod"):
                return children[0]
        return None

    def in_gvisor(self, first, pod):
        """A program of runsc, where it finds its own kernel."""
        root = self.folder / pod["metadata"]["name"] / "runsc"
        return ["nsenter", "--target", first, *GVISOR_NAMESPACES, "--", *RUNSC, "--root", str(root)]

    def execute(self, pod, command):
        security = pod["spec"]["securityContext"]
        user, group = security["runAsUser"], security["runAsGroup"]
        first = self.first_process(self.processes[pod["metadata"]["name"]], pod)
        if is_gvisor(pod):
            enter = [*self.in_gvisor(first, pod), "exec", "--user", f"{user}:{group}", "--cwd", "/", "worker"]
        else:
            users = ["--user"] if in_user_namespace(pod) and self.has_user_namespaces else []
            enter = ["nsenter", "--target", first, *NAMESPACES, *users, "--root", "--wd=/", "--setuid", user, "--setgid", group, "--"]
        return subprocess.Popen([str(word) for word in [*enter, *command]],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def carry(session, process):
    """Between a WebSocket and a process, until the process ends."""
    pieces = queue.Queue(64)

    def read(channel, stream):
        while data := stream.read1(30000):
            pieces.put((channel, data))
            session.wake()
        pieces.put((channel, b""))
        session.wake()

    for channel, stream in ((1, process.stdout), (2, process.stderr)):
        threading.Thread(target=read, args=(channel, stream), daemon=True).start()
    still_open = 2
    try:
        while still_open:
            for channel, data in session.wait():
                if channel == 0:
                    process.stdin.write(data)
                    process.stdin.flush()
                elif channel == 255:
                    process.stdin.close()
            while still_open and not pieces.empty():
                channel, data = pieces.get()
                if data:
                    session.send(channel, data)
                else:
                    still_open -= 1
        code = process.wait()
        session.finish(code if code >= 0 else 128 - code)
    except BrokenPipeError:
        session.finish(1)
    finally:
        process.stdin.close()  # a cut connection ends the input of the command, and nothing else


if __name__ == "__main__":
    first_process(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3])
