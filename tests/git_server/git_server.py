#!/usr/bin/env python3
"""A smart-HTTP git server for tests: `git http-backend` behind TLS and a password or a bearer token.

git_server.py ROOT CERTIFICATE KEY [--basic USER:PASSWORD] [--bearer TOKEN] [--push]
Prints its port, serves every bare repository below ROOT until its input ends, and writes one line per request to
ROOT/requests.log: method, path, status.
"""

import argparse
import base64
import http.server
import os
import pathlib
import ssl
import subprocess
import sys
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def allowed(self):
        wanted = []
        if self.server.basic:
            wanted.append("Basic " + base64.b64encode(self.server.basic.encode()).decode())
        if self.server.bearer:
            wanted.append("Bearer " + self.server.bearer)
        return not wanted or self.headers.get("Authorization") in wanted

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            whole = b""
            while size := int(self.rfile.readline(), 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def note(self, status):
        with self.server.lock, open(self.server.root / "requests.log", "a") as log:
            log.write(f"{self.command} {self.path} {status}\n")

    def answer(self, status, headers, body):
        self.note(status)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        sent = self.body()
        if not self.allowed():
            return self.answer(401, [("WWW-Authenticate", 'Basic realm="git"')], b"who are you?\n")
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_COUNT": "2",
            "GIT_CONFIG_KEY_0": "http.receivepack",
            "GIT_CONFIG_VALUE_0": "true" if self.server.push else "false",
            "GIT_CONFIG_KEY_1": "safe.directory",
            "GIT_CONFIG_VALUE_1": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(sent)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_USER": "worker",
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], input=sent, capture_output=True, env=environment)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = [tuple(line.decode().split(": ", 1)) for line in head.split(b"\r\n") if b": " in line]
        status = next((int(value.split()[0]) for name, value in headers if name == "Status"), 200)
        self.answer(status, [pair for pair in headers if pair[0] != "Status"], content)

    do_GET = do_POST = serve

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that resets its connection is part of many tests
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("certificate")
    parser.add_argument("key")
    parser.add_argument("--basic")
    parser.add_argument("--bearer")
    parser.add_argument("--push", action="store_true")
    wanted = parser.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    server.root, server.basic, server.bearer, server.push = wanted.root, wanted.basic, wanted.bearer, wanted.push
    server.lock = threading.Lock()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(wanted.certificate, wanted.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
