#!/usr/bin/env python3
"""Finds words that docs/words.md replaces by plainer ones, in documents and in strings that a user can read.

usage: check_words.py [--comments] [PATH…]    what is found below the paths (all of the repository without one)
       check_words.py --self-test             whether the check finds what it must find, and nothing else

It reads Markdown (without code), string literals in C++ and Python, strings and element text in TypeScript, and the text
of shell scripts and presets. With --comments also comments and the names of functions and files in src/ and web/src.
The words, their replacements and the exceptions stand in docs/words.md, in the table "Words we do not use".

A finding fails the check, except below PENDING: folders that are not translated yet, where it is only counted.
Without PATH the last line says how many there are; naming a PATH prints them all.
"""
import pathlib
import re
import subprocess
import sys
from typing import Iterator, NamedTuple

root = pathlib.Path(__file__).resolve().parent.parent

# Folders and files that are not translated yet. Remove a line when its folder has no finding; never add one.
PENDING: list[str] = [
]

# Printed by the program: what is wrong there is found in its strings.
PRINTED = {"docs/cli.md", "docs/config.md", "docs/permissions.md", "docs/words.md"}
# Made-up conversations and recorded data, which no user reads as text of Hone.
DATA = ("src/demo/", "web/src/api_types.ts", "tools/check_words.py")


class Word(NamedTuple):
    phrase: str
    pattern: re.Pattern[str]
    replacement: str
    allowed: re.Pattern[str] | None
    allowed_files: tuple[str, ...]


class Finding(NamedTuple):
    file: str
    line: int
    phrase: str
    replacement: str


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
            words.append(Word(phrase, re.compile(phrase_pattern(phrase), re.I), cells[1], allowed, files))
    return words


# --- what a user can read in a file, as (offset, text) ---------------------------------------------------------------


def blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def markdown_text(text: str) -> Iterator[tuple[int, str]]:
    for pattern in (r"^```.*?^```", r"<!--.*?-->", r"``[^`]+``", r"`[^`]*`", r"(?<=\])\([^)]*\)", r"^(?: {4}|\t)(?![-*] ).*?$"):
        for match in list(re.finditer(pattern, text, re.M | re.S)):
            text = blank(text, match.start(), match.end())
    yield 0, text


CPP = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
ADJACENT = re.compile(r"\s*")


def cpp_strings(text: str, comments: bool) -> Iterator[tuple[int, str]]:
    """String literals; those that follow each other are one. Words without a space are names, not text."""
    joined, start, end = "", -1, -1
    for match in CPP.finditer(text):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            if comments:
                yield match.start(), token
            continue
        if token.startswith("'"):
            continue
        body = match.group(2) if token.startswith("R") else match.group(3)
        if start >= 0 and ADJACENT.fullmatch(text, end, match.start()):
            # Keeps line numbers right: the gap is white space with as many line ends.
            joined += "" if "\n" not in text[end:match.start()] else "\n" * text.count("\n", end, match.start()) if joined.endswith(" ") else "\0" * text.count("\n", end, match.start())
            joined += body
        else:
            if start >= 0:
                yield start, joined
            joined, start = body, match.start()
        end = match.end()
    if start >= 0:
        yield start, joined


STRING = re.compile(r'//[^\n]*|/\*.*?\*/|(?<![\w$])"((?:[^"\\\n]|\\.)*)"|(?<![\w$])\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`', re.S)
ELEMENT = re.compile(r"(?<=[>}])((?:[^<>{}=;]|;(?=\s[a-z]))*[A-Za-z](?:[^<>{}=;]|;(?=\s[a-z]))*)(?=[<{])")


