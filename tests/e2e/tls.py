"""TLS: on with two settings, reloaded by SIGHUP, the old certificate kept when the new one is broken; cookies that only this host can set."""

import shutil
import signal
import socket
import ssl
import subprocess
import urllib.parse

from openid import BadProvider, Browser, attack, free_port
from server import Client, Server, trusting, wait_until


def make_certificate(folder, name):
    folder.mkdir(exist_ok=True)
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        + ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    return certificate, key


def common_name(server):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = server.url.split("//")[1].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as plain:
        with context.wrap_socket(plain) as connection:
            der = connection.getpeercert(binary_form=True)
            assert connection.version() in ("TLSv1.2", "TLSv1.3")
    shown = subprocess.run(
        ["openssl", "x509", "-inform", "DER", "-noout", "-subject"], input=der, capture_output=True, check=True
    )
    return shown.stdout.decode().strip().rsplit("=", 1)[1].strip()


def test_tls_serves_reloads_and_keeps_the_old_certificate_when_the_new_one_is_broken(binary, stack):
    server = Server(binary)
    folder = server.data_dir.parent / "tls"
    first, second = make_certificate(folder, "first"), make_certificate(folder, "second")
    certificate, key = folder / "live.pem", folder / "live.key"
    shutil.copy(first[0], certificate)
    shutil.copy(first[1], key)
    server.flags += ["--tls-certificate-file", str(certificate), "--tls-key-file", str(key)]
    stack.enter_context(server)
    assert server.url.startswith("https://")
    client = Client(server.url, tls=trusting(first[0]))
    login = client.post("/v1/login", {"email": "admin@localhost", "password": "correct horse battery"})
    assert login.status == 200 and "; Secure" in login.headers["set-cookie"], login.headers
    assert client.must("POST", "/v1/projects", {"name": "over TLS"})
    assert common_name(server) == "first"

    # A connection that is open stays on while the certificate changes.
    open_one = client.connection()
    open_one.request("GET", "/healthz")
    assert open_one.getresponse().read() == b"ok\n"
    shutil.copy(second[0], certificate)
    shutil.copy(second[1], key)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: common_name(server) == "second", "the new certificate is served")
    open_one.request("GET", "/healthz")
    assert open_one.getresponse().read() == b"ok\n"
    assert Client(server.url, tls=trusting(second[0])).get("/healthz").status == 200

    certificate.write_text("-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n")
    before = server.output().count("certificate read again")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: server.output().count("certificate read again") > before, "the reload is logged")
    assert common_name(server) == "second"
    assert server.stop() == 0


def test_a_certificate_that_does_not_fit_its_key_is_refused_at_start(binary, stack):
    server = Server(binary)
    folder = server.data_dir.parent / "tls"
    first, second = make_certificate(folder, "first"), make_certificate(folder, "second")
    server.flags += ["--tls-certificate-file", str(first[0]), "--tls-key-file", str(second[1])]
    stack.enter_context(server.spawn())
    assert server.process.wait(60) == 2
    assert "error:" in server.output(), server.output()


def test_plain_http_and_old_tls_get_nowhere_on_a_tls_port(binary, stack):
    server = Server(binary)
    certificate, key = make_certificate(server.data_dir.parent / "tls", "only")
    server.flags += ["--tls-certificate-file", str(certificate), "--tls-key-file", str(key)]
    stack.enter_context(server)
    host, port = server.url.split("//")[1].rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: hone\r\n\r\n")
        try:
            said = plain.recv(100)
        except ConnectionResetError:
            said = b""
        assert not said.startswith(b"HTTP/"), said
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with socket.create_connection((host, int(port)), timeout=30) as plain:
        try:
            old.wrap_socket(plain).close()
            raise AssertionError("TLS 1.1 was accepted")
        except (ssl.SSLError, ConnectionResetError):
            pass
    assert Client(server.url, tls=trusting(certificate)).get("/healthz").status == 200


def test_cookies_that_a_sibling_subdomain_planted_are_not_read(binary, stack):
    """Such a page can set a cookie for all hosts of the domain, but none whose name begins with __Host-."""
    address = f"127.0.0.1:{free_port()}"
    server = Server(binary, None, "--listen", address, "--public-url", f"https://{address}", "--sign-on-private-addresses", "true")
    certificate, key = make_certificate(server.data_dir.parent / "tls", "only")
    server.flags += ["--tls-certificate-file", str(certificate), "--tls-key-file", str(key)]
    stack.enter_context(server)
    client, guest = (Client(server.url, tls=trusting(certificate)) for _ in range(2))
    login = client.post("/v1/login", {"email": "admin@localhost", "password": "correct horse battery"})
    cookie = login.headers["set-cookie"]
    assert cookie.startswith("__Host-hone_session=") and "; Path=/; " in cookie and "; Secure" in cookie and "Domain" not in cookie, cookie
    assert client.get("/v1/me").status == 200
    assert guest.call("GET", "/v1/me", headers={"Cookie": f"hone_session={client.cookie}"}).status == 401
    both = guest.call("GET", "/v1/me", headers={"Cookie": f"hone_session={'A' * 43}; __Host-hone_session={client.cookie}"})
    assert both.status == 200, both.text
    # A sign-in of the attacker's, whose cookie is planted in the victim's browser, does not end as the victim's.
    provider = BadProvider(stack)
    client.must("POST", "/v1/identity_providers", {"name": "company", "issuer": provider.issuer, "client_id": "hone", "client_secret": provider.secret})
    start = guest.get("/v1/login/company/start")
    cookie = start.headers["set-cookie"]
    assert start.status == 302 and cookie.startswith("__Host-hone_sign_on=") and "; Path=/; " in cookie and "; Secure" in cookie, cookie
    back = urllib.parse.urlsplit(Browser().get(start.headers["location"]).location)
    named = cookie.split(";")[0]
    planted = guest.call("GET", f"{back.path}?{back.query}", headers={"Cookie": named.removeprefix("__Host-")})
    assert planted.status == 400 and "began in another browser" in planted.text, planted.text
    attack("login CSRF: cookies planted by a sibling subdomain", "not read: over TLS only names with __Host- count")
    connection = guest.connection()
    connection.request("GET", f"{back.path}?{back.query}", headers={"Cookie": named})
    done = connection.getresponse()
    cookies = [value for header, value in done.getheaders() if header.lower() == "set-cookie"]
    assert done.status == 200 and any(value.startswith("__Host-hone_session=") for value in cookies), cookies
