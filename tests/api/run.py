#!/usr/bin/env python3
"""API scenarios: plain-text stories against the real binary over HTTP, each on a server of its own.

tests/api/run.py [--binary build/release/hone] [names…]      README.md explains the format
"""

import argparse
import json
import pathlib
import re
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here.parent / "e2e"))

from server import PASSWORD, Client, Server, run  # noqa: E402

REQUEST = re.compile(r"(\w+): (GET|HEAD|POST|PUT|PATCH|DELETE) (\S+)(?: (.*))?$", re.DOTALL)
ANSWER = re.compile(r"(\d{3})(?: (.*))?$", re.DOTALL)


class Failure(Exception):
    pass


def statements(text):
    """(line number, statement); a statement goes on until its brackets are closed."""
    pending, start, depth = "", 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pending, start = (pending + "\n" + line, start) if depth > 0 else (line, number)
        outside = re.sub(r'"(\\.|[^"\\])*"', "", pending)
        depth = sum(outside.count(c) for c in "{[") - sum(outside.count(c) for c in "}]")
        if depth <= 0:
            yield start, pending
            pending, depth = "", 0
    if pending:
        raise Failure(f"line {start}: brackets do not close")


def differs(expected, actual, path="answer"):
    """Why the answer does not hold what is expected; None when it does."""
    if expected == "<any>":
        return None if actual not in (None, "") else f"{path} is {actual!r}"
    if isinstance(expected, str) and expected.startswith("<") and expected.endswith(">") and isinstance(actual, str):
        return None if re.fullmatch(expected[1:-1], actual) else f"{path} is {actual!r}, not like {expected}"
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name not in actual:
                return f"{path}.{name} is missing"
            if why := differs(value, actual[name], f"{path}.{name}"):
                return why
        return None
    if isinstance(expected, list) and isinstance(actual, list):
        if expected[:1] == ["..."]:  # holds these, in any order
            for each in expected[1:]:
                if all(differs(each, value) for value in actual):
                    return f"{path} holds nothing like {json.dumps(each)}"
            return None
        if expected[:1] == ["without"]:
            for each in expected[1:]:
                if any(not differs(each, value) for value in actual):
                    return f"{path} holds {json.dumps(each)}"
            return None
        if len(expected) != len(actual):
            return f"{path} has {len(actual)} entries, not {len(expected)}: {json.dumps(actual)[:300]}"
        for index, (each, value) in enumerate(zip(expected, actual)):
            if why := differs(each, value, f"{path}[{index}]"):
                return why
        return None
    return None if expected == actual and type(expected) is type(actual) else f"{path} is {actual!r}, not {expected!r}"


class Story:
    def __init__(self, binary, path):
        self.path = path
        self.servers = [Server(binary)]
        self.variables = {"password": PASSWORD}
        self.clients = {}
        self.answer = None
        self.expected = True  # the last request has been compared

    @property
    def server(self):
        return self.servers[-1]

    def fill(self, text):
        def value(match):
            name = match[1]
            if name not in self.variables:
                raise Failure(f"${{{name}}} is not set")
            return self.variables[name]

        return re.sub(r"\$\{(\w+)\}", value, text or "")

    def client(self, name):
        if name not in self.clients:
            self.clients[name] = Client(self.server.url)
        return self.clients[name]

    def move_clients(self):
        for client in self.clients.values():
            client.url = self.server.url

    def step(self, line):
        if not line.startswith(" "):
            if not self.expected:
                raise Failure("the request before has no expected status")
            return self.act(line)
        line = self.fill(line.strip())
        if line.startswith("save "):
            name, at = line[5:].split(" = ")
            at, _, pattern = at.partition(" from ")
            value = self.answer.json
            for part in at.split("."):
                value = value[int(part)] if isinstance(value, list) else value[part]
            if pattern:
                found = re.fullmatch(pattern, value)
                if not found:
                    raise Failure(f"{at} is {value!r}, not like {pattern}")
                value = found[1]
            self.variables[name] = str(value)
        elif line.startswith("header "):
            name, _, wanted = line[7:].partition(" ")
            got = self.answer.headers.get(name.lower())
            if got is None or wanted not in got:
                raise Failure(f"header {name} is {got!r}, does not hold {wanted!r}")
        elif line.startswith("text "):
            if line[5:] not in self.answer.text:
                raise Failure(f"the answer does not hold {line[5:]!r}: {self.answer.text[:300]}")
        elif match := ANSWER.match(line):
            self.compare(int(match[1]), match[2])
        else:
            raise Failure(f"not understood: {line}")

    def compare(self, status, body):
        self.expected = True
        if self.answer.status != status:
            raise Failure(f"status {self.answer.status}, not {status}: {self.answer.text[:300]}")
        if body:
            if why := differs(json.loads(body), self.answer.json):
                raise Failure(f"{why}\n      {self.answer.text[:500]}")

    def act(self, line):
        if match := REQUEST.match(line):
            caller, method, path, rest = match[1], match[2], self.fill(match[3]), self.fill(match[4])
            headers = dict(re.findall(r"^\[([\w-]+): ([^\]]*)\] ?", rest))
            body = re.sub(r"^\[[^\]]*\] ?", "", rest) if headers else rest
            self.answer = self.client(caller).call(method, path, body or None, headers)
            self.expected = False
        elif match := re.match(r"(\w+) has key (\S+)$", line):
            self.clients[match[1]] = Client(self.server.url, self.fill(match[2]))
        elif match := re.match(r"(\w+) logs in as (\S+)$", line):
            self.client(match[1]).login(match[2])
        elif line == "restart":
            if self.server.stop() != 0:
                raise Failure("the server did not stop well: " + self.server.output()[-500:])
            self.server.start()
            self.move_clients()
        elif match := re.match(r"backup by (\w+), restore elsewhere$", line):
            self.restore_elsewhere(self.client(match[1]))
        else:
            raise Failure(f"not understood: {line}")

    def restore_elsewhere(self, client):
        old = self.server
        file = old.data_dir.parent / "backup.tar.zst"
        file.write_bytes(client.must("GET", "/v1/backup").bytes)
        target = old.data_dir.parent / f"restored-{len(self.servers)}"
        outcome = run(old.binary, "restore", file, "--data-dir", target)
        if outcome.returncode != 0:
            raise Failure(f"hone restore: {outcome.stderr}")
        old.stop()
        self.servers.append(Server(old.binary, target).start())
        self.move_clients()

    def play(self):
        steps = 0
        try:
            self.server.start()
            for number, statement in statements(self.path.read_text()):
                try:
                    self.step(statement)
                    steps += 1
                except (Failure, AssertionError, KeyError, ValueError, OSError) as failed:
                    raise Failure(f"{self.path.name}:{number}: {statement.strip()}\n      {failed}") from failed
            if not self.expected:
                raise Failure(f"{self.path.name}: the last request has no expected status")
        finally:
            for server in reversed(self.servers):
                server.__exit__()
        return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=here.parent.parent / "build/release/hone")
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args()
    paths = [
        path
        for path in sorted(here.glob("*.scenario"))
        if not wanted.names or any(name in path.stem for name in wanted.names)
    ]
    failed = 0
    for path in paths:
        start = time.monotonic()
        try:
            steps = Story(wanted.binary, path).play()
            print(f"ok    {time.monotonic() - start:6.1f} s  {path.stem} ({steps} steps)", flush=True)
        except Exception as why:
            failed += 1
            print(f"FAIL  {time.monotonic() - start:6.1f} s  {path.stem}\n    {why}", flush=True)
    print(f"{len(paths) - failed} passed, {failed} failed")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
