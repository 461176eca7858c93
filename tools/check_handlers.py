#!/usr/bin/env python3
"""Checks that src/api decodes, calls and encodes: no SQL and no permission decision in it.

usage: check_handlers.py [--self-test]

Read is all of src/api except its tests. Api::authorize in api.cpp is the one place that decides, by the route's
permission, before a handler runs. A family may name the permission that a lookup of access needs
(project_in_path(call, space, Permission::x)); deciding with it belongs to access or to the domain function.
Each family also ends with its rows of the route table and has its example requests beside it.
"""
import pathlib
import re
import sys

from sql_texts import sql_texts

root = pathlib.Path(__file__).resolve().parent.parent
api = root / "src" / "api"

SQL = re.compile(r"\b(?:SELECT\b.+\bFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.S)
REFUSED: list[tuple[str, re.Pattern[str]]] = [
    ("the database", re.compile(r"\bservices\.database\b|#include \"sql/|\bsql::Transaction\b")),
    ("a permission decision", re.compile(
        r"\.(?:require|require_user|may|may_anywhere|permissions_in|permissions_of_installation\(\)\.has)\s*\(|caller\.roles\b|\.scope\.has\(")),
    ("the rights of the system", re.compile(r"Caller::system\(\)")),
]
# Where the permission of a route is checked before its handler runs.
GATE = ("api.cpp", "!caller.may_anywhere(need.permission)")


def strip_comments(text: str) -> str:
    return re.sub(r"//[^\n]*", "", text)


def problems_in(name: str, text: str) -> list[str]:
    found = [f"src/api/{name}:{number}: SQL in a handler; it belongs to the domain" for number, literal in sql_texts(text) if SQL.search(literal)]
    for number, line in enumerate(strip_comments(text).splitlines(), 1):
        if name == GATE[0]:
            line = line.replace(GATE[1], "")
        for what, pattern in REFUSED:
            if pattern.search(line):
                found.append(f"src/api/{name}:{number}: {what} in a handler; it belongs to the domain")
    return found


def problems_of_family(file: pathlib.Path) -> list[str]:
    """A file that has handlers has rows at its foot and examples beside it."""
    name = str(file.relative_to(api))
    text = file.read_text()
    found = problems_in(name, text)
    if not re.search(r"^\s+route<\w+>\(", text, re.M):
        return found
    if not re.search(r"std::span<const Route> \w+_routes\(\) \{\n    return \w+_table;\n\}\n\n\} // namespace hone::api\n\Z", text):
        found.append(f"src/api/{name}: its rows of the route table are not at its foot")
    if not file.with_suffix("").with_suffix(".examples.test.h").exists():
        found.append(f"src/api/{name}: {file.stem}.examples.test.h is missing")
    return found


def self_test() -> list[str]:
    bad = {
        "SQL": 'call.services.x.query("SELECT id "\n    "FROM runs WHERE id = ?", id);',
        "the database": "TRY(call.services.database.write([&] {}));",
        "a permission decision": "TRY(call.caller.require(access::Permission::space_read, space));",
        "the rights of the system": "issues.find(access::Caller::system(), id);",
    }
    failed = [f"self-test: {what} is not found" for what, line in bad.items() if not any(what in p for p in problems_in("x.cpp", line))]
    good = ('const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));\n'
            '// SELECT id FROM runs: caller.require(\n'
            'route<run_sql>("POST", "/v1/sql", need(project_read), "Run an SQL query over one project.")\n')
    failed += [f"self-test: refused by mistake: {p}" for p in problems_in("x.cpp", good)]
    gate = f"if ({GATE[1]})"
    if problems_in(GATE[0], gate) or not problems_in("x.cpp", gate) or not problems_in(GATE[0], gate + gate.replace("need.", "other.")):
        failed.append("self-test: the gate is not the one place that decides")
    return failed


def main() -> int:
    files = [file for file in sorted([*api.rglob("*.cpp"), *api.rglob("*.h")])
             if not re.search(r"\.(test|fuzz)\.|^testing", file.name)]
    problems = self_test()
    if "--self-test" not in sys.argv:
        for file in files:
            problems += problems_of_family(file)
        if len(files) < 60:
            problems.append(f"only {len(files)} files found below src/api")
        if GATE[1] not in (api / GATE[0]).read_text():
            problems.append(f"src/api/{GATE[0]} does not check the permission of a route")
    print("\n".join(problems) or "handlers decode, call and encode")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
