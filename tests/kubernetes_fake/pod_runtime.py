#!/usr/bin/env python3
"""Pods as processes of this machine, for fake_api.py: what a node would do with a pod of Hone, with namespaces, a read-only root,
volumes, its user and a network that leads nowhere; without control groups and without a filter of the runtime. Needs root.

pod_runtime.py FOLDER IMAGE CONTAINER    the first process of a container (FOLDER/pod.json), in namespaces that unshare made
"""

import contextlib
import ctypes
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import threading
import time

MOST_CPUS = 50  # of the node
NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts")
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


def make_root(folder, image, container):
    layer = folder / ("layer-" + container["name"])
    root = layer / "root"
    for name in ("upper", "work", "root"):
        (layer / name).mkdir(parents=True)
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={image},upperdir={layer}/upper,workdir={layer}/work", root)
    for name in ("proc", "dev"):
        (root / name).mkdir(exist_ok=True)
    run("mount", "-t", "proc", "proc", root / "proc")
    mask(root / "proc")
    run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", root / "dev")
    for name in DEVICES:
        bind(pathlib.Path("/dev", name), root / "dev" / name, False)
    for name, kind, options in (("pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"), ("shm", "tmpfs", "mode=1777")):
        (root / "dev" / name).mkdir()
        run("mount", "-t", kind, "-o", options, kind, root / "dev" / name)
    (root / "dev/ptmx").symlink_to("pts/ptmx")
    for mount in container["volumeMounts"]:
        source = folder / "volumes" / mount["name"]
        bind(source / mount["subPath"] if "subPath" in mount else source, root / mount["mountPath"].lstrip("/"),
             mount.get("readOnly", False))
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


def first_process(folder, image, name):
    spec = json.loads((folder / "pod.json").read_text())["spec"]
    container = next(each for each in spec["initContainers"] + spec["containers"] if each["name"] == name)
    root = make_root(folder, image, container)
    os.chroot(root)
    os.chdir(container.get("workingDir", "/"))
    environment = {"PATH": "/usr/bin:/bin", "KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    environment |= {each["name"]: each["value"] for each in container.get("env", [])}
    security = spec["securityContext"]
    become(security["runAsUser"], security["runAsGroup"])
    os.execve(container["command"][0], container["command"], environment)


# --- in fake_api.py

class Pods:
    def __init__(self, image, folder):
        self.image, self.folder = pathlib.Path(image), pathlib.Path(folder)
        self.processes = {}  # name of the pod → the process that unshare is

    def make_volumes(self, folder, spec):
        for volume in spec["volumes"]:
            place = folder / "volumes" / volume["name"]
            if "persistentVolumeClaim" in volume:
                kept = self.folder / "claims" / volume["persistentVolumeClaim"]["claimName"]
                kept.mkdir(parents=True, exist_ok=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(kept)
            else:
                place.mkdir(parents=True)
            os.chown(place, 0, spec["securityContext"]["fsGroup"])
            os.chmod(place, 0o2770)

    def start(self, folder, container):
        words = ["unshare", *NAMESPACES, "--fork", "--kill-child", sys.executable, __file__, folder, self.image, container]
        with open(folder / f"{container}.log", "wb") as log:
            return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def run(self, state, pod):
        """From its creation to its end; a thread of its own."""
        name = pod["metadata"]["name"]
        if int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].rstrip("m")) > MOST_CPUS * 1000:
            return self.report(state, name, {"phase": "Pending", "conditions": [
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                 "message": "0/1 nodes are available: 1 Insufficient cpu."}]})
        folder = self.folder / name
        folder.mkdir()
        (folder / "pod.json").write_text(json.dumps(pod))
        self.make_volumes(folder, pod["spec"])
        code = self.start(folder, "tools").wait()
        if code == 0:
            process = self.start(folder, "worker")
            while process.poll() is None and not self.first_process(process):
                time.sleep(0.02)  # nothing reports that a process executed another program
            with state.lock:
                self.processes[name] = process
                is_deleted = name not in state.pods
            if is_deleted:  # before there was a process to end
                return self.end(state, name)
            self.report(state, name, {"phase": "Running", "containerStatuses": [{"name": "worker", "state": {"running": {}}}]})
            code = process.wait()
        ended = {"name": "worker", "state": {"terminated": {"reason": "Error", "exitCode": code % 256}}}
        self.report(state, name, {"phase": "Failed", "containerStatuses": [ended]})

    @staticmethod
    def report(state, name, status):
        with state.lock:
            if name in state.pods:
                state.pods[name]["status"] = status
                state.change("MODIFIED", state.pods[name])

    def end(self, state, name):
        with state.lock:
            process = self.processes.pop(name, None)
        if process:
            process.kill()
            process.wait()
        shutil.rmtree(self.folder / name, ignore_errors=True)

    @staticmethod
    def first_process(process):
        """Of the pod, as this machine counts; nothing before it is the program of the container."""
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        with contextlib.suppress(OSError):
            if children and os.readlink(f"/proc/{children[0]}/exe").endswith("/hone-pod"):
                return children[0]
        return None

    def execute(self, pod, command):
        security = pod["spec"]["securityContext"]
        first = self.first_process(self.processes[pod["metadata"]["name"]])
        return subprocess.Popen(["nsenter", "--target", first, *NAMESPACES, "--root", "--wd=/",
                                 "--setuid", str(security["runAsUser"]), "--setgid", str(security["runAsGroup"]), "--", *command],
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
