"""The real binary in a temporary directory, and a small HTTP client for it. Used by tests/e2e and tests/api."""

import http.client
import json
import os
import pathlib
import random
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.parse

PASSWORD = "correct horse battery"
ADMIN = "admin@localhost"
PATIENCE = 120  # seconds; the machine may be busy, nothing waits this long when it works


class Skipped(Exception):
    """Raised by a test that this machine cannot run; the suite names it and counts it."""


def needs(feature, is_there):
    """Skips a test for what an ordinary user's machine lacks. Root and CI can provide all of it: there it fails."""
    if is_there:
        return
    if os.geteuid() == 0 or os.environ.get("CI") == "true":
        raise AssertionError(f"this machine lacks {feature}")
    raise Skipped(f"needs {feature}")


def seeded():
    """Random numbers that decide what is tested. The seed is printed; HONE_TEST_SEED repeats a run."""
    seed = int(os.environ.get("HONE_TEST_SEED") or random.SystemRandom().getrandbits(32))
    print(f"      HONE_TEST_SEED={seed}")
    return random.Random(seed)


def wait_until(condition, what, patience=PATIENCE):
    """Polls until the condition gives something true, and gives that back."""
    deadline, pause = time.monotonic() + patience, 0.005
    while True:
        outcome = condition()
        if outcome:
            return outcome
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience} s in vain: {what}")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.1)  # what takes long is not asked for a thousand times: that would slow it down


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.bytes = response.read()

    @property
    def text(self):
        return self.bytes.decode()

    @property
    def json(self):
        return json.loads(self.bytes)

    @property
    def data(self):
        return self.json["data"]

    @property
    def message(self):
        return self.json["error"]["message"]


class Client:
    """One caller: a guest, then whoever it logs in as or whose key it carries. One connection per request."""

    def __init__(self, url, key=None, tls=None):
        self.url = url
        self.key = key
        self.tls = tls
        self.cookie = self.csrf = None
        self.cookie_name = "hone_session"

    def connection(self, timeout=PATIENCE):
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme == "https":
            return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None):
        sent = dict(headers or {})
        if self.key:
            sent["Authorization"] = f"Bearer {self.key}"
        elif self.cookie:
            sent["Cookie"] = f"{self.cookie_name}={self.cookie}"
            sent.setdefault("X-CSRF-Token", self.csrf)
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            body = body.encode() if isinstance(body, str) else body
        connection = self.connection()
        try:
            connection.request(method, path, body, sent)
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        for part in answer.headers.get("set-cookie", "").split(";")[:1]:
            name, _, value = part.partition("=")
            if name in ("hone_session", "__Host-hone_session"):
                self.cookie_name, self.cookie = name, value or None
                if self.cookie and answer.status == 200:
                    self.csrf = answer.data["csrf_token"]
        return answer

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None, headers=None):
        return self.call("POST", path, body, headers)

    def login(self, email=ADMIN, password=PASSWORD):
        answer = self.post("/v1/login", {"email": email, "password": password})
        assert answer.status == 200, f"login of {email}: {answer.status} {answer.text}"
        return self

    def must(self, method, path, body=None, status=200):
        answer = self.call(method, path, body)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.text[:300]}"
        return answer


class Server:
    """`hone serve` on a data directory; ends with the `with` block."""

    def __init__(self, binary, data_dir=None, *flags, command=(), environment=None):
        self.binary = str(pathlib.Path(binary).resolve())
        self._temporary = None if data_dir else tempfile.TemporaryDirectory(prefix="hone-e2e-")
        self.data_dir = pathlib.Path(data_dir or self._temporary.name + "/data")
        self.flags = list(flags)
        self.command = list(command)  # goes before the binary: unshare and the like
        self.environment = environment or {}
        self.process = self.url = self.otlp_url = self.otlp_grpc_url = None
        self.log = tempfile.TemporaryFile(prefix="hone-log-")

    def spawn(self):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HONE_")}
        environment |= {"HONE_ADMIN_PASSWORD": PASSWORD} | self.environment
        environment = {name: value for name, value in environment.items() if value is not None}
        serve = [self.binary, "serve", "--data-dir", str(self.data_dir)]
        if "--listen" not in self.flags:
            serve += ["--listen", "127.0.0.1:0"]
        for flag in ("--otlp-http-listen", "--otlp-grpc-listen"):
            if flag not in self.flags:
                serve += [flag, "127.0.0.1:0"]
        self.process = subprocess.Popen(
            self.command + serve + self.flags, stdout=self.log, stderr=self.log, env=environment
        )
        return self

    def start(self):
        self.spawn()
        addresses = wait_until(self._ready, "the server gets ready")
        self.url = addresses["http"]
        self.otlp_url, self.otlp_grpc_url = addresses.get("otlp_http"), addresses.get("otlp_grpc")
        return self

    def _ready(self):
        assert self.process.poll() is None, f"the server ended with {self.process.returncode}:\n{self.output()}"
        try:
            addresses = json.loads((self.path_of_data() / "addresses.json").read_text())
        except (OSError, ValueError):
            return None
        return addresses if addresses["pid"] == self.process.pid else None

    def path_of_data(self):
        """As seen from here, also when the server lives in its own mount namespace."""
        if not self.command:
            return self.data_dir
        return pathlib.Path(f"/proc/{self.process.pid}/root{self.data_dir}")

    def output(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def client(self, key=None):
        return Client(self.url, key)

    def admin(self):
        return self.client().login()

    def stop(self):
        """Asks it to end, as systemd would; gives the exit code."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.kill()
        self.log.close()
        self.end_sandboxes()
        if self._temporary:
            wait_until(self.remove_data, f"nobody writes to {self._temporary.name} any more")

    def remove_data(self):
        """What belonged to a killed server may write on for a moment."""
        try:
            self._temporary.cleanup()
        except OSError:
            return False
        return True

    def end_sandboxes(self):
        """They outlive a server that was killed, for the next one; here there is none."""
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if b"spawner" in words and str(self.data_dir).encode() in words:
                    os.kill(int(entry.name), signal.SIGKILL)
            except OSError:
                continue


def run(binary, *arguments, environment=None, patience=PATIENCE, **options):
    """A command of the binary that ends by itself."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HONE_")}
    return subprocess.run(
        [str(pathlib.Path(binary).resolve()), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=patience,
        env=clean | (environment or {}),
        **options,
    )


def trusting(certificate):
    return ssl.create_default_context(cafile=str(certificate))
