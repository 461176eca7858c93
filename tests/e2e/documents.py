"""What docs/send-traces.md tells people to paste is run as it stands there: JavaScript and shell against the real
binary, the other languages as far as this machine can check them."""

import ast
import os
import re
import subprocess

from models import Provider
from server import Server, wait_until
from telemetry import TESTS, key_of, rows

DOCUMENT = TESTS.parent / "docs/send-traces.md"


def blocks(language):
    """(section, code) of every block in the language."""
    text = DOCUMENT.read_text()
    for section, part in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.S | re.M):
        for code in re.findall(rf"^```{language}\n(.*?)^```", part, re.S | re.M):
            yield section, code


def run(command, key, text=None, model="http://127.0.0.1:9"):
    environment = os.environ | {"HONE_API_KEY": key, "OPENAI_API_KEY": "unused", "ANTHROPIC_API_KEY": "unused"}
    environment |= {"OPENAI_BASE_URL": f"{model}/v1", "ANTHROPIC_BASE_URL": model}
    return subprocess.run(command, env=environment, input=text, cwd=TESTS, capture_output=True, text=True, timeout=300)


def here(code, url):
    assert "http://127.0.0.1:7070" in code, "the example says where to send"
    return code.replace("http://127.0.0.1:7070", url)


# The spans that each example sends.
SENT = {
    "JavaScript": {"answer a question"},
    "OpenAI": {"OpenAI Chat Completions"},
    "Anthropic": {"anthropic.messages.create", "Anthropic Messages"},
    "OpenAI Agents": {"Agent workflow", "support", "turn", "response"},
    "LangChain": {"FakeListChatModel", "ChatPromptTemplate", "RunnableSequence"},
    "Vercel AI SDK": {"invoke_agent gpt-4o-mini", "step 1", "chat gpt-4o-mini"},
    "Vercel AI SDK 5 and 6": {"ai.generateText", "ai.generateText.doGenerate"},
    "Langfuse": {"answer"},
    "LangSmith": {"answer"},
}
CALLS_A_MODEL = {"OpenAI", "Anthropic", "OpenAI Agents"}


def test_the_javascript_of_the_document_sends_what_it_says(binary, stack):
    server, provider = stack.enter_context(Server(binary)), Provider(stack)
    key = key_of(server)
    found = dict(blocks("js"))
    assert found.keys() == SENT.keys(), found.keys()
    for section, code in found.items():
        project = section.lower().replace(" ", "-")
        # Beside node_modules, so that the imports are found.
        file = TESTS / f".document-{project}-{os.getpid()}.mjs"
        stack.callback(lambda path=file: path.unlink(missing_ok=True))
        code = here(code, server.url).replace('"my-app"', f'"{project}"')
        if section == "Vercel AI SDK 5 and 6":  # both versions are installed, this one under another name
            code = code.replace('"ai"', '"ai-6"').replace('"ai/test"', '"ai-6/test"')
        file.write_text(code)
        before = provider.tokens()
        ran = run(["node", str(file)], key, model=provider.url)
        assert ran.returncode == 0, f"{section}: {ran.stdout}{ran.stderr}"
        spans = wait_until(
            lambda: (rows := sent_spans(server, key, project)) and {row["name"] for row in rows} == SENT[section] and rows,
            f"the spans of {section}",
        )
        calls = [span for span in spans if span["kind"] == "llm" and span["model"]]
        tokens = provider.tokens() - before if section in CALLS_A_MODEL else 19
        assert (tokens > 0 and calls) or section == "LangChain", spans
        if section != "LangChain":  # whose stand-in for a model counts nothing
            assert sum(call["tokens"]["total"] for call in calls) == tokens, (section, spans)
        if section.startswith("Vercel"):
            assert "visit-1" in {span["session_id"] for span in spans}, spans


def sent_spans(server, key, project):
    listed = server.client(key).get(f"/v1/projects/{project}/span_rows")
    return listed.data if listed.status == 200 else []


def test_the_shell_of_the_document_sends_a_span(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    [code] = [code for section, code in blocks("sh") if section == "curl"]
    ran = run(["sh", "-ec", here(code, server.url)], key)
    assert ran.returncode == 0 and ran.stdout == "{}", ran
    assert rows(server.client(key), "/v1/projects/my-app/span_rows", 1)[0]["name"] == "hello"
    [variables] = [code for section, code in blocks("sh") if section == "Environment variables"]
    script = here(variables, server.url) + f"\nexec node {TESTS / 'send_traces.mjs'} proto 1"
    ran = run(["sh", "-ec", script], key)
    assert ran.returncode == 0, ran
    rows(server.client(key), "/v1/projects/my-app/span_rows", 3)


def test_the_other_languages_of_the_document_can_be_read(binary, stack):
    python = list(blocks("python"))
    assert len(python) >= 3
    for section, code in python:
        ast.parse(code, section)
    [collector] = [code for _, code in blocks("yaml")]
    exporter = "const hone = require('yaml').parse(require('fs').readFileSync(0, 'utf8')).exporters['otlphttp/hone'];"
    checked = run(["node", "-e", f"{exporter} process.exit(hone.endpoint && hone.headers ? 0 : 1)"], "", collector)
    assert checked.returncode == 0, checked.stderr
    for language in ("go", "java", "ts"):
        for section, code in blocks(language):
            assert all(part in code for part in ("127.0.0.1:7070", "HONE_API_KEY", '"my-app"')), section
            assert code.count("{") == code.count("}") and code.count("(") == code.count(")"), section
