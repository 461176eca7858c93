"""A thousand pods. Their nodes are kwok's: they do not exist, and report that every pod runs. So nothing here has a channel; what is
shown is the server's watch, its lists, its bookkeeping, what it deletes, and how many requests all that takes. The requests are
those that the API server has recorded."""

import contextlib
import datetime
import json
import os
import signal
import subprocess

import cluster as clusters
import configuration
import driving
import programs

NODES, OWN, FOREIGN, CHANGED, LEFTOVERS = 5, 1000, 500, 50, 400
HOURS, SHORT = 3_600_000, 1000  # wall clocks; kwok ends a pod with the short one
PAGE, PER_SECOND, BURST = 500, 20, 50  # of src/kubernetes/api
MOST_MEMORY = 200 << 20  # of a provider that has read a list of all pods
OURS, OTHERS = "own-installation", "other-installation"


class Follow:
    """kubernetes_client follow: a watch of one installation's pods, which can make and delete them."""

    def __init__(self, bench, namespace, account, installation):
        label, = configuration.FAKE_LABEL.items()
        words = bench.cluster.command(bench.client, bench.cluster.state / f"{account}.conf", "follow", namespace, installation,
                                      clusters.WORKER_IMAGE, *label)
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)  # of a case that failed
        self.process.kill()
        self.process.wait()

    def send(self, do, **fields):
        self.process.stdin.write(json.dumps({"do": do, **fields}) + "\n")
        self.process.stdin.flush()

    def receive(self):
        reply = json.loads(self.process.stdout.readline() or '{"ok": false, "why": "the program ended"}')
        assert reply["ok"], reply
        return reply

    def call(self, do, **fields):
        self.send(do, **fields)
        return self.receive()


class Requests:
    """What the account `hone` requests from here on."""

    def __init__(self, bench):
        self.log = bench.cluster.state / "audit.log"
        self.begin = self.log.stat().st_size if self.log.exists() else 0

    def seen(self):
        """Each once: a watch is recorded when it begins and when it ends."""
        found = {}
        with contextlib.suppress(FileNotFoundError), self.log.open() as log:  # made with its first line
            log.seek(self.begin)
            for line in log:
                if line.endswith("\n"):
                    event = json.loads(line)
                    found[event["auditID"]] = event
        return sorted(found.values(), key=lambda event: event["requestReceivedTimestamp"])

    def counts(self):
        """By what is done to pods; other requests by their path."""
        counted = {}
        for event in self.seen():
            name = event["verb"] if event.get("objectRef", {}).get("resource") == "pods" else event["requestURI"]
            counted[name] = counted.get(name, 0) + 1
        return counted

    def require(self, lists, **others):
        """So many lists of all own pods, each in as many pages as it needs, and nothing else but `others`."""
        counts = self.counts()
        pages = counts.pop("list", 0)
        # either: a server that does not know that nothing follows the last full page has one more, an empty one
        assert OWN // PAGE * lists <= pages <= (OWN // PAGE + 1) * lists, (pages, counts)
        assert counts == others, counts

    def require_rate(self):
        """A bucket as large as the client's own, with a little for the way between the two."""
        tokens, last = BURST + 5, None
        for event in self.seen():
            at = datetime.datetime.fromisoformat(event["requestReceivedTimestamp"].replace("Z", "+00:00")).timestamp()
            tokens = min(BURST + 5, tokens + (at - (last or at)) * PER_SECOND) - 1
            last = at
            assert tokens >= 0, f"more requests than {PER_SECOND} a second: {event['requestURI']}"


@contextlib.contextmanager
def nodes_that_do_not_exist(bench):
    programs.kwok()
    names = [f"fake-{number}" for number in range(NODES)]
    for name in names:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": configuration.FAKE_LABEL}}
        bench.must("post", "/api/v1/nodes", given=json.dumps(node).encode())
    bench.cluster.tell("start", "kwok")

    def are_ready():
        nodes = [bench.must("get", f"/api/v1/nodes/{name}")["body"] for name in names]
        return all(not node["spec"].get("taints") and node["status"].get("allocatable") for node in nodes)
    try:
        try:
            bench.wait_for(are_ready, "the nodes are ready")
        except AssertionError:
            print((bench.cluster.state / "kwok.log").read_text()[-4000:])
            raise
        yield
    finally:
        for name in names:
            bench.call("remove", f"/api/v1/nodes/{name}")
        bench.cluster.tell("kill", "kwok")


def restart_api_server(bench, namespace):
    bench.cluster.tell("kill", "kube-apiserver")
    bench.cluster.tell("start", "kube-apiserver")
    words = (bench.client, bench.cluster.state / "hone.conf", "get", f"/api/v1/namespaces/{namespace}/pods?limit=1")
    bench.wait_for(lambda: bench.cluster.run(*words).returncode == 0, "the API, and the rights of the account")


def megabytes(number):
    return f"{number / 1e6:.0f} MB"


def pods_are_made_and_seen(bench, follow, others):
    requests = Requests(bench)
    before = follow.call("report")["memory_bytes"]
    others.send("create", count=FOREIGN, wall_clock_ms=HOURS)  # of another installation, at the same time
    made = follow.call("create", count=OWN, wall_clock_ms=HOURS)
    others.receive()
    report = follow.call("report", names=made["names"])
    print(f"      {OWN} pods made in {made['took_ms'] / 1000:.1f} s, seen to run after {made['to_ready']}; memory of their watch "
          f"{megabytes(before)}, then {megabytes(report['memory_bytes'])}")
    assert made["differences"] == 0 and made["to_ready"]["count"] == OWN, made
    assert report["existing"] == OWN and report["gone"] == 0, report
    requests.require(lists=0, create=OWN)  # no request for what the watch reports
    requests.require_rate()
    return made["names"]


