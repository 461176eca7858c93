"""Sandboxes as a person uses them: no server, the real programs that workers run, images, terminals, coming back later."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time

from server import Server, wait_until

TESTS = pathlib.Path(__file__).resolve().parent.parent


class Hone:
    """`hone` with a data directory of its own."""

    def __init__(self, binary, stack):
        self.binary = str(pathlib.Path(binary).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-e2e-", dir="/var/tmp"))
        self.data = str(self.folder / "data")
        stack.callback(self.clean_up)

    def clean_up(self):
        for entry in self.list():
            self("sandbox", "kill", entry["id"])
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *arguments):
        return [self.binary, *arguments[:2], "--data-dir", self.data, *arguments[2:]]

    def __call__(self, *arguments, **more):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=300, cwd="/", **more)

    def run(self, *arguments):
        done = self("sandbox", "run", *arguments)
        assert done.returncode == 0, done
        return done.stdout

    def list(self):
        return json.loads(self("sandbox", "list", "--json").stdout or "[]")


def test_git_python_node_and_npm_run_inside(binary, stack):
    hone = Hone(binary, stack)
    package = hone.folder / "package.tgz"
    with tarfile.open(package, "w:gz") as archive:
        for name, text in (("package.json", '{"name": "local-package", "version": "1.0.0", "main": "index.js"}'), ("index.js", "module.exports = 42;")):
            entry = tarfile.TarInfo("package/" + name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    assert "git version" in hone.run("--", "git", "--version")
    script = "git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --oneline | wc -l"
    assert hone.run("--", "sh", "-c", script).strip() == "1"
    assert hone.run("--", "/usr/bin/python3", "-c", "import ssl, sqlite3, subprocess; print(subprocess.check_output(['echo', 'py']).decode())").strip() == "py"
    node = pathlib.Path(shutil.which("node")).resolve()
    if str(node).startswith("/usr/"):
        mounts, program = [], "node"
    else:  # a node outside of /usr is not in the sandbox by itself
        mounts, program = ["--mount", f"{node.parent.parent}:/opt/node"], "/opt/node/bin/node"
    assert hone.run(*mounts, "--", program, "-e", "console.log(6 * 7)").strip() == "42"
    npm = "npm" if not mounts else "PATH=/opt/node/bin:$PATH npm"
    script = f"{npm} install --offline --no-audit --no-fund --loglevel=error /opt/package.tgz >&2 && {program} -e 'console.log(require(\"local-package\"))'"
    assert hone.run(*mounts, "--memory", "1g", "--mount", f"{package}:/opt/package.tgz", "--", "sh", "-c", script).strip() == "42"


def test_wrong_use_is_refused_with_a_reason(binary, stack):
    hone = Hone(binary, stack)
    gone = "sbx_01J00000000000000000000000"
    for words, reason in ((["sandbox", "run"], "a command is needed"), (["sandbox", "run", "--cpus", "1x", "--", "true"], "--cpus takes a number"),
                          (["sandbox", "run", "--image", "no-such", "--", "true"], "image no-such not found"),
                          (["sandbox", "run", "--image", "/no/such", "--", "true"], "root directory /no/such not found"),
                          (["sandbox", "kill", gone], f"sandbox {gone} not found"), (["sandbox", "exec", gone, "--", "true"], "not found"),
                          (["sandbox", "thread", "fork", "a"], "the name of the new thread"), (["sandbox", "thread", "export", "a"], "a directory to make")):
        done = hone(*words)
        assert done.returncode == 125 and reason in done.stderr, (words, done)


def test_claude_and_codex_run_inside(binary, stack):
    modules = TESTS / "node_modules"
    claude = modules / "@anthropic-ai/claude-code-linux-x64/claude"
    assert claude.exists() and (modules / "@openai/codex").exists(), "npm install in tests/ first (./dev setup)"
    hone = Hone(binary, stack)
    mount = ["--mount", f"{modules}:/opt/harness/node_modules", "--memory", "3g"]
    assert "Claude Code" in hone.run(*mount, "--", "/opt/harness/node_modules/@anthropic-ai/claude-code-linux-x64/claude", "--version")
    node = pathlib.Path(shutil.which("node")).resolve()
    extra = [] if str(node).startswith("/usr/") else ["--mount", f"{node.parent.parent}:/opt/node", "--env", "PATH=/opt/node/bin:/usr/bin:/bin"]
    assert "codex" in hone.run(*mount, *extra, "--", "/opt/harness/node_modules/.bin/codex", "--version")


def small_root(folder):
    """A root with a shell and a few tools, copied from this machine with the libraries they need."""
    for program in ("sh", "cat", "ls", "id"):
        source = pathlib.Path(shutil.which(program)).resolve()
        files = [(source, f"bin/{program}")]
        for word in subprocess.run(["ldd", source], capture_output=True, text=True).stdout.split():
            if word.startswith("/") and os.path.exists(word):
                files.append((pathlib.Path(word).resolve(), word.lstrip("/")))
        for real, name in files:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(real, target)
    (folder / "etc").mkdir()
    (folder / "etc/issue").write_text("an image\n")


def write_layout(folder, layers):
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(content):
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"digest": "sha256:" + digest, "size": len(content)}

    manifest = blob(json.dumps({"layers": [blob(layer) for layer in layers]}).encode())
    (folder / "index.json").write_text(json.dumps({"manifests": [manifest]}))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


def test_images_are_added_run_and_removed(binary, stack):
    hone = Hone(binary, stack)
    root = hone.folder / "root"
    root.mkdir()
    small_root(root)
    with tarfile.open(hone.folder / "root.tar", "w") as archive:
        archive.add(root, ".")
    upper = io.BytesIO()
    with tarfile.open(fileobj=upper, mode="w") as archive:
        for name, text in (("etc/.wh.issue", ""), ("etc/second", "a layer\n")):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    layout = hone.folder / "layout"
    write_layout(layout, [gzip.compress((hone.folder / "root.tar").read_bytes()), subprocess.run(["zstd", "-c"], input=upper.getvalue(), capture_output=True, check=True).stdout])
    for name, source in (("from-tar", hone.folder / "root.tar"), ("from-layout", layout), ("from-folder", root)):
        done = hone("image", "add", name, str(source))
        assert done.returncode == 0, done
    assert [image["name"] for image in json.loads(hone("image", "list", "--json").stdout)] == ["from-folder", "from-layout", "from-tar"]
    assert hone.run("--image", "from-tar", "--", "sh", "-c", "cat /etc/issue; id -u; ls /usr 2>&1 | cat") .startswith("an image\n1000\n")
    assert hone.run("--image", "from-folder", "--", "cat", "/etc/issue") == "an image\n"
    assert hone.run("--image", "from-layout", "--", "sh", "-c", "ls /etc/issue || cat /etc/second") == "a layer\n"
    read_only = hone("sandbox", "run", "--image", "from-tar", "--", "sh", "-c", "echo x > /etc/issue")
    assert read_only.returncode != 0 and hone.run("--image", "from-tar", "--", "cat", "/etc/issue") == "an image\n"

    hostile = hone.folder / "hostile.tar"
    with tarfile.open(hostile, "w") as archive:
        entry = tarfile.TarInfo("../../../../canary")
        archive.addfile(entry, io.BytesIO(b""))
    done = hone("image", "add", "hostile", str(hostile))
    assert done.returncode == 125 and "leads out" in done.stderr, done
    done = hone("image", "add", "large", str(hone.folder / "root.tar"), "--max-size", "1k")
    assert done.returncode == 125 and "too large" in done.stderr, done
    assert hone("sandbox", "run", "--image", "no-such", "--", "true").returncode == 125
    for name in ("from-tar", "from-layout", "from-folder"):
        assert hone("image", "rm", name).returncode == 0
    assert json.loads(hone("image", "list", "--json").stdout) == []


def test_a_sandbox_outlives_its_starter_and_takes_further_commands(binary, stack):
    hone = Hone(binary, stack)
    spec = {"keep": True, "command": {"argv": ["sh", "-c", "echo first; sleep 1000"]}, "labels": {"who": "e2e"}}
    done = subprocess.run([hone.binary, "shim", "--data-dir", hone.data], input=json.dumps(spec), capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 0, done
    name = done.stdout.strip()
    assert [entry["id"] for entry in hone.list()] == [name]
    done = hone("sandbox", "exec", name, "--", "sh", "-c", "echo from exec > /workspace/f; cat /workspace/f; exit 3")
    assert done.stdout == "from exec\n" and done.returncode == 3, done
    assert hone("sandbox", "exec", name, "--", "cat", "/workspace/f").stdout == "from exec\n"
    [view] = hone.list()
    assert len(view["commands"]) == 3 and view["labels"] == {"who": "e2e"} and not view["commands"][0]["finished"]
    # Its pid 1 killed from outside is its end; what is left can still be asked, and goes with kill.
    os.kill(view["pid"], signal.SIGKILL)
    end = time.monotonic() + 30
    while hone.list()[0]["state"] != "stopped" and time.monotonic() < end:
        time.sleep(0.05)
    assert hone.list()[0]["commands"][0]["signal"] == 9
    assert hone("sandbox", "kill", name).returncode == 0
    assert hone.list() == [] and os.listdir(hone.data + "/sandbox/live") == []
    bad = subprocess.run([hone.binary, "shim", "--data-dir", hone.data], input='{"privileged": true}', capture_output=True, text=True, timeout=60, cwd="/")
    assert bad.returncode == 125 and "privileged" in bad.stderr, bad


def test_a_terminal_behaves_like_one(binary, stack):
    hone = Hone(binary, stack)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir("/")
        command = hone.command("sandbox", "run", "--pty", "--", "sh", "-c", "tty; stty size; read line; echo got:$line; exit 5")
        os.execv(command[0], command)
    stack.callback(os.close, terminal)
    seen, sent, end = b"", False, time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if b"/dev/pts/0" in seen and not sent:
            os.write(terminal, b"hello\n")
            sent = True
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5, seen
    assert b"/dev/pts/0" in seen and b"got:hello" in seen, seen


def test_a_slow_reader_holds_the_command_back_and_loses_nothing(binary, stack):
    hone = Hone(binary, stack)
    command = hone.command("sandbox", "run", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done")
    running = subprocess.Popen(command, stdout=subprocess.PIPE, cwd="/")
    time.sleep(0.5)  # the pipe is full now; nothing of this decides the outcome
    lines = running.stdout.read().decode().splitlines()
    assert running.wait(60) == 0
    assert lines == [f"line {number}" for number in range(20000)]


def test_the_server_takes_sandbox_events_into_its_audit_log(binary, stack):
    server = stack.enter_context(Server(binary))
    hone = Hone(binary, stack)
    hone.data = str(server.data_dir)
    hone.run("--label", "who=e2e", "--env", "SECRET=do-not-log", "--", "echo", "hello")
    admin = server.admin()

    def kinds():
        entries = admin.must("GET", "/v1/audit?scope=installation&action=sandbox_*").data
        return [entry["action"] for entry in reversed(entries)]

    wait_until(lambda: kinds() == ["sandbox_start", "sandbox_command_start", "sandbox_command_end", "sandbox_teardown"], "four entries")
    answer = admin.must("GET", "/v1/audit?scope=installation&action=sandbox_command_end")
    assert answer.data[0]["details"]["argv"] == ["echo", "hello"] and "do-not-log" not in answer.text
    # What happens while the server is away is taken over when it is back, once.
    server.kill()
    hone.run("--", "true")
    server.start()
    admin = server.admin()
    wait_until(lambda: len(kinds()) == 8, "four more entries")
    assert admin.must("GET", "/v1/audit/verify").data["ok"]
