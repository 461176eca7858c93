#!/usr/bin/env python3
"""Finds words that docs/words.md replaces by plainer ones, in documents, in strings that a user can read, in comments,
and in the names of functions, files and tests.

usage: check_words.py [PATH…]       what is found below the paths (all of the repository without one)
       check_words.py --self-test   whether the check finds what it must find, and nothing else

It reads Markdown (without code), string literals in C++ and Python (without SQL), strings and element text in TypeScript, and
the text of shell scripts and presets; comments, and the names of functions and files, in the folders of COMMENTS; in files of
tests the names of the tests. The words, their replacements and the exceptions are in docs/words.md, in the table "Words we do
not use".

A finding fails the check, except in the folders of PENDING, which are not translated yet: there it is only counted. Without
PATH the last line counts them; with a PATH all are printed.
"""
import pathlib
import re
import subprocess
import sys
from typing import Iterator, NamedTuple

root = pathlib.Path(__file__).resolve().parent.parent

# Folders and files that are not translated yet, for each kind of text. Remove a name when it has no finding; never add one.
PENDING: dict[str, list[str]] = {
    "text": [],
    "comments": [],
    "tests": [],
}
# Where comments and names are checked too.
COMMENTS = ("dev", "playbooks/", "src/", "tools/", "web/src/")

# Printed by the program: what is wrong there is found in its strings.
PRINTED = {"docs/cli.md", "docs/config.md", "docs/permissions.md", "docs/words.md"}
# Made-up conversations and printed types, which no user reads as text of Hone; comments are checked in the first.
DATA = ("src/demo/", "web/src/api_types.ts", "tools/check_words.py")
IS_TEST = re.compile(r"\.(?:test|spec|fuzz)\.|(?:^|/)test(?:ing)?(?:/|_|\.h)|_fixture\.h$")


class Word(NamedTuple):
    phrase: str
    first: str  # its first word in lower case, to skip a text quickly
    pattern: re.Pattern[str]
    replacement: str
    allowed: re.Pattern[str] | None
    allowed_files: tuple[str, ...]


class Finding(NamedTuple):
    file: str
    line: int
    phrase: str
    replacement: str
    kind: str


class Text(NamedTuple):
    offset: int
    text: str
    kind: str = "text"  # or "comments", "tests"


def phrase_pattern(phrase: str) -> str:
    """A phrase as a regular expression: any white space between words, `*` stands for up to three words."""
    parts = [r"(?:\S+\s+){0,3}?" if part == "*" else re.escape(part) for part in phrase.split()]
    text = ""
    for index, part in enumerate(parts):
        text += part
        if index + 1 < len(parts) and not part.startswith("(?:"):
            text += r"\s+"
    return rf"(?<![\w-]){text}(?![\w-])"


def read_words(text: str) -> list[Word]:
    """The rows of the table "Words we do not use": phrases | what to write instead | phrases or files where it is right."""
    words: list[Word] = []
    section = re.search(r"^## Words we do not use$(.*?)(?=^## |\Z)", text, re.M | re.S)
    for line in (section.group(1) if section else "").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or cells[0].startswith("---") or cells[0] == "do not write":
            continue
        exceptions = [item.strip() for item in cells[2].split(",") if item.strip()]
        files = tuple(item.strip("`") for item in exceptions if item.startswith("`"))
        phrases = [phrase_pattern(item) for item in exceptions if not item.startswith("`")]
        allowed = re.compile("|".join(phrases), re.I) if phrases else None
        for phrase in (item.strip() for item in cells[0].split(",")):
            words.append(Word(phrase, phrase.split()[0].lower(), re.compile(phrase_pattern(phrase), re.I), cells[1], allowed, files))
    return words


# --- what a user can read in a file, as (offset, text) ---------------------------------------------------------------


def blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


MARKER = re.compile(r" *(?:[-*+]|\d{1,9}[.)])\s+")


def without_indented_code(text: str) -> str:
    """A line is code if it is indented by four more than the text of the list item that it belongs to, after an empty line."""
    lines, indent, is_after_gap = [], 0, True
    for line in text.splitlines(keepends=True):
        width = len(line) - len(line.lstrip(" "))
        if line.strip() == "":
            is_after_gap = True
        elif is_after_gap and (width >= indent + 4 or line.startswith("\t")):
            line = blank(line, 0, len(line))
        else:
            if marker := MARKER.match(line):
                indent = marker.end()
            elif width < indent and is_after_gap:
                indent = 0
            is_after_gap = False
        lines.append(line)
    return "".join(lines)


