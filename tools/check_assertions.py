#!/usr/bin/env python3
"""Finds assertions that cannot fail, or that accept two outcomes where one is right: constants, tuples, `status in (200,
401)`, `status == 200 || status == 401`, `status < 500`, an assertion whose failure is caught and ignored, tests without
any assertion. And tests that leave themselves out without being counted: a test that prints and returns, or a plain
`return` from a test, where `needs` (tests/e2e/server.py) or `skip_test` (src/base/testing.h) would name and count it.
Where a race really decides between the outcomes, `either: reason` in a comment on the line, or on the one before, reports
it. Doctest cases without an assertion are found when they run (src/test_main.cpp).

usage: check_assertions.py [--self-test]
"""
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


def own_nodes(node: ast.AST):
    """The nodes of a function, without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield child
            yield from own_nodes(child)


def check_python(path: pathlib.Path, text: str) -> None:
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
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for each in own_nodes(node):
                if isinstance(each, ast.Return) and each is not node.body[-1]:
                    report(path, each.lineno, lines, "this test ends early and counts as passed: use needs(…)")
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
    r"\b(CHECK|REQUIRE)\([\w.()]*status <=? ": "this assertion accepts more than one status",
    r"\bexpect\([^)]*status\(?\)?\)\.toBeLessThan": "this assertion accepts more than one status",
    r"\bexpect\(\[[0-9, ]+\]\)\.toContain": "this assertion accepts more than one outcome",
    r"\b(test|describe)\.(only|fixme)\(": "this leaves tests out",
}


# What opens a block of the test itself; anything else that opens one is a lambda or a type.
BLOCK = re.compile(r"\s*(\} )?(if|else|for|while|switch|do|try|catch|case|default|SUBCASE)\b|\s*\{")
LAMBDA = re.compile(r"\[[\w&=, *]*\](\(| \{)")


def returns_early(lines: list[str]):
    """Numbers of lines with a plain `return` of a doctest case itself. Lines are formatted: what encloses one is indented less."""
    is_case = False
    for number, line in enumerate(lines):
        if line.startswith("TEST_CASE"):
            is_case = True
        elif line.startswith("}"):
            is_case = False
        if not is_case or line.lstrip().startswith("//") or not re.search(r"\breturn;", line) or LAMBDA.search(line):
            continue
        at, indentation, is_own = number, len(line) - len(line.lstrip()), True
        while indentation > 4 and is_own:
            at -= 1
            other = len(lines[at]) - len(lines[at].lstrip())
            if lines[at].strip() and other < indentation:
                indentation = other
                is_own = bool(BLOCK.match(lines[at])) and not LAMBDA.search(lines[at])
        if is_own:
            yield number + 1


def check_text(path: pathlib.Path, text: str) -> None:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        for pattern, what in PATTERNS.items():
            if re.search(pattern, line):
                report(path, number, lines, what)
    for number in returns_early(lines):
        report(path, number, lines, "this test ends early and counts as passed: return skip_test(…)")


def self_test() -> None:
    """Texts with a fault have exactly that one, and texts without have none."""
    python, cpp = root / "tests/e2e/x.py", root / "src/x.test.cpp"
    good_case = """TEST_CASE("x") {
    if (!can()) return skip_test("needs x");
    const auto each = [&](int number) {
        if (number == 0) return;
        CHECK(number == 1);
    };
    for_each_engine([](Database& database) {
        if (database.is_empty()) {
            return;
        }
    });
}
void helper() {
    return;
}
"""
    good_test = """def test_x(binary, stack):
    needs("x", True)
    def inner():
        print("seen")
        return
    assert inner() is None
    return
"""
    check_python(python, good_test)
    check_text(cpp, good_case)
    assert not problems, problems
    wrong = {
        'def test_x(binary, stack):\n    if not has_x():\n        print("no x")\n        return\n    assert x()\n': check_python,
        "def test_x(binary, stack):\n    if not has_x():\n        return\n    assert x()\n": check_python,
        "def test_x(binary, stack):\n    assert x().status in (200, 401)\n": check_python,
        "def test_x(binary, stack):\n    x()\n": check_python,
        'TEST_CASE("x") {\n    if (!can()) return;\n    CHECK(x());\n}\n': check_text,
        'TEST_CASE("x") {\n    if (!can() &&\n        !may()) {\n        MESSAGE("no");\n        return;\n    }\n}\n': check_text,
        'TEST_CASE("x") {\n    CHECK(response.status < 500 + 4);\n}\n': check_text,
        'TEST_CASE("x") {\n    CHECK((a == 1 || a == 2));\n}\n': check_text,
    }
    for text, check_it in wrong.items():
        problems.clear()
        check_it(python if check_it is check_python else cpp, text)
        assert len(set(problems)) == 1, (text, problems)
    problems.clear()


if "--self-test" in sys.argv:
    self_test()
files = subprocess.run(["git", "ls-files", "src", "tests", "web", "fuzz"], cwd=root, capture_output=True, text=True, check=True)
for name in files.stdout.splitlines():
    path = root / name
    if name.startswith("tests/") and (name.endswith(".py") or name == "tests/escape/run"):
        check_python(path, path.read_text())
    elif re.search(r"\.test\.(cpp|ts)$|\.spec\.ts$", name):
        check_text(path, path.read_text())
print("\n".join(problems) or "every assertion can fail")
sys.exit(1 if problems else 0)
