"""Playbook: propose the fix of the demo application's tool loop.

Runs inside a sandbox on a clone of the demo repository: shows that a test fails, changes one function, shows that the
test passes, commits and pushes. The push goes to the run's quarantine and waits for review. Needs no model.
"""

import json
import pathlib
import subprocess
import sys
import uuid

REPO = pathlib.Path("/workspace/support-agent")
BROKEN = """    while True:
        stock = call_tool("check_stock", item)
        if stock["known"]:
            return stock["count"]
"""
FIXED = """    for _ in range(MOST_CALLS):
        stock = call_tool("check_stock", item)
        if stock["known"]:
            return stock["count"]
    return None
"""
MESSAGE = """Stop after three calls of check_stock

check_stock returns `known: false` for items that the warehouse does not list, and the agent repeated the call without a
limit: the traces show the same call many times in one conversation. Now it stops after three calls, and the reply reports it.
"""


def emit(event):
    print(json.dumps(event, ensure_ascii=False), flush=True)


def say(text):
    emit({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})


def run(*command, text=None):
    """One command in the repository; its call and its output are in the transcript."""
    call_id = uuid.uuid4().hex[:12]
    emit({"type": "assistant", "message": {"content": [
        {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": " ".join(command)}}]}})
    done = subprocess.run(command, cwd=REPO, input=text, capture_output=True, text=True, check=False)
    output = (done.stdout + done.stderr).strip()
    emit({"type": "user", "message": {"content": [
        {"type": "tool_result", "tool_use_id": call_id, "content": output[:4000], "is_error": done.returncode != 0}]}})
    return done.returncode, output


def finish(text, failed=False):
    emit({"type": "result", "subtype": "error" if failed else "success", "is_error": failed, "result": text})
    return 1 if failed else 0


def main():
    tests = ("python3", "-m", "unittest", "discover", "-s", "tests")
    code, _ = run(*tests)
    say("The tests show the loop." if code else "The tests pass already; there is nothing to fix.")
    if code == 0:
        return finish("Nothing to fix.")
    file = REPO / "agent/stock.py"
    before = file.read_text()
    if BROKEN not in before:
        return finish("agent/stock.py has changed: not fixed. A person must review it.", True)
    file.write_text(before.replace(BROKEN, FIXED))
    code, output = run(*tests)
    if code:
        return finish("The tests still fail after the change: " + output[-300:], True)
    for command in (("git", "add", "agent/stock.py"), ("git", "commit", "-q", "-F", "-"), ("git", "push")):
        code, output = run(*command, text=MESSAGE)
        if code:
            return finish(f"{' '.join(command)} failed: {output[-300:]}", True)
    return finish("The branch is pushed and waits for review.")


if __name__ == "__main__":
    sys.stdin.close()
    sys.exit(main())
