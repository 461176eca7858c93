#!/usr/bin/env python3
"""A scripted Managed Agents API: plays sessions, breaks streams on demand, and keeps the truth that a client's transcript is
compared with. README.md describes plays and faults. Python's standard library only; loopback only."""
import argparse
import email.parser
import email.policy
import itertools
import json
import os
import random
import re
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from objects import Catalog, Ids, Refused, need, now
from sessions import Session, filtered_events, page

VERSION = "2026-10-21"
BETA = "managed-agents-2026-04-01"
BODY_LIMIT = 32 << 20
PING_SECONDS = 5


class Cut(Exception):
    """The connection ends in the middle of a response."""


class Faults:
    """Statuses for the next matching requests, and cuts of responses. Shared by all threads."""

    def __init__(self, seed):
        self.lock, self.random = threading.Lock(), random.Random(seed)
        self.statuses, self.cut, self.cuts_wanted, self.within, self.of = [], 0, 0, 600, "stream"

    def set(self, body):
        with self.lock:
            self.statuses += body.get("statuses", [])
            if "cuts" in body:
                self.cut, self.cuts_wanted = 0, body["cuts"]["count"]
                self.within, self.of = body["cuts"].get("within", 600), body["cuts"].get("of", "stream")

    def status(self, method, path):
        """The fault of this request: {"method", "path" (a pattern), "status", "times", "headers", "after": it is done first}."""
        with self.lock:
            for fault in self.statuses:
                if fault.get("times", 1) > 0 and fault.get("method", method) == method and re.search(fault.get("path", ""), path):
                    fault["times"] = fault.get("times", 1) - 1
                    return fault
        return None

    def budget(self, kind):
        """After how many bytes this response is cut; None: not at all."""
        with self.lock:
            if self.cut >= self.cuts_wanted or self.of not in (kind, "all"):
                return None
            return self.random.randrange(self.within)

    def take_cut(self):
        """Whether a response that has used up its budget is cut: as many as were requested, not one more."""
        with self.lock:
            if self.cut >= self.cuts_wanted:
                return False
            self.cut += 1
            return True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # --- bytes --------------------------------------------------------------------------------------------------------

    def write(self, data):
        """Writes until the budget of this response is used up, then ends the connection."""
        if self.budget is not None and len(data) > self.budget and self.server.faults.take_cut():
            self.wfile.write(data[:self.budget])
            self.wfile.flush()
            raise Cut()
        if self.budget is not None:
            self.budget = max(0, self.budget - len(data))
        self.wfile.write(data)
        self.wfile.flush()

    def head(self, status, headers):
        lines = [f"HTTP/1.1 {status} {self.responses.get(status, ('Overloaded',))[0]}"]
        lines += [f"{name}: {value}" for name, value in ({"request-id": self.request_id} | headers).items()]
        self.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def reply(self, status, value, headers=None):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.head(status, {"content-type": "application/json", "content-length": len(text)} | (headers or {}))
        self.write(text)

    def body(self):
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            whole = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                whole += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return whole
        length = int(self.headers.get("content-length") or 0)
        whole = self.rfile.read(length)
        if length > BODY_LIMIT:
            raise Refused(413, "the request is too large")
        return whole

    def json_body(self):
        raw = self.raw
        try:
            value = json.loads(raw or b"{}")
        except ValueError:
            raise Refused(400, "the body is not JSON") from None
        need(isinstance(value, dict), "the body is not an object")
        return value

    # --- dispatch -----------------------------------------------------------------------------------------------------

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def do_DELETE(self):
        self.serve()

    def serve(self):
        self.request_id = f"req_{next(self.server.requests):06d}"
        self.budget = None
        path, _, query = self.path.partition("?")
        found = re.match(r"/play/([a-z0-9_]+)(/.*)$", path)
        self.play_name, self.route = (found[1], found[2]) if found else (self.server.options.play, path)
        self.query = urllib.parse.parse_qs(query, keep_blank_values=True)
        try:
            self.raw = self.body()
            if self.route.startswith("/_"):
                return self.reply(200, self.control())
            self.guarded()
        except Refused as refused:
            self.reply(refused.status, {"type": "error", "error": refused.error, "request_id": self.request_id}, refused.headers)
        except Cut:
            self.close_connection = True
        except OSError:
            self.close_connection = True  # the client closed the connection

    def guarded(self):
        """Headers as the API needs them, then a scripted fault, then the request itself."""
        with self.server.lock:
            self.server.log.append({"method": self.command, "path": self.route, "query": self.query, "bytes": len(self.raw)})
        # The SDK sends the key as a bearer token; the documentation of the API names x-api-key.
        sent = (self.headers.get("authorization") or "").removeprefix("Bearer ") or self.headers.get("x-api-key")
        if sent != self.server.options.key:
            raise Refused(401, "invalid API key")
        need(self.headers.get("anthropic-version") == VERSION, f"anthropic-version: {VERSION} is required")
        if not self.route.startswith("/v1/files"):
            need(BETA in (self.headers.get("anthropic-beta") or ""), f"anthropic-beta: {BETA} is required")
        fault = self.server.faults.status(self.command, self.route)
        if fault and not fault.get("after"):
            raise Refused(fault["status"], "scripted fault", headers=fault.get("headers"))
        for method, pattern, function in ROUTES:
            match = re.fullmatch(pattern, self.route)
            if match and method == self.command:
                if function is Handler.stream:
                    return function(self, *match.groups())
                with self.server.lock:
                    value = function(self, *match.groups())
                if fault:  # done, but the client does not learn it
                    raise Refused(fault["status"], "scripted fault", headers=fault.get("headers")) if fault["status"] else Cut()
                self.budget = self.server.faults.budget("list" if isinstance(value, dict) and "data" in value else "reply")
                if isinstance(value, bytes):
                    return self.reply(200, value, {"content-type": "application/octet-stream"})
                return self.reply(200, value)
        raise Refused(404, f"nothing at {self.command} {self.route}")

    def control(self):
        """What tests set and read; not part of the API."""
        server = self.server
        if self.route == "/_faults":
            server.faults.set(self.json_body())
            return {}
        if self.route == "/_reset":
            with server.lock:
                server.reset(self.json_body()["seed"])
            return {}
        if self.route == "/_plays":
            server.plays |= self.json_body()
            return {}
        if self.route == "/_count":
            return {"cut": server.faults.cut, "requests": len(server.log), "sessions": len(server.sessions)}
        if self.route == "/_log":
            return {"requests": server.log}
        if self.route == "/_secrets":
            return {"vaults": list(server.catalog.vaults), "secrets": list(server.catalog.secrets.values())}
        id = self.route.removeprefix("/_sessions/")
        if id not in server.sessions:
            raise Refused(404, f"nothing at {self.route}")
        return server.sessions[id].truth()

    # --- agents, environments, vaults, files ----------------------------------------------------------------------------

    def collection(self, items):
        archived = self.query.get("include_archived") == ["true"]
        return page([item for item in items if archived or not item.get("archived_at")], self.query)

    def archived(self, item):
        item["archived_at"] = item["archived_at"] or now()
        return {key: value for key, value in item.items() if key != "credentials"}

    def agents(self):
        if self.command == "POST":
            return self.server.catalog.put_agent(self.json_body())
        return self.collection([versions[-1] for versions in self.server.catalog.agents.values()][::-1])

    def agent(self, id):
        if self.command == "POST":
            return self.server.catalog.put_agent(self.json_body(), id)
        versions = self.server.catalog.find("agent", id)
        version = int(self.query.get("version", [len(versions)])[0])
        if not 1 <= version <= len(versions):
            raise Refused(404, f"the agent has no version {version}")
        return versions[version - 1]

    def agent_versions(self, id):
        return page(self.server.catalog.find("agent", id)[::-1], self.query)

    def archive_agent(self, id):
        return self.archived(self.server.catalog.find("agent", id)[-1])

    def environments(self):
        if self.command == "POST":
            return self.server.catalog.put_environment(self.json_body())
        return self.collection(list(self.server.catalog.environments.values())[::-1])

    def environment(self, id):
        found = self.server.catalog.find("environment", id)
        if self.command == "POST":
            return self.server.catalog.put_environment(self.json_body(), id)
        if self.command == "DELETE":
            used = any(session.document["environment_id"] == id and not session.ended for session in self.server.sessions.values())
            if used:
                raise Refused(409, "sessions use the environment")
            del self.server.catalog.environments[id]
            return {"id": id, "type": "environment_deleted"}
        return found

    def archive_environment(self, id):
        return self.archived(self.server.catalog.find("environment", id))

    def vaults(self):
        if self.command == "POST":
            return self.server.catalog.put_vault(self.json_body())
        return self.collection([self.shown(vault) for vault in self.server.catalog.vaults.values()][::-1])

    def shown(self, vault):
        return {key: value for key, value in vault.items() if key != "credentials"}

    def vault(self, id):
        if self.command == "DELETE":
            return self.server.catalog.delete_vault(id)
        if self.command == "POST":
            return self.server.catalog.put_vault(self.json_body(), id)
        return self.shown(self.server.catalog.find("vault", id))

    def archive_vault(self, id):
        vault = self.server.catalog.find("vault", id)
        for credential in vault["credentials"]:
            self.server.catalog.secrets.pop(credential, None)
        return self.archived(vault)

    def credentials(self, vault):
        if self.command == "POST":
            return self.server.catalog.add_credential(vault, self.json_body())
        return self.collection(list(self.server.catalog.find("vault", vault)["credentials"].values())[::-1])

    def credential(self, vault, id):
        if self.command == "DELETE":
            return self.server.catalog.delete_credential(vault, id)
        found = self.server.catalog.find("vault", vault)["credentials"].get(id)
        if not found:
            raise Refused(404, f"credential not found: {id}")
        return found

    def files(self):
        catalog = self.server.catalog
        if self.command == "GET":
            scope = self.query.get("scope_id", [None])[0]
            if scope:
                need(BETA in (self.headers.get("anthropic-beta") or ""), f"anthropic-beta: {BETA} is required")
            visible = [file["metadata"] for file in catalog.files.values() if file["visible_at"] <= time.time()]
            return page([file for file in visible if (file["scope"] or {}).get("id") == scope], self.query)
        head = b"Content-Type: " + self.headers.get("content-type", "").encode() + b"\r\n\r\n"
        parts = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + self.raw)
        named = {part.get_param("name", header="content-disposition"): part for part in parts.iter_parts()} if parts.is_multipart() else {}
        need("file" in named, "file: field required")
        expires = named["expires_in_seconds"].get_payload() if "expires_in_seconds" in named else None
        return catalog.add_file(named["file"].get_filename() or "file", named["file"].get_payload(decode=True),
                                named["file"].get_content_type(), expires_in=int(expires) if expires else None)

    def file(self, id):
        if self.command == "DELETE":
            self.server.catalog.find("file", id)
            del self.server.catalog.files[id]
            return {"id": id, "type": "file_deleted"}
        return self.server.catalog.find("file", id)["metadata"]

    def file_content(self, id):
        file = self.server.catalog.find("file", id)
        need(file["metadata"]["downloadable"], "an uploaded file cannot be downloaded")
        return file["content"]

    # --- sessions -----------------------------------------------------------------------------------------------------

    def session_of(self, id):
        session = self.server.sessions.get(id)
        if session is None or session.ended == "deleted":
            raise Refused(404, f"session not found: {id}")
        return session

    def sessions(self):
        server = self.server
        if self.command == "POST":
            play = server.plays.get(self.play_name)
            need(play, f"there is no play named {self.play_name}")
            seed = f"{server.seed}-{len(server.sessions)}"
            session = Session(server.catalog, self.json_body(), play, seed, server.faults)
            server.sessions[session.document["id"]] = session
            return session.view()
        views = [session.view() for session in server.sessions.values() if session.ended != "deleted"][::-1]
        agent = self.query.get("agent_id", [None])[0]
        statuses = self.query.get("statuses[]", []) + self.query.get("statuses", [])
        created = self.query.get("created_at[gte]", [""])[0]
        views = [view for view in views if agent in (None, view["agent"]["id"]) and (not statuses or view["status"] in statuses)
                 and view["created_at"] >= created]
        return self.collection(views[::-1] if self.query.get("order") == ["asc"] else views)

    def session(self, id):
        session = self.session_of(id)
        if self.command == "POST":
            return session.update(self.json_body())
        return session.delete() if self.command == "DELETE" else session.view()

    def archive_session(self, id):
        return self.session_of(id).archive()

    def resources(self, id):
        session = self.session_of(id)
        if self.command == "POST":
            made = session.resources_of([self.json_body()])
            session.document["resources"] += made
            return made[0]
        return page(session.document["resources"], self.query)

    def events(self, id):
        session = self.session_of(id)
        if self.command == "POST":
            return session.send(self.json_body().get("events"))
        return page(filtered_events(session.listed(), self.query), self.query)

    def stream(self, id):
        """From now on, without replay: what happened before is in the list only."""
        with self.server.lock:
            session = self.session_of(id)
        previews = set(self.query.get("event_deltas[]", []) + self.query.get("event_deltas", []))
        self.budget = self.server.faults.budget("stream")
        self.close_connection = True
        with session.condition:
            self.at = len(session.feed)
            session.streams.append(self)
            session.condition.notify_all()
        try:
            # The connection ends with its stream. A client that is not told sends its next request on it, and fails.
            self.head(200, {"content-type": "text/event-stream", "cache-control": "no-cache", "transfer-encoding": "chunked",
                            "connection": "close"})
            self.follow(session, previews)
            self.write(b"0\r\n\r\n")
        finally:
            with session.condition:
                session.streams.remove(self)
                session.condition.notify_all()

    def follow(self, session, previews):
        while True:
            with session.condition:
                session.condition.wait_for(lambda: len(session.feed) > self.at or session.ended, PING_SECONDS)
                frames, ended = session.feed[self.at:], session.ended
            if not frames and ended:
                return
            if not frames:
                self.chunk("ping", {"type": "ping"})
            for frame in frames:
                kind = frame["type"]
                if kind not in ("event_start", "event_delta") or "agent.message" in previews:
                    self.chunk(kind, frame)
                with session.condition:
                    self.at += 1
                    session.condition.notify_all()

    def chunk(self, event, value):
        text = f"event: {event}\ndata: {json.dumps(value)}\n\n".encode()
        self.write(b"%x\r\n%s\r\n" % (len(text), text))


