"""Credentials for a Kubernetes cluster that are stored encrypted instead of in a file."""

import base64
import json
import pathlib
import subprocess
import tempfile

from repos import files_with
from runs import Shop
from server import Client

TOKEN = "canary-4f1d8c02b7a96e35"


def kubeconfig(folder, **user):
    certificate = folder / "ca.pem"
    if not certificate.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=ca", "-keyout", "/dev/null", "-out", str(certificate)], check=True, capture_output=True)
    authority = base64.b64encode(certificate.read_bytes()).decode()
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test", "users": [{"name": "a", "user": user or {"token": TOKEN}}],
        "clusters": [{"name": "test", "cluster": {"server": "https://127.0.0.1:1", "certificate-authority-data": authority}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "a", "namespace": "workers"}}]})


def is_available(shop):
    return {one["name"]: one["available"] for one in shop.client.must("GET", "/v1/providers").data}["kubernetes"]


def test_credentials_of_a_cluster_are_sealed_and_used_from_the_next_start_on(binary, stack):
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-kubeconfig-")))
    shop = Shop(binary, stack, "--kubernetes-kubeconfig", "sealed", "--kubernetes-image", "example/worker:1")
    path = "/v1/cluster/credential"
    assert shop.client.must("GET", path).data == {"stored": False, "server": "", "name_space": "", "context": "", "kind": "",
                                                  "set_at": None, "in_use": True}, shop.client.must("GET", path).data
    assert not is_available(shop)
    # What would read files of the server or run its programs is refused, and so is what is none.
    for user in ({"tokenFile": "/etc/passwd"}, {"exec": {"command": "id", "apiVersion": "client.authentication.k8s.io/v1"}},
                 {"client-certificate": "/etc/passwd", "client-key": "/etc/passwd"}):
        assert shop.client.call("PUT", path, {"kubeconfig": kubeconfig(folder, **user)}).status == 400, user
    assert shop.client.call("PUT", path, {"kubeconfig": "nothing"}).status == 400
    assert shop.client.call("PUT", path, {"kubeconfig": kubeconfig(folder), "context": "other"}).status == 400
    assert not shop.client.must("GET", path).data["stored"]
    made = shop.client.must("PUT", path, {"kubeconfig": kubeconfig(folder)}).data
    assert made["stored"] and made["server"] == "https://127.0.0.1:1" and made["kind"] == "token" and made["name_space"] == "workers", made
    shop.again()
    assert is_available(shop)
    shown = shop.client.must("GET", path).text + shop.client.must("GET", "/v1/audit?scope=installation&action=cluster_credential_update").text + shop.server.output()
    assert "cluster_credential_update" in shown
    assert TOKEN not in shown
    assert not files_with(shop.server.data_dir, TOKEN), "the token is readable in the data directory"
    shop.client.must("DELETE", path, status=204)
    assert shop.client.call("DELETE", path).status == 404
    shop.again()
    assert not is_available(shop)


def test_only_owners_of_the_installation_store_them(binary, stack):
    shop = Shop(binary, stack)
    key = shop.client.must("POST", "/v1/keys", {"name": "reader", "scopes": ["read"]}).data["key"]
    for method, body in (("GET", None), ("PUT", {"kubeconfig": "{}"}), ("DELETE", None)):
        answer = Client(shop.server.url, key).call(method, "/v1/cluster/credential", body)
        assert answer.status == 403, (method, answer.text)
