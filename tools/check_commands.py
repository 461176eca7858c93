#!/usr/bin/env python3
"""Checks the commands that texts of the program, its pages and the documents name: `hone …`.

usage: check_commands.py [--self-test]

A command must exist and have each option that stands behind it. Where the whole command is printed, to be copied (the
`command` of a page, a block of code, a command in backquotes or on a line of its own), it must also have as many
arguments as the command needs, and a value for each option that takes one. The commands are those of docs/cli.md and
docs/config.md, which the program prints; those of this machine are from their usage.
"""
import pathlib
import re
import shlex
import sys

root = pathlib.Path(__file__).resolve().parent.parent
cli_text = (root / "docs/cli.md").read_text()


class Command:
    """Arguments: "FILE" is needed, "[FILE]" is not. Options: the name, and whether a value follows it."""

    def __init__(self, arguments: list[str], options: dict[str, bool]):
        self.needed = len([one for one in arguments if not one.startswith("[")])
        self.most = len(arguments) if not any("…" in one or "..." in one for one in arguments) else 1000
        self.options = options


def options_of(text: str) -> dict[str, bool]:
    found = {}
    for cell in re.findall(r"^\| `(-[^`]*)` \|", text, re.M):
        *names, last = cell.split(", ")
        name, *value = last.split(" ", 1)
        found |= {one: bool(value) for one in [*names, name]}
    return found


general = options_of(cli_text.split("\n## Options of all commands")[1].split("\n## ")[0]) | {"-h": False}


def remote_commands() -> dict[str, Command]:
    found = {}
    for name, body in re.findall(r"^### hone ([\w -]+)\n(.*?)(?=^##|\Z)", cli_text, re.M | re.S):
        usage = re.search(rf"```\nhone {name}([^\n]*)\n", body)
        arguments = [one for one in (usage.group(1) if usage else "").split() if one != "[options]"]
        found[name] = Command(arguments, options_of(body) | general)
    return found


def serve_options() -> dict[str, bool]:
    return {flag: True for flag in re.findall(r"`(--[a-z][\w-]*)", (root / "docs/config.md").read_text())}


def usage_commands() -> dict[str, Command]:
    """From the usage that a command of this machine prints."""
    found = {}
    for file in (root / "src/server/commands").glob("*.cpp"):
        text = re.sub(r'"\s*\n\s*"', "", file.read_text())
        for name, rest in re.findall(r'(?:"Usage: |\\n {7})hone ([a-z]+(?: [a-z]+(?![|\w]))?)((?: [^\\"]*)?)', text):
            options = {flag: bool(value) for flag, value in re.findall(r"\[(--[\w-]+)( [^\]]+)?\]", rest)}
            options |= {flag: True for flag in re.findall(r"(?<!\[)(--[\w-]+) [A-Z]+", rest)}  # it must be given
            if "options of hone serve" in rest or name == "serve":
                options |= serve_options()
            arguments = re.sub(r"\[(--|options)[^\]]*\]|--[\w-]+ [A-Z]+", "", rest).split()
            found[name] = Command(arguments, options | {"--help": False, "-h": False, "--json": False})
    found["restore"].options |= serve_options()
    return found


def sandbox_commands() -> dict[str, Command]:
    text = (root / "src/sandbox/local/command_line.cpp").read_text()
    options = {one: True for names in re.findall(r'(?:add_(?:option|flag)[\w:]*|given\.\w+)\(\s*"(-[^"]*)"', text) for one in names.split(",")}
    return {f"{group} {verb}": Command(["[…]"], options | {"--help": False})
            for group in ("sandbox", "image") for verb in re.findall(r'add_subcommand\("(\w+)"', text)}


commands = remote_commands() | usage_commands() | sandbox_commands()
names = set(commands) | {name.split()[0] for name in commands} | {"help", "print", "shim", "spawner", "TOOL"}
tools_text = (root / "src/api/mcp/tools.cpp").read_text()
names |= set(re.findall(r'\btool<\w+>\((?:\s*\w+,)?\s*"(\w+)"', tools_text))  # inside of a run
groups = {name.split()[0] for name in commands if " " in name}
verbs = {name.split()[1] for name in commands if " " in name}


