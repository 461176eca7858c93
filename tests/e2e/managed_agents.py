"""The scripted Managed Agents API (tests/managed_agents) as the vendor's own SDK from npm uses it."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parent.parent
KEY = "sk-ant-test"


class ManagedAgents:
    """tests/managed_agents; ends with the test."""

    def __init__(self, stack, *options):
        script = TESTS / "managed_agents/managed_agents.py"
        self.process = subprocess.Popen([sys.executable, "-B", script, "--until-input-ends", "--key", KEY, *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        self.url = self.process.stdout.readline().split()[1]

    def get(self, path):
        return json.load(urllib.request.urlopen(self.url + path))


def pass_with_sdk(stack, *scenarios):
    """Runs scenarios of sdk.mjs, one process each. No setting of the machine's own account reaches the SDK."""
    assert (TESTS / "node_modules/@anthropic-ai/sdk").exists(), "npm ci in tests/ first"
    api = ManagedAgents(stack)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    for scenario in scenarios:
        outcome = subprocess.run(["node", str(TESTS / "managed_agents/sdk.mjs"), api.url, KEY, scenario], env=environment,
                                 capture_output=True, text=True, timeout=120)
        assert outcome.returncode == 0 and outcome.stdout == f"{scenario}: passed\n", outcome.stdout + outcome.stderr


def test_the_sdk_creates_agents_environments_vaults_files_and_sessions(_binary, stack):
    pass_with_sdk(stack, "objects", "vaults_and_files")


def test_the_sdk_streams_and_lists_a_session(_binary, stack):
    pass_with_sdk(stack, "stream", "stops", "interrupt", "idle_before_status")


def test_the_tool_runner_of_the_sdk_serves_custom_tools(_binary, stack):
    pass_with_sdk(stack, "tool_runner", "tool_runner_over_cuts")


def test_the_sdk_reads_errors(_binary, stack):
    pass_with_sdk(stack, "faults")
