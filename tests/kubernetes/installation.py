"""The Helm chart in the cluster, with the image of `./dev package`: installed, used, upgraded and removed by helm.

The cluster has neither a proxy for Services nor a controller for Ingress, and its containerd is too old for pods with a user
namespace: Services are not called by name here, and `localSandboxes` is only rendered (tests/packages/chart.py)."""

import contextlib
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import cluster as clusters
import configuration
import policy
import volumes

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NAMESPACE, WORKERS = "hone", "hone-workers"
REPOSITORY, TAGS = "test.local/hone", ("1", "2")  # the same image under two names: an upgrade has to replace the pod
SERVICE = "10.96.0.1"  # of the API server, the first of its range
PASSWORD = "a-first-password"
VALUES = {"image.repository": REPOSITORY, "image.pullPolicy": "Never", "adminPasswordSecret": "first", "persistence.size": "1Gi",
          "persistence.storageClassName": volumes.CLASS, "workers.enabled": "true", "workers.image": clusters.WORKER_IMAGE,
          "workers.storageClass": volumes.CLASS}
POD = {"provider": "kubernetes", "sandbox": {"memory_bytes": 128 << 20, "cpus": 0.2, "disk_bytes": 64 << 20}}
WORKER = "echo uid $(id -u); ls /var/lib/hone >/dev/null 2>&1 || echo no data here; echo x > file && echo worked"


def helm_program():
    """Built once from the Go module proxy, by the suite of packages."""
    sys.path.append(str(HERE.parent / "packages"))  # for its own imports
    spec = importlib.util.spec_from_file_location("packages_chart", HERE.parent / "packages/chart.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.helm()


def write_images(folder):
    """The layout of the image as a file that containerd imports, under both names."""
    layout = folder / "image"
    manifest, = json.loads((layout / "index.json").read_text())["manifests"]
    named = [manifest | {"annotations": {"io.containerd.image.name": f"{REPOSITORY}:{tag}", "org.opencontainers.image.ref.name": tag}}
             for tag in TAGS]
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": named}))
    with tarfile.open(folder / "hone.tar", "w") as archive:
        archive.add(layout, ".")
    return folder / "hone.tar"


def package(bench, folder):
    """Makes image and chart, gives the image to the node, and returns the file of the chart."""
    subprocess.run([sys.executable, ROOT / "tools/package.py", "--build", bench.hone.parent, "--out", folder, "--level", "1", "image", "chart"],
                   check=True, stdout=subprocess.DEVNULL)
    ctr = bench.cluster.programs / "debian/usr/bin/ctr"
    inside = ["nsenter", f"--mount=/proc/{bench.cluster.first_process}/ns/mnt"]
    subprocess.run([*inside, ctr, "-n", "k8s.io", "images", "import", write_images(folder)], check=True, capture_output=True)
    shutil.rmtree(folder / "image")
    (folder / "hone.tar").unlink()
    chart, = folder.glob("hone-*.tgz")
    return chart


class Release:
    def __init__(self, bench, stack):
        self.bench = bench
        self.home = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-helm-"))
        self.program = helm_program()

    def helm(self, *words, check=True):
        environment = [f"HOME={self.home}", f"KUBECONFIG={self.bench.cluster.state / 'admin.conf'}"]
        done = self.bench.cluster.run("env", *environment, self.program, "--namespace", NAMESPACE, *words, timeout=600)
        assert not check or done.returncode == 0, (words, done.stdout.decode()[-2000:], done.stderr.decode()[-2000:], self.why())
        return done.stdout.decode()

    def set(self, **more):
        values = VALUES | {name.replace("__", "."): value for name, value in more.items()}
        return [word for name, value in values.items() for word in (("--set-string" if name == "image.tag" else "--set"), f"{name}={value}")]

    def pod(self):
        return self.bench.must("get", f"/api/v1/namespaces/{NAMESPACE}/pods/hone-0")["body"]

    def address(self):
        return self.pod()["status"]["podIP"]

    def why(self):
        """What the cluster says about the pod, for a failure."""
        status, out, _ = self.bench.call("get", f"/api/v1/namespaces/{NAMESPACE}/events")
        return [event["message"] for event in json.loads(out)["body"].get("items", [])][-12:] if status == 0 else out

    def client(self, *words, **variables):
        """A person and a sender, in the network of the node."""
        environment = {"HONE_PASSWORD": PASSWORD, "HONE_SERVER": self.address(), "HONE_SETTINGS": json.dumps(POD)} | variables
        done = self.bench.cluster.run("env", *(f"{name}={value}" for name, value in environment.items()), sys.executable,
                                      HERE.parent / "packages/client.py", *words, timeout=400)
        assert done.returncode == 0, (words, done.stdout.decode()[-2000:], done.stderr.decode()[-2000:])
        return json.loads(done.stdout)

    def inside(self, *command):
        status, out, errors = self.bench.call("exec", NAMESPACE, "hone-0:hone", *command)
        return status, out.decode(), errors


def set_rules(bench, verb, *rules):
    for rule in rules:
        done = bench.cluster.iptables(verb, *rule)
        assert done.returncode == 0, done.stderr


@contextlib.contextmanager
def service_address(bench):
    """The address of the API server for pods, which the proxy of a node would serve."""
    rule = ("PREROUTING", "-t", "nat", "-d", f"{SERVICE}/32", "-p", "tcp", "--dport", "443", "-j", "DNAT", "--to-destination",
            f"{configuration.NODE_ADDRESS}:6443")
    set_rules(bench, "-A", rule)
    try:
        yield
    finally:
        set_rules(bench, "-D", rule)


@contextlib.contextmanager
def workers_are_closed(bench, release):
    """The stand-in for an enforcer drops what comes from pods: those of workers, not the server's."""
    rules = [(chain, "-s", release.address(), "-j", "ACCEPT") for chain in ("INPUT", "FORWARD")]
    with policy.Enforcer(bench, WORKERS) as enforcer:
        bench.wait_for(lambda: enforcer.is_closed, "the policy is enforced")
        set_rules(bench, "-I", *rules)
        try:
            yield
        finally:
            set_rules(bench, "-D", *rules)


def make_namespace(bench):
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    bench.must("post", "/api/v1/namespaces", given=json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}).encode())
    bench.until("the namespace has its account", "get", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "first"}, "stringData": {"password": PASSWORD}}
    bench.must("post", f"/api/v1/namespaces/{NAMESPACE}/secrets", given=json.dumps(secret).encode())


