"""Bare Debian and Ubuntu roots made with mmdebstrap, and commands in them, in namespaces of their own. A root with systemd can be booted:
systemd is then the first process of the namespaces, as on a machine of its own."""

import contextlib
import hashlib
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

# Not chroot: the kernel refuses user namespaces, and so sandboxes, to a process whose root is not the root of its mounts.
PIVOT = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(sys.argv[1])
if libc.syscall({number}, b".", b".") != 0 or libc.umount2(b".", 2) != 0: sys.exit(os.strerror(ctypes.get_errno()))
os.chdir("/")
os.execve(sys.argv[2], sys.argv[2:], {{"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "container": "hone-test", "LC_ALL": "C.UTF-8"}})
""".format(number={"x86_64": 155, "aarch64": 41}[os.uname().machine])
SYSTEMD = "/lib/systemd/systemd"


def run(*command, check=True, timeout=600, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, **more)
    said = f"{shlex.join(map(str, command))}: {done.returncode}\n{more.get('input', '')}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    assert not check or done.returncode == 0, said
    return done


def enter(root, *command):
    return f"exec {sys.executable} -c {shlex.quote(PIVOT)} {root} {shlex.join(command)}"


def wait_until(check, what, process=None, seconds=120):
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        assert process is None or process.poll() is None, f"{what}: the machine ended with {process.returncode}"
        time.sleep(0.1)
    return found


UBUNTU = ("noble", "resolute")
ARCHIVE = "http://archive.ubuntu.com/ubuntu"
# The keys of its archive, which Debian 12 does not have, as a package with a known content.
KEYS = (f"{ARCHIVE}/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb", "36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8")


def keys_of_ubuntu(folder):
    found = folder / f"ubuntu-keyring-{KEYS[1][:16]}"
    if not found.exists():
        package = folder / "ubuntu-keyring.deb"
        with urllib.request.urlopen(KEYS[0], timeout=60) as answer:
            package.write_bytes(answer.read())
        assert hashlib.sha256(package.read_bytes()).hexdigest() == KEYS[1], "the keys of Ubuntu's archive are other ones"
        run("dpkg-deb", "-x", package, f"{found}.new")
        pathlib.Path(f"{found}.new").rename(found)
    return found / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


def bare_root(suite, packages):
    """A new root, kept for a day: a mirror takes minutes to deliver one."""
    if suite in UBUNTU:
        packages = (*packages, "apt", "ubuntu-keyring")  # neither is a required package there
    name = hashlib.sha256(" ".join((suite, *packages)).encode()).hexdigest()[:16]
    kept = pathlib.Path.home() / f".cache/hone/root-{suite}-{name}.tar"
    if not kept.exists() or kept.stat().st_mtime < time.time() - 86400:
        kept.parent.mkdir(parents=True, exist_ok=True)
        options, mirrors = [], []
        if suite in UBUNTU:  # apt's own user cannot read the keys here; the root's own apt finds them where its package has them
            options = ['--aptopt=APT::Sandbox::User "root"', f"--customize-hook=echo deb {ARCHIVE} {suite} main universe > $1/etc/apt/sources.list"]
            mirrors = [f"deb [signed-by={keys_of_ubuntu(kept.parent)}] {ARCHIVE} {suite} main universe"]
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(packages)}", *options, suite, f"{kept}.new.tar", *mirrors, timeout=1800)
        pathlib.Path(f"{kept}.new.tar").rename(kept)
    return kept


class Machine:
    """A bare Debian root. Commands run in namespaces of their own (mounts, processes, network with loopback only) unless they
    need the mirror."""

    def __init__(self, stack, suite, packages=()):
        self.suite = suite
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="hone-bare-", dir="/var/tmp"))
        stack.callback(shutil.rmtree, self.root, ignore_errors=True)
        run("tar", "-xpf", bare_root(suite, ("ca-certificates", "python3", "procps", *packages)), "--exclude=./dev/*", "-C", self.root)
        self.root.chmod(0o755)

    def inside(self, script, network=False, **more):
        """A shell script in the root, as root there."""
        prepare = [f"mount --bind {self.root} {self.root}", f"mount --rbind /dev {self.root}/dev", f"mount -t proc proc {self.root}/proc",
                   f"mount --rbind /sys {self.root}/sys"]
        if network:
            prepare += [f"mount --bind /etc/resolv.conf {self.root}/etc/resolv.conf"] if (self.root / "etc/resolv.conf").exists() else []
        else:
            prepare += ["ip link set lo up"]
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
        words += [] if network else ["--net"]
        body = " && ".join(prepare) + " && " + enter(self.root, "/bin/sh", "-e")
        return run(*words, "sh", "-c", body, input=script, **more)

    def put(self, source, target):
        target = self.root / target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def files(self):
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*") if not path.is_dir() or path.is_symlink()}

    @contextlib.contextmanager
    def booted(self):
        with contextlib.ExitStack() as stack:
            group = pathlib.Path(next(line.split()[1] for line in open("/proc/mounts") if line.split()[2] == "cgroup2"), f"hone-machine-{os.getpid()}")
            group.mkdir()
            stack.callback(remove_group, group)
            mounts = [f"mount --bind {self.root} {self.root}", "cd " + str(self.root), "mount -t proc proc proc", "mount -t sysfs sysfs sys",
                      "mount -t cgroup2 cgroup2 sys/fs/cgroup", "mount -t tmpfs -o mode=755 tmpfs dev", "mount -t tmpfs -o mode=755 tmpfs run",
                      "mkdir dev/pts dev/shm", "mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts", "ln -s pts/ptmx dev/ptmx",
                      "ln -s /proc/self/fd dev/fd", "mount -t tmpfs -o mode=1777 tmpfs dev/shm", "ip link set lo up"]
            mounts += [f"touch dev/{name} && mount --bind /dev/{name} dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")]
            body = f"echo $$ > {group}/cgroup.procs && exec unshare --mount --pid --fork --propagation private --uts --ipc --net --cgroup " \
                   f"sh -c {shlex.quote(' && '.join(mounts) + ' && ' + enter(self.root, SYSTEMD))}"
            process = stack.enter_context(subprocess.Popen(["sh", "-c", body], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                           stderr=subprocess.DEVNULL))
            first = wait_until(lambda: init_below(process.pid), "systemd starts", process)
            stack.callback(power_off, process, first)
            machine = Booted(first)
            wait_until(lambda: machine.type("systemctl is-system-running", check=False) in ("running", "degraded"), "the machine is up", process)
            yield machine


class Booted:
    """A machine on which systemd runs. Keeps what was typed and what it said."""

    def __init__(self, first):
        self.first = first
        self.transcript = []

    def type(self, command, check=True, shown=False, **more):
        # --all but the user namespace, which is the host's own
        words = ["nsenter", "-t", str(self.first), "-m", "-u", "-i", "-n", "-p", "-C", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                 "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "sh", "-ec", command]
        done = run(*words, check=check, stdin=subprocess.DEVNULL, **more)
        if shown:
            self.transcript.append(f"# {command}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


def init_below(pid):
    """The systemd that is the first process of the namespaces below a process."""
    found = run("pgrep", "-P", pid, check=False).stdout.split()
    for child in found:
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "systemd":
                return int(child)
    return None


def power_off(process, first):
    with contextlib.suppress(ProcessLookupError):
        os.kill(first, signal.SIGRTMIN + 4)
    try:
        process.wait(90)
    except subprocess.TimeoutExpired:
        os.kill(first, signal.SIGKILL)  # with it ends everything in its namespaces
        process.wait(30)


def remove_group(group):
    for folder in sorted([group, *(path for path in group.rglob("*") if path.is_dir())], reverse=True):
        folder.rmdir()
