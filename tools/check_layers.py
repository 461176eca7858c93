#!/usr/bin/env python3
"""Checks src/layers.txt against the sources: arrows of #include and of CMake, cycles, library headers, folders, and which
folder's SQL names which table.

    python3 tools/check_layers.py [tree]
"""
import pathlib
import re
import sys

from sql_texts import sql_texts

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
root = root if root.is_dir() else root.parent.parent
src = root / "src"
problems: list[str] = []
allowed: dict[str, set[str]] = {}
libraries: list[tuple[str, set[str]]] = []
owner_of: dict[str, str] = {}  # of a table
readers: dict[str, set[str]] = {}  # other folders that may read a table
any_table: set[str] = set()  # folders that may put the names of tables together

for line in (src / "layers.txt").read_text().splitlines():
    line = line.split("#")[0].strip()
    if line.startswith("libraries "):
        _, header, *owners = line.split()
        libraries.append((header, set(owners)))
    elif line.startswith("tables "):
        _, owner, *tables = line.split()
        for table in tables:
            if table in owner_of:
                problems.append(f"src/layers.txt: the table {table} has two owners, {owner_of[table]} and {owner}")
            owner_of[table] = owner
    elif line.startswith("readers "):
        _, table, *folders = line.split()
        readers[table] = set(folders)
    elif line.startswith("any_table "):
        any_table |= set(line.split()[1:])
    elif "->" in line:
        name, uses = line.split("->")
        allowed[name.strip()] = set(uses.split())

folders = {path.name for path in src.iterdir() if path.is_dir()}
most_files = 27  # of a subfolder, besides its tests


def sources_in(folder: pathlib.Path) -> list[pathlib.Path]:
    return [file for file in folder.iterdir() if file.suffix in (".h", ".cpp", ".main")]


def is_test_file(file: pathlib.Path) -> bool:
    return bool(re.search(r"\.test\.|\.fuzz\.|(^|/)test(ing|_)|_fixture\.h", str(file.relative_to(src))))


subfolders = {str(path.relative_to(src)) for path in src.rglob("*")
         if path.is_dir() and len(path.relative_to(src).parts) > 1 and path.name != "testing" and sources_in(path)}
for folder in sorted((folders | subfolders) - allowed.keys()):
    problems.append(f"src/{folder} is missing from src/layers.txt")
for folder in sorted(allowed.keys() - folders - subfolders - {"main"}):
    problems.append(f"src/layers.txt names {folder}, which does not exist")
for folder in sorted(folders | subfolders):
    count = len([file for file in sources_in(src / folder) if not is_test_file(file)])
    if count > most_files:
        problems.append(f"src/{folder} holds {count} files besides its tests, more than {most_files}: split it into subfolders")
for folder in sorted(folders):
    readme = src / folder / "README.md"
    if not readme.exists():
        problems.append(f"src/{folder}/README.md is missing")
    elif len(readme.read_text().splitlines()) > 40:
        problems.append(f"src/{folder}/README.md is longer than 40 lines")


def find_cycle() -> list[str] | None:
    state: dict[str, int] = {}

    def visit(node: str, path: list[str]) -> list[str] | None:
        state[node] = 1
        for use in sorted(allowed.get(node, ())):
            if state.get(use) == 1:
                return path + [node, use]
            if use not in state and (cycle := visit(use, path + [node])):
                return cycle
        state[node] = 2
        return None

    for node in allowed:
        if node not in state and (cycle := visit(node, [])):
            return cycle
    return None


if cycle := find_cycle():
    problems.append("layers.txt has a cycle: " + " -> ".join(cycle))

# --- SQL: a table's name stands only in the texts of the folder that owns it --------------------------------------------

table_use = re.compile(
    r"\b(?P<verb>FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+|ONLY\s+)?(?P<table>[a-z_][a-z0-9_.]*)"
    r"(?P<more>(?:\s+(?:AS\s+)?\w+)?(?:\s*,\s*[a-z_][a-z0-9_.]*(?:\s+(?:AS\s+)?\w+)?)*)")
open_end = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+(?:\{[^}]*\}|$)")


def table_uses(text: str) -> list[tuple[str, bool]]:
    """The tables that a SQL text names, and whether it only reads them."""
    uses = []
    for use in table_use.finditer(text):
        before = text[:use.start()].rstrip()
        is_read = use["verb"] in ("FROM", "JOIN") and not before.endswith("DELETE")
        names = [use["table"]]
        if use["verb"] == "FROM":
            names += [part.split()[0] for part in use["more"].split(",")[1:]]
        uses += [(name, is_read) for name in names]
    return uses


