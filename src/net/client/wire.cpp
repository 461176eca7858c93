#include "net/client/wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <span>

namespace hone::net {

namespace {

constexpr size_t read_bytes = 64 << 10;

Duration steady_now() {
    return SystemClock().steady();
}

} // namespace

Result<> Wire::wait(short events, Duration limit, const Timeouts& timeouts) {
    const Duration until = steady_now() + limit;
    for (;;) {
        Duration left = until - steady_now();
        if (timeouts.total_until) left = std::min(left, *timeouts.total_until - steady_now());
        if (left.count() <= 0) return busy("timed out waiting for " + m_name);
        std::array<pollfd, 2> polls{pollfd{m_socket.descriptor(), events, 0},
                                    pollfd{timeouts.cancel ? timeouts.cancel->descriptor() : -1, POLLIN, 0}};
        const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
        const int ready =
            ::poll(polls.data(), polls.size(), static_cast<int>(std::min<int64_t>(milliseconds, 1 << 30)));
        if (ready < 0 && errno != EINTR) return system_error("poll", errno);
        if (ready > 0 && polls[1].revents != 0) return conflict("the request was cancelled");
        if (ready > 0 && polls[0].revents != 0) return {};
    }
}

Result<std::unique_ptr<Wire>> Wire::dial(const std::vector<Endpoint>& endpoints, const Timeouts& timeouts) {
    Error last = unavailable("no address to connect to");
    for (const Endpoint& endpoint : endpoints) {
        Result<Fd> descriptor = start_connect(endpoint);
        if (!descriptor.ok()) {
            last = std::move(descriptor).error();
            continue;
        }
        std::unique_ptr<Wire> wire(new Wire(Socket(std::move(descriptor).value()), endpoint.text));
        Result<> waited = wire->wait(POLLOUT, timeouts.connect, timeouts);
        if (!waited.ok() && waited.error().code == Code::conflict) return std::move(waited).error();
        Result<> connected =
            waited.ok() ? connect_outcome(wire->m_socket.descriptor(), endpoint.text) : std::move(waited);
        if (connected.ok()) return wire;
        last = std::move(connected).error();
    }
    return last;
}

Result<> Wire::start_tls(const TlsContext& context, const std::string& host, const Timeouts& timeouts) {
    m_socket.start_tls(TRY(context.connect(m_socket.descriptor(), host)));
    m_name = host;
    for (;;) {
        const Io state = m_socket.handshake();
        if (state == Io::done) return {};
        if (state == Io::closed || state == Io::failed)
            return unavailable("no secure connection to " + host + ": " + m_socket.problem());
        TRY(wait(state == Io::want_read ? POLLIN : POLLOUT, timeouts.connect, timeouts));
    }
}

Result<> Wire::send(std::string_view bytes, const Timeouts& timeouts) {
    while (!bytes.empty() && !has_early_response()) {
        const IoStep step = m_socket.write(std::array{bytes});
        if (step.state == Io::done) {
            bytes.remove_prefix(step.bytes);
        } else if (step.state == Io::want_read || step.state == Io::want_write) {
            // A server that rejects an upload responds before it has read it all.
            TRY(wait(POLLIN | POLLOUT, timeouts.idle, timeouts));
            TRY(check_for_response());
        } else {
            const std::string problem = m_socket.problem();
            TRY(check_for_response());
            if (!has_early_response()) return unavailable("cannot send to " + m_name + ": " + problem);
        }
    }
    return {};
}

bool Wire::has_early_response() const {
    return m_input.size() >= 10 && !m_input.starts_with("HTTP/1.1 1");
}

// Takes what is there without waiting. The end of the connection is left to the reader of the response.
Result<> Wire::check_for_response() {
    std::array<char, 4096> bytes;
    const IoStep step = m_socket.read(bytes);
    if (step.state == Io::done) m_input.append(bytes.data(), step.bytes);
    return {};
}

Result<bool> Wire::receive(const Timeouts& timeouts) {
    const size_t before = m_input.size();
    m_input.resize(before + read_bytes);
    for (;;) {
        const IoStep step = m_socket.read(std::span(m_input).subspan(before));
        m_input.resize(before + (step.state == Io::done ? step.bytes : 0));
        if (step.state == Io::done) return true;
        if (step.state == Io::closed) return false;
        if (step.state == Io::failed)
            return unavailable("the connection to " + m_name + " broke: " + m_socket.problem());
        TRY(wait(step.state == Io::want_read ? POLLIN : POLLOUT, timeouts.idle, timeouts));
        m_input.resize(before + read_bytes);
    }
}

// TLS tickets may arrive at any time; they are read here and leave nothing behind.
bool Wire::is_quiet() {
    std::array<char, 64> bytes;
    return m_input.empty() && m_socket.read(bytes).state == Io::want_read;
}

} // namespace hone::net
