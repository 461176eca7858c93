"""Boundary: the disk. The attacker is a worker with a shell who wants to fill the host's disk, of which it was given a small
part: on a server that runs as root (volumes of a fixed size) and on one of an ordinary user (watched directories)."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from attack import worker
from runs import Shop

ESCAPE = pathlib.Path(__file__).resolve().parent.parent / "escape"
USER = 54321  # an ordinary user; no entry in /etc/passwd is needed
LIMIT = 20 << 20


def allocated(folder):
    """Bytes that a folder takes on the host, sparse files as they are."""
    files = {}
    for path in pathlib.Path(folder).rglob("*"):
        try:
            state = path.lstat()
        except OSError:
            continue  # it was removed meanwhile
        files[state.st_dev, state.st_ino] = state.st_blocks * 512
    return sum(files.values())


class UsersHone:
    """`hone sandbox` of an ordinary user, with a data directory of its own."""

    def __init__(self, binary, stack):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-adversary-", dir="/var/tmp"))
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)
        binary = pathlib.Path(binary).resolve()
        self.hone = self.folder / binary.name
        for name in (binary.name, "hone-init"):  # where the ordinary user can execute them
            shutil.copy(binary.parent / name, self.folder / name)
        shutil.copytree(ESCAPE, self.folder / "attacks")
        self.data = self.folder / "data"
        self.data.mkdir()
        self.become = []
        if os.geteuid() == 0:
            os.chown(self.data, USER, USER)
            self.become = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all"]

    def start(self, name, *arguments, options=()):
        return subprocess.Popen(self.become + [self.hone, "sandbox", "run", "--data-dir", self.data, "--mount",
                                f"{self.folder}/attacks:/attacks", *options, "--", "/usr/bin/python3", "/attacks/attacks.py", name, *arguments],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", env={"PATH": "/usr/bin:/bin"})

    def attack(self, name, *arguments, options=()):
        stdout, _ = self.start(name, *arguments, options=["--json", *options]).communicate(timeout=300)
        report = json.loads(stdout)
        lines = report["stdout"].splitlines()
        return json.loads(lines[-1]) if lines else {}, report["sandbox"]


def assert_hidden_files_count(binary, stack, kind):
    hone = UsersHone(binary, stack)
    limits = ["--thread", "t", "--disk", str(LIMIT), "--inodes", "4000"]
    # Control: what is within the limit is left alone.
    found, sandbox = hone.attack("t19_hide", "links", options=limits)
    assert found and not sandbox["limits_hit"], (found, sandbox)
    found, sandbox = hone.attack("t19_hide", kind, options=["--thread", "u", "--disk", str(LIMIT), "--inodes", "4000"])
    assert "disk" in sandbox["limits_hit"], (found, sandbox)
    assert not str(found.get(kind, "")).startswith("GOT"), found
    assert allocated(hone.data) < 6 * LIMIT, "what was hidden is still on the disk"


def test_files_behind_thousands_of_directories(binary, stack):
    """Gain: as much of the host's disk as there is: a walk that ends early does not see them."""
    assert_hidden_files_count(binary, stack, "wide")


def test_files_below_hundreds_of_directories(binary, stack):
    """Gain: as much of the host's disk as there is: a walk that does not go deep enough does not see them."""
    assert_hidden_files_count(binary, stack, "deep")


def test_files_without_a_name(binary, stack):
    """Gain: as much of the host's disk as there is: an open file that was deleted is in no directory."""
    assert_hidden_files_count(binary, stack, "unlinked")


def test_files_that_are_only_mapped(binary, stack):
    """Gain: as much of the host's disk as there is: a deleted file that is mapped needs no descriptor."""
    assert_hidden_files_count(binary, stack, "mapped")


def test_files_in_a_directory_that_nobody_may_read(binary, stack):
    """Gain: as much of the host's disk as there is: an ordinary user cannot walk into a directory of mode 000 or 400."""
    for kind in ("unreadable", "unsearchable"):
        assert_hidden_files_count(binary, stack, kind)


