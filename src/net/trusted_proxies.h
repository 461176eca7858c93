// Reverse proxies whose header about the client is trusted. A request from any other address keeps the address of its
// connection, whatever its headers say. Immutable after creation, any thread.
#pragma once

#include "net/http/http.h"

#include <array>
#include <string_view>
#include <vector>

namespace hone::net {

enum class ProxyHeader {
    x_forwarded, // X-Forwarded-For and X-Forwarded-Proto
    forwarded,   // Forwarded (RFC 7239)
};

class TrustedProxies {
public:
    TrustedProxies() = default; // none
    // "10.0.0.0/8, 127.0.0.1, fd00::/8"; empty: none. Only the one header is read: a proxy passes the other one on as
    // the client sent it.
    static Result<TrustedProxies> parse(std::string_view list, ProxyHeader header);

    // Replaces `peer` by the client's address and sets `tls` when the client used https, if the connection comes from
    // a trusted proxy. The client is the last address of the chain that is not itself a trusted proxy.
    void apply(RequestHead& head) const;
    bool contains(std::string_view address) const;

private:
    struct Range {
        std::array<unsigned char, 16> address{}; // IPv4 as IPv4-mapped IPv6
        int bits = 128;
    };
    std::vector<Range> m_ranges;
    ProxyHeader m_header = ProxyHeader::x_forwarded;
};

} // namespace hone::net
