"""Models, code and services as evaluators: tested, in experiments, and as online tasks over traces, with kills, nonsense and
two servers."""

import hashlib
import hmac
import http.server
import json
import threading

from experiments import ended, start
from models import Provider
from prompts import add_skill
from server import Server, wait_until
from telemetry import key_of, otlp_json

PROMPT = "Input: {{input}}\nOutput: {{output}}\nIs it polite?"
LABELS = {"type": "categorical", "values": [{"label": "pass", "score": 1}, {"label": "fail", "score": 0}]}


def llm(prompt=PROMPT, **more):
    return {"model": {"name": "gpt-4o"}, "messages": [{"role": "user", "content": prompt}], "output": LABELS} | more


def polite(client, name="polite", **more):
    return client.must("POST", "/v1/evaluators", {"name": name, "kind": "llm", "llm": llm(**more)}).data


def laboratory(binary, stack, play="verdict_pass", *flags):
    server = stack.enter_context(Server(binary, None, *flags))
    provider = Provider(stack)
    client = server.admin()
    add_skill(client, provider, play)
    return server, provider, client


def sender_key(server):
    if not hasattr(server, "sender_key"):
        server.sender_key = key_of(server)
    return server.sender_key


def send(server, client, traces, first=1, **attributes):
    """Traces of one span each, acknowledged."""
    key = sender_key(server)
    spans = [(n, n, 0, "chat", {"input.value": f"hello {n}", "output.value": f"good day {n}"} | attributes) for n in range(first, first + traces)]
    answer = server.client(key).post("/v1/traces", otlp_json(spans))
    assert answer.status == 200, answer.text
    return [f"{n:032x}" for n in range(first, first + traces)]


def evals_of(client, target="trace", project="shop"):
    answer = client.get(f"/v1/projects/{project}/evals?target={target}&limit=1000")
    return answer.json.get("data") or []


def task_of(client, evaluator, **more):
    body = {"project": "shop", "evaluator": evaluator["id"], "target": "trace", "delay_seconds": 0} | more
    return client.must("POST", "/v1/eval_tasks", body).data


def shop_project(server, client):
    client.must("POST", "/v1/projects", {"name": "shop"}, status=200)