known_tables = set()
for file in sorted(src.glob("sql/migrations/*.sql")):
    migration = file.read_text()
    known_tables |= set(re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", migration))
    known_tables -= set(re.findall(r"DROP TABLE (?:IF EXISTS )?(\w+)", migration))
    for old, new in re.findall(r"ALTER TABLE (\w+) RENAME TO (\w+)", migration):
        known_tables = known_tables - {old} | {new}
for table in sorted(known_tables - owner_of.keys()):
    problems.append(f"src/layers.txt names no owner of the table {table}")
for table in sorted(owner_of):
    if "." not in table and table not in known_tables and owner_of[table] != "sql":
        problems.append(f"src/layers.txt names the table {table}, which no migration creates")
    if owner_of[table] not in folders:
        problems.append(f"src/layers.txt: the owner of the table {table} is {owner_of[table]}, which is no folder")

for file in sorted([*src.rglob("*.h"), *src.rglob("*.cpp"), *src.rglob("*.main")]):
    relative = file.relative_to(src)
    folder = relative.parts[0] if len(relative.parts) > 1 else "main"
    if is_test_file(file):
        continue
    for line, text in sql_texts(file.read_text(errors="replace")):
        if open_end.search(text) and folder not in any_table:
            problems.append(f"src/{relative}:{line} puts the name of a table together: write it in the text, so that its owner can be checked")
        for table, is_read in table_uses(text):
            owner = owner_of.get(table)
            if owner is None or owner == folder or (is_read and folder in readers.get(table, set())):
                continue
            problems.append(f"src/{relative}:{line} uses the table {table}: it belongs to {owner}, call a function of that folder")

include = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
for file in sorted([*src.rglob("*.h"), *src.rglob("*.cpp")]):
    relative = file.relative_to(src)
    folder = relative.parts[0] if len(relative.parts) > 1 else "main"
    subfolder = str(relative.parent)
    is_test = is_test_file(file)
    for quote, path in include.findall(file.read_text(errors="replace")):
        first = path.split("/")[0]
        other = str(pathlib.PurePath(path).parent)
        if quote == '"' and first == folder and subfolder in subfolders and other != subfolder and not is_test and other not in allowed.get(subfolder, set()):
            problems.append(f"src/{relative} includes {path}: {subfolder} may not use {other}")
        if quote == '"' and first in folders:
            if first != folder and first not in allowed.get(folder, set()) and not (is_test and first in ("sql", "net", "json", "crypto", "config")):
                problems.append(f"src/{relative} includes {path}: {folder} may not use {first}")
        if quote == "<" and not is_test:
            for header, owners in libraries:
                if (path == header or path.startswith(header + "/") or path.startswith(header + ".")) and folder not in owners:
                    problems.append(f"src/{relative} includes <{path}>: only {', '.join(sorted(owners))} may")

# Two types of one name in one namespace are one type for the linker: it takes the functions of either for both.
defined_in: dict[tuple[str, str], pathlib.Path] = {}
for file in sorted(src.rglob("*.cpp")):
    if is_test_file(file):
        continue
    namespaces: list[str] = []
    for line in file.read_text(errors="replace").splitlines():
        if opened := re.match(r"namespace ?([\w:]*) ?\{", line):
            namespaces.append(opened.group(1))
        elif line.startswith("} // namespace") and namespaces:
            namespaces.pop()
        elif (defined := re.match(r"(?:struct|class) (\w+)(?: final)?(?: : [^;]*)? \{", line)) and "" not in namespaces:
            key = ("::".join(namespaces), defined.group(1))
            if (first := defined_in.setdefault(key, file)) != file:
                problems.append(f"src/{file.relative_to(src)} defines {key[1]}, as src/{first.relative_to(src)} does: rename one, "
                                "or put it into an anonymous namespace")

for file in sorted(src.glob("*/CMakeLists.txt")):
    if match := re.search(r"hone_component\((\w+)\s+DEPENDS\s+([\w\s]*?)(?=LIBRARIES|SOURCES|TEST_LIBRARIES|\))", file.read_text()):
        for use in match.group(2).split():
            if use not in allowed.get(match.group(1), set()):
                problems.append(f"{file.relative_to(root)}: {match.group(1)} may not depend on {use}")

print("\n".join(problems) or "includes and SQL match src/layers.txt")
sys.exit(1 if problems else 0)