def markdown_text(text: str) -> Iterator[Text]:
    for pattern in (r"^ *```.*?^ *```", r"<!--.*?-->", r"``[^`]+``", r"`[^`]*`", r"(?<=\])\([^)]*\)"):
        for match in list(re.finditer(pattern, text, re.M | re.S)):
            text = blank(text, match.start(), match.end())
    yield Text(0, without_indented_code(text))


CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
ADJACENT = re.compile(r"\s*")
SQL = re.compile(r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP|WITH) ")
# Before a string of one word: it is text, not a name.
BEFORE_TEXT = re.compile(
    r"(?:\.(?:title|doc|summary|details|absent)\s*=|\b(?:invalid|conflict|forbidden|not_found|too_large|unavailable|usage|fail)\()\s*$")


def cpp_text(text: str) -> Iterator[Text]:
    """Comments and string literals; those that follow each other are one. Words without a space are names, not text."""
    joined, start, end = "", -1, -1

    def string() -> Iterator[Text]:
        plain = joined.replace("\0", "")
        is_text = re.search(r"\s", plain) or plain[:1].isupper() or BEFORE_TEXT.search(text, max(0, start - 60), start)
        if start >= 0 and is_text and not SQL.match(plain):
            yield Text(start, joined)

    for match in CPP.finditer(text):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            yield Text(match.start(), token, "comments")
            continue
        if token.startswith("'"):
            continue
        body = match.group(2) if token.startswith("R") else match.group(3)
        if start >= 0 and ADJACENT.fullmatch(text, end, match.start()):
            # Keeps line numbers right: the gap is white space with as many line ends.
            lines = text.count("\n", end, match.start())
            joined += ("\n" if joined.endswith(" ") else "\0") * lines + body
        else:
            yield from string()
            joined, start = body, match.start()
        end = match.end()
    yield from string()


