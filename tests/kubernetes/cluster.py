"""A cluster of one real node in namespaces of its own: for the suite `kubernetes`. Needs root and version 1 or hybrid control
groups. When it is closed no process, mount, device, control group or file of it is left."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import configuration
import images
import programs

PREFIX = "hone-kubernetes-"  # then the pid of the suite
WORKER_IMAGE = "test.local/worker:1"
TOOLS = """sh cat cp sleep id echo touch ls grep head dd seq true nc timeout mkdir ln rm tr wc unshare kill test tail mv sync
pwd env find wget mknod""".split()


def why_not():
    """Why there can be no cluster here; nothing when there can."""
    if os.geteuid() != 0:
        return "needs root: private namespaces with a kubelet and containerd"
    if pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists():
        return "needs control groups of version 1 or hybrid ones"
    for program in ("go", "cc", "unshare", "nsenter", "ip", "openssl", "dpkg", "apt-get"):
        if shutil.which(program) is None:
            return f"needs the program {program}"
    return None


def controllers():
    return [path for path in pathlib.Path("/sys/fs/cgroup").iterdir()
            if path.is_dir() and not path.is_symlink()]  # with `unified`, where runc makes groups as well


def remove_groups(name):
    """Of processes that have just ended: the kernel needs a moment for their last groups."""
    end = time.monotonic() + 30
    while left := [path / name for path in controllers() if (path / name).exists()]:
        for group in left:
            for path in [*sorted(group.rglob("*/"), reverse=True), group]:
                try:
                    path.rmdir()
                except OSError:
                    pass  # it has members, or is gone
        if time.monotonic() > end:
            raise RuntimeError(f"control groups are left: {left}")
        time.sleep(0.1)


def remove_leftovers():
    """Of suites that were killed: their processes and mounts ended with them, their folders and groups did not."""
    names = {path.name for place in (pathlib.Path("/var/tmp"), *controllers()) for path in place.glob(PREFIX + "*")}
    for name in names:
        if not pathlib.Path("/proc", name.removeprefix(PREFIX)).exists():
            remove_groups(name)
            shutil.rmtree(pathlib.Path("/var/tmp", name), ignore_errors=True)


class Cluster:
    def __init__(self, stack, pod_program):
        self.pod_program = pod_program
        self.programs = programs.ready()
        remove_leftovers()
        self.name = PREFIX + str(os.getpid())
        self.state = pathlib.Path("/var/tmp", self.name)
        self.state.mkdir(mode=0o700)
        stack.callback(shutil.rmtree, self.state)
        stack.callback(remove_groups, self.name)
        self.make_groups()
        self.make_images()
        configuration.write_certificates(self.state)
        configuration.write_configuration(self.state, self.programs, self.name)
        (self.state / "etcd").mkdir(mode=0o700)
        started = time.monotonic()
        node = pathlib.Path(__file__).resolve().parent / "node.py"
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", sys.executable, str(node), str(self.state),
             str(self.programs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.stop)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("the cluster did not start; its own words are above")
        self.took = time.monotonic() - started
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.first_process = int(children[0])

    def make_groups(self):
        for controller in controllers():
            group = controller / self.name
            group.mkdir()
            for name in ("cpuset.cpus", "cpuset.mems"):
                if (controller / name).exists():
                    (group / name).write_text((controller / name).read_text())

    def make_images(self):
        busybox = self.programs / "debian/bin/busybox"
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            (folder / "pause").mkdir()
            shutil.copy(self.programs / "pause", folder / "pause/pause")
            images.write_image(self.state / "pause.image", "test.local/pause:1", folder / "pause", ["/pause"])
            for place in ("bin", "hone-tools", "tmp"):
                (folder / "worker" / place).mkdir(parents=True)
            shutil.copy(busybox, folder / "worker/bin/busybox")
            for name in TOOLS:
                (folder / "worker/bin" / name).symlink_to("busybox")
            shutil.copy(self.pod_program, folder / "worker/hone-tools/hone-pod")
            for program in ("/usr/bin/git", "/usr/lib/git-core/git", "/usr/lib/git-core/git-remote-http"):
                images.add_program(folder / "worker", program)
            images.add_python(folder / "worker")
            images.write_image(self.state / "worker.image", WORKER_IMAGE, folder / "worker", ["/bin/sh"])

    def tell(self, verb, daemon):
        """Kills a daemon, or starts it again."""
        self.process.stdin.write(f"{verb} {daemon}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n", (verb, daemon)

    def command(self, *words):
        """The words of a command in the cluster's network, with the files of this machine."""
        return ["nsenter", f"--net=/proc/{self.first_process}/ns/net", *(str(word) for word in words)]

    def run(self, *words, **options):
        return subprocess.run(self.command(*words), capture_output=True, **options)

    def iptables(self, *words):
        """In the cluster's network: the program that Debian's packages have, with their libraries."""
        debian = self.programs / "debian"
        libraries = debian / "usr/lib/x86_64-linux-gnu"
        return self.run("env", f"LD_LIBRARY_PATH={libraries}", f"XTABLES_LIBDIR={libraries}/xtables",
                        f"XTABLES_LOCKFILE={self.state}/xtables.lock", debian / "usr/sbin/iptables-legacy", "-w", *words)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)

    def left_behind(self):
        """What of it is still on this machine, once it is closed."""
        left = [str(path / self.name) for path in controllers() if (path / self.name).exists()]
        left += [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines() if str(self.state) in line]
        left += [str(self.state)] if self.state.exists() else []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if str(self.state).encode() in path.read_bytes():
                    left.append(str(path))
            except OSError:
                pass
        links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
        left += [line for line in links.splitlines() if "node0" in line or "cni0" in line]
        return left
