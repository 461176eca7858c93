#!/usr/bin/env python3
"""Checks that the documents match the program and the source tree.

usage: check_docs.py [HONE_BINARY] [--write]

1. Documents that the program prints are compared with what it prints (only with HONE_BINARY), and the chart's list of settings
   with them.
2. Lists between <!-- checked: NAME --> and <!-- end --> are compared with the source tree.
3. Files, links, functions, tests, ADRs, routes, commands and metrics that the prose names must exist; so must the commands
   that the program and its pages print, with their options and arguments (check_commands.py).

--write writes 1 and 2 instead of comparing them: ./dev docs.
"""
import json
import pathlib
import re
import subprocess
import sys

import check_commands

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


def check_chart() -> None:
    """settings.txt of the chart: the variables that its value `env` may set. Others have a value of their own, are fixed by the
    image, or are passwords."""
    chart = root / "packaging/helm/hone"
    own = set(re.findall(r"HONE_[A-Z_]+", (chart / "templates/_names.tpl").read_text()))
    own |= set(re.findall(r"HONE_[A-Z_]+", (root / "tools/package.py").read_text()))
    variables = re.findall(r"^\| .* \| `(HONE_[A-Z0-9_]+)` \|", (root / "docs/config.md").read_text(), re.M)
    listed = "".join(f"{name}\n" for name in variables if name not in own and not name.endswith("_PASSWORD"))
    path = chart / "settings.txt"
    if write:
        path.write_text(listed)
    elif not path.exists() or path.read_text() != listed:
        problems.append(f"{path.relative_to(root)} differs from docs/config.md: run ./dev docs")


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
        if not name.startswith(("src/api/", "src/access/permission.")):
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


# Name in docs/dependencies.md, and the headers that its owners include.
LIBRARIES = [
    ("Boost.Asio, Boost.Beast 1.81", "sockets, HTTP/1.1 parsing", "BSL-1.0", r"boost/(?:asio|beast)"),
    ("Boost.JSON 1.81", "JSON trees", "BSL-1.0", r"boost/json"),
    ("OpenSSL 3.0", "TLS, certificates of runs, signatures of ID tokens", "Apache-2.0", r"openssl/"),
    ("zlib", "gzip: responses, OTLP bodies, images", "zlib", r"zlib\.h"),
    ("brotli", "response compression, embedded UI", "MIT", r"brotli/"),
    ("zstd", "backups, OTLP bodies, images", "BSD-3-Clause", r"zstd\.h"),
    ("SQLite 3.40", "control-plane database, embedded", "public domain", r"sqlite3\.h"),
    ("libpq 15 (loaded at run time)", "control-plane database, PostgreSQL", "PostgreSQL", r"libpq-fe\.h"),
    ("libsodium 1.0.18", "Argon2id, BLAKE2b, XChaCha20-Poly1305, random bytes", "ISC", r"sodium"),
    ("valijson 1.0 (headers)", "JSON Schema of datasets", "BSD-2-Clause", r"valijson"),
    ("Boost.Math 1.81", "distributions of statistical tests", "BSL-1.0", r"boost/math"),
    ("libyaml 0.2", "presets, automations and monitors as files; kubeconfigs", "MIT", r"yaml\.h"),
    ("toml++ 3.3", "hone.toml", "MIT", r"toml\+\+"),
    ("CLI11 2.1", "arguments of `hone sandbox`", "BSD-3-Clause", r"CLI/"),
    ("libseccomp 2.5", "system call filters", "LGPL-2.1", r"seccomp\.h"),
    ("grpc++ 1.51 (static)", "OTLP/gRPC", "Apache-2.0", r"grpcpp"),
    ("protozero 1.7", "OTLP/protobuf decoding", "BSD-2-Clause", r"protozero"),
    ("simdjson 3.0", "OTLP/JSON decoding, JSON of spans", "Apache-2.0", r"simdjson"),
    ("Abseil 20220623", "time zones of schedules and mute windows", "Apache-2.0", r"absl/time"),
    ("RE2", "redaction patterns", "BSD-3-Clause", r"re2/"),
]


