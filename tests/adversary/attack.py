"""What attacks share: canaries and the search for them, file trees before and after, a worker with a shell."""

import base64
import hashlib
import os
import pathlib
import secrets
import urllib.parse


def canary(kind="canary"):
    """A text that occurs nowhere else."""
    return f"{kind}-{secrets.token_hex(12)}"


def disguises(text):
    """The forms in which a text could have leaked."""
    plain = text.encode()
    found = {
        "plain": plain,
        "reversed": plain[::-1],
        "hex": plain.hex().encode(),
        "URL": urllib.parse.quote(text, safe="").encode(),
        "every byte escaped": "".join(f"%{byte:02X}" for byte in plain).encode(),
    }
    # Base64 depends on where the text begins: all three alignments, without the letters that its neighbours decide.
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + plain)
        found[f"base64, shifted by {shift}"] = encoded[0 if shift == 0 else 4:len(encoded) - 4]
    return found


def assert_unseen(secret, *places):
    """None of these texts, bytes or folders holds the secret, in any disguise."""
    for number, place in enumerate(places):
        if isinstance(place, pathlib.Path):
            contents = {str(file): file.read_bytes() for file in sorted(place.rglob("*"))
                        if file.is_file() and not file.is_symlink() and file.stat().st_size < 64 << 20}
        else:
            contents = {f"text {number}": place if isinstance(place, bytes) else str(place).encode()}
        for name, content in contents.items():
            for how, needle in disguises(secret).items():
                assert needle not in content, f"{name} holds the canary ({how})"


def tree(folder):
    """Every path below a folder with its kind, mode, size and content: compare before and after."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        state = path.lstat()
        content = ""
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = (oct(state.st_mode), content)
    return found


def worker(shop, script, **settings):
    """Runs a shell script as a worker to its end; what it printed, line by line."""
    run = shop.until(shop.start("/bin/sh", "-c", script, **settings)["id"])
    lines = [line for text in shop.texts(run["id"], "message") for line in text.splitlines()]
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    return run, lines
