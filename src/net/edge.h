// One edge thread: its loop, its connections, their deadlines. Accepted sockets come from the first edge, which owns
// the listeners. Everything runs on the edge's own thread but post(), notify() and the atomic counters.
#pragma once

#include "base/mutex.h"
#include "base/time.h"
#include "net/connection.h"
#include "net/lane.h"
#include "net/loop.h"
#include "net/server.h"
#include "net/socket.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hone::net {

// Counters of one server; written by its edges and lanes.
struct ServerTotals {
    std::atomic<uint64_t> accepted{0}, refused{0}, open{0}, requests{0}, bad{0}, busy{0}, abandoned{0},
        event_streams{0}, events_cut{0}, bytes_in{0}, bytes_out{0}, body_memory{0};
};

// How many connections there are, in all and per peer. Thread-safe.
class ConnectionCounts {
public:
    ConnectionCounts(size_t limit, size_t limit_per_peer) : m_limit(limit), m_limit_per_peer(limit_per_peer) {}
    bool enter(const std::string& peer);
    void leave(const std::string& peer);
    // True when all are closed before the deadline.
    bool wait_until_empty(Duration timeout);

private:
    const size_t m_limit;
    const size_t m_limit_per_peer;
    Mutex m_mutex;
    Condition m_changed;
    size_t m_count GUARDED_BY(m_mutex) = 0;
    std::unordered_map<std::string, size_t> m_peers GUARDED_BY(m_mutex);
};

// What all edges of a server share; owned by the server, outlives them.
struct Shared {
    Shared(const ServerLimits& server_limits, Handler& server_handler, const Clock& wall_clock)
        : limits(server_limits),
          handler(server_handler),
          clock(wall_clock),
          connection_counts(server_limits.max_connections, server_limits.max_connections_per_peer) {}
    const ServerLimits limits;
    Handler& handler;
    const Clock& clock; // wall time for ids and Date; deadlines use the steady clock of the machine
    ConnectionCounts connection_counts;
    ServerTotals totals;
    std::array<std::unique_ptr<LanePool>, lane_count> lanes;
    LanePool& lane(Lane which) { return *lanes[static_cast<size_t>(which)]; }
};

class Edge final : public LoopClient {
public:
    explicit Edge(Shared& shared);
    ~Edge() override;

    // Any thread.
    void post(std::function<void()> work) { m_loop->post(std::move(work)); }
    void post_response(uint64_t id, PreparedResponse prepared);
    void notify(uint64_t id);

    // The edge's thread runs this until stop().
    void run() { m_loop->run(); }
    void stop() { m_loop->stop(); }

    // On the edge's thread.
    void adopt(Socket socket, std::string peer);
    void drain();
    void cut(); // ends all connections
    void on_ready(uint64_t token, Ready ready) override;
    void on_timer() override;

    // For connections.
    Shared& shared() { return m_shared; }
    const ServerLimits& limits() const { return m_shared.limits; }
    Loop& loop() { return *m_loop; }
    bool is_draining() const { return m_draining; }
    std::span<char> scratch() { return m_scratch; }
    Duration now() const { return m_steady.steady(); }
    std::string_view date();
    void schedule(uint64_t id, Connection& connection);
    void retire(uint64_t id);

    // For the listeners, which live on one edge: calls back when `descriptor` is readable.
    void watch_listener(int descriptor, std::function<void()> callback);
    void drop_listeners();

private:
    template <class Work>
    void with(uint64_t id, const Work& work);
    void arm_timer();

    struct Listener {
        std::unique_ptr<Watch> watch;
        std::function<void()> callback;
    };

    Shared& m_shared;
    SystemClock m_steady;
    std::unique_ptr<Loop> m_loop;
    std::vector<char> m_scratch;
    std::vector<Listener> m_listeners; // tokens are their index
    uint64_t m_next_id = 1024;         // tokens below belong to listeners
    std::unordered_map<uint64_t, std::unique_ptr<Connection>> m_connections;
    std::vector<std::unique_ptr<Connection>> m_retired; // freed when their callback is over
    std::map<int64_t, std::vector<uint64_t>> m_wheel;   // coarse tick → connections to check
    int64_t m_armed_tick = 0;
    bool m_draining = false;
    int64_t m_date_second = -1;
    std::string m_date;
};

} // namespace hone::net
