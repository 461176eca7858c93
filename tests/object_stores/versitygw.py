#!/usr/bin/env python3
"""versitygw, an S3 server on a folder, in the place of tests/s3_server.mjs: versitygw.py DIRECTORY BUCKET…

Prints its port; the access key and the secret key are both S3RVER; ends with its standard input. It is built once from the Go
module proxy into a cache folder of the user."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

VERSION = "1.8.0"
MODULE = f"github.com/versity/versitygw/cmd/versitygw@v{VERSION}"


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))) / f"hone/versitygw-{VERSION}"


def build():
    program = cache() / "versitygw"
    if not program.exists():
        cache().mkdir(parents=True, exist_ok=True)
        print(f"building versitygw {VERSION} in {cache()}; this takes some minutes", file=sys.stderr, flush=True)
        subprocess.run(["nice", "-n", "19", "go", "install", MODULE], check=True, env=os.environ | {"GOBIN": str(cache())})
    return program


def beside_of(directory):
    """Another beginning: versitygw takes a folder for one inside when its name begins with the other's."""
    folder = pathlib.Path(directory)
    return str(folder.parent / f"of-{folder.name}")


def start(directory, buckets):
    """The process and its port, when it accepts connections."""
    for bucket in buckets:
        (pathlib.Path(directory) / bucket).mkdir(parents=True, exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # What it knows of objects is beside them: not every file system of a test has extended attributes.
    beside = beside_of(directory)
    os.makedirs(beside, exist_ok=True)
    words = [build(), "--quiet", "--port", f"127.0.0.1:{port}", "posix", "--sidecar", beside, directory]
    keys = {"ROOT_ACCESS_KEY": "S3RVER", "ROOT_SECRET_KEY": "S3RVER"}
    process = subprocess.Popen(words, env=os.environ | keys, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            assert process.poll() is None, "versitygw ended"
            assert time.monotonic() < deadline, "versitygw does not respond"
            time.sleep(0.02)


def main():
    process, port = start(sys.argv[1], sys.argv[2:])
    print(port, flush=True)
    try:
        sys.stdin.read()
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(beside_of(sys.argv[1]), ignore_errors=True)


if __name__ == "__main__":
    main()