def test_files_that_are_on_their_way_between_two_processes(binary, stack):
    """Gain: as much of the host's disk as there is: a descriptor in a socket's queue belongs to no process."""
    assert_hidden_files_count(binary, stack, "in flight")


def test_files_of_a_process_that_cannot_be_inspected(binary, stack):
    """Gain: as much of the host's disk as there is: the descriptors of a process that is not dumpable cannot be listed."""
    assert_hidden_files_count(binary, stack, "not dumpable")


def test_files_of_one_thread(binary, stack):
    """Gain: as much of the host's disk as there is: a thread can have a table of descriptors of its own, or be the only one that is left."""
    for kind in ("own table", "first thread ended"):
        assert_hidden_files_count(binary, stack, kind)


def test_a_neighbour_writes_beside_a_sandbox_that_hides_little(binary, stack):
    """Gain: the end of another's sandbox, which is below its limit: what a neighbour writes is taken for its own."""
    hone = UsersHone(binary, stack)
    sandbox = hone.start("t19_hide", "little", options=["--stdin", "--thread", "t", "--disk", str(LIMIT), "--inodes", "4000"])
    assert sandbox.stdout.readline() == "ready\n", sandbox.communicate()
    with open(hone.folder / "neighbour", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 4 * LIMIT)
    stdout, stderr = sandbox.communicate(timeout=300)
    assert sandbox.returncode == 0 and json.loads(stdout) == {"little": "5 MiB"} and not stderr, (sandbox.returncode, stdout, stderr)


def test_files_that_are_moved_past_the_walk(binary, stack):
    """Gain: as much of the host's disk as there is: a worker that watches the reader moves the files to where it has read already."""
    assert_hidden_files_count(binary, stack, "moved")


def test_a_worker_of_a_server_writes_on_when_its_workspace_is_full(binary, stack):
    """Gain: more of the host's disk than the preset gives, by any file, name or place that can be written."""
    shop = Shop(binary, stack)
    before = allocated(shop.server.data_dir)
    script = """
        exec 2>&1
        for place in /workspace /tmp /var/tmp /home/worker /dev/shm /run; do
            dd if=/dev/zero of=$place/fill bs=1M count=200 >/dev/null 2>&1 && echo "filled $place"
        done
        i=0; while [ $i -lt 4000 ]; do mkdir -p /workspace/d/$i || break; i=$((i + 1)); done >/dev/null 2>&1
        exec 3>/workspace/ghost && rm -f /workspace/ghost /workspace/fill && dd if=/dev/zero bs=1M count=200 >&3 2>/dev/null && echo "filled a file without a name"
        for place in / /etc /usr /opt /hone /srv /var; do (echo x > $place/x) 2>/dev/null && echo "wrote $place"; done
        echo end
    """
    _, lines = worker(shop, script, sandbox={"disk_bytes": 64 << 20, "memory_bytes": 512 << 20})
    assert lines == ["end"], lines
    assert allocated(shop.server.data_dir) - before < 200 << 20, (before, allocated(shop.server.data_dir))


def test_a_script_that_prepares_a_layer_fills_the_disk(binary, stack):
    """Gain: the host's disk, through the layer that an init script builds, which is a directory of the host."""
    shop = Shop(binary, stack)
    before = allocated(shop.server.data_dir)
    script = "exec 3>/home/worker/ghost; rm /home/worker/ghost; dd if=/dev/zero bs=1M count=4000 >&3 2>/dev/null; sleep 5; echo survived"
    run = shop.until(shop.start("/bin/true", sandbox={"init_script": script, "disk_bytes": 32 << 20})["id"])
    assert run["state"] == "failed" and "disk" in run["reason"] and "survived" not in run["reason"], run
    assert allocated(shop.server.data_dir) - before < 2000 << 20
