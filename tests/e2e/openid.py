"""An OpenID provider that can do everything wrong, and a browser without a screen. Used by identity.py and sign_on_attacks.py.

The provider speaks the protocol by itself, so that it can also send what a good one never would: other algorithms, other
claims, keys that were revoked, responses that are too large or too slow. Signatures are made by the program `openssl`.
"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import secrets
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=b""):
    return subprocess.run(["openssl", *map(str, arguments)], input=data, capture_output=True, check=True).stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Key:
    """A key pair in a folder, its public half as a JWK, and signatures with it."""

    def __init__(self, folder, kid, kind="RSA"):
        self.kid, self.kind, self.file = kid, kind, pathlib.Path(folder) / f"{kid}.pem"
        algorithm = {"RSA": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "OKP": ["ED25519"],
                     "EC": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]}[kind]
        openssl("genpkey", "-algorithm", *algorithm, "-out", self.file)
        self.public_pem = openssl("pkey", "-in", self.file, "-pubout")
        self.der = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")

    def jwk(self, **more):
        if self.kind == "RSA":
            modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().split("=")[1]
            made = {"kty": "RSA", "n": b64(bytes.fromhex(modulus)), "e": "AQAB"}
        elif self.kind == "EC":
            point = self.der[-64:]
            made = {"kty": "EC", "crv": "P-256", "x": b64(point[:32]), "y": b64(point[32:])}
        else:
            made = {"kty": "OKP", "crv": "Ed25519", "x": b64(self.der[-32:])}
        return made | {"kid": self.kid, "use": "sig"} | more

    def sign(self, algorithm, data):
        if algorithm == "RS256":
            return openssl("dgst", "-sha256", "-sign", self.file, data=data)
        if algorithm == "PS256":
            return openssl("dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32",
                           "-sign", self.file, data=data)
        if algorithm == "ES256":
            return raw_ecdsa(openssl("dgst", "-sha256", "-sign", self.file, data=data))
        with tempfile.NamedTemporaryFile() as file:  # Ed25519 reads its input twice
            file.write(data)
            file.flush()
            return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", file.name)


def raw_ecdsa(der):
    """The two numbers of a DER signature side by side, as a JWS has them."""
    numbers, at = b"", 2
    for _ in range(2):
        length = der[at + 1]
        numbers += der[at + 2:at + 2 + length].lstrip(b"\0").rjust(32, b"\0")
        at += 2 + length
    return numbers


class BadProvider:
    """Signs everybody in as `person`. Attributes change what it does; `hits` counts requests by path."""

    def __init__(self, stack, client_id="hone", secret="a secret: 100% + more"):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-openid-"))
        self.folder, self.client_id, self.secret = folder, client_id, secret
        self.key = Key(folder, "key-1")
        self.published = [self.key.jwk(alg="RS256")]
        self.jwks_headers = {"Cache-Control": "no-store"}
        self.person = {"sub": "1234", "email": "ada@example.com", "email_verified": True, "name": "Ada", "groups": []}
        self.reset()
        self.hits, self.codes, self.used_codes, self.wrong_verifiers = {}, {}, set(), 0
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.handle(self, b"")

            def do_POST(self):
                provider.handle(self, self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)

    def reset(self):
        """Back to a provider that does everything right."""
        self.metadata, self.header, self.claims, self.algorithm = {}, {}, {}, "RS256"
        self.signing_key = self.mangle = self.token_body = self.response_iss = None
        self.delay = 0
        self.userinfo = None

    def document(self):
        address = self.issuer
        return {
            "issuer": address, "authorization_endpoint": f"{address}/authorize", "token_endpoint": f"{address}/token",
            "jwks_uri": f"{address}/jwks", "userinfo_endpoint": f"{address}/userinfo",
            "end_session_endpoint": f"{address}/logout",
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        } | self.metadata

    def handle(self, request, body):
        url = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        self.hits[url.path] = self.hits.get(url.path, 0) + 1
        if url.path == "/.well-known/openid-configuration":
            return self.answer(request, self.document())
        if url.path == "/jwks":
            return self.answer(request, {"keys": self.published}, headers=self.jwks_headers)
        if url.path == "/authorize":
            assert query["code_challenge_method"] == "S256" and query["response_type"] == "code", query
            code = secrets.token_urlsafe(16)
            self.codes[code] = query
            back = {"code": code, "state": query["state"], "iss": self.response_iss or self.issuer, "session_state": "x"}
            request.send_response(302)
            request.send_header("Location", f"{query['redirect_uri']}?{urllib.parse.urlencode(back)}")
            return request.end_headers()
        if url.path == "/token":
            time.sleep(self.delay)
            return self.answer(request, *self.token(request, dict(urllib.parse.parse_qsl(body.decode()))))
        if url.path == "/userinfo":
            return self.answer(request, self.userinfo or self.person)
        self.answer(request, {"error": "not_found"}, 404)

    def answer(self, request, document, status=200, headers=None):
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        try:
            request.send_response(status)
            request.send_header("Content-Type", "application/json")
            request.send_header("Content-Length", str(len(data)))
            for name, value in (headers or {}).items():
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(data)
        except OSError:
            pass  # the client has had enough

    def token(self, request, form):
        user = urllib.parse.quote(self.client_id, safe="-._~")
        password = urllib.parse.quote(self.secret, safe="-._~")
        expected = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        if request.headers.get("Authorization") != expected:
            return {"error": "invalid_client"}, 401
        begun = self.codes.get(form.get("code"))
        challenge = b64(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        if begun is None or form["code"] in self.used_codes:
            return {"error": "invalid_grant"}, 400
        if begun["code_challenge"] != challenge:
            self.wrong_verifiers += 1
            return {"error": "invalid_grant"}, 400
        if form["redirect_uri"] != begun["redirect_uri"]:
            return {"error": "invalid_grant"}, 400
        self.used_codes.add(form["code"])
        if self.token_body is not None:
            return (self.token_body,)
        access_token = secrets.token_urlsafe(16)
        token = self.id_token(begun["nonce"], access_token)
        return ({"access_token": access_token, "token_type": "Bearer", "id_token": token, "scope": "x", "strange": {}},)

    def id_token(self, nonce, access_token):
        now = int(time.time())
        digest = hashlib.sha512 if self.algorithm == "EdDSA" else hashlib.sha256
        half = digest(access_token.encode()).digest()
        claims = {
            "iss": self.issuer, "aud": self.client_id, "exp": now + 300, "iat": now, "nonce": nonce,
            "at_hash": b64(half[:len(half) // 2]),
        } | self.person | {name: value(now) if callable(value) else value for name, value in self.claims.items()}
        return self.signed(claims, "JWT")

    def logout_token(self, **changed):
        """For the person of the last sign-ins, as back-channel logout has it."""
        now = int(time.time())
        events = {"http://schemas.openid.net/event/backchannel-logout": {}}
        claims = {"iss": self.issuer, "aud": self.client_id, "sub": self.person["sub"], "iat": now, "exp": now + 120,
                  "jti": secrets.token_urlsafe(8), "events": events}
        return self.signed(claims | changed, "logout+jwt")

    def signed(self, claims, kind):
        claims = {name: value for name, value in claims.items() if value is not None}
        key = self.signing_key or self.key
        header = {"alg": self.algorithm, "kid": key.kid, "typ": kind} | self.header
        header = {name: value for name, value in header.items() if value is not None}
        signed = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
        if self.algorithm == "none":
            signature = b""
        elif self.algorithm == "HS256":  # the oldest trick: the public key as a shared one
            signature = hmac.new(self.key.public_pem, signed.encode(), hashlib.sha256).digest()
        else:
            signature = key.sign(self.algorithm, signed.encode())
        token = f"{signed}.{b64(signature)}"
        return self.mangle(token) if self.mangle else token


class Page:
    def __init__(self, response, url):
        self.status, self.url = response.status, url
        self.cookies = [value for name, value in response.getheaders() if name.lower() == "set-cookie"]
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read().decode()

    @property
    def location(self):
        return urllib.parse.urljoin(self.url, self.headers["location"])


class Browser:
    """Keeps cookies by host and path as browsers do; follows nothing by itself."""

    def __init__(self):
        self.cookies = {}

    def get(self, url, from_other_site=False):
        parts = urllib.parse.urlsplit(url)
        sent = [f"{name}={cookie['value']}" for (host, name), cookie in self.cookies.items()
                if host == parts.netloc and parts.path.startswith(cookie["path"])
                and not (from_other_site and cookie["same_site"] == "Strict")]
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
        try:
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", target, headers={"Cookie": "; ".join(sent)} if sent else {})
            page = Page(connection.getresponse(), url)
        finally:
            connection.close()
        for text in page.cookies:
            first, *attributes = [part.strip() for part in text.split(";")]
            name, value = first.split("=", 1)
            named = dict(part.split("=", 1) for part in attributes if "=" in part)
            if named["Max-Age"] == "0":
                self.cookies.pop((parts.netloc, name), None)
            else:
                self.cookies[parts.netloc, name] = {
                    "value": value, "path": named["Path"], "same_site": named["SameSite"], "text": text}
        return page


def attack(name, result):
    """A row of the table that the suite prints at its end."""
    if table := os.environ.get("HONE_SIGN_ON_TABLE"):
        with open(table, "a") as file:
            file.write(json.dumps([name, result]) + "\n")


def print_table(rows):
    width = max((len(name) for name, _ in rows), default=0)
    for name, result in rows:
        print(f"{name.ljust(width)}  {result}")