def a_server_that_starts_again_reads_one_list(bench, namespace):
    requests = Requests(bench)
    with driving.pods(bench, namespace, clusters.WORKER_IMAGE, files={"kubernetes/installation": OURS}) as driver:
        bench.wait_for(lambda: requests.counts().get("watch"), "it watches")
        memory = [driver.call("memory")["bytes"]]
        requests.require(lists=1, watch=1)
        listed, list_ms = bench.timed(lambda: driver.call("list")["sandboxes"])
        memory.append(driver.call("memory")["bytes"])
        reconciled, reconcile_ms = bench.timed(lambda: driver.call("reconcile")["removed"])
        memory.append(driver.call("memory")["bytes"])
        print(f"      with {OWN} pods of its own and {FOREIGN} of others: list {list_ms:.0f} ms, reconcile {reconcile_ms:.0f} ms; "
              f"memory with the watch, after the list, after reconcile: {', '.join(map(megabytes, memory))}")
        assert len(set(listed)) == OWN, len(listed)
        assert reconciled == 0, "pods that work were removed"
        requests.require(lists=3, watch=1)
        assert max(memory) < MOST_MEMORY, memory
        driver.call("close")


def what_a_watch_missed_is_found_by_a_list(bench, namespace, follow, names):
    """The follower stands still while pods come and go and the API server starts again twice: its version is too old then."""
    with Follow(bench, namespace, "admin", OURS) as other:
        bench.wait_for(lambda: other.call("report", names=names)["existing"] == OWN, "another watch sees all pods")
        follow.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, follow.process.pid, os.WSTOPPED | os.WNOWAIT)
        restart_api_server(bench, namespace)
        missed, kept = names[:CHANGED], names[CHANGED:]
        other.call("delete", names=missed)
        new = other.call("create", count=CHANGED, wall_clock_ms=HOURS)["names"]
        restart_api_server(bench, namespace)
        requests = Requests(bench)
        follow.process.send_signal(signal.SIGCONT)
        bench.wait_for(lambda: follow.call("report", names=new)["existing"] == CHANGED, "the new pods are found")
        report = follow.call("report", names=[*kept, *new])
    assert report["gone"] == CHANGED and report["repeated"] == 0, report
    assert report["existing"] == OWN, report
    requests.require(lists=1, watch=2)  # from the old version, and from the list's
    return [*kept, *new]


def pods_are_deleted_and_reported(bench, follow, names):
    requests = Requests(bench)
    gone = follow.call("delete", names=names)
    report = follow.call("report", names=names)
    print(f"      {len(names)} pods deleted in {gone['took_ms'] / 1000:.1f} s, each reported after {gone['to_gone']}; memory of their "
          f"watch then {megabytes(report['memory_bytes'])}")
    assert gone["to_gone"]["count"] == len(names), gone
    assert report["gone"] == len(names) + CHANGED and report["repeated"] == 0 and report["existing"] == 0, report
    requests.require(lists=0, delete=len(names))
    requests.require_rate()


def leftovers_take_one_request_each(bench, namespace):
    with Follow(bench, namespace, "admin", OURS) as other:
        other.call("create", count=LEFTOVERS, wall_clock_ms=SHORT)
        working = other.call("create", count=CHANGED, wall_clock_ms=HOURS)["names"]
        pods = f"/api/v1/namespaces/{namespace}/pods"

        def have_ended():
            found = bench.must("get", f"{pods}?labelSelector=hone/installation%3D{OURS}")["body"]["items"]
            return sum(pod["status"].get("phase") == "Failed" for pod in found) == LEFTOVERS
        bench.wait_for(have_ended, "they have ended")
        requests = Requests(bench)
        with driving.pods(bench, namespace, clusters.WORKER_IMAGE, files={"kubernetes/installation": OURS}) as driver:
            bench.wait_for(lambda: requests.counts().get("watch"), "it watches")
            removed, took = bench.timed(lambda: driver.call("reconcile")["removed"])
            print(f"      {LEFTOVERS} leftovers removed in {took / 1000:.1f} s")
            assert removed == LEFTOVERS, removed
            counts = requests.counts()
            assert counts == {"delete": LEFTOVERS, "list": 2, "watch": 1}, counts  # lists of the watch and of reconcile: one page each
            requests.require_rate()
            bench.wait_for(lambda: len(driver.call("list")["sandboxes"]) == CHANGED, "those that work stay")
            assert driver.call("reconcile")["removed"] == 0
            driver.call("close")
        assert other.call("report", names=working)["existing"] == CHANGED


def run(bench, namespace):
    with nodes_that_do_not_exist(bench):
        with Follow(bench, namespace, "hone", OURS) as follow, Follow(bench, namespace, "admin", OTHERS) as others:
            requests = Requests(bench)
            bench.wait_for(lambda: requests.counts().get("watch"), "it watches")
            names = pods_are_made_and_seen(bench, follow, others)
            a_server_that_starts_again_reads_one_list(bench, namespace)
            names = what_a_watch_missed_is_found_by_a_list(bench, namespace, follow, names)
            pods_are_deleted_and_reported(bench, follow, names)
        leftovers_take_one_request_each(bench, namespace)
        pods = f"/api/v1/namespaces/{namespace}/pods"
        bench.must("remove", pods)  # all that are left
        bench.wait_for(lambda: bench.must("get", pods)["body"]["items"] == [], "no pod is left")
