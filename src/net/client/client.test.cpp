#include "net/client/client.h"

#include "net/http/sse.h"
#include "net/testing/certificates.h"
#include "net/testing/raw_client.h"

#include <atomic>
#include <filesystem>
#include <sys/un.h>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

namespace {

std::string url_of(const Server& server, const std::string& target = "/") {
    return "http://" + server.addresses()[0] + target;
}

ClientRequest get(std::string url) {
    ClientRequest request;
    request.url = std::move(url);
    return request;
}

// Accepts one connection after the other and sends fixed bytes to each.
class CannedServer {
public:
    explicit CannedServer(std::string answer, bool wait_for_request = true) : m_answer(std::move(answer)) {
        BoundSocket bound = listen_on("127.0.0.1:0").value();
        m_listener = std::move(bound.descriptor);
        address = bound.address;
        m_thread = std::thread([this, wait_for_request] {
            for (;;) {
                pollfd poll{m_listener.get(), POLLIN, 0};
                ::poll(&poll, 1, -1);
                if (m_stop) return;
                Fd client(::accept(m_listener.get(), nullptr, nullptr));
                ++accepted;
                std::array<char, 65536> bytes;
                if (wait_for_request && ::recv(client.get(), bytes.data(), bytes.size(), 0) <= 0) continue;
                ::send(client.get(), m_answer.data(), m_answer.size(), MSG_NOSIGNAL);
            }
        });
    }
    ~CannedServer() {
        m_stop = true;
        RawClient wake(address);
        m_thread.join();
    }
    std::string address;
    std::atomic<int> accepted = 0;

private:
    std::string m_answer;
    Fd m_listener;
    std::atomic<bool> m_stop = false;
    std::thread m_thread;
};

// A CONNECT proxy for one tunnel at a time, which records its requests.
class TunnelProxy {
public:
    TunnelProxy() {
        BoundSocket bound = listen_on("127.0.0.1:0").value();
        m_listener = std::move(bound.descriptor);
        address = bound.address;
        m_thread = std::thread([this] {
            for (;;) {
                pollfd poll{m_listener.get(), POLLIN, 0};
                ::poll(&poll, 1, -1);
                if (m_stop) return;
                serve(Fd(::accept(m_listener.get(), nullptr, nullptr)));
            }
        });
    }
    ~TunnelProxy() {
        m_stop = true;
        RawClient wake(address);
        m_thread.join();
    }
    std::string address;
    std::string refuse_with; // a status line, if tunnels are not wanted
    std::vector<std::string> heads;

private:
    void serve(Fd client) {
        std::string head;
        std::array<char, 16384> bytes;
        while (head.find("\r\n\r\n") == std::string::npos) {
            const ssize_t got = ::recv(client.get(), bytes.data(), bytes.size(), 0);
            if (got <= 0) return;
            head.append(bytes.data(), static_cast<size_t>(got));
        }
        heads.push_back(head);
        if (!head.starts_with("CONNECT ")) {
            const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nvia proxy";
            ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
            return;
        }
        const std::string answer = refuse_with.empty() ? "HTTP/1.1 200 Connection established\r\n\r\n"
                                                       : refuse_with + "\r\nContent-Length: 0\r\n\r\n";
        ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        if (!refuse_with.empty()) return;
        RawClient target(head.substr(8, head.find(' ', 8) - 8));
        for (;;) {
            std::array<pollfd, 2> polls{pollfd{client.get(), POLLIN, 0}, pollfd{target.descriptor(), POLLIN, 0}};
            ::poll(polls.data(), polls.size(), -1);
            const bool upward = polls[0].revents != 0;
            const ssize_t got = ::recv(upward ? client.get() : target.descriptor(), bytes.data(), bytes.size(), 0);
            if (got <= 0) return;
            ::send(upward ? target.descriptor() : client.get(), bytes.data(), static_cast<size_t>(got), MSG_NOSIGNAL);
        }
    }
    Fd m_listener;
    std::atomic<bool> m_stop = false;
    std::thread m_thread;
};

} // namespace

