"""Boundary: persons, their accounts and their decisions. The attacker guesses passwords from many addresses, holds a link or
a page from before, or is a worker that changes what a person is about to approve."""

import concurrent.futures
import http.client
import json
import os
import signal

from attack import assert_unseen, canary
from runs import Shop
from server import ADMIN, PASSWORD, Client, Server, run, wait_until
from telemetry import engine_of, otlp_json

PROXY = ("--trusted-proxies", "127.0.0.1")


def login_from(server, address, email=ADMIN, password=PASSWORD, header="X-Forwarded-For"):
    return server.client().post("/v1/login", {"email": email, "password": password}, {header: address}).status


def test_an_attacker_behind_the_same_proxy_locks_everyone_out_and_nothing_warns(binary, stack):
    """Gain: the login of all users, on an installation whose operator forgot to name its proxy."""
    server = stack.enter_context(Server(binary))
    def warnings(*flags):
        lines = json.loads(run(binary, "check", "--json", "--data-dir", server.data_dir, *flags).stdout)
        return [line for line in lines if line["name"] == "client addresses"]
    owner = server.admin()
    assert warnings() == [], "control: one user has one address"
    path = owner.must("POST", "/v1/spaces/default/invites", {"email": "bob@example.com", "role": "member"}).data["path"]
    bob = server.client()
    bob.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": "bob", "password": "a long enough password"})
    bob.login("bob@example.com", "a long enough password")
    (warning,) = warnings()
    assert warning["state"] == "warning" and "trusted_proxies" in warning["advice"] and "127.0.0.1" in warning["detail"], warning
    assert warnings(*PROXY) == []


def test_an_attacker_at_many_addresses_locks_the_owner_out(binary, stack):
    """Gain: no owner can administrate the installation while the attack lasts; and guesses at the password."""
    server = stack.enter_context(Server(binary, None, *PROXY))
    assert login_from(server, "192.0.2.10") == 200, "control: the owner's usual address"
    guesses = [login_from(server, f"198.51.100.{host}", password=f"guess {number}") for host in range(30) for number in range(6)]
    assert set(guesses) == {401, 429}, guesses
    assert guesses.count(401) <= 60, "the attacker gets as many guesses as it has addresses"
    assert login_from(server, "192.0.2.10") == 200
    assert login_from(server, "198.51.100.3") == 429, "the right password from an address that guesses is not tried"


def test_parallel_guesses_from_one_address_exceed_the_limit(binary, stack):
    """Gain: many more guesses than the limit, by sending them all before the first is counted."""
    server = stack.enter_context(Server(binary, None, *PROXY))
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda number: login_from(server, "198.51.100.7", password=f"guess {number}"), range(32)))
    assert results.count(401) == 5 and results.count(429) == 27, results
    assert login_from(server, "192.0.2.10") == 200


def test_a_client_chooses_its_address_with_a_header(binary, stack):
    """Gain: a new address for each guess, so that no limit applies; a false address in the audit log; and the owner's own
    address as the one that is locked."""
    server = stack.enter_context(Server(binary))
    tries = [login_from(server, f"198.51.100.{number}", password="guess", header=header)
             for number, header in enumerate(["X-Forwarded-For", "Forwarded", "X-Real-IP", "X-Forwarded-For", "Forwarded", "X-Client-IP"] * 2)]
    assert tries.count(401) == 5 and tries.count(429) == 7, tries
    trusting = stack.enter_context(Server(binary, None, *PROXY))
    # The proxy appends what it saw: the client's own claim stands before it. Forwarded is not the header that is trusted.
    tries = [login_from(trusting, f"192.0.2.{number}, 198.51.100.9", password="guess") for number in range(7)]
    tries += [trusting.client().post("/v1/login", {"email": ADMIN, "password": "guess"},
                                     {"X-Forwarded-For": "198.51.100.9", "Forwarded": f"for=192.0.2.{number}"}).status for number in range(3)]
    assert tries.count(401) == 5 and tries.count(429) == 5, tries
    entries = Client(trusting.url).login().must("GET", "/v1/audit?scope=installation&limit=100").data
    assert {entry["peer"] for entry in entries if entry["action"] == "login_refused"} == {"198.51.100.9"}, entries


