"""`hone clickhouse`: what it prints, what it refuses, and what it reports of a ClickHouse that is not as it must be. The engine behind
the gate of servers.py has one user and no rights to give; everything else is in store_check.test.cpp."""

import json

from server import run
from servers import KEY, USER, SpanStore

ADMIN = {"HONE_CLICKHOUSE_PASSWORD": "one", "HONE_CLICKHOUSE_READER_PASSWORD": "two", "HONE_CLICKHOUSE_ADMIN_PASSWORD": KEY}


def findings(checked, status):
    assert checked.returncode == status, checked
    return {finding["name"]: finding for finding in json.loads(checked.stdout)}


def test_a_clickhouse_is_set_up_and_checked_from_the_command_line(binary, stack):
    printed = run(binary, "clickhouse", "setup", "--clickhouse-user", "writer", "--clickhouse-cluster", "main")
    assert printed.returncode == 0 and "CREATE USER IF NOT EXISTS `writer` ON CLUSTER `main` IDENTIFIED BY 'PASSWORD';" in printed.stdout, printed
    for words, why in ((["clickhouse"], "setup or check"), (["clickhouse", "check"], "clickhouse_url"),
                       (["clickhouse", "check", "--apply", "--clickhouse-url", "http://localhost:1"], "--apply"),
                       (["clickhouse", "setup", "--apply", "--clickhouse-url", "http://localhost:1"], "HONE_CLICKHOUSE_PASSWORD is not set")):
        refused = run(binary, *words)
        assert refused.returncode == 2 and why in refused.stderr, refused
    same = run(binary, "clickhouse", "setup", "--apply", "--clickhouse-url", "http://localhost:1",
               environment=ADMIN | {"HONE_CLICKHOUSE_READER_PASSWORD": "one"})
    assert same.returncode == 2 and "two passwords" in same.stderr, same

    store = SpanStore(binary, stack)
    away = findings(run(binary, "clickhouse", "check", "--json", "--clickhouse-url", "http://127.0.0.1:9"), 1)
    assert away["connection"]["state"] == "problem" and away["connection"]["advice"], away
    wrong = findings(run(binary, "clickhouse", "check", "--json", *store.flags()[:4], "--clickhouse-password", "guess"), 1)
    assert "refuses our user or password" in wrong["connection"]["detail"], wrong
    empty = findings(run(binary, "clickhouse", "check", "--json", *store.flags()), 1)
    assert empty["version"]["state"] == "ok" and empty["tables"]["state"] == "problem", empty
    assert "hone clickhouse setup --apply" in empty["tables"]["advice"], empty
    assert empty["SQL of people"]["state"] == "ok", empty
    people = run(binary, "clickhouse", "check", *store.flags())
    assert people.returncode == 1 and store.url in people.stdout and "problem" in people.stdout, people

    # As an administrator: the first statement is the first that fails here, and neither password is shown.
    failed = run(binary, "clickhouse", "setup", "--apply", "--admin-user", USER, "--clickhouse-url", store.url, environment=ADMIN)
    assert failed.returncode == 1 and "could not run CREATE USER IF NOT EXISTS `hone`: " in failed.stderr, failed
    assert "sha256_hash" not in failed.stderr + failed.stdout, failed

    checked = run(binary, "check", "--json", "--data-dir", store.folder / "none", *store.flags())
    line = {line["name"]: line for line in json.loads(checked.stdout)}["span engine"]
    assert line["state"] == "ok" and "hone clickhouse check" in line["detail"], line
    store.gates[0].is_away.set()
    checked = run(binary, "check", "--json", "--data-dir", store.folder / "none", *store.flags())
    line = {line["name"]: line for line in json.loads(checked.stdout)}["span engine"]
    assert checked.returncode == 1 and line["state"] == "missing" and line["advice"], line