def web_strings(text: str, comments: bool) -> Iterator[tuple[int, str]]:
    rest = text
    for match in STRING.finditer(text):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            if token.startswith("//") and text[max(0, match.start() - 1):match.start()] == ":":
                continue  # an address in element text
            if comments:
                yield match.start(), token
        elif re.search(r"\s", token) or token[1:2].isupper():
            yield match.start(), re.sub(r"\$\{[^}]*\}", lambda hole: "…" + "\n" * hole.group(0).count("\n"), token[1:-1])
        rest = blank(rest, match.start(), match.end())
    for match in ELEMENT.finditer(rest):
        if not re.search(r"\b(?:function|const|return|import|export|else|catch|type|interface|async|class)\b|\)\s*(?::|$|&&|\|\|)|[?:&|(]\s*$|\.\.\.|\]\.", match.group(1)):
            yield match.start(), match.group(1)


def python_strings(text: str, comments: bool) -> Iterator[tuple[int, str]]:
    """Strings with a space; a string that is a statement is a comment."""
    for match in re.finditer(r'#[^\n]*|(\w?)"""(.*?)"""|(\w?)"((?:[^"\\\n]|\\.)*)"', text, re.S):
        token = match.group(0)
        is_comment = token.startswith("#") or (match.group(2) is not None and not text[:match.start()].rsplit("\n", 1)[-1].strip())
        if comments if is_comment else re.search(r"\s", token):
            is_format = "f" in (match.group(1) or match.group(3) or "")
            yield match.start(), re.sub(r"\{[^{}]*\}", "…", token) if is_format else token


def texts(name: str, text: str, comments: bool) -> Iterator[tuple[int, str]]:
    suffix = pathlib.PurePath(name).suffix
    if suffix == ".md":
        yield from markdown_text(text)
    elif suffix in (".h", ".cpp"):
        for offset, string in cpp_strings(text, comments):
            if re.search(r"\s", string) or string[:1].isupper() or string.startswith(("//", "/*")):
                yield offset, string
    elif suffix in (".ts", ".tsx"):
        yield from web_strings(text, comments)
    elif suffix == ".py":
        yield from python_strings(text, comments)
    elif suffix in (".yaml", ".yml", ".toml", ".sh", ".txt") or name == "dev":
        yield 0, text


