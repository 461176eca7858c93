#!/usr/bin/env python3
"""A model provider that plays a script: deterministic answers, faults on demand, and an exact count of the tokens it
has told its clients. README.md says what a script looks like. Python's standard library only; loopback only."""
import argparse
import itertools
import json
import os
import re
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from wires import Answer, Chat, Gemini, Messages, Responses, Usage

SHELL_TOOLS = ("Bash", "bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command")
ROUTES = ((re.compile(r"/v1/messages$"), Messages), (re.compile(r"/v1/responses$"), Responses),
          (re.compile(r"/v1/chat/completions$"), Chat),
          (re.compile(r"/v1beta/models/([^/:]+):(generateContent|streamGenerateContent)$"), Gemini))


class Tally:
    """What was asked and told, of one play or of all."""

    def __init__(self):
        self.totals, self.requests, self.asides, self.cut, self.last, self.last_aside = Usage(), 0, 0, 0, {}, {}


class Book:
    """What was told, and how often a step was played. Shared by all threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.calls = itertools.count()
        self.clear()

    def clear(self):
        self.all, self.plays, self.played = Tally(), {}, {}

    def of(self, play):
        """The tallies that a request of this play belongs to. With the lock held."""
        return self.all, self.plays.setdefault(play, Tally())

    def asked(self, play, request, is_aside):
        with self.lock:
            for tally in self.of(play):
                if is_aside:
                    tally.asides += 1
                    tally.last_aside = request
                else:
                    tally.requests += 1
                    tally.last = request

    def was_cut(self, play):
        with self.lock:
            for tally in self.of(play):
                tally.cut += 1

    def tell(self, play, usage):
        with self.lock:
            for tally in self.of(play):
                for name in Usage.NAMES:
                    setattr(tally.totals, name, getattr(tally.totals, name) + getattr(usage, name))

    def play(self, key):
        with self.lock:
            self.played[key] = self.played.get(key, 0) + 1
            return self.played[key]


def choose_tool(wanted, arguments, offered):
    """The offered tool a script means by "shell", "mcp:NAME" or an exact name, and its arguments made to fit."""
    arguments = dict(arguments)
    if wanted == "shell":
        found = [tool for name in SHELL_TOOLS for tool in offered if tool.name == name]
    elif wanted.startswith("mcp:"):
        name = wanted[4:]
        found = [t for t in offered if (t.namespace and t.name == name) or re.search("[_-]" + re.escape(name) + "$", t.name)]
    else:
        found = [tool for tool in offered if tool.name == wanted]
    if not found:
        return None
    properties = found[0].schema.get("properties", {})
    if wanted == "shell" and "command" in arguments:
        key = "cmd" if "cmd" in properties else "command"
        command = arguments.pop("command")
        is_list = str(properties.get(key, {}).get("type")).lower() == "array"
        arguments[key] = ["bash", "-lc", command] if is_list else command
    blanks = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
    for key in found[0].schema.get("required", []):
        kind = str(properties.get(key, {}).get("type")).lower()
        arguments.setdefault(key, blanks.get(kind, "scripted"))
    return found[0], arguments


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # --- plumbing ---------------------------------------------------------------------------------------------------

    def body(self):
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        whole = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def reply(self, status, value, headers=None):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, content in dict({"content-type": "application/json", "request-id": "req_%d" % id(self),
                                   "content-length": str(len(text))}, **(headers or {})).items():
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else text)

    def place(self):
        path, _, query = self.path.partition("?")
        found = re.match(r"/play/([a-z0-9_]+)(/.*)?$", path)
        return (found[1], found[2] or "/", query) if found else (self.server.options.play, path, query)

    def drop(self):
        """Ends the connection in the middle. All that was written arrives, so that the count stays exact."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_HEAD(self):
        self.reply(200, b"")

    def do_GET(self):
        play, path, _ = self.place()
        book = self.server.book
        with book.lock:
            tally = book.of(play)[1] if self.path.startswith("/play/") else book.all
            count = {"requests": tally.requests, "asides": tally.asides, "cut": tally.cut, "tokens": tally.totals.as_dict()}
        if path == "/_count":
            return self.reply(200, count)
        if path == "/_last":
            return self.reply(200, tally.last)
        if path == "/_last_aside":
            return self.reply(200, tally.last_aside)
        if path.endswith("/models"):
            book.asked(play, {"path": self.path, "headers": dict(self.headers.items()), "body": None}, True)
            return self.list_models(play, path)
        self.reply(404, {"error": {"message": "nothing at " + path}})

    def list_models(self, play, path):
        """As the provider whose protocol the request has. The play status_401 accepts no key and repeats it."""
        if play == "status_401":
            return self.reply(401, {"error": {"message": "invalid key " + (self.headers.get("authorization") or "")}})
        names = ["scripted-1", "scripted-2", "small-1"]
        if "/v1beta/" in path:
            rows = [{"name": "models/" + name, "supportedGenerationMethods": ["generateContent"]} for name in names]
            return self.reply(200, {"models": rows + [{"name": "models/embed", "supportedGenerationMethods": ["embedContent"]}]})
        if "anthropic-version" in self.headers:
            return self.reply(200, {"data": [{"id": name, "display_name": name.title()} for name in names], "has_more": False})
        self.reply(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

    def do_POST(self):
        raw = self.body()
        play, path, query = self.place()
        if path == "/_clear":
            self.server.book.clear()
            return self.reply(200, {})
        if path.endswith("/count_tokens"):
            return self.reply(200, {"input_tokens": max(1, len(raw) // 4)})
        for pattern, wire in ROUTES:
            if found := pattern.search(path):
                break
        else:
            return self.reply(404, {"error": {"message": "nothing at " + path}})
        try:
            request = json.loads(raw or b"{}")
        except ValueError:
            return self.reply(400, wire.error(400, "the body is not JSON"))
        if wire is Gemini:
            request.update(model=found[1], stream=found[2] == "streamGenerateContent")
            request["alt"] = "sse" if "alt=sse" in query else "json"
        position, offered = wire.read(request)
        # Titles, summaries, probes: they are no part of a play of several steps.
        is_aside = not offered and sum("times" not in step for step in self.server.plays.get(play, ())) > 1
        self.server.book.asked(play, {"path": self.path, "headers": dict(self.headers.items()), "body": request}, is_aside)
        self.play(wire, play, request, {"say": "ok"} if is_aside else self.step(play, position), offered)

    # --- the script ---------------------------------------------------------------------------------------------------

    def step(self, play, position):
        """The step for this position. A step with `times` is played that often, then it is as if it were not there."""
        steps = self.server.plays.get(play) or [{"say": "there is no play named " + play}]
        lasting = 0
        for index, step in enumerate(steps):
            if "times" not in step:
                lasting += 1
            elif lasting == position and self.server.book.play((play, index)) <= step["times"]:
                return step
        lasting = [step for step in steps if "times" not in step]
        return lasting[min(position, len(lasting) - 1)]

    def usage(self, step):
        if "usage" in step:
            return Usage(**step["usage"])
        n = next(self.server.book.calls)  # other numbers for each call, so that a mix-up shows
        return Usage(input=100 + n * 37 % 900, cache_read=n * 53 % 700, cache_write=n * 11 % 90,
                     output=20 + n * 29 % 300, reasoning=n * 7 % 60)

    def play(self, wire, name, request, step, offered):
        time.sleep(step.get("delay", 0))
        if step.get("hang"):
            self.server.closing.wait(3600)
            return self.drop()
        if "status" in step:
            return self.reply(step["status"], wire.error(step["status"], "scripted fault"), step.get("headers"))
        calls, missing = [], []
        for call in step.get("calls") or ([step] if "tool" in step else []):
            found = choose_tool(call["tool"], call.get("arguments", {}), offered)
            calls.append(found) if found else missing.append(call["tool"])
        text = step.get("say", "") * step.get("repeat", 1)
        if missing:
            text += " (not offered: %s; offered: %s)" % (missing, [tool.name for tool in offered])
        answer = Answer(text, step.get("think", ""), calls, self.usage(step), step.get("pieces", 2))
        if request.get("stream"):
            return self.tell(name, wire.stream(request, answer), step, request.get("alt", "sse"))
        if step.get("cut"):
            return self.cut_whole(name, wire.whole(request, answer))
        self.server.book.tell(name, wire.told(answer.usage))
        self.reply(200, wire.whole(request, answer))

    def cut_whole(self, name, value):
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.server.book.was_cut(name)
        self.wfile.write(text[:len(text) // 3])
        self.drop()

    def tell(self, name, frames, step, form):
        """Streams the frames. The count holds what the last whole frame has said, and is written before the end can
        be seen, so that whoever has read the answer finds it counted."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if form == "sse" else "application/json")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        told, at = Usage(), len(frames) * step.get("after", 50) // 100
        try:
            for index, (text, usage) in enumerate(frames):
                chunk = b"%x\r\n%s\r\n" % (len(text), text)
                if index == at and step.get("cut"):
                    self.server.book.tell(name, told)
                    self.server.book.was_cut(name)
                    self.wfile.write(chunk[:len(chunk) // 2])
                    return self.drop()
                if index == at and "stall" in step:
                    self.wfile.write(chunk[:len(chunk) // 2])
                    self.wfile.flush()
                    self.server.closing.wait(step["stall"])
                    chunk = chunk[len(chunk) // 2:]
                self.wfile.write(chunk)
                self.wfile.flush()
                told = usage or told
                time.sleep(step.get("pause", 0))
            self.server.book.tell(name, told)
            told = Usage()
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            self.server.book.tell(name, told)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, address):
        pass  # a client that goes away is part of many tests


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--plays", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "plays.json"))
    parser.add_argument("--play", default="text", help="the play of requests without /play/NAME")
    parser.add_argument("--certificate", help="PEM with certificate and key: serve TLS")
    parser.add_argument("--until-input-ends", action="store_true", help="end when standard input is closed")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Handler)
    server.options, server.book, server.closing = options, Book(), threading.Event()
    with open(options.plays, encoding="utf-8") as file:
        server.plays = json.load(file)
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "https" if options.certificate else "http"
    print("listening %s://127.0.0.1:%d" % (scheme, server.server_port), flush=True)
    if options.until_input_ends:
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
