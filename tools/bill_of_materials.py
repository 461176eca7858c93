#!/usr/bin/env python3
"""What is shipped, with versions and licences, as CycloneDX: for packages (tools/package.py). docs/dependencies.md has names and
licences; versions are those of the packages of the machine that builds. A library that the programs are linked with and that the
document does not list is an error, so that the list stays whole.

usage: bill_of_materials.py [BUILD_FOLDER]      prints it"""

import gzip
import json
import pathlib
import re
import subprocess
import sys
from urllib.parse import quote

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENGINE = ROOT / "build/deps/package"
PROGRAMS = ("hone", "hone-client", "hone-server", "hone-init", "hone-inside", "hone-pod", "hone-engine")
# The Debian package that each library of docs/dependencies.md comes from: its version is that of the package.
DEBIAN = {
    "Boost.Asio, Boost.Beast": "libboost1.81-dev", "Boost.JSON": "libboost-json1.81-dev", "Boost.Math": "libboost1.81-dev",
    "OpenSSL": "libssl-dev", "zlib": "zlib1g-dev", "brotli": "libbrotli-dev", "zstd": "libzstd-dev", "SQLite": "libsqlite3-dev",
    "libpq": "libpq-dev", "libsodium": "libsodium-dev", "valijson": "libvalijson-dev", "libyaml": "libyaml-dev",
    "toml++": "libtomlplusplus-dev", "CLI11": "libcli11-dev", "libseccomp": "libseccomp-dev", "grpc++": "libgrpc++-dev",
    "protozero": "libprotozero-dev", "simdjson": "libsimdjson-dev", "Abseil": "libabsl-dev", "RE2": "libre2-dev", "fmt": "libfmt-dev",
    "c-ares": "libc-ares-dev", "GNU C Library": "libc6-dev", "GCC runtime libraries": "libstdc++-12-dev"}
# Those of the npm registry, and the file with their version.
NPM = {"chDB": [ENGINE / "package.json"],
       "Preact, @preact/signals, uPlot": [ROOT / f"web/node_modules/{name}/package.json" for name in ("preact", "@preact/signals", "uplot")]}
# Licences under which programs may be passed on without the text, or whose text is the project's own.
NO_TEXT = ("BSL-1.0", "public domain")


def text_of(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout.strip()


def rows():
    """Name without its version, purpose and licence of each row about what is shipped."""
    document = (ROOT / "docs/dependencies.md").read_text().split("## Linked into the server")[1].split("## For building")[0]
    for line in document.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and cells[0] not in ("name", "---"):
            yield re.sub(r"( [0-9][0-9a-z.-]*)?( \(.*\))?$", "", cells[0]), cells[1], cells[3]


def source_of(package):
    """Name and version of the source that a package of this machine was built from."""
    return text_of("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package).split()


def debian_address(source, version):
    """A package URL, by which scanners find known vulnerabilities."""
    release = re.search(r'^VERSION_ID="?([0-9]+)', pathlib.Path("/etc/os-release").read_text(), re.M).group(1)
    return f"pkg:deb/debian/{quote(source)}@{quote(version)}?arch=source&distro=debian-{release}"


def installed(status):
    """The packages of a Debian root, from dpkg's own list."""
    for entry in status.strip().split("\n\n"):
        field = dict(re.findall(r"^(Package|Version|Source): (.*)$", entry, re.M))
        source, _, version = field.get("Source", field["Package"]).partition(" ")
        yield {"type": "library", "bom-ref": f"{field['Package']}@{field['Version']}", "name": field["Package"], "version": field["Version"],
               "description": "a package of the image", "purl": debian_address(source, version.strip("()") or field["Version"])}


def components():
    found = []
    for name, purpose, licence in rows():
        if name in DEBIAN:
            source, version = source_of(DEBIAN[name])
            made = [(name, version, debian_address(source, version))]
        elif name in NPM:
            packages = [json.loads(path.read_text()) for path in NPM[name]]
            made = [(name if len(packages) == 1 else one["name"], one["version"], f"pkg:npm/{quote(one['name'])}@{one['version']}") for one in packages]
        else:
            raise SystemExit(f"bill_of_materials.py: docs/dependencies.md lists {name}: name its package in DEBIAN or NPM")
        found += [{"type": "library", "bom-ref": f"{part}@{version}", "name": part, "version": version, "description": purpose, "purl": address,
                   "licenses": [{"license": {"name": licence}}]} for part, version, address in made]
    return found


def linked_archives(build):
    """The static libraries that the programs of a build are linked with."""
    text = (build / "build.ninja").read_text()
    links = re.findall(r"^build (\S+): CXX_EXECUTABLE_LINKER\S* .*\n((?:  .*\n)+)", text, re.M)
    found = {name: {word for word in re.search(r"^  LINK_LIBRARIES = (.*)$", body + "  LINK_LIBRARIES = \n", re.M).group(1).split()
                    if word.startswith("/")} for name, body in links if name in PROGRAMS}
    if found.keys() != set(PROGRAMS):
        raise SystemExit(f"bill_of_materials.py: {build} does not link {', '.join(set(PROGRAMS) - found.keys())}")
    return set().union(*found.values())


def unlisted(build):
    """Sources of linked libraries that the document does not list."""
    listed = {source_of(DEBIAN[name])[0] for name, _, _ in rows() if name in DEBIAN}
    owners = {line.split(":")[0] for line in text_of("dpkg", "-S", *sorted(linked_archives(build))).splitlines()}
    return sorted({source_of(owner)[0] for owner in owners} - listed)


def bill(build, version):
    if missing := unlisted(pathlib.Path(build)):
        raise SystemExit(f"bill_of_materials.py: linked, but not in docs/dependencies.md: {', '.join(missing)}")
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "hone", "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
            "components": components()}


def license_texts():
    """File name and compressed text of the licences of what is linked in or carried along."""
    texts = {}
    for name, _, licence in rows():
        if licence in NO_TEXT:
            continue
        if name in DEBIAN:
            source = source_of(DEBIAN[name])[0]
            texts[source] = pathlib.Path(f"/usr/share/doc/{DEBIAN[name]}/copyright").read_bytes()
        for path in NPM.get(name, []):
            if (text := path.with_name("LICENSE")).exists():
                texts[path.parent.relative_to(ROOT / "web/node_modules").as_posix().replace("/", "-").strip("@")] = text.read_bytes()
    for name in ("Apache-2.0", "LGPL-2.1", "GPL-3"):  # the texts above name these files of Debian
        texts[name] = pathlib.Path("/usr/share/common-licenses", name).read_bytes()
    return {name + ".gz": gzip.compress(text, 9, mtime=0) for name, text in sorted(texts.items())}


if __name__ == "__main__":
    print(json.dumps(bill(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release", "unknown"), indent=1))
