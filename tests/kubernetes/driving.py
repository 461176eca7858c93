"""The program provider_driver: sandboxes of a provider, without a server."""

import concurrent.futures
import json
import pathlib
import subprocess
import tempfile
import threading

LIMITS = {"memory_bytes": 128 << 20, "cpus": 0.2, "disk_bytes": 64 << 20, "pids": 64}


class Refused(Exception):
    def __init__(self, reply):
        super().__init__(f"{reply.get('code')}: {reply.get('why')}")
        self.code, self.why = reply.get("code"), reply.get("why")


class Driver:
    def __init__(self, *command, files=()):
        """`command`: the words up to the data folder's place, which is None. `files` are in it when the provider opens."""
        self.folder = tempfile.TemporaryDirectory(prefix="hone-driver-")
        for name, text in dict(files).items():
            path = pathlib.Path(self.folder.name, name)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.write_text(text)
        words = [self.folder.name if word is None else str(word) for word in command]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lock, self.waiting, self.next = threading.Lock(), {}, 0
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.thread.join()
        self.folder.cleanup()

    def read(self):
        for line in self.process.stdout:
            reply = json.loads(line)
            with self.lock:
                self.waiting.pop(reply.pop("id")).set_result(reply)
        with self.lock:
            for future in self.waiting.values():
                future.set_exception(RuntimeError("the driver ended"))

    def send(self, do, **fields):
        """A future of the reply."""
        future = concurrent.futures.Future()
        with self.lock:
            self.next += 1
            self.waiting[self.next] = future
            self.process.stdin.write(json.dumps({"id": self.next, "do": do, **fields}) + "\n")
            self.process.stdin.flush()
        return future

    def call(self, do, **fields):
        return result_of(self.send(do, **fields))

    def start(self, **spec):
        return self.call("start", spec=specification(**spec))["sandbox"]

    def run(self, sandbox, *argv, **fields):
        return self.call("run", sandbox=sandbox, command={"argv": list(argv), **fields})

    def shell(self, sandbox, script):
        return self.run(sandbox, "/bin/sh", "-c", script)


def specification(**fields):
    return {"limits": LIMITS | fields.pop("limits", {}), "network": "broker", "keep": True, "detached": True} | fields


def result_of(future, timeout=300):
    reply = future.result(timeout)
    if not reply["ok"]:
        raise Refused(reply)
    return reply


def pods(bench, namespace, image, storage=(), files=()):
    return Driver(*bench.cluster.command(bench.driver, "kubernetes"), None, bench.cluster.state / "hone.conf", namespace,
                  image, *storage, files=files)
