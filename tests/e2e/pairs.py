"""A model compares the outputs of two experiments in both orders: through the gateway, with budgets, kills and people."""

import http.server
import json
import re
import threading

from experiments import fill
from server import PATIENCE, Server, wait_until
from telemetry import key_of
from trace_commands import Hone


class PairModel(http.server.BaseHTTPRequestHandler):
    """A model with the interface of OpenAI: prefers the larger number, or always what its server says."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = asked["messages"][-1]["content"]
        a, b = (int(number) for number in re.findall(r"<data \w+>\n(\d+)\n</data", text)[-2:])
        with self.server.lock:
            self.server.calls += 1
        self.server.open.wait(PATIENCE)
        label = self.server.always or ("a" if a > b else "b" if b > a else "tie")
        call = {"id": "call_1", "type": "function", "function": {
            "name": "report_verdict", "arguments": json.dumps({"explanation": f"{a} and {b}", "label": label})}}
        body = json.dumps({"id": "x", "object": "chat.completion", "model": "gpt-4o", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # the server was killed

    def log_message(self, *_):
        pass


def pair_model(stack, client, always=""):
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), PairModel)
    model.always, model.calls, model.lock, model.open = always, 0, threading.Lock(), threading.Event()
    model.open.set()
    threading.Thread(target=model.serve_forever, daemon=True).start()
    stack.callback(model.shutdown)
    client.must("POST", "/v1/skills", {"name": "model", "type": "model", "secrets": {"API_KEY": "sk-scripted"}, "variables": {
        "PROTOCOL": "openai", "BASE_URL": f"http://127.0.0.1:{model.server_port}", "ALLOW_PRIVATE": "true"}})
    return model


def better(client, name="better", **more):
    llm = {"model": {"name": "gpt-4o"}, "pairwise": True, "messages": [
        {"role": "user", "content": "Input: {{input}}\nFirst: {{a.value}}\nSecond: {{b.value}}"}]} | more
    return client.must("POST", "/v1/evaluators", {"name": name, "kind": "llm", "llm": llm}).data


def measured(client, name, value, dataset="numbers"):
    """An experiment as a client sends it: the run of example i has the output `value(i)`."""
    experiment = client.must("POST", f"/v1/datasets/{dataset}/experiments", {"name": name}).data["id"]
    times = {"start_time": "2026-11-16T10:00:00Z", "end_time": "2026-11-16T10:00:01Z"}
    examples = client.must("GET", f"/v1/datasets/{dataset}/examples").data["examples"]
    for number, example in enumerate(examples):
        client.must("POST", f"/v1/experiments/{experiment}/runs", {"dataset_example_id": example["node_id"], "repetition_number": 1,
                    "output": {"value": value(number)}} | times)
    return experiment


def over(client, task, patience=60):
    def ended():
        found = client.must("GET", f"/v1/pair_tasks/{task}").data
        return found["state"] not in ("queued", "running") and found
    return wait_until(ended, "the comparison ends", patience)


def laboratory(binary, stack, examples, always="", *flags):
    server = stack.enter_context(Server(binary, None, *flags))
    client = server.admin()
    model = pair_model(stack, client, always)
    fill(client, examples)
    return server, client, model


def test_two_experiments_are_compared_pair_by_pair_and_the_command_shows_who_wins(binary, stack):
    server, client, model = laboratory(binary, stack, 10)
    evaluator = better(client)
    assert [value["label"] for value in evaluator["llm"]["output"]["values"]] == ["a", "b", "tie"], evaluator
    single = {"model": {"name": "gpt-4o"}, "messages": [{"role": "user", "content": "Is {{output}} right?"}]}
    client.must("POST", "/v1/evaluators", {"name": "right", "kind": "llm", "llm": single})
    listed = client.must("GET", "/v1/evaluators").data
    assert {one["name"]: one["pairwise"] for one in listed} == {"better": True, "right": False}, listed
    measured(client, "base", lambda number: 10)
    measured(client, "other", lambda number: 20 + number if number < 8 else 5 if number == 8 else 10)
    hone = Hone(server, key_of(server))
    shown = hone.run("experiment", "compare", "base", "other", "--dataset", "numbers", "--pairwise", "better", "--max-tokens", "100000").stdout
    assert "8 better, 1 worse, 1 ties, 0 inconsistent" in shown and "improved" in shown, shown
    assert "sign test p 0.0391" in shown and "changes with the order for 0 %" in shown, shown
    assert model.calls == 18, model.calls  # nine pairs in both orders; equal outputs need none
    query = "base=base&other=other&dataset=numbers"
    found = client.must("GET", f"/v1/experiments/compare?{query}").data
    (summary,) = found["pairwise"]
    assert (summary["wins"], summary["losses"], summary["ties"], summary["pairs"]) == (8, 1, 1, 10), summary
    assert summary["favours"] == "none" and summary["first_share"] == 0.5, summary
    task = summary["task_id"]
    assert found["examples"][0]["preferred"] == {task: "base"}, found["examples"][0]
    # Metered under the comparison and traced in the hidden project.
    spent = client.must("GET", f"/v1/pair_tasks/{task}").data
    assert spent["spent_tokens"] == 18 * 110, spent
    pair = next(one for one in client.must("GET", f"/v1/pair_tasks/{task}/pairs?winner=other").data)
    assert pair["first_label"] == "b" and pair["swapped_label"] == "a" and len(pair["trace_id"]) == 32, pair
    lines = hone.run("experiment", "pairs", task, "--better", "base").stdout.splitlines()
    assert len(lines) == 2 and "5" in lines[1], lines
    # A person states what they prefer; the agreement is shown.
    client.must("POST", f"/v1/pair_tasks/{task}/labels", {"example": pair["example_id"], "winner": "base"})
    (summary,) = client.must("GET", f"/v1/experiments/compare?{query}").data["pairwise"]
    assert (summary["people"]["count"], summary["people"]["agreement"]) == (1, 0), summary
    again = client.call("POST", "/v1/pair_tasks", {"base": "other", "other": "base", "dataset": "numbers", "evaluator": "better"})
    assert again.status == 409 and "resume" in again.text, again.text
    # From the other side it is a regression.
    worse = hone.run("experiment", "compare", "other", "base", "--dataset", "numbers", "--fail-on", "regression", status=10)
    assert "the base is better for 8 examples" in worse.stdout + worse.stderr, worse
    # It evaluates pairs only.
    client.must("POST", "/v1/projects", {"name": "shop"})
    answer = client.call("POST", "/v1/eval_tasks", {"project": "shop", "evaluator": evaluator["id"], "target": "trace"})
    assert answer.status == 400 and "compares the outputs of two experiments" in answer.text, answer.text


def test_an_evaluator_that_favours_a_position_is_found_out(binary, stack):
    server, client, model = laboratory(binary, stack, 8, "a")
    better(client)
    measured(client, "base", lambda number: 10)
    measured(client, "other", lambda number: 20)
    hone = Hone(server, key_of(server))
    shown = hone.run("experiment", "compare", "base", "other", "--dataset", "numbers", "--pairwise", "better").stdout
    assert "0 better, 0 worse, 0 ties, 8 inconsistent" in shown and "no difference shown" in shown, shown
    assert "changes with the order for 100 %" in shown and "favours the output shown first (16 of 16 picks" in shown, shown


def test_a_budget_stops_a_comparison_and_a_resume_completes_it(binary, stack):
    server, client, model = laboratory(binary, stack, 12)
    better(client)
    measured(client, "base", lambda number: 10)
    measured(client, "other", lambda number: 20)
    body = {"base": "base", "other": "other", "dataset": "numbers", "evaluator": "better", "concurrency": 1, "budget_tokens": 600}
    task = client.must("POST", "/v1/pair_tasks", body).data["id"]
    stopped = over(client, task)
    assert stopped["state"] == "budget_stopped" and "budget" in stopped["reason"], stopped
    assert 0 < stopped["done"] < 12 and stopped["failed"] == 0, stopped
    # What the gateway reserves for one call is the most that a budget is exceeded by.
    assert stopped["spent_tokens"] <= 600 + 110, stopped
    before = model.calls
    client.must("POST", f"/v1/pair_tasks/{task}/resume?budget_tokens=100000")
    done = over(client, task)
    assert (done["state"], done["done"], done["failed"]) == ("done", 12, 0), done
    assert model.calls == 24 and before < 24, (before, model.calls)  # each order of each pair once


def test_a_kill_in_the_middle_of_a_comparison_doubles_no_verdict_and_loses_none(binary, stack):
    server, client, model = laboratory(binary, stack, 12)
    better(client)
    measured(client, "base", lambda number: 10)
    measured(client, "other", lambda number: 20)
    model.open.clear()
    body = {"base": "base", "other": "other", "dataset": "numbers", "evaluator": "better", "concurrency": 2}
    task = client.must("POST", "/v1/pair_tasks", body).data["id"]
    wait_until(lambda: model.calls == 2, "two calls are under way")
    server.kill()
    model.open.set()
    server.start()
    client = server.admin()
    wait_until(lambda: client.must("GET", f"/v1/pair_tasks/{task}").data["done"] >= 3, "it continues", 60)
    server.kill()
    server.start()
    client = server.admin()
    done = over(client, task)
    assert (done["state"], done["done"], done["failed"]) == ("done", 12, 0), done
    pairs = client.must("GET", f"/v1/pair_tasks/{task}/pairs?limit=1000").data
    assert len({pair["example_id"] for pair in pairs}) == len(pairs) == 12, pairs
    assert {pair["winner"] for pair in pairs} == {"other"}, pairs
    # 24 verdicts; the calls that were under way at the two kills are the only ones that were made again.
    assert 24 <= model.calls <= 24 + 2 + 2, model.calls
