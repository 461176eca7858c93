// A message that breaks off must never look complete: plain and over TLS, in chunks and until the connection ends.
#include "net/client/client.h"
#include "net/client/wire.h"
#include "net/testing/certificates.h"
#include "net/testing/raw_client.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <list>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

namespace {

using Step = std::function<Result<std::string>()>;

// "begin", and when the client has that, what the test sends.
class StagedSource final : public BodySource {
public:
    StagedSource(Gate& seen, Step then) : m_seen(seen), m_then(std::move(then)) {}
    Result<std::string> next() override {
        if (std::exchange(m_first, false)) return std::string("begin");
        m_seen.wait();
        return m_then();
    }

private:
    Gate& m_seen;
    Step m_then;
    bool m_first = true;
};

class Endless final : public BodySource {
    Result<std::string> next() override { return std::string(64 << 10, 'x'); }
};

struct Received {
    std::string head;
    std::string body; // with its framing
    bool ended_properly = false;
};

// Sends a request and reads until the connection ends; `on_begin` is called once "begin" is here.
Received read_all_of(const std::string& address, const TlsContext* tls, std::string_view request,
                     const std::function<void()>& on_begin) {
    const auto [host, port] = parse_host_port(address).value();
    const Timeouts timeouts{30s, 30s, std::nullopt, nullptr};
    const auto wire = Wire::dial(resolve(host, port).value(), timeouts).value();
    if (tls != nullptr) REQUIRE(wire->start_tls(*tls, host, timeouts).ok());
    REQUIRE(wire->send(request, timeouts).ok());
    Received received;
    bool has_begun = false;
    for (;;) {
        const auto more = wire->receive(timeouts);
        received.ended_properly = more.ok();
        if (!more.ok() || !more.value()) break;
        if (has_begun || wire->input().find("begin") == std::string::npos) continue;
        has_begun = true;
        on_begin();
    }
    CHECK(has_begun);
    const size_t end = wire->input().find("\r\n\r\n");
    REQUIRE(end != std::string::npos);
    received.head = wire->input().substr(0, end + 4);
    received.body = wire->input().substr(end + 4);
    return received;
}

// One server that listens plain and with TLS.
struct TwoDoors {
    TestAuthority authority;
    LambdaHandler handler;
    std::shared_ptr<const TlsContext> trusting = TlsContext::for_client(authority.ca_file(), "", "").value();
    std::unique_ptr<Server> server;

    void start(ServerOptions options = test_options()) {
        const CertificateFiles files = authority.issue("good", "DNS:localhost,IP:127.0.0.1");
        options.listen = {{"127.0.0.1:0", "", ""}, {"127.0.0.1:0", files.certificate, files.key}};
        server = start_server(handler, options);
    }
    // The request's id ends with a 0, and so does the head: a search for the last chunk must not find that.
    Received get(bool tls, std::string_view version, const std::function<void()>& on_begin) const {
        const std::string request = "GET / HTTP/" + std::string(version) +
                                    "\r\nHost: t\r\nConnection: close\r\nX-Request-Id: request-0\r\n\r\n";
        return read_all_of(server->addresses()[tls ? 1 : 0], tls ? trusting.get() : nullptr, request, on_begin);
    }
};

struct Ending {
    const char* name;
    Step then;
    bool completes;
};

} // namespace