def check_pod(release):
    """It was admitted under the restricted standard, and is what the standard promises."""
    status, out, errors = release.inside("sh", "-c", "id -u; grep -E '^(CapBnd|NoNewPrivs|Seccomp):' /proc/1/status; touch /usr/new; echo $?")
    assert status == 0 and out.splitlines() == ["65532", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", "1"], (out, errors)


def check_report(release):
    """`hone check` in the pod, as the notes of the chart say: the rights of the role are all that workers need, and no others."""
    _, out, errors = release.inside("hone", "check", "--json")
    lines = {line["name"]: line["state"] for line in json.loads(out)}
    for name in ("kubernetes", "kubernetes rights", "kubernetes network", "sandbox: helpers of the server (git)"):
        assert lines.get(name) == "ok", (name, out, errors)
    token = "/var/run/secrets/kubernetes.io/serviceaccount/token"
    asks = "import json, os, ssl, sys, urllib.request, urllib.error\n" \
           "context = ssl.create_default_context(cafile='/var/run/secrets/kubernetes.io/serviceaccount/ca.crt')\n" \
           f"request = lambda path: urllib.request.Request('https://{SERVICE}' + path, headers={{'authorization': 'Bearer ' + open('{token}').read()}})\n" \
           "for path in sys.argv[1:]:\n" \
           "    try: print(urllib.request.urlopen(request(path), context=context, timeout=20).status)\n" \
           "    except urllib.error.HTTPError as error: print(error.code)\n"
    allowed, *denied = [f"/api/v1/namespaces/{WORKERS}/pods", f"/api/v1/namespaces/{WORKERS}/secrets", f"/api/v1/namespaces/{NAMESPACE}/secrets/first",
                        f"/api/v1/namespaces/{NAMESPACE}/pods", "/api/v1/nodes", "/api/v1/namespaces"]
    status, out, errors = release.inside("python3", "-c", asks, allowed, *denied)
    assert status == 0 and out.split() == ["200"] + ["403"] * len(denied), (out, errors)


def check_worker(release):
    run = release.client("start", WORKER)
    ended = release.client("wait", run)
    said = "\n".join(ended["texts"])
    assert ended["state"] == "succeeded" and "worked" in said and "no data here" in said, ended


def check_removed(bench):
    """What the chart made is gone; the volume claim with the data stays."""
    for kind, path in {"pods": f"/api/v1/namespaces/{NAMESPACE}/pods", "statefulsets": f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets",
                       "services": f"/api/v1/namespaces/{NAMESPACE}/services",
                       "network policies": f"/apis/networking.k8s.io/v1/namespaces/{NAMESPACE}/networkpolicies"}.items():
        bench.wait_for(lambda: bench.must("get", path)["body"]["items"] == [], f"the {kind} are gone")
    accounts = {one["metadata"]["name"] for one in bench.must("get", f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts")["body"]["items"]}
    assert accounts == {"default"}, accounts
    bench.wait_for(lambda: bench.call("get", f"/api/v1/namespaces/{WORKERS}")[0] != 0, "the namespace of workers is gone")
    claims = [claim["metadata"]["name"] for claim in bench.must("get", f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims")["body"]["items"]]
    assert claims == ["data-hone-0"], claims


def run(bench):
    make_namespace(bench)
    with contextlib.ExitStack() as stack:
        chart = package(bench, pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="packages-", dir=bench.cluster.state))))
        stack.enter_context(service_address(bench))
        release = Release(bench, stack)
        started = time.monotonic()
        notes = release.helm("install", "hone", chart, "--wait", "--timeout", "5m", *release.set(image__tag=TAGS[0]))
        print(f"      helm install until the server is ready: {time.monotonic() - started:.1f} s")
        assert "the Secret first" in notes and f"namespace {WORKERS}" in notes, notes
        check_pod(release)
        with workers_are_closed(bench, release):
            assert release.client("span", "before the upgrade") == ["before the upgrade"]
            check_report(release)
            check_worker(release)
        before = release.pod()["metadata"]["uid"]
        release.helm("upgrade", "hone", chart, "--wait", "--timeout", "5m", *release.set(image__tag=TAGS[1]))
        assert release.pod()["metadata"]["uid"] != before and release.pod()["spec"]["containers"][0]["image"] == f"{REPOSITORY}:{TAGS[1]}"
        with workers_are_closed(bench, release):
            assert release.client("span", "after the upgrade") == ["after the upgrade", "before the upgrade"]
            check_worker(release)
        release.helm("uninstall", "hone", "--wait", "--timeout", "3m")
        check_removed(bench)
