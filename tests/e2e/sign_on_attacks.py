"""Attacks on single sign-on: the redirect, the tokens, the keys, the outgoing requests. The suite prints a table of them."""

import http.client
import json
import os
import time
import urllib.parse

from identity import add, begin, me, refused, serve, sign_in
from openid import BadProvider, Browser, Key, attack, b64
from server import Client, Server


def test_attacks_on_the_redirect_are_refused(binary, stack):
    server, provider, other = serve(binary, stack), BadProvider(stack), BadProvider(stack)
    add(server, provider)
    add(server, other, "other")

    def callback(**change):
        browser = Browser()
        url = urllib.parse.urlsplit(begin(server, browser))
        query = dict(urllib.parse.parse_qsl(url.query)) | change
        query = {name: value for name, value in query.items() if value is not None}
        return browser, f"{server.url}{url.path}?{urllib.parse.urlencode(query)}"

    def get(**change):
        browser, url = callback(**change)
        return browser.get(url, from_other_site=True)

    over = "expired, was used before, or began in another browser"
    attack("state missing", refused(get(state=None), over))
    attack("state of somebody else", refused(get(state="A" * 43), over))
    attack("state malformed", refused(get(state="x' OR 1=1 --"), over))
    browser, url = callback()
    kept = dict(browser.cookies)
    assert browser.get(url, from_other_site=True).status == 200
    browser.cookies = kept
    attack("state and code replayed", refused(browser.get(url, from_other_site=True), over))
    # Login CSRF: the attacker's own code and state, in the browser of a victim.
    browser, url = callback()
    attack("login CSRF: callback without the browser's cookie", refused(Browser().get(url), over))
    victim = Browser()
    begin(server, victim)
    attack("login CSRF: callback in a browser that began its own sign-in", refused(victim.get(url), over))
    assert browser.get(url, from_other_site=True).status == 200, "the attack used it up"
    # Mix-up: a response of one provider at the callback of the other, and a wrong or missing issuer.
    browser, url = callback()
    mixed = url.replace("/v1/login/company/", "/v1/login/other/")
    attack("mix-up: the other provider's callback", refused(browser.get(mixed, from_other_site=True), over))
    attack("mix-up: iss of the other provider", refused(get(iss=other.issuer), "another provider (iss)"))
    attack("mix-up: iss missing although announced", refused(get(iss=None), "another provider (iss)"))
    attack("code missing", refused(get(code=None), "no code"))
    attack("code invented", refused(get(code="invented"), "refused the code: invalid_grant"))
    used = get()
    assert used.status == 200
    attack("code replayed in another sign-in", refused(get(code=next(iter(provider.used_codes))), "invalid_grant"))
    # PKCE: the attacker stops before the callback, and puts the unused code into the victim's own sign-in.
    stolen = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begin(server, Browser())).query))["code"]
    attack("another sign-in's unused code injected (PKCE)", refused(get(code=stolen), "refused the code: invalid_grant"))
    assert provider.wrong_verifiers == 1 and stolen not in provider.used_codes, "the code was refused for another reason"
    page = get(code=None, error="access_denied<script>")
    assert "<script>" not in page.text
    attack("text in error of the redirect", refused(page, "an unknown error"))
    attack("error of the provider", refused(get(code=None, error="access_denied"), "refused: access_denied"))
    # The same parameter twice is ambiguous.
    browser, url = callback()
    assert browser.get(url + "&state=second", from_other_site=True).status == 400
    attack("parameter given twice", "400")
    # Session fixation: the cookie of before is not the cookie of after.
    browser = Browser()
    host = server.url.split("//")[1]
    browser.cookies[host, "hone_session"] = {"value": "F" * 43, "path": "/", "same_site": "Strict"}
    page, _ = sign_in(server, browser)
    assert page.status == 200 and browser.cookies[host, "hone_session"]["value"] != "F" * 43
    attack("session fixation", "a new session token at each sign-in")
    # Open redirect.
    for target in ("https://evil.example", "//evil.example", "/\\evil.example", "\\/evil.example", "javascript:alert(1)",
                   "/\tevil", "/v1/logout", "/%0d%0aSet-Cookie:x=1\r\n", "http:evil.example"):
        page, _ = sign_in(server, return_to=target)
        assert page.status == 200 and 'content="0;url=/"' in page.text, (target, page.text)
    attack("open redirect in the return address", "only paths of this server; else /")
    # The provider's page cannot be told where to send the browser: the redirect URI is the configured one.
    start = Browser().get(f"{server.url}/v1/login/company/start?redirect_uri=https://evil.example")
    assert start.status == 400
    attack("redirect_uri in the request", "400")


