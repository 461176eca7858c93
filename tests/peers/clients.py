#!/usr/bin/env python3
"""The Python of docs/send-traces.md, run as it stands there with the packages of requirements*.txt, and the JavaScript that
needs the packages of package*.json: each example against the real binary and a scripted model.

tests/peers/clients.py [--binary build/release/hone]
"""

import argparse
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here.parent / "e2e"))

from documents import blocks  # noqa: E402
from documents import here as sent_here  # noqa: E402
from documents import sent_spans  # noqa: E402
from models import Provider  # noqa: E402
from server import Server, wait_until  # noqa: E402
from telemetry import key_of  # noqa: E402

# The spans that each example sends, and whether it calls a model.
SENT = {
    "Python": ({"answer a question"}, False),
    "OpenAI": ({"ChatCompletion"}, True),
    "Anthropic": ({"messages.create"}, True),
    "OpenAI Agents": ({"Agent workflow", "support", "turn", "response"}, True),
    "LangChain": ({"LangGraph", "model", "ChatOpenAI"}, True),
    "Pydantic AI": ({"invoke_agent agent", "chat gpt-4o-mini"}, True),
    "LlamaIndex": ({"OpenAI.chat"}, True),
    "CrewAI": ({"Crew.kickoff", "support._execute_core", "ChatCompletion"}, True),
    "Google ADK": ({"invoke_workflow support", "invoke_agent support", "generate_content openai/gpt-4o-mini"}, True),
    "Mastra": ({"invoke_agent support", "model_generation gpt-4o-mini", "agent_step support", "chat gpt-4o-mini", "model_chunk support"}, True),
    "Genkit": ({"generate", "openai/gpt-4o-mini"}, True),
    "AutoGen": ({"support.on_messages_stream", "OpenAIChatCompletionClient.create", "ChatCompletion"}, True),
    "DSPy": ({"LM.__call__", "completion"}, True),
    "smolagents": ({"ToolCallingAgent.run", "Step 1", "Step 2", "OpenAIModel.generate"}, True),
    "BeeAI": ({"OpenAIChatModel"}, True),
    "LiteLLM": ({"completion"}, True),
    "MLflow": ({"Completions"}, True),
    "Traceloop": ({"openai.chat"}, True),
    "Traceloop in JavaScript": ({"chat gpt-4o-mini"}, True),
    "VoltAgent": ({"support", "llm:generateText", "memory.read", "memory.write", "memory.steps.write"}, True),
}
# What an instrumentation counts once more: ADK adds the reasoning tokens of a response to its output tokens, which have
# them already when the model is OpenAI's.
ADDED = {"Google ADK": ("reasoning",)}
# The environments beside the one that runs this.
ENVIRONMENTS = {
    "LlamaIndex": "venv-frameworks",
    "CrewAI": "venv-frameworks",
    "Google ADK": "venv-adk",
    "Mastra": "npm",
    "Genkit": "npm",
    "AutoGen": "venv-agents",
    "smolagents": "venv-agents",
    "BeeAI": "venv-beeai",
    "DSPy": "venv-litellm",
    "LiteLLM": "venv-litellm",
    "MLflow": "venv-mlflow",
    "Traceloop": "venv-traceloop",
    "Traceloop in JavaScript": "npm-traceloop",
    "VoltAgent": "npm-voltagent",
}
peers = pathlib.Path(sys.prefix).parent


def command_of(section, stack):
    """The program that runs the example, and a file for it where its imports are found."""
    environment = peers / ENVIRONMENTS.get(section, "venv")
    is_npm = environment.name.startswith("npm")
    file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".mjs" if is_npm else ".py", dir=environment))
    return ["node" if is_npm else str(environment / "bin/python"), file.name], file


def names_of(spans):
    """Without the ids that CrewAI puts into names."""
    return {re.sub(r"_[0-9a-f]{8}-[0-9a-f-]+", "", span["name"]) for span in spans}


def run_example(server, key, provider, section, code):
    """The reason why it failed; empty when it sent what it should."""
    project = section.lower().replace(" ", "-")
    names, calls_a_model = SENT[section]
    environment = os.environ | {
        "HONE_API_KEY": key,
        "OPENAI_API_KEY": "unused",
        "OPENAI_BASE_URL": f"{provider.url}/v1",
        "OPENAI_API_BASE": f"{provider.url}/v1",  # LiteLLM's name
        "CREWAI_DISABLE_TELEMETRY": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        "ANTHROPIC_API_KEY": "unused",
        "ANTHROPIC_BASE_URL": provider.url,
    }
    before = provider.get("/_count")["tokens"]
    with contextlib.ExitStack() as stack:
        # DSPy keeps responses on disk: a second run of this suite would call no model.
        environment["DSPY_CACHEDIR"] = stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-peers-"))
        command, file = command_of(section, stack)
        file.write(sent_here(code, server.url).replace("my-app", project))
        file.flush()
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if ran.returncode != 0:
        return f"exit {ran.returncode}: {ran.stderr[-2000:]}"
    spans = wait_until(
        lambda: (rows := sent_spans(server, key, project)) and names_of(rows) >= names and rows,
        f"the spans of {section}",
    )
    if names_of(spans) != names:
        return f"sent {sorted(span['name'] for span in spans)}"
    now = provider.get("/_count")["tokens"]
    tokens = sum(now.values()) - sum(before.values()) if calls_a_model else 19
    tokens += sum(now[bucket] - before[bucket] for bucket in ADDED.get(section, ()))
    counted = sum(span["tokens"]["total"] for span in spans)
    return "" if counted == tokens > 0 else f"{counted} tokens instead of {tokens}: {spans}"


def check(binary):
    """How many examples sent what they should, and how many did not."""
    found = {section: code for section, code in blocks("python") if section in SENT}
    for section, code in blocks("js peers"):
        found[f"{section} in JavaScript" if section in found else section] = code
    passed = failed = 0
    with contextlib.ExitStack() as stack:
        server, provider = stack.enter_context(Server(pathlib.Path(binary))), Provider(stack)
        key = key_of(server)
        for section in SENT:
            try:
                reason = run_example(server, key, provider, section, found[section])
            except AssertionError as nothing:
                reason = str(nothing)
            print(f"  {'FAIL' if reason else 'ok  '}  the example {section} {reason}", flush=True)
            passed, failed = passed + (not reason), failed + bool(reason)
    return passed, failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="build/release/hone")
    passed, failed = check(parser.parse_args().binary)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
