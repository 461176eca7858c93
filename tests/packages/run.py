#!/usr/bin/env python3
"""Installs what `./dev package` makes where nothing of this machine is: bare Debian roots made with mmdebstrap, each in
namespaces of its own. Not a default suite: it needs root, mmdebstrap and a Debian mirror."""

import argparse
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import time
import traceback
import unittest.mock

import docker
import sizes
from chart import check_chart, rendered
from machine import SYSTEMD, Machine, run, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tools"))
import bill_of_materials  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SPAN = "a span from a bare machine"
OLD, NEW = "0.0.9", "0.2.0"  # of the packages; the programs in them are the same
MOST_INSTALLED = 40_000_000  # bytes of the package `hone`
MOST_EXPOSED = 3.5  # systemd-analyze security
# A worker says who it is inside, that it cannot see the host's files, and that it has a place to write to.
WORKER = "echo uid $(id -u); ls /var/lib/hone >/dev/null 2>&1 || echo no data here; echo x > file && echo worked"


# A migration that the programs here do not know, and which removed something; and the same one if it had only added.
FROM_THE_FUTURE = """
import sqlite3
with sqlite3.connect("/var/lib/hone/hone.db") as database:
    database.execute("INSERT INTO schema_version (version, name, applied_ns, checksum, kind) SELECT version + 1, 'of the future', applied_ns, checksum, 'contract' FROM schema_version ORDER BY version DESC LIMIT 1")
"""
WHICH_ONLY_ADDED = """
import sqlite3
with sqlite3.connect("/var/lib/hone/hone.db") as database:
    assert database.execute("UPDATE schema_version SET kind = 'expand' WHERE name = 'of the future'").rowcount == 1
"""


def unit_command(unit):
    """What systemd would run, from the unit itself: user, variables, folder, command."""
    text = unit.read_text()
    return [re.search(rf"^{name}=(.*)$", text, re.M).group(1) for name in ("User", "Environment", "WorkingDirectory", "ExecStart")]


def served(command, script):
    """Starts the server, runs a script beside it, stops it."""
    return f"""
export HONE_ADMIN_PASSWORD=first-password-1 HONE_PASSWORD=first-password-1
{command} > /tmp/serve.log 2>&1 &
pid=$!
for i in $(seq 300); do
    python3 -c 'import urllib.request; urllib.request.urlopen("http://127.0.0.1:7070/readyz")' 2>/dev/null && break
    kill -0 $pid 2>/dev/null || {{ cat /tmp/serve.log; exit 1; }}
    sleep 0.2
done
( {script} ) || {{ cat /tmp/serve.log; exit 1; }}
kill -TERM $pid
wait $pid || {{ cat /tmp/serve.log; exit 1; }}
"""


def client(*words):
    return "python3 /srv/client.py " + shlex.join(words)


def span_and_worker(name):
    return f"{client('span', name)} && run=$({client('start', WORKER)}) && python3 /srv/client.py wait $(echo $run | tr -d '\"')"


def check_worker(ended):
    assert ended["state"] == "succeeded", ended
    said = "\n".join(ended["texts"])
    assert "worked" in said and "no data here" in said, said
    assert ended["tier"] == "ns", ended


