#!/usr/bin/env python3
"""Finds assertions that cannot fail, or that accept two outcomes where one is right: constants, tuples, `status in (200,
401)`, `status == 200 || status == 401`, `status < 500`, an assertion whose failure is caught and ignored, tests without
any assertion. Where a race really decides between the outcomes, `either: reason` in a comment on the line, or on the one
before, reports it. Doctest cases without an assertion are found when they run (src/test_main.cpp)."""
import ast
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
problems: list[str] = []


def report(path: pathlib.Path, number: int, lines: list[str], what: str) -> None:
    if not any("either: " in line for line in lines[max(0, number - 2) : number]):
        problems.append(f"{path.relative_to(root)}:{number}: {what}")


def is_status(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and 100 <= node.value <= 599


def accepts_two(test: ast.expr) -> bool:
    for node in ast.walk(test):
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        right = node.comparators[0]
        if isinstance(node.ops[0], (ast.In, ast.NotIn, ast.LtE)) and isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            if sum(is_status(each) for each in right.elts) > 1:
                return True
        if isinstance(node.ops[0], (ast.Lt, ast.LtE)) and "status" in ast.unparse(node.left) and is_status(right):
            return True
    return False


def check_python(path: pathlib.Path) -> None:
    text = path.read_text()
    lines, tree = text.splitlines(), ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            if isinstance(node.test, (ast.Constant, ast.Tuple)):
                report(path, node.lineno, lines, "this assertion is always true or always false")
            elif accepts_two(node.test):
                report(path, node.lineno, lines, "this assertion accepts more than one status")
        # A check that reports instead of asserting: `if status not in (200, 401): return "…"`.
        if isinstance(node, ast.If) and accepts_two(node.test) and "not in" in ast.unparse(node.test):
            report(path, node.lineno, lines, "this check accepts more than one status")
        # The statuses that a case may have: `attack("…", [413, 429])`.
        if isinstance(node, ast.Call) and any(isinstance(each, ast.List) and sum(map(is_status, each.elts)) > 1
                                              for each in [*node.args, *(word.value for word in node.keywords)]):
            report(path, node.lineno, lines, "this case accepts more than one status")
        if isinstance(node, ast.Try) and any(isinstance(each, ast.Assert) for line in node.body for each in ast.walk(line)):
            for handler in node.handlers:
                caught = "" if handler.type is None else ast.unparse(handler.type)
                ignores = all(isinstance(line, ast.Pass) for line in handler.body)
                if ignores and (not caught or re.search(r"\b(AssertionError|Exception|BaseException)\b", caught)):
                    report(path, handler.lineno, lines, "this catches the failure of an assertion and ignores it")
    if "e2e" in path.parts:
        asserting = {"must", "wait_until"}  # and functions that call others that assert
        functions = {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}
        for name, function in functions.items():
            called = {ast.unparse(each.func).split(".")[-1] for each in ast.walk(function) if isinstance(each, ast.Call)}
            has_assert = any(isinstance(each, ast.Assert) for each in ast.walk(function))
            if name.startswith("test_") and not has_assert and not called & (asserting | functions.keys()):
                problems.append(f"{path.relative_to(root)}:{function.lineno}: {name} has no assertion")


PATTERNS = {
    r"\b(CHECK|REQUIRE)(_FALSE)?\((true|false|0|1)\)": "this assertion is always true or always false",
    r"\b(?:CHECK|REQUIRE)\(\((?P<left>[^|&]+?) == [^|&]+ \|\| (?P=left) == ": "this assertion accepts two outcomes",
    r"\bexpect\((true|false|1|0)\)": "this assertion is always true or always false",
    r"\bexpect\([^)]*status\(?\)?\)\.toBeLessThan": "this assertion accepts more than one status",
    r"\bexpect\(\[[0-9, ]+\]\)\.toContain": "this assertion accepts more than one outcome",
    r"\b(test|describe)\.(only|fixme)\(": "this leaves tests out",
}


def check_text(path: pathlib.Path) -> None:
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        for pattern, what in PATTERNS.items():
            if re.search(pattern, line):
                report(path, number, lines, what)


files = subprocess.run(["git", "ls-files", "src", "tests", "web", "fuzz"], cwd=root, capture_output=True, text=True, check=True)
for name in files.stdout.splitlines():
    path = root / name
    if name.startswith("tests/") and (name.endswith(".py") or name == "tests/escape/run"):
        check_python(path)
    elif re.search(r"\.test\.(cpp|ts)$|\.spec\.ts$", name):
        check_text(path)
print("\n".join(problems) or "every assertion can fail")
sys.exit(1 if problems else 0)