class WebReader:
    """Reads TypeScript with elements: strings, comments, and the text of elements. A stack holds what the position is in:
    `{` code, `` ` `` a template, `<` a tag, `>` the content of an element, `,` the type arguments of a tag."""

    TAG = re.compile(r"<(?:[A-Za-z][\w.]*|(?=>))")
    BEFORE_VALUE = re.compile(r"(?:^|[(\[{,;=:?!&|<>+*%~^-]|\b(?:return|typeof|case|default|in|of|yield|await|else|do))\s*$")

    def __init__(self, text: str, has_elements: bool) -> None:
        self.text, self.has_elements = text, has_elements
        self.found: list[Text] = []
        self.stack = ["{"]
        self.templates: list[tuple[int, str]] = []  # the open ones: where each begins, its text so far
        self.values: list[int] = []  # where the open values of templates begin
        self.at = 0

    def read(self) -> list[Text]:
        while self.at < len(self.text):
            {"{": self.code, "`": self.template, "<": self.tag, ">": self.content, ",": self.arguments}[self.stack[-1]]()
        return self.found

    def skip(self, pattern: str) -> str:
        match = re.compile(pattern, re.S).match(self.text, self.at)
        token = match.group(0) if match else self.text[self.at]
        self.at += len(token)
        return token

    def string(self) -> None:
        start, token = self.at, self.skip(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")
        if re.search(r"\s", token) or token[1:2].isupper():
            self.found.append(Text(start, token[1:-1]))

    def is_before_value(self) -> bool:
        """Whether a value can begin here, so that `/` begins a pattern and `<` an element."""
        code = re.sub(r"//[^\n]*$|/\*(?:[^*]|\*(?!/))*\*/", "", self.text[max(0, self.at - 200):self.at].rstrip(), flags=re.M)
        return self.BEFORE_VALUE.search(code.rstrip()) is not None

    def code(self) -> None:
        here = self.text[self.at]
        if self.text.startswith(("//", "/*"), self.at):
            self.found.append(Text(self.at, self.skip(r"//[^\n]*|/\*.*?\*/"), "comments"))
        elif here in "\"'":
            self.string()
        elif here == "`":
            self.templates.append((self.at, ""))
            self.stack.append("`")
            self.at += 1
        elif here == "/" and self.is_before_value():
            self.skip(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/\w*")
        elif here == "<" and self.has_elements and self.TAG.match(self.text, self.at) and self.is_before_value():
            self.skip(r"<[\w.]*")
            self.stack.append("<")
        elif here in "{}":
            self.brace(here)
        else:
            self.skip(r"[\w$]+|\s+|.")

    def brace(self, here: str) -> None:
        if here == "{":
            self.stack.append("{")
        elif len(self.stack) > 1:
            self.stack.pop()
            if self.stack[-1] == "`":
                start, text = self.templates.pop()
                self.templates.append((start, text + "…" + "\n" * self.text.count("\n", self.values.pop(), self.at)))
        self.at += 1

    def template(self) -> None:
        """The text of a template, with `…` for its values, which are read as code."""
        token = self.skip(r"(?:[^`\\$]|\\.|\$(?!\{))+|`|\$\{")
        start, text = self.templates.pop()
        if token == "`":
            self.stack.pop()
            if re.search(r"\s", text) or text[:1].isupper():
                self.found.append(Text(start, text))
            return
        if token == "${":
            self.stack.append("{")
            self.values.append(self.at)
            token = ""
        self.templates.append((start, text + token))

    def tag(self) -> None:
        here = self.text[self.at]
        if here in "\"'":
            self.string()
        elif here == "{":
            self.brace(here)
        elif here == "<":
            self.stack.append(",")
            self.at += 1
        elif self.text.startswith("/>", self.at):
            self.stack.pop()
            self.at += 2
        elif here == ">":
            self.stack[-1] = ">"
            self.at += 1
        else:
            self.skip(r"[^\"'{}<>/]+|.")

    def arguments(self) -> None:
        token = self.skip(r"[^<>]+|.")
        if token == "<":
            self.stack.append(",")
        elif token == ">":
            self.stack.pop()

    def content(self) -> None:
        here = self.text[self.at]
        if self.text.startswith("</", self.at):
            self.skip(r"</[^>]*>")
            self.stack.pop()
        elif here == "<":
            self.skip(r"<[\w.]*")
            self.stack.append("<")
        elif here == "{":
            self.brace(here)
        else:
            start, token = self.at, self.skip(r"[^<{]+")
            if re.search(r"[A-Za-z]", token):
                self.found.append(Text(start, token))


PYTHON = re.compile(
    r'#[^\n]*|(?P<prefix>[A-Za-z]{0,2})(?P<quote>"""|\'\'\'|"|\')(?P<body>(?:(?!(?P=quote))(?:[^\\]|\\.))*?)(?P=quote)', re.S)


def python_text(text: str) -> Iterator[Text]:
    """Comments, and strings with a space; a string that is a statement is a comment."""
    for match in PYTHON.finditer(text):
        token = match.group(0)
        is_statement = match["quote"] and len(match["quote"]) == 3 and not text[:match.start()].rsplit("\n", 1)[-1].strip()
        if token.startswith("#") or is_statement:
            yield Text(match.start(), token, "comments")
        elif re.search(r"\s", match["body"]) and not SQL.match(match["body"]):
            is_format = "f" in match["prefix"].lower()
            yield Text(match.start(), re.sub(r"\{[^{}]*\}", "…", token) if is_format else token)


def script_text(text: str) -> Iterator[Text]:
    """Shell scripts, presets and other files without a reader: each line, comments apart."""
    offset = 0
    for line in text.splitlines(keepends=True):
        comment = re.search(r"(?:^|\s)#", line)
        cut = comment.start() if comment else len(line)
        yield Text(offset, line[:cut])
        if comment:
            yield Text(offset + cut, line[cut:], "comments")
        offset += len(line)


TEST_NAMES = {
    ".cpp": re.compile(r'\b(?:TEST_CASE|TEST_CASE_TEMPLATE|SUBCASE)\(\s*((?:"(?:[^"\\\n]|\\.)*"\s*)+)'),
    ".ts": re.compile(r'\b(?:test|describe|it)(?:\.\w+)?\(\s*("(?:[^"\\\n]|\\.)*"|`[^`]*`)'),
    ".py": re.compile(r'^def (?:test|check)_\w+\([^)]*\)[^:\n]*:\n\s+"""(.*?)"""', re.M | re.S),
}


def test_names(name: str, text: str) -> Iterator[Text]:
    if pattern := TEST_NAMES.get(pathlib.PurePath(name).suffix):
        for match in pattern.finditer(text):
            yield Text(match.start(1), re.sub(r'"(\s*)"', lambda gap: "\n" * gap.group(1).count("\n"), match.group(1)), "tests")


def texts(name: str, text: str) -> Iterator[Text]:
    suffix = pathlib.PurePath(name).suffix
    if suffix == ".md":
        yield from markdown_text(text)
    elif IS_TEST.search(name) or name.startswith(("tests/", "web/tests/")):
        yield from test_names(name, text)
    elif suffix in (".h", ".cpp"):
        yield from cpp_text(text)
    elif suffix in (".ts", ".tsx"):
        yield from WebReader(text, suffix == ".tsx").read()
    elif suffix == ".py":
        yield from python_text(text)
    elif suffix in (".yaml", ".yml", ".toml", ".sh", ".txt") or name == "dev":
        yield from script_text(text)
    if suffix in (".h", ".cpp", ".ts", ".tsx") and not IS_TEST.search(name):
        yield from names(name, text)


def names(name: str, text: str) -> Iterator[Text]:
    """Names of files, and of functions and types where they are declared, as words."""
    yield Text(0, re.sub(r"[_./-]+", " ", pathlib.PurePath(name).name), "comments")
    pattern = r"\b(?:class|struct|enum class|function|const)\s+(\w+)|[\w>&*]\s+\**&?(\w+)\("
    for match in re.finditer(pattern, text):
        found = match.group(1) or match.group(2)
        yield Text(match.start(), re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", found), "comments")


def find(name: str, text: str, words: list[Word]) -> list[Finding]:
    findings: dict[tuple[int, str], Finding] = {}
    for offset, string, kind in texts(name, text):
        if kind == "comments" and not name.startswith(COMMENTS) or kind != "comments" and name.startswith(DATA):
            continue
        joined = string.replace("\0", "")
        if kind == "comments":
            joined = re.sub(r"`[^`\n]*`", "`…`", joined)  # names in comments
        lowered = joined.lower()
        for word in words:
            if word.first not in lowered:
                continue
            if name.startswith(word.allowed_files) if word.allowed_files else False:
                continue
            for match in word.pattern.finditer(joined):
                if word.allowed and any(m.start() <= match.start() and match.end() <= m.end() for m in word.allowed.finditer(joined)):
                    continue
                line = text.count("\n", 0, offset) + 1 + joined.count("\n", 0, match.start())
                findings[line, word.phrase] = Finding(name, line, " ".join(match.group(0).split()), word.replacement, kind)
    return sorted(findings.values(), key=lambda finding: (finding.line, finding.phrase))


def is_checked(name: str) -> bool:
    if name in PRINTED or name.startswith(DATA[1:]):
        return False
    if name == "dev" or name.endswith(".md"):
        return not name.startswith(("fuzz/", "tests/corpus/"))
    if name.startswith("src/"):
        return name.endswith((".h", ".cpp", ".txt")) and not name.endswith("CMakeLists.txt")
    return name.startswith(("web/src/", "web/tests/", "playbooks/", "tools/", "tests/"))


def is_below(name: str, paths: list[str]) -> bool:
    return any(name == path or name.startswith(path + "/") for path in paths)


def check(paths: list[str]) -> int:
    words = read_words((root / "docs/words.md").read_text())
    if not words:
        print("docs/words.md: the table \"Words we do not use\" is missing")
        return 1
    failed, pending, used = 0, 0, set()
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True)
    for name in sorted(set(listing.stdout.splitlines())):
        file = root / name
        if not file.is_file() or not is_checked(name) or (paths and not is_below(name, paths)):
            continue
        for finding in find(name, file.read_text(errors="replace"), words):
            below = [(finding.kind, folder) for folder in PENDING[finding.kind] if is_below(name, [folder])]
            used.update(below)
            is_pending = bool(below)
            pending, failed = pending + is_pending, failed + (not is_pending)
            if paths or not is_pending:
                print(f"{finding.file}:{finding.line}: \"{finding.phrase}\": write {finding.replacement}")
    for kind, folders in PENDING.items():
        for folder in () if paths else (folder for folder in folders if (kind, folder) not in used):
            print(f"note: {folder} has no finding any more: remove it from PENDING[\"{kind}\"]")
    print(f"{failed} words to replace" + (f", {pending} in folders that are not translated yet" if pending else ""))
    return 1 if failed else 0


SELF_TEST_WORDS = """
## Words we do not use

| do not write | write | except |
|---|---|---|
| question, questions | query | question mark |
| given up, gives up | cancelled |  |
| is * told | is notified |  |
| whoever | a member with a permission | `docs/old.md` |
"""

# file name, text, the lines with a finding
SELF_TEST = [
    ("a.md", "# A question\n\nfine\nIt is given\nup.\n", [1, 4]),
    ("a.md", "A `question`, a [link](question.md), a question mark.\n\n```\nquestion\n```\n\n    question\n", []),
    ("a.md", "It is never told, nor is it then soon told.\n", [1]),
    ("a.md", "It is one two three four told. The questionnaire, a re-question.\n", []),
    ("a.md", "10. An item\n    with a question\n\n    and another question\n\n        question\n", [2, 4]),
    ("a.md", "- An item\n\n      question\n\nText\n    question\n", [6]),
    ("docs/old.md", "whoever\n", []),
    ("docs/new.md", "\nWhoever may\n", [2]),
    ("a.cpp", 'log("the question is late"); // a question\n', [1]),
    ("a.cpp", '// a question\nauto x = key("question"); /* question */\n', []),
    ("a.cpp", 'fail("it is given"\n     " up now");\n', [1]),
    ("a.cpp", 'fail("it is "\n     "given up now");\n', [2]),
    ("a.cpp", "f('\"', \"Question\");\ng(R\"x(a\nquestion \")x\");\n", [1, 3]),
    ("a.cpp", 'a = {.title = "question", .field = "question"};\nreturn not_found("question");\n', [1, 2]),
    ("a.cpp", 'run("SELECT question FROM a "\n    "WHERE whoever = ?");\nlog("Select a question");\n', [3]),
    ("a.test.cpp", 'TEST_CASE("a question "\n          "and whoever") {\n    log("a question"); // question\n}\n', [1, 2]),
    ("a.tsx", 'const question = ask(question);\nreturn <p title="A question">The {name} gives\n up</p>;\n', [2, 2]),
    ("a.tsx", "const a = `a ${question} b`; // question\nif (a) { question(); } else { b<question>(); }\n", []),
    ("a.tsx", "return <p>It can't be a question</p>;\n", [1]),
    ("a.tsx", "return (\n  <p>\n    a function (a question) to return: const\n  </p>\n);\n", [3]),
    ("a.tsx", "return <A<B> b={() => c > question}>a {d && <i>question</i>} question?</A>;\n", [1]),
    ("a.tsx", 'const a = /["question]/.test(b) ? `${c ? `x ${question}` : "a question"}` : d / question;\n', [1]),
    ("a.tsx", "f(`one ${\n  two\n} three\n a question`);\n", [4]),
    ("a.tsx", 'a ? { ...(question\n ? { b } : {}) } : c["question"];\n', []),
    ("a.ts", "const a = b < question && c > question ? 1 : 2;\n", []),
    ("a.spec.ts", 'test("a question", async () => {\n  log("a question");\n});\n', [1]),
    ("a.py", '"""A question."""\n# question\nprint("the question")\n', [3]),
    ("a.py", 'print(f"the {question} is", "question")\n', []),
    ("a.py", "print('the question', 'question', f'a {question}', \"it's a question\")\n", [1]),
    ("tests/a.py", 'def test_a():\n    """Whoever may."""\n    print("the question")\n', [2]),
    ("dev", 'say "whoever" # whoever\n', [1]),
    ("src/question.cpp", "// whoever\nvoid f();\n", [1, 1]),
    ("src/a.cpp", "Result<int> ask_question(int a);\nclass GivenUp {};\n", [1, 2]),
    ("src/a.cpp", "// The column `question` and a question.\n// `whoever`\n", [1]),
    ("src/demo/a.cpp", '// whoever\nadd("a question");\n', [1]),
    ("web/src/a.tsx", "/* fine */ function isQuestion(a: string) {}\n// whoever\n", [1, 2]),
    ("tools/a.py", '"""A question."""\n# whoever\n', [1, 2]),
    ("bench/a.cpp", "// whoever\n", []),
]


def self_test() -> int:
    words, failed = read_words(SELF_TEST_WORDS), 0
    for name, text, expected in SELF_TEST:
        lines = [finding.line for finding in find(name, text, words)]
        if lines != expected:
            print(f"{name}: {text!r}: found in lines {lines}, expected {expected}")
            failed += 1
    for file in sorted((root / "web").glob("src/**/*.ts*")):
        reader = WebReader(file.read_text(), file.suffix == ".tsx")
        reader.read()
        if reader.stack != ["{"]:
            print(f"{file.relative_to(root)}: not read to its end: {reader.stack}")
            failed += 1
    real = {word.phrase for word in read_words((root / "docs/words.md").read_text())}
    for phrase in ("question", "given up", "whoever", "as before"):
        if phrase not in real:
            print(f"docs/words.md does not list \"{phrase}\"")
            failed += 1
    print(f"{len(SELF_TEST)} texts, {failed} wrong")
    return 1 if failed else 0


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    paths = [argument.rstrip("/") for argument in arguments]
    for path in paths:
        if not (root / path).exists():
            print(f"{path} does not exist; paths start at the top of the repository")
            return 2
    return check(paths)


if __name__ == "__main__":
    sys.exit(main())
