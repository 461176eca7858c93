// Streams both ways and live events, over real sockets.
#include "net/testing/raw_client.h"

#include <atomic>
#include <numeric>

using namespace hone;
using namespace hone::net;
using namespace hone::net::testing;

namespace {

// Counts as it produces, so that a test can see how far ahead of the client it ran.
class CountingSource final : public BodySource {
public:
    CountingSource(std::atomic<size_t>& produced, size_t pieces, size_t piece_size,
                   std::atomic<bool>* destroyed = nullptr)
        : m_produced(produced),
          m_pieces(pieces),
          m_piece_size(piece_size),
          m_destroyed(destroyed) {}
    ~CountingSource() override {
        if (m_destroyed) *m_destroyed = true;
    }
    Result<std::string> next() override {
        if (m_pieces == 0) return std::string();
        --m_pieces;
        m_produced += m_piece_size;
        return std::string(m_piece_size, 'x');
    }

private:
    std::atomic<size_t>& m_produced;
    size_t m_pieces;
    size_t m_piece_size;
    std::atomic<bool>* m_destroyed;
};

class FailingSource final : public BodySource {
public:
    Result<std::string> next() override {
        if (m_given++ == 0) return std::string("begin");
        return internal("disk broke");
    }

private:
    int m_given = 0;
};

struct EventServer {
    LambdaHandler handler;
    std::vector<std::shared_ptr<EventStream>> streams;
    std::vector<std::string> last_ids;
    std::mutex mutex;
    std::unique_ptr<Server> server;

    explicit EventServer(ServerOptions options = test_options()) {
        handler.on_handle = [this](Request&& request) {
            Response response;
            const std::string last_id(request.header("Last-Event-ID"));
            response.on_events = [this, last_id](std::shared_ptr<EventStream> stream) {
                const std::lock_guard lock(mutex);
                streams.push_back(std::move(stream));
                last_ids.push_back(last_id);
            };
            return response;
        };
        server = start_server(handler, options);
    }
    ~EventServer() { streams.clear(); }
    std::shared_ptr<EventStream> stream(size_t index) {
        REQUIRE(eventually([&] {
            const std::lock_guard lock(mutex);
            return streams.size() > index;
        }));
        const std::lock_guard lock(mutex);
        return streams[index];
    }
};

constexpr const char* follow = "GET /events HTTP/1.1\r\nHost: t\r\n\r\n";

} // namespace

