#!/usr/bin/env python3
"""Installs what `./dev package` makes where nothing of this machine is: bare Debian roots made with mmdebstrap, each in
namespaces of its own. Not a default suite: it needs root, mmdebstrap and a Debian mirror. Every program is started as the
package starts it: the unit's command, as the unit's user, with the unit's settings."""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEY_OF_SPAN = "a span from a bare machine"
# Runs inside the root: sends a span over OTLP, waits until it is visible, prints its trace's name.
CLIENT = r"""
import http.cookiejar, json, sys, time, urllib.error, urllib.request
base, otlp, password, name = sys.argv[1:5]
opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
csrf = []
def call(method, path, body=None, key=None, origin=base):
    headers = {"content-type": "application/json", "origin": base}
    if key: headers["authorization"] = "Bearer " + key
    elif csrf: headers["x-csrf-token"] = csrf[0]
    request = urllib.request.Request(origin + path, json.dumps(body).encode() if body is not None else None, headers, method=method)
    with opener.open(request, timeout=20) as answer:
        return json.loads(answer.read() or b"null")
csrf.append(call("POST", "/v1/login", {"email": "admin@localhost", "password": password})["data"]["csrf_token"])
key = call("POST", "/v1/keys", {"name": "sender " + name})
key = (key.get("data") or key)["key"]
now = time.time_ns()
call("POST", "/v1/traces", {"resourceSpans": [{"resource": {"attributes": [
    {"key": "openinference.project.name", "value": {"stringValue": "shop"}}]}, "scopeSpans": [{"spans": [{
    "traceId": f"{now:032x}", "spanId": f"{now % (1 << 62) + 1:016x}", "name": name,
    "startTimeUnixNano": str(now), "endTimeUnixNano": str(now + 1000)}]}]}]}, key, otlp)
end = time.monotonic() + 60
while True:
    try:
        rows = call("GET", "/v1/projects/shop/span_rows")
        if name in json.dumps(rows): break
    except urllib.error.HTTPError as error:
        if error.code != 404: raise
    assert time.monotonic() < end, "the span did not appear"
    time.sleep(0.2)
print(json.dumps(sorted({row["name"] for row in rows["data"]})))
"""

# Not chroot: the kernel refuses user namespaces, and so sandboxes, to a process whose root is not the root of its mounts.
ENTER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(sys.argv[1])
if libc.syscall(155, b".", b".") != 0 or libc.umount2(b".", 2) != 0: sys.exit(os.strerror(ctypes.get_errno()))
os.chdir("/")
os.execv("/bin/sh", ["/bin/sh", "-e"])
"""


def run(*command, check=True, timeout=600, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, **more)
    assert not check or done.returncode == 0, f"{shlex.join(map(str, command))}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done


class Machine:
    """A bare Debian root. Commands run in namespaces of their own (mounts, processes, network with loopback only) unless they
    need the mirror."""

    def __init__(self, stack, suite, packages=()):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="hone-bare-", dir="/var/tmp"))
        stack.callback(shutil.rmtree, self.root, ignore_errors=True)
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(('ca-certificates', 'python3', 'procps', *packages))}",
            suite, self.root, timeout=1200)
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
        body = " && ".join(prepare) + f" && exec {sys.executable} -c {shlex.quote(ENTER)} {self.root}"
        return run(*words, "sh", "-c", body, input=script, **more)

    def put(self, source, target):
        target = self.root / target.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    def write(self, target, text):
        (self.root / target.lstrip("/")).write_text(text)

    def files(self):
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*") if not path.is_dir() or path.is_symlink()}


def unit_command(unit, user_line=True):
    """What systemd would run, from the unit itself: user, variables, folder, command."""
    text = unit.read_text()
    value = lambda name: re.search(rf"^{name}=(.*)$", text, re.M).group(1)
    return value("User"), value("Environment"), value("WorkingDirectory"), value("ExecStart")


def serve(command, client_arguments, password, more=""):
    """Starts the server, sends a span, stops it; prints what the client printed."""
    return f"""
