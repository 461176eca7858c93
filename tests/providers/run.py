#!/usr/bin/env python3
"""The cases of providers: for sandboxes of this machine, and for pods, there also with sessions of a server. Pods are real processes with `hone-pod`, the API server of
their cluster is a stand-in (tests/kubernetes_fake): nothing has to be built. `./dev test kubernetes` runs the same in a real one.

tests/providers/run.py [--conformance build/release/tests/provider_conformance] [--only kubernetes]
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "kubernetes"))

sys.path.insert(1, str(here.parent / "e2e"))

import driving  # noqa: E402
import ends  # noqa: E402
import escape  # noqa: E402
import faults  # noqa: E402
import images  # noqa: E402
import layers  # noqa: E402
import ready  # noqa: E402
import serve  # noqa: E402
from configuration import Certificates  # noqa: E402

PROGRAMS = ("bash cat chmod cp dash env git grep head id kill ln ls mkdir mkfifo readlink rm sed seq sha256sum sleep sort stat timeout touch tr true "
            "unshare wc wget xargs").split()


def make_image(folder, pod_program):
    """The root of a worker's image, from programs of this machine."""
    (folder / "usr/bin").mkdir(parents=True)
    (folder / "bin").symlink_to("usr/bin")
    for name in PROGRAMS:
        images.add_program(folder, "/usr/bin/" + name)
    (folder / "usr/bin/sh").symlink_to("dash")
    (folder / "hone-tools").mkdir()
    for name in ("git", "git-remote-http"):
        images.add_program(folder, "/usr/lib/git-core/" + name)
    images.add_python(folder)
    (folder / "hone-tools/hone-pod").write_bytes(pod_program.read_bytes())
    (folder / "hone-tools/hone-pod").chmod(0o755)
    return folder


class StandIn:
    """A cluster whose pods are processes of this machine."""

    limits_memory = False

    def __init__(self, stack, built):
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-pods-")))
        self.folder.chmod(0o755)  # users of pods pass through it
        image = make_image(self.folder / "image", built / "hone-pod")
        certificates = Certificates(self.folder / "pki")
        certificates.issue("apiserver", "/CN=kube-apiserver", "IP:127.0.0.1")
        (self.folder / "pods").mkdir()
        self.process = subprocess.Popen(
            [sys.executable, str(here.parent / "kubernetes_fake/fake_api.py"), certificates.path("apiserver", "crt"),
             certificates.path("apiserver", "key"), "token", certificates.path("ca", "crt"), str(image),
             str(self.folder / "pods")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.stdin.close)
        self.state, self.driver, self.hone, self.escape = self.folder, built / "tests/provider_driver", built / "hone", {}
        self.port = int(self.process.stdout.readline())
        self.server, self.context = f"https://127.0.0.1:{self.port}", ssl.create_default_context(cafile=certificates.path("ca", "crt"))
        self.kubeconfig = self.folder / "hone.conf"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "test", "users": [{"name": "a", "user": {"token": "token"}}],
            "clusters": [{"name": "test", "cluster": {"server": self.server,
                                                      "certificate-authority": certificates.path("ca", "crt")}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "a", "namespace": "workers"}}]}))

    # What the cases of tests/kubernetes use of a real cluster.
    @property
    def cluster(self):
        return self

    def command(self, *words):
        return words

    def wait_for(self, condition, what):
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, what
            time.sleep(0.1)  # of the processes of others: there is nothing to wait on

    def control(self, **what):
        return json.load(urllib.request.urlopen(self.server + "/control", json.dumps(what).encode(), context=self.context))

    # Of the attacks.
    def places_of_workspace(self, sandbox):
        return [str(self.folder / "pods" / ends.pod_of(sandbox) / "volumes/workspace/canary")]

    def targets(self, _sandbox, port):
        """Ports, each with addresses: the API, and this machine, which is their node. Pods have no address here."""
        node = [word for word in subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split() if ":" not in word]
        return [(self.port, "127.0.0.1", *node), (10250, *node), (443, "10.96.0.1"), (port, *node)]


def the_channel_is_cut_again_and_again(cluster, _):
    with driving.pods(cluster, "workers", "worker:1") as driver:
        sandbox = driver.start()
        output = driver.send("run", sandbox=sandbox, command={"argv": ["/bin/sh", "-c", faults.COUNT]})
        while not output.done():
            cluster.control(do="cut_exec")
            time.sleep(0.5)  # between cuts: it must have come back by itself
        assert driving.result_of(output)["out"] == faults.COUNTED
        driver.call("destroy", sandbox=sandbox)


