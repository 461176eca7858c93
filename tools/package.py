#!/usr/bin/env python3
"""Makes what people install from a release build: Debian packages, a folder in an archive that runs on any Linux with a
recent enough C library, and a container image as an OCI layout. `./dev package` calls it; docs/install.md describes the
results. The Helm chart and the compose file are put beside them. The same sources and SOURCE_DATE_EPOCH give the same bytes."""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import bill_of_materials
from bill_of_materials import PROGRAMS

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
# Carried beside the programs where the system may not have them. The C library is the system's own: its version is the floor.
CARRIED = ("libssl.so.3", "libcrypto.so.3", "libsimdjson.so.14", "libstdc++.so.6", "libgcc_s.so.1")
# Carried in the Debian package too: each Debian release has another version of it, and one package is for all of them.
CARRIED_IN_DEBIAN = ("libsimdjson.so.14",)
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
IMAGE_PACKAGES = ("ca-certificates", "git", "libpq5", "libssl3", "libstdc++6", "python3", "tzdata")
IMAGE_USER = 65532
MAINTAINER = "The Hone project <hone@localhost>"


def run(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, **more)


def text_of(*command, **more):
    return run(*command, capture_output=True, text=True, **more).stdout.strip()


def version():
    return re.search(r"project\(hone VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def install(source, target, mode=0o644):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


class Maker:
    def __init__(self, options):
        self.build = pathlib.Path(options.build).resolve()
        self.out = pathlib.Path(options.out).resolve()
        self.level = options.level
        self.version = options.version or version()
        self.machine = os.uname().machine
        self.architecture = ARCHITECTURES[self.machine]
        self.epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or text_of("git", "-C", ROOT, "log", "-1", "--format=%ct"))
        self.environment = os.environ | {"SOURCE_DATE_EPOCH": str(self.epoch), "LC_ALL": "C"}
        self.work = self.out / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        os.umask(0o022)

    def stage(self):
        """The installed folder, without debug information."""
        folder = self.work / "installed"
        if not folder.exists():
            run("cmake", "--install", self.build, "--strip", "--prefix", folder, stdout=subprocess.DEVNULL)
            for program in PROGRAMS:  # both are computed from debug information, which names the folder of the build
                run("objcopy", "--remove-section=.gnu_debuglink", "--remove-section=.note.gnu.build-id", folder / program)
        return folder

    def programs(self, staged, folder, libraries):
        """The programs, what they read, and libraries beside them."""
        for program in PROGRAMS:
            install(staged / program, folder / program, 0o755)
        shutil.copytree(staged / "playbooks", folder / "playbooks")
        places = text_of(shutil.which("ldconfig") or "/sbin/ldconfig", "-p")
        kind = {"x86_64": "x86-64", "aarch64": "AArch64"}[self.machine]
        for library in libraries:
            found = re.search(rf"^\s*{re.escape(library)} \(.*{kind}.*\) => (.*)$", places, re.M)
            install(pathlib.Path(found.group(1)).resolve(), folder / "lib" / library)

    # --- Debian

    def needed_packages(self, folder):
        """What the programs load, by dpkg."""
        place = self.work / "shlibdeps"
        write(place / "debian/control", f"Source: hone\n\nPackage: hone\nArchitecture: {self.architecture}\n")
        found = text_of("dpkg-shlibdeps", "-O", *(f"-e{folder / name}" for name in ("hone-client", "hone-server", "hone-engine")),
                        cwd=place)
        return found.removeprefix("shlibs:Depends=")

    def deb(self, name, tree, control, scripts=(), conffiles=()):
        size = sum(path.lstat().st_size for path in tree.rglob("*") if path.is_file()) // 1024
        sums = "".join(f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n"
                       for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
        fields = {"Package": name, "Version": self.version, "Architecture": self.architecture,
                  "Maintainer": MAINTAINER, "Installed-Size": size, "Section": "devel",
                  "Priority": "optional"} | control
        write(tree / "DEBIAN/control", "".join(f"{key}: {value}\n" for key, value in fields.items()))
        write(tree / "DEBIAN/md5sums", sums)
        if conffiles:
            write(tree / "DEBIAN/conffiles", "".join(f"{path}\n" for path in conffiles))
        for script in scripts:
            install(PACKAGING / "debian" / script, tree / "DEBIAN" / script, 0o755)
        for path in [tree, *tree.rglob("*")]:
            os.utime(path, (self.epoch, self.epoch), follow_symlinks=False)
        path = self.out / f"{name}_{self.version}_{self.architecture}.deb"
        run("dpkg-deb", "--root-owner-group", "-Zzstd", f"-z{self.level}", "--build", tree, path,
            stdout=subprocess.DEVNULL, env=self.environment)
        return path

    def documents(self, folder, more=()):
        """`more`: components that are shipped beside those that are linked in."""
        install(ROOT / "README.md", folder / "README.md")
        write(folder / "copyright", self.copyright())
        notes = (ROOT / "CHANGELOG.md").read_bytes()
        (folder / "CHANGELOG.md.gz").write_bytes(gzip.compress(notes, 9, mtime=0))
        (folder / "CHANGELOG.md.gz").chmod(0o644)
        entry = f"hone ({self.version}) unstable; urgency=medium\n\n  * CHANGELOG.md.gz lists the changes.\n\n" \
                f" -- {MAINTAINER}  {self.time('%a, %d %b %Y %H:%M:%S +0000')}\n"
        (folder / "changelog.gz").write_bytes(gzip.compress(entry.encode(), 9, mtime=0))
        (folder / "changelog.gz").chmod(0o644)
        write(folder / "sbom.json", json.dumps(self.bill(more), indent=1) + "\n")
        for name, text in bill_of_materials.license_texts().items():
            (folder / "licenses").mkdir(exist_ok=True)
            (folder / "licenses" / name).write_bytes(text)
            (folder / "licenses" / name).chmod(0o644)

    def bill(self, more=()):
        bill = bill_of_materials.bill(self.build, self.version)
        bill["components"] += more
        return bill

    def copyright(self, only=""):
        lines = ["Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/", "Upstream-Name: Hone",
                 "Comment: Libraries that are linked in or carried along. The package hone has the texts of their licenses in licenses/."]
        lines += [f" {row['name']} {row['version']}: {row['licenses'][0]['license']['name']}" for row in self.bill()["components"]
                  if only in ("", row["name"])]
        lines += ["", "Files: *", "Copyright: The Hone project", "License: Apache-2.0",
                  " On Debian systems the text of the license is in /usr/share/common-licenses/Apache-2.0."]
        return "\n".join(lines) + "\n"

    def debs(self):
        staged = self.stage()
        tree = self.work / "deb-hone"
        place = tree / "usr/lib/hone"
        self.programs(staged, place, CARRIED_IN_DEBIAN)
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "usr/bin/hone").symlink_to("../lib/hone/hone")
        install(PACKAGING / "hone.service", tree / "usr/lib/systemd/system/hone.service")
        install(PACKAGING / "hone.apparmor", place / "hone.apparmor")
        install(PACKAGING / "hone.sysusers", tree / "usr/lib/sysusers.d/hone.conf")
        install(PACKAGING / "hone.default", tree / "etc/default/hone")
        for shell, target in (("bash", "usr/share/bash-completion/completions/hone"),
                              ("zsh", "usr/share/zsh/vendor-completions/_hone"),
                              ("fish", "usr/share/fish/vendor_completions.d/hone.fish")):
            write(tree / target, text_of(staged / "hone", "completion", shell) + "\n")
        self.documents(tree / "usr/share/doc/hone")
        made = [self.deb("hone", tree, {
            "Depends": f"{self.needed_packages(staged)}, ca-certificates, git, init-system-helpers (>= 1.54), passwd",
            "Recommends": f"hone-engine (= {self.version}), python3, nodejs, npm",
            "Suggests": "e2fsprogs, postgresql-client, libpq5, runsc",
            "Description": "improvement loop for LLM agents: traces, issues, workers, reviews\n"
                           " Receives the traces of LLM applications over OpenTelemetry, stores and\n"
                           " scores them, finds what goes wrong, and runs coding agents in sandboxes\n"
                           " that propose fixes for people to review."},
            ("postinst", "prerm", "postrm"), ("/etc/default/hone",))]
        tree = self.work / "deb-engine"
        install(staged / "libchdb.so", tree / "usr/lib/hone/libchdb.so")
        (tree / "usr/share/doc/hone-engine").mkdir(parents=True)
        write(tree / "usr/share/doc/hone-engine/copyright", self.copyright("chDB"))
        made.append(self.deb("hone-engine", tree, {
            "Depends": "libc6 (>= 2.17)", "Enhances": "hone",
            "Description": "span engine of Hone\n"
                           " The library in which a server keeps its spans, unless it uses a ClickHouse\n"
                           " server elsewhere."}))
        return made

    # --- one folder

    def archive(self):
        staged = self.stage()
        name = f"hone-{self.version}-linux-{self.machine}"
        tree = self.work / name
        self.programs(staged, tree, CARRIED)
        install(staged / "libchdb.so", tree / "libchdb.so")
        for file in ("hone.service", "hone.apparmor"):
            install(PACKAGING / file, tree / file)
        install(ROOT / "LICENSE", tree / "LICENSE")
        self.documents(tree / "doc")
        path = self.out / f"{name}.tar.zst"
        with subprocess.Popen(["zstd", "-q", f"-{self.level}", "-T0", "-f", "-o", str(path)], stdin=subprocess.PIPE) as packer:
            with tarfile.open(fileobj=packer.stdin, mode="w|", format=tarfile.GNU_FORMAT) as target:
                self.add_tree(target, tree, name)
            packer.stdin.close()
            if packer.wait() != 0:
                raise SystemExit("zstd failed")
        return path

    def clean(self, entry, owner=0):
        """Without what depends on the machine; all times are that of the last commit, since a checkout has times of its own."""
        entry.uid = entry.gid = owner
        entry.uname = entry.gname = ""
        entry.mtime = self.epoch
        return entry

    def add_tree(self, target, tree, prefix, owner=0):
        for path in [tree, *sorted(tree.rglob("*"))]:
            relative = path.relative_to(tree)
            name = str(pathlib.PurePosixPath(prefix) / relative) if str(relative) != "." else prefix
            if not name:
                continue
            target.add(path, name, recursive=False, filter=lambda entry: self.clean(entry, owner))

    # --- container image

    def layer(self, blobs, fill):
        """Writes one layer; returns its descriptor and the hash of what is in it."""
        raw = hashlib.sha256()
        path = blobs / "new"

        class Hashing(io.RawIOBase):
            def __init__(self, sink):
                self.sink = sink

            def writable(self):
                return True

            def write(self, data):
                raw.update(data)
                self.sink.write(data)
                return len(data)

        with open(path, "wb") as file, gzip.GzipFile("", "wb", min(self.level, 9), file, mtime=0) as packed:
            with tarfile.open(fileobj=Hashing(packed), mode="w|", format=tarfile.PAX_FORMAT) as target:
                fill(target)
        return self.blob(blobs, path, "application/vnd.oci.image.layer.v1.tar+gzip"), "sha256:" + raw.hexdigest()

    def blob(self, blobs, path, kind):
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            for part in iter(lambda: file.read(1 << 20), b""):
                digest.update(part)
        size = path.stat().st_size
        path.rename(blobs / digest.hexdigest())
        return {"mediaType": kind, "digest": "sha256:" + digest.hexdigest(), "size": size}

    def document(self, blobs, content, kind):
        path = blobs / "new"
        path.write_text(json.dumps(content, sort_keys=True))
        return self.blob(blobs, path, kind)

    def base_layer(self, target):
        """A Debian with what the server calls, made without root of the host and without a daemon."""
        root = self.work / "base.tar"
        run("mmdebstrap", "--quiet", "--variant=essential", f"--include={','.join(IMAGE_PACKAGES)}",
            "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-include=/usr/share/doc/*/copyright",
            "--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/locale/*",
            "--customize-hook=rm -rf $1/var/lib/apt/lists/* $1/var/cache/* $1/var/log/*", "bookworm", root,
            env=self.environment)
        with tarfile.open(root) as source:
            self.base_packages = list(bill_of_materials.installed(source.extractfile("./var/lib/dpkg/status").read().decode()))
        with tarfile.open(root) as source:
            for entry in source:
                if entry.isdev():
                    continue
                entry.mtime = min(int(entry.mtime), self.epoch)
                target.addfile(entry, source.extractfile(entry) if entry.isreg() else None)

    def image(self):
        if not shutil.which("mmdebstrap"):
            raise SystemExit("package.py: the image needs mmdebstrap (apt install mmdebstrap)")
        staged = self.stage()
        layout = self.out / "image"
        shutil.rmtree(layout, ignore_errors=True)
        blobs = layout / "blobs/sha256"
        blobs.mkdir(parents=True)

        def engine(target):
            target.add(staged / "libchdb.so", "usr/lib/hone/libchdb.so", filter=self.clean)

        def programs(target):
            place = self.work / "image-programs"
            self.programs(staged, place, CARRIED_IN_DEBIAN)
            self.add_tree(target, place, "usr/lib/hone")
            documents = self.work / "image-documents"
            self.documents(documents, self.base_packages)
            self.add_tree(target, documents, "usr/share/doc/hone")
            # Where the init container of a pod finds it: this image is kubernetes_tools_image.
            target.add(staged / "hone-pod", "hone-tools/hone-pod", filter=self.clean)
            link = tarfile.TarInfo("usr/bin/hone")
            link.type, link.linkname, link.mtime = tarfile.SYMTYPE, "../lib/hone/hone", self.epoch
            target.addfile(link)
            data = tarfile.TarInfo("var/lib/hone")
            data.type, data.mode, data.uid, data.gid, data.mtime = tarfile.DIRTYPE, 0o700, IMAGE_USER, IMAGE_USER, self.epoch
            target.addfile(data)

        layers = [self.layer(blobs, fill) for fill in (self.base_layer, engine, programs)]  # what changes often comes last
        config = self.document(blobs, {
            "architecture": self.architecture, "os": "linux", "created": self.time(),
            "config": {"User": f"{IMAGE_USER}:{IMAGE_USER}", "WorkingDir": "/var/lib/hone", "Entrypoint": ["/usr/bin/hone"],
                       "Cmd": ["serve"], "Volumes": {"/var/lib/hone": {}},
                       "ExposedPorts": {"7070/tcp": {}, "4317/tcp": {}, "4318/tcp": {}},
                       "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/var/lib/hone",
                               "HONE_DATA_DIR=/var/lib/hone", "HONE_LISTEN=0.0.0.0:7070",
                               "HONE_OTLP_HTTP_LISTEN=0.0.0.0:4318", "HONE_OTLP_GRPC_LISTEN=0.0.0.0:4317"]},
            "rootfs": {"type": "layers", "diff_ids": [inside for _, inside in layers]},
        }, "application/vnd.oci.image.config.v1+json")
        manifest = self.document(blobs, {
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
            "layers": [descriptor for descriptor, _ in layers],
        }, "application/vnd.oci.image.manifest.v1+json")
        manifest["annotations"] = {"org.opencontainers.image.ref.name": self.version}
        manifest["platform"] = {"architecture": self.architecture, "os": "linux"}
        (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
        (layout / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        return layout

    # --- what starts the image

    def chart(self):
        """As `helm package` makes it, with the times of the sources."""
        folder = PACKAGING / "helm/hone"
        chart = (folder / "Chart.yaml").read_text()
        values = (folder / "values.yaml").read_text()
        for name, text in (("version", chart), ("appVersion", chart), ("tag", values)):
            if (found := re.search(rf'^ *{name}: "?([^"\n]+)"?$', text, re.M).group(1)) != version():
                raise SystemExit(f"package.py: the chart has {name} {found}, the program is {version()}")
        path = self.out / f"hone-{version()}.tgz"
        with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            with tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as target:
                for source in sorted(folder.rglob("*")):
                    if source.is_file():
                        target.add(source, f"hone/{source.relative_to(folder)}", filter=self.plain)
        compose = self.out / "compose.yaml"
        install(PACKAGING / "compose.yaml", compose)
        return [path, compose]

    def plain(self, entry):
        """Without the rights that a checkout happens to have."""
        entry = self.clean(entry)
        entry.mode = 0o644
        return entry

    def time(self, form="%Y-%m-%dT%H:%M:%SZ"):
        return datetime.datetime.fromtimestamp(self.epoch, datetime.timezone.utc).strftime(form)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=ROOT / "build/release")
    parser.add_argument("--out", default=ROOT / "build/packages")
    parser.add_argument("--level", type=int, default=19, help="of compression; 1 is fast")
    parser.add_argument("--version", help="instead of the program's own; for tests of upgrades")
    parser.add_argument("kinds", nargs="*", help="deb, archive, image, chart; all if none is named")
    options = parser.parse_args()
    makers = {"deb": Maker.debs, "archive": Maker.archive, "image": Maker.image, "chart": Maker.chart}
    for kind in options.kinds:
        if kind not in makers:
            parser.error(f"no kind named {kind}; there are: {', '.join(makers)}")
    maker = Maker(options)
    sums = []
    for kind in options.kinds or makers:
        made = makers[kind](maker)
        for path in made if isinstance(made, list) else [made]:
            size = sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) if path.is_dir() else path.stat().st_size
            print(f"{size / 1e6:8.1f} MB  {os.path.relpath(path)}")
            listed = path / "index.json" if path.is_dir() else path  # which names the hash of everything else in the image
            with open(listed, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            sums.append(f"{digest}  {listed.relative_to(maker.out)}\n")
    (maker.out / "SHA256SUMS").write_text("".join(sums))
    shutil.rmtree(maker.work)


if __name__ == "__main__":
    sys.exit(main())
