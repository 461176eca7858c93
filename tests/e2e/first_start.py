"""The first start of docs/install.md, typed line by line with every default, also the ports: in a network of its own."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile

from server import PATIENCE, needs
from telemetry import TESTS

DOCUMENT = TESTS.parent / "docs/install.md"
END = "-- end of "


def transcript():
    """[(command, what it prints)] of the block of the section."""
    section = DOCUMENT.read_text().split("\n## First start\n")[1].split("\n## ")[0]
    [block] = re.findall(r"^```\n(.*?)^```", section, re.S | re.M)
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif line.startswith("> "):
            steps[-1] = (steps[-1][0] + "\n" + line[2:], [])
        else:
            steps[-1][1].append(line)
    return steps


class Changing:
    """What differs each time: ids, times, numbers and the password. One that comes twice has to be the same one."""

    ANY = re.compile(r"(?P<id>\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b)|\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d\.\d+|(?<=version=)\d+|(?<=Password   )\S{20}$")

    def __init__(self):
        self.ids = {}

    def plain(self, line):
        return self.ANY.sub(lambda found: self.ids.setdefault(found["id"], f"<id {len(self.ids)}>") if found["id"] else "<x>", line)


def end_all_of(process):
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_first_start_of_the_document_prints_what_it_shows(binary, stack):
    own_network = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    needs("network namespaces", subprocess.run([*own_network, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0)
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-first-", ignore_cleanup_errors=True)))
    (folder / "here").mkdir()
    (folder / "home").mkdir()
    environment = {"PATH": f"{binary.parent}:{os.environ['PATH']}", "HOME": str(folder / "home")}
    steps = transcript()
    assert len(steps) > 10, steps
    script = "ip link set lo up\n" + "".join(f"{command}\necho '{END}'$?\n" for command, _ in steps) + "kill %1; wait %1\n"
    # A script, so that no command reads what follows it.
    (folder / "script").write_text(script)
    typed = subprocess.Popen([*own_network, "bash", str(folder / "script")], cwd=folder / "here", env=environment, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    stack.callback(end_all_of, typed)
    text, _ = typed.communicate(timeout=PATIENCE)
    printed = re.split(f"^{END}(\\d+)\n", text, flags=re.M)
    shown, found = Changing(), Changing()
    for number, (command, lines) in enumerate(steps):
        assert len(printed) > 2 * number + 1, (command, text)
        output, status = printed[2 * number].splitlines(), printed[2 * number + 1]
        assert status == "0", (command, text)
        assert [found.plain(line) for line in output] == [shown.plain(line) for line in lines], (command, text)
