"""A power cut: everything that was not synced is gone. What was acknowledged before is there afterwards.

The data directory is an ext4 image on a loop device. FS_IOC_SHUTDOWN without a log flush stops every write to the
device at once, so that the next mount finds what a machine finds after its power failed. The mount lives in a mount
namespace of its own and goes with its last process."""

import contextlib
import fcntl
import http.client
import io
import json
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import tarfile
import tempfile
import threading

from crash import everything
from repos import Forge, add, diff_of, settled, skill_for
from runs import OVER, Shop, shell
from sandbox import small_root
from server import PASSWORD, Server, needs, run, seeded, wait_until
from telemetry import Sender, key_of

CUTS = int(os.environ.get("HONE_TEST_CUTS", "6"))  # 100 now and then
FS_IOC_SHUTDOWN = 0x8004587D
WITHOUT_LOG_FLUSH = struct.pack("I", 2)


class Disk:
    """A disk whose power can be cut."""

    def __init__(self, stack, megabytes=3072):
        needs("root, for loop mounts", os.geteuid() == 0)
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-power-", dir="/var/tmp")))
        self.image, self.mount = folder / "disk.ext4", folder / "disk"
        self.mount.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        made = ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(self.image)]
        subprocess.run(made, check=True, capture_output=True)
        # It ends when its input does, also when this process is killed; the mount and the loop device end with it.
        self.holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", "echo; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        stack.callback(self.close)
        self.holder.stdout.readline()
        self.enter = ["nsenter", "--target", str(self.holder.pid), "--mount", "--"]
        self.power_on()

    @property
    def seen(self):
        """The mount as seen from here."""
        return pathlib.Path(f"/proc/{self.holder.pid}/root{self.mount}")

    def inside(self, *command):
        return subprocess.run([*self.enter, *map(str, command)], check=True, capture_output=True, text=True)

    def power_on(self):
        self.inside("mount", "-o", "loop", self.image, self.mount)

    def cut(self):
        """From here on nothing reaches the disk."""
        descriptor = os.open(self.seen, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, FS_IOC_SHUTDOWN, WITHOUT_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def remount(self):
        """What a machine finds when the power is back. Processes of the killed server end first."""
        wait_until(self.unmounted, "no process uses the disk")
        self.power_on()

    def unmounted(self):
        return subprocess.run([*self.enter, "umount", str(self.mount)], capture_output=True).returncode == 0

    def close(self):
        self.holder.stdin.close()
        self.holder.wait()

    def run(self, binary, *arguments, **options):
        """A command of the binary that sees the disk."""
        return run(shutil.which("nsenter"), *self.enter[1:], pathlib.Path(binary).resolve(), *arguments, **options)


class Machine:
    """A server on such a disk."""

    def __init__(self, binary, stack, *flags, environment=None, disk=None, data="data"):
        self.disk = disk or Disk(stack)
        self.server = Server(binary, self.disk.mount / data, "--requests-per-minute", "0", *flags,
                             command=list(self.disk.enter), environment=environment)
        stack.callback(self.server.__exit__)

    @property
    def data(self):
        return self.disk.seen / self.server.data_dir.name

    def cut(self):
        """The server ends with the power. What it acknowledges from here on does not count: FS_IOC_SHUTDOWN takes
        milliseconds, and an fsync that waits meanwhile can return 0 although the journal no longer commits."""
        self.disk.cut()
        self.server.kill()
        self.server.end_sandboxes()

    def back(self):
        self.disk.remount()
        self.whole()
        self.server.start()

    def whole(self):
        """A copy of the database opens: the server itself finds the log as the cut left it."""
        with tempfile.TemporaryDirectory(prefix="hone-copy-") as copy:
            for name in ("hone.db", "hone.db-wal"):
                if (self.data / name).exists():
                    shutil.copy(self.data / name, copy)
            with contextlib.closing(sqlite3.connect(copy + "/hone.db")) as database:
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                assert database.execute("PRAGMA foreign_key_check").fetchall() == []


def stored_spans(client):
    """Every stored span of the project, once nothing is pending. A project that was never stored has none."""

    def ask():
        ledger = client.get("/v1/projects/shop/ledger")
        if ledger.status == 404:
            return []
        if ledger.status != 200 or ledger.data["pending"] != 0:
            return None
        asked = {"project": "shop", "sql": "SELECT span_id FROM spans", "format": "json_lines", "limit": 100000}
        answer = client.post("/v1/sql", asked)
        return [int(json.loads(line)["span_id"], 16) for line in answer.text.splitlines()] if answer.status == 200 else None

    found = []
    wait_until(lambda: (rows := ask()) is not None and (found.append(rows) or True), "everything is loaded")
    return found[-1]


def cut_under_load(machine, key, luck, number):
    """Three clients send until the power fails; the spans that were acknowledged before the cut began."""
    senders = [Sender(machine.server, key, number * 10 + each + 1) for each in range(3)]
    for sender in senders:
        sender.start()
    wanted = luck.randrange(1, 1500)
    wait_until(lambda: sum(len(each.acknowledged) for each in senders) >= wanted, "spans are acknowledged")
    acknowledged = set().union(*(set(sender.acknowledged) for sender in senders))
    wrong = [each for sender in senders for each in sender.wrong]
    machine.cut()
    for sender in senders:
        sender.join()
    assert not wrong, wrong
    return acknowledged


def test_no_acknowledged_span_is_lost_or_doubled_by_power_cuts(binary, stack):
    luck = seeded()
    machine = Machine(binary, stack)
    machine.server.start()
    key = key_of(machine.server)
    acknowledged, most = set(), 0
    for number in range(CUTS):
        new = cut_under_load(machine, key, luck, number)
        acknowledged |= new
        machine.back()
        found = stored_spans(machine.server.client(key))
        assert len(found) == len(set(found)), f"cut {number}: {len(found) - len(set(found))} spans are stored twice"
        lost = acknowledged - set(found)
        assert not lost, f"cut {number}: {len(lost)} of {len(acknowledged)} acknowledged spans are lost"
        most = max(most, len(new))
    print(f"      {CUTS} cuts, {len(acknowledged)} spans acknowledged, at most {most} before one cut, none lost")
    assert machine.server.stop() == 0


NO_SYNC = """
#include <sys/types.h>
int fsync(int f) { (void)f; return 0; }
int fdatasync(int f) { (void)f; return 0; }
int syncfs(int f) { (void)f; return 0; }
int msync(void* a, size_t n, int flags) { (void)a; (void)n; (void)flags; return 0; }
int sync_file_range(int f, long o, long n, unsigned flags) { (void)f; (void)o; (void)n; (void)flags; return 0; }
"""


def test_the_cut_finds_a_server_that_does_not_sync(binary, stack):
    """The proof that the tests of this file can fail."""
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-no-sync-")))
    (folder / "no_sync.c").write_text(NO_SYNC)
    library = folder / "no_sync.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(folder / "no_sync.c")], check=True)
    machine = Machine(binary, stack)
    machine.server.start()
    key = key_of(machine.server)
    assert machine.server.stop() == 0
    machine.disk.inside("sync")
    machine.server.environment = {"LD_PRELOAD": str(library)}
    machine.server.start()
    acknowledged = cut_under_load(machine, key, seeded(), 1)
    machine.server.environment = {}
    machine.disk.remount()
    machine.server.start()
    lost = acknowledged - set(stored_spans(machine.server.client(key)))
    print(f"      without syncs: {len(lost)} of {len(acknowledged)} acknowledged spans lost")
    assert lost, f"nothing of {len(acknowledged)} spans was lost although nothing was synced"


class Writer(threading.Thread):
    """Changes things until the power fails; remembers what was acknowledged as it must be found."""

    def __init__(self, machine, key, name):
        super().__init__()
        self.client = machine.server.client(key)
        self.name_prefix = name
        self.expected, self.wrong, self.count = {}, [], 0

    def call(self, method, path, body):
        answer = self.client.call(method, path, body)
        if answer.status != 200:
            self.wrong.append((method, path, answer.status, answer.text[:200]))
            raise ConnectionError
        self.count += 1
        return answer.data

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            number = 0
            while True:
                number += 1
                self.change(f"{self.name_prefix}-{number}")

    def change(self, name):
        project = self.call("POST", "/v1/projects", {"name": name})["id"]
        self.expected[f"/v1/projects/{project}"] = ("name", name)
        self.call("PATCH", f"/v1/projects/{project}", {"name": name + " renamed"})
        self.expected[f"/v1/projects/{project}"] = ("name", name + " renamed")
        key = self.call("POST", "/v1/keys", {"name": name})["key"]
        self.expected[key] = None
        settings = {"harness": "command", "command": ["/bin/true"]}
        preset = self.call("POST", "/v1/presets", {"name": name, "settings": settings})["id"]
        self.expected[f"/v1/presets/{preset}"] = ("name", name)
        settings = {"metric": "error_rate", "condition": {"type": "threshold", "threshold": 0.2},
                    "window_seconds": 600, "frequency_seconds": 60}
        made = self.call("POST", "/v1/monitors", {"name": name, "project": project, "settings": settings})["id"]
        self.expected[f"/v1/monitors/{made}"] = ("name", name)
        secret = {"name": name, "type": "github", "secrets": {"GH_TOKEN": "token-of-" + name}}
        skill = self.call("POST", "/v1/skills", secret)["id"]
        self.expected[f"/v1/skills/{skill}"] = ("name", name)


def test_acknowledged_changes_survive_power_cuts(binary, stack):
    luck = seeded()
    machine = Machine(binary, stack)
    machine.server.start()
    key = key_of(machine.server)
    expected, count = {}, 0
    for number in range(CUTS):
        writers = [Writer(machine, key, f"c{number}-{each}") for each in range(3)]
        for writer in writers:
            writer.start()
        wanted = luck.randrange(1, 60)
        wait_until(lambda: sum(w.count for w in writers) >= wanted or any(w.wrong for w in writers), "changes")
        before_cut = [wrong for writer in writers for wrong in writer.wrong]
        for writer in writers:
            count += writer.count
            expected |= dict(writer.expected)
        machine.cut()
        for writer in writers:
            writer.join()
        assert not before_cut, before_cut
        machine.back()
        check_expected(machine.server, key, expected, number)
    print(f"      {CUTS} cuts, {count} changes acknowledged, none lost")
    admin = machine.server.admin()
    verified = admin.must("GET", "/v1/audit/verify").data
    assert verified["ok"], verified
    created = {entry["target"] for entry in everything(admin, "/v1/audit?action=project_create")}
    assert created == {row["id"] for row in everything(admin, "/v1/projects")}
    # Every secret opens: new data keys need the plain text of each.
    skills = sum(path.startswith("/v1/skills/") for path in expected)
    rotated = admin.must("POST", "/v1/encryption/rotate", {"what": "data"})
    assert skills > 0 and machine.server.stop() == 0, rotated.text


def check_expected(server, key, expected, number):
    client = server.client(key)
    for path, wanted in expected.items():
        if wanted is None:
            assert server.client(path).get("/v1/me").status == 200, f"cut {number}: an acknowledged key is lost"
        else:
            answer = client.get(path)
            assert answer.status == 200, f"cut {number}: {path} is lost: {answer.text}"
            name, value = wanted
            # A rename that was not acknowledged may have happened all the same.
            assert answer.data[name] in (value, value + " renamed"), f"cut {number}: {path}: {answer.data[name]}"


def test_a_first_start_that_said_it_is_ready_survives_a_power_cut(binary, stack):
    for password in (PASSWORD, None):
        with contextlib.ExitStack() as inner:
            machine = Machine(binary, inner, environment={"HONE_ADMIN_PASSWORD": password})
            if password:
                machine.server.start()
            else:  # cut when the generated password is printed: nobody can ask for it again
                machine.server.spawn()
                said = wait_until(lambda: "Password" in machine.server.output() and machine.server.output(), "the greeting")
                generated = next(line.split()[-1] for line in said.splitlines() if "Password" in line)
            machine.cut()
            machine.back()
            client = machine.server.client().login(password=password or generated)
            assert client.must("GET", "/v1/audit/verify").data["ok"]
            client.must("POST", "/v1/skills", {"name": "s", "type": "github", "secrets": {"GH_TOKEN": "token-of-first"}})
            machine.cut()
            machine.back()
            client = machine.server.client().login(password=password or generated)
            client.must("POST", "/v1/encryption/rotate", {"what": "data"})  # needs the plain text
            client.must("POST", "/v1/encryption/rotate", {"what": "master"})
            machine.cut()
            machine.back()
            client = machine.server.client().login(password=password or generated)
            client.must("POST", "/v1/encryption/rotate", {"what": "data"})
            assert machine.server.stop() == 0


def test_backups_and_restores_that_returned_survive_a_power_cut(binary, stack):
    machine = Machine(binary, stack)
    machine.server.start()
    key = key_of(machine.server)
    client = machine.server.client(key)
    sender = Sender(machine.server, key, 1)
    sender.start()
    wait_until(lambda: len(sender.acknowledged) >= 500, "spans are acknowledged")
    client.must("POST", "/v1/projects", {"name": "kept"})
    before = set(sender.acknowledged)
    file = machine.disk.mount / "copy.tar.zst"
    made = machine.disk.run(binary, "backup", file, environment={"HONE_URL": machine.server.url, "HONE_API_KEY": key})
    machine.cut()
    sender.join()
    assert made.returncode == 0, made
    machine.disk.remount()
    restored = machine.disk.run(binary, "restore", file, "--data-dir", machine.disk.mount / "restored")
    machine.disk.cut()
    assert restored.returncode == 0, restored
    machine.disk.remount()
    second = Machine(binary, stack, disk=machine.disk, data="restored")
    second.whole()
    second.server.start()
    again = second.server.client(key)
    found = stored_spans(again)
    assert len(found) == len(set(found)) and before <= set(found), len(before - set(found))
    assert again.must("GET", "/v1/projects/kept").data["name"] == "kept"
    assert second.server.admin().must("GET", "/v1/audit/verify").data["ok"]


class CutShop(Shop):
    """A shop on a disk whose power can be cut."""

    def __init__(self, machine):
        self.machine, self.server = machine, machine.server.start()
        self.client = self.server.admin()
        self.client.must("POST", "/v1/projects", {"name": "shop"})

    def cut(self):
        self.machine.cut()
        self.machine.back()
        self.client = self.server.admin()


WORKER = """
cat > /dev/null
if [ -e kept ]; then sha256sum < kept; exit; fi
head -c 3000000 /dev/urandom > kept; sha256sum < kept
hone save_file --name note.txt --text 'a note that is kept' > /dev/null; echo saved
"""


def follow_up(shop, id, turns):
    """What a further turn says."""
    before = len(shop.texts(id, "message"))
    shop.client.must("POST", f"/v1/runs/{id}/messages", {"text": "again"})
    wait_until(lambda: shop.run(id)["turns"] == turns and shop.run(id)["state"] in OVER, "the follow-up is done")
    assert shop.run(id)["state"] == "succeeded", (shop.run(id), shop.texts(id))
    return shop.texts(id, "message")[before:]


USER = 54321


def of_a_user(binary, stack):
    """A server that runs as an ordinary user, whose threads are directories and not images."""
    disk = Disk(stack)
    programs, data = disk.image.parent / "bin", disk.seen / "data"
    disk.image.parent.chmod(0o755)
    programs.mkdir()
    for program in pathlib.Path(binary).resolve().parent.glob("hone*"):  # the checkout may be closed to this user
        shutil.copy(program, programs)
    data.mkdir()
    os.chown(data, USER, USER)
    machine = Machine(programs / "hone", stack, disk=disk)
    machine.server.command += ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all"]
    return machine


def test_a_finished_run_keeps_all_it_left_over_a_power_cut(binary, stack):
    keeps_all(CutShop(Machine(binary, stack)))


def test_a_finished_run_of_an_ordinary_user_keeps_all_it_left_over_a_power_cut(binary, stack):
    keeps_all(CutShop(of_a_user(binary, stack)))


def keeps_all(shop):
    """Transcript, artifacts, workspace; and the workspace of a fork."""
    id = shop.start(*shell(WORKER))["id"]
    run = shop.until(id)
    told = shop.texts(id, "message")
    shop.cut()
    assert run["state"] == "succeeded" and told[-1] == "saved", (run, told)
    assert (shop.run(id)["state"], shop.texts(id, "message")) == ("succeeded", told), shop.run(id)
    artifacts = {one["name"]: one["id"] for one in shop.client.must("GET", f"/v1/artifacts?run={id}").data}
    assert shop.client.must("GET", f"/v1/artifacts/{artifacts['note.txt']}/content").text == "a note that is kept"
    assert follow_up(shop, id, 2) == told[:1]
    fork = shop.client.must("POST", f"/v1/runs/{id}/fork", {"prompt": "and you?"}).data["id"]
    assert shop.until(fork)["state"] == "succeeded"
    shop.cut()
    assert shop.texts(fork, "message") == told[:1]
    assert follow_up(shop, fork, 2) == told[:1]


def test_a_run_that_a_power_cut_ended_takes_a_follow_up(binary, stack):
    shop = CutShop(Machine(binary, stack))
    luck = seeded()
    for _ in range(3):
        id = shop.start(*shell('read line; echo "begun: $line"; [ "$line" = again ] || sleep 15'), prompt="wait\n")["id"]
        wanted = luck.choice(["skills", "provision", "harness", "begun: wait"])
        wait_until(lambda: wanted in [event["step"] or event["text"] for event in shop.events(id)], f"it is at {wanted}")
        shop.cut()
        run = wait_until(lambda: (now := shop.run(id))["state"] in (*OVER, "running") and now, "it is lost, or begins again")
        if run["state"] == "running":
            # either: it had not begun and began again, or the server has not yet found its sandbox missing
            if shop.client.call("POST", f"/v1/runs/{id}/cancel").status == 200:
                continue
            run = shop.run(id)
        assert run["state"] == "lost", (wanted, run)
        expected = ["begun: again"] if run["turns"] == 1 else ["begun: wait", "begun: again"]  # no prompt is lost
        assert follow_up(shop, id, 2) == expected, (wanted, run)


PUSHER = "cd shop && echo 'def total(): return 7' > services/cart/cart.py && git commit -qam 'Count to seven' && git push -q && echo pushed"


def test_repositories_and_pushed_branches_survive_a_power_cut(binary, stack):
    forge = Forge(stack)
    shop = CutShop(Machine(binary, stack, "--egress-ca-file", str(forge.certificate)))
    repo = add(shop, forge, skill=skill_for(shop, forge))
    shop.cut()
    assert repo["state"] == "ready" and settled(shop, repo["id"])["state"] == "ready", repo
    id = shop.start(*shell(PUSHER), repos=[{"url": forge.url}])["id"]
    run = shop.until(id)
    told = shop.texts(id)
    shop.cut()
    assert run["state"] == "succeeded", (run, told)
    review = diff_of(shop, id)
    file = shop.client.must("GET", f"/v1/reviews/{review}/diff/file?path=services/cart/cart.py").data
    assert file["hunks"][0]["lines"][-1]["content"] == "def total(): return 7", file
    # The diff was kept; what is delivered comes from the quarantine itself.
    [index] = (shop.machine.data / "quarantine" / id).rglob("*.idx")
    shop.machine.disk.inside("git", "verify-pack", shop.machine.disk.mount / index.relative_to(shop.machine.disk.seen))


def test_an_image_and_a_harness_that_were_added_survive_a_power_cut(binary, stack):
    disk = Disk(stack)
    data, here = disk.mount / "data", disk.image.parent
    root = here / "root"
    root.mkdir()
    small_root(root)
    (root / "etc/large").write_bytes(seeded().randbytes(3_000_000))
    added = disk.run(binary, "image", "add", "kept", root, "--data-dir", data)
    disk.cut()
    assert added.returncode == 0, added
    disk.remount()
    shown = disk.run(binary, "sandbox", "run", "--data-dir", data, "--image", "kept", "--", "sh", "-c", "cat /etc/issue")
    assert (shown.returncode, shown.stdout) == (0, "an image\n"), shown
    kept = disk.seen / "data/sandbox/images/kept/root/etc/large"
    assert kept.read_bytes() == (root / "etc/large").read_bytes()

    program = "#!/bin/sh\necho 1.0.0\n#" + "x" * 100_000 + "\n"
    about = json.dumps({"name": "@openai/codex", "version": "1.0.0", "bin": {"codex": "codex"}})
    with tarfile.open(here / "codex.tgz", "w:gz") as archive:
        for name, text in (("package/package.json", about), ("package/codex", program)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    installed = disk.run(binary, "harness", "install", "codex", "--from", here / "codex.tgz", "--data-dir", data)
    disk.cut()
    assert installed.returncode == 0, installed
    disk.remount()
    [listed] = json.loads(disk.run(binary, "harness", "list", "--json", "--data-dir", data).stdout)
    assert listed["version"] == "1.0.0", listed
    [found] = (disk.seen / "data").rglob("node_modules/@openai/codex/codex")
    assert found.read_text() == program
