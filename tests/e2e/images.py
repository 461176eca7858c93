"""Images from Debian packages: built by mmdebstrap from a list, used by sandboxes, named by hone check."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from server import needs
from server import run as command


def archive():
    """The archive of Debian packages that apt on this machine uses."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)|$(RELEASE)|$(REPO_URI)", "Created-By: Packages"],
                            capture_output=True, text=True).stdout
    for line in listed.splitlines():
        parts = line.split("|")
        if len(parts) == 3 and re.search(r"/debian/?$", parts[2]):
            return parts[2]
    return None


def test_an_image_is_built_from_a_list_and_used(binary, stack):
    needs("mmdebstrap", shutil.which("mmdebstrap"))
    mirror = archive()
    needs("an archive of Debian packages (apt-get indextargets)", mirror)
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-image-")))
    (folder / "tool").write_text("#!/bin/sh\necho \"tool in $MODE\"\n")
    (folder / "tool").chmod(0o755)
    (folder / "small.txt").write_text("# a small one\nFROM debian\nPACKAGES jq\nENV MODE=a test\n"
                                      "COPY tool /usr/local/bin/tool\nRUN echo \"made in $MODE\" > /etc/mark\n"
                                      "RUN apt-get -q update && apt-get -qy install --no-install-recommends hello\n")
    data = ["--data-dir", str(folder / "data")]
    built = command(binary, "image", "build", str(folder / "small.txt"), "--mirror", mirror, "--json", *data, patience=900)
    assert built.returncode == 0, built.stderr
    image = json.loads(built.stdout)
    assert image["name"] == "small" and image["version"] == 1 and image["environment"] == {"MODE": "a test"}, image
    inside = command(binary, "sandbox", "run", "--image", "small", *data, "--", "/bin/sh", "-c",
                     "echo '{\"a\": 1}' | jq .a; tool; cat /etc/mark; hello; id -u; touch /usr/x 2>&1")
    assert inside.stdout == "1\ntool in a test\nmade in a test\nHello, world!\n1000\ntouch: cannot touch '/usr/x': Read-only file system\n", inside
    assert command(binary, "image", "prune", "--age", "1d", "--json", *data).stdout.strip() == "[]"
    assert command(binary, "image", "prune", "--age", "0s", *data).stdout == "small\n"
    assert json.loads(command(binary, "image", "list", "--json", *data).stdout) == []


def test_a_list_that_is_wrong_names_its_line(binary, stack):
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-image-")))
    (folder / "bad").write_text("FROM debian\nPACKAGES a;b\n")
    refused = command(binary, "image", "build", str(folder / "bad"), "--data-dir", str(folder / "data"))
    assert refused.returncode == 125 and "line 2: PACKAGES: a;b is not the name of a package" in refused.stderr, refused


def test_check_names_the_tools_that_workers_lack(binary, stack):
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-check-")))
    (folder / "sandbox/images/default/root").mkdir(parents=True)
    lines = json.loads(command(binary, "check", "--json", "--data-dir", str(folder)).stdout)
    found = {line["name"]: line for line in lines}
    image = found["sandbox: tools of workers (image default)"]
    assert image["state"] == "warning" and "numpy" in image["detail"] and "hone image build default" in image["advice"], image
    host = found["sandbox: tools of workers (host)"]
    assert host["state"] in ("ok", "warning") and "python3," not in host["detail"], host
