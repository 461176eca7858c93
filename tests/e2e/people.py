"""Verified fixes, queues of people and calibrations of evaluators."""

import http.server
import json
import re
import threading
import types

from repos import git
from reviews import Desk, person
from runs import Shop, shell
from server import wait_until
from telemetry import key_of, otlp_json
from trace_commands import Hone

# The application: calls the tool until the recorded results end, or up to LIMIT times.
APPLICATION = """import json, sys
LIMIT = None
example = json.load(sys.stdin)
calls = 0
for tool in example.get("replay", {}).get("tools", []):
    if LIMIT is not None and calls >= LIMIT:
        break
    calls += 1
print(json.dumps({"calls": calls, "text": "done"}))
"""
NO_LOOP = """
def evaluate(document):
    calls = document["output"]["calls"]
    return {"label": "pass" if calls <= 3 else "fail", "explanation": f"{calls} calls"}
"""
FIX = """
cd shop
sed -i 's/LIMIT = None/%s/' app.py
git commit -qam 'Stop after three calls' && git push 2>&1 && echo pushed
"""


def tickets(first, count, calls, name="ask", tool="stock"):
    """Traces of the entry point with so many calls of a tool; the input of each is another one."""
    spans = []
    for trace in range(first, first + count):
        root = trace * 100
        question = json.dumps({"question": f"how many of item {trace}?"})
        attributes = {"openinference.span.kind": "AGENT", "input.value": question, "output.value": '{"text": "3"}'}
        spans.append((trace, root, 0, name, attributes))
        for call in range(calls):
            attributes = {"openinference.span.kind": "TOOL", "tool.name": tool, "input.value": '{"item": 7}',
                          "output.value": '{"left": 3}', "looped": "yes" if calls > 3 else "no"}
            spans.append((trace, root + 1 + call, root, tool, attributes))
    return spans


