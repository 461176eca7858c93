"""The programs of a cluster with one node: built once from the Go module proxy, or unpacked from Debian's packages, into a
cache folder of the user. Cold this takes a quarter of an hour of two processors; afterwards nothing is built.

programs.py [kwok]    builds what is missing, and prints the folder; kwok, which keeps nodes that do not exist, is a part that only
                      some cases need, and takes four minutes more
"""

import os
import pathlib
import shutil
import subprocess
import sys

KUBERNETES = "34.2"  # 1.34.2; its libraries are 0.34.2
ETCD = "v3.6.16"
KWOK = "v0.8.0"
# The last ones are iptables with its libraries: what enforces policies uses it (policy.py).
PACKAGES = ("containerd", "runc", "containernetworking-plugins", "busybox-static", "iptables", "libip4tc2", "libip6tc2",
            "libxtables12", "libnftnl11", "libnfnetlink0", "libnetfilter-conntrack3", "libmnl0")
# Modules that Kubernetes takes from its own tree: a module that uses it must name them.
OWN_MODULES = """api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider cluster-bootstrap
code-generator component-base component-helpers controller-manager cri-api cri-client csi-translation-lib
dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator kube-controller-manager kube-proxy kube-scheduler
kubectl kubelet metrics mount-utils pod-security-admission sample-apiserver sample-cli-plugin sample-controller""".split()
KUBERNETES_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")


def cache():
    base = "/var/cache" if os.geteuid() == 0 else os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return pathlib.Path(base) / f"hone/kubernetes-1.{KUBERNETES}-etcd-{ETCD}"


def go(*words, folder):
    flags = "-mod=mod " + os.environ.get("GOFLAGS", "")
    environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": flags.strip()}
    subprocess.run(["nice", "-n", "19", "go", *words], cwd=folder, check=True, env=environment, stdout=sys.stderr)


def kubernetes_module(folder):
    """A module that uses Kubernetes, with everything that it needs downloaded."""
    module = folder / "module"
    module.mkdir(exist_ok=True)
    replaced = "".join(f"\tk8s.io/{name} => k8s.io/{name} v0.{KUBERNETES}\n" for name in OWN_MODULES)
    (module / "go.mod").write_text(
        f"module cluster\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v1.{KUBERNETES}\n\nreplace (\n{replaced})\n")
    imported = "".join(f'\t_ "k8s.io/kubernetes/cmd/{name}"\n' for name in KUBERNETES_PROGRAMS)
    (module / "programs.go").write_text(f"//go:build programs\n\npackage cluster\n\nimport (\n{imported})\n")
    go("mod", "tidy", folder=module)
    return module


def build_kubernetes(folder, missing):
    module = kubernetes_module(folder)
    major, minor = "1", KUBERNETES.split(".")[0]
    flags = "-s -w"
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        flags += f" -X {package}.gitVersion=v1.{KUBERNETES} -X {package}.gitMajor={major} -X {package}.gitMinor={minor}"
    for name in missing:
        print(f"building {name} 1.{KUBERNETES}", file=sys.stderr, flush=True)
        go("build", "-trimpath", "-ldflags", flags, "-o", str(folder / f"{name}.new"), f"k8s.io/kubernetes/cmd/{name}",
           folder=module)
        (folder / f"{name}.new").rename(folder / name)


def build_released(folder, name, package, version):
    """A program of a module that needs nothing of ours."""
    module = folder / f"{name}-module"
    module.mkdir(exist_ok=True)
    (module / "go.mod").write_text(f"module {name}\n\ngo 1.24.0\n")
    print(f"building {name} {version}", file=sys.stderr, flush=True)
    go("get", f"{package}@{version}", folder=module)
    go("build", "-trimpath", "-ldflags", "-s -w", "-o", str(folder / f"{name}.new"), package, folder=module)
    (folder / f"{name}.new").rename(folder / name)


def unpack_packages(folder):
    """Programs of Debian that are only unpacked: an installed containerd would start a service."""
    work, root = folder / "packages", folder / "debian.new"
    for path in (work, root):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
    if os.geteuid() == 0:  # apt fetches as a user of its own
        shutil.chown(work, "_apt")
    subprocess.run(["apt-get", "download", "-qq", *PACKAGES], cwd=work, check=True, stdout=sys.stderr)
    for package in sorted(work.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    (root / "packages").write_text("\n".join(PACKAGES))
    shutil.rmtree(folder / "debian", ignore_errors=True)
    root.rename(folder / "debian")
    shutil.rmtree(work)


def build_pause(folder):
    """What keeps the namespaces of a pod: it waits, and reaps."""
    source = pathlib.Path(__file__).resolve().parent / "pause.c"
    subprocess.run(["cc", "-Os", "-static", "-s", "-o", str(folder / "pause.new"), str(source)], check=True)
    (folder / "pause.new").rename(folder / "pause")


def ready():
    """The folder with all programs."""
    folder = cache()
    folder.mkdir(parents=True, exist_ok=True)
    unpacked = folder / "debian/packages"  # of an earlier version of this file it may hold fewer
    if not unpacked.exists() or unpacked.read_text() != "\n".join(PACKAGES):
        unpack_packages(folder)
    if not (folder / "pause").exists():
        build_pause(folder)
    missing = [name for name in KUBERNETES_PROGRAMS if not (folder / name).exists()]
    if missing:
        build_kubernetes(folder, missing)
    if not (folder / "etcd").exists():
        build_released(folder, "etcd", "go.etcd.io/etcd/server/v3", ETCD)
    return folder


def place_of_kwok():
    """A folder of its own for each version: the cluster does not depend on it."""
    return cache().with_name(f"kwok-{KWOK}") / "kwok"


def kwok():
    """The program."""
    place = place_of_kwok()
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.exists():
        build_released(place.parent, "kwok", "sigs.k8s.io/kwok/cmd/kwok", KWOK)
    return place


if __name__ == "__main__":
    print(ready())
    if sys.argv[1:] == ["kwok"]:
        print(kwok())
