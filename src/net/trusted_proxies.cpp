#include "net/trusted_proxies.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <optional>

namespace hone::net {

namespace {

using Address = std::array<unsigned char, 16>;

std::optional<Address> proxy_address_of(std::string_view text) {
    const std::string copy(text);
    Address address{};
    if (inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
    address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (inet_pton(AF_INET, copy.c_str(), address.data() + 12) == 1) return address;
    return std::nullopt;
}

bool is_mapped(const Address& address) {
    for (size_t i = 0; i < 10; ++i)
        if (address[i] != 0) return false;
    return address[10] == 0xff && address[11] == 0xff;
}

std::string text_of(const Address& address) {
    char text[INET6_ADDRSTRLEN] = {};
    if (is_mapped(address))
        inet_ntop(AF_INET, address.data() + 12, text, sizeof text);
    else
        inet_ntop(AF_INET6, address.data(), text, sizeof text);
    return text;
}

// "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]:80", "2001:db8::1", quoted or not.
std::optional<Address> hop_address_of(std::string_view hop) {
    hop = trim(hop);
    if (hop.size() >= 2 && hop.front() == '"' && hop.back() == '"') hop = hop.substr(1, hop.size() - 2);
    if (hop.starts_with('[')) {
        const size_t end = hop.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        return proxy_address_of(hop.substr(1, end - 1));
    }
    if (const size_t colon = hop.find(':'); colon != std::string_view::npos && hop.rfind(':') == colon)
        hop = hop.substr(0, colon);
    return proxy_address_of(hop);
}

// All fields of one name, joined as if they were one.
std::string joined_fields(const RequestHead& head, std::string_view name) {
    std::string all;
    for (const Header& header : head.headers)
        if (equals_ignoring_case(header.name, name)) all += (all.empty() ? "" : ",") + header.value;
    return all;
}

struct Hop {
    std::string address; // as sent
    std::string proto;
};

std::vector<Hop> hops_of(const RequestHead& head, ProxyHeader which) {
    std::vector<Hop> hops;
    if (which == ProxyHeader::x_forwarded) {
        const std::string all = joined_fields(head, "X-Forwarded-For");
        if (!all.empty())
            for (const std::string_view part : split(all, ',')) hops.push_back({std::string(trim(part)), ""});
        const std::string protos = joined_fields(head, "X-Forwarded-Proto");
        if (!hops.empty()) hops.back().proto = trim(std::string_view(protos).substr(protos.rfind(',') + 1));
        return hops;
    }
    const std::string all = joined_fields(head, "Forwarded");
    if (all.empty()) return hops;
    for (const std::string_view element : split(all, ',')) {
        Hop hop;
        for (const std::string_view pair : split(element, ';')) {
            const size_t equals = pair.find('=');
            if (equals == std::string_view::npos) continue;
            const std::string_view name = trim(pair.substr(0, equals)), value = trim(pair.substr(equals + 1));
            if (equals_ignoring_case(name, "for")) hop.address = value;
            if (equals_ignoring_case(name, "proto")) hop.proto = value;
        }
        hops.push_back(std::move(hop));
    }
    return hops;
}

} // namespace

Result<TrustedProxies> TrustedProxies::parse(std::string_view list, ProxyHeader header) {
    TrustedProxies proxies;
    proxies.m_header = header;
    if (trim(list).empty()) return proxies;
    for (const std::string_view part : split(list, ',')) {
        const std::string_view entry = trim(part);
        const size_t slash = entry.find('/');
        const auto address = proxy_address_of(entry.substr(0, slash));
        const auto wrong = [&] {
            return invalid("trusted_proxies: \"" + std::string(truncate_utf8(entry, 60)) +
                           "\" is not an address or a range such as 10.0.0.0/8");
        };
        if (!address) return wrong();
        const bool is_v4 = entry.find(':') == std::string_view::npos;
        Range range{*address, 128};
        if (slash != std::string_view::npos) {
            const auto bits = parse_integer(entry.substr(slash + 1));
            if (!bits.ok() || bits.value() < 0 || bits.value() > (is_v4 ? 32 : 128)) return wrong();
            range.bits = static_cast<int>(bits.value()) + (is_v4 ? 96 : 0);
        }
        proxies.m_ranges.push_back(range);
    }
    return proxies;
}

bool TrustedProxies::contains(std::string_view text) const {
    if (m_ranges.empty()) return false;
    const auto address = proxy_address_of(text);
    if (!address) return false;
    for (const Range& range : m_ranges) {
        bool same = true;
        for (int bit = 0; same && bit < range.bits; bit += 8) {
            const int rest = std::min(8, range.bits - bit);
            const auto mask = static_cast<unsigned char>(0xff << (8 - rest));
            const auto at = static_cast<size_t>(bit / 8);
            same = ((*address)[at] & mask) == (range.address[at] & mask);
        }
        if (same) return true;
    }
    return false;
}

void TrustedProxies::apply(RequestHead& head) const {
    if (!contains(head.peer)) return;
    const std::vector<Hop> hops = hops_of(head, m_header);
    if (hops.empty()) return;
    // What the nearest proxy wrote about its own client.
    if (equals_ignoring_case(hops.back().proto, "https")) head.tls = true;
    for (size_t i = hops.size(); i-- > 0;) {
        const auto address = hop_address_of(hops[i].address);
        if (!address) return; // hidden or malformed: what is left of it was not written by a trusted proxy
        head.peer = text_of(*address);
        if (!contains(head.peer)) return;
    }
}

} // namespace hone::net
