"""The commands of docs/evaluate.md are run as they stand there, from the first to the last, against the real binary."""

import ast
import gzip
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading

from mcp import Agent
from models import Provider
from people import CONFIG
from prompts import add_skill, create_prompt
from repos import git
from server import Server
from telemetry import TESTS, key_of, otlp_json, rows

DOCUMENT = TESTS.parent / "docs/evaluate.md"
# Blocks that show what a program reads or writes, not what a person types.
SHOWN = '{"'


def sections():
    """(title, [(language, code)]) of every part of the document, in its order."""
    text = DOCUMENT.read_text()
    for title, part in re.findall(r"^##+ (.+?)\n(.*?)(?=^##+ |\Z)", text, re.S | re.M):
        yield title, re.findall(r"^```(\w*)\n(.*?)^```", part, re.S | re.M)


class Application(http.server.BaseHTTPRequestHandler):
    """Stands for https://app.example.com/run, and for the service of the evaluator at https://judge.example.com/tone."""

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"label": "pass"} if self.path == "/tone" else sent["input"]["text"]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


RUN = 'import json, sys\nprint(json.dumps(json.load(sys.stdin)["input"]["text"]))\n'
RUN_SHELL = '#!/bin/sh\nexec python3 -c \'import json, sys; print(json.dumps(str(json.load(sys.stdin)["input"])))\'\n'


