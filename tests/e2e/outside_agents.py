"""Outside agents that people let in by OAuth 2.1: the flow with the official MCP client, and attacks on it."""

import base64
import hashlib
import json
import pathlib
import secrets
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from identity import serve
from openid import attack
from server import Server

TESTS = pathlib.Path(__file__).resolve().parent.parent
BACK = "http://127.0.0.1:9/callback"


def post(url, body, content_type="application/x-www-form-urlencoded"):
    """A request without a cookie or a key, as agents send it."""
    sent = body if isinstance(body, bytes) else (json.dumps(body) if content_type.endswith("json") else urllib.parse.urlencode(body)).encode()
    request = urllib.request.Request(url, sent, {"Content-Type": content_type})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


class Agent:
    def __init__(self, server, redirect_uri=BACK, name="An agent"):
        self.server, self.redirect_uri = server, redirect_uri
        status, client = post(f"{server.url}/oauth/register", {"redirect_uris": [redirect_uri], "client_name": name}, "application/json")
        assert status == 201, client
        assert client["token_endpoint_auth_method"] == "none" and "client_secret" not in client, client
        self.id = client["client_id"]
        self.verifier = secrets.token_urlsafe(48)

    def request(self, **more):
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        return {"client_id": self.id, "redirect_uri": self.redirect_uri, "response_type": "code", "code_challenge": challenge,
                "code_challenge_method": "S256", "scope": "read", "state": "xyz", "resource": self.server.url + "/mcp"} | more

    def allowed(self, person, allow=True, **more):
        """What the browser is sent to after the person decided."""
        body = {"request": self.request(**more), "space": "default", "allow": allow}
        return urllib.parse.urlsplit(person.must("POST", "/v1/agent_request", body).data["redirect_to"])

    def code(self, person, **more):
        return dict(urllib.parse.parse_qsl(self.allowed(person, **more).query))["code"]

    def token(self, **form):
        return post(f"{self.server.url}/oauth/token", {"client_id": self.id} | form)

    def exchange(self, code, **more):
        return self.token(**{"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri, "code_verifier": self.verifier} | more)

    def tokens(self, person, **more):
        status, tokens = self.exchange(self.code(person, **more))
        assert status == 200 and tokens["token_type"] == "Bearer" and 0 < tokens["expires_in"] <= 3600, tokens
        return tokens


def mcp(server, token, method="tools/list"):
    return server.client(key=token).call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": {}},
                                         {"Accept": "application/json, text/event-stream"})


def test_the_official_client_is_let_in_by_a_person_and_renews_its_token(binary, stack):
    server = serve(binary, stack)
    admin = server.admin()
    unknown = server.client().call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert unknown.status == 401 and f'resource_metadata="{server.url}/.well-known/oauth-protected-resource/mcp"' in unknown.headers["www-authenticate"], unknown.headers
    resource = server.client().get("/.well-known/oauth-protected-resource/mcp").json
    assert resource["resource"] == server.url + "/mcp" and resource["authorization_servers"] == [server.url], resource
    about = server.client().get("/.well-known/oauth-authorization-server").json
    assert about["issuer"] == server.url and about["code_challenge_methods_supported"] == ["S256"], about

    client = subprocess.Popen(["node", str(TESTS / "mcp_oauth.mjs"), server.url + "/mcp", "read"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=TESTS)
    stack.callback(client.kill)
    line = client.stdout.readline()
    assert line, client.stderr.read()
    sent = urllib.parse.urlsplit(json.loads(line)["authorize"])
    assert sent.path == "/authorize", sent
    asked = dict(urllib.parse.parse_qsl(sent.query))
    shown = admin.must("GET", "/v1/agent_request?" + sent.query).data
    assert shown == {"client_name": "The official client", "redirect_host": "127.0.0.1", "scopes": ["read"]}, shown
    fields = ("client_id", "redirect_uri", "response_type", "code_challenge", "code_challenge_method", "scope", "state", "resource")
    body = {"request": {name: asked[name] for name in fields if name in asked}, "space": "default", "allow": True}
    back = admin.must("POST", "/v1/agent_request", body).data["redirect_to"]
    assert "state=a%20state%20of%20the%20client" in back and "iss=" in back, back
    out, errors = client.communicate(back + "\n", timeout=60)
    first, second = [json.loads(text) for text in out.splitlines()]
    assert "describe_project" in first["tools"] and first["tools"] == second["tools"], (out, errors)
    assert first["token"] != second["token"]
    assert mcp(server, first["token"]).status == 401, "the older token ended with the newer one"
    # The person sees the agent, and ends it.
    [grant] = admin.must("GET", "/v1/me/agents").data
    assert grant["client_name"] == "The official client" and grant["scopes"] == ["read"] and grant["refreshed_at"], grant
    admin.must("DELETE", f"/v1/me/agents/{grant['id']}")
    assert mcp(server, second["token"]).status == 401
    actions = [entry["action"] for entry in admin.must("GET", "/v1/audit?scope=installation&limit=1000").data if entry["action"].startswith("agent_")]
    assert actions == ["agent_grant_end", "agent_grant_create"], actions


def test_a_token_of_an_agent_reads_through_mcp_alone_and_ends_with_its_person(binary, stack):
    server = serve(binary, stack)
    admin = server.admin()
    link = admin.must("POST", "/v1/spaces/default/invites", {"email": "ada@example.com", "role": "member"}).data["path"]
    ada = server.client()
    ada.must("POST", f"/v1{link.replace('/invite/', '/invites/')}/accept", {"name": "Ada", "password": "a long enough password"})
    ada.login("ada@example.com", "a long enough password")
    agent = Agent(server)
    tokens = agent.tokens(ada)
    token = tokens["access_token"]
    assert mcp(server, token).status == 200
    for method, path in (("GET", "/v1/projects"), ("GET", "/v1/me"), ("POST", "/v1/keys"), ("POST", "/v1/traces"), ("GET", "/v1/server")):
        refused = server.client(key=token).call(method, path, {} if method == "POST" else None)
        assert refused.status == 401, (path, refused.text)
    attack("agent: token at another route of the API", "401, it is for /mcp alone")
    # Reading alone: a tool that writes is refused.
    done = server.client(key=token).call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "save_file", "arguments": {"name": "x", "text": "y"}}}, {"Accept": "application/json, text/event-stream"})
    assert done.json.get("error") or done.json["result"]["isError"], done.text
    # A key in the list of the person's keys; revoking it ends the grant for good.
    [key] = [key for key in ada.must("GET", "/v1/keys").data if key["prefix"].startswith("honemcp_")]
    assert key["name"] == "An agent" and key["scopes"] == ["read"] and key["last_used_at"], key
    ada.must("DELETE", f"/v1/keys/{key['id']}")
    assert mcp(server, token).status == 401
    status, body = agent.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert (status, body["error"]) == (400, "invalid_grant"), body
    attack("agent: refresh after its key was revoked", "invalid_grant")
    # A person who is disabled, or leaves the space, takes the agents along.
    tokens = agent.tokens(ada)
    user = ada.must("GET", "/v1/me").data["user"]["id"]
    admin.must("PATCH", f"/v1/users/{user}", {"disabled": True})
    assert mcp(server, tokens["access_token"]).status == 401
    assert agent.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])[1]["error"] == "invalid_grant"
    attack("agent: token and refresh of a disabled person", "401, invalid_grant")
    # The agent ends its own grant.
    tokens = agent.tokens(admin)
    assert post(f"{server.url}/oauth/revoke", {"token": tokens["refresh_token"], "client_id": agent.id}) == (200, {})
    assert mcp(server, tokens["access_token"]).status == 401
    assert post(f"{server.url}/oauth/revoke", {"token": "nonsense"}) == (200, {})
    status, refusal = post(f"{server.url}/oauth/revoke", {"client_id": agent.id})
    assert status == 400 and refusal["error"] == "invalid_request", (status, refusal)