class ScriptedJudge(http.server.BaseHTTPRequestHandler):
    """A model with the interface of OpenAI: fails every output with more than three calls."""

    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
        calls = int(re.search(r'calls\D{1,8}(\d+)', asked.replace("\\", "")).group(1))
        verdict = {"label": "pass" if calls <= 3 else "fail", "explanation": f"{calls} calls"}
        message = {"role": "assistant", "content": json.dumps(verdict)}
        body = json.dumps({"id": "x", "object": "chat.completion", "model": "gpt-4o",
                           "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                           "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def scripted_judge(stack, client):
    """An evaluator `no-loop-model` that a model without a network decides."""
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ScriptedJudge)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    stack.callback(model.shutdown)
    client.must("POST", "/v1/skills", {"name": "model", "type": "model", "secrets": {"API_KEY": "sk-scripted"}, "variables": {
        "PROTOCOL": "openai", "BASE_URL": f"http://127.0.0.1:{model.server_port}", "ALLOW_PRIVATE": "true"}})
    client.must("POST", "/v1/evaluators", {"name": "no-loop-model", "kind": "llm", "llm": {
        "model": {"name": "gpt-4o"}, "messages": [{"role": "user", "content": "Did the agent loop?\n{{output}}"}],
        "output": {"type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}}})


class Fixer(Desk):
    """A shop whose agent calls a tool too often: an issue with eight traces, and passing ones beside them, of which some
    call the same tool once: they match the filter of the issue, and are no evidence of it."""

    def __init__(self, binary, stack, evidence=8, control=8, command="python3 app.py", calls=5, **policy):
        replay = {"command": command, "evaluator": "no-loop", "control": control} | policy.pop("replay", {})
        self.requires_replay = policy.get("require_replayed", False)
        super().__init__(binary, stack, replay=replay, **policy)
        self.forge.commit("app.py", APPLICATION)
        git(self.forge.work, "push", "-q", str(self.forge.bare), "main")
        self.client.must("POST", "/v1/repos/shop/fetch")
        wait_until(lambda: not self.client.must("GET", "/v1/repos/shop").data["fetching"], "the fetch is over")
        self.sender = self.shop.server.client(key_of(self.shop.server))
        self.sender.must("POST", "/v1/traces", otlp_json(tickets(1, evidence, calls) + tickets(50, control, 1)))
        self.client.must("POST", "/v1/evaluators", {"name": "no-loop", "kind": "code", "code": {
            "language": "python", "source": NO_LOOP,
            "output": {"type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}}})
        self.issue = self.found() if calls >= 6 else self.reported(evidence)

    def reported(self, evidence):
        report = {"project": "shop", "title": "The stock tool is called in a loop", "explanation": "five calls",
                  "filter": 'attributes["looped"] = "yes"', "trace_ids": [f"{trace:032x}" for trace in range(1, evidence + 1)]}
        return self.client.must("POST", "/v1/issues", report).data["id"]

    def found(self):
        """The issue that Signal makes of these traces: six calls of a tool with the same input are a loop."""
        def scanned():
            self.client.must("POST", "/v1/projects/shop/signal/scan")
            issues = self.client.must("GET", "/v1/issues?project=shop&status=all").data
            return next((one for one in issues if one["detector"] == "tool_loop"), None)
        issue = wait_until(scanned, "Signal finds the loop")
        assert issue["traces"] == 8 and "stock" in issue["title"], issue
        return issue["id"]

    def branch(self, change="LIMIT = 3"):
        """The artifact of a branch that changes the limit; it names no issue."""
        run = self.shop.start(*shell(FIX % change), repos=[{"url": self.forge.url}], review=self.policy)["id"]
        assert self.shop.until(run)["state"] == "succeeded", self.shop.texts(run)
        return self.review(run)["artifact"]["id"]

    def replay(self, artifact, client=None, patience=180):
        client = client or self.client
        def over():
            found = client.must("GET", f"/v1/reviews/{artifact}/replay").data
            return found if found["state"] not in ("queued", "running") else None
        return wait_until(over, "the replay ends", patience)

    def replayed(self, change="LIMIT = 3", **more):
        artifact = self.branch(change)
        if self.requires_replay:
            self.replay(artifact)  # the one that the policy starts
        self.client.must("POST", f"/v1/reviews/{artifact}/replay", {"issue": self.issue} | more)
        return artifact, self.replay(artifact)


def test_a_fix_is_replayed_by_its_policy_and_its_numbers_are_in_the_pull_request(binary, stack):
    policy = {"evaluator": "no-loop-model", "control_evaluator": "no-loop"}
    desk = Fixer(binary, stack, calls=7, require_replayed=True, replay=policy)
    client = desk.client
    scripted_judge(stack, client)
    # trace -> issue, which Signal finds -> dataset -> evaluator -> branch: the worker is started for the issue.
    added = client.must("POST", f"/v1/issues/{desk.issue}/dataset", {"name": "looped"}).data
    assert added["num_created_examples"] == 8, added
    preset = {"name": "fixer", "settings": {"harness": "command", "command": list(shell(FIX % "LIMIT = 3")),
                                            "repos": [{"url": desk.forge.url}], "review": desk.policy}}
    client.must("POST", "/v1/presets", preset)
    client.must("PUT", "/v1/projects/shop/signal", {"enabled": True, "consent": True, "settings": {"preset": "fixer"}})
    run = client.must("POST", f"/v1/issues/{desk.issue}/fix").data["fix_run"]
    artifact = desk.review(run)["artifact"]["id"]
    early = client.post(f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert early.status in (403, 200), early.text  # either: a machine may be done with the replay already
    replay = desk.replay(artifact)
    assert (replay["state"], replay["outcome"]) == ("done", "fixed"), replay
    assert replay["settings"]["automatic"] and replay["settings"]["issue"] == desk.issue, replay["settings"]
    assert replay["settings"]["evaluator"] == "no-loop-model@1" and replay["settings"]["control_evaluator"] == "no-loop@1", replay["settings"]
    result = replay["result"]
    assert (result["evidence"], result["reproduced"], result["fixed"]) == (8, 8, 8), result
    assert (result["control"], result["control_base_passed"], result["control_branch_passed"]) == (8, 8, 8), result
    assert abs(result["p"] - 2 / 2**8) < 1e-9 and result["broken"] == 0, result
    first = result["examples"][0]
    assert first["set"] == "evidence" and first["base"] == {"passed": 0, "failed": 3, "verdict": "fail"}, first
    assert first["branch"] == {"passed": 3, "failed": 0, "verdict": "pass"} and first["tool_results"] == 7, first
    # Both sides are experiments that can be compared.
    for side in ("base_experiment_id", "branch_experiment_id"):
        task = client.must("GET", f"/v1/experiments/{replay[side]}/task").data
        assert task["state"] == "done" and task["successful_runs"] == 48, task
    assert client.must("GET", f"/v1/reviews/{artifact}").data["replay"]["outcome"] == "fixed"
    if early.status != 200:
        client.must("POST", f"/v1/reviews/{artifact}/approve", {"revision": 1})
    pull = desk.pull_request(artifact, "open", "failed")
    assert pull["state"] == "open", pull
    (there,) = desk.forge.state()["pulls"]
    block = there["body"].partition("## Verified fix")[2].partition("\n---")[0]
    sentence = "**Fixed**: base 8/8 fail → branch 8/8 pass, control 8/8 → 8/8, exact p = 0.0078, 3 repetitions, $"
    assert sentence in block, there["body"]
    assert "Tools of 16 examples were not called: recorded results were used." in block, block
    assert "how many of item" not in there["body"] and len(block.encode()) <= 4096, there["body"]


def test_a_branch_that_proves_nothing_is_never_called_fixed(binary, stack):
    desk = Fixer(binary, stack, require_replayed=True)
    # The policy starts it, and states what is missing: this branch fixes no issue.
    artifact = desk.branch("LIMIT = 4")
    replay = desk.replay(artifact)
    assert replay["state"] == "failed" and "issue" in replay["reason"], replay
    refused = desk.client.post(f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert refused.status == 403 and "replay is failed" in refused.message, refused.text
    # By hand, with its issue: nothing has changed for it.
    desk.client.must("POST", f"/v1/reviews/{artifact}/replay", {"issue": desk.issue})
    replay = desk.replay(artifact)
    assert (replay["outcome"], replay["attempt"]) == ("unchanged", 2), replay
    refused = desk.client.post(f"/v1/reviews/{artifact}/approve", {"revision": 1})
    assert refused.status == 403 and "outcome is unchanged" in refused.message, refused.text
    # It breaks what worked: every control crashes.
    artifact, replay = desk.replayed("LIMIT = 3; assert len(sys.argv) > 1")
    assert replay["outcome"] == "regressed" and replay["result"]["broken"] == 8, replay
    assert "AssertionError" in replay["result"]["problem"], replay["result"]["problem"]
    # The base does not fail: an evaluator that lets five calls pass.
    lenient = NO_LOOP.replace("<= 3", "<= 9")
    desk.client.must("POST", "/v1/evaluators", {"name": "lenient", "kind": "code", "code": {"language": "python", "source": lenient,
        "output": {"type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}}})
    artifact, replay = desk.replayed(evaluator="lenient")
    assert replay["outcome"] == "not_reproduced" and replay["result"]["p"] == 1, replay
    # An application that never writes an output gives no verdict at all.
    artifact, replay = desk.replayed(command="exit 3")
    assert replay["state"] == "failed" and "no run on the base has a verdict" in replay["reason"], replay


def test_what_cannot_be_replayed_is_listed_and_bad_requests_are_refused(binary, stack):
    desk = Fixer(binary, stack, evidence=6, control=3)
    client = desk.client
    # A trace of the issue without an input, and one whose tool has no result.
    spans = tickets(30, 1, 5) + tickets(31, 1, 5)
    spans[0][4].pop("input.value")
    spans[-1][4].pop("output.value")
    desk.sender.must("POST", "/v1/traces", otlp_json(spans))
    artifact = desk.branch()
    path = f"/v1/reviews/{artifact}/replay"
    assert client.get(path).status == 404
    for body, status, word in (
        ({}, 400, "issue is missing"),
        ({"issue": "issue_00000000000000000000000000"}, 404, "issue"),
        ({"issue": "../x"}, 404, "issue"),
        ({"issue": desk.issue, "evaluator": "unknown"}, 404, "evaluator"),
        ({"issue": desk.issue, "evaluator": "no-loop@0"}, 400, "version"),
        ({"issue": desk.issue, "evaluator": "no-loop@7"}, 404, "version"),
        ({"issue": desk.issue, "repetitions": 0}, 400, "repetitions"),
        ({"issue": desk.issue, "repetitions": 10**9}, 400, "repetitions"),
        ({"issue": desk.issue, "evidence": 21}, 400, "evidence"),
        ({"issue": desk.issue, "budget_seconds": -1}, 400, "budget_seconds"),
        ({"issue": desk.issue, "command": "x" * 9000}, 400, "command"),
        ({"issue": desk.issue, "revision": 7}, 409, "newest revision"),
        ({"issue": desk.issue, "unknown": 1}, 400, "unknown"),
    ):
        refused = client.post(path, body)
        assert refused.status == status and word in refused.message, (body, refused.text)
    assert client.post(f"{path}/stop", {}).status == 404
    client.must("POST", path, {"issue": desk.issue, "repetitions": 1})
    again = client.post(path, {"issue": desk.issue})
    assert again.status == 409, again.text
    replay = desk.replay(artifact)
    assert replay["outcome"] == "fixed" and replay["result"]["evidence"] == 6, replay
    reasons = {one["trace_id"]: one["reason"] for one in replay["result"]["not_replayed"]}
    assert "no recorded input" in reasons[f"{30:032x}"] and "no result of the tool stock" in reasons[f"{31:032x}"], reasons
    # A budget of one second ends it with the reason, and a person stops one that runs.
    client.must("POST", path, {"issue": desk.issue, "command": "sleep 5; python3 app.py", "budget_seconds": 1})
    replay = desk.replay(artifact)
    assert replay["state"] == "failed" and "budget" in replay["reason"], replay
    client.must("POST", path, {"issue": desk.issue, "command": "sleep 60; python3 app.py"})
    stopped = client.must("POST", f"{path}/stop", {}).data
    assert stopped["state"] == "stopped" and "admin@localhost" in stopped["reason"], stopped
    assert client.post(f"{path}/stop", {}).status == 409


def test_a_replay_survives_a_kill_and_the_command_line_shows_it(binary, stack):
    desk = Fixer(binary, stack, command="sleep 0.2; python3 app.py")
    artifact = desk.branch()
    desk.client.must("POST", f"/v1/reviews/{artifact}/replay", {"issue": desk.issue})
    desk.shop.again()  # before or while its traces are chosen
    client = desk.shop.client
    def begun():
        found = client.must("GET", f"/v1/reviews/{artifact}/replay").data
        if not found["base_experiment_id"]:
            return None
        task = client.must("GET", f"/v1/experiments/{found['base_experiment_id']}/task").data
        return task["successful_runs"] >= 5
    wait_until(begun, "some runs are there", 240)  # the lease of the killed server ends first
    desk.shop.again()
    client = desk.shop.client
    replay = desk.replay(artifact, client)
    assert (replay["outcome"], replay["attempt"]) == ("fixed", 1), replay
    datasets = [one for one in client.must("GET", "/v1/datasets").data if one["name"].endswith(f"({desk.issue[-8:]})")]
    assert len(datasets) == 1, datasets
    experiments = client.must("GET", f"/v1/datasets/{datasets[0]['id']}/experiments").data
    assert len(experiments) == 2, [one["name"] for one in experiments]
    for side in ("base_experiment_id", "branch_experiment_id"):
        task = client.must("GET", f"/v1/experiments/{replay[side]}/task").data
        assert (task["successful_runs"], task["failed_runs"], task["evaluators"][0]["evals"]) == (48, 0, 48), task
    hone = Hone(desk.shop.server, client.must("POST", "/v1/keys", {"name": "cli"}).data["key"])
    shown = hone.run("review", "replay-status", artifact).stdout
    assert "Outcome: fixed" in shown and "base 8/8 fail -> branch 8/8 pass" in shown, shown
    assert hone.json("review", "replay-status", artifact)["outcome"] == "fixed"
    assert "Outcome: fixed" in hone.run("review", "replay", artifact, "--issue", desk.issue, "--repeat", "1", "--wait").stdout


CONFIG = {"name": "correct", "type": "CATEGORICAL", "optimization_direction": "MAXIMIZE",
          "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}


def labelled_shop(binary, stack, count):
    """A project `shop` with traces 1 to count, the odd ones in a loop; a config and a queue of all of them."""
    shop = Shop(binary, stack)
    spans = []
    for trace in range(1, count + 1):
        spans += tickets(trace, 1, 5 if trace % 2 else 1)
    shop.server.client(key_of(shop.server)).must("POST", "/v1/traces", otlp_json(spans))
    shop.client.must("POST", "/v1/annotation_configs", CONFIG)
    queue = shop.client.must("POST", "/v1/annotation_queues", {
        "name": "tickets", "project": "shop", "configs": ["correct"], "instructions": "Is it right?", "dataset": "corrected"}).data
    filled = shop.client.must("POST", f"/v1/annotation_queues/{queue['id']}/fill", {"hours": 1, "limit": 1000}).data
    assert filled == {"added": count, "seen": count}, filled
    return shop, queue["id"]


def label(client, queue, text=None, **more):
    item = client.must("POST", f"/v1/annotation_queues/{queue}/next").data["item"]
    if item is None:
        return None
    value = text or ("fail" if int(item["trace_id"], 16) % 2 else "pass")
    body = {"evals": [{"config": "correct", "label": value}], "ms_spent": 900} | more
    return client.must("POST", f"/v1/annotation_queues/{queue}/items/{item['id']}/evals", body).data


def human_evals(client):
    found = client.must("GET", "/v1/projects/shop/evals?target=trace&name=correct&limit=1000").data
    return {one["target_id"]: one for one in found if one["kind"] == "human"}


def test_people_label_a_queue_and_an_evaluator_is_calibrated_with_their_labels(binary, stack):
    shop, queue = labelled_shop(binary, stack, 40)
    client = shop.client
    assert client.must("POST", f"/v1/annotation_queues/{queue}/fill", {"hours": 1}).data["added"] == 0
    first = label(client, queue, reference={"text": "four"})
    assert first["state"] == "done" and not first["verdicts_hidden"], first
    evals = human_evals(client)
    assert evals[first["target_id"]]["label"] in ("pass", "fail"), evals
    examples = client.must("GET", "/v1/datasets/corrected/examples").data["examples"]
    assert len(examples) == 1 and examples[0]["output"] == {"text": "four"}, examples
    # Undo deletes the eval, and the item waits again.
    taken = client.must("POST", f"/v1/annotation_queues/{queue}/undo").data
    assert taken["id"] == first["id"] and human_evals(client) == {}, taken
    done = 0
    while label(client, queue):
        done += 1
    assert done == 40 and len(human_evals(client)) == 40
    counts = client.must("GET", f"/v1/annotation_queues/{queue}").data
    assert (counts["pending"], counts["done"]) == (0, 40), counts
    (person,) = client.must("GET", f"/v1/annotation_queues/{queue}/agreement").data["people"]
    assert (person["done"], person["ms_spent"]) == (40, 40 * 900), person

    # The evaluator is wrong about four of the twenty failing traces, and right about all others.
    source = """
def evaluate(document):
    item = int(document["input"]["question"].split()[-1].rstrip("?"))
    return {"label": "fail" if item % 2 and item > 8 else "pass", "explanation": f"item {item}"}
"""
    output = {"type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}
    made = client.must("POST", "/v1/evaluators", {"name": "correct-code", "kind": "code", "code": {"language": "python", "source": source, "output": output}}).data
    path = f"/v1/evaluators/{made['id']}/calibrations"
    for body, status in (({"project": "shop", "config": "nothing"}, 404), ({"project": "shop", "config": ""}, 400),
                         ({"project": "other", "config": "correct"}, 404), ({"project": "shop", "config": "correct", "repetitions": 9}, 400),
                         ({"project": "shop", "config": "correct", "limit": 0}, 400), ({"project": "shop", "config": "correct", "version": 9}, 404)):
        assert client.post(path, body).status == status, body
    hone = Hone(shop.server, client.must("POST", "/v1/keys", {"name": "cli"}).data["key"])
    calibration = hone.json("evaluator", "calibrate", "correct-code", "--project", "shop", "--config", "correct", "--canary")
    result = calibration["result"]
    assert calibration["state"] == "done" and result["labels"] == ["fail", "pass"], calibration
    assert result["matrix"] == [[16, 4], [0, 20]], result
    # p_o = 36/40, p_e = 0.4 * 0.5 + 0.6 * 0.5 = 0.5, kappa = 0.8
    assert abs(result["all"]["kappa"] - 0.8) < 1e-9 and result["precision"]["rate"] == 1 and result["recall"]["rate"] == 0.8, result
    assert result["flip_rate"] == 0 and result["repeated"] == 40 and result["verdicts"] == 120, result
    items = client.must("GET", f"{path}/{calibration['id']}/items").data
    assert [item["agrees"] for item in items[:5]] == [False] * 4 + [True], items[:5]
    assert sorted(int(item["trace_id"], 16) for item in items[:4]) == [1, 3, 5, 7], items[:4]
    shown = hone.run("evaluator", "calibrations", "correct-code").stdout
    assert "0.8" in shown, shown
    # The rate of the evaluator in production, corrected by people: it lets too much pass.
    verdicts = [{"target": "trace", "target_id": f"{n:032x}", "name": "correct-code", "kind": "code", "label": "x",
                 "score": 0 if n % 2 and n > 8 else 1} for n in range(1, 41)]
    client.must("POST", "/v1/projects/shop/evals", {"data": verdicts})
    rate = client.must("GET", f"/v1/evaluators/{made['id']}/corrected_rate?project=shop").data
    assert rate["evals"] == 40 and abs(rate["rate"] - 0.6) < 1e-9 and rate["corrected"] < 0.6 and abs(rate["people_rate"] - 0.5) < 1e-9, rate


def test_queues_keep_verdicts_hidden_people_apart_and_survive_a_kill(binary, stack):
    shop, queue = labelled_shop(binary, stack, 6)
    client = shop.client
    client.must("PATCH", f"/v1/annotation_queues/{queue}", {"reviewers_per_item": 2})
    everything = [{"target": "trace", "target_id": f"{n:032x}", "name": "judge", "kind": "llm", "label": "pass", "score": 1} for n in range(1, 7)]
    client.must("POST", "/v1/projects/shop/evals", {"data": everything})
    item = client.must("POST", f"/v1/annotation_queues/{queue}/next").data["item"]
    assert item["verdicts_hidden"] and item["verdicts"] == [], item
    other = person(types.SimpleNamespace(client=client, shop=shop), "ann@example.com", "annotator")
    assert other.call("POST", "/v1/annotation_queues", {"name": "mine", "project": "shop", "configs": ["correct"]}).status == 403
    assert other.must("POST", f"/v1/annotation_queues/{queue}/next").data["item"]["id"] == item["id"]
    done = label(client, queue, "pass")
    assert done["state"] == "pending" and done["verdicts"][0]["name"] == "judge", done
    theirs = other.must("GET", f"/v1/annotation_queues/{queue}/items/{item['id']}").data
    assert theirs["verdicts_hidden"] and theirs["my_evals"] == [], theirs
    assert label(other, queue, "fail")["state"] == "done"
    while label(client, queue, "pass"):
        pass
    while label(other, queue, "pass"):
        pass
    (agreement,) = client.must("GET", f"/v1/annotation_queues/{queue}/agreement").data["configs"]
    # Six items, one of them divided: 11 passes and 1 fail. alpha = 1 - (2/12) / (2 * 11 / (12 * 11))
    assert agreement["items"] == 6 and abs(agreement["alpha"] - 0) < 1e-9, agreement
    # A key of a service labels nothing.
    key = client.must("POST", "/v1/keys", {"name": "robot", "kind": "service", "role": "member"}).data["key"]
    refused = shop.server.client(key).call("POST", f"/v1/annotation_queues/{queue}/next")
    assert refused.status == 403, refused.text
    # What was labelled is there after a kill, each eval once per person.
    shop.again()
    found = shop.client.must("GET", "/v1/projects/shop/evals?target=trace&name=correct&limit=1000").data
    assert len([one for one in found if one["kind"] == "human"]) == 12, len(found)
    for method, path, body in (("POST", "", {"name": "x"}), ("POST", "", {"name": "", "project": "shop", "configs": ["correct"]}),
                               ("POST", "", {"name": "x" * 201, "project": "shop", "configs": ["correct"]}),
                               ("POST", "", {"name": "x", "project": "shop", "configs": ["correct"], "fill_ppm": 0}),
                               ("POST", "", {"name": "x", "project": "shop", "configs": ["correct"], "target": "planet"}),
                               ("POST", f"/{queue}/items", {"target_ids": []}), ("POST", f"/{queue}/fill", {"hours": 0})):
        assert shop.client.call(method, "/v1/annotation_queues" + path, body).status == 400, (path, body)
    assert shop.client.call("POST", f"/v1/annotation_queues/{queue}/items", {"target_ids": ["f" * 32]}).status == 404


def test_a_queue_takes_what_evaluators_or_people_could_not_settle(binary, stack):
    shop, _ = labelled_shop(binary, stack, 6)
    client = shop.client
    def eval_of(trace, kind, label, **more):
        return {"target": "trace", "target_id": f"{trace:032x}", "name": "tone", "kind": kind, "label": label} | more
    client.must("POST", "/v1/projects/shop/evals", {"data": [
        eval_of(1, "llm", "cannot_judge"), eval_of(2, "llm", "pass", metadata={"agreement": 0.6667}), eval_of(3, "llm", "pass", metadata={"agreement": 1}),
        eval_of(4, "human", "pass", identifier="ann"), eval_of(4, "human", "fail", identifier="bob"),
        eval_of(5, "human", "pass", identifier="ann"), eval_of(5, "human", "pass", identifier="bob")]})
    hone = Hone(shop.server, client.must("POST", "/v1/keys", {"name": "cli"}).data["key"])
    for rule, trace in {"undecided": 1, "split": 2, "disputed": 4}.items():
        made = hone.json("queue", "create", rule, "--project", "shop", "--config", "correct", "--rule", rule)
        assert made["fill_rule"] == rule, made
        # The filter holds too: the odd traces are in a loop.
        client.must("PATCH", f"/v1/annotation_queues/{made['id']}", {"fill_filter": f'attributes["looped"] = "{"no" if trace % 2 else "yes"}"'})
        assert hone.json("queue", "fill", rule, "--hours", "1") == {"added": 0, "seen": 0}
        client.must("PATCH", f"/v1/annotation_queues/{made['id']}", {"fill_filter": ""})
        assert hone.json("queue", "fill", rule, "--hours", "1") == {"added": 1, "seen": 1}
        (item,) = hone.json("queue", "items", rule)
        assert (item["target_id"], item["trace_id"]) == (f"{trace:032x}", f"{trace:032x}"), item
    changed = hone.json("queue", "update", "disputed", "--rule", "matching")
    assert changed["fill_rule"] == "matching" and hone.json("queue", "fill", "disputed", "--hours", "1") == {"added": 5, "seen": 6}, changed
    assert client.post("/v1/annotation_queues", {"name": "x", "project": "shop", "configs": ["correct"], "fill_rule": "angry"}).status == 400


def test_every_command_about_queues(binary, stack):
    shop, queue = labelled_shop(binary, stack, 4)
    hone = Hone(shop.server, shop.client.must("POST", "/v1/keys", {"name": "cli"}).data["key"])
    assert [one["name"] for one in hone.json("queue", "list")] == ["tickets"]
    made = hone.json("queue", "create", "second", "--project", "shop", "--config", "correct", "--instructions", "Right?", "--reviewers", "2", "--ppm", "500000")
    assert (made["reviewers_per_item"], made["fill_ppm"]) == (2, 500000), made
    assert hone.json("queue", "update", "second", "--reviewers", "1", "--fill", "--filter", "status = error")["fill_enabled"]
    assert not hone.json("queue", "update", "second", "--no-fill")["fill_enabled"]
    assert "Right?" in hone.run("queue", "show", "second").stdout
    assert hone.json("queue", "add", "second", "--id", f"{1:032x}", "--id", f"{2:032x}") == {"added": 2, "seen": 2}
    assert len(hone.json("queue", "items", "second", "--state", "pending")) == 2
    first = hone.json("queue", "next", "second")["item"]
    assert hone.json("queue", "label", "second", first["id"], "--eval", "correct=pass")["state"] == "done"
    second = hone.json("queue", "next", "second")["item"]
    assert hone.json("queue", "skip", "second", second["id"], "--reason", "unclear")["state"] == "skipped"
    assert hone.json("queue", "undo", "second")["id"] == second["id"]
    assert "1 labelled, 0 skipped" in hone.run("queue", "agreement", "second").stdout
    assert hone.json("queue", "fill", "tickets", "--hours", "2", "--most", "10")["seen"] == 4
    hone.run("queue", "label", "tickets", first["id"], "--eval", "correct", status=2)
    hone.run("queue", "delete", "second", "--yes")
    hone.run("queue", "show", "second", status=5)
