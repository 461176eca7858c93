#!/usr/bin/env python3
"""Checks that the documents match the program and the source tree.

usage: check_docs.py [HONE_BINARY] [--write]

1. Documents that the program prints are compared with what it prints (only with HONE_BINARY).
2. Lists between <!-- checked: NAME --> and <!-- end --> are compared with the source tree.
3. Files, links, functions and ADRs that the prose names must exist.

--write writes 1 and 2 instead of comparing them: ./dev docs.
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
src = root / "src"
write = "--write" in sys.argv
binaries = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
problems: list[str] = []

PRINTED = {
    "docs/openapi.json": ["print", "openapi"],
    "docs/config.md": ["print", "config"],
    "docs/permissions.md": ["print", "permissions"],
    "docs/cli.md": ["help", "--markdown"],
    "web/src/api_types.ts": ["print", "types"],
}


def check_printed(binary: str) -> None:
    for name, command in PRINTED.items():
        printed = subprocess.run([binary, *command], check=True, capture_output=True, text=True,
                                 env={"NO_COLOR": "1", "HOME": "/nonexistent"}).stdout
        path = root / name
        if write:
            path.write_text(printed)
        elif not path.exists() or path.read_text() != printed:
            problems.append(f"{name} differs from `hone {' '.join(command)}`: run ./dev docs")


# --- lists that are compared with the source tree --------------------------------------------------------------------

sources: dict[str, str] = {}  # of the program, without tests
for file in sorted([*src.rglob("*.h"), *src.rglob("*.cpp")]):
    if not re.search(r"\.test\.|\.fuzz\.|/testing|_fixture\.h|/test_", str(file.relative_to(root))):
        sources[str(file.relative_to(root))] = file.read_text(errors="replace")


def folder_of(name: str) -> str:
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else name


def code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def files_with(pattern: str, under: str = "src/") -> list[str]:
    return [name for name, text in sources.items() if name.startswith(under) and re.search(pattern, text)]


def list_routes() -> str:
    files = files_with(r"\broute<\w+(?:, \w+)?>\(\"", "src/api/")
    return "\n".join(f"- `{name}`" for name in files)


def list_libraries() -> str:
    rows = ["| header | folders |", "|---|---|"]
    for line in (src / "layers.txt").read_text().splitlines():
        if line.startswith("libraries "):
            _, header, *owners = line.split("#")[0].split()
            rows.append(f"| `<{header}>` | {code(['src/' + owner for owner in owners])} |")
    return "\n".join(rows)


def list_clocks() -> str:
    files = files_with(r"(?:system_clock|steady_clock)::now\(|(?<![\"_])\bclock_gettime\((?!\))")
    return "\n".join(f"- `{name}`" for name in files)


def list_permissions() -> str:
    found: dict[str, set[str]] = {}
    for name, text in sources.items():
        if not name.endswith(("_routes.cpp", "routes.cpp")) and not name.startswith("src/access/permission."):
            found.setdefault(folder_of(name), set()).update(re.findall(r"\bPermission::([a-z_]+)\b", text))
    rows = [f"| `{folder}` | {code(sorted(names))} |" for folder, names in found.items() if names]
    return "\n".join(["| folder | permissions |", "|---|---|", *rows])


def list_tables() -> str:
    tables: set[str] = set()
    for file in sorted((src / "sql/migrations").glob("*.sql")):
        text = file.read_text()
        tables |= set(re.findall(r"CREATE TABLE (\w+)", text))
        tables -= set(re.findall(r"DROP TABLE (?:IF EXISTS )?(\w+)", text))
        for old, new in re.findall(r"ALTER TABLE (\w+) RENAME TO (\w+)", text):
            tables = tables - {old} | {new}
    writers: dict[str, set[str]] = {table: set() for table in tables}
    for name, text in sources.items():
        for table in re.findall(r"(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)", text):
            if table in writers:
                writers[table].add(folder_of(name))
    rows = ["| table | written by |", "|---|---|"]
    return "\n".join(rows + [f"| `{table}` | {code(sorted(writers[table]))} |" for table in sorted(writers)])


def list_suites() -> str:
    script = (root / "dev").read_text()
    named = {name for name in re.findall(r"^suite_(\w+)\(\)", script, re.M)}
    optional = re.search(r"^optional_suites\(\) \{(.*?)\}", script, re.M | re.S)
    extra = set(re.findall(r"echo ([\w ]+?)(?:;|$)", optional.group(1).strip(), re.M)) if optional else set()
    extra = {word for words in extra for word in words.split()}
    return f"Default: {code(sorted(named - extra))}. On request: {code(sorted(extra))}."


CHECKED = {
    "routes": list_routes, "libraries": list_libraries, "clocks": list_clocks, "permissions": list_permissions,
    "tables": list_tables, "suites": list_suites,
}


def check_lists(document: pathlib.Path) -> None:
    text = document.read_text()

    def replace(match: re.Match[str]) -> str:
        name, body = match.group(1), match.group(2)
        if name not in CHECKED:
            problems.append(f"{document.relative_to(root)}: no list is named {name}; there are: {' '.join(CHECKED)}")
            return match.group(0)
        expected = CHECKED[name]()
        if body.strip() == expected.strip():
            return match.group(0)
        if not write:
            wrong = sorted(set(body.strip().splitlines()) ^ set(expected.strip().splitlines()))
            problems.append(f"{document.relative_to(root)}: the list {name} differs from the source tree: run ./dev docs; " + "; ".join(wrong[:6]))
        return f"<!-- checked: {name} -->\n\n{expected}\n\n<!-- end -->"

    replaced = re.sub(r"<!-- checked: (\w+) -->(.*?)<!-- end -->", replace, text, flags=re.S)
    if write and replaced != text:
        document.write_text(replaced)


# --- names in the prose ----------------------------------------------------------------------------------------------

tops = {path.name for path in root.iterdir()} - {"build", "hone-demo"}
tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                         capture_output=True, text=True).stdout.splitlines()
file_names = {pathlib.PurePath(name).name for name in tracked if (root / name).exists()}
everything = "\n".join(sources.values())
test_names = [name for file in src.rglob("*.test.cpp") for name in re.findall(r'TEST_CASE\("((?:[^"\\]|\\.)*)"', file.read_text())]


def check_names(document: pathlib.Path) -> None:
    text, where = document.read_text(), document.relative_to(root)
    for word in sorted(set(re.findall(r"`([\w./-]+/[\w./-]*)`", text))):
        if word.split("/")[0] in tops and not word.startswith(("web/out", "web/node_modules")) and not (root / word).exists():
            problems.append(f"{where} names {word}, which does not exist")
    for word in sorted(set(re.findall(r"`(\w[\w.-]*\.(?:h|cpp|py|sh|mjs))`", text))):
        if word not in file_names:
            problems.append(f"{where} names {word}, which does not exist")
    for scope, name in sorted(set(re.findall(r"`(?:\w+::)*(\w+)::(\w+)(?:\([^`]*\))?`", text))):
        if not re.search(rf"\b{name}\b", everything) or not re.search(rf"\b{scope}\b", everything):
            problems.append(f"{where} names {scope}::{name}, which is not in src/")
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        if not (document.parent / target).exists():
            problems.append(f"{where} links to {target}, which does not exist")
    for start in sorted(set(re.findall(r'"([^"\n]+) …"', text))):
        if not any(name.startswith(start) for name in test_names):
            problems.append(f"{where} names the test \"{start} …\", which does not exist")
    for number in sorted(set(re.findall(r"\bADR (\d{4})\b", text))):
        if not list((root / "docs/adr").glob(f"{number}-*.md")):
            problems.append(f"{where} names ADR {number}, which does not exist")


def check_adrs() -> None:
    for number, file in enumerate(sorted((root / "docs/adr").glob("*.md")), start=1):
        if not file.name.startswith(f"{number:04}-"):
            problems.append(f"{file.relative_to(root)}: its number must be {number:04}: ADRs are numbered without gaps")
        text = file.read_text()
        if not text.startswith(f"# {number:04}: "):
            problems.append(f"{file.relative_to(root)}: must begin with \"# {number:04}: \"")
        for part in ("Context", "Decision", "Consequences", "What would change our mind"):
            if not re.search(rf"(?:\*\*|## ){part}\b", text):
                problems.append(f"{file.relative_to(root)} has no part \"{part}\"")
    for name, text in sources.items():
        for number in re.findall(r"\bADR (\d{4})\b", text):
            if not list((root / "docs/adr").glob(f"{number}-*.md")):
                problems.append(f"{name} names ADR {number}, which does not exist")


def check_rooms() -> None:
    """Each room of src/layers.txt is described in the README of its folder."""
    for line in (src / "layers.txt").read_text().splitlines():
        if match := re.match(r"(\w+)/([\w/]+) ->", line):
            readme = src / match.group(1) / "README.md"
            if readme.exists() and f"`{match.group(2)}/`" not in readme.read_text():
                problems.append(f"{readme.relative_to(root)} does not describe the room `{match.group(2)}/`")


if binaries:
    check_printed(binaries[0])
elif not write:
    print("not compared with the program: no binary named")
prose = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *src.glob("*/README.md"), *(root / "tests").glob("*/README*.md")]
for document in sorted(prose):
    check_lists(document)
    check_names(document)
check_adrs()
check_rooms()
print("\n".join(problems) or "documents match the tree")
sys.exit(1 if problems else 0)