TEST_CASE("the client and the server understand each other, and connections are reused") {
    LambdaHandler handler;
    handler.on_handle = [](Request&& request) {
        Response response = text_response(request.path == "/missing" ? 404 : 200,
                                          request.method + ":" + request.query + ":" + request.body);
        response.set_header("X-Seen",
                            std::string(request.header("X-Mine")) + "|" + std::string(request.header("User-Agent")));
        return response;
    };
    auto server = start_server(handler);
    HttpClient client;
    ClientRequest request = get(url_of(*server, "/a?b=c"));
    request.headers = {{"X-Mine", "1"}};
    auto response = client.send(request);
    REQUIRE(response.ok());
    CHECK(response.value().status == 200);
    CHECK(response.value().body == "GET:b=c:");
    CHECK(response.value().header("x-seen") == "1|hone");
    request.method = "POST";
    request.body = std::string(100'000, 'x');
    CHECK(client.send(request).value().body.size() == 100'009);
    request.method = "HEAD";
    request.body.clear();
    CHECK(client.send(request).value().body.empty());
    CHECK(client.send(get(url_of(*server, "/missing"))).value().status == 404);
    CHECK(server->counts().connections_accepted == 1);
}

TEST_CASE("a kept connection that the server has closed is replaced without a failed request") {
    LambdaHandler handler;
    ServerOptions options = test_options();
    options.limits.idle_timeout = 500ms; // also the time a new connection has for its first byte
    auto server = start_server(handler, options);
    HttpClient client;
    for (int i = 0; i < 3; ++i) {
        CHECK(client.send(get(url_of(*server))).ok());
        CHECK(eventually([&] { return server->counts().connections_open == 0; }));
    }
    CHECK(server->counts().connections_accepted == 3);
}

TEST_CASE("uploads and downloads are streamed") {
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead&) { return Plan{std::nullopt, Lane::ingest, 1 << 30, true, nullptr}; };
    handler.on_handle = [](Request&& request) {
        class Echo final : public BodySource {
        public:
            explicit Echo(std::string text) : m_text(std::move(text)) {}
            Result<std::string> next() override { return std::exchange(m_text, {}); }

        private:
            std::string m_text;
        };
        const auto body = read_all(*request.body_stream, 1 << 30);
        if (!body.ok()) return error_response(body.error());
        Response response;
        response.stream = std::make_unique<Echo>(std::string(request.header("Content-Length")) + ":" +
                                                 std::to_string(body.value().size()));
        return response;
    };
    auto server = start_server(handler);
    HttpClient client;
    for (const bool announced : {false, true}) {
        int pieces = 100;
        ClientRequest request = get(url_of(*server));
        request.method = "PUT";
        request.body_source = [&]() -> Result<std::string> {
            return pieces-- > 0 ? std::string(100'000, 'y') : std::string();
        };
        if (announced) request.body_length = 10'000'000;
        std::string got;
        request.on_body = [&](std::string_view piece) -> Result<> {
            got += piece;
            return {};
        };
        auto response = client.send(request);
        REQUIRE(response.ok());
        CHECK(response.value().body.empty());
        CHECK(got == (announced ? "10000000:10000000" : ":10000000"));
    }
    ClientRequest wrong = get(url_of(*server));
    wrong.method = "PUT";
    wrong.body_source = []() -> Result<std::string> { return std::string(); };
    wrong.body_length = 5;
    CHECK(client.send(wrong).error().code == Code::invalid);
}

TEST_CASE("a rejected upload shows the server's response, not a broken pipe") {
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead&) { return Plan{std::nullopt, Lane::ingest, 1000, false, nullptr}; };
    auto server = start_server(handler);
    HttpClient client;
    ClientRequest request = get(url_of(*server));
    request.method = "POST";
    request.body = std::string(20 << 20, 'x');
    auto response = client.send(request);
    REQUIRE_MESSAGE(response.ok(), (response.ok() ? "" : response.error().message));
    CHECK(response.value().status == 413);
}

TEST_CASE("events are followed with the parser until the callback ends it") {
    LambdaHandler handler;
    handler.on_handle = [](Request&&) {
        Response response;
        response.on_events = [](std::shared_ptr<EventStream> stream) {
            for (int i = 0; i < 5; ++i) stream->send("tick", std::to_string(i), "n\n" + std::to_string(i));
            stream->close();
        };
        return response;
    };
    auto server = start_server(handler);
    HttpClient client;
    EventParser parser;
    std::vector<ServerEvent> events;
    ClientRequest request = get(url_of(*server));
    request.on_body = [&](std::string_view bytes) {
        return parser.feed(bytes, [&](ServerEvent&& event) -> Result<> {
            events.push_back(std::move(event));
            return {};
        });
    };
    CHECK(client.send(request).ok());
    REQUIRE(events.size() == 5);
    CHECK(events[4].event == "tick");
    CHECK(events[4].data == "n\n4");
    CHECK(parser.last_id() == "4");
    request.on_body = [](std::string_view) -> Result<> { return forbidden("enough"); };
    CHECK(client.send(request).error().message == "enough");
}

TEST_CASE("a request ends when it is cancelled or takes too long") {
    LambdaHandler handler;
    Gate gate, running;
    std::atomic<int> handled = 0;
    handler.on_handle = [&](Request&&) {
        ++handled;
        running.open();
        gate.wait();
        return text_response(200, "late");
    };
    auto server = start_server(handler);
    HttpClient client;
    ClientRequest request = get(url_of(*server));
    request.total_timeout = 50ms;
    CHECK(client.send(request).error().code == Code::busy);
    request.total_timeout = {};
    request.idle_timeout = 50ms;
    CHECK(client.send(request).error().code == Code::busy);
    Cancel cancel;
    request.idle_timeout.reset();
    request.cancel = &cancel;
    CHECK_FALSE(cancel.is_cancelled());
    std::thread other([&] {
        running.wait();
        cancel.cancel();
    });
    CHECK(client.send(request).error().code == Code::conflict);
    other.join();
    const int before = handled;
    CHECK(client.send(request).error().code == Code::conflict);
    gate.open();
    CHECK(client.send(request).error().code == Code::conflict);
    CHECK(handled == before); // not sent
}

TEST_CASE("responses that are cut, too large, malformed or endless are errors") {
    HttpClient client;
    const auto outcome = [&](const std::string& answer) {
        CannedServer server(answer);
        ClientRequest request = get("http://" + server.address);
        request.max_response_bytes = 1000;
        request.idle_timeout = 30s;
        return client.send(request);
    };
    CHECK(outcome("HTTP/1.1 200 OK\r\n\r\nuntil the end").value().body == "until the end");
    CHECK(outcome("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").value().body == "ok");
    CHECK(outcome("HTTP/1.1 204 No Content\r\n\r\n").value().status == 204);
    CHECK(outcome("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").error().code == Code::unavailable);
    CHECK(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab").error().code == Code::unavailable);
    CHECK(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").error().code == Code::unavailable);
    CHECK(outcome("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok").error().code ==
          Code::unavailable);
    CHECK(outcome("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x')).error().code == Code::unavailable);
    CHECK(outcome("HTTP/1.1 200 OK\r\n\r\n" + std::string(5000, 'x')).error().code == Code::too_large);
    CHECK(outcome("SSH-2.0-OpenSSH\r\n\r\n").error().code == Code::unavailable);
    CHECK(outcome("").error().code == Code::unavailable);
}

TEST_CASE("a closed port, a bad URL and a bad header are errors with the reason") {
    HttpClient client;
    std::string free_address;
    { free_address = listen_on("127.0.0.1:0").value().address; }
    auto refused = client.send(get("http://" + free_address));
    CHECK(refused.error().code == Code::unavailable);
    CHECK(refused.error().message.find(free_address) != std::string::npos);
    for (const char* bad :
         {"", "ftp://x/", "http://", "http://a b/", "http://host:99999/", "http://host/a b", "//host/"})
        CHECK(client.send(get(bad)).error().code == Code::invalid);
    ClientRequest request = get("http://" + free_address);
    request.headers = {{"X-A", "b\r\nX-C: d"}};
    CHECK(client.send(request).error().code == Code::invalid);
    request.headers = {{"Content-Length", "5"}};
    CHECK(client.send(request).error().code == Code::invalid);
}

TEST_CASE("redirects are followed only on request, and credentials stay with their origin") {
    LambdaHandler target, origin;
    std::string seen;
    target.on_handle = [&](Request&& request) {
        seen = std::string(request.header("Authorization")) + "|" + std::string(request.header("X-Other"));
        return text_response(200, "arrived " + request.path);
    };
    auto target_server = start_server(target);
    origin.on_handle = [&](Request&& request) {
        Response response = text_response(302, "moved");
        if (request.path == "/end") return text_response(200, std::string(request.header("Authorization")));
        response.set_header("Location", request.path == "/away"   ? url_of(*target_server, "/x")
                                        : request.path == "/near" ? "/end"
                                                                  : "/loop");
        return response;
    };
    auto server = start_server(origin);
    HttpClient client;
    ClientRequest request = get(url_of(*server, "/away"));
    request.headers = {{"Authorization", "Bearer secret"}, {"X-Other", "kept"}};
    CHECK(client.send(request).value().status == 302);
    request.max_redirects = 3;
    auto response = client.send(request);
    CHECK(response.value().body == "arrived /x");
    CHECK(response.value().url == url_of(*target_server, "/x"));
    CHECK(seen == "|kept");
    request.url = url_of(*server, "/near");
    CHECK(client.send(request).value().body == "Bearer secret");
    request.url = url_of(*server, "/loop");
    CHECK(client.send(request).value().status == 302);
}

TEST_CASE("a unix socket is reached by its path, and connect_to overrides where to dial") {
    LambdaHandler handler;
    auto server = start_server(handler);
    HttpClient client;
    ClientRequest request = get("http://some.name.invalid/x");
    request.connect_to = server->addresses()[0];
    CHECK(client.send(request).value().body == "GET /x ");

    const std::string path =
        (std::filesystem::temp_directory_path() / ("hone-net-" + std::to_string(::getpid()) + ".sock")).string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    Fd listener(::socket(AF_UNIX, SOCK_STREAM, 0));
    REQUIRE(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener.get(), 5) == 0);
    std::thread responder([&] {
        for (int i = 0; i < 2; ++i) {
            Fd peer(::accept(listener.get(), nullptr, nullptr));
            std::array<char, 4096> bytes;
            const ssize_t got = ::recv(peer.get(), bytes.data(), bytes.size(), 0);
            const std::string line(
                bytes.data(),
                static_cast<size_t>(std::find(bytes.begin(), bytes.begin() + std::max<ssize_t>(got, 0), '\r') -
                                    bytes.begin()));
            const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(line.size()) +
                                       "\r\nConnection: close\r\n\r\n" + line;
            ::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        }
    });
    CHECK(client.send(get("unix:" + path + ":/query?a=b")).value().body == "GET /query?a=b HTTP/1.1");
    request.connect_to = "unix:" + path;
    CHECK(client.send(request).value().body == "GET /x HTTP/1.1");
    responder.join();
    std::filesystem::remove(path);
}

TEST_CASE("TLS: the right certificate is accepted, wrong ones are refused with the reason") {
    TestAuthority authority, stranger;
    LambdaHandler handler;
    handler.on_handle = [](Request&& request) { return text_response(200, request.tls ? "secure" : "plain"); };
    ServerOptions options = test_options();
    const auto add = [&](const CertificateFiles& files) {
        options.listen.push_back({"127.0.0.1:0", files.certificate, files.key});
    };
    options.listen.clear();
    add(authority.issue("good", "DNS:localhost,IP:127.0.0.1"));
    add(authority.issue("other-host", "DNS:example.org"));
    add(authority.issue("expired", "DNS:localhost,IP:127.0.0.1", -10, -5));
    add(authority.issue("early", "DNS:localhost,IP:127.0.0.1", 5, 10));
    add(stranger.issue("untrusted", "DNS:localhost,IP:127.0.0.1"));
    auto server = start_server(handler, options);
    ClientOptions trusting;
    trusting.ca_file = authority.ca_file();
    HttpClient client(trusting);
    const auto addresses = server->addresses();
    const auto ask = [&](size_t index) { return client.send(get("https://" + addresses[index])); };
    CHECK(ask(0).value().body == "secure");
    CHECK(ask(0).value().body == "secure");
    CHECK(server->counts().connections_accepted == 1); // kept and reused
    ClientRequest by_name = get("https://localhost/");
    by_name.connect_to = addresses[0];
    CHECK(client.send(by_name).value().body == "secure");
    CHECK(ask(1).error().message.find("mismatch") != std::string::npos);
    CHECK(ask(2).error().message.find("expired") != std::string::npos);
    CHECK(ask(3).error().message.find("not yet valid") != std::string::npos);
    CHECK(ask(4).error().code == Code::unavailable);
    CHECK(HttpClient().send(get("https://" + addresses[0])).error().code == Code::unavailable); // the system's store
    ClientRequest wrong_name = get("https://elsewhere.example/");
    wrong_name.connect_to = addresses[0];
    CHECK(client.send(wrong_name).error().message.find("mismatch") != std::string::npos);
}

TEST_CASE("TLS: authorities as text are the only ones that are trusted") {
    TestAuthority authority, other;
    LambdaHandler handler;
    handler.on_handle = [](Request&&) { return text_response(200, "secure"); };
    ServerOptions options = test_options();
    options.listen.clear();
    const CertificateFiles files = authority.issue("good", "DNS:localhost,IP:127.0.0.1");
    options.listen.push_back({"127.0.0.1:0", files.certificate, files.key});
    auto server = start_server(handler, options);
    const auto body_with = [&](const std::string& authorities) {
        ClientOptions trusting;
        trusting.tls = TlsContext::for_client_text(authorities, "", "").value();
        HttpClient client(trusting);
        const auto response = client.send(get("https://" + server->addresses()[0]));
        return response.ok() ? response.value().body : std::string(code_name(response.error().code));
    };
    const std::string right = read_file(authority.ca_file()).value();
    const std::string wrong = read_file(other.ca_file()).value();
    CHECK(body_with(right) == "secure");
    CHECK(body_with(right + wrong) == "secure");
    CHECK(body_with(wrong) == "unavailable");
    CHECK(body_with("") == "unavailable"); // the system's store
    CHECK(TlsContext::for_client_text("no certificate", "", "").error().code == Code::invalid);
    CHECK(TlsContext::for_client_text(right, right, "no key").error().code == Code::invalid);
}

TEST_CASE("TLS: plain HTTP on a TLS port, TLS on a plain port, garbage and stalled handshakes end") {
    TestAuthority authority;
    LambdaHandler handler;
    ServerOptions options = test_options();
    const CertificateFiles files = authority.issue("good", "DNS:localhost,IP:127.0.0.1");
    options.listen = {{"127.0.0.1:0", files.certificate, files.key}, {"127.0.0.1:0", "", ""}};
    options.limits.header_timeout = 150ms;
    auto server = start_server(handler, options);
    RawClient plain(server->addresses()[0]);
    plain.send("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(plain.read_to_end().find("HTTP/1.1 200") == std::string::npos);
    RawClient stalled(server->addresses()[0]);
    CHECK(stalled.is_ended());
    HttpClient client;
    CHECK(client.send(get("https://" + server->addresses()[1])).error().code == Code::unavailable);
    CHECK(eventually([&] { return server->counts().connections_open == 0; }));
}

TEST_CASE("TLS: large bodies and events cross both ways") {
    TestAuthority authority;
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead& head) {
        return Plan{std::nullopt, Lane::ingest, 64 << 20, head.path == "/stream", nullptr};
    };
    handler.on_handle = [](Request&& request) {
        const size_t size =
            request.body_stream ? read_all(*request.body_stream, 64 << 20).value().size() : request.body.size();
        Response response = text_response(200, std::string(size, 'z'));
        response.content_type = "application/octet-stream";
        return response;
    };
    ServerOptions options = test_options();
    const CertificateFiles files = authority.issue("good", "DNS:localhost,IP:127.0.0.1");
    options.listen = {{"127.0.0.1:0", files.certificate, files.key}};
    auto server = start_server(handler, options);
    ClientOptions trusting;
    trusting.ca_file = authority.ca_file();
    HttpClient client(trusting);
    for (const char* path : {"/whole", "/stream"}) {
        ClientRequest request = get("https://" + server->addresses()[0] + path);
        request.method = "POST";
        request.body = std::string(8 << 20, 'a');
        auto response = client.send(request);
        REQUIRE_MESSAGE(response.ok(), (response.ok() ? "" : response.error().message));
        CHECK(response.value().body.size() == request.body.size());
    }
    CHECK(server->counts().connections_accepted == 1);
}

TEST_CASE("TLS: certificates are reloaded on demand, and a broken one leaves the old in use") {
    TestAuthority old_authority, new_authority;
    LambdaHandler handler;
    ServerOptions options = test_options();
    const CertificateFiles files = old_authority.issue("server", "IP:127.0.0.1");
    options.listen = {{"127.0.0.1:0", files.certificate, files.key}};
    auto server = start_server(handler, options);
    ClientOptions trusts_old, trusts_new;
    trusts_old.ca_file = old_authority.ca_file();
    trusts_new.ca_file = new_authority.ca_file();
    const ClientRequest request = get("https://" + server->addresses()[0]);
    CHECK(HttpClient(trusts_old).send(request).ok());
    CHECK_FALSE(HttpClient(trusts_new).send(request).ok());
    const CertificateFiles fresh = new_authority.issue("fresh", "IP:127.0.0.1");
    std::filesystem::copy_file(fresh.certificate, files.certificate, std::filesystem::copy_options::overwrite_existing);
    CHECK_FALSE(server->reload_tls().ok()); // the key is not the new one's
    CHECK(HttpClient(trusts_old).send(request).ok());
    std::filesystem::copy_file(fresh.key, files.key, std::filesystem::copy_options::overwrite_existing);
    CHECK(server->reload_tls().ok());
    CHECK(HttpClient(trusts_new).send(request).ok());
    CHECK_FALSE(HttpClient(trusts_old).send(request).ok());
    options.listen = {{"127.0.0.1:0", "/nowhere.pem", files.key}};
    CHECK_FALSE(Server::start(options, handler).ok());
}

TEST_CASE("a proxy carries http by absolute URL and https by a tunnel") {
    TestAuthority authority;
    LambdaHandler handler;
    ServerOptions options = test_options();
    const CertificateFiles files = authority.issue("good", "IP:127.0.0.1");
    options.listen = {{"127.0.0.1:0", files.certificate, files.key}, {"127.0.0.1:0", "", ""}};
    auto server = start_server(handler, options);
    TunnelProxy proxy;
    ClientOptions proxied;
    proxied.proxy = "http://user:p%40ss@" + proxy.address;
    proxied.ca_file = authority.ca_file();
    proxied.no_proxy = {".direct.invalid"};
    {
        HttpClient client(proxied);
        CHECK(client.send(get("https://" + server->addresses()[0] + "/t")).value().body == "GET /t ");
        CHECK(client.send(get("https://" + server->addresses()[0] + "/u")).value().body ==
              "GET /u "); // the same tunnel
    }
    HttpClient client(proxied);
    CHECK(client.send(get("http://host.invalid:81/p?q")).value().body == "via proxy");
    REQUIRE(proxy.heads.size() == 2);
    CHECK(proxy.heads[0].starts_with("CONNECT " + server->addresses()[0] + " HTTP/1.1\r\n"));
    CHECK(proxy.heads[0].find("Proxy-Authorization: Basic dXNlcjpwQHNz\r\n") != std::string::npos);
    CHECK(proxy.heads[1].starts_with("GET http://host.invalid:81/p?q HTTP/1.1\r\nHost: host.invalid:81\r\n"));
    proxy.refuse_with = "HTTP/1.1 403 Forbidden";
    CHECK(client.send(get("https://" + server->addresses()[0] + "/t")).error().message.find("403") !=
          std::string::npos);
    // A tunnel to another place than the URL's.
    ClientRequest elsewhere = get("https://host.invalid/");
    elsewhere.connect_to = "tunnel:192.0.2.7:443";
    CHECK(client.send(elsewhere).error().message.find("refused a tunnel to 192.0.2.7:443") != std::string::npos);
    CHECK(proxy.heads.back().starts_with("CONNECT 192.0.2.7:443 HTTP/1.1\r\nHost: 192.0.2.7:443\r\n"));
    ClientRequest direct = get("http://x.direct.invalid/");
    CHECK(client.send(direct).error().message.find("cannot resolve") != std::string::npos);
}
