#include "kubernetes/provider/probe_addresses.h"

#include <netdb.h>
#include <sys/socket.h>

namespace hone::kubernetes {

std::vector<std::string> addresses_of(const std::string& server) {
    const size_t begin = server.find("://") + 3;
    std::string host = server.substr(begin, server.find('/', begin) - begin), port = "443";
    const size_t colon = host.rfind(':');
    if (colon != std::string::npos && host.find(']', colon) == std::string::npos) {
        port = host.substr(colon + 1);
        host = host.substr(0, colon);
    }
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    std::vector<std::string> addresses;
    if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return addresses;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        char text[100];
        if (::getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        const bool is_six = each->ai_family == AF_INET6;
        addresses.push_back((is_six ? "[" : "") + std::string(text) + (is_six ? "]:" : ":") + port);
    }
    ::freeaddrinfo(found);
    return addresses;
}

} // namespace hone::kubernetes
