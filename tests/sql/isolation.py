#!/usr/bin/env python3
"""SQL of people on a real server with two projects: what one of them asks never shows, changes or runs anything else.

tests/sql/isolation.py [--binary build/release/hone] [--seconds 600] [--seed N]

Runs the known attacks (attacks.py), then random statements (generator.py) for so long: half of them as people send them, over
POST /v1/sql, half past the guard, straight to the engine as its reader, whose own access control has to hold as well. The
seed is printed; the same seed asks the same again. tests/e2e/sql.py runs the same for a short while.
"""

import argparse
import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "e2e"))

from attacks import ATTACKS  # noqa: E402
from generator import Generator  # noqa: E402
from server import PATIENCE, Server, wait_until  # noqa: E402

CANARY = "Zq7CanaryOfTheOtherProject"
TELLING = [CANARY, CANARY.lower(), CANARY.upper(), CANARY[::-1], CANARY.encode().hex().upper(), CANARY.encode().hex(),
           base64.b64encode(CANARY.encode()).decode()[:30]]
LIBRARY = os.environ.get("HONE_CHDB_LIBRARY") or HERE.parent.parent / "build/deps/package/libchdb.so"
# What only the guard stops: file() reads any file of the engine's directory, for which the library has no right that could be
# withheld; sqlite() is refused, but leaves an empty file there.
LEFT_TO_THE_GUARD = {"file", "sqlite"}


def names_of_engine():
    """Every function and table function that the engine has; in a process of its own, for the library is not small."""
    program = f"""
import ctypes
library = ctypes.CDLL({str(LIBRARY)!r})
pointer = ctypes.c_void_p
library.chdb_set_signal_handlers_enabled(0)
library.chdb_connect.restype = ctypes.POINTER(pointer)
library.chdb_query_n.restype = pointer
library.chdb_query_n.argtypes = [pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
library.chdb_result_buffer.restype = pointer
library.chdb_result_buffer.argtypes = [pointer]
library.chdb_result_length.restype = ctypes.c_size_t
library.chdb_result_length.argtypes = [pointer]
connection = library.chdb_connect(1, (ctypes.c_char_p * 1)(b"clickhouse"))
for table in (b"functions", b"table_functions"):
    sql = b"SELECT groupArray(name) FROM (SELECT name FROM system." + table + b" ORDER BY name)"
    result = library.chdb_query_n(connection[0], sql, len(sql), b"JSONCompactEachRow", 18)
    print(ctypes.string_at(library.chdb_result_buffer(result), library.chdb_result_length(result)).decode().strip(), flush=True)
import os
os._exit(0)
"""
    lines = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.splitlines()
    functions, table_functions = (json.loads(line)[0] for line in lines)
    assert len(functions) > 1000 and len(table_functions) > 20
    return [name for name in functions if name.isidentifier()], table_functions


def span(trace, number, parent, name, attributes, start, status=0):
    return {
        "traceId": f"{trace:032x}", "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "", "name": name,
        "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 5_000_000 * number), "status": {"code": status},
        "attributes": [{"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
                       for key, value in attributes.items()],
    }


def trace_request(spans, service):
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}


