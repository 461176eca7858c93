"""The requests that the built-in instructions of skills show to workers, run as they are written, through the broker."""

import http.server
import json
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading

from runs import Shop, shell
from server import run

TOKEN = "canary-91d3c7e0-token"


class Site(http.server.BaseHTTPRequestHandler):
    """An environment of a monitoring service: notes who asks for what."""

    asked = []

    def do_GET(self):  # noqa: N802
        self.asked.append((self.path, self.headers.get("Authorization")))
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_site(stack):
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-site-")))
    certificate, key = folder / "site.pem", folder / "site.key"
    name = socket.gethostname().lower()  # clients in a sandbox reach localhost without the broker
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=site", "-addext", f"subjectAltName=DNS:{name}", "-keyout", str(key), "-out", str(certificate)],
                   check=True, capture_output=True)
    handler = type("OwnSite", (Site,), {"asked": []})
    server = http.server.ThreadingHTTPServer((socket.gethostbyname(name), 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stack.callback(thread.join)
    stack.callback(server.shutdown)
    return handler.asked, f"{name}:{server.server_port}", certificate


def examples(name, change=""):
    """Runs the indented lines of the instructions as a script; each must succeed."""
    return f"sed -n 's/^    //p' /hone/skills/{name}/SKILL.md {change} > /tmp/{name}.sh && sh -ex /tmp/{name}.sh 2>&1 && echo '{name} done'\n"


def test_the_requests_in_the_instructions_of_built_in_skills_work_as_they_are_written(binary, stack):
    asked, place, certificate = start_site(stack)
    shop = Shop(binary, stack, "--egress-ca-file", str(certificate), "--egress-private-hosts", place)
    client = shop.client
    own_key = client.must("POST", "/v1/keys", {"name": "reader", "scopes": ["read"]}).data["key"]
    create = lambda body: client.must("POST", "/v1/skills", body).data["id"]
    dynatrace = create({"name": "watch", "type": "dynatrace", "variables": {"DT_ENVIRONMENT_URL": f"https://{place}"},
                        "secrets": {"DT_API_TOKEN": TOKEN}})
    hone = create({"name": "own", "type": "hone", "secrets": {"HONE_API_KEY": own_key}})
    datadog = create({"name": "dog", "type": "datadog", "secrets": {"DD_API_KEY": TOKEN, "DD_APP_KEY": TOKEN}})
    script = examples("hone-dynatrace") + examples("hone-api", "| sed s/NAME/shop/") + "cat /hone/skills/hone-datadog/SKILL.md"
    id = shop.start(*shell(script), skills=[dynatrace, hone, datadog])["id"]
    assert shop.until(id)["state"] == "succeeded", shop.texts(id)
    said = "\n".join(shop.texts(id, "message"))
    assert "hone-dynatrace done" in said and "hone-api done" in said, said
    assert TOKEN not in said and own_key not in said, "the worker has a placeholder"
    # The service gets the token, in the form that it wants.
    assert [path.split("?")[0] for path, _ in asked] == ["/api/v2/metrics/query", "/api/v2/problems", "/api/v2/logs/search"], asked
    assert all(header == f"Api-Token {TOKEN}" for _, header in asked), asked
    assert '"name":"shop"' in said and '"error"' not in said, said
    # Datadog has no server here: the broker says what it would do with each request of the instructions.
    cli_key = client.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    environment = {"HONE_URL": shop.server.url, "HONE_API_KEY": cli_key}
    for method, path in (("GET", "/api/v1/query"), ("POST", "/api/v2/logs/events/search")):
        assert f"https://api.$DD_SITE{path}" in said, said
        told = run(binary, "broker", "explain", f"https://api.datadoghq.com{path}", "--method", method, "--skill", datadog, "--json",
                   environment=environment)
        assert told.returncode == 0, told.stderr
        verdict = json.loads(told.stdout)
        assert verdict["allowed"] and len(verdict["secrets"]) == 2, verdict