class Suite:
    def __init__(self, options):
        self.options = options
        self.build = pathlib.Path(options.build).resolve()
        self.stack = contextlib.ExitStack()
        self.packages = pathlib.Path(options.packages).resolve()
        self.packages.mkdir(parents=True, exist_ok=True)

    def package(self, *words, **options):
        run(sys.executable, ROOT / "tools/package.py", "--build", self.build, "--level", "1", *words, **({"timeout": 1800} | options))

    def made(self, kind, name, *more):
        """The folder in which a kind of package was made, once."""
        place = self.packages / name
        if not (place / "SHA256SUMS").exists():
            self.package(kind, "--out", place, *more)
        return place

    def debs(self, version):
        return self.made("deb", version, "--version", version)

    def clone(self, place):
        """Another folder with the same sources, and the packages of npm that are installed here."""
        folder = pathlib.Path(tempfile.mkdtemp(prefix="hone-", dir="/var/tmp"), place)
        self.stack.callback(shutil.rmtree, folder.parent, ignore_errors=True)
        run("git", "clone", "-q", "--shared", ROOT, folder)
        for modules in ("web/node_modules", "tests/node_modules"):
            if (ROOT / modules).exists():
                (folder / modules).symlink_to((ROOT / modules).resolve())
        return folder

    def machine(self, suite, *packages):
        machine = Machine(self.stack, suite, packages)
        machine.put(HERE / "client.py", "/srv/client.py")
        return machine

    # --- what is made

    def test_packages_are_made_twice_with_the_same_bytes(self):
        first = self.debs(NEW)
        old = next((ROOT / "playbooks").rglob("*.py"))  # as in a checkout that is older than its last commit
        times = old.stat().st_atime_ns, old.stat().st_mtime_ns
        os.utime(old, (0, 0))
        try:
            self.package("deb", "--out", self.packages / "again", "--version", NEW)
        finally:
            os.utime(old, ns=times)
        sums = [(place / "SHA256SUMS").read_text() for place in (first, self.packages / "again")]
        assert sums[0] == sums[1] and sums[0].count("\n") == 2, sums

    def test_archive_image_and_chart_are_made_twice_with_the_same_bytes(self):
        """The second time with another time zone and other rights of new files."""
        other = {"env": os.environ | {"TZ": "Asia/Tokyo"}, "umask": 0o077}
        for kind, place in (("archive", "archive"), ("image", "image-out"), ("chart", "chart")):
            first, again = self.made(kind, place), self.packages / f"{place}-again"
            self.package(kind, "--out", again, **other)
            sums = (first / "SHA256SUMS").read_text()
            assert sums and sums == (again / "SHA256SUMS").read_text(), sums

    def test_the_bill_of_materials_has_every_library_with_version_and_license(self):
        place = pathlib.Path(tempfile.mkdtemp(prefix="hone-bill-", dir=self.packages))
        run("dpkg-deb", "-x", next(self.debs(NEW).glob("hone_*.deb")), place)
        documents = place / "usr/share/doc/hone"
        bill = json.loads((documents / "sbom.json").read_text())
        assert bill["bomFormat"] == "CycloneDX" and bill["metadata"]["component"]["version"] == NEW, bill["metadata"]
        parts = {part["name"]: part for part in bill["components"]}
        assert {"OpenSSL", "SQLite", "grpc++", "c-ares", "GNU C Library", "chDB", "preact"} <= parts.keys(), sorted(parts)
        for part in parts.values():
            assert part["version"][0].isdigit() and part["purl"].startswith(("pkg:deb/debian/", "pkg:npm/")) and part["licenses"][0]["license"]["name"], part
        assert parts["OpenSSL"]["version"] == run("dpkg-query", "-W", "-f", "${Version}", "libssl-dev").stdout
        texts = {path.name for path in (documents / "licenses").iterdir()}
        assert {"grpc.gz", "libseccomp.gz", "LGPL-2.1.gz", "c-ares.gz", "preact.gz", "fmtlib.gz"} <= texts, texts
        # A library that the document does not list stops the packaging.
        listed = {name: package for name, package in bill_of_materials.DEBIAN.items() if name != "zlib"}
        with unittest.mock.patch.object(bill_of_materials, "DEBIAN", listed):
            assert bill_of_materials.unlisted(self.build) == ["zlib"]

    def test_the_server_is_small(self):
        place = pathlib.Path(tempfile.mkdtemp(prefix="hone-size-", dir=self.packages))
        run("dpkg-deb", "-x", next(self.debs(NEW).glob("hone_*.deb")), place)
        size = sum(path.lstat().st_size for path in place.rglob("*") if not path.is_dir())
        print(f"        hone: {size / 1e6:.1f} MB installed, without the engine", flush=True)
        assert size <= MOST_INSTALLED, size

    def test_the_sizes_of_what_is_downloaded_and_installed_are_listed(self):
        """With --write-sizes as `./dev package` makes them; else compressed less, which is faster."""
        if self.options.write_sizes:
            whole = self.packages / "whole"
            self.package("deb", "archive", "image", "--level", "19", "--out", whole, timeout=10800)
            debs, archive, layout = whole, next(whole.glob("*.tar.zst")), whole / "image"
        else:
            debs, archive, layout = self.debs(NEW), next(self.made("archive", "archive").glob("*.tar.zst")), self.made("image", "image-out") / "image"
        rows = sizes.rows_of(debs, archive, layout)
        assert len(rows) == 7 and all(0 < row.download <= row.installed for row in rows), rows
        print("".join(f"        {row.what}: {row.download / 1e6:.1f} MB, {row.installed / 1e6:.1f} MB installed\n" for row in rows), end="", flush=True)
        if self.options.write_sizes:
            sizes.write_table(ROOT / "docs/install.md", rows)

    def test_a_clone_in_another_folder_gives_the_same_packages(self):
        """Built again. The compiler's cache serves what it has: its keys have no folder in them. --whole compiles everything."""
        assert not run("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no").stdout, "commit first: a clone has only what is committed"
        clone = self.clone("another-folder-with-a-longer-name")
        environment = os.environ | ({"CCACHE_RECACHE": "1"} if self.options.whole else {})
        run("./dev", "build", "release", cwd=clone, timeout=10800, env=environment)
        run(sys.executable, "tools/package.py", "--build", "build/release", "--level", "1", "--version", NEW, "--out", self.packages / "other", "deb",
            cwd=clone, timeout=1800)
        sums = [(place / "SHA256SUMS").read_text() for place in (self.debs(NEW), self.packages / "other")]
        assert sums[0] == sums[1], sums

    def test_the_web_ui_is_the_same_in_any_folder(self):
        bundles = []
        for folder in (self.clone("a"), self.clone("a-folder-with-another-name")):
            run("node", "build.mjs", cwd=folder / "web")
            bundles.append({path.name: path.read_bytes() for path in (folder / "web/out").iterdir()})
        assert bundles[0] == bundles[1] and len(bundles[0]) > 20, [sorted(bundle) for bundle in bundles]

    def test_a_file_compiled_without_the_cache_is_the_same_in_any_folder(self):
        """Where no ccache is installed, a flag does what it does: __FILE__ names no folder of this machine."""
        objects = []
        for folder in (self.clone("a"), self.clone("a-folder-with-another-name")):
            (folder / "build").mkdir()
            (folder / "build/deps").symlink_to((ROOT / "build/deps").resolve())
            run("cmake", "--preset", "release", "-Dccache_program=OFF", "-DUI=OFF", cwd=folder, timeout=1800)
            commands = json.loads((folder / "build/release/compile_commands.json").read_text())
            command = next(entry for entry in commands if "/hone_crypto.dir/" in entry["command"])
            assert "ccache" not in command["command"], command
            run("sh", "-c", command["command"], cwd=command["directory"])
            made = pathlib.Path(command["directory"], re.search(r" -o (\S+)", command["command"]).group(1))
            run("objcopy", "--strip-debug", made)
            objects.append(made.read_bytes())
            assert b"broken invariant" in objects[-1] and str(folder).encode() not in objects[-1]
        assert objects[0] == objects[1]

    def test_the_unit_is_understood_by_systemd(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, "hone.service")
            text = (ROOT / "packaging/hone.service").read_text()
            unit.write_text(text.replace("ExecStart=/usr/bin/hone serve", "ExecStart=/bin/true"))
            checked = run("systemd-analyze", "verify", "--man=no", unit, check=False)
            assert checked.returncode == 0 and "hone.service" not in checked.stderr, checked.stderr
            self.check_exposure(run("systemd-analyze", "security", "--offline=true", unit, check=False).stdout)

    def check_exposure(self, rated):
        line = next(line for line in rated.splitlines() if "Overall exposure level" in line)
        print("        " + line.strip(" →"), flush=True)
        assert float(re.search(r": ([0-9.]+)", line).group(1)) <= MOST_EXPOSED, line

    # --- Debian

    def test_the_service_is_installed_used_upgraded_and_removed_under_systemd(self):
        for suite in self.options.roots.split(","):
            self.use_service(suite)

    def use_service(self, suite):
        machine = self.machine(suite, "systemd", "systemd-sysv", "dbus", "passwd", *(["apparmor"] if suite != "bookworm" else []))
        before = machine.files()
        for version in (OLD, NEW):
            for deb in self.debs(version).glob("*.deb"):
                machine.put(deb, f"/srv/{deb.name}")
        # What the packages need comes from the mirror, before the machine is up: it has no network.
        machine.inside(f"apt-get update -qq; apt-get install -y -qq --download-only --no-install-recommends /srv/*_{NEW}_*.deb", network=True, timeout=900)
        with machine.booted() as booted:
            booted.type(f"apt-get install -y -qq --no-install-recommends /srv/hone_{OLD}_amd64.deb /srv/hone-engine_{OLD}_amd64.deb", shown=True)
            booted.type("systemctl is-active hone", shown=True)
            booted.type("journalctl -u hone -o cat | grep -A1 'Log in as'", shown=True)
            password = booted.type("journalctl -u hone -o cat | sed -n 's/^ *Password *//p'")
            said = lambda *words: json.loads(booted.type(f"HONE_PASSWORD={shlex.quote(password)} " + client(*words)))
            self.check_process(booted)
            self.check_profile(booted, suite)
            self.check_exposure(booted.type("systemd-analyze security hone --no-pager", check=False))
            assert said("span", "first " + SPAN) == ["first " + SPAN]
            check_worker(said("wait", said("start", WORKER)))
            # A worker outlives a restart of the server, and an upgrade is one.
            booted.type(f"HONE_API_KEY={said('key', 'backup')} hone backup /srv/before.hone")
            run_id = said("start", "touch here-it-waits; until [ -e continue ]; do sleep 0.2; done; " + WORKER)
            main = booted.type("systemctl show -p MainPID --value hone")
            booted.type(f"apt-get install -y -qq --no-install-recommends /srv/hone_{NEW}_amd64.deb /srv/hone-engine_{NEW}_amd64.deb", shown=True)
            assert booted.type("dpkg-query -W -f '${Version}' hone", shown=True) == NEW
            assert booted.type("systemctl is-active hone") == "active" and booted.type("systemctl show -p MainPID --value hone") != main
            assert said("state", run_id) == "running"
            assert said("span", "second " + SPAN) == ["first " + SPAN, "second " + SPAN]
            waiting = booted.type("find /var/lib/hone -name here-it-waits").splitlines()
            assert len(waiting) == 1, waiting
            booted.type(f"touch {pathlib.PurePosixPath(waiting[0]).parent}/continue")
            check_worker(said("wait", run_id))
            self.go_back(booted, said)
            booted.type("apt-get remove -y -qq hone hone-engine", shown=True)
            assert booted.type("pgrep -l hone", check=False) == "", "the service goes on after its removal"
            assert (machine.root / "etc/default/hone").exists(), "settings stay until purge"
            booted.type("apt-get purge -y -qq hone hone-engine", shown=True)
            booted.type("ls -la /var/lib/hone | head -n 4; ls /usr/lib/hone /etc/default/hone 2>&1 || true", shown=True)
            assert "hone" not in booted.type("systemctl --failed --plain --no-legend")  # a namespace lacks what others need
            # A machine whose administrator forbids the service installs it and does not start it.
            booted.type("systemctl mask hone")
            said = booted.type(f"apt-get install -y -qq --no-install-recommends /srv/hone_{NEW}_amd64.deb")
            assert "installed but not running" in said and booted.type("pgrep -l hone", check=False) == "", said
            booted.type("systemctl unmask hone; apt-get purge -y -qq hone")
            transcript = "\n".join(booted.transcript)
        self.check_left(machine, before)
        (self.packages.parent / f"packages-{suite}.log").write_text(transcript)
        print(f"        {suite}: installed, used, upgraded, taken back, removed by systemd and apt", flush=True)

    def go_back(self, booted, said):
        """From a newer schema, here with a migration of the future. Where that removed something, the older programs refuse the data, and start with those of
        the backup that was saved before; where it only added, they run with it."""
        booted.type(f"python3 -c {shlex.quote(FROM_THE_FUTURE)}")
        old = f"/srv/hone_{OLD}_amd64.deb /srv/hone-engine_{OLD}_amd64.deb"
        booted.type(f"apt-get install -y -qq --no-install-recommends --allow-downgrades {old}", shown=True)
        why = "journalctl -u hone -o cat | grep 'written by a newer Hone' | tail -n 1"
        wait_until(lambda: booted.type(why), "the older programs refuse the data")
        booted.type(why, shown=True)
        # As when a database is away: systemd does not give up.
        wait_until(lambda: int(booted.type("systemctl show -p NRestarts --value hone")) > 6, "the service is started again")
        booted.type(f"python3 -c {shlex.quote(WHICH_ONLY_ADDED)}; systemctl restart hone")
        assert booted.type("systemctl is-active hone") == "active" and booted.type("dpkg-query -W -f '${Version}' hone") == OLD
        assert said("span", "lost " + SPAN) == ["first " + SPAN, "lost " + SPAN, "second " + SPAN]
        for command in ("systemctl stop hone", "mv /var/lib/hone /var/lib/hone.newer", "hone restore /srv/before.hone --data-dir /var/lib/hone",
                        "cp -p /var/lib/hone.newer/master.key /var/lib/hone/", "chown -R hone:hone /var/lib/hone", "systemctl start hone"):
            booted.type(command, shown=True)
        assert said("span", "third " + SPAN) == ["first " + SPAN, "third " + SPAN]
        check_worker(said("wait", said("start", WORKER)))
        booted.type("rm -r /var/lib/hone.newer")

    def check_process(self, booted):
        """The server has the rights that the unit leaves it, and no others."""
        status = booted.type("cat /proc/$(systemctl show -p MainPID --value hone)/status; stat -c 'data %U %a' /var/lib/hone")
        for line in ("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", "data hone 700"):
            assert line in status, (line, status)
        assert booted.type("find /var/lib/hone ! -user hone") == ""
        # Its /dev is its own: the machine's devices are not in it.
        booted.type("touch /dev/of-the-machine")
        seen = booted.type("ls /proc/$(systemctl show -p MainPID --value hone)/root/dev").split()
        assert "null" in seen and "of-the-machine" not in seen, seen

    def check_profile(self, booted, suite):
        """The rule for user namespaces is installed where AppArmor knows it. The parser reads it; this kernel has no AppArmor to load it into."""
        installed = booted.type("ls /etc/apparmor.d/hone", check=False)
        assert bool(installed) == (suite != "bookworm"), installed
        if installed:
            booted.type("apparmor_parser --skip-kernel-load --skip-cache /etc/apparmor.d/hone")
            booted.type("sed 's/userns/usernamespaces/' /etc/apparmor.d/hone > /tmp/wrong; ! apparmor_parser --skip-kernel-load --skip-cache /tmp/wrong")

    def check_left(self, machine, before):
        # What apt installed for it stays, as always; of Hone's own only the data.
        away = ("var/lib/hone/", "var/lib/apt/", "var/cache/", "var/log/", "srv/", "tmp/", "run/", "dev/", "proc/", "sys/")
        left = {path for path in machine.files() - before if re.search(r"\bhone", path) and not path.startswith(away)}
        assert left == set(), left
        assert any(path.startswith("var/lib/hone/") for path in machine.files()), "the data are gone"

    def test_the_package_works_on_a_root_without_systemd(self):
        machine = self.machine("bookworm", "passwd")
        assert not (machine.root / SYSTEMD.lstrip("/")).exists()
        before = machine.files()
        for version in (OLD, NEW):
            for deb in self.debs(version).glob("*.deb"):
                machine.put(deb, f"/srv/{version}/{deb.name}")
        machine.inside(f"apt-get update -qq; apt-get install -y -qq --no-install-recommends /srv/{OLD}/*.deb", network=True, timeout=900)
        user, variables, folder, command = unit_command(machine.root / "usr/lib/systemd/system/hone.service")
        start = f"sh -c {shlex.quote(f'cd {folder}; exec env -i PATH=$PATH HONE_ADMIN_PASSWORD=$HONE_ADMIN_PASSWORD {variables} setpriv --reuid={user} --regid={user} --init-groups --no-new-privs --bounding-set=-all {command}')}"
        first, worker = machine.inside(served(start, span_and_worker("first " + SPAN))).stdout.splitlines()
        assert json.loads(first) == ["first " + SPAN], first
        check_worker(json.loads(worker))
        assert machine.inside("stat -c %U:%a /var/lib/hone; find /var/lib/hone ! -user hone | wc -l").stdout.split() == ["hone:700", "0"]
        machine.inside(f"apt-get install -y -qq --no-install-recommends /srv/{NEW}/*.deb", network=True, timeout=900)
        names, worker = machine.inside(served(start, span_and_worker("second " + SPAN))).stdout.splitlines()
        assert json.loads(names) == ["first " + SPAN, "second " + SPAN], names
        check_worker(json.loads(worker))
        machine.inside("dpkg --remove hone hone-engine")
        assert (machine.root / "etc/default/hone").exists(), "settings stay until purge"
        machine.inside("dpkg --purge hone hone-engine")
        self.check_left(machine, before)

    # --- archive

    def test_the_archive_runs_where_no_library_is_installed(self):
        archive = next(self.made("archive", "archive").glob("*.tar.zst"))
        for suite in self.options.roots.split(","):
            machine = self.machine(suite, "git")
            for library in machine.root.glob("usr/lib/*/lib*.so*"):
                if library.name.startswith(("libssl.", "libcrypto.", "libsimdjson.")):
                    library.rename(library.with_name("away-" + library.name))  # what the archive carries must do
            run("tar", "--zstd", "-xf", archive, "-C", machine.root / "opt")
            folder = next((machine.root / "opt").glob("hone-*")).name
            user = "setpriv --reuid=4711 --regid=4711 --clear-groups env HOME=/nonexistent"
            start = f"{user} /opt/{folder}/hone serve --data-dir 'my data'"
            names, worker = machine.inside("mkdir -m 777 /srv/x; cd /srv/x\n" + served(start, span_and_worker("archive " + SPAN)), timeout=300).stdout.splitlines()
            assert json.loads(names) == ["archive " + SPAN], names
            check_worker(json.loads(worker))
            floor = max(tuple(map(int, version.split("."))) for program in ("hone-client", "hone-server", "hone-engine", "libchdb.so", "lib/libsimdjson.so.14")
                        for version in re.findall(r"GLIBC_([0-9.]+)", run("objdump", "-T", machine.root / "opt" / folder / program).stdout))
            assert floor <= (2, 36), floor
            print(f"        {suite}: served, stored, ran a worker as an ordinary user; needs glibc {'.'.join(map(str, floor))}", flush=True)

    # --- image

    def test_the_image_runs_read_only_without_root(self):
        layout = self.made("image", "image-out") / "image"
        blob = lambda descriptor: layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")
        manifest = json.loads(blob(json.loads((layout / "index.json").read_text())["manifests"][0]).read_text())
        config = json.loads(blob(manifest["config"]).read_text())
        bundle = pathlib.Path(tempfile.mkdtemp(prefix="hone-image-", dir="/var/tmp"))
        self.stack.callback(shutil.rmtree, bundle, ignore_errors=True)
        root = bundle / "rootfs"
        root.mkdir()
        for layer in manifest["layers"]:
            run("tar", "-xzf", blob(layer), "-C", root)
        shutil.copy(HERE / "client.py", root / "srv/client.py")
        for allowed in (False, True):
            print(f"        {self.use_image(bundle, config, allowed)}", flush=True)

    def use_image(self, bundle, config, allowed):
        """As compose.yaml starts it; `allowed`: with the lines that let sandboxes start."""
        data = bundle / f"data-{allowed}"
        data.mkdir()
        os.chown(data, 65532, 65532)
        script = "cd /var/lib/hone\n" + served("/usr/bin/hone serve", span_and_worker("image " + SPAN))
        (bundle / "config.json").unlink(missing_ok=True)
        run("crun", "spec", cwd=bundle)
        spec = json.loads((bundle / "config.json").read_text())
        spec["process"] |= {"terminal": False, "user": {"uid": 65532, "gid": 65532}, "cwd": "/var/lib/hone", "noNewPrivileges": True,
                            "args": ["/bin/sh", "-ec", script], "env": config["config"]["Env"],
                            "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}}
        spec["root"] = {"path": "rootfs", "readonly": True}
        spec["mounts"] += [{"destination": "/var/lib/hone", "source": str(data), "type": "bind", "options": ["rbind", "rw"]},
                           {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]}]
        spec["linux"]["namespaces"] = [one for one in spec["linux"]["namespaces"] if one["type"] != "network"]  # unshare makes it
        if allowed:
            spec["linux"] |= {"maskedPaths": [], "readonlyPaths": []}  # systempaths=unconfined
        else:
            refused = {"action": "SCMP_ACT_ERRNO", "names": ["unshare", "setns", "mount", "umount2", "pivot_root"]}
            new_user = {"action": "SCMP_ACT_ERRNO", "names": ["clone"], "args": [
                {"index": 0, "value": 0x10000000, "valueTwo": 0x10000000, "op": "SCMP_CMP_MASKED_EQ"}]}
            no_clone3 = {"action": "SCMP_ACT_ERRNO", "errnoRet": 38, "names": ["clone3"]}
            spec["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [refused, new_user, no_clone3]}
        (bundle / "config.json").write_text(json.dumps(spec))
        start = f"ip link set lo up; umount /sys/fs/cgroup/unified 2>/dev/null; exec crun run --bundle {bundle} hone-image-{os.getpid()}"
        said = run("unshare", "--net", "--mount", "sh", "-c", start, timeout=300, check=False)
        lines = said.stdout.splitlines()
        assert said.returncode == 0 and json.loads(lines[0]) == ["image " + SPAN], said.stdout + said.stderr
        ended = json.loads(lines[1])
        if allowed:
            check_worker(ended)
            return "image: served, stored, ran a worker with the three lines of compose.yaml"
        assert ended["state"] == "failed" and "namespace" in ended["texts"][-1], ended
        return "image: served, stored, refused a worker: " + ended["texts"][-1]

    def test_the_compose_file_starts_the_image_as_it_was_tried(self):
        """Read by the library of `docker compose`, which refuses what it does not know."""
        place = ROOT / "packaging/compose.yaml"
        read = lambda file, **more: run("go", "run", ".", file, cwd=HERE / "compose", timeout=900, **more)
        service = json.loads(read(place).stdout)["services"]["hone"]
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"] == ["/tmp"], service
        assert service["security_opt"] == ["no-new-privileges:true"], service
        assert [(volume["type"], volume["target"]) for volume in service["volumes"]] == [("volume", "/var/lib/hone")], service
        assert {(port["host_ip"], port["target"]) for port in service["ports"]} == {("127.0.0.1", port) for port in (7070, 4317, 4318)}, service
        with tempfile.TemporaryDirectory() as folder:
            opened, wrong = pathlib.Path(folder, "opened.yaml"), pathlib.Path(folder, "wrong.yaml")
            opened.write_text(place.read_text().replace("# - ", "- "))
            options = json.loads(read(opened).stdout)["services"]["hone"]["security_opt"]
            assert options[1:] == ["seccomp:unconfined", "apparmor:unconfined", "systempaths=unconfined"], options
            wrong.write_text(place.read_text().replace("read_only", "read_onyl"))
            assert "read_onyl" in read(wrong, check=False).stderr

    def test_docker_runs_the_image_with_the_documented_commands(self):
        layout = self.made("image", "image-out") / "image"
        transcript, version, refused, ended = docker.use(self.machine("trixie", *docker.PACKAGES), layout, SPAN, WORKER)
        (self.packages.parent / "packages-docker.log").write_text(transcript)
        assert refused["state"] == "failed" and "namespace" in refused["texts"][-1], refused
        check_worker(ended)
        print(f"        Docker {version}: served, stored, refused a worker, could use git, ran a worker with the three lines, kept its data", flush=True)

    # --- Kubernetes

    def test_the_chart_renders_what_kubernetes_and_the_server_understand(self):
        print(f"        chart: {check_chart()} objects with every value set", flush=True)
        packed = next(self.made("chart", "chart").glob("*.tgz"))
        assert rendered(chart=packed).stdout == rendered().stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=ROOT / "build/release", help="the release build that is packaged")
    parser.add_argument("--packages", default=ROOT / "build/packages-test")
    parser.add_argument("--roots", default="bookworm,trixie,noble", help="releases of Debian and Ubuntu in which packages and archive are tried")
    parser.add_argument("--keep", action="store_true", help="keep the packages and use those that were kept")
    parser.add_argument("--write-sizes", action="store_true", help="print the sizes into docs/install.md, compressed as ./dev package does")
    parser.add_argument("--whole", action="store_true", help="compile everything again for the comparison of two folders")
    parser.add_argument("names", nargs="*", help="parts of names of tests; all if none is given")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("tests/packages: needs root, to make bare roots and namespaces")
    if not options.keep:
        shutil.rmtree(options.packages, ignore_errors=True)
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
    if not options.keep:
        shutil.rmtree(options.packages, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
