#include "base/text.h"
#include "broker/wire/http_head.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>

namespace hone::broker {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Labels that some resolver reads as a number: "12", "0x7f", "0x".
bool is_number_label(std::string_view label) {
    if (std::all_of(label.begin(), label.end(), is_digit)) return true;
    return label.starts_with("0x") && std::all_of(label.begin() + 2, label.end(), is_hex_digit);
}

Result<> check_label(std::string_view label) {
    if (label.empty() || label.size() > 63) return invalid("a label of the host name is empty or too long");
    for (const char c : label)
        if (!is_digit(c) && !(c >= 'a' && c <= 'z') && c != '-' && c != '_')
            return invalid("the host name contains a character that is not allowed");
    if (label.front() == '-' || label.back() == '-') return invalid("a label of the host name is malformed");
    return {};
}

Result<HostPort> parse_name(std::string name) {
    if (name.ends_with('.')) name.pop_back();
    if (name.empty() || name.size() > 253) return invalid("the host name is empty or too long");
    std::string_view last;
    for (const std::string_view label : split(name, '.')) {
        TRY(check_label(label));
        last = label;
    }
    if (!is_number_label(last)) return HostPort{std::move(name), 0, false};
    // inet_pton knows only four decimal numbers without leading zeros: the one spelling that all agree on.
    in_addr address{};
    if (inet_pton(AF_INET, name.c_str(), &address) != 1)
        return invalid("the host is a number that is not a plain IPv4 address");
    return HostPort{std::move(name), 0, true};
}

Result<HostPort> parse_ipv6(const std::string& text) {
    in6_addr address{};
    std::array<char, INET6_ADDRSTRLEN> canonical{};
    if (inet_pton(AF_INET6, text.c_str(), &address) != 1 ||
        inet_ntop(AF_INET6, &address, canonical.data(), canonical.size()) == nullptr)
        return invalid("the host is not an IPv6 address");
    return HostPort{canonical.data(), 0, true};
}

Result<uint16_t> parse_port(std::string_view text) {
    uint32_t port = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || text.size() > 5 || !std::all_of(text.begin(), text.end(), is_digit) || failed != std::errc() ||
        end != text.data() + text.size() || port == 0 || port > 65535)
        return invalid("the port is not a number from 1 to 65535");
    return static_cast<uint16_t>(port);
}

} // namespace

std::string HostPort::text() const {
    return header(0);
}

std::string HostPort::header(uint16_t default_port) const {
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return port == default_port ? name : name + ":" + std::to_string(port);
}

Result<HostPort> parse_host_port(std::string_view text, uint16_t default_port) {
    if (text.size() > 300) return invalid("the host is too long");
    std::string_view host = text;
    std::string_view after;
    if (text.starts_with('[')) {
        const size_t end = text.find(']');
        if (end == std::string_view::npos) return invalid("the host is malformed");
        host = text.substr(1, end - 1);
        after = text.substr(end + 1);
    } else if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
        host = text.substr(0, colon);
        after = text.substr(colon);
    }
    HostPort parsed =
        text.starts_with('[') ? TRY(parse_ipv6(lowercase_ascii(host))) : TRY(parse_name(lowercase_ascii(host)));
    if (!after.empty() && after.front() != ':') return invalid("the host is malformed");
    if (!after.empty())
        parsed.port = TRY(parse_port(after.substr(1)));
    else if (default_port == 0)
        return invalid("the port is missing");
    else
        parsed.port = default_port;
    return parsed;
}

} // namespace hone::broker