TEST_CASE("a streamed response is chunked and complete, and the connection stays open") {
    LambdaHandler handler;
    std::atomic<size_t> produced = 0;
    handler.on_handle = [&](Request&& request) {
        Response response = text_response(200, "plain");
        if (request.path == "/stream") response.stream = std::make_unique<CountingSource>(produced, 100, 10'000);
        return response;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    RawResponse response = client.get("/stream");
    CHECK(response.headers["transfer-encoding"] == "chunked");
    CHECK(response.complete);
    CHECK(response.body.size() == 1'000'000);
    CHECK(client.get("/").body == "plain");
    client.send("GET /stream HTTP/1.0\r\n\r\n");
    response = client.read_response();
    CHECK_FALSE(response.headers.contains("transfer-encoding"));
    CHECK(response.complete);
    CHECK(response.body.size() == 1'000'000);
}

TEST_CASE("a slow download holds neither memory nor a thread") {
    LambdaHandler handler;
    std::atomic<size_t> produced = 0;
    std::atomic<bool> destroyed = false;
    constexpr size_t total = 64 << 20;
    handler.on_handle = [&](Request&& request) {
        Response response = text_response(200, "other");
        if (request.path == "/stream")
            response.stream = std::make_unique<CountingSource>(produced, total >> 16, 1 << 16, &destroyed);
        return response;
    };
    ServerOptions options = test_options();
    options.lanes[0] = {1, 16}; // one thread only: it must be free for others while the download waits
    auto server = start_server(handler, options);
    RawClient slow(server->addresses()[0], 16 << 10);
    slow.send("GET /stream HTTP/1.1\r\nHost: t\r\n\r\n");
    CHECK(eventually([&] { return produced > 0 && server->counts().lanes[0].running == 0; }));
    RawClient other(server->addresses()[0]);
    CHECK(other.get("/").body == "other");
    CHECK(produced < total / 4); // socket buffers and two outlets, not the whole
    SUBCASE("read in the end") {
        CHECK(slow.read_response().body.size() == total);
    }
    SUBCASE("abandoned") {
        slow.close();
        CHECK(eventually([&] { return destroyed.load(); }));
    }
    CHECK(eventually([&] { return destroyed.load(); }));
}

TEST_CASE("a source that fails cuts the response so that it cannot pass for complete") {
    LambdaHandler handler;
    handler.on_handle = [&](Request&&) {
        Response response;
        response.stream = std::make_unique<FailingSource>();
        return response;
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
    // The body is parsed: a search for the last chunk would also find a request id that ends with 0.
    const RawResponse response = client.read_response();
    CHECK(response.status == 200);
    CHECK_FALSE(response.complete);
    CHECK(client.was_reset());
}

TEST_CASE("a streamed request body reaches the handler piece by piece") {
    LambdaHandler handler;
    Gate first_piece;
    handler.on_plan = [](const RequestHead&) { return Plan{std::nullopt, Lane::ingest, 1 << 20, true, nullptr}; };
    handler.on_handle = [&](Request&& request) {
        std::string all;
        for (;;) {
            auto piece = request.body_stream->read();
            if (!piece.ok()) return error_response(piece.error());
            if (piece.value().empty()) break;
            all += piece.value();
            first_piece.open();
        }
        return text_response(200, all);
    };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    CHECK(first_piece.wait());
    client.send("3\r\ndef\r\n0\r\n\r\n");
    CHECK(client.read_response().body == "abcdef");
    CHECK(client.get("/").body.empty());
    // More than the plan allows, noticed on the way.
    client.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n" +
                std::string(0x100001, 'x') + "\r\n");
    RawResponse refused = client.read_response();
    CHECK(refused.status == 413);
    CHECK(refused.headers["connection"] == "close");
    RawClient broken(server->addresses()[0]);
    broken.send("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX");
    broken.send("\r\n");
    CHECK(broken.read_response().status == 400);
}

TEST_CASE("a slow reader of a body slows the sender instead of filling memory") {
    LambdaHandler handler;
    Gate gate;
    constexpr size_t total = 64 << 20;
    handler.on_plan = [&](const RequestHead&) { return Plan{std::nullopt, Lane::ingest, total, true, nullptr}; };
    handler.on_handle = [&](Request&& request) {
        gate.wait();
        size_t size = 0;
        for (auto piece = request.body_stream->read(); piece.ok() && !piece.value().empty();
             piece = request.body_stream->read())
            size += piece.value().size();
        return text_response(200, std::to_string(size));
    };
    ServerOptions options = test_options();
    options.limits.body_timeout = 1s; // the handler's own delay must not count
    auto server = start_server(handler, options);
    RawClient client(server->addresses()[0]);
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(total) + "\r\n\r\n");
    const std::string block(1 << 16, 'x');
    size_t sent = 0;
    // Sends until the kernel takes no more for longer than the time-out: the server has stopped reading.
    for (auto taken = std::chrono::steady_clock::now();
         sent < total && std::chrono::steady_clock::now() - taken < 1500ms;) {
        const size_t step = client.send_some(std::string_view(block).substr(0, std::min(block.size(), total - sent)));
        sent += step;
        if (step > 0)
            taken = std::chrono::steady_clock::now();
        else
            std::this_thread::sleep_for(1ms);
    }
    CHECK(sent < total / 2);
    CHECK(server->counts().bytes_in < (4 << 20));
    gate.open();
    while (sent < total) {
        const size_t step = std::min(block.size(), total - sent);
        REQUIRE(client.send(std::string_view(block).substr(0, step)));
        sent += step;
    }
    CHECK(client.read_response().body == std::to_string(total));
}

TEST_CASE("a handler that leaves a streamed body unread ends the connection, not the server") {
    LambdaHandler handler;
    handler.on_plan = [](const RequestHead&) { return Plan{std::nullopt, Lane::ingest, 1 << 30, true, nullptr}; };
    handler.on_handle = [](Request&&) { return text_response(403, "no thanks"); };
    auto server = start_server(handler);
    RawClient client(server->addresses()[0]);
    client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\nabc");
    RawResponse response = client.read_response();
    CHECK(response.status == 403);
    CHECK(response.headers["connection"] == "close");
    client.send(std::string(100'000, 'x')); // still swallowed for a moment, so that the response is not lost
    client.half_close();
    CHECK(client.is_ended());
}

TEST_CASE("a client that stalls or leaves in a streamed body is noticed by the handler") {
    LambdaHandler handler;
    std::mutex mutex;
    std::vector<Code> codes;
    handler.on_plan = [](const RequestHead&) { return Plan{std::nullopt, Lane::ingest, 1 << 20, true, nullptr}; };
    handler.on_handle = [&](Request&& request) {
        auto all = read_all(*request.body_stream, 1 << 20);
        const std::lock_guard lock(mutex);
        codes.push_back(all.ok() ? Code::internal : all.error().code);
        return all.ok() ? text_response(200, "") : error_response(408, "timeout", all.error().message);
    };
    ServerOptions options = test_options();
    options.limits.body_timeout = 150ms;
    auto hasty = start_server(handler, options);
    RawClient stalled(hasty->addresses()[0]);
    stalled.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
    CHECK(stalled.read_response().status == 408);
    auto patient = start_server(handler); // so that only the end of the connection can be noticed
    RawClient gone(patient->addresses()[0]);
    gone.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
    gone.close();
    CHECK(eventually([&] {
        const std::lock_guard lock(mutex);
        return codes.size() == 2;
    }));
    CHECK(codes[0] == Code::busy);
    CHECK(codes[1] == Code::unavailable);
}

TEST_CASE("events reach the follower, with resume id visible to the handler") {
    EventServer events;
    RawClient client(events.server->addresses()[0]);
    client.send("GET /events HTTP/1.1\r\nHost: t\r\nLast-Event-ID: 41\r\n\r\n");
    auto stream = events.stream(0);
    CHECK(events.last_ids[0] == "41");
    CHECK(stream->send("step", "42", "line one\nline two"));
    CHECK(stream->send("", "", "bare"));
    const std::string head = client.read_until("\r\n\r\n");
    CHECK(head.find("Content-Type: text/event-stream") != std::string::npos);
    CHECK(head.find("no-cache") != std::string::npos);
    const std::string expected = "id: 42\nevent: step\ndata: line one\ndata: line two\n\ndata: bare\n\n";
    std::string got;
    while (got.size() < expected.size()) got += client.read_chunk();
    CHECK(got == expected);
    CHECK(events.server->counts().event_streams == 1);
    stream->close();
    CHECK(client.read_chunk().empty());
    CHECK(eventually([&] { return events.server->counts().event_streams == 0; }));
    CHECK_FALSE(stream->send("late", "43", "x"));
    client.send(follow); // the same connection again
    CHECK(events.stream(1)->is_open());
}

TEST_CASE("a silent event stream has a heartbeat") {
    ServerOptions options = test_options();
    options.limits.heartbeat = 50ms;
    EventServer events(options);
    RawClient client(events.server->addresses()[0]);
    client.send(follow);
    client.read_until("\r\n\r\n");
    CHECK(client.read_chunk() == ":\n\n");
    CHECK(client.read_chunk() == ":\n\n");
    events.stream(0)->send("", "1", "x");
    std::string chunk = client.read_chunk();
    while (chunk == ":\n\n") chunk = client.read_chunk();
    CHECK(chunk == "id: 1\ndata: x\n\n");
    CHECK(client.read_chunk() == ":\n\n");
}

TEST_CASE("a follower that does not keep up is cut, others are not") {
    ServerOptions options = test_options();
    options.limits.event_buffer = 64 << 10;
    EventServer events(options);
    RawClient slow(events.server->addresses()[0], 4096), fast(events.server->addresses()[0]);
    slow.send(follow);
    auto slow_stream = events.stream(0);
    fast.send(follow);
    auto fast_stream = events.stream(1);
    std::atomic<bool> closed = false;
    slow_stream->on_close([&] { closed = true; });
    const std::string data(10'000, 'x');
    size_t sent = 0;
    while (slow_stream->send("", std::to_string(sent), data) && sent < 100'000) ++sent;
    CHECK(sent < 100'000);
    CHECK_FALSE(slow_stream->is_open());
    CHECK(eventually([&] { return closed.load(); }));
    CHECK(events.server->counts().events_cut == 1);
    CHECK(fast_stream->send("", "7", "still here"));
    fast.read_until("\r\n\r\n");
    CHECK(fast.read_chunk() == "id: 7\ndata: still here\n\n");
}

TEST_CASE("a follower that leaves is noticed without anything being sent") {
    EventServer events;
    auto client = std::make_unique<RawClient>(events.server->addresses()[0]);
    client->send(follow);
    auto stream = events.stream(0);
    Gate closed;
    stream->on_close([&] { closed.open(); });
    client.reset();
    CHECK(closed.wait());
    CHECK_FALSE(stream->is_open());
    CHECK_FALSE(stream->send("", "1", "x"));
    bool at_once = false;
    stream->on_close([&] { at_once = true; });
    CHECK(at_once);
}

TEST_CASE("many threads can send events at the same time and none is torn") {
    EventServer events;
    RawClient client(events.server->addresses()[0]);
    client.send(follow);
    auto stream = events.stream(0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 250; ++i) CHECK(stream->send("e", "", std::string(20, 'y')));
        });
    for (auto& thread : threads) thread.join();
    stream->close();
    const std::string event = "event: e\ndata: " + std::string(20, 'y') + "\n\n";
    std::string expected;
    for (int i = 0; i < 1000; ++i) expected += event;
    CHECK(client.read_response().body == expected);
}
