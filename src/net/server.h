// The HTTP/1.1 edge: one or two threads that accept, parse, time out and write, and bounded pools of ordinary threads
// (lanes) behind them where handlers may block. server/ builds one; api/ implements Handler.
// Server's own functions may be called from any thread, except from inside a handler or callback.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "net/http/http.h"
#include "net/trusted_proxies.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hone::net {

// Each lane has its own threads and its own queue, so that a flood of one kind of work leaves the others alive.
enum class Lane { control, query, ingest };
inline constexpr size_t lane_count = 3;

// What shall happen with a request whose header section is in.
struct Plan {
    std::optional<Response> response; // set: sent now, on the edge thread (health, rejections); whole bodies only
    Lane lane = Lane::control;
    std::optional<size_t> body_limit; // bytes; absent: the server's default; more is 413
    bool stream_body = false;         // start handle() before the body is in; it pulls from body_stream
    // What the edge itself refuses later (too large, busy, too slow) in the form the sender understands; absent: ours.
    std::function<Response(Response)> refusal;
    bool waits = false; // for its lane, however long its queue is
};

class Handler {
public:
    virtual ~Handler() = default;
    // On an edge thread: decide, do not block.
    virtual Plan plan(const RequestHead& head) = 0;
    // On a thread of the plan's lane: may block. What it throws becomes a 500 and a log line.
    virtual Response handle(Request&& request) = 0;
};

struct LaneOptions {
    unsigned threads = 4;
    size_t queue = 256; // requests that wait for a thread; one more is a 503 with Retry-After
};

struct ListenAddress {
    std::string address; // "127.0.0.1:7070", "[::]:0", "localhost:80"; port 0 picks a free one
    // PEM files; both set: this listener accepts TLS 1.2 or newer and nothing else.
    std::string certificate_file;
    std::string key_file;
};

struct ServerLimits {
    size_t header_bytes = 64 << 10; // request line and all fields; more is 431
    size_t header_count = 100;      // fields; more is 431
    size_t target_bytes = 16 << 10; // more is 414
    size_t body_bytes = 16 << 20;   // when the plan does not say; more is 413
    // Bodies held in memory by all requests together; more is 503. Guards against many large uploads at the same time.
    size_t body_memory = 512 << 20;
    size_t event_buffer = 1 << 20;           // bytes that one event stream may be behind before it is cut
    size_t max_connections = 20000;          // more get 503 and are closed
    size_t max_connections_per_peer = 0;     // per ip address; 0: no limit of its own (many sit behind one proxy)
    Duration header_timeout{10'000'000'000}; // from its first byte to the end of the header; also the TLS handshake
    Duration body_timeout{30'000'000'000};   // time spent waiting for a body, plus a second per body_rate bytes
    size_t body_rate = 1024;                 // bytes per second that even a slow client must send
    Duration write_timeout{30'000'000'000};  // without any progress
    Duration idle_timeout{75'000'000'000};   // without a byte between requests, and before the first
    Duration linger_timeout{2'000'000'000};  // how long to read after an early response
    Duration heartbeat{15'000'000'000};      // comment on a silent event stream
    TrustedProxies trusted_proxies{};        // whose header about the client's address and https is trusted
};

struct ServerOptions {
    std::vector<ListenAddress> listen;
    unsigned edge_threads = 2;
    std::array<LaneOptions, lane_count> lanes{LaneOptions{4, 256}, LaneOptions{4, 256}, LaneOptions{4, 512}};
    ServerLimits limits;
    const Clock* clock = nullptr; // must outlive the server; absent: the system's
};

// Counters since start, and what is there now. For /metrics.
struct ServerCounts {
    uint64_t connections_accepted = 0;
    uint64_t connections_refused = 0; // over a connection limit
    uint64_t connections_open = 0;
    uint64_t requests = 0;           // whose header section was understood
    uint64_t requests_bad = 0;       // 4xx sent by the edge itself
    uint64_t requests_busy = 0;      // 503 sent by the edge itself
    uint64_t requests_abandoned = 0; // queries whose client disconnected
    uint64_t event_streams = 0;      // open
    uint64_t events_cut = 0;         // followers that did not keep up
    uint64_t bytes_in = 0;
    uint64_t bytes_out = 0;
    uint64_t body_memory = 0; // bytes of request bodies in memory
    struct LaneCounts {
        uint64_t queued = 0;
        uint64_t running = 0;
    };
    std::array<LaneCounts, lane_count> lanes;
};

class Server {
public:
    // Binds, starts the threads, accepts. The handler must outlive the server.
    static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler& handler);

    Server() = default;
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    // Stops now: open connections are cut, running handlers are waited for (their streams fail, so they return).
    virtual ~Server() = default;

    // What was bound, in the order of `listen`: "127.0.0.1:43121".
    virtual std::vector<std::string> addresses() const = 0;
    // Reads the certificate files again; new connections use them. An error leaves the old ones in use.
    virtual Result<> reload_tls() = 0;
    // Stops accepting, responds to every request that has arrived, ends idle connections and event streams. True when
    // all connections were over within `timeout`. Afterwards the server only waits to be destroyed.
    virtual bool drain(Duration timeout) = 0;
    virtual ServerCounts counts() const = 0;
};

} // namespace hone::net
