#include "inside/relay.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace hone::inside {

namespace {

constexpr uint16_t ports[] = {3128, 3129};
constexpr size_t buffer_bytes = 64 << 10;
constexpr size_t most_connections = 512;

// Bytes from one end to the other. Ends when the source has ended and all was passed on.
struct Flow {
    int from = -1, to = -1;
    std::string waiting{};
    bool source_ended = false;
    bool done = false;

    bool wants_to_read() const { return !source_ended && waiting.size() < buffer_bytes; }
    bool wants_to_write() const { return !waiting.empty(); }

    // False when an end is broken.
    bool move(bool readable, bool writable) {
        if (readable && wants_to_read()) {
            char buffer[buffer_bytes];
            const ssize_t count = ::read(from, buffer, sizeof buffer);
            if (count > 0) waiting.append(buffer, static_cast<size_t>(count));
            if (count == 0) source_ended = true;
            if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
        }
        if ((writable || readable) && wants_to_write()) {
            const ssize_t count = ::send(to, waiting.data(), waiting.size(), MSG_NOSIGNAL);
            if (count > 0) waiting.erase(0, static_cast<size_t>(count));
            if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
        }
        if (source_ended && waiting.empty() && !done) {
            ::shutdown(to, SHUT_WR);
            done = true;
        }
        return true;
    }
};

struct Link {
    int inner, outer;
    Flow out, in;
    bool broken = false;
    bool is_over() const { return broken || (out.done && in.done); }
};

int listen_on(uint16_t port) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener, 256) != 0)
        return -1;
    return listener;
}

int connect_to(const std::string& path) {
    const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        ::close(connection);
        return -1;
    }
    ::fcntl(connection, F_SETFL, O_NONBLOCK);
    return connection;
}

void open_link(int listener, const std::string& path, std::list<Link>& links) {
    const int inner = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (inner < 0) return;
    const int outer = links.size() < most_connections ? connect_to(path) : -1;
    if (outer < 0) {
        ::close(inner);
        return;
    }
    links.push_back({inner, outer, {inner, outer}, {outer, inner}});
}

void add_wait(std::vector<pollfd>& waits, int descriptor, bool reads, bool writes) {
    waits.push_back({descriptor, static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0});
}

} // namespace

int relay(const std::string& folder) {
    int listeners[2];
    for (size_t i = 0; i < 2; ++i) {
        listeners[i] = listen_on(ports[i]);
        if (listeners[i] < 0) {
            std::fprintf(stderr, "hone: cannot listen on 127.0.0.1:%d: %s\n", ports[i], std::strerror(errno));
            return 1;
        }
    }
    if (::write(1, "ready\n", 6) != 6) return 1;
    std::list<Link> links;
    for (;;) {
        std::vector<pollfd> waits;
        for (const int listener : listeners) add_wait(waits, listener, true, false);
        for (const Link& link : links) {
            add_wait(waits, link.inner, link.out.wants_to_read(), link.in.wants_to_write());
            add_wait(waits, link.outer, link.in.wants_to_read(), link.out.wants_to_write());
        }
        if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return 1;
        size_t at = 2;
        for (Link& link : links) {
            const short inner = waits[at++].revents, outer = waits[at++].revents;
            constexpr short reads = POLLIN | POLLHUP | POLLERR;
            link.broken = !link.out.move((inner & reads) != 0, (outer & POLLOUT) != 0) ||
                          !link.in.move((outer & reads) != 0, (inner & POLLOUT) != 0);
            // A closed end that nothing is read from any more would be reported without end.
            if ((inner & POLLERR) != 0 || (outer & POLLERR) != 0) link.broken = true;
            if ((inner & POLLHUP) != 0 && link.out.source_ended && !link.in.wants_to_write()) link.broken = true;
            if ((outer & POLLHUP) != 0 && link.in.source_ended && !link.out.wants_to_write()) link.broken = true;
        }
        links.remove_if([](const Link& link) {
            if (!link.is_over()) return false;
            ::close(link.inner);
            ::close(link.outer);
            return true;
        });
        for (size_t i = 0; i < 2; ++i)
            if (waits[i].revents != 0) open_link(listeners[i], folder + "/" + std::to_string(ports[i]), links);
    }
}

} // namespace hone::inside
