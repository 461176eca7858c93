#!/usr/bin/env python3
"""A forge for tests: the git server beside it plus the REST API of GitHub Enterprise, Gitea or GitLab for one
repository, with the shapes that their public documentation shows. Answers to API requests want `token TOKEN`.

forge_server.py ROOT CERTIFICATE KEY --kind github|gitea|gitlab|plain --token TOKEN
Beside the API: POST /__control {"fail": [[status, headers, body], …]} answers the next API requests that way,
{"merge": 1}, {"close": 1}, {"reopen": 1}, {"approve": 1}, {"comment": {…}}, {"talk": {…}},
{"checks": [{"name": "test", "result": "passed, failed or running", "summary": "…", "log": "…"}]}, with a log a job of its CI,
{"set": {field of the newest pull request: value}}, {"repository": {"archived": true, "path": "team/moved", …}},
{"git_fail": [status, text]} for pushes, {"merge_on_push": true}, {"hang": true}; GET /__state shows everything.
The accounts: `bot` is the token's own, `ann` can write, `eve` cannot. A repository with another `path` moved there: its
old paths are redirected. With --below PATH everything is below that path.
"""

import argparse
import json
import pathlib
import ssl
import subprocess
import sys
import threading
import urllib.parse

import git_server


class Handler(git_server.Handler):
    def json(self, status, body, headers=()):
        self.answer(status, [("Content-Type", "application/json; charset=utf-8"), *headers], json.dumps(body).encode())

    def serve(self):
        if self.headers.get("Host") == "api.github.com":  # there the API is at the root
            self.path = "/api/v3" + self.path
        path = self.path.partition("?")[0]
        if path.startswith("/__"):
            return self.control(path)
        state, below = self.server.state, self.server.below
        if state["hang"]:
            self.server.released.wait()
            self.close_connection = True
            return None
        if below and not path.startswith(below + "/"):
            return self.answer(404, [("Content-Type", "text/html")], b"<h1>another site</h1>")
        path = path[len(below):]
        self.path = self.path[len(below):]
        if path.startswith("/api/"):
            return self.api(path)
        return self.git(path)

    def git(self, path):
        """As a forge does: the repository may be deleted, moved, archived, read-only or protected."""
        state = self.server.state
        about, pushes = state["repository"], "git-receive-pack" in self.path
        if about["deleted"]:
            self.body()
            if pushes and self.server.kind == "gitea":
                return self.answer(403, [("Content-Type", "text/plain")], b"Push to create is not enabled for organizations.")
            return self.answer(404, [("Content-Type", "text/plain")], b"Repository not found")
        if about["path"] != "team/shop":
            old, new = "/team/shop.git", f"/{about['path']}.git"
            if path.startswith(old):
                self.body()
                return self.answer(301, [("Location", f"https://{self.headers['Host']}{self.server.below}{self.path.replace(old, new, 1)}")], b"")
            self.path = self.path.replace(new, old, 1)
        if pushes and self.headers.get("Authorization"):
            if about["archived"]:
                self.body()
                return self.answer(403, [("Content-Type", "text/plain")], b"This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.")
            if not about["can_push"]:
                self.body()
                return self.answer(403, [("Content-Type", "text/plain")], b"Forbidden")
            if state["git_fail"]:
                self.body()
                status, text = state["git_fail"]
                return self.answer(status, [("Content-Type", "text/plain")], text.encode())
        super().serve()
        if pushes and self.command == "POST" and state["merge_on_push"]:
            state["merge_on_push"] = False
            state["pulls"][-1].update(state="closed", merged=True, merged_at="2026-11-15T12:00:00Z")
        return None

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
        if "reopen" in wanted:
            pull.update(state="open")
        if "set" in wanted:
            pull.update(wanted["set"])
        if "repository" in wanted:
            state["repository"].update(wanted["repository"])
        for name in ("git_fail", "merge_on_push", "hang", "scopes"):
            if name in wanted:
                state[name] = wanted[name]
        if "token" in wanted:
            self.server.token, self.server.basic = wanted["token"], f"x-access-token:{wanted['token']}"
        if not state["hang"]:
            self.server.released.set()
            self.server.released = threading.Event()
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
        about = state["repository"]
        own = {"gitlab": "/projects/team%2Fshop", }.get(kind, "/repos/team/shop")
        rest = self.path[len(prefix):]
        own = own if rest[len(own):len(own) + 1] in ("", "/", "?") else "/another repository"
        if about["deleted"] and rest.startswith(own):
            return self.json(404, {"message": "404 Project Not Found" if kind == "gitlab" else "Not Found"})
        if about["path"] != "team/shop" and rest.startswith(own):
            new = own.replace("team%2Fshop", urllib.parse.quote(about["path"], safe="")).replace("team/shop", about["path"])
            target = f"https://{self.headers['Host']}{self.server.below}{prefix}{rest.replace(own, new, 1)}"
            return self.json(301 if self.command == "GET" else 307, {"message": "Moved Permanently"}, [("Location", target)])
        if state["fail"]:
            status, headers, body = state["fail"].pop(0)
            return self.json(status, body, tuple(headers.items()))
        query = dict(urllib.parse.parse_qsl(self.path.partition("?")[2]))
        parts = [urllib.parse.unquote(part) for part in path[len(prefix) + 1:].split("/")]
        if about["path"] != "team/shop":  # as if it were there
            if kind == "gitlab":
                parts = ["team/shop" if part == about["path"] else part for part in parts]
            elif "/".join(parts[1:3]) == about["path"]:
                parts[1:3] = ["team", "shop"]
        body = json.loads(sent) if sent else {}
        if kind == "gitlab":
            return self.gitlab(parts, query, body)
        return self.github(parts, query, body)

    def shown(self, pull):
        home = f"https://{self.headers['Host']}{self.server.below}/team/shop"
        commit = pull.get("sha") or self.head_of(pull["head"])
        if self.server.kind == "gitlab":
            state = "merged" if pull["merged"] else {"open": "opened"}.get(pull["state"], pull["state"])
            return {"id": 900 + pull["number"], "iid": pull["number"], "state": state, "title": pull["title"],
                    "description": pull["body"], "source_branch": pull["head"], "target_branch": pull["base"],
                    "draft": pull["title"].startswith("Draft: "), "sha": commit, "author": {"username": "bot"},
                    "has_conflicts": pull["conflicts"], "merge_status": "cannot_be_merged" if pull["conflicts"] else "can_be_merged",
                    "web_url": f"{home}/-/merge_requests/{pull['number']}", "merged_at": pull["merged_at"]}
        return {"id": 900 + pull["number"], "number": pull["number"], "state": pull["state"], "title": pull["title"],
                "body": pull["body"], "draft": pull["draft"], "merged": pull["merged"], "merged_at": pull["merged_at"],
                "html_url": f"{home}/pull/{pull['number']}", "user": {"login": "bot"},
                "mergeable": not pull["conflicts"] and not (self.server.kind == "gitea" and pull["draft"]),
                "head": {"ref": pull["head"], "sha": commit}, "base": {"ref": pull["base"]}}

    def commits_of(self, pull):
        """Oldest first: (commit, author, message)."""
        done = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(self.server.root / "team/shop.git"), "log", "--reverse",
                               "--format=%H%x1f%an%x1f%s", f"{pull['base']}..{pull['head']}"], capture_output=True, text=True)
        return [line.split("\x1f") for line in done.stdout.splitlines()]

    def repository(self):
        about = self.server.state["repository"]
        owner = about["path"].split("/")[0]
        url = f"https://{self.headers['Host']}{self.server.below}/{about['path']}"
        if self.server.kind == "gitlab":
            return {"id": 3, "path_with_namespace": about["path"], "http_url_to_repo": url + ".git", "default_branch": "main",
                    "archived": about["archived"], "empty_repo": about["empty"],
                    "permissions": {"project_access": {"access_level": 30 if about["can_push"] else 20}, "group_access": None}}
        return {"id": 3, "full_name": about["path"], "clone_url": url + ".git", "default_branch": "main", "owner": {"login": owner},
                "archived": about["archived"], "empty": about["empty"],
                "permissions": {"admin": False, "push": about["can_push"], "pull": True}}

    def lacks(self, scope):
        """A token without a scope, as Gitea answers."""
        if scope in self.server.state["scopes"]:
            return False
        self.json(403, {"message": f"token does not have at least one of required scope(s), required=[{scope}], token scope=x"})
        return True

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
        etag = f'"{pull["number"]}-{pull["version"]}-{self.head_of(pull["head"])[:8]}"'
        if self.headers.get("If-None-Match") == etag:
            return self.answer(304, [("ETag", etag)], b"")
        return self.json(200, self.shown(pull), [("ETag", etag)])

    def make(self, title, body, head, base, draft):
        state = self.server.state
        if any(pull["head"] == head and pull["state"] == "open" for pull in state["pulls"]):
            return None
        pull = {"number": len(state["pulls"]) + 1, "title": title, "body": body, "head": head, "base": base,
                "draft": draft, "state": "open", "merged": False, "merged_at": None, "version": 1, "conflicts": False,
                "labels": [], "reviewers": []}
        state["pulls"].append(pull)
        return pull

    def github(self, parts, query, body):
        state, gitea = self.server.state, self.server.kind == "gitea"
        if parts == ["user"]:
            return self.json(200, {"login": "bot"}) if "user" in state["scopes"] else self.lacks("user")
        if gitea and parts == ["orgs", "team", "labels"]:
            return self.listed([{"id": 21, "name": "orglabel"}], query)
        if parts[:3] != ["repos", "team", "shop"]:
            return self.json(404, {"message": "Not Found"})
        if parts[3:4] in (["issues"], ["labels"]) and self.lacks("issue"):
            return None
        match [self.command, *parts[3:]]:
            case ["GET"]:
                return self.json(200, self.repository())
            case ["GET", "pulls", number, "commits"]:
                found = [{"sha": commit, "commit": {"message": message, "author": {"name": author}}}
                         for commit, author, message in self.commits_of(state["pulls"][int(number) - 1])]
                return self.listed(found[::-1] if gitea else found, query)
            case ["GET", "assignees"] if gitea:
                return self.json(200, [{"login": "ann"}, {"login": "bot"}])
            case ["GET", "collaborators", name, "permission"] if not gitea:
                return self.json(200, {"permission": "write" if name in ("ann", "bot") else "read", "user": {"login": name}})
            case ["GET", "issues", "comments"]:
                return self.listed(state["talk"], query)
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
            case ["PATCH", "pulls", "0"] | ["POST", "issues", "0", "labels"]:
                return self.json(404, {"message": "Not Found"})
            case ["PATCH", "pulls", number]:
                state["pulls"][int(number) - 1].update(body)
                state["pulls"][int(number) - 1]["version"] += 1
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
            case ["GET", "commits", commit, "status"]:
                states = {"passed": "success", "failed": "failure", "running": "pending"}
                statuses = [{"id": number, "context": check["name"], "status" if gitea else "state": states[check["result"]],
                             "description": check.get("summary", ""), "target_url": self.job_page(number, check)}
                            for number, check in enumerate(state["checks"], 1) if gitea or "log" not in check]
                worst = min((one["status" if gitea else "state"] for one in statuses), default="pending",
                            key=("failure", "pending", "success").index)
                return self.json(200, {"state": worst, "total_count": len(statuses), "statuses": statuses})
            case ["GET", "commits", _, "check-runs"] if not gitea:
                runs = [{"id": number, "name": check["name"], "status": "in_progress" if check["result"] == "running" else "completed",
                         "conclusion": {"passed": "success", "failed": "failure"}.get(check["result"]),
                         "html_url": f"https://{self.headers['Host']}/team/shop/runs/{number}", "output": {"title": check.get("summary")}}
                        for number, check in enumerate(state["checks"], 1) if "log" in check]
                return self.json(200, {"total_count": len(runs), "check_runs": runs})
            case ["GET", "actions", "jobs", number] if gitea and 0 < int(number) <= len(state["checks"]):
                check = state["checks"][int(number) - 1]
                return self.json(200, {"id": int(number), "name": check["name"].split(" / ")[-1].split(" (")[0],
                                       "head_sha": self.head_of(state["pulls"][-1]["head"])})
            case ["GET", "actions", "jobs", number, "logs"] if 0 < int(number) <= len(state["checks"]):
                log = state["checks"][int(number) - 1]["log"].encode()
                if gitea or "there" in query:
                    return self.answer(200, [("Content-Type", "text/plain; charset=utf-8")], log)
                return self.answer(302, [("Location", f"https://{self.headers['Host']}{self.path}?there=1")], b"")
        return self.json(404, {"message": "Not Found"})

    def job_page(self, number, check):
        """Gitea knows the job of a status by this address."""
        return f"/team/shop/actions/runs/1/jobs/{number}" if "log" in check else "https://ci.example.com/1"

    @staticmethod
    def job_state(check):
        return {"passed": "success", "failed": "failed", "running": "running"}[check["result"]]

    def pipelines(self):
        states = [self.job_state(check) for check in self.server.state["checks"]]
        whole = min(states, default="", key=("failed", "running", "success").index)
        return [{"id": 1, "status": whole, "web_url": "https://forge/pipelines/1"}] if states else []

    def gitlab(self, parts, query, body):
        state = self.server.state
        if parts == ["user"]:
            return self.json(200, {"id": 2, "username": "bot"})
        if parts[:1] == ["users"]:
            return self.json(200, [{"id": 5, "username": query.get("username")}])
        if parts[:2] != ["projects", "team/shop"]:
            return self.json(404, {"message": "404 Project Not Found"})
        match [self.command, *parts[2:]]:
            case ["GET"]:
                return self.json(200, self.repository())
            case ["GET", "merge_requests", number, "commits"]:
                found = [{"id": commit, "author_name": author, "title": message}
                         for commit, author, message in self.commits_of(state["pulls"][int(number) - 1])]
                return self.listed(found[::-1], query)
            case ["GET", "members", "all", number]:
                level = {"1": 40, "2": 30}.get(number)
                return self.json(200, {"id": int(number), "access_level": level}) if level else self.json(404, {"message": "404 Not found"})
            case ["GET", "labels"] | ["GET", "events"]:
                return self.json(200, [])
            case ["GET", "merge_requests"]:
                wanted = [p for p in state["pulls"] if p["state"] == "open" and p["head"] == query.get("source_branch", p["head"])]
                return self.listed([self.shown(p) for p in wanted], query)
            case ["POST", "merge_requests"]:
                pull = self.make(body["title"], body["description"], body["source_branch"], body["target_branch"], True)
                if pull is None:
                    return self.json(409, {"message": ["Another open merge request already exists for this source branch"]})
                return self.json(201, self.shown(pull))
            case ["GET", "merge_requests", number]:
                return self.one(state["pulls"][int(number) - 1])
            case ["PUT", "merge_requests", "0"]:
                return self.json(404, {"message": "404 Not found"})
            case ["PUT", "merge_requests", number]:
                pull = state["pulls"][int(number) - 1]
                pull["labels"] += body.get("add_labels", [])
                pull["reviewers"] += body.get("reviewer_ids", [])
                pull["body"] = body.get("description", pull["body"])
                return self.json(200, self.shown(pull))
            case ["GET", "merge_requests", _, "pipelines"]:
                return self.json(200, self.pipelines())
            case ["GET", "pipelines"]:
                return self.json(200, self.pipelines())
            case ["GET", "pipelines", "1", "jobs"]:
                return self.json(200, [{"id": number, "name": check["name"], "status": self.job_state(check),
                                        "failure_reason": check.get("summary", ""), "web_url": self.job_page(number, check)}
                                       for number, check in enumerate(state["checks"], 1)])
            case ["GET", "jobs", number, "trace"] if 0 < int(number) <= len(state["checks"]):
                return self.answer(200, [("Content-Type", "text/plain")], state["checks"][int(number) - 1].get("log", "").encode())
            case ["GET", "merge_requests", _, "approvals"]:
                return self.json(200, {"approved_by": [{"user": {"username": "ann"}}] if state["reviews"] else []})
            case ["GET", "merge_requests", _, "notes"]:
                people = {"ann": 1, "bot": 2}
                said = sorted(state["comments"] + state["talk"], key=lambda c: c["id"])
                notes = [{"id": c["id"], "author": {"id": people.get(c["user"]["login"], 9), "username": c["user"]["login"]},
                          "body": c["body"], "system": False} for c in said]
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
    parser.add_argument("--below", default="")
    wanted = parser.parse_args()
    server = git_server.Server((wanted.address, 0), Handler)
    server.root, server.kind, server.token = wanted.root, wanted.kind, wanted.token
    server.basic, server.bearer, server.push = f"x-access-token:{wanted.token}", None, True
    server.lock = threading.Lock()
    server.state = {"pulls": [], "reviews": [], "comments": [], "talk": [], "issues": [], "checks": [], "fail": [], "requests": [],
                    "git_fail": None, "merge_on_push": False, "hang": False, "scopes": ["issue", "user"],
                    "repository": {"path": "team/shop", "archived": False, "empty": False, "can_push": True, "deleted": False}}
    server.below, server.released = wanted.below, threading.Event()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(wanted.certificate, wanted.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
