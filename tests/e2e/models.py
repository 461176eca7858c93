"""Model calls end to end: a worker in a real sandbox, the gateway, a scripted provider that keeps its own count."""

import json
import pathlib
import subprocess
import sys
import urllib.request

from runs import OVER, Shop
from server import run as command
from server import wait_until

KEY = "sk-planted-0123456789abcdef"
CALLS = """
import http.client, json, os, sys
shots = [
    ("/anthropic/v1/messages", {"model": "claude-sonnet-4", "stream": True, "messages": [{"role": "user", "content": "hi"}]}),
    ("/anthropic/v1/messages", {"model": "claude-sonnet-4", "messages": [{"role": "user", "content": "again"}]}),
]
for path, body in shots * int(sys.argv[1]):
    gateway = http.client.HTTPConnection("127.0.0.1", 3129)
    gateway.request("POST", path, json.dumps(body), {"x-api-key": "mine", "content-type": "application/json"})
    answer = gateway.getresponse()
    text = answer.read().decode()
    print(answer.status, "stopped: budget" in text, flush=True)
print(sorted(os.environ.items()))
"""


class Provider:
    """tests/scripted_model; ends with the test."""

    def __init__(self, stack):
        script = pathlib.Path(__file__).resolve().parent.parent / "scripted_model/scripted_model.py"
        self.process = subprocess.Popen([sys.executable, script, "--until-input-ends"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        self.url = self.process.stdout.readline().split()[1]

    def get(self, path):
        return json.load(urllib.request.urlopen(self.url + path))

    def tokens(self):
        return sum(self.get("/_count")["tokens"].values())


def model_skill(shop, provider, play):
    body = {"name": "model", "type": "model", "secrets": {"API_KEY": KEY},
            "variables": {"PROTOCOL": "anthropic", "BASE_URL": provider.url + "/play/" + play, "ALLOW_PRIVATE": "true"}}
    return shop.client.must("POST", "/v1/skills", body).data["id"]


def test_a_worker_calls_a_model_without_holding_its_key(binary, stack):
    shop, provider = Shop(binary, stack), Provider(stack)
    skill = model_skill(shop, provider, "exact")
    run = shop.until(shop.start("/usr/bin/python3", "-c", CALLS, "1", skills=[skill])["id"])
    said = "\n".join(shop.texts(run["id"]))
    assert run["state"] == "succeeded" and said.count("200 False") == 2, (run, said)
    assert KEY not in said, "the key is in the sandbox"
    last = provider.get("/_last")
    assert KEY in json.dumps(last["headers"]) and "mine" not in json.dumps(last["headers"]), last
    # What the provider told, what the server has counted, and what the trace says are the same.
    rows = shop.client.must("GET", f"/v1/model_usage?group_by=run&run={run['id']}").data
    assert [row["group"] for row in rows] == [run["id"]], rows
    assert rows[0]["calls"] == 2 and rows[0]["incomplete_calls"] == 0 and rows[0]["cost_micro_usd"] > 0, rows
    assert rows[0]["total_tokens"] == provider.tokens() == 3400, (rows, provider.tokens())
    def spans():
        data = shop.client.call("GET", "/v1/projects/hone-runs/span_rows?limit=1000").json.get("data") or []
        found = [row for row in data if row["kind"] == "llm"]
        return found if len(found) == 2 else None
    found = wait_until(spans, "both calls are traced")
    assert {row["trace_id"] for row in found} == {run["trace_id"]}, found


def test_a_budget_stops_a_run_and_says_so(binary, stack):
    shop, provider = Shop(binary, stack), Provider(stack)
    skill = model_skill(shop, provider, "exact")
    started = shop.start("/usr/bin/python3", "-c", CALLS, "5", skills=[skill], budget={"tokens": 3000, "soft_percent": 50})
    run = shop.until(started["id"])
    assert run["state"] == "budget_stopped", (run, shop.texts(run["id"]))
    assert "Notice from Hone" in json.dumps(provider.get("/_last")["body"]), "no notice before the stop"
    assert provider.get("/_count")["requests"] == 2 and provider.tokens() == 3400, provider.get("/_count")


def test_cost_tokens_turns_and_tool_calls_are_shown_while_a_run_works(binary, stack):
    shop, provider = Shop(binary, stack), Provider(stack)
    skill = model_skill(shop, provider, "exact")
    call = json.dumps({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}]}})
    # Works on until a file is there.
    waits = CALLS + f"\nprint({call!r}, flush=True)\nimport time\nwhile not os.path.exists('go-on'): time.sleep(0.05)\n"
    id = shop.start("/usr/bin/python3", "-c", waits, "1", skills=[skill], budget={"turns": 3, "steps": 9})["id"]
    # Everybody sees the same: the page of the run and the list.
    def counted():
        run = shop.run(id)
        assert run["state"] not in OVER, (run, shop.texts(id))
        return run if run["steps"] == 1 and run["cost_micro_usd"] and sum(run["usage"].values()) == 3400 else None
    run = wait_until(counted, "the calls of a run that works are counted")
    assert run["state"] == "running" and run["turns"] == 1, run
    listed = next(one for one in shop.client.must("GET", "/v1/runs?state=running").data if one["id"] == id)
    assert listed["cost_micro_usd"] == run["cost_micro_usd"] > 0 and listed["usage"] == run["usage"], listed
    key = shop.client.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    environment = {"HONE_URL": shop.server.url, "HONE_API_KEY": key}
    shown = command(binary, "session", "show", id, environment=environment).stdout
    assert "$" in shown and "60 min, 10 min idle, 30 s for each call of Hone's tools, 3 turns, 9 tool calls" in shown, shown
    upload = shop.client.call("POST", "/v1/uploads?path=go-on", b"x", {"Content-Type": "application/octet-stream"}).data["id"]
    shop.client.must("POST", f"/v1/runs/{id}/files", {"uploads": [upload]})
    assert shop.until(id)["cost_micro_usd"] == run["cost_micro_usd"]
