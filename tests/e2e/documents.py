"""What docs/send-traces.md tells people to paste is run as it stands there: JavaScript and shell against the real
binary, the other languages as far as this machine can check them."""

import ast
import os
import re
import subprocess

from server import Server
from telemetry import TESTS, key_of, rows

DOCUMENT = TESTS.parent / "docs/send-traces.md"


def blocks(language):
    """(section, code) of every block in the language."""
    text = DOCUMENT.read_text()
    for section, part in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.S | re.M):
        for code in re.findall(rf"^```{language}\n(.*?)^```", part, re.S | re.M):
            yield section, code


def run(command, key, text=None):
    environment = os.environ | {"HONE_API_KEY": key}
    return subprocess.run(command, env=environment, input=text, cwd=TESTS, capture_output=True, text=True, timeout=300)


def here(code, url):
    assert "http://127.0.0.1:7070" in code, "the example says where to send"
    return code.replace("http://127.0.0.1:7070", url)


def test_the_javascript_of_the_document_sends_what_it_says(binary, stack):
    server = stack.enter_context(Server(binary))
    key = key_of(server)
    expected = {
        "JavaScript": {"answer a question"},
        "LangChain": {"FakeListChatModel", "ChatPromptTemplate", "RunnableSequence"},
        "Vercel AI SDK": {"ai.generateText", "ai.generateText.doGenerate"},
    }
    found = dict(blocks("js"))
    assert found.keys() == expected.keys(), found.keys()
    for section, code in found.items():
        project = section.split()[0].lower()
        # Beside node_modules, so that the imports are found.
        file = TESTS / f".document-{project}-{os.getpid()}.mjs"
        stack.callback(lambda path=file: path.unlink(missing_ok=True))
        file.write_text(here(code, server.url).replace('"my-app" },', f'"{project}" }},'))
        ran = run(["node", str(file)], key)
        assert ran.returncode == 0, f"{section}: {ran.stdout}{ran.stderr}"
        spans = rows(server.client(key), f"/v1/projects/{project}/span_rows", len(expected[section]))
        assert {span["name"] for span in spans} == expected[section], spans
        calls = [span for span in spans if span["kind"] == "llm"]
        assert calls, spans
        if section != "LangChain":  # whose stand-in for a model counts nothing
            assert [(call["model"], call["tokens"]["total"]) for call in calls] == [("gpt-4o-mini", 19)], calls


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