def attacks_from_inside_get_nothing(cluster, _):
    escape.run(cluster, "workers")


def a_run_gets_a_pod_that_was_prepared(cluster, _):
    ready.a_run_gets_a_pod_that_was_prepared(cluster, "workers", "worker:1", lambda: len(cluster.control(do="state")["pods"]))


def passes(case, cluster):
    began = time.monotonic()
    try:
        case(cluster, None)
        failed = False
    except Exception:
        failed = True
        traceback.print_exc(file=sys.stdout)
    print(f"{'FAIL' if failed else 'ok  '}  {time.monotonic() - began:5.1f} s  {case.__name__.replace('_', ' ')}", flush=True)
    return not failed


COLUMNS = ("local", "local, gvisor", "kubernetes", "kubernetes, gvisor")


def write_matrix(document, cases):
    """Replaces the table between its marks."""
    text = document.read_text()
    start, end = text.index("<!-- matrix -->"), text.index("<!-- end of matrix -->")
    rows = ["| " + " | ".join([name, *(cases[column].get(name, "only in pods") for column in COLUMNS)]) + " |\n" for name in cases["kubernetes"]]
    head = "| case | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 1) + "\n"
    document.write_text(text[:start] + "<!-- matrix -->\n" + head + "".join(rows) + text[end:])


def cases_of(program, name, *words):
    provider = name.partition(",")[0]
    with tempfile.TemporaryDirectory(prefix="hone-conformance-") as folder:
        done = subprocess.run([program, provider, folder, *words], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        print(f"{'ok  ' if line['ok'] else 'FAIL'}  {name}: {line['case']}" + (f": {line['why']}" if line["why"] else ""), flush=True)
    if done.returncode != 0:
        print(done.stderr[-4000:])
    return {line["case"]: ("no: " + line["declared"] if line["declared"] else "yes") if line["ok"] else "**no**" for line in lines} | ({} if done.returncode in (0, 1) else {"ended": "**no**"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conformance", default=here.parent.parent / "build/release/tests/provider_conformance")
    parser.add_argument("--only", choices=("local", "kubernetes"))
    parser.add_argument("--case", default="", help="only those cases of pods whose name has this text")
    parser.add_argument("--write-matrix", action="store_true", help="print the cases into docs/providers.md")
    options = parser.parse_args()
    program = pathlib.Path(options.conformance).absolute()
    built, cases, results, skipped = program.parent.parent, {}, [], 0
    if options.only != "kubernetes" and not options.case:
        cases["local"] = cases_of(program, "local", built / "hone")
    has_gvisor = os.geteuid() == 0 and shutil.which("runsc")
    if not has_gvisor:
        print("skipped  tier gvisor: it needs root and runsc")
        skipped += 1
    elif options.only != "kubernetes" and not options.case:
        cases["local, gvisor"] = cases_of(program, "local, gvisor", built / "hone", "gvisor")
    if options.only != "local" and os.geteuid() != 0:
        print("skipped  pods: they need root")
        skipped += 1
    elif options.only != "local":
        with contextlib.ExitStack() as stack:
            cluster = StandIn(stack, built)
            cluster_words = (cluster.kubeconfig, "workers", "worker:1")
            if not options.case:
                cases["kubernetes"] = cases_of(program, "kubernetes", *cluster_words)
            if has_gvisor and not options.case:
                cases["kubernetes, gvisor"] = cases_of(program, "kubernetes, gvisor", *cluster_words, "gvisor")
            for case in (the_channel_is_cut_again_and_again, faults.the_volume_of_a_thread_outlives_its_pods,
                         attacks_from_inside_get_nothing, a_run_gets_a_pod_that_was_prepared, *ends.CASES, *layers.CASES):
                if options.case in case.__name__:
                    results.append(passes(case, cluster))
            results += [] if options.case else serve.run_tests(built / "hone", (cluster.kubeconfig, "workers", "worker:1", "default"),
                                       lambda pods: cluster.control(do="quota", pods=pods)).values()
    results += [result != "**no**" for provider in cases.values() for result in provider.values()]
    if options.write_matrix and len(cases) == len(COLUMNS):
        write_matrix(here.parent.parent / "docs/providers.md", cases)
    print(f"{results.count(True)} passed, {results.count(False)} failed, {skipped} skipped")
    return 1 if False in results else 0


if __name__ == "__main__":
    sys.exit(main())
