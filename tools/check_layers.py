#!/usr/bin/env python3
"""Checks src/layers.txt against every #include and against the CMake files: arrows, cycles, library headers, folders."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
src = root / "src"
problems: list[str] = []
allowed: dict[str, set[str]] = {}
libraries: list[tuple[str, set[str]]] = []

for line in (src / "layers.txt").read_text().splitlines():
    line = line.split("#")[0].strip()
    if line.startswith("libraries "):
        _, header, *owners = line.split()
        libraries.append((header, set(owners)))
    elif "->" in line:
        name, uses = line.split("->")
        allowed[name.strip()] = set(uses.split())

folders = {path.name for path in src.iterdir() if path.is_dir()}
most_files = 30  # of a room, besides its tests


def sources_in(folder: pathlib.Path) -> list[pathlib.Path]:
    return [file for file in folder.iterdir() if file.suffix in (".h", ".cpp", ".main")]


def is_test_file(file: pathlib.Path) -> bool:
    return bool(re.search(r"\.test\.|\.fuzz\.|(^|/)test(ing|_)|_fixture\.h", str(file.relative_to(src))))


rooms = {str(path.relative_to(src)) for path in src.rglob("*")
         if path.is_dir() and len(path.relative_to(src).parts) > 1 and path.name != "testing" and sources_in(path)}
for folder in sorted((folders | rooms) - allowed.keys()):
    problems.append(f"src/{folder} is missing from src/layers.txt")
for folder in sorted(allowed.keys() - folders - rooms - {"main"}):
    problems.append(f"src/layers.txt names {folder}, which does not exist")
for folder in sorted(folders | rooms):
    count = len([file for file in sources_in(src / folder) if not is_test_file(file)])
    if count > most_files:
        problems.append(f"src/{folder} holds {count} files besides its tests, more than {most_files}: split it into rooms")
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

include = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
for file in sorted([*src.rglob("*.h"), *src.rglob("*.cpp")]):
    relative = file.relative_to(src)
    folder = relative.parts[0] if len(relative.parts) > 1 else "main"
    room = str(relative.parent)
    is_test = is_test_file(file)
    for quote, path in include.findall(file.read_text(errors="replace")):
        first = path.split("/")[0]
        other = str(pathlib.PurePath(path).parent)
        if quote == '"' and first == folder and room in rooms and other != room and not is_test and other not in allowed.get(room, set()):
            problems.append(f"src/{relative} includes {path}: {room} may not use {other}")
        if quote == '"' and first in folders:
            if first != folder and first not in allowed.get(folder, set()) and not (is_test and first in ("sql", "net", "json", "crypto", "config")):
                problems.append(f"src/{relative} includes {path}: {folder} may not use {first}")
        if quote == "<" and not is_test:
            for header, owners in libraries:
                if (path == header or path.startswith(header + "/") or path.startswith(header + ".")) and folder not in owners:
                    problems.append(f"src/{relative} includes <{path}>: only {', '.join(sorted(owners))} may")

for file in sorted(src.glob("*/CMakeLists.txt")):
    if match := re.search(r"hone_component\((\w+)\s+DEPENDS\s+([\w\s]*?)(?=LIBRARIES|SOURCES|TEST_LIBRARIES|\))", file.read_text()):
        for use in match.group(2).split():
            if use not in allowed.get(match.group(1), set()):
                problems.append(f"{file.relative_to(root)}: {match.group(1)} may not depend on {use}")

print("\n".join(problems) or "includes match src/layers.txt")
sys.exit(1 if problems else 0)
