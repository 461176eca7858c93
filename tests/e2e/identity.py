"""Single sign-on with OpenID Connect: the flow and groups. Second factors; enforced single sign-on."""

import base64
import hashlib
import hmac
import http.client
import json
import pathlib
import re
import struct
import subprocess
import tempfile
import time
import urllib.parse

from openid import BadProvider, Browser, Key, attack, free_port
from server import ADMIN, PASSWORD, Client, Server, run, wait_until

TESTS = pathlib.Path(__file__).resolve().parent.parent


def serve(binary, stack, *flags, **options):
    """A server that knows its own address, as providers need it."""
    address = f"127.0.0.1:{free_port()}"
    flags = ["--listen", address, "--public-url", f"http://{address}", "--sign-on-private-addresses", "true", *flags]
    return stack.enter_context(Server(binary, None, *flags, **options))


def add(server, provider, name="company", **more):
    body = {"name": name, "issuer": provider.issuer, "client_id": provider.client_id, "client_secret": provider.secret}
    return server.admin().must("POST", "/v1/identity_providers", body | more).data


def begin(server, browser, name="company", return_to="/"):
    """To the provider and back as far as the address of the callback."""
    start = browser.get(f"{server.url}/v1/login/{name}/start?{urllib.parse.urlencode({'return_to': return_to})}")
    assert start.status == 302, start.text
    return browser.get(start.location).location


def sign_in(server, browser=None, name="company", return_to="/"):
    browser = browser or Browser()
    return browser.get(begin(server, browser, name, return_to), from_other_site=True), browser


def me(server, browser):
    """Who the browser is logged in as; None when it is not."""
    page = browser.get(f"{server.url}/v1/me")
    return json.loads(page.text)["data"] if page.status == 200 else None


def client_of(server, browser):
    client = Client(server.url)
    client.cookie = browser.cookies[server.url.split("//")[1], "hone_session"]["value"]
    client.csrf = me(server, browser)["csrf_token"]
    return client


def refused(page, because, status=400):
    assert page.status == status, (page.status, page.text)
    assert because in page.text, (because, page.text)
    assert not any(cookie.startswith("hone_session=") for cookie in page.cookies), page.cookies
    return re.search("<p>(.*?)</p>", page.text).group(1)


