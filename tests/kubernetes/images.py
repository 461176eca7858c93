"""Images with one layer, as files that containerd imports."""

import hashlib
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile


def plain(entry):
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def layer_of(folder):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name, filter=plain)
    return data.getvalue()


def add_program(root, program):
    """A program of this machine with the libraries that it loads."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout  # fails for one without libraries
    for path in [str(program), *re.findall(r"(/\S+) \(0x", listed)]:
        target = root / path.lstrip("/")
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(pathlib.Path(path).resolve(), target)


def add_python(root):
    """The interpreter of this machine with the part of its library that attacks and measurements import."""
    library = f"usr/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    unused = shutil.ignore_patterns("__pycache__", "test", "tests", "config-*", "idlelib", "lib2to3", "tkinter", "dist-packages")
    add_program(root, "/usr/bin/python3")
    shutil.copytree("/" + library, root / library, ignore=unused)
    for module in (root / library / "lib-dynload").glob("*.so"):
        add_program(root, "/" + str(module.relative_to(root)))


def write_image(target, name, folder, entrypoint):
    """`name` has a tag other than latest: that one would always be pulled."""
    blobs = {}

    def put(media, content):
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": media, "digest": "sha256:" + digest, "size": len(content)}

    layer = put("application/vnd.oci.image.layer.v1.tar", layer_of(folder))
    config = put("application/vnd.oci.image.config.v1+json", json.dumps({
        "architecture": "amd64", "os": "linux", "config": {"Entrypoint": entrypoint, "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]}}).encode())
    manifest = put("application/vnd.oci.image.manifest.v1+json", json.dumps({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [layer]}).encode())
    index = {"schemaVersion": 2, "manifests": [manifest | {"annotations": {
        "io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}}]}
    with tarfile.open(target, "w") as archive:
        for path, content in {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": json.dumps(index).encode(),
                              **{"blobs/sha256/" + digest: content for digest, content in blobs.items()}}.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