export HONE_ADMIN_PASSWORD={password}
{command} > /tmp/serve.log 2>&1 &
pid=$!
for i in $(seq 300); do
    python3 -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:7070/readyz")' 2>/dev/null && break
    kill -0 $pid 2>/dev/null || {{ cat /tmp/serve.log; exit 1; }}
    sleep 0.2
done
python3 /tmp/client.py http://127.0.0.1:7070 http://127.0.0.1:4318 {password} {shlex.quote(client_arguments)} || {{ cat /tmp/serve.log; exit 1; }}
{more}
kill -TERM $pid
wait $pid || {{ cat /tmp/serve.log; exit 1; }}
"""


class Suite:
    def __init__(self, options):
        self.options = options
        self.stack = contextlib.ExitStack()
        self.packages = pathlib.Path(options.packages).resolve()
        self.made = {}

    def package(self, kind, *more):
        run(sys.executable, ROOT / "tools/package.py", "--build", ROOT / "build/release", "--level", "1", *more, kind, timeout=1800)

    def test_packages_are_made_twice_with_the_same_bytes(self):
        for out in ("a", "b"):
            self.package("deb", "--out", self.packages / out, "--version", "0.2.0")
        sums = [(self.packages / out / "SHA256SUMS").read_text() for out in ("a", "b")]
        assert sums[0] == sums[1] and sums[0].count("\n") == 2, sums
        self.package("deb", "--out", self.packages / "old", "--version", "0.1.0")

    def test_a_clone_in_another_folder_gives_the_same_packages(self):
        """Compiled again, without results of the compiler's cache: takes the time of a whole build."""
        assert not run("git", "-C", ROOT, "status", "--porcelain").stdout, "commit first: a clone has only what is committed"
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-another-folder-with-a-longer-name-", dir="/var/tmp"))
        self.stack.callback(shutil.rmtree, folder, ignore_errors=True)
        run("git", "clone", "-q", ROOT, folder / "hone")
        for packages in ("web/node_modules", "tests/node_modules"):
            if (ROOT / packages).exists():
                run("cp", "-al", ROOT / packages, folder / "hone" / packages)
        run("./dev", "build", "release", cwd=folder / "hone", timeout=7200, env=os.environ | {"CCACHE_DISABLE": "1"})
        run(sys.executable, "tools/package.py", "--build", "build/release", "--level", "1", "--version", "0.2.0", "--out",
            self.packages / "other", "deb", cwd=folder / "hone", timeout=1800)
        sums = [(self.packages / out / "SHA256SUMS").read_text() for out in ("a", "other")]
        assert sums[0] == sums[1], sums

    def test_the_unit_is_understood_by_systemd(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "hone.service")
            text = (ROOT / "packaging/hone.service").read_text()
            unit.write_text(text.replace("ExecStart=/usr/bin/hone serve", "ExecStart=/bin/true"))
            checked = run("systemd-analyze", "verify", "--man=no", unit, check=False)
            assert checked.returncode == 0 and "hone.service" not in checked.stderr, checked.stderr
            rated = run("systemd-analyze", "security", "--offline=true", unit, check=False).stdout
            line = next(line for line in rated.splitlines() if "Overall exposure level" in line)
            print("        " + line.strip())
            assert float(re.search(r": ([0-9.]+)", line).group(1)) <= 4.0, line

    def test_debian_package_is_installed_used_upgraded_and_removed(self):
        machine = self.made["bookworm"] = Machine(self.stack, "bookworm", ("passwd",))
        before = machine.files()
        for deb in (self.packages / "old").glob("*.deb"):
            machine.put(deb, f"/srv/old/{deb.name}")
        for deb in (self.packages / "a").glob("*.deb"):
            machine.put(deb, f"/srv/new/{deb.name}")
        machine.write("/tmp/client.py", CLIENT)
        machine.inside("apt-get update -qq; apt-get install -y -qq --no-install-recommends /srv/old/*.deb", network=True, timeout=900)
        user, variables, folder, command = unit_command(machine.root / "lib/systemd/system/hone.service")
        as_user = f"cd {folder}; exec env -i PATH=$PATH HONE_ADMIN_PASSWORD=$HONE_ADMIN_PASSWORD {variables} setpriv --reuid={user} --regid={user} --init-groups --no-new-privs {command}"
        start = f"sh -c {shlex.quote(as_user)}"
        worker = f"(cd {folder} && setpriv --reuid={user} --regid={user} --init-groups hone sandbox run --data-dir /tmp/worker -- sh -c 'id -u; echo worked')"
        first = machine.inside("mkdir -m 777 -p /tmp/worker\n" + serve(start, "first " + KEY_OF_SPAN, "first-password-1", worker)).stdout
        assert "first " + KEY_OF_SPAN in first and "worked" in first, first
        installed = machine.inside("hone --version; stat -c %U:%a /var/lib/hone; find /var/lib/hone ! -user hone | wc -l").stdout.split("\n")
        assert installed[0].startswith("hone ") and installed[1:3] == ["hone:700", "0"], installed
        machine.inside("apt-get install -y -qq --no-install-recommends /srv/new/*.deb", network=True, timeout=900)
        assert "0.2.0" in machine.inside("dpkg-query -W -f '${Version}' hone").stdout
        second = machine.inside(serve(start, "second " + KEY_OF_SPAN, "first-password-1")).stdout
        names = json.loads(second.splitlines()[0])
        assert names == ["first " + KEY_OF_SPAN, "second " + KEY_OF_SPAN], names
        machine.inside("dpkg --remove hone hone-engine", network=True)
        assert (machine.root / "etc/default/hone").exists(), "settings stay until purge"
        machine.inside("dpkg --purge hone hone-engine; rm -rf /srv/old /srv/new /tmp/*", network=True)
        # What apt installed for it stays, as always; of Hone's own only the data and their user.
        left = {path for path in machine.files() - before if "hone" in path and not path.startswith(("var/lib/hone/", "var/lib/apt", "var/cache"))}
        assert left == set(), left

    def test_archive_runs_where_no_library_is_installed(self):
        self.package("archive", "--out", self.packages / "archive")
        archive = next((self.packages / "archive").glob("*.tar.zst"))
        for suite in self.options.roots.split(","):
            machine = Machine(self.stack, suite, ("git",))
            has_library = list(machine.root.glob("usr/lib/*/libssl.so.3"))
            for library in has_library:
                library.unlink()  # a machine that has none: what the archive carries must do
            run("tar", "--zstd", "-xf", archive, "-C", machine.root / "opt")
            folder = next((machine.root / "opt").glob("hone-*")).name
            machine.write("/tmp/client.py", CLIENT)
            start = f"setpriv --reuid=4711 --regid=4711 --clear-groups env HOME=/nonexistent /opt/{folder}/hone serve --data-dir 'my data'"
            said = machine.inside("mkdir -m 777 /srv/x; cd /srv/x\n" + serve(start, "archive " + KEY_OF_SPAN, "first-password-1",
                f"setpriv --reuid=4711 --regid=4711 --clear-groups /opt/{folder}/hone sandbox run --data-dir /srv/x/boxes -- echo worked"), timeout=300).stdout
            assert "archive " + KEY_OF_SPAN in said and "worked" in said, said
            print(f"        {suite}: served, stored, ran a sandbox")

    def test_image_runs_read_only_without_root(self):
        self.package("image", "--out", self.packages / "image-out")
        layout = self.packages / "image-out/image"
        index = json.loads((layout / "index.json").read_text())
        blob = lambda descriptor: layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")
        manifest = json.loads(blob(index["manifests"][0]).read_text())
        config = json.loads(blob(manifest["config"]).read_text())
        bundle = pathlib.Path(tempfile.mkdtemp(prefix="hone-image-", dir="/var/tmp"))
        self.stack.callback(shutil.rmtree, bundle, ignore_errors=True)
        root = bundle / "rootfs"
        root.mkdir()
        for layer in manifest["layers"]:
            run("tar", "-xzf", blob(layer), "-C", root)
        shutil.copy(self.client_file(), root / "client.py")
        data = bundle / "data"
        data.mkdir()
        os.chown(data, 65532, 65532)
        script = "cd /var/lib/hone\n" + serve("/usr/bin/hone serve", "image " + KEY_OF_SPAN, "first-password-1").replace("/tmp/client.py", "/client.py")
        run("crun", "spec", cwd=bundle)
        spec = json.loads((bundle / "config.json").read_text())
        spec["process"] |= {"terminal": False, "user": {"uid": 65532, "gid": 65532}, "cwd": "/var/lib/hone", "noNewPrivileges": True,
                            "args": ["/bin/sh", "-ec", script], "env": config["config"]["Env"],
                            "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}}
        spec["root"] = {"path": "rootfs", "readonly": True}
        spec["mounts"] += [{"destination": "/var/lib/hone", "source": str(data), "type": "bind", "options": ["rbind", "rw"]},
                           {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]}]
        spec["linux"]["namespaces"] = [one for one in spec["linux"]["namespaces"] if one["type"] != "network"]  # unshare makes it
        (bundle / "config.json").write_text(json.dumps(spec))
        start = f"ip link set lo up; umount /sys/fs/cgroup/unified 2>/dev/null; exec crun run --bundle {bundle} hone-image-{os.getpid()}"
        said = run("unshare", "--net", "--mount", "sh", "-c", start, timeout=300, check=False)
        assert said.returncode == 0 and "image " + KEY_OF_SPAN in said.stdout, said.stdout + said.stderr

    def client_file(self):
        path = self.packages / "client.py"
        path.write_text(CLIENT)
        return path

    def test_chart_is_rendered(self):
        helm = shutil.which("helm") or self.build_helm()
        chart = ROOT / "packaging/helm/hone"
        run(helm, "lint", "--strict", chart)
        plain = run(helm, "template", "--kube-version", "1.31", "x", chart).stdout
        assert plain.count("kind: StatefulSet") == 1 and "kind: Ingress" not in plain and "readOnlyRootFilesystem: true" in plain
        full = run(helm, "template", "--kube-version", "1.31", "x", chart, "--set", "ingress.enabled=true,ingress.host=hone.example.com,databaseSecret=db,masterKeySecret=mk,adminPasswordSecret=pw").stdout
        assert "kind: Ingress" in full and "secretKeyRef" in full and "/etc/hone/keys" in full
        for wrong in ("ingress.enabled=true", "image.tag=", "service.httpPort=0", "env.PATH=x", "typo=1"):
            refused = run(helm, "template", "--kube-version", "1.31", "x", chart, "--set", wrong, check=False)
            assert refused.returncode != 0, f"the chart takes {wrong}"

    def build_helm(self):
        place = pathlib.Path.home() / ".cache/hone/helm-3.16.4"
        if not (place / "helm").exists():
            run("go", "install", "helm.sh/helm/v3/cmd/helm@v3.16.4", env=os.environ | {"GOBIN": str(place)}, timeout=1800)
        return place / "helm"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", default=ROOT / "build/packages-test")
    parser.add_argument("--roots", default="bookworm,trixie", help="Debian releases in which the archive is tried")
    parser.add_argument("names", nargs="*", help="parts of names of tests; all if none is given")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("tests/packages: needs root, to make bare roots and namespaces")
    suite = Suite(options)
    failed = passed = 0
    with suite.stack:
        for name in [name for name in vars(Suite) if name.startswith("test_")]:
            title = name.removeprefix("test_").replace("_", " ")
            if options.names and not any(part in title or part in name for part in options.names):
                continue
            began = time.monotonic()
            try:
                getattr(suite, name)()
                passed += 1
                print(f"  ok    {title} ({time.monotonic() - began:.0f} s)", flush=True)
            except Exception:  # noqa: BLE001: each test reports for itself
                failed += 1
                print(f"  FAIL  {title}\n{traceback.format_exc()}", flush=True)
    shutil.rmtree(options.packages, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