class Stage:
    """A server with the project shop, which asks, and the project vault, which nobody may see."""

    def __init__(self, binary, stack):
        self.server = stack.enter_context(Server(binary, None, "--requests-per-minute", "1000000"))
        self.client = self.server.client(self.server.admin().must("POST", "/v1/keys", {"name": "sender"}).data["key"])
        now = time.time_ns() - 3_600_000_000_000
        mine, others = [], []
        for trace in range(1, 11):
            common = {"session.id": f"s{trace % 3}", "user.id": f"u{trace % 4}", "user.tier": "gold" if trace % 2 else "free"}
            at = now + trace * 60_000_000_000
            mine.append(span(trace, trace * 10, 0, "chat", common | {"input.value": "may I have a refund?"}, at, 2 if trace == 4 else 0))
            mine.append(span(trace, trace * 10 + 1, trace * 10, "answer", common | {
                "openinference.span.kind": "LLM", "llm.model_name": "gpt-4o", "llm.provider": "openai", "llm.token_count.prompt": 100 + trace,
                "llm.token_count.completion": 7, "input.value": "may I have a refund?", "output.value": "sorry, that is 12 dollars, write to a@b.com"}, at + 1))
            mine.append(span(trace, trace * 10 + 2, trace * 10, "search", common | {"openinference.span.kind": "TOOL", "tool.name": "find"}, at + 2))
            secret = {"session.id": CANARY, "user.id": CANARY, "input.value": CANARY + " input", "output.value": CANARY + " output", CANARY: CANARY}
            others.append(span(trace, trace * 10, 0, CANARY, secret, at))
        self.send("shop", mine)
        self.send("vault", others)
        for project, count in (("shop", 30), ("vault", 10)):
            wait_until(lambda: self.client.must("GET", f"/v1/projects/{project}/ledger").data["stored"] == count, "spans are stored")
        for project, label in (("shop", "no"), ("vault", CANARY)):
            evals = [{"target_id": f"{trace * 10:016x}", "name": "correct", "label": label, "score": trace / 10, "explanation": label} for trace in range(1, 6)]
            self.client.must("POST", f"/v1/projects/{project}/evals", {"data": evals})
        ids = {project["name"]: project["id"] for project in self.client.must("GET", "/v1/projects").data}
        self.own, self.other = "hone_" + ids["shop"], "hone_" + ids["vault"]
        self.telling = TELLING + [ids["vault"]]
        self.outfile = self.server.data_dir / "telemetry/engine/data/stolen.tsv"
        for project in ("shop", "vault"):  # both have views: what the other's would show is there to be taken
            self.client.must("POST", "/v1/sql", {"project": project, "sql": "SELECT 1"})
        self.counts = self.count()
        self.files = self.snapshot()

    def send(self, project, spans):
        answer = self.client.call("POST", "/v1/traces", trace_request(spans, project))
        assert answer.status == 200, answer.text

    def fill(self, sql):
        return sql.replace("{own}", self.own).replace("{other}", self.other).replace("{outfile}", str(self.outfile))

    def ask(self, sql):
        """As people do. The status and the whole answer."""
        answer = self.client.post("/v1/sql", {"project": "shop", "sql": sql, "format": "json"})
        return answer.status, answer.bytes

    def ask_past_the_guard(self, sql):
        """As the guard would, had it let this pass."""
        connection = http.client.HTTPConnection("engine", timeout=PATIENCE)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.server.data_dir / "telemetry/engine.sock"))
        settings = {"database": self.own, "max_execution_time": "5", "max_memory_usage": str(300 << 20), "max_result_rows": "1000", "result_overflow_mode": "break"}
        try:
            connection.request("POST", "/?" + urllib.parse.urlencode(settings), sql.encode(errors="surrogatepass"), {"X-ClickHouse-User": "hone_reader"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def tells(self, answer, sql):
        """What an answer shows of the other project, less what the question itself said."""
        text = answer.decode(errors="replace")
        return [word for word in self.telling if word in text.replace(sql, "") and word not in sql]

    def count(self):
        wanted = "SELECT count(), uniqExact(span_id), sum(cityHash64(input, output, name)) FROM spans"
        rows = []
        for project in ("shop", "vault"):
            rows.append(self.client.must("POST", "/v1/sql", {"project": project, "sql": wanted}).json["data"])
        return rows

    def snapshot(self):
        """Every file below the telemetry directory that merges and our own start do not change, by content."""
        root = self.server.data_dir / "telemetry"
        found = {}
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            is_part = relative.parts[:3] == ("engine", "data", "store") and not path.name.endswith(".sql")
            if is_part or relative.parts[0] in ("wal", "loader.state", "quotas.state", "engine.sock") or not path.is_file() or path.name == "status":
                continue
            found[str(relative)] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def check_nothing_changed(self):
        assert not self.outfile.exists(), "a query wrote a file"
        assert self.count() == self.counts, "a query changed rows"
        now = self.snapshot()
        assert now == self.files, {name for name in set(now) | set(self.files) if now.get(name) != self.files.get(name)}


def check_attack(stage, attack):
    """Why an attack got through, or nothing."""
    sql = stage.fill(attack.sql)
    status, answer = stage.ask(sql)
    told = stage.tells(answer, sql)
    if told:
        return f"{attack.name}: shows {told}: {answer[:300]!r}"
    if status not in attack.statuses:
        return f"{attack.name}: status {status}, not {attack.statuses}: {answer[:300]!r}"
    return None


def check_attack_past_the_guard(stage, attack):
    sql = stage.fill(attack.sql)
    if attack.expect in ("fails", "limited") or "\0" in sql or "file(" in sql or "sleep" in sql:
        return None  # limits are the guard's, and so is file()
    status, answer = stage.ask_past_the_guard(sql)
    told = stage.tells(answer, sql)
    return f"past the guard: {attack.name}: shows {told}: {answer[:300]!r}" if told else None


def run_generated(stage, seconds, seed):
    """Random statements for so long. Counts what came of them."""
    functions, table_functions = names_of_engine()
    people = Generator(seed, functions, table_functions)
    beyond = Generator(seed + 1, [name for name in functions if name not in LEFT_TO_THE_GUARD and "sleep" not in name.lower()],
                       [name for name in table_functions if name not in LEFT_TO_THE_GUARD])
    seen = {"answered": 0, "refused": 0, "past the guard, answered": 0, "past the guard, refused": 0}
    until, number = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        number += 1
        sql = stage.fill(people.statement())
        status, answer = stage.ask(sql)
        # either: answered, refused, too much memory, too much time, or the engine ended by its limit of memory and starts again
        assert status in (200, 400, 413, 429, 503), f"seed {seed}, statement {number}: status {status}: {answer[:500]!r}\n{sql}"
        assert not stage.tells(answer, sql), f"seed {seed}, statement {number} shows another project: {answer[:500]!r}\n{sql}"
        seen["answered" if status == 200 else "refused"] += 1
        sql = stage.fill(beyond.statement())
        if "file(" in sql.replace(" ", ""):
            continue
        status, answer = stage.ask_past_the_guard(sql)
        assert not stage.tells(answer, sql), f"seed {seed}, statement {number} shows another project past the guard: {answer[:500]!r}\n{sql}"
        seen["past the guard, answered" if status == 200 else "past the guard, refused"] += 1
    return seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=HERE.parent.parent / "build/release/hone")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("HONE_TEST_SEED") or time.time_ns() % 1_000_000_000))
    wanted = parser.parse_args()
    with contextlib.ExitStack() as stack:
        stage = Stage(wanted.binary, stack)
        failures = [why for attack in ATTACKS for why in (check_attack(stage, attack), check_attack_past_the_guard(stage, attack)) if why]
        print("\n".join(failures + [f"{len(ATTACKS)} attacks, {len(failures)} got through"]), flush=True)
        print(f"random statements for {wanted.seconds} s; again with HONE_TEST_SEED={wanted.seed}", flush=True)
        print(run_generated(stage, wanted.seconds, wanted.seed))
        stage.check_nothing_changed()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