def test_a_model_evaluates_documents_traces_and_experiments_and_equal_ones_cost_nothing(binary, stack):
    server, provider, client = laboratory(binary, stack)
    evaluator = polite(client)
    assert evaluator["llm"]["model"]["skill"].startswith("skl_") and evaluator["revision"] == 1, evaluator
    document = {"input": "hello", "output": "good day"}
    tested = client.must("POST", f"/v1/evaluators/{evaluator['id']}/test", {"documents": [document, {"input": "x"}]}).data
    assert tested[0]["verdict"]["label"] == "pass" and tested[0]["verdict"]["score"] == 1 and tested[0]["tokens"] > 0, tested
    assert tested[1]["reason"] == "missing_variable" and tested[1]["verdict"] is None, tested
    again = client.must("POST", f"/v1/evaluators/{evaluator['id']}/test", {"documents": [document]}).data[0]
    assert again["cached"] and again["tokens"] == 0, again
    assert provider.get("/_count")["requests"] == 1, provider.get("/_count")
    fresh = client.must("POST", f"/v1/evaluators/{evaluator['id']}/test", {"documents": [document], "cache": False}).data[0]
    assert not fresh["cached"] and provider.get("/_count")["requests"] == 2
    # The call offers one tool, is traced in the hidden project and counted.
    body = json.loads(provider.get("/_last")["body"]) if isinstance(provider.get("/_last")["body"], str) else provider.get("/_last")["body"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["report_verdict"] and body["temperature"] == 0, body
    names = [one["name"] for one in client.must("GET", "/v1/projects").data]
    assert "hone-evals" not in names, names
    # A change makes a version; a draft is tested without saving.
    draft = llm(prompt="{{input}} only")
    client.must("POST", f"/v1/evaluators/{evaluator['id']}/test", {"documents": [{"input": "x"}], "llm": draft})
    changed = client.must("PATCH", f"/v1/evaluators/{evaluator['id']}", {"llm": draft}).data
    assert changed["revision"] == 2, changed
    for broken in ("{{input", "{{}}", "{{#a}}x{{/a}}", "{{a..b}}", "nothing"):
        answer = client.call("PATCH", f"/v1/evaluators/{evaluator['id']}", {"llm": llm(prompt=broken)})
        assert answer.status == 400, (broken, answer.text)
    # Real targets.
    shop_project(server, client)
    trace = send(server, client, 1)[0]

    def on_target():
        target = {"kind": "trace", "project": "shop", "id": trace}
        seen = client.must("POST", f"/v1/evaluators/{evaluator['id']}/test", {"targets": [target]}).data[0]
        return seen["verdict"] and seen

    seen = wait_until(on_target, "the trace is evaluated")
    assert seen["document"]["input"] == "hello 1" and seen["document"]["spans"], seen
    gone = {"kind": "trace", "project": "shop", "id": "f" * 32}
    assert client.must("POST", f"/v1/evaluators/{evaluator['id']}/test", {"targets": [gone]}).data[0]["reason"] == "target_gone"
    # Experiments.
    lists = {"inputs": [{"text": f"n {n}"} for n in range(3)], "outputs": [{"text": "good"} for _ in range(3)]}
    client.must("POST", "/v1/datasets/upload", {"action": "create", "name": "numbers"} | lists)
    experiment = start(client, {"kind": "command", "command": "cat"}, evaluators=["polite@2"])
    done = ended(client, experiment)
    assert done["state"] == "done" and done["evaluators"][0]["evals"] == 3, done
    assert done["spent_tokens"] > 0, done


def test_a_task_evaluates_new_traces_once_and_its_funnel_accounts_for_each(binary, stack):
    server, provider, client = laboratory(binary, stack)
    shop_project(server, client)
    evaluator = polite(client)
    send(server, client, 2, first=100)  # before the task: left out
    task = task_of(client, evaluator, filter='name = "chat"', tokens_per_day=100_000)
    traces = send(server, client, 5)
    found = wait_until(lambda: len(evals_of(client)) >= 5 and evals_of(client), "five traces are evaluated", 60)
    assert sorted(one["target_id"] for one in found) == sorted(traces), found
    for one in found:
        assert one["kind"] == "llm" and one["label"] == "pass" and one["score"] == 1, one
        assert one["evaluator_version"] == 1 and one["job"] and one["inclusion"] == 1, one
    jobs = client.must("GET", f"/v1/eval_tasks/{task['id']}/jobs").data
    assert [job["state"] for job in jobs] == ["done"] * 5, jobs

    def counted():
        rows = client.must("GET", f"/v1/eval_tasks/{task['id']}/funnel").data
        return sum(row["judged"] for row in rows) == 5 and rows

    rows = wait_until(counted, "the funnel is complete")
    assert sum(row["failed"] + row["skipped"] + row["waiting"] for row in rows) == 0, rows
    # The calls of the evaluator are traces too, in a hidden project that no task evaluates.
    requests = provider.get("/_count")["requests"]
    assert requests == 5, requests
    answer = client.call("POST", "/v1/eval_tasks", {"project": "hone-evals", "evaluator": evaluator["id"], "target": "trace"})
    assert answer.status == 400 and "no task evaluates" in answer.text, answer.text
    # A trace that grows is evaluated once more, and the eval is replaced.
    key = sender_key(server)
    spans = [(1, 900, 1, "late", {"input.value": "x", "output.value": "y"})]
    assert server.client(key).post("/v1/traces", otlp_json(spans)).status == 200

    def generations():
        jobs = client.must("GET", f"/v1/eval_tasks/{task['id']}/jobs").data
        return max(job["generation"] for job in jobs) == 2 and all(job["state"] == "done" for job in jobs) and jobs

    jobs = wait_until(generations, "the trace is evaluated again", 60)
    assert len(jobs) == 6 and len(evals_of(client)) == 5, jobs


def test_a_backfill_is_estimated_capped_and_never_doubles(binary, stack):
    server, provider, client = laboratory(binary, stack)
    shop_project(server, client)
    evaluator = polite(client)
    send(server, client, 20)
    wait_until(lambda: len(client.get("/v1/projects/shop/trace_rows?limit=100").json.get("data") or []) == 20, "all are stored")
    task = task_of(client, evaluator)
    path = f"/v1/eval_tasks/{task['id']}"
    wanted = {"from": "2026-01-01T00:00:00Z", "most_targets": 8}
    seen = client.must("POST", f"{path}/estimate", wanted).data
    assert (seen["received"], seen["sampled"], seen["targets"], seen["tokens"]) == (20, 20, 8, None), seen
    client.must("POST", f"{path}/backfills", wanted)

    def over():
        rows = client.must("GET", f"{path}/backfills").data
        return rows[0]["state"] == "done" and rows[0]

    first = wait_until(over, "the backfill ends", 60)
    assert (first["queued"], first["done"], first["failed"]) == (8, 8, 0), first
    seen = client.must("POST", f"{path}/estimate", wanted).data
    assert seen["tokens"] > 0 and seen["verdicts_measured"] == 8, seen
    client.must("POST", f"{path}/backfills", wanted | {"most_targets": 1000})
    second = wait_until(over, "the second backfill ends", 60)
    assert (second["queued"], second["known"], second["done"]) == (12, 8, 12), second
    assert len(evals_of(client)) == 20 and provider.get("/_count")["requests"] == 20
    # The inclusion of a sample is stored, and a higher rate keeps what a lower one has.
    third = client.must("POST", "/v1/eval_tasks", {"project": "shop", "evaluator": polite(client, "half")["id"], "target": "trace", "rate_ppm": 500_000}).data
    client.must("POST", f"/v1/eval_tasks/{third['id']}/backfills", wanted | {"most_targets": 1000})
    path = f"/v1/eval_tasks/{third['id']}"
    sampled = wait_until(over, "the sample is evaluated", 60)
    half = [one for one in evals_of(client) if one["name"] == "half"]
    assert len(half) == sampled["queued"] and all(one["inclusion"] == 0.5 for one in half), half


def test_a_kill_between_verdict_and_write_neither_doubles_nor_loses_one(binary, stack):
    server, provider, client = laboratory(binary, stack, "slow_verdict")
    shop_project(server, client)
    task_of(client, polite(client))
    send(server, client, 6)
    for _ in range(3):
        before = provider.get("/_count")["requests"]
        wait_until(lambda: provider.get("/_count")["requests"] > before, "a call is under way", 60)
        server.kill()
        server.start()
    client = server.admin()
    found = wait_until(lambda: len(evals_of(client)) == 6 and evals_of(client), "all are evaluated", 240)
    assert len({one["target_id"] for one in found}) == 6, found


def jobs_of(client, task, state):
    return client.must("GET", f"/v1/eval_tasks/{task['id']}/jobs?state={state}").data


def until_paused(client, task):
    def paused():
        seen = client.must("GET", f"/v1/eval_tasks/{task['id']}").data
        return seen["state"] == "paused" and seen
    return wait_until(paused, "the task is paused", 60)


def test_nonsense_and_refused_credentials_pause_a_task_with_a_notice_and_bounded_cost(binary, stack):
    server, provider, client = laboratory(binary, stack, "text")
    shop_project(server, client)
    task = task_of(client, polite(client))
    send(server, client, 30)
    seen = until_paused(client, task)
    assert "unparsable" in seen["reason"] and seen["waits_until"], seen
    # Calls that were under way when it was paused end; then each trace is accounted for.
    wait_until(lambda: len(jobs_of(client, task, "queued")) + len(jobs_of(client, task, "failed")) == 30, "no job is lost", 60)
    assert {one["reason"] for one in jobs_of(client, task, "failed")} == {"unparsable"}, jobs_of(client, task, "failed")
    # Five failures, each repaired once, and the calls that were under way.
    assert provider.get("/_count")["requests"] <= 2 * (5 + 8), provider.get("/_count")
    assert evals_of(client) == []
    kinds = [one["kind"] for one in client.must("GET", "/v1/notices").data]
    assert kinds.count("eval_task_paused") == 1, kinds
    # A provider that refuses the key: every attempt would be refused, so that the first one pauses.
    before = provider.get("/_count")["requests"]
    client.must("PATCH", f"/v1/eval_tasks/{task['id']}", {"enabled": False})
    refused = add_skill(client, provider, "status_401", name="refused")
    other = task_of(client, polite(client, "refused", model={"name": "gpt-4o", "skill": refused}))
    send(server, client, 10, first=100)
    assert "rejected" in until_paused(client, other)["reason"]
    wait_until(lambda: len(jobs_of(client, other, "queued")) == 10, "no job is lost", 60)
    assert provider.get("/_count")["requests"] - before <= 8, provider.get("/_count")


class Judge(http.server.BaseHTTPRequestHandler):
    secret = ""
    seen = []
    pending = 1

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = "v1=" + hmac.new(Judge.secret.encode(), self.headers["X-Hone-Time"].encode() + b"." + body, hashlib.sha256).hexdigest()
        request = json.loads(body)
        Judge.seen.append((request, self.headers["Idempotency-Key"], self.headers["X-Hone-Signature"] == expected))
        status, reply = 200, {"label": "pass", "explanation": "remote"}
        if request["document"].get("input") == "redirect":
            status, reply = 302, {}
        elif Judge.pending > 0:
            Judge.pending -= 1
            status, reply = 202, {"retry_after": 1}
        text = json.dumps(reply).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://169.254.169.254/")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def test_a_remote_service_gets_signed_requests_within_the_address_rules(binary, stack):
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Judge)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    stack.callback(service.server_close)
    stack.callback(service.shutdown)
    place = f"127.0.0.1:{service.server_port}"
    server = stack.enter_context(Server(binary, None, "--egress-private-hosts", place))
    client = server.admin()
    definition = {"url": f"http://{place}/judge", "output": LABELS}
    evaluator = client.must("POST", "/v1/evaluators", {"name": "remote", "kind": "remote", "remote": definition}).data
    path = f"/v1/evaluators/{evaluator['id']}"
    first = client.must("POST", f"{path}/test", {"documents": [{"input": "a"}]}).data[0]
    assert first["reason"] == "rejected" and "signing secret" in first["error"], first
    Judge.secret = client.must("POST", f"{path}/signing_secret", {}).data["signing_secret"]
    tested = client.must("POST", f"{path}/test", {"documents": [{"input": "a"}]}).data[0]
    assert tested["verdict"]["label"] == "pass" and tested["verdict"]["explanation"] == "remote", tested
    assert all(fits for _, _, fits in Judge.seen) and len({key for _, key, _ in Judge.seen}) == 1, Judge.seen
    assert len(Judge.seen) == 2 and Judge.seen[0][0]["evaluator"] == "remote", Judge.seen
    redirected = client.must("POST", f"{path}/test", {"documents": [{"input": "redirect"}]}).data[0]
    assert redirected["reason"] == "provider" and "redirects are not followed" in redirected["error"], redirected
    other = {"url": "http://127.0.0.1:1/judge", "output": LABELS}
    client.must("PATCH", path, {"remote": other})
    private = client.must("POST", f"{path}/test", {"documents": [{"input": "a"}]}).data[0]
    assert private["reason"] == "rejected" and "egress_private_hosts" in private["error"], private


def test_builtins_are_listed_and_their_code_gives_the_label_of_its_example(binary, stack):
    server = stack.enter_context(Server(binary))
    client = server.admin()
    builtins = client.must("GET", "/v1/evaluator_builtins").data
    assert len(builtins) >= 45, len(builtins)
    for one in builtins:
        if one["kind"] != "code":
            continue
        made = client.must("POST", "/v1/evaluators", {"name": one["name"], "kind": "code", "code": one["definition"]}).data
        result = client.must("POST", f"/v1/evaluators/{made['id']}/test", {"documents": [one["example"]["document"]]}).data[0]
        verdict = result["verdict"]
        assert verdict, (one["name"], result)
        wanted = one["example"]["label"]
        if one["definition"]["output"]["type"] == "numeric":
            assert abs(verdict["score"] - float(wanted)) < 1e-9, (one["name"], verdict)
        else:
            assert verdict["label"] == wanted, (one["name"], verdict)
