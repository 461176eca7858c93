#!/usr/bin/env python3
"""Turns a directory of files into C++: .incbin of their compressed forms and a table of net::StaticFile.

embed.py DIRECTORY OUTPUT_DIRECTORY SYMBOL
    writes OUTPUT_DIRECTORY/SYMBOL.cpp and the compressed forms of the files (by the brotli program and gzip). The
    table is `std::span<const hone::net::StaticFile> SYMBOL()`. The same input gives the same output.
"""

import gzip
import hashlib
import pathlib
import re
import subprocess
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".wasm": "application/wasm",
}
COMPRESSIBLE = {".html", ".js", ".mjs", ".css", ".json", ".map", ".svg", ".txt", ".webmanifest", ".wasm"}
HASHED = re.compile(r"[.-](?=[A-Za-z0-9]*[0-9])[A-Za-z0-9]{8,}$")

TEMPLATE = """#include "net/static_files.h"

#include <array>
#include <span>
#include <string_view>

asm(".pushsection .rodata\\n"
{assembly}
    ".popsection\\n");

extern "C" {{
{declarations}
}}

namespace {{
[[maybe_unused]] std::string_view view(const char* begin, const char* end) {{
    return {{begin, static_cast<size_t>(end - begin)}};
}}
}} // namespace

std::span<const hone::net::StaticFile> {symbol}();
std::span<const hone::net::StaticFile> {symbol}() {{
    static const std::array<hone::net::StaticFile, {count}> files{{{{
{rows}
    }}}};
    return files;
}}
"""


def forms(file: pathlib.Path, work: pathlib.Path, index: int) -> dict[str, pathlib.Path]:
    """The files to embed for one source file, by encoding."""
    content = file.read_bytes()
    if file.suffix not in COMPRESSIBLE or len(content) < 256:
        return {"identity": file}
    gzipped = work / f"{index}.gz"
    gzipped.write_bytes(gzip.compress(content, 9, mtime=0))
    brotlied = work / f"{index}.br"
    subprocess.run(["brotli", "--best", "--force", "--output=" + str(brotlied), str(file)], check=True)
    if gzipped.stat().st_size >= len(content):
        return {"identity": file}
    return {"gzip": gzipped, "brotli": brotlied}


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main() -> None:
    source, output, symbol = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    output.mkdir(parents=True, exist_ok=True)
    files = sorted((f for f in source.rglob("*") if f.is_file() and not f.name.startswith(".")),
                   key=lambda f: ("/" + f.relative_to(source).as_posix()).encode())
    assembly, declarations, rows = [], [], []
    for index, file in enumerate(files):
        views = {"identity": "{}", "gzip": "{}", "brotli": "{}"}
        for form, path in forms(file, output, index).items():
            name = f"{symbol}_{index}_{form}"
            assembly += [f".global {name}", f".global {name}_end", f"{name}:", f".incbin {quoted(str(path))}", f"{name}_end:", ".byte 0"]
            declarations.append(f"extern const char {name}[], {name}_end[];")
            views[form] = f"view({name}, {name}_end)"
        etag = quoted('"' + hashlib.sha256(file.read_bytes()).hexdigest()[:20] + '"')
        kind = quoted(TYPES.get(file.suffix, "application/octet-stream"))
        immutable = "true" if HASHED.search(file.stem) else "false"
        path = quoted("/" + file.relative_to(source).as_posix())
        rows.append(f"        {{{path}, {kind}, {views['identity']}, {views['gzip']}, {views['brotli']}, {etag}, {immutable}}},")
    (output / f"{symbol}.cpp").write_text(TEMPLATE.format(
        symbol=symbol, count=len(rows), rows="\n".join(rows), declarations="\n".join(declarations),
        assembly="\n".join("    " + quoted(line + "\n").replace("\n", "\\n") for line in assembly) or '    ""'))


if __name__ == "__main__":
    main()