def test_tokens_that_a_good_provider_never_makes_are_refused(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    add(server, provider)

    def tried(name, because, status=400, **change):
        provider.reset()
        for key, value in change.items():
            setattr(provider, key, value)
        attack(name, refused(sign_in(server)[0], because, status))

    stranger = Key(provider.folder, "key-1-stranger")
    stranger.kid = "key-1"
    unknown = Key(provider.folder, "key-unknown")
    tried("algorithm none", "algorithm none is not accepted", algorithm="none")
    tried("HS256 with the public key", "algorithm HS256 is not accepted", algorithm="HS256")
    tried("algorithm that the key is not for", "no key that could have signed", algorithm="PS256")
    tried("signature by another key under the same id", "signature is wrong", signing_key=stranger)
    tried("key id unknown", "no key that could have signed", signing_key=unknown)
    tried("signature cut", "signature", mangle=lambda token: token[:-8])
    tried("signature removed", "no signature", mangle=lambda token: token[:token.rindex(".") + 1])
    swapped = lambda token: ".".join((token.split(".")[0], b64(json.dumps({"sub": "admin"}).encode()), token.split(".")[2]))
    tried("claims changed after signing", "signature is wrong", mangle=swapped)
    tried("critical header", "critical header", header={"crit": ["b64"], "b64": False})
    tried("another type of token", "another type", header={"typ": "at+jwt"})
    tried("key in the header (jwk)", "signature is wrong", signing_key=stranger, header={"jwk": stranger.jwk()})
    tried("key address in the header (jku)", "signature is wrong", signing_key=stranger,
          header={"jku": f"{provider.issuer}/jwks"})
    tried("nonce of another sign-in", "(nonce)", claims={"nonce": "x" * 43})
    tried("nonce missing", "(nonce)", claims={"nonce": None})
    tried("other audience", "(aud)", claims={"aud": "somebody"})
    tried("several audiences without azp", "no azp", claims={"aud": ["hone", "somebody"]})
    tried("azp of another client", "(azp)", claims={"aud": ["hone", "somebody"], "azp": "somebody"})
    tried("other issuer", "(iss)", claims={"iss": "https://evil.example"})
    tried("issuer with a slash at the end", "(iss)", claims={"iss": provider.issuer + "/"})
    tried("expired", "expired (exp)", claims={"exp": lambda now: now - 90})
    tried("exp missing", "exp is missing", claims={"exp": None})
    tried("exp as text", "exp is missing", claims={"exp": "9999999999"})
    tried("from the future", "future (iat)", claims={"iat": lambda now: now + 120})
    tried("issued long ago", "too long ago", claims={"iat": lambda now: now - 86400})
    tried("not valid yet", "(nbf)", claims={"nbf": lambda now: now + 120})
    tried("at_hash of another access token", "(at_hash)", claims={"at_hash": b64(b"0" * 16)})
    tried("sub missing", "sub is missing", claims={"sub": None})
    tried("sub empty", "sub is missing", claims={"sub": ""})
    tried("claims with a member twice", "JSON", mangle=lambda token: ".".join(
        (token.split(".")[0], b64(b'{"sub":"1","sub":"2"}'), token.split(".")[2])))
    tried("response without a token", "no ID token", token_body={"access_token": "x"})
    tried("response that is not JSON", "not a JSON object", 503, token_body=b"<html>")
    tried("response of 2 MB", "did not respond", 503, token_body=b" " * (2 << 20))
    tried("response after 8 s", "did not respond", 503, delay=8)
    # Clocks differ a little, and several audiences are fine with our azp.
    provider.reset()
    provider.claims = {"iat": lambda now: now + 30, "exp": lambda now: now - 30, "aud": ["x", "hone"], "azp": "hone"}
    page, browser = sign_in(server)
    assert page.status == 200, page.text
    attack("clock skew of 30 s", "accepted")
    assert len(server.admin().must("GET", "/v1/users").data) == 2, "an attack made an account"
    refusals = [entry for entry in server.admin().must("GET", "/v1/audit?scope=installation&limit=1000").data
                if entry["action"] == "login_refused" and entry["target"] == "provider company"]
    assert len(refusals) >= 30 and all(entry["details"]["because"] for entry in refusals)


def test_keys_are_rotated_and_revoked_and_unknown_ones_do_not_flood_the_provider(binary, stack):
    server, provider = serve(binary, stack), BadProvider(stack)
    add(server, provider)
    for kind, algorithm in (("RSA", "PS256"), ("EC", "ES256"), ("OKP", "EdDSA")):
        key = Key(provider.folder, f"key-{algorithm}", kind)
        provider.published.append(key.jwk())
        provider.algorithm, provider.signing_key = algorithm, key
        page, _ = sign_in(server)
        assert page.status == 200, (algorithm, page.text)
    provider.reset()
    # Cached: a rotated key is fetched because its id is unknown.
    provider.jwks_headers = {"Cache-Control": "max-age=300"}
    assert sign_in(server)[0].status == 200
    before = provider.hits["/jwks"]
    assert sign_in(server)[0].status == 200 and provider.hits["/jwks"] == before
    fresh = Key(provider.folder, "key-2")
    provider.published = [fresh.jwk()]
    provider.signing_key = fresh
    assert sign_in(server)[0].status == 200 and provider.hits["/jwks"] == before + 1
    attack("rotated key", "accepted after one fetch")
    provider.signing_key, began = Key(provider.folder, "invented"), time.monotonic()
    for number in range(5):
        provider.signing_key.kid = f"invented-{number}"
        refused(sign_in(server)[0], "no key that could have signed")
    most = 1 + (time.monotonic() - began) // 30  # on a machine that is very busy
    assert provider.hits["/jwks"] <= before + 1 + most, "each unknown key fetched the keys"
    attack("invented key ids", "refused; the provider's keys are fetched at most every 30 s")
    # A key that is gone does not verify any more once the cache has ended.
    own, again = serve(binary, stack), BadProvider(stack)
    add(own, again)
    assert sign_in(own)[0].status == 200
    again.published = [Key(again.folder, "key-3").jwk()]
    attack("revoked key", refused(sign_in(own)[0], "no key that could have signed"))
    # Weak and wrong keys are not keys.
    weak = again.key.jwk() | {"n": b64(os.urandom(128))}
    again.published = [weak, {"kty": "oct", "k": b64(b"x" * 32), "kid": "key-1"}, again.key.jwk(use="enc"), {"kty": 1}, 7]
    attack("weak, symmetric and encryption keys in the key set", refused(sign_in(own)[0], "no key that could have signed"))


def test_logout_tokens_end_the_logins_of_one_person_at_one_provider_and_forged_ones_end_none(binary, stack):
    server, provider, other = serve(binary, stack), BadProvider(stack), BadProvider(stack)
    add(server, provider, link_by_email=True)
    add(server, other, "other", link_by_email=True)
    _, first = sign_in(server)
    _, second = sign_in(server)
    _, elsewhere = sign_in(server, name="other")
    provider.person = provider.person | {"sub": "5678", "email": "bob@example.com"}
    _, bob = sign_in(server)
    provider.person = provider.person | {"sub": "1234"}
    assert me(server, first)["user"] == me(server, elsewhere)["user"] != me(server, bob)["user"]

    def send(token, name="company", **fields):
        form = urllib.parse.urlencode({"logout_token": token} | fields)
        return Client(server.url).call("POST", f"/v1/login/{name}/logout", form.encode(),
                                       headers={"Content-Type": "application/x-www-form-urlencoded"})

    def tried(what, because, token, name="company"):
        answer = send(token, name)
        assert answer.status == 400 and because in answer.text and me(server, first), (what, answer.text)
        attack(f"logout token: {what}", "refused: " + because)

    now, stranger = int(time.time()), Key(provider.folder, "key-1-stranger")
    stranger.kid = "key-1"
    logout = "http://schemas.openid.net/event/backchannel-logout"
    tried("an ID token", "nonce", provider.id_token("x" * 43, "y"))
    tried("without the event", "(events)", provider.logout_token(events={}))
    tried("the event as text", "(events)", provider.logout_token(events=logout))
    tried("with a nonce", "nonce", provider.logout_token(nonce="x"))
    tried("of another issuer", "(iss)", provider.logout_token(iss="https://evil.example"))
    tried("for another client", "(aud)", provider.logout_token(aud="somebody"))
    tried("without sub", "sub is missing", provider.logout_token(sub=None, sid="1"))
    tried("without jti", "jti is missing", provider.logout_token(jti=None))
    tried("expired", "expired (exp)", provider.logout_token(exp=now - 90))
    tried("issued long ago", "too long ago", provider.logout_token(iat=now - 86400, exp=None))
    tried("of the other provider", "signature is wrong", other.logout_token())
    provider.signing_key = stranger
    tried("signed by another key", "signature is wrong", provider.logout_token())
    provider.reset()
    provider.algorithm = "none"
    tried("algorithm none", "algorithm none is not accepted", provider.logout_token())
    provider.reset()
    provider.header = {"typ": "at+jwt"}
    tried("another type of token", "another type", provider.logout_token())
    provider.reset()
    tried("missing", "not a signed JSON Web Token", "")
    assert send(provider.logout_token(), "nowhere").status == 404
    assert send(provider.logout_token(sub="never here")).status == 200 and me(server, first), "an unknown person ended others' logins"

    token = provider.logout_token(exp=None)
    ended = send(token)
    assert ended.status == 200 and ended.headers["cache-control"] == "no-store", ended.text
    assert me(server, first) is None and me(server, second) is None
    assert me(server, bob) and me(server, elsewhere), "more ended than the logins of one person at one provider"
    entry, = server.admin().must("GET", "/v1/audit?scope=installation&action=login_sessions_end").data
    assert entry["actor_name"] == "provider company" and entry["details"] == {"count": 2, "provider": "company"}, entry
    # The person logs in again: the same token, seen by an attacker, does not end that.
    _, first = sign_in(server)
    tried("replayed", "used before (jti)", token)
    assert send(provider.logout_token()).status == 200 and me(server, first) is None


def test_a_flood_of_sign_ins_ends_only_those_of_its_own_address(binary, stack):
    server, provider = serve(binary, stack, "--trusted-proxies", "127.0.0.1"), BadProvider(stack)
    add(server, provider)
    connection = http.client.HTTPConnection(server.url.split("//")[1], timeout=120)

    def start(address, name="company"):
        """As a proxy forwards it: the browser's cookie, and where the provider sends the browser."""
        connection.request("GET", f"/v1/login/{name}/start", headers={"X-Forwarded-For": address})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 302, answer.status
        return answer.getheader("Set-Cookie").split(";")[0].split("=", 1)[1], answer.getheader("Location")

    def finish(begun):
        browser = Browser()
        browser.cookies[server.url.split("//")[1], "hone_sign_on"] = {"value": begun[0], "path": "/v1/login", "same_site": "Lax"}
        return browser.get(browser.get(begun[1]).location, from_other_site=True)

    victim, first = start("192.0.2.1"), start("2001:db8:1:2::1")
    for number in range(150):
        last = start(f"2001:db8:1:2::{number:x}")
    over = refused(finish(first), "expired, was used before, or began in another browser")
    assert finish(victim).status == 200 and finish(last).status == 200 and finish(start("2001:db8:1:2::1")).status == 200
    attack("flood: 150 sign-ins begun at one address, which deletes its oldest", over)


def test_the_outgoing_rules_hold_for_providers_and_owners_alone_configure_them(binary, stack):
    provider = BadProvider(stack)
    strict = stack.enter_context(Server(binary, None, "--public-url", "http://127.0.0.1:1"))
    add(strict, provider)
    page = Browser().get(f"{strict.url}/v1/login/company/start")
    attack("provider at a private address", refused(page, "loopback address"))
    assert not provider.hits
    admin = strict.admin()
    report = admin.must("POST", "/v1/identity_providers/company/check", {}).data
    assert not report["ok"] and "sign_on_private_addresses" in report["problem"], report
    for body, because in (
            ({"name": "Bad Name"}, "name"), ({"issuer": "ftp://x"}, "issuer"), ({"issuer": "https://u:p@x"}, "issuer"),
            ({"issuer": "https://x/?a"}, "issuer"), ({"scopes": ["email"]}, "openid"), ({"allowed_domains": ["a@b.c"]}, "domains"),
            ({"mappings": [{"group": "a", "space": "nowhere", "role": "viewer"}]}, "not found"),
            ({"client_secret": ""}, "client_secret"), ({"surprise": 1}, "surprise")):
        answer = admin.post("/v1/identity_providers", {"name": "x", "issuer": "https://x", "client_id": "y"} | body)
        assert answer.status == (404 if "mappings" in body else 400) and because in answer.message, (body, answer.text)
    # The secret of one issuer is never sent to another one.
    answer = admin.call("PATCH", "/v1/identity_providers/company", {"issuer": "https://evil.example"})
    assert answer.status == 400 and "client_secret" in answer.message
    attack("stored client secret for another issuer", answer.message)
    assert provider.secret not in admin.must("GET", "/v1/identity_providers").text
    database = (strict.data_dir / "hone.db").read_bytes() + (strict.data_dir / "hone.db-wal").read_bytes()
    assert provider.secret.encode() not in database, "the client secret is stored readable"

    # A provider that lies about who it is.
    server = serve(binary, stack)
    add(server, provider)
    provider.metadata = {"issuer": "https://evil.example"}
    refused(Browser().get(f"{server.url}/v1/login/company/start"), "not the configured issuer", 503)
    attack("metadata of another issuer", "refused")
    provider.reset()
    provider.metadata = {"token_endpoint": "http://169.254.169.254/latest"}
    page, _ = sign_in(server)
    attack("token endpoint at a metadata service", refused(page, "metadata service"))