def list_dependencies() -> str:
    rows = ["| name | purpose | included by | license |", "|---|---|---|---|"]
    for name, purpose, license_name, header in LIBRARIES:
        owners = sorted({folder_of(file) for file in files_with(rf"#include <{header}")})
        if not owners:
            problems.append(f"tools/check_docs.py lists the library {name}, which no file includes")
        rows.append(f"| {name} | {purpose} | {code(owners)} | {license_name} |")
    for header in re.findall(r"^libraries (\S+)", (src / "layers.txt").read_text(), re.M):
        if not any(re.match(pattern, header + "/") for _, _, _, pattern in LIBRARIES):
            problems.append(f"docs/dependencies.md does not list <{header}> of src/layers.txt: add it to tools/check_docs.py")
    return "\n".join(rows)


CHECKED = {
    "dependencies": list_dependencies, "routes": list_routes, "libraries": list_libraries, "clocks": list_clocks, "permissions": list_permissions,
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
test_functions = {name for file in (root / "tests").rglob("*.py") if "node_modules" not in file.parts
                  for name in re.findall(r"^ *def (test_\w+)", file.read_text(), re.M)}
test_names = [name for file in src.rglob("*.test.cpp") for name in re.findall(r'TEST_CASE\("((?:[^"\\]|\\.)*)"', file.read_text())]


folders = {path.name for path in src.iterdir() if path.is_dir()} - tops


def is_in_sources(word: str, document: pathlib.Path) -> bool:
    """A path below src/ or below the document's folder, with or without the ending of the file."""
    return any((base / word).exists() or list(base.glob(word.rstrip("/") + ".*")) for base in (src, document.parent))


def check_names(document: pathlib.Path) -> None:
    text, where = document.read_text(), document.relative_to(root)
    for word in sorted(set(re.findall(r"`([\w./-]+/[\w./-]*)`", text))):
        if word.split("/")[0] in tops and not word.startswith(("web/out", "web/node_modules")) and not (root / word).exists():
            problems.append(f"{where} names {word}, which does not exist")
        elif word.split("/")[0] in folders and not is_in_sources(word, document):
            problems.append(f"{where} names {word}, which is not in src/")
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
    for name in sorted(set(re.findall(r"`(test_\w+)`", text)) - test_functions):
        problems.append(f"{where} names the test {name}, which is not in tests/")
    for number in sorted(set(re.findall(r"\bADR (\d{4})\b", text))):
        if not list((root / "docs/adr").glob(f"{number}-*.md")):
            problems.append(f"{where} names ADR {number}, which does not exist")


paths = [re.sub(r"\{\w+\}", "{}", path) for path in json.loads((root / "docs/openapi.json").read_text())["paths"]]


def check_interface(document: pathlib.Path) -> None:
    """Routes, commands and metrics that the prose names are those of the program."""
    text, where = document.read_text(), document.relative_to(root)
    for path in sorted(set(re.findall(r"`(?:GET|POST|PUT|PATCH|DELETE) (/[^\s`?]*)", text))):
        wanted = re.sub(r"\{\w+\}", "{}", path).rstrip("/")
        choices = [wanted.rsplit("/", 1)[0] + "/" + name for name in wanted.rsplit("/", 1)[-1].split("|")]
        if path.startswith("/v1/") and "…" not in path and not all(choice in paths for choice in choices):
            problems.append(f"{where} names the route {path}, which is not in docs/openapi.json")
    for words in sorted(set(re.findall(r"(?:`|^    )hone ([a-z][\w-]*(?: [a-z][\w|-]*)?)", text, re.M))):
        first, *rest = words.split(" ")
        if not (check_commands.is_command(first, rest[0]) if rest else first in check_commands.names):
            problems.append(f"{where} names the command `hone {words}`, which does not exist")
    for name in sorted(set(re.findall(r"`hone_([a-z_]+_(?:total|seconds|bytes|running|length|due|pending))\b", text))):
        if name not in everything:
            problems.append(f"{where} names the metric hone_{name}, which is not in src/")


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


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def check_row(where: pathlib.Path, text: str, subfolder: str) -> None:
    header: list[str] = []
    for line, next_line in zip(text.splitlines(), text.splitlines()[1:] + [""]):
        if next_line.startswith("|---"):
            header = cells_of(line)
        elif line.startswith(f"| `{subfolder}/` |"):
            row = dict(zip(header, cells_of(line)))
            for column in ("called by", "threads"):
                if not row.get(column):
                    problems.append(f"{where}: the row of `{subfolder}/` has no cell \"{column}\"")
            return
    problems.append(f"{where} does not describe `{subfolder}/` in a table")


def check_subfolders() -> None:
    """Each subfolder of src/layers.txt has a row in the README of its folder, with who calls it and on which threads; in a
    table of subfolders and files, the files of its row are in it."""
    for line in (src / "layers.txt").read_text().splitlines():
        if not (match := re.match(r"(\w+)/([\w/]+) ->", line)):
            continue
        folder, subfolder = src / match.group(1), match.group(2)
        readme = folder / "README.md"
        if not readme.exists():
            continue
        where, text = readme.relative_to(root), readme.read_text()
        check_row(where, text, subfolder)
        row = re.search(rf"^\| `{subfolder}/` \| ([^|]*)\|", text, re.M) if "| subfolder | files |" in text else None
        for name in re.findall(r"`([\w*]+)(?:\.h)?`", row.group(1)) if row else []:
            if not list((folder / subfolder).glob(f"{name}.*")):
                problems.append(f"{where}: the subfolder `{subfolder}/` has no file {name}")


def check_walks() -> None:
    """Each walk through the code has one list of the files that it crosses, in order: they exist, and none comes twice."""
    for name in ("span", "run", "model-call", "branch"):
        document = root / "docs" / f"life-of-a-{name}.md"
        where = document.relative_to(root)
        lists = [block for block in re.findall(r"^```\w*\n(.*?)^```$", document.read_text(), re.M | re.S) if "→" in block]
        if len(lists) != 1:
            problems.append(f"{where} has {len(lists)} lists of files in order, not one")
            continue
        files = [part.strip() for part in lists[0].split("→")]
        for file in sorted(set(files)):
            if not file.startswith("src/") or not (root / file).is_file():
                problems.append(f"{where}: its list names {file}, which does not exist")
            if files.count(file) > 1:
                problems.append(f"{where}: its list names {file} twice: the walk goes back")


def check_index() -> None:
    """README.md links to every document."""
    text = (root / "README.md").read_text()
    for document in sorted((root / "docs").glob("*.md")):
        if f"(docs/{document.name})" not in text:
            problems.append(f"README.md does not link to docs/{document.name}")


def check_changelog() -> None:
    """Components in alphabetical order, each with Added, Changed, Fixed, Security in this order."""
    order = ["Added", "Changed", "Fixed", "Security"]
    components: list[str] = []
    groups: list[str] = []
    for number, line in enumerate((root / "CHANGELOG.md").read_text().splitlines(), start=1):
        if line.startswith("## "):
            components = []
        elif line.startswith("### "):
            name = line[4:]
            if components and name < components[-1]:
                problems.append(f"CHANGELOG.md:{number}: {name} must come before {components[-1]}")
            for part in name.split(", "):
                if not (src / part).is_dir() and not (root / part).is_dir():
                    problems.append(f"CHANGELOG.md:{number}: {part} is not a folder of src/ or of the repository")
            components.append(name)
            groups = []
        elif re.fullmatch(r"[A-Z][a-z]+", line):
            if line not in order or (groups and order.index(line) <= order.index(groups[-1])):
                problems.append(f"CHANGELOG.md:{number}: the groups of a component are {', '.join(order)}, in this order")
            else:
                groups.append(line)
        elif line.startswith("- ") and (not components or not groups):
            problems.append(f"CHANGELOG.md:{number}: a change belongs to a component and a group")


if binaries:
    check_printed(binaries[0])
elif not write:
    print("not compared with the program: no binary named")
check_chart()
prose = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *src.glob("*/README.md"), *(root / "tests").glob("*/README*.md")]
for document in sorted(prose):
    check_lists(document)
    check_names(document)
    if document.parts[len(root.parts)] != "tests" and document.name not in ("cli.md", "config.md", "permissions.md"):
        check_interface(document)
problems += check_commands.check_all()
check_adrs()
check_subfolders()
check_walks()
check_index()
check_changelog()
print("\n".join(problems) or "documents match the tree")
sys.exit(1 if problems else 0)