def is_command(first: str, second: str) -> bool:
    """`hone FIRST SECOND`, where the second word may be an argument of a command without a group."""
    if first in groups and first not in commands:
        return all(f"{first} {name}" in commands for name in second.split("|"))
    return first in names and (second not in verbs or first in groups)


def find(words: list[str]) -> tuple[str, list[str]]:
    pair = " ".join(words[:2])
    return (pair, words[2:]) if pair in commands else (words[0], words[1:])


def problem_of(words: list[str], whole: bool) -> str:
    """What is wrong with `hone WORDS`; empty: nothing. `whole`: nothing is left out."""
    name, rest = find(words)
    if name not in commands:
        return ""  # inside of a run, or a group; is_command has checked it
    command = commands[name]
    if "--" in rest:
        rest = rest[:rest.index("--")]
    arguments, at = 0, 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if not re.match(r"--?[a-zA-Z]", word):
            arguments += 1
            continue
        option = word.split("=")[0]
        if option not in command.options:
            return f"has no option {option}"
        if command.options[option] and "=" not in word:
            if whole and at == len(rest):
                return f"needs a value for {option}"
            at += 1
        if option == "--help":
            return ""
    if whole and name in ("harness install", "harness upgrade") and "--data-dir" not in rest:
        return "works in a data directory: --data-dir is missing"
    if whole and not command.needed <= arguments <= command.most:
        return f"needs {command.needed} arguments, not {arguments}"
    return ""


def split(text: str) -> list[str] | None:
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return None  # cut within a quoted text


problems: list[str] = []
# Words that follow the name of the program in labels that begin with it, and in prose about it.
labels = {"delivery", "socket", "unpack", "master", "command", "skill"}


def check(where: str, text: str, whole: bool) -> None:
    """`text` begins after "hone ". In prose the command ends where the sentence continues."""
    text = text.strip()
    if not whole:
        text = re.split(r"[.,;:)](?:\s|$)|\s(?:and|or|shows?|lists?|prints?|is|has|on|for|by|as|in)\s|[“”…]", text)[0]
    words = split(text)
    if not words or not re.fullmatch(r"[a-z][a-z_-]*", words[0]):
        return
    problem = problem_of(words, whole)
    if problem:
        problems.append(f"{where} prints `hone {text}`: hone {find(words)[0]} {problem}")


def literals_of(text: str, placeholder: str) -> list[str]:
    """The string literals of C++, those that are joined as one; what is computed is the placeholder."""
    text = re.sub(r"^\s*//[^\n]*|(?<=[;{}])\s*//[^\n]*", "", text, flags=re.M)
    text = re.sub(r'"\s*\n?\s*"', "", text)
    text = re.sub(r'"\s*\+\s*(?:[\w.:>*-]|\((?:[^()"]|\([^()]*\)|"[^"]*")*\)|"[^"\n]*"(?=\)))+\s*\+\s*"', placeholder, text)
    return [one[1:-1] for one in re.findall(r'"(?:[^"\\\n]|\\.)*"', text)]


def check_source(where: str, text: str) -> None:
    for literal in literals_of(text, "VALUE"):
        for begin, first, second in re.findall(r"(^|[`:(]\s*|\\n *|  )hone ([a-z][a-z_-]*)(?: ([a-z][a-z_-]*))?(?![\w=])", literal):
            if begin == "" and first in labels and not is_command(first, second):
                continue
            if not (is_command(first, second) if second else first in names):
                problems.append(f"{where} prints the command `hone {first} {second}`, which does not exist")
        plain = literal.replace('\\"', '"').replace("{}", "VALUE")
        for command in re.findall(r"`hone ([^`]+)`", plain):
            check(where, command, whole=False)
        for command in re.findall(r"(?:^|\\n) *hone ([^`\n]*?)(?=\\n|$)", plain):
            check(where, command, whole="\\n  hone" in literal and not command.endswith((".", " ")))
        for command in re.findall(r"[^`\w]hone ([^`\n]+?)(?=\\n|$|`)", plain):
            check(where, command, whole=False)


