#include "broker/gateway/gateway_pipe.h"
#include "broker/testing.h"

#include <sys/socket.h>

using namespace hone;
using namespace hone::broker;
using namespace hone::broker::testing;
using namespace std::string_literals;

namespace {

// A run that may use the canary on api.test below /api, and reach plain.test and (without TLS) web.test.
struct Run : World {
    Origin api{echo, &certificate};
    Origin web{echo};

    explicit Run(EgressMode mode = EgressMode::allowlist) {
        access.mode = mode;
        access.grant.credentials.push_back(token_for({{"api.test", 443, true, {}, "/api", false}}));
        allow("plain.test");
        allow("web.test", 80, false);
        resolver->lead("api.test", {api.address()});
        resolver->lead("plain.test", {api.address()});
        resolver->lead("web.test", {web.address()});
        attach();
    }
    TunnelClient inside(const std::string& host) {
        TunnelClient client(proxy);
        REQUIRE(client.connect(host + ":443") == 200);
        const auto secured = client.secure(host, ca_file);
        REQUIRE_MESSAGE(secured.ok(), (secured.ok() ? "" : secured.error().message));
        return client;
    }
    int plain(const std::string& request) {
        RawClient client(proxy);
        client.send(request);
        return client.read_response().status;
    }
    const Decision& last() {
        m_seen = decisions->decisions();
        REQUIRE(!m_seen.empty());
        return m_seen.back();
    }

private:
    std::vector<Decision> m_seen;
};

} // namespace

TEST_CASE("a plain request passes in absolute form, and its connection stays") {
    Run run;
    RawClient client(run.proxy);
    for (int i = 0; i < 3; ++i) {
        client.send("POST http://web.test/x?q=1 HTTP/1.1\r\nHost: web.test\r\nContent-Length: 3\r\n\r\nabc");
        const auto answer = client.read_response();
        CHECK(answer.status == 200);
        CHECK(answer.body.starts_with("POST /x?q=1\nHost: web.test\n"));
        CHECK(answer.body.ends_with("\n\nabc"));
    }
    CHECK(run.web.connections() == 1);
    CHECK(run.last().allowed);
    CHECK(run.last().path == "/x");
}

TEST_CASE("an allowed host without a secret is tunnelled as it is") {
    Run run;
    TunnelClient client(run.proxy);
    REQUIRE(client.connect("plain.test:443") == 200);
    // The server's own certificate arrives: the run's authority has no part in it.
    REQUIRE(client.secure("plain.test", run.authority.ca_file()).ok());
    const auto answer = client.get("plain.test", "/x", "Authorization: own\r\n");
    CHECK(answer.status == 200);
    CHECK(answer.body.find("Authorization: own") != std::string::npos);
    client.channel().close();
    CHECK(eventually([&] { return !run.decisions->outcomes().empty(); }));
    CHECK(run.decisions->outcomes()[0].second.received_bytes > 1000);
    CHECK(run.last().method == "CONNECT");
}

TEST_CASE("on a brokered host the secret goes out and never comes back") {
    Run run;
    TunnelClient client = run.inside("api.test");
    const std::string placeholder = run.placeholder();
    const auto answer = client.get("api.test", "/api/x", "Authorization: Bearer " + placeholder + "\r\n");
    CHECK(answer.status == 200);
    // The echo shows that something of the secret's length stood where the placeholder was.
    CHECK(answer.body.find("Authorization: Bearer " + std::string(canary.size(), '*')) != std::string::npos);
    CHECK(answer.body.find(canary) == std::string::npos);
    CHECK(answer.body.find(placeholder) == std::string::npos);
    CHECK(run.last().secret_names == std::vector<std::string>{"api token"});
    CHECK(run.decisions->text().find(canary) == std::string::npos);
    CHECK(client.get("api.test", "/api/y").status == 200);
    CHECK(run.api.connections() == 1);
}

