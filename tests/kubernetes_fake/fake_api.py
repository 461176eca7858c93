#!/usr/bin/env python3
"""An API server of Kubernetes for tests: pods, watches, exec over WebSockets, and every way in which they fail.

fake_api.py CERTIFICATE KEY TOKEN [CLIENT_CA [IMAGE FOLDER]]
Prints its port; serves until its input ends. Requests need `Authorization: Bearer TOKEN`, or a client certificate of
CLIENT_CA. With the folder of an IMAGE each pod runs as a process of this machine (pod_runtime.py); otherwise nothing runs,
and a test sets the status of pods. `POST /control` with JSON, without credentials:

  {"do": "fail", "method": "GET", "path": "/pods", "times": 2, "status": 429, "retry_after": 1, "message": "…"}
  {"do": "fail", …, "cut": true}          closes the connection instead of a response
  {"do": "forget_faults"}
  {"do": "compact"}                       versions so far are too old: 410 as a status
  {"do": "compact", "as_event": true}     410 as an event of a watch
  {"do": "cut_watches"}, {"do": "bookmark"}, {"do": "end_watches"}
  {"do": "status", "pod": "a", "status": {…}}, {"do": "terminate", "pod": "a"}, {"do": "event", "involvedObject": {"uid": "u"}, "reason": "…", …},
  {"do": "pages", "limit": 2}, {"do": "token", "token": "…"}, {"do": "inject", "container": "sidecar"},
  {"do": "quota", "pods": 2}, {"do": "claims_created", "at": "2026-01-01T00:00:00Z"}
  {"do": "drop", "field": "hostUsers"}    a server that does not know this field of a pod
  {"do": "version", "minor": "29"}, {"do": "rights", "missing": ["create pods", "get pods/exec"]}
  {"do": "policies", "items": […]}, {"do": "runtime_classes", "names": ["gvisor"], "may_read": true}
  {"do": "hold", "pods": true}            pods with processes stay pending
  {"do": "network", "is_open": true}      of pods with processes: they reach the cluster's API
  {"do": "node", "user_namespaces": false}, {"do": "node", "image": "worker@sha256:…"}    what a node has for the image
  {"do": "cut_exec", "after": 100000}     the next exec is cut after so many bytes in either direction; now, without `after`
  {"do": "dial", "pod": "a", "port": 3128}, {"do": "reboot", "pod": "a"}
  {"do": "sends", "pod": "a", "path": "home", "base64": "…"}  what a pod without processes sends when this is requested
  {"do": "state"}                         what it knows: requests, pods, inputs of pods
"""

import binascii
import copy
import hashlib
import http.server
import json
import os
import ssl
import sys
import threading
import urllib.parse

from exec_socket import run_exec
from link_peer import LinkPeer
from pod_runtime import Pods


CLOSED = {"metadata": {"name": "workers-deny-all"},
          "spec": {"podSelector": {"matchLabels": {"hone/role": "worker"}}, "policyTypes": ["Ingress", "Egress"]}}


class Gone(Exception):
    pass


class State:
    def __init__(self, token):
        self.lock = threading.Condition()
        self.token = token
        self.version, self.compacted, self.compacted_as_event = 100, 0, False
        self.pods = {}  # name → object
        self.claims = {}  # of volumes, the same
        self.log = []  # (version, type, object)
        self.pages = {}  # continue token → (version, rest of the names)
        self.faults, self.requests, self.events = [], [], []
        self.watch_round, self.watch_end = 0, 0
        self.injected, self.page_limit = [], 500
        self.peers = {}  # pod → LinkPeer
        self.execs = {}  # id → ExecSession
        self.exec_cut_after = None
        self.claims_created = "2026-01-01T00:00:00Z"
        self.quota = None  # most pods
        self.dropped, self.minor, self.missing_rights = [], "34", []
        self.policies = [CLOSED]
        self.runtime_classes, self.may_read_classes = [], True
        self.runtime = None  # Pods: they run; otherwise tests set their status

    def change(self, kind, pod):
        self.version += 1
        pod["metadata"]["resourceVersion"] = str(self.version)
        self.log.append((self.version, kind, copy.deepcopy(pod)))
        self.lock.notify_all()

    def peer(self, name):
        if name not in self.peers:
            sandbox = self.pods[name]["metadata"]["labels"]["hone/sandbox"]
            self.peers[name] = LinkPeer(sandbox, f"boot-{name}-1", 3_000_000)
        return self.peers[name]


