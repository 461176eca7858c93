"""A registry of npm packages for tests of installations: small programs in the place of coding agents.

@openai/codex installs and starts. The tarball of opencode-ai never ends, for tests that cancel. The program of
@qwen-code/qwen-code is not there. Everything else is not found. Prints "npm-registry: URL".
"""

import argparse
import base64
import hashlib
import io
import json
import sys
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "9.9.1"
PROGRAMS = {"@openai/codex": "codex", "opencode-ai": "opencode", "@qwen-code/qwen-code": None}


def tarball(package, program):
    description = {"name": package, "version": VERSION}
    files = {}
    if program:
        description["bin"] = {program: "run.sh"}
        files["run.sh"] = f"#!/bin/sh\necho {program} {VERSION}\n"
    files["package.json"] = json.dumps(description)
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode = len(text.encode()), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return written.getvalue()


TARBALLS = {package: tarball(package, program) for package, program in PROGRAMS.items()}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path).lstrip("/")
        if path.endswith(".tgz"):
            package = path.removesuffix("/-/package.tgz")
            if package == "opencode-ai":
                return self.hang()
            return self.reply(200, TARBALLS[package], "application/octet-stream")
        if path not in TARBALLS:
            return self.reply(404, b'{"error":"Not found"}')
        address = f"{self.server.url}/{path}/-/package.tgz"
        content = TARBALLS[path]
        dist = {"tarball": address, "shasum": hashlib.sha1(content).hexdigest(),
                "integrity": "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()}
        version = {"name": path, "version": VERSION, "dist": dist}
        if PROGRAMS[path]:
            version["bin"] = {PROGRAMS[path]: "run.sh"}
        self.reply(200, json.dumps({"name": path, "dist-tags": {"latest": VERSION}, "versions": {VERSION: version}}).encode())

    def hang(self):
        self.send_response(200)
        self.send_header("content-length", "1000000")
        self.end_headers()
        self.wfile.flush()
        self.connection.recv(1)  # until the client leaves


def serve():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--until-input-ends", action="store_true", required=True)
    parser.parse_args()
    print("npm-registry:", serve().url, flush=True)
    sys.stdin.read()
