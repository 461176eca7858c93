#include "net/server.h"

#include "base/log.h"
#include "base/mutex.h"
#include "net/edge.h"

#include <fcntl.h>
#include <thread>

namespace hone::net {

namespace {

constexpr int accepts_per_turn = 64; // then the connections have their turn

const Clock& system_clock() {
    static const SystemClock clock;
    return clock;
}

// A listening socket with its certificate, which a reload replaces.
struct ListeningSocket {
    ListenAddress options;
    Fd descriptor;
    std::string bound;
    Mutex mutex;
    std::shared_ptr<const TlsContext> tls GUARDED_BY(mutex);

    std::shared_ptr<const TlsContext> current_tls() {
        const Lock lock(mutex);
        return tls;
    }
};

class RunningServer final : public Server {
public:
    RunningServer(ServerOptions options, Handler& handler)
        : m_options(std::move(options)),
          m_shared(m_options.limits, handler, m_options.clock ? *m_options.clock : system_clock()) {}

    ~RunningServer() override {
        on_first_edge([this] { close_doors(); });
        // Connections first: their streams fail, so that handlers which wait for them return. Then the lanes, then
        // once more what the last handlers started.
        for (auto& edge : m_edges) edge->post([edge = edge.get()] { edge->cut(); });
        for (auto& lane : m_shared.lanes)
            if (lane) lane->stop();
        for (auto& edge : m_edges)
            edge->post([edge = edge.get()] {
                edge->cut();
                edge->stop();
            });
        for (std::thread& thread : m_threads) thread.join();
    }

    Result<> open() {
        for (const ListenAddress& listen : m_options.listen) {
            auto listening = std::make_unique<ListeningSocket>();
            listening->options = listen;
            BoundSocket bound = TRY(listen_on(listen.address));
            listening->descriptor = std::move(bound.descriptor);
            listening->bound = std::move(bound.address);
            TRY(load_tls(*listening));
            m_listening_sockets.push_back(std::move(listening));
        }
        m_spare = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        for (size_t i = 0; i < lane_count; ++i) m_shared.lanes[i] = std::make_unique<LanePool>(m_options.lanes[i]);
        for (unsigned i = 0; i < std::max(1u, m_options.edge_threads); ++i)
            m_edges.push_back(std::make_unique<Edge>(m_shared));
        for (auto& listening : m_listening_sockets)
            m_edges[0]->watch_listener(listening->descriptor.get(), [this, listening = listening.get()] {
                accept_some(*listening, accepts_per_turn);
            });
        for (auto& edge : m_edges) m_threads.emplace_back([edge = edge.get()] { edge->run(); });
        return {};
    }

    std::vector<std::string> addresses() const override {
        std::vector<std::string> all;
        for (const auto& listening : m_listening_sockets) all.push_back(listening->bound);
        return all;
    }

    Result<> reload_tls() override {
        for (auto& listening : m_listening_sockets) TRY(load_tls(*listening));
        return {};
    }

    bool drain(Duration timeout) override {
        on_first_edge([this] {
            // Clients that have connected get a response; new connections are refused.
            for (auto& listening : m_listening_sockets) accept_some(*listening, 1 << 16);
            close_doors();
            for (auto& edge : m_edges) edge->post([edge = edge.get()] { edge->drain(); });
        });
        return m_shared.connection_counts.wait_until_empty(timeout);
    }