TEST_CASE("a streamed response is complete exactly when its source reported the end") {
    const std::array endings{
        Ending{"the source ends", [] { return std::string(); }, true},
        Ending{"the source fails", []() -> Result<std::string> { return internal("disk broke"); }, false},
        Ending{"the source throws", []() -> Result<std::string> { throw std::runtime_error("disk broke"); }, false},
        Ending{"the source throws anything", []() -> Result<std::string> { throw 7; }, false},
    };
    TwoDoors doors;
    Gate* seen = nullptr;
    const Ending* ending = nullptr;
    doors.handler.on_handle = [&](Request&&) {
        Response response;
        response.stream = std::make_unique<StagedSource>(*seen, ending->then);
        return response;
    };
    doors.start();
    for (const Ending& each : endings)
        for (const bool tls : {false, true})
            for (const std::string version : {"1.1", "1.0"}) {
                CAPTURE(each.name);
                CAPTURE(tls);
                CAPTURE(version);
                Gate gate;
                seen = &gate;
                ending = &each;
                const Received received = doors.get(tls, version, [&] { gate.open(); });
                CHECK(received.head.find("X-Request-Id: request-0\r\n") != std::string::npos);
                const std::string last = each.completes ? "0\r\n\r\n" : "";
                CHECK(received.body == (version == "1.1" ? "5\r\nbegin\r\n" + last : "begin"));
                CHECK(received.ended_properly == each.completes);
            }
}

TEST_CASE("a server that goes down in the middle of a response does not make it look complete") {
    for (const bool tls : {false, true})
        for (const std::string version : {"1.1", "1.0"}) {
            CAPTURE(tls);
            CAPTURE(version);
            TwoDoors doors;
            Gate gate;
            doors.handler.on_handle = [&](Request&&) {
                Response response;
                response.stream = std::make_unique<StagedSource>(gate, [] { return std::string(); });
                return response;
            };
            doors.start();
            std::thread end;
            const Received received =
                doors.get(tls, version, [&] { end = std::thread([&] { doors.server.reset(); }); });
            gate.open(); // the source's end comes too late
            end.join();
            CHECK(received.body == (version == "1.1" ? "5\r\nbegin\r\n" : "begin"));
            CHECK_FALSE(received.ended_properly);
        }
}