TEST_CASE("T26: proxies accept one form of request only") {
    Run run;
    CHECK(run.plain("GET / HTTP/1.1\r\nHost: web.test\r\n\r\n") == 400);
    CHECK(run.plain("GET https://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n") == 400);
    CHECK(run.plain("GET http://web.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n") == 421);
    CHECK(run.plain("GET http://web.test/ HTTP/1.1\r\nHost: web.test:81\r\n\r\n") == 421);
    CHECK(run.plain("GET http://web.test/ HTTP/1.0\r\n\r\n") == 200);
    CHECK(run.plain("GET http://WEB.test./ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 200);
    CHECK(run.plain("GET http://user@web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 400);
    CHECK(run.plain("GET http://web.test@evil.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 400);
    CHECK(run.plain("GET http://evil.test\0.web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n"s) == 400);
    CHECK(run.plain("GET http://evil.test%00.web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 400);
    CHECK(run.plain("GET http://w\xc3\xa9.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 400);
    CHECK(run.plain("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\nX: a\r\n b\r\n\r\n") == 400);
    CHECK(run.plain("GET http://web.test/\r\nX: HTTP/1.1\r\nHost: web.test\r\n\r\n") == 400);
    CHECK(run.plain("POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\n\r\n") == 400);
    CHECK(run.plain("TRACE http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 403);
    CHECK(run.plain("GET http://web.test:81/ HTTP/1.1\r\nHost: web.test:81\r\n\r\n") == 403);
    CHECK(run.plain("CONNECT web.test:80 HTTP/1.1\r\nHost: web.test:80\r\n\r\n") == 403);
    CHECK(run.plain("CONNECT plain.test:444 HTTP/1.1\r\nHost: plain.test:444\r\n\r\n") == 403);
    CHECK(run.plain("CONNECT plain.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n") == 421);
    CHECK(run.plain("CONNECT " + run.proxy + " HTTP/1.1\r\nHost: " + run.proxy + "\r\n\r\n") == 403);
}

TEST_CASE("T26: a kept connection is checked at every request, and bodies cannot smuggle one") {
    Run run;
    RawClient client(run.proxy);
    client.send("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n");
    CHECK(client.read_response().status == 200);
    client.send("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    CHECK(client.read_response().status == 403);
    CHECK(client.is_ended());

    RawClient smuggler(run.proxy);
    smuggler.send("POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "5;x=\"\n\r\nabcde\r\n0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    CHECK(smuggler.read_response().status == 400);

    TunnelClient inside = run.inside("api.test");
    CHECK(inside.get("api.test", "/api/x").status == 200);
    CHECK(inside.get("plain.test", "/api/x").status == 421);
    CHECK(inside.is_ended());
    for (const std::string& asked : run.resolver->asked()) CHECK(asked != "evil.test");
}

TEST_CASE("T26: the name in TLS must be the tunnel's") {
    Run run;
    TunnelClient fronted(run.proxy);
    REQUIRE(fronted.connect("plain.test:443") == 200);
    CHECK_FALSE(fronted.secure("other.test", run.authority.ca_file()).ok());
    TunnelClient brokered(run.proxy);
    REQUIRE(brokered.connect("api.test:443") == 200);
    CHECK_FALSE(brokered.secure("plain.test", run.ca_file).ok());
    TunnelClient nameless(run.proxy);
    REQUIRE(nameless.connect("plain.test:443") == 200);
    CHECK_FALSE(nameless.secure("127.0.0.1", run.authority.ca_file()).ok());
    TunnelClient plain(run.proxy);
    REQUIRE(plain.connect("plain.test:443") == 200);
    plain.send("GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n");
    CHECK(plain.is_ended());
    TunnelClient early(run.proxy);
    CHECK(early.connect("plain.test:443", "\r\nextra") != 200);
}

TEST_CASE("T26: where TLS is intercepted HTTP/2 is not used, so that no connection serves two hosts") {
    Run run;
    TunnelClient client = run.inside("api.test");
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"s);
    CHECK(client.answer().status == 400);
    CHECK(client.is_ended());
    TunnelClient upgrading = run.inside("api.test");
    const auto answer = upgrading.get("api.test", "/api/x",
                                      "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                      "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n");
    CHECK(answer.status != 101);
    CHECK(answer.body.find("h2c") == std::string::npos);
    CHECK(run.plain("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 400);
}

TEST_CASE("T24 T25: addresses in every spelling are refused, and nothing is resolved before it is allowed") {
    World world(false);
    world.access.mode = EgressMode::open;
    world.resolver->lead("rebind.test", {"169.254.169.254:80"});
    world.resolver->lead("mixed.test", {"10.0.0.1:443"});
    world.attach();
    const auto status = [&](const std::string& host) {
        RawClient client(world.proxy);
        client.send("GET http://" + host + "/latest/meta-data HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        return client.read_response().status;
    };
    for (const char* host :
         {"169.254.169.254", "127.0.0.1", "10.0.0.1", "100.100.100.200", "[::1]", "[::ffff:a9fe:a9fe]",
          "[64:ff9b::a9fe:a9fe]", "[fd00:ec2::254]", "rebind.test", "mixed.test", "0.0.0.0"}) {
        INFO(host);
        CHECK(status(host) == 403);
    }
    for (const char* host :
         {"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "169.254.169.254%00"}) {
        INFO(host);
        CHECK(status(host) == 400);
    }
    const size_t before = world.resolver->asked().size();
    world.access.mode = EgressMode::allowlist;
    REQUIRE(world.broker->update(world.access).ok());
    CHECK(status("c2VjcmV0LWRhdGEtaW4tYS1uYW1l.tunnel.test") == 403);
    CHECK(world.resolver->asked().size() == before);
}

TEST_CASE("T24: a name that resolves differently the second time is checked the second time") {
    World world;
    Origin web(echo);
    world.access.mode = EgressMode::open;
    world.resolver->lead("rebind.test", {web.address(), "169.254.169.254:80"});
    world.attach();
    RawClient client(world.proxy);
    client.send("GET http://rebind.test/ HTTP/1.1\r\nHost: rebind.test\r\nConnection: close\r\n\r\n");
    CHECK(client.read_response().status == 200);
    RawClient second(world.proxy);
    second.send("GET http://rebind.test/ HTTP/1.1\r\nHost: rebind.test\r\n\r\n");
    CHECK(second.read_response().status == 403);
}

TEST_CASE("T27: a change of policy applies immediately, an invalid one changes nothing") {
    Run run;
    TunnelClient tunnel(run.proxy);
    REQUIRE(tunnel.connect("plain.test:443") == 200);
    REQUIRE(tunnel.secure("plain.test", run.authority.ca_file()).ok());
    RawClient kept(run.proxy);
    kept.send("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n");
    CHECK(kept.read_response().status == 200);

    RunAccess broken = run.access;
    broken.grant.allow.push_back({"*", 443, true, {}, "/", false});
    CHECK_FALSE(run.broker->update(broken).ok());
    CHECK(tunnel.get("plain.test", "/").status == 200);

    run.access.grant.allow.clear();
    REQUIRE(run.broker->update(run.access).ok());
    CHECK(tunnel.is_ended());
    kept.send("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n");
    CHECK(kept.read_response().status == 403);
}

TEST_CASE("a run that is attached again with its seed keeps its authority and placeholders") {
    Run run;
    const std::string placeholder = run.placeholder();
    const std::string trusted = run.ca_file;
    const std::string certificates = read_file(trusted).value();
    run.broker->detach("run_1");
    run.access.seed = nullptr;
    run.attach();
    CHECK(run.placeholder() != placeholder);
    run.broker->detach("run_1");

    run.access.seed =
        std::make_shared<const crypto::SecretBytes>(std::string_view("a seed of thirty-two bytes ......"));
    run.attach();
    const std::string seeded = run.placeholder();
    const std::string read_before = read_file(run.ca_file).value();
    run.broker->detach("run_1");
    run.attach();
    CHECK(run.placeholder() == seeded);
    // What a program read before the restart verifies what is signed after it.
    REQUIRE(write_file(run.ca_file, read_before).ok());
    TunnelClient inside = run.inside("api.test");
    CHECK(inside.get("api.test", "/api/x").status == 200);
}

TEST_CASE("T27: a detached run is disconnected immediately, and its listener rejects connections") {
    Run run;
    TunnelClient tunnel(run.proxy);
    REQUIRE(tunnel.connect("plain.test:443") == 200);
    TunnelClient inside = run.inside("api.test");
    run.broker->detach("run_1");
    CHECK(tunnel.is_ended());
    CHECK(inside.is_ended());
    CHECK(eventually([&] { return run.broker->live_connections() == 0; }));
    const auto [host, port] = net::parse_host_port(run.proxy).value();
    const Fd socket = net::start_connect(net::resolve(host, port).value().front()).value();
    pollfd polled{socket.get(), POLLOUT, 0};
    REQUIRE(::poll(&polled, 1, 30'000) == 1);
    CHECK_FALSE(net::connect_outcome(socket.get(), run.proxy).ok());
    run.broker->detach("run_1");
    CHECK_FALSE(run.broker->update(run.access).ok());
}

TEST_CASE("a request that cannot be recorded is not sent") {
    Run run;
    TunnelClient inside = run.inside("api.test");
    run.decisions->break_down();
    CHECK(inside.get("api.test", "/api/x").status == 503);
    CHECK(run.plain("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n") == 503);
    CHECK(run.plain("CONNECT plain.test:443 HTTP/1.1\r\nHost: plain.test\r\n\r\n") == 503);
    CHECK(run.api.connections() == 0);
    CHECK(run.web.connections() == 0);
}

TEST_CASE("T29: a placeholder at the wrong host, port, path or without TLS sends nothing") {
    Run run(EgressMode::open);
    const std::string header = "Authorization: Bearer " + run.placeholder() + "\r\n";
    CHECK(run.plain("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n" + header + "\r\n") == 403);
    CHECK(run.plain("GET http://api.test:443/api HTTP/1.1\r\nHost: api.test:443\r\n" + header + "\r\n") == 403);
    TunnelClient inside = run.inside("api.test");
    CHECK(inside.get("api.test", "/other", header).status == 403);
    CHECK(run.web.connections() == 0);
    CHECK(run.last().reason.find("API_TOKEN") != std::string::npos);
}

TEST_CASE("T30: the worker's own credential is replaced on a brokered host") {
    Run run;
    std::string seen;
    Mutex mutex;
    Origin witness(
        [&](Channel& channel) {
            const auto head = read_request(channel, soon());
            if (!head.ok() || !head.value()) return;
            const Lock lock(mutex);
            for (const Header& header : head.value()->headers) seen += header.name + ": " + header.value + "\n";
            (void)channel.write("HTTP/1.1 204 No Content\r\n\r\n", soon());
        },
        &run.certificate);
    run.resolver->lead("api.test", {witness.address()});
    TunnelClient inside = run.inside("api.test");
    CHECK(
        inside.get("api.test", "/api/x", "Authorization: Bearer attacker\r\nX-Api-Key: attacker\r\nRange: bytes=3-\r\n")
            .status == 204);
    const Lock lock(mutex);
    CHECK(seen.find("attacker") == std::string::npos);
    CHECK(seen.find("Bearer " + std::string(canary)) != std::string::npos);
    CHECK(seen.find("Range") == std::string::npos);
    CHECK(seen.find("Accept-Encoding: identity") != std::string::npos);
}

TEST_CASE("T31: reflections are blanked in headers, chunks and WebSockets; compressed ones are refused") {
    Run run;
    run.access.grant.credentials[0].hosts[0].websocket = true;
    REQUIRE(run.broker->update(run.access).ok());
    const std::string half = std::string(canary.substr(0, 15));
    const std::string rest = std::string(canary.substr(15));
    const auto chunk = [](const std::string& text) {
        std::string out;
        frame(Framing::chunked, text, false, out);
        return out;
    };
    Origin mirror(
        [&](Channel& channel) {
            const auto read = read_request(channel, soon());
            if (!read.ok() || !read.value()) return;
            const std::string& path = read.value()->path;
            if (path == "/api/chunks")
                (void)channel.write("HTTP/1.1 200 OK\r\nX-Token: " + std::string(canary) +
                                        "\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk("a " + half) +
                                        chunk(rest + " b") + "0\r\n\r\n",
                                    soon());
            else if (path == "/api/gzip")
                (void)channel.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
                                    soon());
            else
                (void)channel.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                                    "X-Key: 1\r\n\r\n\x81\x05hello" +
                                        half,
                                    soon());
            (void)channel.write(path == "/api/ws" ? rest : "", soon());
        },
        &run.certificate);
    run.resolver->lead("api.test", {mirror.address()});
    const auto chunks = run.inside("api.test").get("api.test", "/api/chunks");
    CHECK(chunks.body == "a " + std::string(canary.size(), '*') + " b");
    CHECK(header_value(chunks.head.headers, "x-token") == std::string(canary.size(), '*'));
    CHECK(run.inside("api.test").get("api.test", "/api/gzip").status == 502);

    TunnelClient socket = run.inside("api.test");
    socket.send("GET /api/ws HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n");
    const auto switched = read_response(socket.channel(), "GET", soon());
    REQUIRE(switched.ok());
    CHECK(switched.value()->status == 101);
    std::string& received = socket.channel().buffer();
    for (bool more = true; more;) {
        const auto filled = socket.channel().fill(soon());
        REQUIRE(filled.ok());
        more = filled.value();
    }
    CHECK(received == "\x81\x05hello" + std::string(canary.size(), '*'));
}

TEST_CASE("WebSockets pass both ways where a rule allows them, and nowhere else") {
    Run run;
    Origin server([](Channel& channel) {
        if (!read_request(channel, soon()).ok()) return;
        (void)channel.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
                            soon());

        for (auto more = channel.fill(soon()); more.ok() && more.value(); more = channel.fill(soon())) {
            (void)channel.write("<" + channel.buffer() + ">", soon());
            channel.buffer().clear();
        }
    });
    run.resolver->lead("web.test", {server.address()});
    const std::string ask = "GET http://web.test/ws HTTP/1.1\r\nHost: web.test\r\nConnection: keep-alive, "
                            "Upgrade\r\nUpgrade: WebSocket\r\n\r\n";
    CHECK(run.plain(ask) == 403);
    run.access.grant.allow.back().websocket = true;
    REQUIRE(run.broker->update(run.access).ok());
    RawClient client(run.proxy);
    client.send(ask);
    CHECK(client.read_response().status == 101);
    client.send("ping");
    CHECK(client.read_exactly(6) == "<ping>");
    client.send("pong");
    CHECK(client.read_exactly(6) == "<pong>");
}

TEST_CASE("a cookie of a brokered host does not reach the worker, and the method cannot be overridden") {
    World world;
    std::string seen;
    Mutex mutex;
    Origin server(
        [&](Channel& channel) {
            const auto head = read_request(channel, soon());
            if (!head.ok() || !head.value()) return;
            {
                const Lock lock(mutex);
                for (const Header& header : head.value()->headers) seen += lowercase_ascii(header.name) + "\n";
            }
            static_cast<void>(channel.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: session=canary\r\n"
                                            "set-cookie: other=canary\r\nX-Kept: yes\r\nConnection: close\r\n\r\nok",
                                            soon()));
        },
        &world.certificate);
    world.access.grant.credentials.push_back(token_for({{"api.test", 443, true, {"GET"}, "/", false}}));
    world.resolver->lead("api.test", {server.address()});
    world.attach();
    TunnelClient client(world.proxy);
    REQUIRE(client.connect("api.test:443") == 200);
    REQUIRE(client.secure("api.test", world.ca_file).ok());
    const auto answer = client.get("api.test", "/",
                                   "X-HTTP-Method-Override: DELETE\r\nX_HTTP_METHOD_OVERRIDE: DELETE\r\n"
                                   "X-Original-URL: /admin\r\nx_rewrite-url: /admin\r\nX-Usual: yes\r\n");
    CHECK(answer.status == 200);
    CHECK(header_value(answer.head.headers, "set-cookie").empty());
    CHECK(header_value(answer.head.headers, "x-kept") == "yes");
    const Lock lock(mutex);
    CHECK(seen.find("authorization\n") != std::string::npos);
    CHECK(seen.find("x-usual\n") != std::string::npos);
    for (const char* name : {"override", "OVERRIDE", "original", "rewrite"})
        CHECK(seen.find(name) == std::string::npos);
}

TEST_CASE("cookies of interim responses and of an upgrade do not reach the worker either") {
    World world;
    Origin server(
        [](Channel& channel) {
            const auto head = read_request(channel, soon());
            if (!head.ok() || !head.value()) return;
            const std::string cookie = "Set-Cookie: session=canary\r\nset-cookie2: other=canary\r\n";
            if (head.value()->upgrade == "websocket") {
                static_cast<void>(channel.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
                                                "Upgrade\r\n" +
                                                    cookie + "\r\n",
                                                soon()));
                return;
            }
            static_cast<void>(channel.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n" + cookie +
                                                "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + cookie +
                                                "Connection: close\r\n\r\nok",
                                            soon()));
        },
        &world.certificate);
    world.access.grant.credentials.push_back(token_for({{"api.test", 443, true, {}, "/", true}}));
    world.resolver->lead("api.test", {server.address()});
    world.attach();
    for (const bool upgrades : {false, true}) {
        TunnelClient client(world.proxy);
        REQUIRE(client.connect("api.test:443") == 200);
        REQUIRE(client.secure("api.test", world.ca_file).ok());
        client.send("GET / HTTP/1.1\r\nHost: api.test\r\nConnection: " +
                    std::string(upgrades ? "Upgrade\r\nUpgrade: websocket\r\n\r\n" : "close\r\n\r\n"));
        for (;;) {
            const auto more = client.channel().fill(soon());
            if (!more.ok() || !more.value()) break;
        }
        const std::string& received = client.channel().buffer();
        INFO(received);
        CHECK(received.find(upgrades ? "HTTP/1.1 101" : "HTTP/1.1 103") != std::string::npos);
        CHECK((received.find("HTTP/1.1 200") != std::string::npos) == !upgrades);
        CHECK(received.find("canary") == std::string::npos);
    }
}

TEST_CASE("a private host is reached only if it is allowed: its port, and for runs with the skill") {
    const auto attempt = [](const std::string& leave, const std::string& skills) {
        World world(false);
        Origin server(echo);
        const std::string port = server.address().substr(server.address().rfind(':') + 1);
        auto hosts = parse_private_hosts(leave.empty() ? "" : "mirror.test:" + port + leave);
        REQUIRE(hosts.ok());
        BrokerOptions options;
        options.private_hosts = std::move(hosts).value();
        world.broker.reset();
        world.broker = Broker::start(std::move(options), *world.dialer, world.clock, nullptr).value();
        world.allow("mirror.test", static_cast<uint16_t>(std::stoi(port)), false);
        world.access.grant.skill_versions = {skills};
        world.resolver->lead("mirror.test", {server.address()});
        world.attach();
        RawClient client(world.proxy);
        client.send("GET http://mirror.test:" + port + "/ HTTP/1.1\r\nHost: mirror.test:" + port + "\r\n\r\n");
        return client.read_response().status;
    };
    CHECK(attempt("", "skl_1@1") == 403);
    CHECK(attempt("", "") == 403);
    CHECK(attempt("=skl_1", "skl_1@3") == 200);
    CHECK(attempt("=skl_1", "skl_10@1") == 403);
    CHECK(attempt("=skl_1", "") == 403);
    CHECK(attempt(",other.test:1", "") == 200);
    CHECK_FALSE(parse_private_hosts("mirror.test").ok());
    CHECK_FALSE(parse_private_hosts("mirror.test:443=forge").ok());
    CHECK(parse_private_hosts(" a.test:1 , 10.0.0.5:8080=skl_x ").value().size() == 2);
}

TEST_CASE("with an upstream proxy the broker connects through it, and addresses are checked all the same") {
    Mutex mutex;
    std::string seen, server_address;
    const Cancel never;
    // A small proxy: CONNECT with a password, then bytes both ways.
    Origin upstream([&](Channel& channel) {
        const auto head = read_request(channel, soon());
        if (!head.ok() || !head.value()) return;
        const std::string password(header_value(head.value()->headers, "proxy-authorization"));
        {
            const Lock lock(mutex);
            seen += head.value()->method + " " + head.value()->target->text() + "\n";
        }
        // One that knows hosts by their names only.
        const bool is_by_name = password == "Basic " + to_base64("names:only");
        if (is_by_name && head.value()->target->is_address) {
            static_cast<void>(channel.write("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", soon()));
            return;
        }
        if (!is_by_name && password != "Basic " + to_base64("user:pa:ss")) {
            static_cast<void>(channel.write("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", soon()));
            return;
        }
        const auto [host, port] = net::parse_host_port(server_address).value();
        Channel other(net::Socket(net::start_connect(net::resolve(host, port).value().front()).value()), never);
        if (!other.wait(POLLOUT, soon()).ok()) return;
        static_cast<void>(channel.write("HTTP/1.1 200 Connection established\r\n\r\n", soon()));
        std::array<char, 4096> bytes;
        for (;;) {
            std::array<pollfd, 2> polled{pollfd{channel.descriptor(), POLLIN, 0},
                                         pollfd{other.descriptor(), POLLIN, 0}};
            if (!wait_any(polled, never, soon()).ok()) return;
            for (const auto& [from, to, index] :
                 {std::tuple{&channel, &other, size_t{0}}, std::tuple{&other, &channel, size_t{1}}}) {
                if (polled[index].revents == 0) continue;
                const auto step = from->try_read(bytes);
                if (step.state != net::Io::done) return;
                if (!to->write(std::string_view(bytes.data(), step.bytes), soon()).ok()) return;
            }
        }
    });
    const auto options = [&](const std::string& user) {
        const std::string port = upstream.address().substr(upstream.address().rfind(':') + 1);
        auto proxy = parse_upstream_proxy("http://" + user + "@proxy.test:" + port + "/", ".direct.test, 10.1.1.1");
        REQUIRE(proxy.ok());
        DialerOptions made;
        made.proxy = std::move(proxy).value();
        return made;
    };
    const auto start = [&](World& world) {
        for (const char* host : {"plain.test", "inner.test", "wild.test", "*.wild.test", "169.254.169.254"})
            world.allow(host);
        world.resolver->lead("proxy.test", {upstream.address()});
        world.resolver->lead("inner.test", {"10.0.0.1:443"});
        world.attach();
    };
    {
        World world(true, options("user:pa%3Ass"));
        Origin server(echo, &world.certificate);
        server_address = server.address();
        world.resolver->lead("wild.test", {server.address()});
        start(world);
        TunnelClient client(world.proxy);
        REQUIRE(client.connect("plain.test:443") == 200); // a name that only the proxy can resolve
        REQUIRE(client.secure("plain.test", world.authority.ca_file()).ok());
        CHECK(client.get("plain.test", "/hello").body.starts_with("GET /hello\n"));
        CHECK(TunnelClient(world.proxy).connect("inner.test:443") == 403);
        CHECK(TunnelClient(world.proxy).connect("169.254.169.254:443") == 403);
        // A name that only a wildcard covers is the worker's choice: what the proxy makes of it nobody has checked.
        CHECK(TunnelClient(world.proxy).connect("anything.wild.test:443") == 403);
        // A name that this machine resolves goes to the proxy as the address that was checked; TLS still names the
        // host.
        TunnelClient resolved(world.proxy);
        REQUIRE(resolved.connect("wild.test:443") == 200);
        REQUIRE(resolved.secure("wild.test", world.authority.ca_file()).ok());
        CHECK(resolved.get("wild.test", "/hello").body.starts_with("GET /hello\n"));
        const Lock lock(mutex);
        CHECK(seen == "CONNECT plain.test:443\nCONNECT " + server.address() + "\n");
    }
    {
        {
            const Lock lock(mutex);
            seen.clear();
        }
        World world(true, options("names:only"));
        Origin server(echo, &world.certificate);
        server_address = server.address();
        for (const char* host : {"wild.test", "a.wild.test"}) world.resolver->lead(host, {server.address()});
        start(world);
        CHECK(TunnelClient(world.proxy).connect("wild.test:443") == 200);
        CHECK(TunnelClient(world.proxy).connect("a.wild.test:443") == 502);
        const Lock lock(mutex);
        CHECK(seen == "CONNECT " + server.address() + "\nCONNECT wild.test:443\nCONNECT " + server.address() + "\n");
    }
    World refused(true, options("user:wrong"));
    start(refused);
    CHECK(TunnelClient(refused.proxy).connect("plain.test:443") == 502);
    CHECK(refused.decisions->text().find("407") != std::string::npos);
    CHECK(refused.decisions->text().find("wrong") == std::string::npos);
    const auto proxy = options("user:pass").proxy;
    REQUIRE(proxy);
    CHECK_FALSE(proxy->covers({"direct.test", 443, false}));
    CHECK_FALSE(proxy->covers({"a.direct.test", 443, false}));
    CHECK_FALSE(proxy->covers({"10.1.1.1", 443, true}));
    CHECK(proxy->covers({"notdirect.test", 443, false}));
    CHECK_FALSE(parse_upstream_proxy("https://proxy.test:3128", "").ok());
    CHECK_FALSE(parse_upstream_proxy("http://proxy.test", "").ok());
    CHECK_FALSE(parse_upstream_proxy("", "").value());
}

TEST_CASE("T32: a redirect is returned, and the next request is checked by itself") {
    Run run;
    Origin redirector(
        [](Channel& channel) {
            while (true) {
                const auto head = read_request(channel, soon());
                if (!head.ok() || !head.value()) return;
                (void)channel.write(
                    "HTTP/1.1 302 Found\r\nLocation: http://web.test/taken\r\nContent-Length: 0\r\n\r\n", soon());
            }
        },
        &run.certificate);
    run.resolver->lead("api.test", {redirector.address()});
    TunnelClient inside = run.inside("api.test");
    const auto answer = inside.get("api.test", "/api/x", "Authorization: Bearer " + run.placeholder() + "\r\n");
    CHECK(answer.status == 302);
    CHECK(header_value(answer.head.headers, "location") == "http://web.test/taken");
    CHECK(run.web.connections() == 0);
    RawClient follower(run.proxy);
    follower.send("GET http://web.test/taken HTTP/1.1\r\nHost: web.test\r\n\r\n");
    CHECK(follower.read_response().body.find(canary) == std::string::npos);
}

TEST_CASE("T34: another run's placeholder is worth nothing") {
    Run run;
    World other;
    other.access.grant.credentials.push_back(token_for({{"api.test", 443, true, {}, "/api", false}}));
    other.attach();
    std::string seen;
    Mutex mutex;
    Origin witness(
        [&](Channel& channel) {
            const auto head = read_request(channel, soon());
            if (!head.ok() || !head.value()) return;
            const Lock lock(mutex);
            seen += header_value(head.value()->headers, "x-other");
            (void)channel.write("HTTP/1.1 204 No Content\r\n\r\n", soon());
        },
        &run.certificate);
    run.resolver->lead("api.test", {witness.address()});
    TunnelClient inside = run.inside("api.test");
    CHECK(inside.get("api.test", "/api/x", "X-Other: " + other.placeholder() + "\r\n").status == 204);
    const Lock lock(mutex);
    CHECK(seen == other.placeholder());
}

TEST_CASE("caps: request, response, whole run, and parallel connections") {
    Run run;
    run.access.caps.request_bytes = 1000;
    run.access.caps.response_bytes = 2000;
    REQUIRE(run.broker->update(run.access).ok());
    const std::string start = "POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\n";
    CHECK(run.plain(start + "Content-Length: 5000\r\n\r\n" + std::string(5000, 'x')) == 403);
    {
        std::string body;
        frame(Framing::chunked, std::string(5000, 'x'), true, body);
        const int status = run.plain(start + "Transfer-Encoding: chunked\r\n\r\n" + body);
        // either: 0 when the connection was reset, since part of the body was still unread
        CHECK((status == 413 || status == 0));
    }
    CHECK(run.plain(start + "Content-Length: 900\r\n\r\n" + std::string(900, 'x')) == 200);
    run.access.caps.response_bytes = 500;
    REQUIRE(run.broker->update(run.access).ok());
    CHECK(run.plain(start + "Content-Length: 900\r\n\r\n" + std::string(900, 'x')) == 413);

    run.access.caps = {};
    run.access.caps.connections = 2;
    REQUIRE(run.broker->update(run.access).ok());
    CHECK(eventually([&] { return run.broker->live_connections() == 0; }));
    TunnelClient one = run.inside("api.test");
    TunnelClient two = run.inside("api.test");
    RawClient three(run.proxy);
    CHECK(three.is_ended());
    run.access.caps.total_bytes = 1;
    REQUIRE(run.broker->update(run.access).ok());
    CHECK(one.get("api.test", "/api/x").status == 413);
}

TEST_CASE("faults of the other side arrive as they are, and nothing hangs") {
    Run run;
    const auto with = [&](const std::string& raw, bool reset = false) {
        auto origin = std::make_unique<Origin>(
            [raw, reset](Channel& channel) {
                if (!read_request(channel, soon()).ok()) return;
                (void)channel.write(raw, soon());
                const linger hard{1, 0};
                if (reset) ::setsockopt(channel.descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
            },
            &run.certificate);
        run.resolver->lead("api.test", {origin->address()});
        auto answer = run.inside("api.test").get("api.test", "/api/x");
        return answer;
    };
    for (const int status : {400, 401, 429, 500, 503, 529}) {
        const auto answer = with("HTTP/1.1 " + std::to_string(status) +
                                 " Why\r\nRetry-After: 7\r\nX-Should-Retry: true\r\nContent-Length: 3\r\n\r\nbad");
        CHECK(answer.status == status);
        CHECK(answer.body == "bad");
        CHECK(header_value(answer.head.headers, "retry-after") == "7");
        CHECK(answer.head.reason == "Why");
    }
    const auto half = with("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
    CHECK(half.status == 200);
    CHECK(half.body == "only this");
    CHECK_FALSE(half.complete);
    const auto chunk = with("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    CHECK(chunk.body == "hello");
    CHECK_FALSE(chunk.complete);
    CHECK(with("").status == 502);
    CHECK(with("", true).status == 502);
    CHECK(with("nonsense\r\n\r\n").status == 502);
    CHECK(with("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n").status == 502);
    CHECK(with("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx").status == 502);
    CHECK(with("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").status ==
          103);
    const auto old = with("HTTP/1.0 200 OK\r\n\r\nuntil the end");
    CHECK(old.body == "until the end");
    CHECK(old.complete);
}

TEST_CASE("a response that ended early is visibly incomplete, also where only the end of the connection ends it") {
    Run run;
    const auto begin = [](const char* version, const std::string& host, const std::string& path) {
        return "GET " + path + " HTTP/" + version + "\r\nHost: " + host + "\r\n\r\n";
    };
    struct Fault {
        const char* raw;
        bool reset;
        bool complete; // where the framing cannot tell, a proper end is one
    };
    for (const Fault& fault :
         {Fault{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false, true},
          Fault{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false, false},
          Fault{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", false, false},
          Fault{"HTTP/1.1 200 OK\r\n\r\nhello", false, true}, Fault{"HTTP/1.1 200 OK\r\n\r\nhello", true, false}})
        for (const bool tls : {false, true})
            for (const char* version : {"1.1", "1.0"}) {
                CAPTURE(fault.raw);
                CAPTURE(fault.reset);
                CAPTURE(tls);
                CAPTURE(version);
                Origin origin(
                    [&](Channel& channel) {
                        if (!read_request(channel, soon()).ok()) return;
                        (void)channel.write(fault.raw, soon());
                        if (fault.reset) channel.reset_connection();
                    },
                    tls ? &run.certificate : nullptr);
                run.resolver->lead(tls ? "api.test" : "web.test", {origin.address()});
                TunnelClient client = tls ? run.inside("api.test") : TunnelClient(run.proxy);
                client.send(tls ? begin(version, "api.test", "/api/x")
                                : begin(version, "web.test", "http://web.test/x"));
                const auto answer = client.answer();
                CHECK(answer.complete == fault.complete);
                if (fault.complete) CHECK(answer.body == "hello");
            }
}

TEST_CASE("a response that a change of policy or the end of the run cuts is visibly incomplete") {
    for (const bool detaches : {false, true})
        for (const char* version : {"1.1", "1.0"}) {
            CAPTURE(detaches);
            CAPTURE(version);
            Run run;
            Origin origin([&](Channel& channel) {
                if (!read_request(channel, soon()).ok()) return;
                (void)channel.write("HTTP/1.1 200 OK\r\n\r\nhello", soon());
                (void)channel.wait(POLLIN, soon()); // until the other side ends it
            });
            run.resolver->lead("web.test", {origin.address()});
            TunnelClient client(run.proxy);
            client.send("GET http://web.test/x HTTP/" + std::string(version) + "\r\nHost: web.test\r\n\r\n");
            while (client.channel().buffer().find("hello") == std::string::npos)
                REQUIRE(client.channel().fill(soon()).value());
            if (detaches) {
                run.broker->detach("run_1");
            } else {
                run.access.grant.allow.clear();
                REQUIRE(run.broker->update(run.access).ok());
            }
            CHECK_FALSE(client.answer().complete);
        }
}

TEST_CASE("certificates of the other side are verified") {
    Run run;
    const auto status = [&](const net::testing::CertificateFiles& files) {
        Origin origin(echo, &files);
        run.resolver->lead("api.test", {origin.address()});
        const auto answer = run.inside("api.test").get("api.test", "/api/x");
        return std::to_string(answer.status) + " " + answer.body;
    };
    CHECK(status(run.certificate).starts_with("200 "));
    const std::string expired = status(run.authority.issue("expired", "DNS:api.test", -10, -1));
    CHECK(expired.starts_with("502 "));
    CHECK(expired.find("expired") != std::string::npos);
    CHECK(status(run.authority.issue("wrong", "DNS:other.test")).starts_with("502 "));
    net::testing::TestAuthority stranger;
    CHECK(status(stranger.issue("server", "DNS:api.test")).starts_with("502 "));
}

TEST_CASE("a response right behind an interim one is read, although TLS has read both together") {
    World world;
    std::atomic<bool> is_sent{false};
    Origin origin(
        [&](Channel& channel) {
            (void)channel.write("HTTP/1.1 103 Early Hints\r\n\r\n", soon());
            (void)channel.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", soon());
            is_sent = true;
            (void)channel.wait(POLLIN, soon()); // until the other side closes
        },
        &world.certificate);
    world.resolver->lead("api.test", {origin.address()});
    const Cancel cancel;
    auto dialed = world.dialer->dial_tls(parse_host_port("api.test", 443).value(), Reach::public_only, cancel);
    REQUIRE(dialed.ok());
    REQUIRE(eventually([&] { return is_sent.load(); }));
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    const Fd far(ends[1]);
    const Channel client(net::Socket(Fd(ends[0])), cancel);
    const auto head = await_response(dialed.value().channel, client, "GET", 20s, 20s);
    REQUIRE_MESSAGE(head.ok(), (head.ok() ? "" : head.error().message));
    CHECK(head.value().status == 200);
}

TEST_CASE("a response that arrives before the request is complete is passed on") {
    Run run;
    Origin hasty([](Channel& channel) {
        if (!read_request(channel, soon()).ok()) return;
        (void)channel.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", soon());
        channel.shut_down_writing();
        while (channel.fill(soon()).ok() && !channel.buffer().empty()) channel.buffer().clear();
    });
    run.resolver->lead("web.test", {hasty.address()});
    RawClient client(run.proxy);
    client.send("POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 1000000\r\nExpect: "
                "100-continue\r\n\r\n");
    CHECK(client.read_response().status == 413);
}

TEST_CASE("100-continue reaches the client, then its body reaches the server") {
    Run run;
    Origin server([](Channel& channel) {
        const auto head = read_request(channel, soon());
        if (!head.ok() || !head.value() || !head.value()->expects_continue) return;
        (void)channel.write("HTTP/1.1 100 Continue\r\n\r\n", soon());
        while (channel.buffer().size() < 4 && channel.fill(soon()).value()) {
        }
        (void)channel.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" + channel.buffer(), soon());
    });
    run.resolver->lead("web.test", {server.address()});
    RawClient client(run.proxy);
    client.send(
        "POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    CHECK(client.read_response().status == 100);
    client.send("data");
    CHECK(client.read_response().body == "data");
}

TEST_CASE("a stream arrives piece by piece, not at its end") {
    Run run;
    net::testing::Gate taken;
    Origin server(
        [&](Channel& channel) {
            if (!read_request(channel, soon()).ok()) return;
            (void)channel.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst \r\n", soon());
            if (taken.wait()) (void)channel.write("4\r\nlast\r\n0\r\n\r\n", soon());
        },
        &run.certificate);
    run.resolver->lead("api.test", {server.address()});
    TunnelClient client = run.inside("api.test");
    client.send("GET /api/x HTTP/1.1\r\nHost: api.test\r\n\r\n");
    REQUIRE(read_response(client.channel(), "GET", soon()).value()->status == 200);
    std::string& received = client.channel().buffer();
    while (received.find("first") == std::string::npos) REQUIRE(client.channel().fill(soon()).value());
    CHECK(received.find("last") == std::string::npos);
    taken.open();
    while (received.find("0\r\n\r\n") == std::string::npos) REQUIRE(client.channel().fill(soon()).value());
}

TEST_CASE("the environment of a sandbox holds placeholders, never the secret") {
    Run run;
    run.access.run_id = "run_env";
    run.access.grant.plain = {{"DD_SITE", "datadoghq.com"}};
    skill::Credential exposed = token_for({{"api.test", 443, true, {}, "/", false}});
    exposed.variable = "EXPOSED";
    exposed.brokered = false;
    exposed.secret_id = "sec_exposed";
    run.secrets->set("sec_exposed", "visible-on-purpose");
    run.access.grant.credentials.push_back(exposed);
    const auto attached = run.broker->attach(run.access, {}).value();
    const SandboxEnvironment environment = sandbox_environment(*attached).value();
    std::map<std::string, std::string> variables(environment.variables.begin(), environment.variables.end());
    CHECK(variables["HTTPS_PROXY"] == "http://127.0.0.1:3128");
    CHECK(variables["DD_SITE"] == "datadoghq.com");
    CHECK(variables["API_TOKEN"] == attached->placeholders().of(run.access.grant.credentials[0]).value());
    CHECK(variables["EXPOSED"] == "visible-on-purpose");
    CHECK(environment.exposed == std::vector<std::string>{"EXPOSED"});
    for (const auto& [name, value] : environment.variables) CHECK(value.find(canary) == std::string::npos);
    CHECK(environment.files.size() == 3);
    CHECK(environment.ca_bundle_content.starts_with(attached->authority().certificate()));
}
