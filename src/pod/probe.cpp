#include "pod/probe.h"

#include "base/file.h"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace hone::pod {

namespace {

socklen_t parse_address(const std::string& text, sockaddr_storage& into) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return 0;
    uint16_t port = 0;
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
    std::string host = text.substr(0, colon);
    if (host.find(':') != std::string::npos) { // with brackets, or as the cluster names its API to a pod
        auto& six = reinterpret_cast<sockaddr_in6&>(into);
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(port);
        if (host.front() == '[') host = host.substr(1, host.size() - 2);
        return ::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1 ? sizeof six : 0;
    }
    auto& four = reinterpret_cast<sockaddr_in&>(into);
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    return ::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1 ? sizeof four : 0;
}

} // namespace

std::string reachable(const std::vector<std::string>& addresses, Duration timeout) {
    std::vector<Fd> sockets;
    std::vector<pollfd> waits;
    std::vector<std::string> names;
    for (const std::string& address : addresses) {
        sockaddr_storage to{};
        const socklen_t size = parse_address(address, to);
        if (size == 0) return address + ", which is no address";
        Fd socket(::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        if (!socket.is_open() && errno == EAFNOSUPPORT) continue;
        if (!socket.is_open()) return address + ", as nothing could be probed";
        if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), size) == 0) return address;
        if (errno != EINPROGRESS) continue;
        waits.push_back({socket.get(), POLLOUT, 0});
        names.push_back(address);
        sockets.push_back(std::move(socket));
    }
    const SystemClock clock;
    const Duration until = clock.steady() + timeout;
    for (Duration left = timeout; !waits.empty() && left.count() > 0; left = until - clock.steady()) {
        ::poll(waits.data(), waits.size(), static_cast<int>(left.count() / 1'000'000) + 1);
        for (size_t i = 0; i < waits.size(); ++i) {
            if (waits[i].revents == 0) continue;
            int failed = 0;
            socklen_t size = sizeof failed;
            ::getsockopt(waits[i].fd, SOL_SOCKET, SO_ERROR, &failed, &size);
            if (failed == 0) return names[i];
            waits[i].fd = -1; // it failed
        }
    }
    return {};
}

} // namespace hone::pod
