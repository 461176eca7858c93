#include "net/client/address_range.h"

#include <array>
#include <cstring>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <span>

namespace hone::net {

namespace {

enum class Kind { nowhere, metadata, link_local, loopback, private_network, multicast, reserved, hides_ipv4 };

constexpr std::string_view describe(Kind kind) {
    switch (kind) {
    case Kind::nowhere:
        return "unspecified address";
    case Kind::metadata:
        return "metadata service";
    case Kind::link_local:
        return "link-local address";
    case Kind::loopback:
        return "loopback address";
    case Kind::private_network:
        return "private network";
    case Kind::multicast:
        return "multicast address";
    case Kind::reserved:
        return "reserved address";
    case Kind::hides_ipv4:
        break;
    }
    return "IPv6 address that stands for an IPv4 address";
}

struct Range {
    std::array<uint8_t, 16> bytes;
    int bits;
    Kind kind;
};

// First match counts: single addresses before the ranges that contain them.
constexpr Range ranges_v4[] = {
    {{169, 254, 169, 254}, 32, Kind::metadata}, // AWS, GCP, Azure and most others
    {{100, 100, 100, 200}, 32, Kind::metadata}, // Alibaba
    {{168, 63, 129, 16}, 32, Kind::metadata},   // Azure's host, a public address
    {{192, 0, 0, 192}, 32, Kind::metadata},     // Oracle
    {{0}, 8, Kind::nowhere},
    {{10}, 8, Kind::private_network},
    {{100, 64}, 10, Kind::private_network}, // carrier-grade NAT
    {{127}, 8, Kind::loopback},
    {{169, 254}, 16, Kind::link_local},
    {{172, 16}, 12, Kind::private_network},
    {{192, 0, 0}, 24, Kind::reserved},
    {{192, 0, 2}, 24, Kind::reserved},
    {{192, 88, 99}, 24, Kind::reserved}, // 6to4 relays
    {{192, 168}, 16, Kind::private_network},
    {{198, 18}, 15, Kind::reserved}, // benchmarks
    {{198, 51, 100}, 24, Kind::reserved},
    {{203, 0, 113}, 24, Kind::reserved},
    {{224}, 4, Kind::multicast},
    {{240}, 4, Kind::reserved},
};

// What is not in 2000::/3 is refused by the last two lines.
constexpr Range ranges_v6[] = {
    {{0xfd, 0x00, 0x0e, 0xc2}, 32, Kind::metadata}, // AWS
    {{0xfd, 0x20, 0x00, 0xce}, 32, Kind::metadata}, // GCP
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 128, Kind::nowhere},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, Kind::loopback},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, Kind::hides_ipv4}, // mapped
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 96, Kind::hides_ipv4},       // compatible
    {{0x00, 0x64, 0xff, 0x9b}, 32, Kind::hides_ipv4},                   // NAT64, both prefixes
    {{0x20, 0x01, 0x00, 0x00}, 32, Kind::hides_ipv4},                   // Teredo
    {{0x20, 0x02}, 16, Kind::hides_ipv4},                               // 6to4
    {{0x20, 0x01, 0x00, 0x02, 0x00, 0x00}, 48, Kind::reserved},         // benchmarks
    {{0x20, 0x01, 0x00, 0x10}, 28, Kind::reserved},                     // ORCHID
    {{0x20, 0x01, 0x00, 0x20}, 28, Kind::reserved},                     // ORCHIDv2
    {{0x20, 0x01, 0x0d, 0xb8}, 32, Kind::reserved},                     // documentation
    {{0x3f, 0xff, 0x00}, 20, Kind::reserved},                           // documentation
    {{0xfe, 0x80}, 10, Kind::link_local},
    {{0xfe, 0xc0}, 10, Kind::private_network}, // site-local, of old
    {{0xfc}, 7, Kind::private_network},
    {{0xff}, 8, Kind::multicast},
    {{0x00}, 3, Kind::reserved},
    {{0x40}, 2, Kind::reserved},
    {{0x80}, 1, Kind::reserved},
};

bool covers(const Range& range, const uint8_t* address) {
    const int whole = range.bits / 8;
    if (std::memcmp(range.bytes.data(), address, static_cast<size_t>(whole)) != 0) return false;
    if (range.bits % 8 == 0) return true;
    const int mask = 0xff << (8 - range.bits % 8) & 0xff;
    return (address[whole] & mask) == (range.bytes[static_cast<size_t>(whole)] & mask);
}

// The address' bytes: 4, 16, or none for anything but IP.
std::string_view address_bytes(const sockaddr* address, size_t size) {
    if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in))
        return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr), 4};
    if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6))
        return {reinterpret_cast<const char*>(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr), 16};
    return {};
}

std::string_view address_bytes(const Endpoint& endpoint) {
    if (endpoint.address.size() < sizeof(sa_family_t)) return {};
    return address_bytes(reinterpret_cast<const sockaddr*>(endpoint.address.data()), endpoint.address.size());
}

} // namespace

std::optional<std::string_view> refused_range(const Endpoint& endpoint, Reach reach) {
    const std::string_view bytes = address_bytes(endpoint);
    if (bytes.empty()) return "not an IP address";
    const auto* address = reinterpret_cast<const uint8_t*>(bytes.data());
    const std::span<const Range> ranges = bytes.size() == 4 ? std::span<const Range>(ranges_v4) : ranges_v6;
    for (const Range& range : ranges) {
        if (!covers(range, address)) continue;
        const bool own_network = range.kind == Kind::loopback || range.kind == Kind::private_network;
        if (own_network && reach == Reach::also_private) return std::nullopt;
        return describe(range.kind);
    }
    return std::nullopt;
}

bool is_own_address(const Endpoint& endpoint) {
    const std::string_view wanted = address_bytes(endpoint);
    ifaddrs* list = nullptr;
    if (wanted.empty() || getifaddrs(&list) != 0) return true; // unsure counts as own: no connection is made
    bool own = false;
    for (const ifaddrs* entry = list; entry != nullptr && !own; entry = entry->ifa_next)
        if (entry->ifa_addr != nullptr) {
            const bool v4 = entry->ifa_addr->sa_family == AF_INET;
            own = address_bytes(entry->ifa_addr, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)) == wanted;
        }
    freeifaddrs(list);
    return own;
}

} // namespace hone::net
