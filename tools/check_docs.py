#!/usr/bin/env python3
"""Compares the committed documents that are made from the program with what the program prints, and checks that every
file that the prose names exists.

usage: check_docs.py HONE_BINARY [--write]
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
binary, write = sys.argv[1], "--write" in sys.argv
problems: list[str] = []

PRINTED = {
    "docs/openapi.json": ["print", "openapi"],
    "docs/config.md": ["print", "config"],
    "docs/permissions.md": ["print", "permissions"],
    "docs/cli.md": ["help", "--markdown"],
    "web/src/api_types.ts": ["print", "types"],
}
for name, command in PRINTED.items():
    printed = subprocess.run([binary, *command], check=True, capture_output=True, text=True, env={"NO_COLOR": "1", "HOME": "/nonexistent"}).stdout
    path = root / name
    if write:
        path.write_text(printed)
    elif not path.exists() or path.read_text() != printed:
        problems.append(f"{name} differs from `hone {' '.join(command)}`: run ./dev docs")

# Words in `backquotes` that look like a path of this repository must exist.
prose = [root / "README.md", root / "CONTRIBUTING.md", root / "AGENTS.md", root / "SECURITY.md", *(root / "docs").rglob("*.md"), *root.glob("src/*/README.md")]
tops = {path.name for path in root.iterdir()}
for document in prose:
    if not document.exists():
        problems.append(f"{document.relative_to(root)} is missing")
        continue
    text = document.read_text()
    for word in re.findall(r"`([\w./-]+/[\w./-]*)`", text):
        first = word.split("/")[0]
        if first in tops - {"build", "hone-demo"} and "…" not in word and not word.startswith("web/out") and not word.startswith("web/node_modules"):
            if not (root / word).exists():
                problems.append(f"{document.relative_to(root)} names {word}, which does not exist")
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
        if not (document.parent / target).exists():
            problems.append(f"{document.relative_to(root)} links to {target}, which does not exist")

print("\n".join(problems) or "documents are true")
sys.exit(1 if problems else 0)
