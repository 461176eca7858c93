#!/usr/bin/env python3
"""Finds TRY where its early return forgets what was already made.

    python3 tools/check_try.py [file...]

g++ 12 and clang 14 do not destroy the finished members of an aggregate, the finished elements of an initializer list or
the finished captures of a lambda when a statement expression returns from the middle of them, so
`Row{make_name(), TRY(find())}` leaks the name whenever find() fails. Arguments of a call and of a constructor are
destroyed as they should be. Text cannot distinguish an aggregate's braces from a constructor's, so TRY is refused in both,
except in the first element without a designator, before which nothing can have been made. The remedy is a local."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
# Words and marks; comments and literals fall away.
token = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r"|^[ \t]*#(?:\\\n|[^\n])*|[A-Za-z_]\w*|\d(?:'?[\w.])*|->|::|[^\s\w]", re.DOTALL | re.MULTILINE)
# What stands before the brace of a body; anything else before a brace makes it an initializer.
before_body = {")", "]", ";", "}", "else", "do", "try", "const", "mutable", "noexcept", "override", "final", "extern", ""}
opens_type = {"namespace", "struct", "class", "union", "enum"}


def tokens(text):
    for match in token.finditer(text):
        word = match.group()
        if word.startswith(("//", "/*")) or word.lstrip(" \t").startswith("#"):
            continue
        literal = word.startswith(('"', "'", 'R"'))
        yield match.start(), '""' if literal else word


def is_body(words, brackets):
    """Whether the brace after these words opens a body: of a function, lambda, statement, type or namespace."""
    last = words[-1] if words else ""
    if last in before_body:
        return True
    if last == ":": # of a label, or of a range in a for's head
        return not brackets or brackets[-1]["mark"] == "{"
    if last == "{":
        return brackets[-1]["body"]
    # Back to the start of the statement: a return type behind its arrow, or a type's head.
    for place in range(len(words) - 1, 0, -1):
        if words[place] in opens_type or (words[place] == "->" and words[place - 1] in (")", "mutable", "noexcept")):
            return True
        if words[place] in (";", "{", "}", "=", "return"):
            return False
    return len(words) > 0 and words[0] in opens_type


def findings(text):
    found, words, brackets = [], [], []
    for place, word in tokens(text):
        if word in ("{", "(", "["):
            brackets.append({"mark": word, "body": word == "{" and is_body(words, brackets), "later": False})
        elif word in ("}", ")", "]"):
            if brackets:
                brackets.pop()
        elif brackets and (word == "," or (word == "." and words[-1] in ("{", ","))):
            brackets[-1]["later"] = True
        elif word == "TRY":
            for bracket in reversed(brackets):
                if bracket["body"]:
                    break
                if bracket["mark"] != "(" and bracket["later"]:
                    found.append(place)
                    break
        words.append(word)
    return found


def main():
    names = sys.argv[1:] or subprocess.run(
        ["git", "ls-files", "src/*.cpp", "src/*.h"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    bad = 0
    for name in names:
        text = (root / name).read_text()
        for place in findings(text):
            bad += 1
            line = text.count("\n", 0, place) + 1
            print(f"{name}:{line}: TRY in braces leaks what stands before it; take its value into a local first")
            print("    " + text.splitlines()[line - 1].strip())
    return 1 if bad else 0


sys.exit(main())