def test_a_first_sign_in_makes_an_account_with_the_roles_of_its_groups_and_later_ones_follow_them(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    admin = server.admin()
    other = admin.must("POST", "/v1/spaces", {"name": "other"}).data["id"]
    made = add(server, provider, title="Company", mappings=[
        {"group": "engineers", "space": "default", "role": "member"}, {"group": "leads", "space": "default", "role": "admin"},
        {"group": "others", "space": "other", "role": "viewer"}])
    assert made["redirect_uri"] == f"{server.url}/v1/login/company/callback" and "secret" not in json.dumps(
        {name: value for name, value in made.items() if name != "has_client_secret"})
    options = server.client().get("/v1/login_options").data
    assert options == {"providers": [{"name": "company", "title": "Company"}], "passwords": True}

    # Nobody without a group gets an account.
    page, browser = sign_in(server)
    refused(page, "sent no groups")
    assert len(admin.must("GET", "/v1/users").data) == 1

    provider.person["groups"] = ["engineers", "leads"]
    page, browser = sign_in(server, return_to="/s/default/projects?q=a%20b&x='1'")
    assert page.status == 200, page.text
    assert 'content="0;url=/s/default/projects?q=a%20b&amp;x=&#39;1&#39;"' in page.text, page.text
    cookie = browser.cookies[server.url.split("//")[1], "hone_session"]["text"]
    assert "SameSite=Strict" in cookie and "HttpOnly" in cookie, cookie
    assert "hone_sign_on" not in str(browser.cookies)
    who = me(server, browser)
    assert who["user"]["email"] == "ada@example.com" and who["user"]["name"] == "Ada"
    assert [(space["name"], space["role"]) for space in who["spaces"]] == [("default", "admin")], who["spaces"]

    # The next login follows the groups: one role less, one space more.
    provider.person["groups"] = ["engineers", "others"]
    page, browser = sign_in(server)
    assert {space["name"]: space["role"] for space in me(server, browser)["spaces"]} == {
        "default": "member", "other": "viewer"}
    user = me(server, browser)["user"]["id"]
    # What a person gave stays; what groups gave goes with them, and with it the key.
    key = client_of(server, browser).must("POST", "/v1/keys?space=other", {"name": "mine"}).data["key"]
    provider.person["groups"] = ["engineers"]
    sign_in(server)
    assert server.client(key).get("/v1/me").status == 401
    members = {member["user_id"]: member["role"] for member in admin.must("GET", f"/v1/spaces/{other}/members").data}
    assert user not in members and len(admin.must("GET", "/v1/users").data) == 2
    # Without any group: the roles are gone, also for the browser that is still logged in.
    provider.person["groups"] = []
    page, _ = sign_in(server)
    refused(page, "sent no groups")
    assert me(server, browser)["spaces"] == []
    # A password never works for it, and none is sent by mail.
    assert server.client().post("/v1/login", {"email": "ada@example.com", "password": ""}).status == 401
    assert "/userinfo" not in provider.hits, "everything was in the ID token"


def test_groups_take_back_only_what_they_gave_and_never_the_last_owner_of_a_space(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    admin = server.admin()
    solo, manual = (admin.must("POST", "/v1/spaces", {"name": name}).data["id"] for name in ("solo", "manual"))
    invite = admin.must("POST", f"/v1/spaces/{manual}/invites", {"email": "ada@example.com", "role": "viewer"}).data
    server.client().must("POST", f"/v1/invites/{invite['path'].split('/')[-1]}/accept", {"password": PASSWORD})
    add(server, provider, link_by_email=True, mappings=[
        {"group": "engineers", "space": "default", "role": "member"}, {"group": "engineers", "space": "manual", "role": "admin"},
        {"group": "leads", "space": "solo", "role": "owner"}])

    def roles_after(*groups):
        provider.person["groups"] = list(groups)
        page, browser = sign_in(server)
        assert page.status == 200, page.text
        return {space["name"]: space["role"] for space in me(server, browser)["spaces"]}

    assert roles_after("engineers", "leads") == {"default": "member", "manual": "viewer", "solo": "owner"}
    ada = [member["user_id"] for member in admin.must("GET", f"/v1/spaces/{manual}/members").data if member["role"] == "viewer"][0]
    # What a person changes in a membership of a group lasts until the next login.
    admin.must("PATCH", f"/v1/spaces/default/members/{ada}", {"role": "viewer"})
    assert roles_after("engineers", "leads")["default"] == "member"
    admin.must("DELETE", f"/v1/spaces/{solo}/members/{admin.must('GET', '/v1/me').data['user']['id']}")
    assert roles_after("engineers") == {"default": "member", "manual": "viewer", "solo": "owner"}, "the space solo has no owner"
    provider.person["groups"] = ["nothing"]
    refused(sign_in(server)[0], "none of the groups")
    left = server.client().login("ada@example.com").must("GET", "/v1/me").data["spaces"]
    assert {space["name"]: space["role"] for space in left} == {"manual": "viewer", "solo": "owner"}, left
    removed = admin.must("GET", "/v1/audit?space=default&action=member_delete").data
    assert [(entry["target"], entry["details"]) for entry in removed] == [(ada, {"by": "groups"})], removed


def test_owners_see_the_groups_of_people_and_why_a_person_without_one_was_refused(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    add(server, provider, mappings=[{"group": "engineers", "space": "default", "role": "member"},
                                    {"group": "leeds", "space": "default", "role": "admin"}])
    admin = server.admin()

    def groups(query=""):
        return {row["name"]: row for row in admin.must("GET", f"/v1/groups{query}").data}

    # Named by a mapping only: a mistake in it is visible.
    assert {name: row["people"] for name, row in groups().items()} == {"engineers": 0, "leeds": 0}
    provider.person["groups"] = ["leads"]
    refused(sign_in(server)[0], "none of the groups")
    because = [entry["details"] for entry in admin.must("GET", "/v1/audit?scope=installation&action=login_refused").data]
    assert [details["groups"] for details in because] == [["leads"]], because
    assert "leads" not in groups(), "a person without an account left its groups here"
    del provider.person["groups"]
    said = refused(sign_in(server)[0], "the provider sent no groups for your account (claim groups)")
    assert "scopes" in said, said
    provider.person["groups"] = ["engineers", "Alle / Berlin"]
    _, browser = sign_in(server)
    found, user = groups(), me(server, browser)["user"]["id"]
    assert {name: row["people"] for name, row in found.items()} == {"Alle / Berlin": 1, "engineers": 1, "leeds": 0}
    engineers = found["engineers"]
    assert engineers["emails"] == ["ada@example.com"] and engineers["last_login_at"] and engineers["provider"] == "company", engineers
    assert [(role["space_name"], role["role"]) for role in engineers["roles"]] == [("default", "member")] and found["Alle / Berlin"]["roles"] == []
    assert set(groups(f"?user={user}")) == {"Alle / Berlin", "engineers"}
    assert client_of(server, browser).get("/v1/groups").status == 403
    # The next sign-in replaces them, also one that ends without a login.
    provider.person["groups"] = ["leads"]
    refused(sign_in(server)[0], "none of the groups")
    assert set(groups(f"?user={user}")) == {"leads"} and groups()["engineers"]["people"] == 0
    key = admin.must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    shown = run(binary, "user", "groups", "--user", "ada@example.com", environment={"HONE_URL": server.url, "HONE_API_KEY": key})
    assert shown.returncode == 0 and "leads" in shown.stdout and "ada@example.com" in shown.stdout and "leeds" not in shown.stdout, shown
    admin.must("DELETE", "/v1/identity_providers/company")
    assert groups() == {}


def test_claims_come_from_the_id_token_or_from_the_user_info_and_domains_limit_who_comes(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    add(server, provider, allowed_domains=["Example.com"])
    provider.claims = {"email": None, "email_verified": None, "groups": None}
    page, browser = sign_in(server)
    assert page.status == 200 and me(server, browser)["user"]["email"] == "ada@example.com", page.text
    assert provider.hits["/userinfo"] == 1
    provider.userinfo = provider.person | {"sub": "somebody else"}
    attack("user info of another subject", refused(sign_in(server)[0], "another person (sub)"))
    provider.reset()
    provider.person |= {"sub": "5", "email": "eve@example.org"}
    attack("e-mail of another domain", refused(sign_in(server)[0], "accounts of example.org"))
    provider.person |= {"email": "eve@example.com", "email_verified": False}
    attack("unverified e-mail of the domain", refused(sign_in(server)[0], "no verified e-mail"))


def test_an_account_that_exists_is_linked_by_its_owner_or_by_a_verified_address_never_by_a_claim_alone(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    add(server, provider)
    admin = server.admin()
    invite = admin.must("POST", "/v1/spaces/default/invites", {"email": "ada@example.com", "role": "viewer"}).data
    ada = server.client()
    assert ada.post(f"/v1/invites/{invite['path'].split('/')[-1]}/accept", {"password": PASSWORD}).status == 200
    attack("take over an account by its e-mail address", refused(sign_in(server)[0], "already"))
    # Its owner links it.
    browser = Browser()
    browser.cookies[server.url.split("//")[1], "hone_session"] = {"value": ada.cookie, "path": "/", "same_site": "Strict"}
    start = browser.get(f"{server.url}/v1/me/sign_on/company/start")
    assert start.status == 302, start.text
    page = browser.get(browser.get(start.location).location, from_other_site=True)
    assert page.status == 200 and "/account" in page.text, page.text
    assert [identity["subject"] for identity in ada.must("GET", "/v1/me/identities").data] == ["1234"]
    page, browser = sign_in(server)
    assert me(server, browser)["user"]["email"] == "ada@example.com"
    # The subject counts, not the address: another person with the same address is somebody else.
    provider.person["sub"] = "5678"
    refused(sign_in(server)[0], "already")
    query = urllib.parse.urlencode({"issuer": provider.issuer, "subject": "1234"})
    assert ada.call("DELETE", f"/v1/me/identities?{query}").status == 200
    # By a verified address, if the owner of the installation allows it.
    admin.must("PATCH", "/v1/identity_providers/company", {"link_by_email": True})
    provider.person["email_verified"] = False
    attack("link by an unverified e-mail address", refused(sign_in(server)[0], "already"))
    provider.person["email_verified"] = True
    page, browser = sign_in(server)
    assert me(server, browser)["user"]["email"] == "ada@example.com"
    linked = [entry for entry in admin.must("GET", "/v1/audit?scope=installation&limit=1000").data if entry["action"] == "user_identity_link"]
    assert {entry["details"]["how"] for entry in linked} == {"by_user", "by_email"}, linked
    # An account of single sign-on keeps its only way in.
    provider.person |= {"sub": "9", "email": "new@example.com"}
    page, browser = sign_in(server)
    query = urllib.parse.urlencode({"issuer": provider.issuer, "subject": "9"})
    assert client_of(server, browser).call("DELETE", f"/v1/me/identities?{query}").status == 409
    # A disabled account stays out.
    user = me(server, browser)["user"]["id"]
    admin.must("PATCH", f"/v1/users/{user}", {"disabled": True})
    attack("sign in to a disabled account", refused(sign_in(server)[0], "disabled"))


def test_logging_out_ends_the_login_here_and_names_the_providers_page(binary, stack):
    server, provider = serve(binary, stack, "--sign-on-lifetime", "2h"), BadProvider(stack)
    add(server, provider)
    page, browser = sign_in(server)
    cookie = browser.cookies[server.url.split("//")[1], "hone_session"]["text"]
    assert "Max-Age=7200" in cookie, cookie
    client = client_of(server, browser)
    out = client.must("POST", "/v1/logout", {}).data["end_session_url"]
    assert out.startswith(f"{provider.issuer}/logout?client_id=hone&post_logout_redirect_uri="), out
    assert me(server, browser) is None
    admin = server.admin()
    assert admin.must("POST", "/v1/logout", {}).data["end_session_url"] is None


def otp(key, now=None):
    """RFC 6238 once more, to compare with."""
    secret = base64.b32decode(key + "=" * (-len(key) % 8))
    digest = hmac.new(secret, struct.pack(">Q", int((now or time.time()) // 30)), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def enrol(client):
    """The first code of the app, and the recovery codes."""
    begun = client.must("POST", "/v1/me/second_factor", {"password": PASSWORD}).data
    assert begun["uri"].startswith("otpauth://totp/Hone:") and begun["key"] in begun["uri"]
    code = otp(begun["key"])
    codes = client.must("POST", "/v1/me/second_factor/confirm", {"code": code}).data["codes"]
    return begun["key"], code, codes


def test_a_second_factor_is_needed_once_it_is_on_and_each_code_works_once(binary, stack):
    server = serve(binary, stack)
    admin = server.admin()
    other = server.admin()
    assert admin.post("/v1/me/second_factor", {"password": "wrong"}).status == 403
    key, first, codes = enrol(admin)
    assert other.get("/v1/me").status == 401, "a login without a code goes on"
    assert admin.get("/v1/me").status == 200
    guest = server.client()

    def login(**more):
        return guest.post("/v1/login", {"email": ADMIN, "password": PASSWORD} | more)

    asked = login()
    assert asked.status == 401 and asked.headers["www-authenticate"].startswith("TOTP"), asked.headers
    wrong = guest.post("/v1/login", {"email": ADMIN, "password": "wrong", "code": codes[0]})
    assert wrong.status == 401 and not wrong.headers["www-authenticate"].startswith("TOTP"), "the code was asked for before the password was right"
    # The code that confirmed the enrolment is used up; a recovery code works once, in any case and without hyphens.
    assert login(code=first).status == 401
    assert login(code=codes[0].upper().replace("-", "")).status == 200
    assert login(code=codes[0]).status == 401
    assert admin.must("GET", "/v1/me/second_factor").data["recovery_codes"] == 9
    stored = (server.data_dir / "hone.db").read_bytes() + (server.data_dir / "hone.db-wal").read_bytes()
    assert codes[1].encode() not in stored and codes[1].replace("-", "").encode() not in stored and key.encode() not in stored
    # The command line.
    environment = {"HONE_URL": server.url, "XDG_CONFIG_HOME": str(server.data_dir)}
    words = ["login", "--email", ADMIN, "--password-stdin"]
    without = run(binary, *words, environment=environment, input=PASSWORD + "\n")
    assert without.returncode != 0 and "--code" in without.stderr, without
    with_code = run(binary, *words, "--code", codes[2], environment=environment, input=PASSWORD + "\n")
    assert with_code.returncode == 0, with_code
    # Removing it needs both; wrong ones are throttled like passwords.
    assert admin.post("/v1/me/second_factor/remove", {"password": PASSWORD, "code": "000000"}).status == 403
    assert admin.post("/v1/me/second_factor/remove", {"password": PASSWORD, "code": codes[3]}).status == 200
    assert login().status == 200
    # Guesses are limited: the account is locked long before a code is found.
    enrol(admin)
    statuses = [login(code=f"{number:06}").status for number in range(8)]
    assert 429 in statuses, statuses


def test_an_installation_can_require_a_second_factor_and_an_owner_can_reset_one(binary, stack):
    server = serve(binary, stack, "--second-factor-required", "true")
    admin = server.admin()
    assert admin.get("/v1/me").data["must_add_second_factor"] and admin.get("/v1/projects").status == 403
    assert admin.post("/v1/keys", {"name": "k"}).status == 403
    enrol(admin)
    assert not admin.get("/v1/me").data["must_add_second_factor"]
    admin.must("GET", "/v1/projects")
    invite = admin.must("POST", "/v1/spaces/default/invites", {"email": "ada@example.com", "role": "member"}).data
    ada = server.client()
    assert ada.post(f"/v1/invites/{invite['path'].split('/')[-1]}/accept", {"password": PASSWORD}).status == 200
    assert ada.get("/v1/projects").status == 403
    enrol(ada)
    assert ada.get("/v1/projects").status == 200
    user = ada.get("/v1/me").data["user"]["id"]
    admin.must("DELETE", f"/v1/users/{user}/second_factor")
    assert ada.get("/v1/me").status == 401
    ada = server.client().login("ada@example.com")
    assert ada.get("/v1/me").data["must_add_second_factor"]
    actions = {entry["action"] for entry in admin.must("GET", "/v1/audit?scope=installation&limit=1000").data}
    assert {"user_second_factor_add", "user_second_factor_reset"} <= actions, actions
    # A link for a new password is one factor only.
    enrol(ada)
    link = admin.must("POST", f"/v1/users/{user}/password_reset", {}).data["path"].split("/")[-1]
    answer = server.client().post(f"/v1/password_resets/{link}", {"password": "another long password"})
    assert answer.status == 409 and "set-cookie" not in answer.headers, answer.text
    # Logins of anybody: listed and ended by an owner.
    logins = admin.must("GET", f"/v1/login_sessions?user={admin.get('/v1/me').data['user']['id']}").data
    assert logins and all(entry["email"] == ADMIN for entry in logins)
    assert server.client().get("/v1/login_sessions").status == 401
    # Single sign-on is exempt: its provider decides.
    provider = BadProvider(stack)
    add_with = {"name": "company", "issuer": provider.issuer, "client_id": "hone", "client_secret": provider.secret,
                "mappings": [{"group": "*", "space": "default", "role": "viewer"}]}
    admin.must("POST", "/v1/identity_providers", add_with)
    provider.person["email"] = "sso@example.com"
    page, browser = sign_in(server)
    assert [space["role"] for space in me(server, browser)["spaces"]] == ["viewer"]


def test_passwords_can_be_left_to_break_glass_accounts_whose_use_is_audited_and_noticed(binary, stack):
    server = serve(binary, stack)
    invite = server.admin().must("POST", "/v1/spaces/default/invites", {"email": "ada@example.com", "role": "member"}).data
    path = f"/v1/invites/{invite['path'].split('/')[-1]}/accept"
    assert server.client().post(path, {"password": PASSWORD}).status == 200
    pending = server.admin().must("POST", "/v1/spaces/default/invites", {"email": "bob@example.com", "role": "member"}).data
    provider = BadProvider(stack)
    add(server, provider, mappings=[{"group": "*", "space": "default", "role": "viewer"}], link_by_email=True)
    server.stop()
    # Settings that would lock the owners out, and what is fine: `hone check`, the log of the server and `hone doctor` report them.
    no_owner, no_provider = "names no enabled owner of the installation who has a password", "no provider of single sign-on is enabled"
    server.flags += ["--password-logins", "ada@example.com, nobody@example.com"]
    assert no_owner in password_logins(binary, server) and no_provider not in password_logins(binary, server)
    server.start()
    assert no_owner in server.output() and no_provider not in server.output()
    server.stop()
    server.flags[-1] = ADMIN
    assert password_logins(binary, server) == f"ok: only {ADMIN}"
    server.start()
    assert server.client().get("/v1/login_options").data["passwords"] is False
    texts = set()
    for email, password in (("ada@example.com", PASSWORD), ("nobody@example.com", PASSWORD), (ADMIN, "wrong")):
        answer = server.client().post("/v1/login", {"email": email, "password": password})
        assert answer.status == 401, answer.text
        texts.add(answer.message)
    assert len(texts) == 1, "the message shows which accounts have a password"
    token = pending["path"].split("/")[-1]
    assert server.client().post(f"/v1/invites/{token}/accept", {"password": PASSWORD}).status == 409
    page, browser = sign_in(server)
    assert me(server, browser)["user"]["email"] == "ada@example.com"
    admin = server.admin()
    assert diagnosed(admin) == f"ok: only {ADMIN}"
    entries = admin.must("GET", "/v1/audit?scope=installation&limit=1000").data
    assert [entry["actor_name"] for entry in entries if entry["action"] == "login_break_glass"] == [ADMIN]
    notices = admin.must("GET", "/v1/notices").data
    assert [notice["kind"] for notice in notices] == ["break_glass_login"], notices
    link = admin.must("POST", f"/v1/users/{me(server, browser)['user']['id']}/password_reset", {}).data["path"].split("/")[-1]
    answer = server.client().post(f"/v1/password_resets/{link}", {"password": "another long password"})
    assert answer.status == 409 and "set-cookie" not in answer.headers, answer.text
    assert admin.call("PATCH", "/v1/identity_providers/company", {"enabled": False}).status == 200
    assert diagnosed(admin).startswith("warning: ") and no_provider in diagnosed(admin) and no_owner not in diagnosed(admin)
    server.stop()
    assert no_provider in password_logins(binary, server) and no_owner not in password_logins(binary, server)
    assert "public_url is empty" not in password_logins(binary, server)


def password_logins(binary, server):
    """The line of `hone check` about the setting."""
    checked = run(binary, "check", "--json", "--data-dir", str(server.data_dir), *server.flags)
    line, = [line for line in json.loads(checked.stdout) if line["name"] == "password logins"]
    return f"{line['state']}: {line['detail']}"


def diagnosed(admin):
    """The same of `hone doctor`."""
    finding, = [finding for finding in admin.must("GET", "/v1/diagnosis").data if finding["name"] == "password logins"]
    assert bool(finding["advice"]) == (finding["state"] != "ok"), finding
    return f"{finding['state']}: {finding['detail']}"


class RealProvider:
    """`oidc-provider` from npm, a certified implementation, in its own process."""

    def __init__(self, stack, server_url, key=1):
        assert (TESTS / "node_modules" / "oidc-provider").exists(), "npm ci in tests/ first"
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hone-oidc-")))
        self.stack, self.server_url = stack, server_url
        self.port, self.client_id, self.secret = free_port(), "hone", "a secret: 100% + more"
        self.issuer = f"http://127.0.0.1:{self.port}"
        self.people = self.folder / "people.json"
        self.process = None
        self.start(key)

    def start(self, key):
        """With this key; restarting with another one rotates it."""
        if self.process:
            self.process.terminate()
            self.process.wait()
        file = self.folder / f"key-{key}.json"
        made = Key(self.folder, f"real-{key}")
        pem = subprocess.run(["openssl", "pkey", "-in", made.file], capture_output=True, check=True, text=True).stdout
        file.write_text(json.dumps({"kid": made.kid, "pem": pem}))
        words = ["node", str(TESTS / "oidc_provider.mjs"), str(self.port), self.server_url, str(self.people), str(file)]
        log = self.stack.enter_context(tempfile.TemporaryFile("w+"))
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=log, text=True)
        self.stack.callback(self.process.kill)
        if self.process.stdout.readline() != "ready\n":
            log.seek(0)
            raise AssertionError(f"oidc-provider did not start:\n{log.read()}")

    def sign_in(self, server, person, browser=None, name="real"):
        """As a person with a browser does: the form of the provider, then back."""
        browser = browser or RealBrowser()
        page = browser.follow(f"{server.url}/v1/login/{name}/start")
        if "<form" in page.text:
            action = re.search('action="([^"]+)"', page.text).group(1)
            page = browser.follow(urllib.parse.urljoin(page.url, action), {"login": person})
        return page, browser


class RealBrowser(Browser):
    """Follows redirects, sends forms, and takes cookies of any form."""

    def follow(self, url, form=None):
        for _ in range(20):
            parts = urllib.parse.urlsplit(url)
            sent = [f"{name}={cookie['value']}" for (host, name), cookie in self.cookies.items() if host == parts.netloc]
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
            headers = {"Cookie": "; ".join(sent)} if sent else {}
            body = None
            if form is not None:
                body, headers["Content-Type"] = urllib.parse.urlencode(form), "application/x-www-form-urlencoded"
            connection.request("POST" if form is not None else "GET", parts.path + (f"?{parts.query}" if parts.query else ""), body, headers)
            response = connection.getresponse()
            text = response.read().decode()
            for name, value in response.getheaders():
                if name.lower() == "set-cookie":
                    pair = value.split(";")[0]
                    key, content = pair.split("=", 1)
                    self.cookies[parts.netloc, key] = {"value": content, "path": "/", "same_site": "Lax", "text": value}
            connection.close()
            if response.status in (302, 303):
                url, form = urllib.parse.urljoin(url, response.getheader("Location")), None
                continue
            page = type("Page", (), {})()
            page.status, page.text, page.url = response.status, text, url
            page.cookies = [value for name, value in response.getheaders() if name.lower() == "set-cookie"]
            return page
        raise AssertionError(f"too many redirects, last to {url}")


def test_a_certified_provider_signs_people_in_rotates_its_key_and_ends_logins(binary, stack):
    server = serve(binary, stack)
    provider = RealProvider(stack, server.url)
    provider.people.write_text(json.dumps({"ada": {"email": "ada@example.com", "name": "Ada", "groups": ["engineers"]}}))
    add(server, provider, "real", scopes=["openid", "email", "profile", "groups"],
        mappings=[{"group": "engineers", "space": "default", "role": "member"},
                  {"group": "leads", "space": "default", "role": "owner"}])
    report = server.admin().must("POST", "/v1/identity_providers/real/check", {}).data
    assert report["ok"] and report["sends_issuer"] and report["keys"] == 1 and report["end_session_endpoint"], report
    page, browser = provider.sign_in(server, "ada")
    assert page.status == 200 and "Signed in" in page.text, page.text
    who = me(server, browser)
    assert who["user"]["email"] == "ada@example.com" and [space["role"] for space in who["spaces"]] == ["member"], who
    provider.people.write_text(json.dumps({"ada": {"email": "ada@example.com", "name": "Ada", "groups": ["leads"]}}))
    page, browser = provider.sign_in(server, "ada")
    assert [space["role"] for space in me(server, browser)["spaces"]] == ["owner"]
    provider.start(2)  # another key under another id
    page, browser = provider.sign_in(server, "ada")
    assert page.status == 200 and me(server, browser), page.text
    client = client_of(server, browser)
    out = client.must("POST", "/v1/logout", {}).data["end_session_url"]
    page = browser.follow(out)
    assert page.status == 200 and "logout" in page.text.lower(), page.text
    # The command line sees the provider, and an account without a password logs in with a key.
    admin_key = server.admin().must("POST", "/v1/keys", {"name": "cli"}).data["key"]
    environment = {"HONE_URL": server.url, "HONE_API_KEY": admin_key}
    listed = json.loads(run(binary, "provider", "list", "--json", environment=environment).stdout)
    assert [entry["name"] for entry in listed] == ["real"]
    checked = run(binary, "provider", "check", "real", environment=environment)
    assert checked.returncode == 0 and "yes" in checked.stdout, checked
    own = {"HONE_URL": server.url, "XDG_CONFIG_HOME": str(server.data_dir)}
    stored = run(binary, "login", "--key-stdin", environment=own, input=admin_key + "\n")
    assert stored.returncode == 0 and ADMIN in stored.stdout, stored
    assert run(binary, "whoami", environment=own).returncode == 0


def test_a_person_who_logs_out_at_the_provider_is_logged_out_here(binary, stack):
    server = serve(binary, stack)
    provider = RealProvider(stack, server.url)
    provider.people.write_text(json.dumps({"ada": {"email": "ada@example.com", "name": "Ada"}}))
    add(server, provider, "real", scopes=["openid", "email", "profile"])
    _, browser = provider.sign_in(server, "ada")
    assert me(server, browser)["user"]["email"] == "ada@example.com"
    page = browser.follow(f"{provider.issuer}/session/end")
    action, = re.findall('<form[^>]* action="([^"]+)"', page.text)
    token, = re.findall('name="xsrf" value="([^"]+)"', page.text)
    assert me(server, browser), "it ended before the person confirmed"
    browser.follow(action, {"xsrf": token, "logout": "yes"})
    wait_until(lambda: me(server, browser) is None, "the provider's logout ends the login here")
