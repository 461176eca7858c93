"""Sizes of what `./dev package` makes: what is downloaded, and the files that are there afterwards."""

import json
import re
import subprocess
import tarfile
import typing


class Row(typing.NamedTuple):
    what: str
    download: int
    installed: int


def unpacked(file, *command):
    """The bytes of the regular files in a tar archive that a command prints."""
    with subprocess.Popen([*map(str, command), str(file)], stdout=subprocess.PIPE) as reader:
        with tarfile.open(fileobj=reader.stdout, mode="r|") as archive:
            size = sum(entry.size for entry in archive if entry.isreg())
        reader.stdout.read()
    assert reader.returncode == 0, (command, file)
    return size


def rows_of(debs, archive, layout):
    rows = []
    for deb in sorted(debs.glob("*.deb")):
        rows.append(Row(f"package `{deb.name.split('_')[0]}`", deb.stat().st_size, unpacked(deb, "dpkg-deb", "--fsys-tarfile")))
    rows.append(Row("archive", archive.stat().st_size, unpacked(archive, "zstd", "-dcq")))
    blob = lambda descriptor: layout / "blobs/sha256" / descriptor["digest"].removeprefix("sha256:")
    manifest = json.loads(blob(json.loads((layout / "index.json").read_text())["manifests"][0]).read_text())
    layers = [(layer["size"], unpacked(blob(layer), "gzip", "-dc")) for layer in manifest["layers"]]
    rows.append(Row("image", sum(size for size, _ in layers), sum(size for _, size in layers)))
    names = ("Debian with git and Python", "the engine", "Hone's programs: an update of Hone")
    return rows + [Row(f"layer of the image: {name}", *layer) for name, layer in zip(names, layers, strict=True)]


def write_table(document, rows):
    """Replaces the table between its marks."""
    lines = [f"| {row.what} | {row.download / 1e6:.1f} MB | {row.installed / 1e6:.1f} MB |\n" for row in rows]
    table = "<!-- sizes -->\n| what | download | installed |\n|---|---|---|\n" + "".join(lines) + "<!-- end of sizes -->"
    text = document.read_text()
    replaced = re.sub(r"<!-- sizes -->.*?<!-- end of sizes -->", lambda _: table, text, count=1, flags=re.S)
    assert table in replaced, f"{document} has no marks for the sizes"
    document.write_text(replaced)
