#!/usr/bin/env python3
"""A forge for tests: the git server beside it plus the REST API of GitHub Enterprise, Gitea or GitLab for one
repository, with the shapes that their public documentation shows. Answers to API requests want `token TOKEN`.

forge_server.py ROOT CERTIFICATE KEY --kind github|gitea|gitlab|plain --token TOKEN
Beside the API: POST /__control {"fail": [[status, headers, body], …]} answers the next API requests that way,
{"merge": 1}, {"close": 1}, {"approve": 1}, {"checks": "success"}, {"comment": {…}}; GET /__state shows everything.
"""

import argparse
import http.server
import json
import pathlib
import ssl
import sys
import threading
import urllib.parse

import git_server


class Handler(git_server.Handler):
    def json(self, status, body, headers=()):
        self.answer(status, [("Content-Type", "application/json; charset=utf-8"), *headers], json.dumps(body).encode())

    def serve(self):
        path = self.path.partition("?")[0]
        if path.startswith("/__"):
            return self.control(path)
        if path.startswith("/api/"):
            return self.api(path)
        return super().serve()

    do_GET = do_POST = do_PATCH = do_PUT = serve

    def control(self, path):
        state = self.server.state
        if path == "/__state":
            return self.json(200, state)
        wanted = json.loads(self.body() or b"{}")
        pull = state["pulls"][-1] if state["pulls"] else None
        state["fail"] += wanted.get("fail", [])
        if "merge" in wanted:
            pull.update(state="closed", merged=True, merged_at="2026-11-15T12:00:00Z")
        if "close" in wanted:
            pull.update(state="closed")
        if "approve" in wanted:
            self.reviewed({"state": "APPROVED", "body": ""})
        if "checks" in wanted:
            state["checks"] = wanted["checks"]
        if "review" in wanted:
            self.reviewed(wanted["review"])
        if "comment" in wanted:  # on a line: by a review of its own
            self.said("comments", wanted["comment"] | {"pull_request_review_id": self.reviewed({"body": ""})})
        if "talk" in wanted:
            self.said("talk", wanted["talk"])
        if pull:
            pull["version"] += 1
        return self.json(200, {})

    def said(self, where, what):
        """Words of a person, each a second after the others."""
        state = self.server.state
        number = 1 + sum(len(state[kind]) for kind in ("reviews", "comments", "talk"))
        moment = f"2026-11-15T12:00:{number:02}{'+01:00' if self.server.kind == 'gitea' else 'Z'}"
        known = {} if self.server.kind == "gitea" else {"author_association": "MEMBER"}
        state[where].append({"id": number, "user": {"login": "ann"}, "created_at": moment} | known | what)
        return number

    def reviewed(self, what):
        moment = {"submitted_at": f"2026-11-15T12:01:{len(self.server.state['reviews']):02}Z"}
        return self.said("reviews", {"state": "COMMENTED"} | moment | what)

    def api(self, path):
        sent = self.body()
        state, kind = self.server.state, self.server.kind
        state["requests"].append(f"{self.command} {self.path}")
        prefix = {"github": "/api/v3", "gitea": "/api/v1", "gitlab": "/api/v4"}.get(kind, "/api/none")
        if not path.startswith(prefix + "/"):
            return self.answer(404, [("Content-Type", "text/html")], b"<h1>not here</h1>")
        if path in (prefix + "/version", prefix + "/meta"):
            return self.json(200, {"version": "1.22"})
        if self.headers.get("Authorization") not in (f"token {self.server.token}", f"Bearer {self.server.token}"):
            return self.json(401, {"message": "Bad credentials"})
        if state["fail"]:
            status, headers, body = state["fail"].pop(0)
            return self.json(status, body, tuple(headers.items()))
        query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
        parts = [urllib.parse.unquote(part) for part in path[len(prefix) + 1:].split("/")]
        body = json.loads(sent) if sent else {}
        if kind == "gitlab":
            return self.gitlab(parts, query, body)
        return self.github(parts, query, body)

    def shown(self, pull):
        home = f"https://{self.headers['Host']}/team/shop"
        if self.server.kind == "gitlab":
            state = "merged" if pull["merged"] else {"open": "opened"}.get(pull["state"], pull["state"])
            return {"id": 900 + pull["number"], "iid": pull["number"], "state": state, "title": pull["title"],
                    "description": pull["body"], "source_branch": pull["head"], "target_branch": pull["base"],
                    "draft": pull["title"].startswith("Draft: "), "sha": self.head_of(pull["head"]),
                    "web_url": f"{home}/-/merge_requests/{pull['number']}", "merged_at": pull["merged_at"]}
        return {"id": 900 + pull["number"], "number": pull["number"], "state": pull["state"], "title": pull["title"],
                "body": pull["body"], "draft": pull["draft"], "merged": pull["merged"], "merged_at": pull["merged_at"],
                "html_url": f"{home}/pull/{pull['number']}", "user": {"login": "bot"},
                "head": {"ref": pull["head"], "sha": self.head_of(pull["head"])}, "base": {"ref": pull["base"]}}

    def head_of(self, branch):
        bare = self.server.root / "team/shop.git"
        loose = bare / "refs/heads" / branch
        if loose.exists():
            return loose.read_text().strip()
        packed = bare / "packed-refs"
        for line in packed.read_text().splitlines() if packed.exists() else []:
            if line.endswith(" refs/heads/" + branch):
                return line.split()[0]
        return ""

    def listed(self, items, query):
        """Two to a page, with a Link header."""
        page, size = int(query.get("page", 1)), 2
        rest = items[page * size:]
        url = f"https://{self.headers['Host']}{self.path.partition('?')[0]}"
        link = [("Link", f'<{url}?{urllib.parse.urlencode(query | {"page": page + 1})}>; rel="next"')] if rest else []
        self.json(200, items[(page - 1) * size:page * size], link)

    def one(self, pull):
        etag = f'"{pull["number"]}-{pull["version"]}"'
        if self.headers.get("If-None-Match") == etag:
            return self.answer(304, [("ETag", etag)], b"")
        return self.json(200, self.shown(pull), [("ETag", etag)])

    def make(self, title, body, head, base, draft):
        state = self.server.state
        if any(pull["head"] == head and pull["state"] == "open" for pull in state["pulls"]):
            return None
        pull = {"number": len(state["pulls"]) + 1, "title": title, "body": body, "head": head, "base": base,
                "draft": draft, "state": "open", "merged": False, "merged_at": None, "version": 1,
                "labels": [], "reviewers": []}
        state["pulls"].append(pull)
        return pull

    def github(self, parts, query, body):
        state, gitea = self.server.state, self.server.kind == "gitea"
        if parts[:3] != ["repos", "team", "shop"]:
            return self.json(404, {"message": "Not Found"})
        match [self.command, *parts[3:]]:
            case ["GET", "pulls"]:
                wanted = [p for p in state["pulls"] if p["state"] == query.get("state", "open")]
                if "head" in query:
                    wanted = [p for p in wanted if "team:" + p["head"] == query["head"]]
                return self.listed([self.shown(p) for p in wanted], query)
            case ["POST", "pulls"]:
                if not self.head_of(body["head"]):
                    return self.json(422, {"message": "Validation Failed", "errors": [
                        {"resource": "PullRequest", "field": "head", "code": "invalid"}]})
                draft = body.get("draft", False) or (gitea and body["title"].startswith("WIP: "))
                pull = self.make(body["title"], body["body"], body["head"], body["base"], draft)
                if pull is None:
                    if gitea:
                        return self.json(409, {"message": "pull request already exists for these targets"})
                    return self.json(422, {"message": "Validation Failed", "errors": [
                        {"resource": "PullRequest", "message": f"A pull request already exists for team:{body['head']}."}]})
                return self.json(201, self.shown(pull))
            case ["GET", "pulls", number]:
                return self.one(state["pulls"][int(number) - 1])
            case ["PATCH", "pulls", number]:
                state["pulls"][int(number) - 1].update(body)
                return self.json(200, self.shown(state["pulls"][int(number) - 1]))
            case ["GET", "pulls", _, "reviews"]:
                return self.listed(state["reviews"], query)
            case ["GET", "pulls", _, "reviews", review, "comments"] if gitea:
                mine = [c for c in state["comments"] if c["pull_request_review_id"] == int(review)]
                return self.json(200, [{k: v for k, v in c.items() if k != "line"} | {"position": c["line"]} for c in mine])
            case ["GET", "pulls", _, "comments"] if not gitea:
                return self.listed(state["comments"], query)
            case ["GET", "issues", _, "comments"]:
                return self.listed(state["talk"], query)
            case ["POST", "pulls", number, "requested_reviewers"]:
                state["pulls"][int(number) - 1]["reviewers"] += body["reviewers"]
                return self.json(201, self.shown(state["pulls"][int(number) - 1]))
            case ["GET", "labels"]:
                return self.listed([{"id": 7, "name": "bug"}, {"id": 8, "name": "x"}, {"id": 9, "name": "hone"}], query)
            case ["POST", "issues", number, "labels"]:
                state["pulls"][int(number) - 1]["labels"] += body["labels"]
                return self.json(200, [])
            case ["POST", "issues"]:
                state["issues"].append(body)
                return self.json(201, {"number": 40 + len(state["issues"]), "html_url": "https://forge/issues/41"})
            case ["GET", "commits", _, "status"]:
                checks = state["checks"]
                return self.json(200, {"state": checks or "pending", "total_count": 1 if checks else 0, "statuses": []})
            case ["GET", "commits", _, "check-runs"]:
                return self.json(200, {"total_count": 0, "check_runs": []})
        return self.json(404, {"message": "Not Found"})

    def gitlab(self, parts, query, body):
        state = self.server.state
        if parts[:1] == ["users"]:
            return self.json(200, [{"id": 5, "username": query.get("username")}])
        if parts[:2] != ["projects", "team/shop"]:
            return self.json(404, {"message": "404 Project Not Found"})
        match [self.command, *parts[2:]]:
            case ["GET", "merge_requests"]:
                wanted = [p for p in state["pulls"] if p["state"] == "open" and p["head"] == query["source_branch"]]
                return self.listed([self.shown(p) for p in wanted], query)
            case ["POST", "merge_requests"]:
                pull = self.make(body["title"], body["description"], body["source_branch"], body["target_branch"], True)
                if pull is None:
                    return self.json(409, {"message": ["Another open merge request already exists for this source branch"]})
                return self.json(201, self.shown(pull))
            case ["GET", "merge_requests", number]:
                return self.one(state["pulls"][int(number) - 1])
            case ["PUT", "merge_requests", number]:
                pull = state["pulls"][int(number) - 1]
                pull["labels"] += body.get("add_labels", [])
                pull["reviewers"] += body.get("reviewer_ids", [])
                pull["body"] = body.get("description", pull["body"])
                return self.json(200, self.shown(pull))
            case ["GET", "merge_requests", _, "pipelines"]:
                return self.json(200, [{"id": 1, "status": state["checks"]}] if state["checks"] else [])
            case ["GET", "merge_requests", _, "approvals"]:
                return self.json(200, {"approved_by": [{"user": {"username": "ann"}}] if state["reviews"] else []})
            case ["GET", "merge_requests", _, "notes"]:
                notes = [{"id": c["id"], "author": {"username": "ann"}, "body": c["body"], "system": False}
                         for c in state["comments"]]
                return self.listed(notes, query)
            case ["POST", "issues"]:
                state["issues"].append(body)
                return self.json(201, {"iid": 41, "web_url": "https://forge/-/issues/41"})
        return self.json(404, {"message": "404 Not Found"})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("certificate")
    parser.add_argument("key")
    parser.add_argument("--kind", default="github")
    parser.add_argument("--token", required=True)
    parser.add_argument("--address", default="127.0.0.1")
    wanted = parser.parse_args()
    server = http.server.ThreadingHTTPServer((wanted.address, 0), Handler)
    server.root, server.kind, server.token = wanted.root, wanted.kind, wanted.token
    server.basic, server.bearer, server.push = f"x-access-token:{wanted.token}", None, True
    server.lock = threading.Lock()
    server.state = {"pulls": [], "reviews": [], "comments": [], "talk": [], "issues": [], "checks": "", "fail": [], "requests": []}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(wanted.certificate, wanted.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