def check_page(where: str, text: str) -> None:
    text = re.sub(r"^\s*(//|/?\*)[^\n]*", "", text, flags=re.M)
    whole = re.findall(r'(?:command|text)=(?:"(hone [^"]+)"|\{(?:[^{}`\'"]*\?\s*)?(?:`(hone (?:[^`$]|\$\{[^}]*\})+)`|\'(hone [^\']+)\'|"(hone [^"]+)"))', text)
    whole = [next(one for one in groups if one) for groups in whole]
    whole += re.findall(r"(?:=>|return)\s*`(hone (?:[^`$]|\$\{[^}]*\})+)`", text) + re.findall(r"<code>(hone [^<]+)</code>", text)
    for command in whole:
        plain = re.sub(r"\$?\{[^}]*\}", "VALUE", command)
        if plain.count(" ") > 1 or "<code>" not in text:
            check(where, plain.removeprefix("hone "), whole=True)
    for first, second in re.findall(r"[\"'`>(:] *hone ([a-z][a-z_-]*)(?: ([a-z][a-z_-]*))?(?![\w=])", text):
        if first not in labels and not (is_command(first, second) if second else first in names):
            problems.append(f"{where} prints the command `hone {first} {second}`, which does not exist")
    for command in re.findall(r"\bhone ([a-z][^\"`<\n]+)", text):
        check(where, re.sub(r"\$?\{[^}]*\}", "VALUE", command), whole=False)


def check_document(where: str, text: str) -> None:
    for block in re.findall(r"^```(?:sh|bash|console|)\n(.*?)^```", text, re.M | re.S):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            line = re.sub(r"\s+\d?>\S+(\s+\d?>\S+)*(\s*&)?$", "", line)  # where the output goes
            found = re.match(r"(?:\$ )?hone ([a-z].*)", line)
            if found and not re.search("…|──", line) and " | " not in line and "$(" not in line:
                check(where, found.group(1), whole=True)
    for command in re.findall(r"`hone ([a-z][^`]+)`", text):
        check(where, re.sub(r"\[|\]", "", command), whole=False)


def check_all() -> list[str]:
    for file in sorted((root / "src").rglob("*")):
        if file.suffix in (".cpp", ".h") and ".test." not in file.name and "testing" not in file.parts:
            check_source(str(file.relative_to(root)), file.read_text())
    for file in sorted((root / "web/src").rglob("*.ts*")):
        if ".test." not in file.name and file.name != "api_types.ts":
            check_page(str(file.relative_to(root)), file.read_text())
    for file in [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "docs/adr").glob("*.md")]:
        if file.name != "cli.md":
            check_document(str(file.relative_to(root)), file.read_text())
    return sorted(set(problems))


def self_test() -> None:
    """Texts with a fault have exactly that one, and texts without have none."""
    right = 'x("Show it: hone trace " + id + " -p shop"); y("No keys. Make one:\\n  hone key create NAME");'
    check_source("right", right)
    check_page("right", '<Empty command={`hone harness install ${name} --data-dir ${dir}`} /><Empty command="hone key list --json" />')
    check_document("right", "```\n$ hone serve >hone.log 2>&1 &\n```\n")
    assert not problems, problems
    wrong = {
        'x("Its spans: hone trace show " + id);': check_source,
        'x("hone session start " + text + " --modell small");': check_source,
        'x("No keys. Make one:\\n  hone key create");': check_source,
        'x("stop it (hone session cancle) now");': check_source,
        "<Empty command={`hone experiment list --dataset ${name}`} />": check_page,
        "const command = (name) => `hone harness install ${name}`;": check_page,
        "<CodeBlock text={`hone preset export ${id} -o`} />": check_page,
        "```\nhone key create ci --for-ever\n```\n": check_document,
    }
    for text, check_it in wrong.items():
        problems.clear()
        check_it("wrong", text)
        assert len(set(problems)) == 1, (text, problems)
    problems.clear()


if __name__ == "__main__":
    if "--self-test" in sys.argv:
        self_test()
    found = check_all()
    print("\n".join(found) or f"the texts name commands that exist ({len(commands)} are known)")
    sys.exit(1 if found else 0)
