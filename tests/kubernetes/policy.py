"""A stand-in for what enforces NetworkPolicies: the cluster of the tests has no such thing. While the namespace has a policy
that denies everything, nothing from pods passes. It proves what Hone does, and nothing about a product's enforcement."""

import json
import threading

NAME = "workers-deny-all"
RULES = (("INPUT", "-i", "cni0", "-j", "DROP"), ("FORWARD", "-i", "cni0", "-j", "DROP"))
PATH = "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies"


class Enforcer:
    def __init__(self, bench, namespace, late=0.0):
        self.bench, self.path, self.late = bench, PATH.format(namespace), late
        self.is_closed = False
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.set(False)

    def follow(self):
        while not self.ended.wait(0.5):
            status, out, _ = self.bench.call("get", self.path)
            if status != 0:
                continue  # the API does not respond: what is enforced stays
            items = json.loads(out)["body"]["items"]
            wanted = any(item["spec"].get("policyTypes") == ["Ingress", "Egress"] for item in items)
            if wanted and not self.is_closed and self.ended.wait(self.late):
                return
            self.set(wanted)

    def set(self, closed):
        if closed == self.is_closed:
            return
        for rule in RULES:
            done = self.bench.cluster.iptables("-I" if closed else "-D", *rule)
            assert done.returncode == 0, done.stderr
        self.is_closed = closed


def create(bench, namespace):
    made = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": NAME},
            "spec": {"podSelector": {"matchLabels": {"hone/role": "worker"}}, "policyTypes": ["Ingress", "Egress"]}}
    bench.must("post", PATH.format(namespace), given=json.dumps(made).encode())


def delete(bench, namespace):
    bench.must("remove", PATH.format(namespace) + "/" + NAME)