ID = r"([A-Za-z0-9_]+)"
ROUTES = [(method, pattern, function) for methods, pattern, function in (
    ("GET POST", "/v1/agents", Handler.agents),
    ("GET POST", f"/v1/agents/{ID}", Handler.agent),
    ("GET", f"/v1/agents/{ID}/versions", Handler.agent_versions),
    ("POST", f"/v1/agents/{ID}/archive", Handler.archive_agent),
    ("GET POST", "/v1/environments", Handler.environments),
    ("GET POST DELETE", f"/v1/environments/{ID}", Handler.environment),
    ("POST", f"/v1/environments/{ID}/archive", Handler.archive_environment),
    ("GET POST", "/v1/vaults", Handler.vaults),
    ("GET POST DELETE", f"/v1/vaults/{ID}", Handler.vault),
    ("POST", f"/v1/vaults/{ID}/archive", Handler.archive_vault),
    ("GET POST", f"/v1/vaults/{ID}/credentials", Handler.credentials),
    ("GET DELETE", f"/v1/vaults/{ID}/credentials/{ID}", Handler.credential),
    ("GET POST", "/v1/files", Handler.files),
    ("GET DELETE", f"/v1/files/{ID}", Handler.file),
    ("GET", f"/v1/files/{ID}/content", Handler.file_content),
    ("GET POST", "/v1/sessions", Handler.sessions),
    ("GET POST DELETE", f"/v1/sessions/{ID}", Handler.session),
    ("POST", f"/v1/sessions/{ID}/archive", Handler.archive_session),
    ("GET POST", f"/v1/sessions/{ID}/resources", Handler.resources),
    ("GET POST", f"/v1/sessions/{ID}/events", Handler.events),
    ("GET", f"/v1/sessions/{ID}/events/stream", Handler.stream),
) for method in methods.split()]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, address):
        pass  # a client that disconnects is part of many tests

    def reset(self, seed):
        """As after a start: sessions end, and nothing of them is known any more."""
        for session in list(self.sessions.values()):
            with session.condition:
                session.ended = session.ended or "archived"
                session.condition.notify_all()
        self.seed = seed
        self.catalog, self.faults, self.sessions, self.log = Catalog(Ids(seed)), Faults(seed), {}, []


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--plays", default=os.path.join(here, "plays.json"))
    parser.add_argument("--play", default="text", help="the play of sessions made without /play/NAME")
    parser.add_argument("--key", default="sk-ant-test", help="the API key that clients must send")
    parser.add_argument("--seed", type=int, default=1, help="of ids, cuts and noise")
    parser.add_argument("--until-input-ends", action="store_true", help="end when standard input is closed")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Handler)
    server.options, server.lock, server.requests = options, threading.RLock(), itertools.count(1)
    server.sessions = {}
    server.reset(options.seed)
    with open(options.plays, encoding="utf-8") as file:
        server.plays = json.load(file)
    print("listening http://127.0.0.1:%d" % server.server_port, flush=True)
    if options.until_input_ends:
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
