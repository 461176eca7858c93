#include "net/socket.h"

#include "net/http/url.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

namespace hone::net {

namespace {

constexpr size_t max_pieces = 16;

struct FreeAddresses {
    void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const std::string& host, uint16_t port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (failed != 0) return unavailable("cannot resolve " + host + ": " + gai_strerror(failed));
    return Addresses(list);
}

struct NumericAddress {
    std::string host;
    std::string port;
};

NumericAddress numeric(const sockaddr* address, socklen_t size) {
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> port{};
    if (address->sa_family == AF_UNIX || getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                                                     NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return {"local", "0"};
    std::string text = host.data();
    if (text.starts_with("::ffff:") && text.find('.') != std::string::npos) text.erase(0, 7); // IPv4 on a dual socket
    return {std::move(text), port.data()};
}

std::string joined(const NumericAddress& address) {
    return (address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]") + ":" + address.port;
}

IoStep failed_step(std::string& problem) {
    if (errno == EAGAIN || errno == EINTR) return {Io::want_read, 0};
    problem = std::strerror(errno);
    return {Io::failed, 0};
}

} // namespace

IoStep Socket::read(std::span<char> into) {
    if (m_tls) return m_tls->read(into.data(), into.size());
    const ssize_t received = ::recv(m_descriptor.get(), into.data(), into.size(), 0);
    if (received > 0) return {Io::done, static_cast<size_t>(received)};
    if (received == 0) return {Io::closed, 0};
    return failed_step(m_problem);
}

IoStep Socket::write(std::span<const std::string_view> pieces) {
    if (m_tls) return pieces.empty() ? IoStep{Io::done, 0} : m_tls->write(pieces.front());
    std::array<iovec, max_pieces> vectors{};
    const size_t count = std::min(pieces.size(), max_pieces);
    for (size_t i = 0; i < count; ++i) vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
    ssize_t sent = 0;
    if (count == 1) {
        sent = ::send(m_descriptor.get(), pieces[0].data(), pieces[0].size(), MSG_NOSIGNAL);
    } else {
        msghdr message{};
        message.msg_iov = vectors.data();
        message.msg_iovlen = count;
        sent = ::sendmsg(m_descriptor.get(), &message, MSG_NOSIGNAL);
    }
    if (sent >= 0) return {Io::done, static_cast<size_t>(sent)};
    const IoStep step = failed_step(m_problem);
    return step.state == Io::want_read ? IoStep{Io::want_write, 0} : step;
}

bool Socket::has_peer_closed() const {
    pollfd hangup{m_descriptor.get(), POLLRDHUP, 0};
    return ::poll(&hangup, 1, 0) > 0 && (hangup.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Socket::shut_down_writing() {
    if (m_tls) m_tls->close();
    ::shutdown(m_descriptor.get(), SHUT_WR);
}

void Socket::close() {
    if (m_tls && m_descriptor.is_open() && !m_resets) m_tls->close();
    m_tls.reset();
    m_descriptor.reset();
}

void Socket::set_reset_on_close(bool reset) {
    if (!m_descriptor.is_open() || m_resets == reset) return;
    m_resets = reset;
    const linger at_once{reset ? 1 : 0, 0}; // to linger for no time is to reset
    ::setsockopt(m_descriptor.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

Result<BoundSocket> listen_on(const std::string& address) {
    auto [host, port] = TRY(parse_host_port(address));
    const Addresses list = TRY(resolve(host, port, AI_PASSIVE));
    const addrinfo* entry = list.get();
    Fd socket(::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return system_error("socket", errno);
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (entry->ai_family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (::bind(socket.get(), entry->ai_addr, entry->ai_addrlen) != 0)
        return system_error("cannot listen on " + address, errno);
    if (::listen(socket.get(), 4096) != 0) return system_error("cannot listen on " + address, errno);
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    return BoundSocket{std::move(socket), joined(numeric(reinterpret_cast<sockaddr*>(&bound), size))};
}

Result<Accepted> accept_one(int listener) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    Fd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            return busy("no descriptor left");
        // Everything else concerns a connection that is already closed, or means that none waits.
        return Accepted{};
    }
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return Accepted{std::move(socket), numeric(reinterpret_cast<sockaddr*>(&from), size).host};
}

Result<std::vector<Endpoint>> resolve(const std::string& host, uint16_t port) {
    const Addresses list = TRY(resolve(host, port, 0));
    std::vector<Endpoint> endpoints;
    for (const addrinfo* entry = list.get(); entry && endpoints.size() < 16; entry = entry->ai_next) {
        const char* bytes = reinterpret_cast<const char*>(entry->ai_addr);
        endpoints.push_back({std::vector<char>(bytes, bytes + entry->ai_addrlen), entry->ai_family,
                             joined(numeric(entry->ai_addr, entry->ai_addrlen))});
    }
    return endpoints;
}

Result<Endpoint> unix_endpoint(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) return invalid("not a unix socket path: " + path);
    std::memcpy(address.sun_path, path.data(), path.size());
    const char* bytes = reinterpret_cast<const char*>(&address);
    return Endpoint{std::vector<char>(bytes, bytes + sizeof address), AF_UNIX, "unix:" + path};
}

Result<Fd> start_connect(const Endpoint& endpoint) {
    Fd socket(::socket(endpoint.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return system_error("socket", errno);
    const int on = 1;
    if (endpoint.family != AF_UNIX) ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto* address = reinterpret_cast<const sockaddr*>(endpoint.address.data());
    if (::connect(socket.get(), address, static_cast<socklen_t>(endpoint.address.size())) != 0 && errno != EINPROGRESS)
        return unavailable("cannot connect to " + endpoint.text + ": " + std::strerror(errno));
    return socket;
}

Result<> connect_outcome(int descriptor, const std::string& text) {
    int failed = 0;
    socklen_t size = sizeof failed;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failed, &size) != 0) failed = errno;
    if (failed != 0) return unavailable("cannot connect to " + text + ": " + std::strerror(failed));
    return {};
}

} // namespace hone::net