    ServerCounts counts() const override {
        const ServerTotals& totals = m_shared.totals;
        ServerCounts counts;
        counts.connections_accepted = totals.accepted;
        counts.connections_refused = totals.refused;
        counts.connections_open = totals.open;
        counts.requests = totals.requests;
        counts.requests_bad = totals.bad;
        counts.requests_busy = totals.busy;
        counts.requests_abandoned = totals.abandoned;
        counts.event_streams = totals.event_streams;
        counts.events_cut = totals.events_cut;
        counts.bytes_in = totals.bytes_in;
        counts.bytes_out = totals.bytes_out;
        counts.body_memory = totals.body_memory;
        for (size_t i = 0; i < lane_count; ++i) counts.lanes[i] = m_shared.lanes[i]->counts();
        return counts;
    }

private:
    Result<> load_tls(ListeningSocket& listening) {
        if (listening.options.certificate_file.empty() && listening.options.key_file.empty()) return {};
        auto context = TRY(TlsContext::for_server(listening.options.certificate_file, listening.options.key_file));
        const Lock lock(listening.mutex);
        listening.tls = std::move(context);
        return {};
    }

    // Runs on the first edge's thread, which owns the doors, and waits for it.
    void on_first_edge(const std::function<void()>& work) {
        if (m_threads.empty()) return;
        Mutex mutex;
        Condition changed;
        bool done = false;
        m_edges[0]->post([&] {
            work();
            const Lock lock(mutex);
            done = true;
            changed.notify_one(); // under the lock: the waiter's objects die when it wakes
        });
        const Lock lock(mutex);
        while (!done) changed.wait(mutex);
    }

    void close_doors() {
        m_edges[0]->drop_listeners();
        for (auto& listening : m_listening_sockets) listening->descriptor.reset();
    }

    void accept_some(ListeningSocket& listening, int most) {
        for (int i = 0; i < most && listening.descriptor.is_open(); ++i) {
            Result<Accepted> accepted = accept_one(listening.descriptor.get());
            if (!accepted.ok()) return turn_away(listening);
            if (!accepted.value().descriptor.is_open()) return;
            ++m_shared.totals.accepted;
            welcome(listening, std::move(accepted).value());
        }
    }

    // No descriptor is left. The spare one is released for a moment, so that the waiting client gets a close instead
    // of waiting while the listener spins.
    void turn_away(ListeningSocket& listening) {
        log(Level::warning, "no descriptor left for a connection", {{"open", m_shared.totals.open.load()}});
        ++m_shared.totals.refused;
        m_spare.reset();
        if (Result<Accepted> accepted = accept_one(listening.descriptor.get()); accepted.ok())
            accepted.value().descriptor.reset();
        m_spare = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }

    void welcome(ListeningSocket& listening, Accepted&& accepted) {
        const std::shared_ptr<const TlsContext> tls = listening.current_tls();
        if (!m_shared.connection_counts.enter(accepted.peer)) {
            ++m_shared.totals.refused;
            constexpr std::string_view full =
                "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: 70\r\n"
                "Retry-After: 1\r\nConnection: close\r\n\r\n"
                "{\"error\":{\"code\":\"unavailable\",\"message\":\"too many connections open\"}}";
            Socket socket(std::move(accepted.descriptor));
            if (!tls) socket.write(std::array{full});
            return;
        }
        std::unique_ptr<TlsSession> session;
        if (tls) {
            Result<std::unique_ptr<TlsSession>> made = tls->accept(accepted.descriptor.get());
            if (!made.ok()) return m_shared.connection_counts.leave(accepted.peer);
            session = std::move(made).value();
        }
        Edge& edge = *m_edges[m_next_edge++ % m_edges.size()];
        auto socket =
            std::make_shared<Socket>(std::move(accepted.descriptor), std::move(session)); // functions are copied
        edge.post([&edge, socket, peer = std::move(accepted.peer)] { edge.adopt(std::move(*socket), peer); });
    }

    const ServerOptions m_options;
    Shared m_shared;
    std::vector<std::unique_ptr<ListeningSocket>> m_listening_sockets;
    std::vector<std::unique_ptr<Edge>> m_edges;
    Fd m_spare;
    size_t m_next_edge = 0;
    std::vector<std::thread> m_threads;
};

} // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler& handler) {
    auto server = std::make_unique<RunningServer>(std::move(options), handler);
    TRY(server->open());
    return std::unique_ptr<Server>(std::move(server));
}

} // namespace hone::net
