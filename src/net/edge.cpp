#include "net/edge.h"

#include "base/log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

namespace hone::net {

namespace {

constexpr size_t scratch_bytes = 64 << 10;
constexpr Duration tick = std::chrono::milliseconds(20); // deadlines are kept this roughly

} // namespace

bool ConnectionCounts::enter(const std::string& peer) {
    const Lock lock(m_mutex);
    if (m_count >= m_limit) return false;
    if (m_limit_per_peer > 0) {
        size_t& count = m_peers[peer];
        if (count >= m_limit_per_peer) return false;
        ++count;
    }
    ++m_count;
    return true;
}

void ConnectionCounts::leave(const std::string& peer) {
    {
        const Lock lock(m_mutex);
        --m_count;
        if (const auto found = m_peers.find(peer); found != m_peers.end() && --found->second == 0) m_peers.erase(found);
        if (m_count > 0) return;
    }
    m_changed.notify_all();
}

bool ConnectionCounts::wait_until_empty(Duration timeout) {
    const auto until = std::chrono::steady_clock::now() + timeout;
    const Lock lock(m_mutex);
    while (m_count > 0)
        if (m_changed.wait_until(m_mutex, until) == std::cv_status::timeout) return m_count == 0;
    return true;
}

Edge::Edge(Shared& shared) : m_shared(shared), m_loop(Loop::create(*this)), m_scratch(scratch_bytes) {}
Edge::~Edge() = default;

template <class Work>
void Edge::with(uint64_t id, const Work& work) {
    if (const auto found = m_connections.find(id); found != m_connections.end()) work(*found->second);
    m_retired.clear();
}

void Edge::post_response(uint64_t id, PreparedResponse prepared) {
    post([this, id,
          held = std::make_shared<PreparedResponse>(std::move(prepared))] { // shared only because functions are copied
        const auto found = m_connections.find(id);
        if (found == m_connections.end()) {
            if (held->response_buffer) held->response_buffer->close();
            return;
        }
        found->second->on_response(std::move(*held));
        m_retired.clear();
    });
}

void Edge::notify(uint64_t id) {
    post([this, id] { with(id, [](Connection& connection) { connection.on_notify(); }); });
}

void Edge::adopt(Socket socket, std::string peer) {
    const uint64_t id = m_next_id++;
    ++m_shared.totals.open;
    auto& place = m_connections[id];
    place = std::make_unique<Connection>(*this, id, std::move(socket), std::move(peer));
    Connection& connection = *place;
    connection.start();
    if (m_draining) with(id, [](Connection& late) { late.drain(); });
    m_retired.clear();
}

void Edge::retire(uint64_t id) {
    const auto found = m_connections.find(id);
    CHECK_OR_ABORT(found != m_connections.end());
    --m_shared.totals.open;
    m_shared.connection_counts.leave(
        found->second->peer()); // after the count: a thread that waits for the last one may read it
    m_retired.push_back(std::move(found->second));
    m_connections.erase(found);
}

void Edge::drain() {
    m_draining = true;
    std::vector<uint64_t> ids;
    ids.reserve(m_connections.size());
    for (const auto& [id, connection] : m_connections) ids.push_back(id);
    for (const uint64_t id : ids) with(id, [](Connection& connection) { connection.drain(); });
}

void Edge::cut() {
    m_draining = true;
    std::vector<uint64_t> ids;
    for (const auto& [id, connection] : m_connections) ids.push_back(id);
    for (const uint64_t id : ids) with(id, [](Connection& connection) { connection.close(); });
}

void Edge::on_ready(uint64_t token, Ready ready) {
    if (token < m_listeners.size()) {
        Listener& listener = m_listeners[token];
        listener.callback();
        if (listener.watch) listener.watch->wait(Ready::read);
        return;
    }
    with(token, [&](Connection& connection) { connection.on_ready(ready); });
}

void Edge::watch_listener(int descriptor, std::function<void()> callback) {
    m_listeners.push_back({m_loop->watch(descriptor, m_listeners.size()), std::move(callback)});
    m_listeners.back().watch->wait(Ready::read);
}

void Edge::drop_listeners() {
    for (Listener& listener : m_listeners) listener.watch.reset();
}

// Deadlines mostly move later, so the wheel is lazy: a connection stays where it is and is put further on only when
// its tick comes and its deadline has moved.
void Edge::schedule(uint64_t id, Connection& connection) {
    if (connection.deadline().count() == 0) return;
    const int64_t due = connection.deadline() / tick + 1;
    if (connection.scheduled_tick != 0 && connection.scheduled_tick <= due) return;
    connection.scheduled_tick = due;
    m_wheel[due].push_back(id);
    arm_timer();
}

void Edge::arm_timer() {
    if (m_wheel.empty()) return;
    const int64_t first = m_wheel.begin()->first;
    if (m_armed_tick != 0 && m_armed_tick <= first) return;
    m_armed_tick = first;
    m_loop->set_timer(std::max<Duration>(first * tick - now(), Duration{}));
}

void Edge::on_timer() {
    m_armed_tick = 0;
    const Duration current = now();
    while (!m_wheel.empty() && m_wheel.begin()->first * tick <= current) {
        const auto entry = m_wheel.extract(m_wheel.begin());
        for (const uint64_t id : entry.mapped())
            with(id, [&](Connection& connection) {
                if (connection.scheduled_tick != entry.key()) return; // an entry that a nearer one replaced
                connection.scheduled_tick = 0;
                const Duration deadline = connection.deadline();
                if (deadline.count() != 0 && deadline <= current)
                    connection.on_deadline();
                else
                    schedule(id, connection);
            });
    }
    arm_timer();
}

// "Date: Sun, 06 Nov 1994 08:49:37 GMT", made once a second.
std::string_view Edge::date() {
    const int64_t second = to_ns(m_shared.clock.now()) / 1'000'000'000;
    if (second != m_date_second) {
        constexpr std::array<const char*, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
        constexpr std::array<const char*, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
        const time_t seconds = static_cast<time_t>(second);
        tm parts{};
        gmtime_r(&seconds, &parts);
        std::array<char, 64> text{};
        std::snprintf(text.data(), text.size(), "Date: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n",
                      days[static_cast<size_t>(parts.tm_wday)], parts.tm_mday,
                      months[static_cast<size_t>(parts.tm_mon)], parts.tm_year + 1900, parts.tm_hour, parts.tm_min,
                      parts.tm_sec);
        m_date = text.data();
        m_date_second = second;
    }
    return m_date;
}

} // namespace hone::net
