#include "broker/wire/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone::broker {

namespace {

Error failure(const net::Socket& socket, std::string_view what) {
    const std::string problem = socket.problem();
    return unavailable(std::string(what) + " failed" + (problem.empty() ? "" : ": " + problem));
}

} // namespace

int Deadline::milliseconds_left() const {
    const Duration left = m_at - SystemClock().steady();
    if (left <= Duration::zero()) return 0;
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::min<int64_t>(rounded, INT_MAX));
}

Cancel::Cancel() : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK_OR_ABORT(m_event.is_open());
}

void Cancel::fire() {
    m_fired = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(m_event.get(), &one, sizeof one);
}

Result<> wait_any(std::span<pollfd> descriptors, const Cancel& cancel, Deadline deadline) {
    constexpr size_t most = 4;
    CHECK_OR_ABORT(descriptors.size() < most);
    std::array<pollfd, most> polled{};
    std::copy(descriptors.begin(), descriptors.end(), polled.begin());
    polled[descriptors.size()] = {cancel.descriptor(), POLLIN, 0};
    for (;;) {
        const int ready = ::poll(polled.data(), descriptors.size() + 1, deadline.milliseconds_left());
        if (cancel.fired()) return conflict("the run has ended");
        if (ready < 0 && errno != EINTR) return system_error("poll", errno);
        if (ready > 0) break;
        if (deadline.passed()) return busy("the peer timed out");
    }
    std::copy(polled.begin(), polled.begin() + static_cast<std::ptrdiff_t>(descriptors.size()), descriptors.begin());
    return {};
}

Result<> Channel::wait(short events, Deadline deadline) const {
    pollfd polled{m_socket.descriptor(), events, 0};
    return wait_any({&polled, 1}, *m_cancel, deadline);
}

// After a step that made no progress: waits for what it needs, or returns why it cannot continue.
Result<> Channel::settle(net::Io state, Deadline deadline, std::string_view what) const {
    switch (state) {
    case net::Io::done:
        return {};
    case net::Io::want_read:
        return wait(POLLIN, deadline);
    case net::Io::want_write:
        return wait(POLLOUT, deadline);
    case net::Io::closed:
        return unavailable(std::string(what) + " failed: the other side closed the connection");
    case net::Io::failed:
        break;
    }
    return failure(m_socket, what);
}

Result<> Channel::start_tls(std::unique_ptr<net::TlsSession> session, Deadline deadline) {
    if (!m_buffer.empty()) return invalid("bytes before the TLS handshake");
    m_socket.start_tls(std::move(session));
    for (;;) {
        const net::Io state = m_socket.handshake();
        if (state == net::Io::done) return {};
        TRY(settle(state, deadline, "TLS handshake"));
    }
}

Result<bool> Channel::fill(Deadline deadline, size_t limit) {
    const size_t before = m_buffer.size();
    m_buffer.resize(before + limit);
    for (;;) {
        const net::IoStep step = m_socket.read({m_buffer.data() + before, limit});
        m_buffer.resize(before + step.bytes);
        if (step.state == net::Io::done) return true;
        if (step.state == net::Io::closed) return false;
        TRY(settle(step.state, deadline, "reading"));
        m_buffer.resize(before + limit);
    }
}

Result<size_t> Channel::read(std::span<char> into, Deadline deadline) {
    for (;;) {
        const net::IoStep step = try_read(into);
        if (step.state == net::Io::done) return step.bytes;
        if (step.state == net::Io::closed) return size_t{0};
        TRY(settle(step.state, deadline, "reading"));
    }
}

Result<> Channel::write(std::string_view bytes, Deadline deadline) {
    while (!bytes.empty()) {
        const net::IoStep step = try_write(bytes);
        if (step.state == net::Io::done)
            bytes.remove_prefix(step.bytes);
        else
            TRY(settle(step.state, deadline, "writing"));
    }
    return {};
}

Result<> Channel::write_all(std::span<std::string_view> pieces, Deadline deadline) {
    while (!pieces.empty()) {
        if (pieces.front().empty()) {
            pieces = pieces.subspan(1);
            continue;
        }
        const net::IoStep step = m_socket.write(pieces);
        if (step.state != net::Io::done) {
            TRY(settle(step.state, deadline, "writing"));
            continue;
        }
        for (size_t left = step.bytes; left > 0;) {
            const size_t taken = std::min(left, pieces.front().size());
            pieces.front().remove_prefix(taken);
            left -= taken;
            if (pieces.front().empty()) pieces = pieces.subspan(1);
        }
    }
    return {};
}

net::IoStep Channel::try_read(std::span<char> into) {
    if (m_buffer.empty()) return m_socket.read(into);
    const size_t take = std::min(into.size(), m_buffer.size());
    std::memcpy(into.data(), m_buffer.data(), take);
    m_buffer.erase(0, take);
    return {net::Io::done, take};
}

net::IoStep Channel::try_write(std::string_view bytes) {
    return m_socket.write({&bytes, 1});
}

bool Channel::is_stale() {
    if (!m_buffer.empty() || !m_socket.is_open()) return true;
    char byte = 0;
    const net::IoStep step = m_socket.read({&byte, 1});
    return step.state != net::Io::want_read;
}

} // namespace hone::broker
