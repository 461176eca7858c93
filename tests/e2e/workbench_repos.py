"""Five small repositories as developers have them, made anew: each with a test that fails, and a worker's way to mend it."""

import json
import os
import pathlib
import subprocess
import textwrap

# Of these versions all packages exist on mirrors that have those of one platform only.
VITEST, VITE = "0.34.6", "4.5.5"


def npm_lock(folder):
    """A lock file, as npm on this machine writes it."""
    subprocess.run(["npm", "install", "--package-lock-only", "--no-audit", "--no-fund"], cwd=folder, check=True,
                   capture_output=True, env=os.environ | {"NO_UPDATE_NOTIFIER": "1"})
    return (folder / "package-lock.json").read_text()


class Repository:
    def __init__(self, name, files, check, mend, packages, setup="auto"):
        self.name, self.files, self.check, self.mend, self.packages = name, files, check, mend, packages
        self.setup = setup

    def write(self, folder):
        for path, content in self.files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(content))
        return self


def node(scratch):
    files = {
        "package.json": json.dumps({"name": "cart", "version": "1.0.0", "private": True, "type": "module",
                                    "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": VITEST, "vite": VITE}}, indent=2),
        ".gitignore": "node_modules/\n",
        "total.js": "export const total = (a, b) => a - b;\n",
        "total.test.js": """\
            import { expect, test } from "vitest";
            import { total } from "./total.js";
            test("adds", () => expect(total(1, 2)).toBe(3));
            """,
    }
    folder = pathlib.Path(scratch, "node-lock")
    folder.mkdir()
    (folder / "package.json").write_text(files["package.json"])
    files["package-lock.json"] = npm_lock(folder)
    return Repository("node", files, "npm test", "sed -i 's/a - b/a + b/' total.js", ["npm"])


def python(_):
    files = {
        ".gitignore": "__pycache__/\n.pytest_cache/\n",
        "requirements.txt": "pytest==8.3.4\nMarkupSafe==2.1.5\n",
        "page.py": "import markupsafe\n\ndef title(text):\n    return text\n",
        "test_page.py": """\
            from page import title

            def test_title_is_escaped():
                assert title("<b>") == "&lt;b&gt;"
            """,
    }
    return Repository("python", files, "python3 -m pytest -q", "sed -i 's/return text/return str(markupsafe.escape(text))/' page.py",
                      ["pypi"])


def cplusplus(_):
    files = {
        ".gitignore": "build/\n",
        "CMakeLists.txt": """\
            cmake_minimum_required(VERSION 3.16)
            project(sum CXX)
            enable_testing()
            add_executable(sum_test sum_test.cpp)
            add_test(NAME sum COMMAND sum_test)
            """,
        "sum.h": "inline int sum(int a, int b) { return a - b; }\n",
        "sum_test.cpp": '#include "sum.h"\nint main() { return sum(1, 2) == 3 ? 0 : 1; }\n',
    }
    check = "cmake -S . -B build > /dev/null && cmake --build build > /dev/null && ctest --test-dir build"
    return Repository("cplusplus", files, check, "sed -i 's/a - b/a + b/' sum.h", [])


def monorepo(scratch):
    manifest = json.dumps({"name": "web", "version": "1.0.0", "private": True, "dependencies": {"ms": "2.1.3"}}, indent=2)
    folder = pathlib.Path(scratch, "web-lock")
    folder.mkdir()
    (folder / "package.json").write_text(manifest)
    files = {
        ".gitignore": "node_modules/\n__pycache__/\n.pytest_cache/\n",
        "packages/web/package.json": manifest,
        "packages/web/package-lock.json": npm_lock(folder),
        "packages/web/wait.js": 'module.exports = () => require("ms")("1s");\n',
        "packages/web/wait.test.js": """\
            const test = require("node:test"), assert = require("node:assert");
            test("waits two seconds", () => assert.equal(require("./wait.js")(), 2000));
            """,
        "services/api/requirements.txt": "pytest==8.3.4\n",
        "services/api/test_api.py": "def test_status():\n    assert open('status.txt').read() == 'up\\n'\n",
        "services/api/status.txt": "down\n",
    }
    check = "(cd packages/web && node --test) && (cd services/api && python3 -m pytest -q)"
    return Repository("monorepo", files, check, "sed -i 's/1s/2s/' packages/web/wait.js; echo up > services/api/status.txt",
                      ["npm", "pypi"])


def broken_lock(scratch):
    """Its lock file knows another version than its manifest: npm ci refuses, and the worker makes a new one."""
    folder = pathlib.Path(scratch, "late-lock")
    folder.mkdir()
    manifest = {"name": "late", "version": "1.0.0", "private": True, "dependencies": {"ms": "2.0.0"}}
    (folder / "package.json").write_text(json.dumps(manifest))
    lock = npm_lock(folder)
    manifest["dependencies"]["ms"] = "2.1.3"
    files = {
        ".gitignore": "node_modules/\n",
        "package.json": json.dumps(manifest, indent=2),
        "package-lock.json": lock,
        "late.test.js": """\
            const test = require("node:test"), assert = require("node:assert");
            test("a day", () => assert.equal(require("ms")("1d"), 86400000));
            """,
    }
    return Repository("broken-lock", files, "node --test", "npm install --no-audit --no-fund", ["npm"])


ALL = (node, python, cplusplus, monorepo, broken_lock)