def status_object(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": reason, "code": code}


def selected(pod, selector):
    labels = pod["metadata"].get("labels", {})
    return all(labels.get(part.partition("=")[0]) == part.partition("=")[2] for part in selector.split(",") if part)


def admit(pod, injected, dropped):
    """What a server fills in, and what it does not know."""
    spec = pod["spec"]
    for name in dropped:
        spec.pop(name, None)
    spec.setdefault("serviceAccountName", "default")
    spec.setdefault("serviceAccount", "default")
    spec.setdefault("schedulerName", "default-scheduler")
    for name in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace"):
        if spec.get(name) is False:
            del spec[name]
    for container in spec.get("containers", []) + spec.get("initContainers", []):
        container.setdefault("terminationMessagePath", "/dev/termination-log")
        container.setdefault("terminationMessagePolicy", "File")
    spec["containers"] += [{"name": name, "image": "injected"} for name in injected]
    pod["status"] = {"phase": "Pending"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait 40 ms for the acknowledgement of its head

    def log_message(self, *_):
        pass

    # --- responses

    def send_json(self, status, value, headers=()):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in headers:
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, reason, message, headers=()):
        self.send_json(code, status_object(code, reason, message), headers)

    def cut(self):
        self.close_connection = True
        raise Gone

    # --- requests

    def handle_one(self):
        state, url = self.server.state, urllib.parse.urlsplit(self.path)
        self.query = urllib.parse.parse_qs(url.query)
        length = int(self.headers.get("Content-Length", 0))
        self.body = json.loads(self.rfile.read(length)) if length else None
        if url.path == "/control":
            return self.send_json(200, self.control(state, self.body))
        with state.lock:
            state.requests.append(f"{self.command} {self.path}")
            self.rounds = state.watch_round, state.watch_end
            fault = next((f for f in state.faults if f["method"] == self.command and f["path"] in self.path), None)
            if fault:
                fault["times"] -= 1
                state.faults = [f for f in state.faults if f["times"] > 0]
        if fault and fault.get("cut"):
            self.cut()
        if fault:
            wait = [("Retry-After", str(fault["retry_after"]))] if "retry_after" in fault else []
            return self.refuse(fault["status"], fault.get("reason", ""), fault.get("message", "a fault"), wait)
        if not self.is_known(state):
            return self.refuse(401, "Unauthorized", "Unauthorized")
        self.route(state, [part for part in url.path.split("/") if part])

    def is_known(self, state):
        if self.connection.getpeercert():
            return True
        return self.headers.get("Authorization") == "Bearer " + state.token

    def one(self, name, default=""):
        return self.query.get(name, [default])[0]

    def route(self, state, parts):
        if parts == ["version"]:
            return self.send_json(200, {"major": "1", "minor": state.minor, "gitVersion": f"v1.{state.minor}.2"})
        if parts[:1] == ["apis"]:
            return self.groups(state, parts[1:])
        if parts[:3] != ["api", "v1", "namespaces"] or len(parts) < 5:
            return self.refuse(404, "NotFound", "the server could not find the requested resource")
        kind, rest = parts[4], parts[5:]
        if kind == "events" and self.command == "GET":
            found = [event for event in state.events
                     if self.one("fieldSelector") == "involvedObject.uid=" + event["involvedObject"]["uid"]]
            return self.send_json(200, {"metadata": {"resourceVersion": "1"}, "items": found})
        if kind == "persistentvolumeclaims":
            return self.claim(state, rest)
        if kind != "pods":
            return self.refuse(404, "NotFound", "the server could not find the requested resource")
        if not rest and self.command == "GET":
            return self.watch(state) if self.one("watch") == "true" else self.list(state)
        if not rest and self.command == "POST":
            return self.create(state)
        if len(rest) == 2 and rest[1] == "exec" and self.command == "GET":
            return self.execute(state, rest[0])
        with state.lock:
            if rest[0] not in state.pods:
                return self.refuse(404, "NotFound", f'pods "{rest[0]}" not found')
        if len(rest) == 2 and rest[1] == "log" and self.command == "GET":
            return self.read_log()
        {"GET": self.read, "DELETE": self.remove, "PATCH": self.patch}[self.command](state, rest[0])

    def groups(self, state, parts):
        if parts == ["authorization.k8s.io", "v1", "selfsubjectaccessreviews"] and self.command == "POST":
            wanted = self.body["spec"]["resourceAttributes"]
            part = "/" + wanted["subresource"] if wanted.get("subresource") else ""
            is_allowed = f"{wanted['verb']} {wanted['resource']}{part}" not in state.missing_rights
            return self.send_json(201, {"kind": "SelfSubjectAccessReview", "status": {"allowed": is_allowed}})
        if parts[:3] == ["networking.k8s.io", "v1", "namespaces"] and parts[4:] == ["networkpolicies"]:
            return self.send_json(200, {"metadata": {"resourceVersion": "1"}, "items": state.policies})
        if parts[:3] == ["node.k8s.io", "v1", "runtimeclasses"] and len(parts) == 4:
            if not state.may_read_classes:
                return self.refuse(403, "Forbidden", "runtimeclasses.node.k8s.io is forbidden")
            if parts[3] in state.runtime_classes:
                return self.send_json(200, {"metadata": {"name": parts[3]}, "handler": "runsc"})
        return self.refuse(404, "NotFound", "the server could not find the requested resource")

    def list(self, state):
        with state.lock:
            limit, token = min(int(self.one("limit", "500")), state.page_limit), self.one("continue")
            if token and token not in state.pages:
                return self.refuse(410, "Expired", "The provided continue parameter is too old")
            version, names = state.pages.pop(token) if token else (state.version, sorted(state.pods))
            page, names = names[:limit], names[limit:]
            items = [state.pods[n] for n in page if n in state.pods and selected(state.pods[n], self.one("labelSelector"))]
            metadata = {"resourceVersion": str(version)}
            if names:
                metadata["continue"] = f"page-{len(state.requests)}"
                state.pages[metadata["continue"]] = (version, names)
            self.send_json(200, {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items})

    def create(self, state):
        pod = self.body
        name = pod["metadata"]["name"]
        with state.lock:
            if name in state.pods:
                return self.refuse(409, "AlreadyExists", f'pods "{name}" already exists')
            if state.quota is not None and len(state.pods) >= state.quota:
                return self.refuse(403, "Forbidden", f'pods "{name}" is forbidden: exceeded quota: few, limited: pods={state.quota}')
            admit(pod, state.injected, state.dropped)
            pod["metadata"]["uid"] = f"uid-{name}-{state.version}"
            state.pods[name] = pod
            state.change("ADDED", pod)
            self.send_json(201, pod)
            if state.runtime:
                threading.Thread(target=state.runtime.run, args=(state, copy.deepcopy(pod)), daemon=True).start()

    def read(self, state, name):
        with state.lock:
            self.send_json(200, state.pods[name])

    def claim(self, state, rest):
        """Volume claims, without pages and without a watch."""
        with state.lock:
            if not rest and self.command == "GET":
                found = [claim for claim in state.claims.values() if selected(claim, self.one("labelSelector"))]
                return self.send_json(200, {"metadata": {"resourceVersion": str(state.version)}, "items": found})
            if not rest:
                name = self.body["metadata"]["name"]
                self.body["metadata"] |= {"uid": f"uid-{name}", "creationTimestamp": state.claims_created}
                state.claims[name] = self.body
                return self.send_json(201, self.body)
            if rest[0] not in state.claims:
                return self.refuse(404, "NotFound", f'persistentvolumeclaims "{rest[0]}" not found')
            found = state.claims[rest[0]]
            if self.command == "DELETE":
                del state.claims[rest[0]]
            self.send_json(200, found)

    def read_log(self):
        """Not JSON, and longer than what was requested."""
        body = (f"log of {self.one('container')}\n" + "x" * 200_000).encode() + b"\xff"
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def remove(self, state, name):
        if state.runtime:
            state.runtime.end(state, name)
        with state.lock:
            pod, wanted = state.pods[name], ((self.body or {}).get("preconditions") or {}).get("uid")
            if wanted and wanted != pod["metadata"]["uid"]:
                return self.refuse(409, "Conflict", "Precondition failed: UID in precondition")
            del state.pods[name]
            state.change("DELETED", pod)
            self.send_json(200, pod)

    def patch(self, state, name):
        with state.lock:
            pod = copy.deepcopy(state.pods[name])
            if self.headers["Content-Type"] == "application/json-patch+json":
                for step in self.body:
                    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
                    place = pod
                    for part in path:
                        place = place[part]
                    if step["op"] == "test" and place.get(last) != step["value"]:
                        return self.refuse(422, "Invalid", "the server rejected our request due to an error in our request")
                    if step["op"] in ("add", "replace"):
                        place[last] = step["value"]
            elif self.headers["Content-Type"] == "application/merge-patch+json":
                for part, value in self.body["metadata"].items():
                    pod["metadata"].setdefault(part, {}).update(value)
            else:
                return self.refuse(415, "UnsupportedMediaType", "the body of the request was in an unknown format")
            state.pods[name] = pod
            state.change("MODIFIED", pod)
            self.send_json(200, pod)

    # --- watch

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def line(self, kind, value):
        self.chunk(json.dumps({"type": kind, "object": value}).encode() + b"\n")

    def watch(self, state):
        version, selector = int(self.one("resourceVersion", "0")), self.one("labelSelector")
        with state.lock:
            is_old, as_event = version < state.compacted, state.compacted_as_event
        cut_round, end_round = self.rounds
        if is_old and not as_event:
            return self.refuse(410, "Expired", f"too old resource version: {version} ({state.compacted})")
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if is_old:
            self.line("ERROR", status_object(410, "Expired", f"too old resource version: {version}"))
            return self.wfile.write(b"0\r\n\r\n")
        while True:
            with state.lock:
                state.lock.wait_for(lambda: state.watch_round != cut_round or state.watch_end != end_round
                                    or (state.log and state.log[-1][0] > version))
                fresh = [entry for entry in state.log if entry[0] > version]
                if state.watch_round != cut_round:
                    self.wfile.write(b"40\r\n{\"type\":\"ADDED\",\"obj")  # in the middle of a line
                    self.cut()
                is_over = state.watch_end != end_round
            for number, kind, pod in fresh:
                version = number
                if kind == "BOOKMARK":
                    self.line(kind, {"kind": "Pod", "metadata": {"resourceVersion": str(number)}})
                elif selected(pod, selector):
                    self.line(kind, pod)
            if is_over:
                return self.wfile.write(b"0\r\n\r\n")

    # --- exec

    def execute(self, state, name):
        with state.lock:
            pod = state.pods.get(name)
            if pod is None:
                return self.refuse(404, "NotFound", f'pods "{name}" not found')
            if pod["status"].get("phase") != "Running":
                return self.refuse(400, "BadRequest", f'container {self.one("container")} is not available')
        run_exec(self, state, name)

    # --- control

    def control(self, state, what):
        with state.lock:
            done = getattr(self, "control_" + what.pop("do"))(state, **what) or {}
            state.lock.notify_all()
            return done

    def control_fail(self, state, **fault):
        state.faults.append({"times": 1, **fault})

    def control_forget_faults(self, state):
        state.faults = []

    def control_compact(self, state, as_event=False):
        state.version += 1
        state.compacted, state.compacted_as_event = state.version, as_event
        state.log, state.pages = [], {}

    def control_cut_watches(self, state):
        state.watch_round += 1

    def control_end_watches(self, state):
        state.watch_end += 1

    def control_bookmark(self, state):
        state.version += 1
        state.log.append((state.version, "BOOKMARK", None))

    def control_status(self, state, pod, status):
        state.pods[pod]["status"] = status
        state.change("MODIFIED", state.pods[pod])

    def control_terminate(self, state, pod):
        """Its deletion was requested, and its containers have not ended."""
        state.pods[pod]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        state.change("MODIFIED", state.pods[pod])

    def control_event(self, state, **event):
        state.events.append(event)

    def control_claims_created(self, state, at):
        state.claims_created = at

    def control_drop(self, state, field):
        state.dropped.append(field)

    def control_version(self, state, minor):
        state.minor = minor

    def control_rights(self, state, missing):
        state.missing_rights = missing

    def control_policies(self, state, items):
        state.policies = items

    def control_runtime_classes(self, state, names, may_read=True):
        state.runtime_classes, state.may_read_classes = names, may_read

    def control_hold(self, state, pods):
        state.runtime.is_held = pods

    def control_network(self, state, is_open):
        state.runtime.set_network(state, is_open)

    def control_node(self, state, user_namespaces=True, image=None):
        state.runtime.has_user_namespaces = user_namespaces
        state.runtime.image_id = image or state.runtime.image_id

    def control_quota(self, state, pods):
        state.quota = pods

    def control_token(self, state, token):
        state.token = token

    def control_inject(self, state, container):
        state.injected.append(container)

    def control_pages(self, state, limit):
        state.page_limit = limit

    def control_cut_exec(self, state, after=None):
        if after is not None:
            state.exec_cut_after = after
            return
        for session in state.execs.values():
            session.cut()

    def control_dial(self, state, pod, port):
        state.peer(pod).dial(port)
        for session in state.execs.values():
            session.wake()

    def control_sends(self, state, pod, path, base64):
        state.peer(pod).sends[path] = binascii.a2b_base64(base64)

    def control_reboot(self, state, pod):
        old = state.peer(pod)
        state.peers[pod] = LinkPeer(old.sandbox, old.boot + "-again", 1000)

    def control_state(self, state):
        return {"requests": state.requests, "pods": sorted(state.pods), "execs": len(state.execs),
                "reached": state.runtime.reached if state.runtime else 0,
                "inputs": {name: {str(command): len(data) for command, data in peer.inputs.items()}
                           for name, peer in state.peers.items()},
                "input_text": {name: {str(command): data[:200].decode("latin-1") for command, data in peer.inputs.items()}
                               for name, peer in state.peers.items()},
                "files": {name: {path: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest(), "ended": ended}
                                 for path, (data, ended) in peer.files.items()} for name, peer in state.peers.items()},
                "hellos": {name: peer.hellos for name, peer in state.peers.items()}}

    def serve(self):
        try:
            self.handle_one()
        except (Gone, ConnectionError, ssl.SSLError, BrokenPipeError):
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_PATCH = serve


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, certificate, key, token, client_ca):
        super().__init__(("127.0.0.1", 0), Handler)
        self.state = State(token)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2", "http/1.1"])  # as the real one: a client that offers h2 would get it
        if client_ca:
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(client_ca)
        self.context = context

    def get_request(self):
        connection, address = super().get_request()
        return self.context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), address

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (OSError, ssl.SSLError)):
            super().handle_error(request, client_address)


if __name__ == "__main__":
    server = Server(*sys.argv[1:4], sys.argv[4] if len(sys.argv) > 4 else None)
    if len(sys.argv) > 6:
        server.state.runtime = Pods(*sys.argv[5:7])
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.buffer.read()
    for left in list(server.state.runtime.processes) if server.state.runtime else []:
        server.state.runtime.end(server.state, left)
    os._exit(0)