TEST_CASE("a server that is killed in the middle of a response does not make it look complete") {
    std::array<int, 2> report{};
    REQUIRE(::pipe(report.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        LambdaHandler handler;
        handler.on_handle = [](Request&&) {
            Response response;
            response.stream = std::make_unique<Endless>();
            return response;
        };
        const auto server = start_server(handler);
        const std::string address = server->addresses()[0] + "\n";
        if (::write(report[1], address.data(), address.size()) < 0) ::_exit(1);
        for (;;) ::pause();
    }
    std::string address;
    for (char c = 0; ::read(report[0], &c, 1) == 1 && c != '\n';) address += c;
    for (const int descriptor : report) ::close(descriptor);
    std::list<RawClient> clients;
    for (const char* version : {"1.1", "1.0"}) {
        RawClient& client = clients.emplace_back(address, 16 << 10);
        client.send("GET / HTTP/" + std::string(version) + "\r\nHost: t\r\n\r\n");
        CHECK(client.read_until("xxxx").ends_with("xxxx"));
    }
    ::kill(child, SIGKILL);
    CHECK(::waitpid(child, nullptr, 0) == child);
    RawClient& chunked = clients.front();
    CHECK_FALSE(chunked.read_to_end().ends_with("0\r\n\r\n"));
    clients.back().read_to_end();
    CHECK(clients.back().was_reset());
}

TEST_CASE("a client that stops reading finds a broken response and no short one") {
    LambdaHandler handler;
    handler.on_handle = [](Request&& request) {
        Response response = text_response(200, "");
        if (request.path == "/stream")
            response.stream = std::make_unique<Endless>();
        else
            response.body.assign(64 << 20, 'x');
        return response;
    };
    ServerOptions options = test_options();
    options.limits.write_timeout = 150ms;
    auto server = start_server(handler, options);
    uint64_t sent = 0;
    for (const std::string path : {"/stream", "/whole"})
        for (const std::string version : {"1.1", "1.0"}) {
            CAPTURE(path);
            CAPTURE(version);
            RawClient client(server->addresses()[0], 16 << 10);
            client.send("GET " + path + " HTTP/" + version + "\r\nHost: t\r\n\r\n");
            ++sent;
            CHECK(eventually([&] { return server->counts().requests == sent; })); // by then it counts as open
            CHECK(eventually([&] { return server->counts().connections_open == 0; }));
            const RawResponse response = client.read_response();
            CHECK(response.status == 200);
            CHECK_FALSE(response.complete);
        }
}

TEST_CASE("a handler of events that throws cuts its stream before a client can take it for complete") {
    // When its text is read while the exception is handled, it waits until the client has seen the end.
    struct Patient final : std::exception {
        explicit Patient(Gate& gate) : m_gate(gate) {}
        const char* what() const noexcept override {
            m_gate.wait();
            return "patient";
        }
        Gate& m_gate;
    };
    std::list<Gate> gates; // a handler's thread may wait for its gate until the server has joined it
    TwoDoors doors;
    Gate* over = nullptr;
    doors.handler.on_handle = [&](Request&&) {
        Response response;
        response.on_events = [&](const std::shared_ptr<EventStream>& events) {
            events->send("", "", "begin");
            throw Patient(*over);
        };
        return response;
    };
    doors.start();
    for (const bool tls : {false, true})
        for (const std::string version : {"1.1", "1.0"}) {
            CAPTURE(tls);
            CAPTURE(version);
            over = &gates.emplace_back();
            const std::string request = "GET / HTTP/" + version + "\r\nHost: t\r\nConnection: close\r\n\r\n";
            const auto [host, port] = parse_host_port(doors.server->addresses()[tls ? 1 : 0]).value();
            const Timeouts timeouts{30s, 10s, std::nullopt, nullptr};
            const auto wire = Wire::dial(resolve(host, port).value(), timeouts).value();
            if (tls) REQUIRE(wire->start_tls(*doors.trusting, host, timeouts).ok());
            REQUIRE(wire->send(request, timeouts).ok());
            Result<bool> more = true;
            while (more.ok() && more.value()) more = wire->receive(timeouts);
            over->open();
            CHECK_FALSE(more.ok());
            CHECK_FALSE(wire->input().ends_with("\r\n0\r\n\r\n"));
        }
}

TEST_CASE("a stream of events is complete when it was closed, and cut when it was only dropped") {
    LambdaHandler handler;
    handler.on_handle = [](Request&& request) {
        Response response;
        response.on_events = [path = request.path](const std::shared_ptr<EventStream>& events) {
            events->send("", "1", "x");
            if (path == "/dropped") return;
            if (path == "/cut") events->cut();
            events->close(); // too late for one that was cut
        };
        return response;
    };
    auto server = start_server(handler);
    RawClient closed(server->addresses()[0]), cut(server->addresses()[0]), dropped(server->addresses()[0]);
    const RawResponse whole = closed.get("/closed");
    CHECK(whole.complete);
    CHECK(whole.body == "id: 1\ndata: x\n\n");
    CHECK(closed.get("/closed").complete); // and the connection lives on
    CHECK_FALSE(cut.get("/cut").complete);
    CHECK_FALSE(dropped.get("/dropped").complete);
    CHECK(dropped.was_reset());
}

TEST_CASE("drain waits for events that are the response to one request") {
    LambdaHandler handler;
    Gate running, gate;
    handler.on_handle = [&](Request&&) {
        Response response;
        response.events_end = true;
        response.on_events = [&](const std::shared_ptr<EventStream>& events) {
            running.open();
            gate.wait();
            events->send("", "", "the response");
            events->close();
        };
        return response;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(running.wait());
    CHECK_FALSE(server->drain(50ms));
    gate.open();
    const RawResponse response = client.read_response();
    CHECK(response.complete);
    CHECK(response.body == "data: the response\n\n");
    client.close();
    CHECK(server->drain(30s));
}

TEST_CASE("an upload whose source fails never reaches the handler as a whole body") {
    LambdaHandler handler;
    std::atomic<int> whole = 0, broken = 0;
    Gate streamed;
    handler.on_plan = [](const RequestHead& head) {
        return Plan{std::nullopt, Lane::ingest, 1 << 20, head.path == "/stream", nullptr};
    };
    handler.on_handle = [&](Request&& request) {
        const bool ok = !request.body_stream || read_all(*request.body_stream, 1 << 20).ok();
        ++(ok ? whole : broken);
        if (request.path == "/stream") streamed.open();
        return text_response(200, "");
    };
    auto server = start_server(handler);
    HttpClient client;
    for (const bool has_length : {false, true})
        for (const char* path : {"/whole", "/stream"}) {
            ClientRequest request;
            request.method = "POST";
            request.url = "http://" + server->addresses()[0] + path;
            request.body_source = [calls = 0]() mutable -> Result<std::string> {
                if (calls++ == 0) return std::string("half");
                return internal("the file is gone");
            };
            if (has_length) request.body_length = 8;
            CHECK(client.send(request).error().message == "the file is gone");
        }
    CHECK(eventually([&] { return broken == 2 && server->counts().connections_open == 0; }));
    CHECK(whole == 0);
}

namespace {

enum class Goodbye { proper, none, reset }; // none: without TLS' close_notify

// Sends bytes that end with the connection to one request, and ends it as the test requires.
class AbruptServer {
public:
    AbruptServer(std::shared_ptr<const TlsContext> tls, Goodbye goodbye) {
        BoundSocket bound = listen_on("127.0.0.1:0").value();
        address = bound.address;
        m_thread = std::thread([tls, goodbye, listener = std::make_shared<Fd>(std::move(bound.descriptor))] {
            pollfd poll{listener->get(), POLLIN, 0};
            ::poll(&poll, 1, 30'000);
            Socket socket(std::move(accept_one(listener->get()).value().descriptor));
            if (tls) socket.start_tls(tls->accept(socket.descriptor()).value());
            const auto again = [&](Io state) {
                pollfd ready{socket.descriptor(), static_cast<short>(state == Io::want_write ? POLLOUT : POLLIN), 0};
                return (state == Io::want_read || state == Io::want_write) && ::poll(&ready, 1, 30'000) == 1;
            };
            while (again(socket.handshake())) {
            }
            std::array<char, 4096> bytes;
            while (again(socket.read(bytes).state)) {
            }
            constexpr std::string_view answer = "HTTP/1.1 200 OK\r\n\r\nhalf";
            socket.write(std::array{answer});
            if (goodbye == Goodbye::reset) socket.set_reset_on_close(true);
            if (goodbye != Goodbye::none) socket.close();
        });
    }
    ~AbruptServer() { m_thread.join(); }
    std::string address;

private:
    std::thread m_thread;
};

} // namespace

TEST_CASE("the client takes a body without a length only with a proper end of its connection") {
    TestAuthority authority;
    const CertificateFiles files = authority.issue("good", "DNS:localhost,IP:127.0.0.1");
    const auto tls = TlsContext::for_server(files.certificate, files.key).value();
    ClientOptions trusting;
    trusting.ca_file = authority.ca_file();
    HttpClient client(trusting);
    for (const bool secure : {false, true})
        for (const Goodbye goodbye : {Goodbye::proper, Goodbye::none, Goodbye::reset}) {
            const bool properly = goodbye == Goodbye::proper || (goodbye == Goodbye::none && !secure);
            CAPTURE(secure);
            CAPTURE(static_cast<int>(goodbye));
            AbruptServer server(secure ? tls : nullptr, goodbye);
            ClientRequest request;
            request.url = (secure ? "https://" : "http://") + server.address;
            const auto response = client.send(request);
            REQUIRE(response.ok() == properly);
            if (properly)
                CHECK(response.value().body == "half");
            else
                CHECK(response.error().code == Code::unavailable);
        }
}