def test_attacks_on_the_codes_and_tokens_of_agents_are_refused(binary, stack):
    server = serve(binary, stack)
    admin = server.admin()
    agent, other = Agent(server), Agent(server, "https://other.example/callback", "Another")

    def refused(name, answer, because="invalid_grant", status=400):
        assert (answer[0], answer[1].get("error")) == (status, because), (name, answer)
        attack("agent: " + name, because)

    def page_refuses(name, words, status=400, **more):
        asked = agent.request(**more)
        answer = admin.get("/v1/agent_request?" + urllib.parse.urlencode(asked))
        decided = admin.call("POST", "/v1/agent_request", {"request": asked, "space": "default", "allow": True})
        assert (answer.status, decided.status) == (status, status) and words in answer.text, (name, answer.text, decided.text)
        assert "redirect_to" not in decided.text
        attack("agent: " + name, f"{answer.status}, no redirect")

    # The redirect: only what was registered; never a script, another host, path, scheme or user.
    for name, address in (("another host", "https://evil.example/callback"), ("another path", "http://127.0.0.1:9/other"),
                          ("a longer path", BACK + "/../evil"), ("a user in the address", "http://127.0.0.1@evil.example/callback"),
                          ("https instead of http", "https://127.0.0.1:9/callback"), ("a script", "javascript:alert(1)"),
                          ("a query that was added", BACK + "?next=https://evil.example")):
        page_refuses("open redirect, " + name, "redirect_uri", redirect_uri=address)
    for address in ("javascript:alert(1)", "http://evil.example/", "data:text/html,x", "https://a@b.example/", "https://b.example/#x", "cursor://x", ""):
        answer = post(f"{server.url}/oauth/register", {"redirect_uris": [address]}, "application/json")
        assert (answer[0], answer[1]["error"]) == (400, "invalid_redirect_uri"), (address, answer)
    attack("agent: register a script, plain http, a user, a fragment", "invalid_redirect_uri")
    assert agent.allowed(admin, redirect_uri="http://127.0.0.1:55555/callback").netloc == "127.0.0.1:55555", "ports of loopback addresses vary"
    # PKCE cannot be left out or weakened.
    page_refuses("PKCE left out", "code_challenge", code_challenge="", code_challenge_method="")
    page_refuses("PKCE plain", "S256", code_challenge_method="plain")
    page_refuses("response type token", "response_type", response_type="token")
    page_refuses("unknown client", "not found", status=404, client_id="client_00000000000000000000000000")
    page_refuses("another resource", "resource", resource="https://evil.example/mcp")
    page_refuses("scope all", "all", scope="all")
    page_refuses("unknown scope", "scope", scope="read fly")
    # CSRF: a page of another site cannot decide for the person.
    body = {"request": agent.request(), "space": "default", "allow": True}
    csrf, admin.csrf = admin.csrf, "wrong"
    assert admin.call("POST", "/v1/agent_request", body).status == 403
    admin.csrf = csrf
    key = admin.must("POST", "/v1/keys", {"name": "k", "scopes": ["all"]}).data["key"]
    assert server.client(key=key).call("POST", "/v1/agent_request", body).status == 403
    attack("agent: decide without the person's browser (CSRF, a key)", "403")
    denied = dict(urllib.parse.parse_qsl(agent.allowed(admin, allow=False).query))
    assert denied == {"state": "xyz", "iss": server.url, "error": "access_denied"}, denied
    # The code: bound to client, address and verifier, once.
    refused("code of another client", other.token(grant_type="authorization_code", code=agent.code(admin), redirect_uri=BACK, code_verifier=agent.verifier))
    refused("another redirect_uri at the exchange", agent.exchange(agent.code(admin), redirect_uri="http://127.0.0.1:10/callback"))
    refused("code injected into another browser (verifier differs)", agent.exchange(agent.code(admin), code_verifier=secrets.token_urlsafe(48)))
    refused("no verifier", agent.exchange(agent.code(admin), code_verifier=""))
    refused("an invented code", agent.exchange(secrets.token_urlsafe(32)))
    code = agent.code(admin)
    refused("wrong verifier first", agent.exchange(code, code_verifier="a" * 43))
    refused("then the right one", agent.exchange(code))
    code = agent.code(admin)
    status, tokens = agent.exchange(code)
    assert status == 200 and mcp(server, tokens["access_token"]).status == 200
    refused("code used twice", agent.exchange(code))
    assert mcp(server, tokens["access_token"]).status == 401
    refused("refresh after its code was used twice", agent.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"]))
    # The refresh token: once; a thief's use ends the grant.
    tokens = agent.tokens(admin)
    refused("refresh token of another client", other.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"]))
    status, newer = agent.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert status == 200 and newer["refresh_token"] != tokens["refresh_token"], newer
    refused("refresh with more scopes", agent.token(grant_type="refresh_token", refresh_token=newer["refresh_token"], scope="read run_start"), "invalid_scope")
    refused("refresh token used twice", agent.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"]))
    assert mcp(server, newer["access_token"]).status == 401
    refused("newer refresh token after that", agent.token(grant_type="refresh_token", refresh_token=newer["refresh_token"]))
    # Forms.
    refused("grant type password", agent.token(grant_type="password", username="a", password="b"), "unsupported_grant_type")
    refused("another resource at the exchange", agent.exchange(agent.code(admin), resource="https://evil.example"), "invalid_target")
    refused("no client", post(f"{server.url}/oauth/token", {"grant_type": "authorization_code"}), "invalid_client", 401)
    refused("a parameter twice", post(f"{server.url}/oauth/token", b"client_id=a&client_id=b"), "invalid_request")
    assert post(f"{server.url}/oauth/token", b"client_id=" + b"x" * 40_000)[0] == 413
    # A flood of registrations is not refused: it deletes its own oldest agents that no person let in.
    early = Agent(server)
    answers = [post(f"{server.url}/oauth/register", {"redirect_uris": [BACK]}, "application/json")[0] for _ in range(120)]
    assert answers == [201] * 120, answers
    assert admin.call("POST", "/v1/agent_request", {"request": early.request(), "space": "default", "allow": True}).status == 404
    assert Agent(server).code(admin) and agent.code(admin), "a new agent, or one that was let in, was refused"
    attack("agent: a flood of registrations from one address, which deletes its oldest", "404; new ones, and those that were let in, work")


def test_without_a_public_address_there_is_no_oauth(binary, stack):
    server = stack.enter_context(Server(binary))
    assert server.client().get("/.well-known/oauth-protected-resource/mcp").status == 404
    refused = server.client().call("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert refused.status == 401 and "resource_metadata" not in refused.headers["www-authenticate"], refused.headers