class Reader:
    """A person who follows the document: a server, a folder with the files that the document names, and a key."""

    def __init__(self, binary, stack):
        address = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
        threading.Thread(target=address.serve_forever, daemon=True).start()
        stack.callback(address.shutdown)
        place = f"127.0.0.1:{address.server_port}"
        self.server = stack.enter_context(Server(binary, None, "--egress-private-hosts", place))
        self.client = self.server.admin()
        self.key = key_of(self.server)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.replaced = {"https://app.example.com/run": f"http://{place}/run", "https://judge.example.com/tone": f"http://{place}/tone"}
        provider = Provider(stack)
        add_skill(self.client, provider, "verdict_pass")
        add_skill(self.client, provider, "verdict_pass", "anthropic", "claude")
        self.environment = os.environ | {"HONE_URL": self.server.url, "HONE_API_KEY": self.key, "HOME": str(self.folder)}
        self.environment["PATH"] = f"{pathlib.Path(binary).resolve().parent}:{os.environ['PATH']}"
        self.proposed = []

    def write(self, **files):
        for name, text in files.items():
            (self.folder / name.replace("__", ".")).write_text(text)

    def prepare(self):
        lines = lambda *rows: "".join(json.dumps(row) + "\n" for row in rows)
        example = {"input": {"text": "where is it?"}, "output": {"text": "here"}}
        self.write(
            tickets__csv="id,input.text,output.text\nt1,where is my order?,where is my order?\nt2,can I return it?,yes\n",
            samples__jsonl=lines({"item": {"text": "from evals"}}),
            items__json=json.dumps([{"id": "l1", "input": {"text": "from langfuse"}, "expectedOutput": {"text": "x"}, "status": "ACTIVE"}]),
            examples__jsonl=lines({"id": "s1", "inputs": {"text": "from langsmith"}, "outputs": {"text": "x"}}),
            promptfooconfig__yaml="tests:\n  - vars: {text: from promptfoo}\n    assert: [{type: equals, value: x}]\n",
            documents__jsonl=lines({"input": {"text": "a"}, "output": "b", "reference": {"text": "b"}}),
            schema__py="import jsonschema\ndef evaluate(document):\n    return True\n",
            schema__mjs="export function evaluate(document) { return true; }\n",
            words__py="def evaluate(document):\n    return True\n",
            prepare__sh="true\n",
            polite__txt="Is this polite? {{output}}",
            check__md="Check the output.",
            run__py=RUN,
        )
        (self.folder / "more.jsonl.gz").write_bytes(gzip.compress(lines(example).encode()))
        attributes = {"input.value": '{"text": "fails"}', "output.value": '{"text": "no"}'}
        sender = self.server.client(self.key)
        sender.must("POST", "/v1/traces", otlp_json([(1, 1, 0, "bad", attributes)]))
        for number, text in ((2, "hello"), (3, "again")):
            said = {"input.value": text, "output.value": "hi", "session.id": "visit-17"}
            sender.must("POST", "/v1/traces", otlp_json([(number, number, 0, "chat", said)]))
        rows(sender, "/v1/projects/shop/span_rows", 3)
        work = self.folder / "work"
        work.mkdir()
        git(work, "init", "--quiet", "-b", "my-branch", ".")
        (work / "run.sh").write_text(RUN_SHELL)
        (work / "run.sh").chmod(0o755)
        git(work, "add", ".")
        git(work, "commit", "--quiet", "-m", "one")
        space = self.client.must("GET", "/v1/spaces").data[0]["id"]
        repos = self.server.data_dir / "repos" / space
        repos.mkdir(parents=True)
        git(self.folder, "clone", "--quiet", "--bare", str(work), str(repos / "shop.git"))
        self.client.must("POST", "/v1/repos", {"url": f"file://{repos}/shop.git", "name": "shop"})
        self.client.must("POST", "/v1/presets", {"name": "reviewer", "settings": {"harness": "command", "command": ["true"]}})
        self.client.must("POST", "/v1/annotation_configs", CONFIG)
        for number in range(4):
            create_prompt(self.client, "support-answer", text="{{text}} " + str(number))
        self.command("hone prompt tag support-answer 4 production")

    def command(self, line):
        """Runs one line as a person would, and returns what it printed."""
        for placeholder, found in ((r"evaltask_01J…", self.task), (r"proposal_01J…", self.proposal), (r"\bITEM\b", self.item),
                                   (r"\bEXPERIMENT\b", self.experiment), (r"pairtask_01J…", self.pair_task)):
            if re.search(placeholder, line):
                line = re.sub(placeholder, found(), line)
        for text, here in self.replaced.items():
            line = line.replace(text, here)
        ran = subprocess.run(["bash", "-ec", line], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, f"{line}\n{ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def task(self):
        return self.client.must("GET", "/v1/eval_tasks").data[0]["id"]

    def pair_task(self):
        dataset = self.client.must("GET", "/v1/datasets?name=shop-tickets").data[0]["id"]
        experiments = self.client.must("GET", f"/v1/datasets/{dataset}/experiments").data
        tasks = [task for each in experiments for task in self.client.must("GET", f"/v1/pair_tasks?experiment={each['id']}").data]
        return tasks[0]["id"]

    def experiment(self):
        dataset = self.client.must("GET", "/v1/datasets?name=shop-tickets").data[0]["id"]
        return self.client.must("GET", f"/v1/datasets/{dataset}/experiments").data[-1]["id"]

    def item(self):
        queue = self.client.must("GET", "/v1/annotation_queues").data[0]["id"]
        return self.client.must("GET", f"/v1/annotation_queues/{queue}/items").data[0]["id"]

    def propose(self):
        example = {"input": {"text": f"proposed {len(self.proposed)}"}, "output": {"text": "x"}, "reason": "it was missing"}
        self.proposed.append(example)
        failed, reply = Agent(self).tool("propose_examples", dataset="shop-tickets", examples=[example])
        assert not failed, reply

    def proposal(self):
        self.propose()
        return self.client.must("GET", "/v1/datasets/shop-tickets/proposals").data[0]["id"]


# What a reader has done before a part of the document: what the commands of this part speak of.
BEFORE = {
    "Compare, and stop a regression": lambda reader: reader.command(
        "hone experiment run shop-tickets --command 'python3 run.py' --file run.py --evaluator exact --repeat 3 --name candidate"
    ),
    "Datasets for workers": Reader.propose,
}


def test_the_commands_of_the_document_run_as_they_stand(binary, stack):
    reader = Reader(binary, stack)
    reader.prepare()
    printed = {}
    for title, blocks in sections():
        if title == "Evaluators of code":
            reader.write(exact__py=next(code for language, code in blocks if language == "python"))
        if title in BEFORE:
            BEFORE[title](reader)
        for language, code in blocks:
            if language or code.startswith(SHOWN):
                continue
            for line in code.splitlines():
                printed[line] = reader.command(line)
    assert len(printed) >= 45, len(printed)
    said = lambda beginning: next(text for line, text in printed.items() if line.startswith(beginning))
    assert "Added 2" in said("hone dataset push shop-tickets tickets.csv"), printed
    assert "Added 2" in said("hone dataset add-turns talks"), printed
    assert (reader.folder / "comment.md").read_text() and (reader.folder / "evals.xml").read_text()


def test_the_other_blocks_of_the_document_can_be_read(binary, stack):
    found = [(language, code) for _, blocks in sections() for language, code in blocks if language]
    assert {language for language, _ in found} == {"js", "json", "python", "yaml"}, {language for language, _ in found}
    for language, code in found:
        if language == "python":
            ast.parse(code)
        elif language == "json":
            json.loads(code)
    # The commands of the recipes for continuous integration name options that exist.
    recipes = "".join(code for language, code in found if language == "yaml")
    options = set(re.findall(r"hone experiment (run|compare) ([^\n]*(?:\n {10}[^\n]*)*)", recipes))
    assert len(options) >= 4, options
    for command, words in options:
        known = subprocess.run([binary, "experiment", command, "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"(?<= )--[a-z-]+", words):
            assert option in known, (command, option)
