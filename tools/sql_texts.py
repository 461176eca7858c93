"""The texts of C++ code, for the checks that read its SQL."""
import re

token = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\s+)|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)\"|'(?:[^'\\\n]|\\.)+'|.""",
    re.S)


def sql_texts(code: str) -> list[tuple[int, str]]:
    """Every text of the code with its line; neighbouring literals are one text, as for the compiler."""
    texts: list[tuple[int, str]] = []
    current: list[str] | None = None
    for match in token.finditer(code):
        literal = match["raw"] if match["raw"] is not None else match["text"]
        if literal is not None:
            if current is None:
                current = []
                texts.append((code.count("\n", 0, match.start()) + 1, ""))
            current.append(literal)
            texts[-1] = (texts[-1][0], "".join(current))
        elif match["skip"] is None:
            current = None
    return texts