def test_the_session_cookie_travels_in_clear_behind_a_tls_proxy(binary, stack):
    """Gain: the cookie, on a plain connection that the attacker makes the browser open."""
    server = stack.enter_context(Server(binary, None, *PROXY))
    def cookie(headers):
        connection = http.client.HTTPConnection(server.url.split("//")[1])
        connection.request("POST", "/v1/login", json.dumps({"email": ADMIN, "password": PASSWORD}),
                           {"Content-Type": "application/json"} | headers)
        return connection.getresponse().getheader("Set-Cookie")
    behind_tls = cookie({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"})
    assert "Secure" in behind_tls and "HttpOnly" in behind_tls and "SameSite=Strict" in behind_tls, behind_tls
    assert "Secure" not in cookie({"X-Forwarded-For": "192.0.2.1"})
    untrusting = stack.enter_context(Server(binary))
    server = untrusting
    assert "Secure" not in cookie({"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"})


def test_a_password_link_is_used_twice_guessed_or_asked_for_by_others(binary, stack):
    """Gain: an account, by a link that was used, by one that ended, or by making one for another user."""
    shop = Shop(binary, stack)
    path = shop.client.must("POST", "/v1/spaces/default/invites", {"email": "bob@example.com", "role": "owner"}).data["path"]
    bob = shop.server.client()
    bob.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": "bob", "password": "a long enough password"})
    bob.login("bob@example.com", "a long enough password")
    user, admin = (each.must("GET", "/v1/me").data["user"]["id"] for each in (bob, shop.client))
    # A space's owner is not an installation owner; neither is a limited key of one.
    assert bob.post(f"/v1/users/{admin}/password_reset").status == 403
    limited = shop.client.must("POST", "/v1/keys", {"name": "l", "scopes": ["user_manage", "read"]}).data["key"]
    assert Client(shop.server.url, limited).post(f"/v1/users/{user}/password_reset").status == 403
    links = [shop.client.must("POST", f"/v1/users/{user}/password_reset").data["path"] for _ in range(2)]
    guest = shop.server.client()
    first, second = (f"/v1/password_resets/{link.rsplit('/', 1)[1]}" for link in links)
    assert guest.must("GET", first).data["email"] == "bob@example.com", "control: the link works"
    assert guest.post(first[:-1] + ("A" if first[-1] != "A" else "B"), {"password": "an attacker's password"}).status == 404
    guest.must("POST", first, {"password": "a new and longer password"})
    for link in (first, second):
        assert shop.server.client().post(link, {"password": "an attacker's password"}).status == 404
    assert bob.get("/v1/me").status == 401, "a login from before goes on"
    shop.server.client().login("bob@example.com", "a new and longer password")
    assert shop.server.client().post("/v1/login", {"email": "bob@example.com", "password": "an attacker's password"}).status == 401
    # The answer to a request by mail is the same for every address.
    answers = {shop.server.client().post("/v1/password_resets", {"email": email}).text for email in ("bob@example.com", "nobody@example.com")}
    assert len(answers) == 1, answers
    tokens = [link.rsplit("/", 1)[1] for link in links]
    audit = shop.client.must("GET", "/v1/audit?scope=installation&limit=200").text
    shop.server.stop()
    for token in tokens:
        assert_unseen(token, audit, shop.server.output(), shop.server.data_dir)


def test_the_owner_gets_back_in_at_the_machine_and_only_there(binary, stack):
    """Gain: a password of the installation owner from a running server's directory, or a login that survives the reset."""
    server = stack.enter_context(Server(binary))
    before = server.admin()
    def reset():
        return run(binary, "user", "reset-password", ADMIN, "--data-dir", str(server.data_dir))
    running = reset()
    assert running.returncode != 0 and "running" in running.stderr, running
    server.stop()
    done = reset()
    assert done.returncode == 0, done
    password = done.stdout.split(": ")[1].split("\n")[0]
    server.start()
    assert server.client().post("/v1/login", {"email": ADMIN, "password": PASSWORD}).status == 401
    fresh = server.client().login(ADMIN, password)
    assert fresh.must("GET", "/v1/me").data["must_change_password"] is True
    stale = Client(server.url)
    stale.cookie, stale.csrf = before.cookie, before.csrf
    assert stale.get("/v1/me").status == 401


def send_bad_spans(shop):
    key = shop.client.must("POST", "/v1/keys", {"name": "sender"}).data["key"]
    for number in range(1, 6):
        sent = Client(shop.server.url, key).post("/v1/traces", otlp_json([(number, number, 0, "bad", {})]))
        assert sent.status == 200, sent.text
    wait_until(lambda: len(shop.client.get("/v1/projects/shop/span_rows").data or []) == 5, "the spans are stored")


def labels_of(shop):
    def found():
        return next((one for one in shop.client.must("GET", "/v1/artifacts?kind=labels").data), None)
    return wait_until(found, "the labels wait for a person")


def saved_file(shop, text, project="shop"):
    """A session whose worker saves each message as the file report.txt, which waits for a review; and the artifact."""
    script = 'hone save_file --name report.txt --text "$(cat)"'
    body = {"project": project, "prompt": text, "settings": {"harness": "command", "command": ["/bin/sh", "-c", script], "outputs": {"file": "review"}}}
    run = shop.until(shop.client.must("POST", "/v1/runs", body).data["id"])
    assert run["state"] == "succeeded", (run, shop.texts(run["id"]))
    (artifact,) = shop.client.must("GET", f"/v1/artifacts?run={run['id']}&kind=file").data
    return run, artifact


def test_a_worker_swaps_what_a_person_is_about_to_approve(binary, stack):
    """Gain: text of the worker's choice, published under a person's approval that they gave to another text."""
    shop = Shop(binary, stack)
    first, seen = saved_file(shop, "harmless")
    for named, status in (({}, 400), ({"revision": 1}, 400), ({"digest": ""}, 409), ({"digest": "0" * 64}, 409),
                          ({"digest": seen["digest"][:12]}, 409)):
        refused = shop.client.post(f"/v1/reviews/{seen['id']}/approve", named)
        assert refused.status == status, (named, refused.text)
        refused = shop.client.post(f"/v1/artifacts/{seen['id']}/review", {"decision": "approved"} | named)
        assert refused.status == status, (named, refused.text)
    assert shop.client.must("GET", f"/v1/artifacts/{seen['id']}").data["review"] == "pending"
    # The next turn of the session saves it again under the same name; the person's page still shows the first one.
    shop.client.must("POST", f"/v1/runs/{first['id']}/messages", {"text": "something else"})
    def saved_again():
        now = shop.client.must("GET", f"/v1/artifacts/{seen['id']}").data
        return now if now["digest"] != seen["digest"] else None
    now = wait_until(saved_again, "the worker saved another text")
    stale = shop.client.post(f"/v1/reviews/{seen['id']}/approve", {"digest": seen["digest"]})
    assert stale.status == 409 and "saved again" in stale.message, stale.text
    assert "removed harmless" in stale.message and "added something else" in stale.message, "the person is shown what changed"
    assert shop.client.must("GET", f"/v1/artifacts/{seen['id']}").data["review"] == "pending"
    approved = shop.client.must("POST", f"/v1/reviews/{seen['id']}/approve", {"digest": now["digest"]}).data
    assert approved["artifact"]["review"] == "approved", approved


def test_a_reviewer_reads_another_content_by_its_digest(binary, stack):
    """Gain: a text of a project that the reviewer cannot see, quoted in the error about a stale approval."""
    shop, secret = Shop(binary, stack), canary("report")
    shop.client.must("POST", "/v1/projects", {"name": "closed", "restricted": True})
    _, hidden = saved_file(shop, secret, "closed")
    _, own = saved_file(shop, "mine")
    path = shop.client.must("POST", "/v1/spaces/default/invites", {"email": "mallory@example.com", "role": "member"}).data["path"]
    mallory = shop.server.client()
    mallory.must("POST", f"/v1{path.replace('/invite/', '/invites/')}/accept", {"name": "mallory", "password": "a long enough password"})
    mallory.login("mallory@example.com", "a long enough password")
    assert mallory.get(f"/v1/artifacts/{hidden['id']}").status == 404, "control: it is not visible"
    received = []
    for where, body in ((f"/v1/reviews/{own['id']}/approve", {}), (f"/v1/artifacts/{own['id']}/review", {"decision": "approved"})):
        answer = mallory.post(where, body | {"digest": hidden["digest"]})
        assert answer.status == 409, answer.text
        received.append(answer.text)
    assert_unseen(secret, *received)


def test_a_crash_between_an_approval_and_its_publication_loses_the_labels(binary, stack):
    """Gain: a record of an approval while nothing was published, so that a bad verdict never reaches the traces."""
    shop = Shop(binary, stack)
    send_bad_spans(shop)
    ended = shop.until(shop.client.must("POST", "/v1/runs", {"project": "shop", "prompt": "What goes wrong?",
                                                            "settings": {"harness": "playbook"}}).data["id"])
    assert ended["state"] == "succeeded", (ended, shop.texts(ended["id"]))
    labels = labels_of(shop)
    assert shop.client.must("GET", "/v1/projects/shop/evals").data == []
    # The span store hangs: the approval is stored, publishing waits. Then everything is killed.
    engine = engine_of(shop.server)
    os.kill(engine, signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        request = pool.submit(lambda: shop.client.post(f"/v1/reviews/{labels['id']}/approve", {"digest": labels["digest"]}))
        reader = Client(shop.server.url).login()
        wait_until(lambda: reader.must("GET", f"/v1/artifacts/{labels['id']}").data["review"] == "approved", "the approval is stored")
        shop.server.kill()
        os.kill(engine, signal.SIGKILL)
        request.exception()  # the connection broke
    shop.server.start()
    shop.client = Client(shop.server.url).login()
    def published():
        evals = shop.client.get("/v1/projects/shop/evals")
        return evals.data if evals.status == 200 and evals.data else None
    assert {one["kind"] for one in wait_until(published, "the labels are published after the crash")} == {"agent"}
    wait_until(lambda: shop.client.must("GET", f"/v1/artifacts/{labels['id']}").data["applied_at"], "the artifact is marked as applied")