def names(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Names of files, and of functions and types where they are declared, as words."""
    yield 0, re.sub(r"[_./-]+", " ", pathlib.PurePath(name).name)
    pattern = r"\b(?:class|struct|enum class|function|const)\s+(\w+)|[\w>&*]\s+\**&?(\w+)\("
    for match in re.finditer(pattern, text):
        found = match.group(1) or match.group(2)
        yield match.start(), re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", found)


def find(name: str, text: str, words: list[Word], comments: bool = False) -> list[Finding]:
    findings: dict[tuple[int, str], Finding] = {}
    code = name.endswith((".h", ".cpp", ".ts", ".tsx"))
    sources = list(texts(name, text, comments)) + (list(names(name, text)) if comments and code else [])
    for offset, string in sources:
        joined = string.replace("\0", "")
        for word in words:
            if name.startswith(word.allowed_files) if word.allowed_files else False:
                continue
            for match in word.pattern.finditer(joined):
                if word.allowed and any(m.start() <= match.start() and match.end() <= m.end() for m in word.allowed.finditer(joined)):
                    continue
                line = text.count("\n", 0, offset) + 1 + joined.count("\n", 0, match.start())
                findings[line, word.phrase] = Finding(name, line, " ".join(match.group(0).split()), word.replacement)
    return sorted(findings.values(), key=lambda finding: (finding.line, finding.phrase))


def is_checked(name: str) -> bool:
    if name in PRINTED or name.startswith(DATA) or re.search(r"\.(?:test|spec|fuzz)\.|(?:^|/)test(?:ing)?(?:/|_|\.h)|_fixture\.h$", name):
        return False
    if name == "dev" or name.endswith(".md"):
        return not name.startswith(("fuzz/", "tests/corpus/"))
    if name.startswith("src/"):
        return name.endswith((".h", ".cpp", ".txt")) and not name.endswith("CMakeLists.txt")
    return name.startswith(("web/src/", "playbooks/", "tools/"))


def check(paths: list[str], comments: bool) -> int:
    words = read_words((root / "docs/words.md").read_text())
    if not words:
        print("docs/words.md: the table \"Words we do not use\" is missing")
        return 1
    failed, pending = 0, 0
    files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True, text=True)
    for name in sorted(set(files.stdout.splitlines())):
        file = root / name
        if not file.is_file() or not is_checked(name) or (paths and not any(name == path or name.startswith(path + "/") for path in paths)):
            continue
        is_pending = any(name == folder or name.startswith(folder + "/") for folder in PENDING)
        for finding in find(name, file.read_text(errors="replace"), words, comments):
            if is_pending:
                pending += 1
            else:
                failed += 1
            if paths or not is_pending:
                print(f"{finding.file}:{finding.line}: \"{finding.phrase}\": write {finding.replacement}")
    print(f"{failed} words to replace" + (f", {pending} in folders that are not translated yet: {' '.join(PENDING)}" if PENDING else ""))
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
    ("a.md", "A `question`, a [link](question.md), a question mark.\n\n```\nquestion\n```\n    question\n", []),
    ("a.md", "It is never told, nor is it then soon told.\n", [1]),
    ("a.md", "It is one two three four told. The questionnaire, a re-question.\n", []),
    ("docs/old.md", "whoever\n", []),
    ("docs/new.md", "\nWhoever may\n", [2]),
    ("a.cpp", 'log("the question is late"); // a question\n', [1]),
    ("a.cpp", '// a question\nauto x = key("question"); /* question */\n', []),
    ("a.cpp", 'fail("it is given"\n     " up now");\n', [1]),
    ("a.cpp", 'fail("it is "\n     "given up now");\n', [2]),
    ("a.cpp", "f('\"', \"Question\");\ng(R\"x(a\nquestion \")x\");\n", [1, 3]),
    ("a.tsx", 'const question = ask(question);\nreturn <p title="A question">The {name} gives\n up</p>;\n', [2, 2]),
    ("a.tsx", "const a = `a ${question} b`; // question\nif (a) { question(); } else { b<question>(); }\n", []),
    ("a.tsx", "<p>It can't be a question</p>\n", [1]),
    ("a.tsx", 'a ? { ...(question\n ? { b } : {}) } : c["question"];\n', []),
    ("a.py", '"""A question."""\n# question\nprint("the question")\n', [3]),
    ("a.py", 'print(f"the {question} is", "question")\n', []),
    ("dev", 'say "whoever"\n', [1]),
]
SELF_TEST_COMMENTS = [
    ("question.cpp", "// whoever\nvoid f();\n", [1, 1]),
    ("a.cpp", "Result<int> ask_question(int a);\nclass GivenUp {};\n", [1, 2]),
    ("a.tsx", "/* fine */ function isQuestion(a: string) {}\n", [1]),
]


def self_test() -> int:
    words, failed = read_words(SELF_TEST_WORDS), 0
    for comments, cases in ((False, SELF_TEST), (True, SELF_TEST_COMMENTS)):
        for name, text, expected in cases:
            lines = [finding.line for finding in find(name, text, words, comments)]
            if lines != expected:
                print(f"{name}: {text!r}: found in lines {lines}, expected {expected}")
                failed += 1
    real = {word.phrase for word in read_words((root / "docs/words.md").read_text())}
    for phrase in ("question", "given up", "whoever", "as before"):
        if phrase not in real:
            print(f"docs/words.md does not list \"{phrase}\"")
            failed += 1
    print(f"{len(SELF_TEST) + len(SELF_TEST_COMMENTS)} texts, {failed} wrong")
    return 1 if failed else 0


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    comments = "--comments" in arguments
    paths = [argument.rstrip("/") for argument in arguments if argument != "--comments"]
    for path in paths:
        if not (root / path).exists():
            print(f"{path} does not exist; paths start at the top of the repository")
            return 2
    return check(paths, comments)


if __name__ == "__main__":
    sys.exit(main())
