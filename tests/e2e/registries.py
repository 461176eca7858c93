"""The package registries that this machine's own clients use, as flags of a server. No address is written down here."""

import http.server
import ipaddress
import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request

from server import needs


def configured(*command):
    """What a client says about its configuration; empty: it says nothing."""
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"NO_UPDATE_NOTIFIER": "1"})
    said = done.stdout.strip()
    return said if done.returncode == 0 and said.startswith("http") else ""


def answers(url):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": "*/*"}), timeout=30) as response:
            return response.read(1 << 22).decode(errors="replace")
    except OSError:
        return None


def npm():
    registry = configured("npm", "config", "get", "registry")
    needs("a registry of npm packages (npm config get registry)", registry and answers(registry + "ms") is not None)
    return [registry]


def pypi():
    """The index, and the hosts that its files are on."""
    index = configured("/usr/bin/python3", "-m", "pip", "config", "get", "global.index-url")
    index = index or os.environ.get("PIP_INDEX_URL") or pip_default()
    page = answers(index.rstrip("/") + "/six/")
    needs(f"an index of Python packages ({index})", page)
    hosts = {urllib.parse.urljoin(link, "/") for link in re.findall(r'href="(https?://[^"#]+)', page)}
    return [index, *sorted(hosts - {urllib.parse.urljoin(index, "/")})]


def pip_default():
    """The index that pip uses when nothing is configured, as pip itself has it."""
    done = subprocess.run(["/usr/bin/python3", "-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"],
                          capture_output=True, text=True)
    return done.stdout.strip() + "/"


def is_public(address):
    host = urllib.parse.urlsplit(address).hostname
    return all(ipaddress.ip_address(found[4][0]).is_global for found in socket.getaddrinfo(host, None))


class Mirror(http.server.BaseHTTPRequestHandler):
    """A mirror of an installation's own: what clients request comes from this machine's registries, which may be at addresses
    that the broker never opens. Links to them lead back here, as those of every mirror do."""

    upstreams, own = {}, ""  # path here: address there

    def do_GET(self):  # noqa: N802
        prefix = next((one for one in self.upstreams if self.path.startswith(one)), None)
        if prefix is None:
            return self.send_error(404)
        address = self.upstreams[prefix] + self.path.removeprefix(prefix)
        accept = {"Accept": self.headers.get("Accept", "*/*"), "Accept-Encoding": "identity"}
        try:
            with urllib.request.urlopen(urllib.request.Request(address, headers=accept), timeout=60) as answer:
                status, kind, body = answer.status, answer.headers.get("Content-Type", ""), answer.read()
        except urllib.error.HTTPError as error:
            status, kind, body = error.code, "text/plain", error.read()
        if "json" in kind or "html" in kind:
            for path, upstream in self.upstreams.items():
                body = body.replace(upstream.encode(), (self.own + path).encode())
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_mirror(stack, kinds):
    """Serves the registries under this machine's name, with a certificate of its own. Gives the addresses and the certificate."""
    name = socket.gethostname().lower()
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-mirror-")))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=mirror", "-addext", f"subjectAltName=DNS:{name}", "-keyout", str(folder / "key"),
                    "-out", str(folder / "certificate")], check=True, capture_output=True)
    upstreams = {f"/{kind}/{number}/": address.rstrip("/") + "/" for kind, addresses in kinds.items()
                 for number, address in enumerate(addresses)}
    handler = type("OwnMirror", (Mirror,), {"upstreams": upstreams})
    server = http.server.ThreadingHTTPServer((socket.gethostbyname(name), 0), handler)
    handler.own = f"https://{name}:{server.server_port}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)  # in the connection's own thread
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stack.callback(thread.join)
    stack.callback(server.shutdown)
    mirrors = {kind: [f"{handler.own}/{kind}/{number}/" for number in range(len(addresses))] for kind, addresses in kinds.items()}
    return mirrors, f"{name}:{server.server_port}", (folder / "certificate").read_text()


def flags(stack, kinds, certificate):
    """Flags for `hone serve`, as flags(stack, {"npm": npm()}, PATH); the file at PATH gets further authorities."""
    private = []
    if not all(is_public(address) for addresses in kinds.values() for address in addresses):
        kinds, place, text = start_mirror(stack, kinds)
        certificate.write_text(certificate.read_text() + text)
        private = ["--egress-private-hosts", place]
    return [part for kind, addresses in kinds.items() for part in (f"--packages-{kind}", ",".join(addresses))] + private
