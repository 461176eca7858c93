#!/usr/bin/env python3
"""Feeds tools/check_layers.py small trees with one mistake each: it must refuse every one, and nothing else."""
import pathlib
import subprocess
import sys
import tempfile

check = pathlib.Path(__file__).resolve().parent / "check_layers.py"

layers = """
sql ->
access -> sql
run -> access sql
signal -> run access sql
main -> signal
tables sql schema_version
tables access users
tables run runs run_events
tables signal issues
tables run hone.spans
readers hone.spans signal
any_table sql
"""
migration = "CREATE TABLE users (id TEXT);\nCREATE TABLE runs (id TEXT);\nCREATE TABLE run_events (id TEXT);\nCREATE TABLE issues (id TEXT);\n"


def refused(files: dict[str, str], extra_layers: str = "") -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        src = pathlib.Path(name) / "src"
        for folder in ("sql/migrations", "access", "run", "signal"):
            (src / folder).mkdir(parents=True)
        for folder in ("sql", "access", "run", "signal"):
            (src / folder / "README.md").write_text("x\n")
        (src / "layers.txt").write_text(layers + extra_layers)
        (src / "sql/migrations/0001_all.sql").write_text(migration)
        for path, text in files.items():
            (src / path).write_text(text)
        done = subprocess.run([sys.executable, check, name], capture_output=True, text=True)
        lines = done.stdout.splitlines()
        assert not done.stderr, done.stderr
        assert done.returncode in (0, 1) and (done.returncode == 0 or lines), done.stdout
        return [] if done.returncode == 0 else lines


failures = 0


def expect(what: str, files: dict[str, str], *parts: str, extra_layers: str = "") -> None:
    global failures
    lines = refused(files, extra_layers)
    if len(lines) != len(parts) or any(part not in line for part, line in zip(parts, lines)):
        failures += 1
        print(f"{what}: expected {list(parts)}, got {lines}")


expect("a folder names its own table", {"run/a.cpp": 'auto a = q("SELECT id FROM runs WHERE id = ?");'})
expect("a read upwards", {"access/a.cpp": 'auto a = q("SELECT 1 FROM runs");'}, "access/a.cpp:1 uses the table runs: it belongs to run")
expect("a read downwards", {"signal/a.cpp": 'auto a = q("SELECT 1 FROM issues i JOIN runs r ON r.id = i.run");'}, "uses the table runs")
expect("a write", {"signal/a.cpp": '\n\nauto a = q("UPDATE runs SET id = ?");'}, "signal/a.cpp:3 uses the table runs")
expect("an insert", {"signal/a.cpp": 'auto a = q("INSERT INTO runs (id) VALUES (?)");'}, "uses the table runs")
expect("a delete", {"signal/a.cpp": 'auto a = q("DELETE FROM run_events");'}, "uses the table run_events")
expect("an alter", {"signal/a.cpp": 'auto a = q("ALTER TABLE runs ADD x TEXT");'}, "uses the table runs")
expect("a text over several literals", {"signal/a.cpp": 'auto a = q("SELECT 1 FROM " // the runs\n   "runs WHERE "\n "1 = 1");'}, "uses the table runs")
expect("a keyword at the end of a line", {"signal/a.cpp": 'auto a = q("SELECT 1 FROM"\n " runs");'}, "uses the table runs")
expect("a raw text", {"signal/a.cpp": 'auto a = q(R"(SELECT 1\nFROM runs)");'}, "uses the table runs")
expect("a subquery", {"signal/a.cpp": 'auto a = q("DELETE FROM issues WHERE run IN (SELECT id FROM runs)");'}, "uses the table runs")
expect("a list of tables", {"signal/a.cpp": 'auto a = q("SELECT 1 FROM issues i, runs AS r, users");'}, "the table runs", "the table users")
expect("text that is added", {"signal/a.cpp": 'sql += " LEFT JOIN users u ON u.id = x";'}, "the table users")
expect("a name that is put together", {"signal/a.cpp": 'auto a = q("SELECT id FROM " + table);'}, "puts the name of a table together")
expect("a name that is put together later", {"signal/a.cpp": 'sql += " LEFT JOIN " + table;'}, "puts the name of a table together")
expect("a formatted name", {"signal/a.cpp": 'auto a = f("DELETE FROM {} WHERE 1", table);'}, "puts the name of a table together")
expect("a name that may be put together", {"sql/a.cpp": 'auto a = q("SELECT id FROM " + table);'})
expect("comments are no SQL", {"signal/a.cpp": '// SELECT 1 FROM runs\n/* "UPDATE runs" */ int a;'})
expect("a quote in a character", {"signal/a.cpp": "char c = '\"'; // FROM runs\nchar d = '\"';"})
expect("prose is no SQL", {"signal/a.cpp": 'auto a = "the runs come from runs of users";'})
expect("tests may read all tables", {"access/a.test.cpp": 'auto a = q("SELECT 1 FROM runs");'})
expect("a reader reads", {"signal/a.cpp": 'auto a = q("SELECT 1 FROM hone.spans");'})
expect("a reader does not write", {"signal/a.cpp": 'auto a = q("INSERT INTO hone.spans VALUES (1)");'}, "uses the table hone.spans")
expect("a reader does not delete", {"signal/a.cpp": 'auto a = q("DELETE FROM hone.spans");'}, "uses the table hone.spans")
expect("others do not read", {"access/a.cpp": 'auto a = q("SELECT 1 FROM hone.spans");'}, "uses the table hone.spans")
expect("a table without owner", {"sql/migrations/0002_new.sql": "CREATE TABLE pets (id TEXT);"}, "names no owner of the table pets")
expect("a table that a migration drops", {"sql/migrations/0002_new.sql": "DROP TABLE issues;"}, "names the table issues, which no migration creates")
expect("a table that a migration renames", {"sql/migrations/0002_new.sql": "ALTER TABLE issues RENAME TO problems;"},
       "names no owner of the table problems", "names the table issues")
expect("a table that is gone", {}, "names the table pets, which no migration creates", extra_layers="tables run pets\n")
expect("two owners", {}, "the table users has two owners", extra_layers="tables access users\n")
expect("a type of one name twice", {"run/a.cpp": "namespace hone {\nstruct List {\n};\n} // namespace hone\n",
                                    "run/b.cpp": "namespace hone {\nstruct List {\n};\n} // namespace hone\n"}, "defines List")
expect("a type of one name in two namespaces", {"run/a.cpp": "namespace hone {\nstruct List {\n};\n} // namespace hone\n",
                                                "run/b.cpp": "namespace hone {\nnamespace {\nstruct List {\n};\n} // namespace\n} // namespace hone\n"})
expect("an include upwards", {"access/a.cpp": '#include "run/runs.h"'}, "access may not use run")

print("the check of layers refuses what it must" if failures == 0 else f"{failures} failed")
sys.exit(1 if failures else 0)
