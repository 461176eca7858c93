#!/usr/bin/env python3
"""What a pod adds to a model call, and to each token of one. Started by kubernetes.py in the network of the cluster.

kubernetes_models.py HONE KUBECONFIG NAMESPACE IMAGE

Runs of one server, on this machine and in a pod, send the same calls through the broker's gateway to a provider that responds
immediately. Each token has the time at which the provider sent it: both ends read the same clock of one kernel.
"""

import contextlib
import http.server
import json
import pathlib
import sys
import threading
import time

sys.dont_write_bytecode = True
here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "tests/e2e"))

from models import KEY  # noqa: E402
from runs import Shop  # noqa: E402

MODEL, TOKENS, PAUSE = "claude-sonnet-4", 400, 0.002
LIMITS = {"memory_bytes": 256 << 20, "cpus": 1, "disk_bytes": 256 << 20}
CALLER = """
import http.client, json, time
HEADERS = {"x-api-key": "mine", "content-type": "application/json"}
def connect():
    return http.client.HTTPConnection("127.0.0.1", 3129)
def post(connection, stream):
    body = {"model": "%s", "stream": stream, "max_tokens": 1000, "messages": [{"role": "user", "content": "x" * 2000}]}
    connection.request("POST", "/anthropic/v1/messages", json.dumps(body), HEADERS)
    response = connection.getresponse()
    assert response.status == 200, (response.status, response.read())
    return response
def call(connection):
    began = time.monotonic()
    post(connection, False).read()
    return (time.monotonic() - began) * 1000
def first_call():
    connection = connect()
    took = call(connection)
    connection.close()
    return took
def tokens(connection):
    response, text, late = post(connection, True), "", []
    while piece := response.read1(65536):
        now = time.monotonic_ns()
        text += piece.decode()
        *whole, text = text.split("@end")
        late += [(now - int(part.rpartition("@")[2])) / 1e6 for part in whole]
    return late
def spread(values):
    ordered = sorted(values)
    at = lambda share: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 3)
    return {"p50": at(0.5), "p99": at(0.99), "count": len(ordered)}
kept = connect()
call(kept)
print("measured " + json.dumps({"model_call_ms": spread([call(kept) for _ in range(200)]),
                  "model_call_with_a_new_connection_ms": spread([first_call() for _ in range(100)]),
                  "token_ms": spread([late for _ in range(4) for late in tokens(kept)])}))
""" % MODEL


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
                   "usage": {"input_tokens": 500, "output_tokens": 1}}
        if not request["stream"]:
            body = json.dumps(message | {"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}).encode()
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
            self.wfile.write(head.encode() + body)
            return
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        self.event("message_start", message=message)
        self.event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for _ in range(TOKENS):
            text = f"@{time.monotonic_ns()}@end"
            self.event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
            time.sleep(PAUSE)  # between tokens, as a model has it
        self.event("content_block_stop", index=0)
        self.event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": TOKENS})
        self.event("message_stop")
        self.wfile.write(b"0\r\n\r\n")

    def event(self, kind, **fields):
        data = f"event: {kind}\ndata: {json.dumps({'type': kind} | fields)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))


def measure(shop, skill, **where):
    run = shop.start("/usr/bin/python3", "-c", CALLER, skills=[skill], sandbox=LIMITS, **where)["id"]
    ended = shop.until(run)
    assert ended["state"] == "succeeded", (ended, shop.texts(run))
    line, = (text for text in shop.texts(run, "message") if text.startswith("measured "))
    return json.loads(line.removeprefix("measured "))


def main():
    binary, *cluster = sys.argv[1:]
    words = [word for name, value in zip(("kubeconfig", "namespace", "image"), cluster) for word in (f"--kubernetes-{name}", value)]
    Shop.patience = 180
    with contextlib.ExitStack() as stack:
        model = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model))
        threading.Thread(target=model.serve_forever, daemon=True).start()
        shop = Shop(binary, stack, *words)
        variables = {"PROTOCOL": "anthropic", "BASE_URL": f"http://127.0.0.1:{model.server_port}", "ALLOW_PRIVATE": "true"}
        skill = shop.client.must("POST", "/v1/skills", {"name": "model", "type": "model", "secrets": {"API_KEY": KEY},
                                                        "variables": variables}).data["id"]
        local, pod = measure(shop, skill), measure(shop, skill, provider="kubernetes")
    added = {name: {share: round(pod[name][share] - local[name][share], 3) for share in ("p50", "p99")} for name in local}
    print(json.dumps({"local": local, "kubernetes": pod, "added": added}))


if __name__ == "__main__":
    main()
