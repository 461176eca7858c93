"""The package registries that this machine's own clients use, as flags of a server. No address is written down here."""

import ipaddress
import os
import re
import socket
import subprocess
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


def is_public(host):
    return all(ipaddress.ip_address(found[4][0]).is_global for found in socket.getaddrinfo(host, None))


def flags(**kinds):
    """Flags for `hone serve`: flags(npm=npm(), pypi=pypi())."""
    found, private = [], set()
    for kind, addresses in kinds.items():
        found += [f"--packages-{kind}", ",".join(addresses)]
        for address in addresses:
            parts = urllib.parse.urlsplit(address)
            if not is_public(parts.hostname):
                private.add(f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}")
    return found + (["--egress-private-hosts", ",".join(sorted(private))] if private else [])
