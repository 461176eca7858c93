#include "broker/egress/tunnel.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hone::broker {

namespace {

constexpr size_t pipe_bytes = 256 << 10;

// One direction: socket -> pipe -> socket.
struct Flow {
    int from;
    int to;
    Fd pipe_out, pipe_in;
    size_t inside = 0; // bytes in the pipe
    bool ended = false;
    bool closed = false; // the end has been passed on
    int64_t total = 0;
    int64_t cap = 0;
};

Result<> open_pipe(Flow& flow) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) return system_error("pipe", errno);
    flow.pipe_out = Fd(ends[0]);
    flow.pipe_in = Fd(ends[1]);
    ::fcntl(ends[1], F_SETPIPE_SZ, pipe_bytes); // may fail: an ordinary user has a limit
    return {};
}

// True when something moved.
Result<bool> take_in(AttachedRun& attached, Flow& flow) {
    if (flow.ended || flow.inside > 0) return false;
    const ssize_t moved =
        ::splice(flow.from, nullptr, flow.pipe_in.get(), nullptr, pipe_bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved < 0) {
        if (errno == EAGAIN || errno == EINTR) return false;
        return unavailable(std::string("the connection broke: ") + std::strerror(errno));
    }
    if (moved == 0) {
        flow.ended = true;
        return true;
    }
    flow.inside += static_cast<size_t>(moved);
    flow.total += moved;
    if (flow.total > flow.cap) return too_large("the connection exceeded the run's limit of bytes");
    TRY(attached.count_bytes(moved));
    return true;
}

Result<bool> give_out(Flow& flow) {
    if (flow.inside == 0) {
        if (!flow.ended || flow.closed) return false;
        ::shutdown(flow.to, SHUT_WR);
        flow.closed = true;
        return true;
    }
    const ssize_t moved =
        ::splice(flow.pipe_out.get(), nullptr, flow.to, nullptr, flow.inside, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (moved < 0) {
        if (errno == EAGAIN || errno == EINTR) return false;
        return unavailable(std::string("the connection broke: ") + std::strerror(errno));
    }
    flow.inside -= static_cast<size_t>(moved);
    return moved > 0;
}

short wanted(const Flow& reads, const Flow& writes) {
    short events = 0;
    if (!reads.ended && reads.inside == 0) events |= POLLIN;
    if (writes.inside > 0) events |= POLLOUT;
    return events;
}

} // namespace

Result<> run_tunnel(AttachedRun& attached, Channel& client, Channel& upstream, TunnelBytes& bytes) {
    const Caps caps = attached.caps();
    Flow up{client.descriptor(), upstream.descriptor(), {}, {}, 0, false, false, 0, caps.request_bytes};
    Flow down{upstream.descriptor(), client.descriptor(), {}, {}, 0, false, false, 0, caps.response_bytes};
    TRY(open_pipe(up));
    TRY(open_pipe(down));
    const auto run = [&]() -> Result<> {
        while (!up.closed || !down.closed) {
            bool moved = false;
            for (Flow* flow : {&up, &down}) {
                moved |= TRY(take_in(attached, *flow));
                moved |= TRY(give_out(*flow));
            }
            if (moved) {
                if (attached.cancel().fired()) return conflict("the run has ended");
                continue;
            }
            std::array<pollfd, 2> polled{pollfd{client.descriptor(), wanted(up, down), 0},
                                         pollfd{upstream.descriptor(), wanted(down, up), 0}};
            // A finished side would make every poll return immediately.
            for (pollfd& entry : polled)
                if (entry.events == 0) entry.fd = -1;
            TRY(wait_any(polled, attached.cancel(), Deadline::after(caps.idle_timeout)));
        }
        return {};
    };
    auto outcome = run();
    bytes = {up.total, down.total};
    return outcome;
}

Result<ClientHello> peek_client_hello(const Channel& client, Deadline deadline) {
    std::string bytes(largest_client_hello + 1024, '\0');
    ClientHello hello;
    size_t seen = 0;
    const auto wait_for = [&](int low_water) {
        ::setsockopt(client.descriptor(), SOL_SOCKET, SO_RCVLOWAT, &low_water, sizeof low_water);
    };
    for (;;) {
        TRY(client.wait(POLLIN, deadline));
        const ssize_t got = ::recv(client.descriptor(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (got <= 0 || static_cast<size_t>(got) <= seen) return unavailable("the client closed the connection");
        seen = static_cast<size_t>(got);
        switch (parse_client_hello(std::string_view(bytes).substr(0, seen), hello)) {
        case HelloState::complete:
            wait_for(1);
            return hello;
        case HelloState::bad:
            return invalid("a tunnel carries TLS only, and this is not how TLS begins");
        case HelloState::more:
            wait_for(static_cast<int>(seen) + 1); // poll again only when there is more than we have seen
        }
    }
}

} // namespace hone::broker
