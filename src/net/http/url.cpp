#include "net/http/url.h"

#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace hone::net {

namespace {

constexpr size_t max_pairs = 256;
constexpr size_t max_segments = 64;
constexpr size_t max_url = 64 << 10;

Result<std::string> decode_text(std::string_view raw, bool plus_is_space) {
    std::string text = TRY(percent_decode(raw, plus_is_space));
    if (text.find('\0') != std::string::npos) return invalid("the address contains a NUL character");
    if (!is_valid_utf8(text)) return invalid("the address is not valid UTF-8");
    return text;
}

Result<uint16_t> parse_port(std::string_view text) {
    unsigned value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || failed != std::errc() || end != text.data() + text.size() || value > 65535)
        return invalid("not a port: \"" + std::string(text.substr(0, 20)) + "\"");
    return static_cast<uint16_t>(value);
}

bool is_host(std::string_view host) {
    return !host.empty() && host.size() <= 255 && std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == ':' ||
               c == '%';
    });
}

// No spaces, no control characters: what a request line may contain.
bool is_target(std::string_view target) {
    return std::all_of(target.begin(), target.end(), [](char c) {
        const unsigned char byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte != 0x7f;
    });
}

Result<Url> parse_unix_url(std::string_view rest) {
    Url url;
    const size_t colon = rest.find(":/");
    url.unix_path = std::string(rest.substr(0, colon));
    url.target = colon == std::string_view::npos ? "/" : std::string(rest.substr(colon + 1));
    url.host = "localhost";
    url.port = 80;
    if (url.unix_path.empty() || url.unix_path.find('\0') != std::string::npos || !is_target(url.target))
        return invalid("not a unix socket address");
    return url;
}

// Also between encoded slashes: a decoded name must not lead elsewhere when it becomes part of a path.
bool has_dotted_part(std::string segment) {
    std::replace(segment.begin(), segment.end(), '\\', '/');
    const std::vector<std::string_view> parts = split(segment, '/');
    return std::any_of(parts.begin(), parts.end(), [](std::string_view part) { return part == "." || part == ".."; });
}

} // namespace

Result<QueryPairs> parse_query(std::string_view query) {
    QueryPairs pairs;
    while (!query.empty()) {
        const size_t end = query.find('&');
        const std::string_view part = query.substr(0, end);
        query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
        if (part.empty()) continue;
        if (pairs.size() == max_pairs) return invalid("more than " + std::to_string(max_pairs) + " query parameters");
        const size_t equals = part.find('=');
        std::string name = TRY(decode_text(part.substr(0, equals), true));
        std::string value;
        if (equals != std::string_view::npos) value = TRY(decode_text(part.substr(equals + 1), true));
        pairs.emplace_back(std::move(name), std::move(value));
    }
    return pairs;
}

Result<std::vector<std::string>> split_path(std::string_view path) {
    if (!path.starts_with('/')) return invalid("a path starts with a slash");
    std::vector<std::string> segments;
    path.remove_prefix(1);
    if (path.empty()) return segments;
    for (const std::string_view raw : split(path, '/')) {
        std::string segment = TRY(decode_text(raw, false));
        if (segment.empty() || has_dotted_part(segment)) return invalid("the path has an empty or dotted segment");
        if (segments.size() == max_segments) return invalid("the path has too many segments");
        segments.push_back(std::move(segment));
    }
    return segments;
}

std::string Url::host_and_port() const {
    const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return shown + ":" + std::to_string(port);
}

std::string Url::host_header() const {
    if (port != (tls ? 443 : 80)) return host_and_port();
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string Url::origin() const {
    if (!unix_path.empty()) return "unix:" + unix_path;
    return (tls ? "https://" : "http://") + host_and_port();
}

Result<std::pair<std::string, uint16_t>> parse_host_port(std::string_view text) {
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return invalid("not host:port: \"" + std::string(text.substr(0, 80)) + "\"");
    std::string host = lowercase_ascii(text.substr(0, colon));
    const uint16_t port = TRY(parse_port(text.substr(colon + 1)));
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
        host = host.substr(1, host.size() - 2);
    else if (host.find(':') != std::string::npos)
        return invalid("an IPv6 address needs brackets: \"" + std::string(text.substr(0, 80)) + "\"");
    if (!is_host(host)) return invalid("not a host: \"" + host.substr(0, 80) + "\"");
    return std::pair(std::move(host), port);
}

Result<Url> parse_url(std::string_view text) {
    if (text.size() > max_url) return invalid("the URL is too long");
    if (text.starts_with("unix:")) return parse_unix_url(text.substr(5));
    Url url;
    const size_t mark = text.find("://");
    const std::string scheme = lowercase_ascii(text.substr(0, mark == std::string_view::npos ? 0 : mark));
    if (scheme != "http" && scheme != "https")
        return invalid("not an http or https URL: \"" + std::string(text.substr(0, 80)) + "\"");
    url.tls = scheme == "https";
    text.remove_prefix(mark + 3);
    text = text.substr(0, text.find('#'));
    const size_t end = text.find_first_of("/?");
    std::string_view authority = text.substr(0, end);
    if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
        url.user_info = TRY(percent_decode(authority.substr(0, at)));
        authority.remove_prefix(at + 1);
    }
    const bool has_port = authority.rfind(':') != std::string_view::npos && !authority.ends_with(']');
    const std::string host_port = std::string(authority) + (has_port ? "" : url.tls ? ":443" : ":80");
    std::tie(url.host, url.port) = TRY(parse_host_port(host_port));
    if (url.port == 0) return invalid("port 0 cannot be reached");
    url.target = end == std::string_view::npos ? "/" : std::string(text.substr(end));
    if (url.target.front() == '?') url.target.insert(0, "/");
    if (!is_target(url.target)) return invalid("the URL contains spaces or control characters");
    return url;
}

Result<Url> resolve_url(const Url& base, std::string_view location) {
    if (location.find("://") != std::string_view::npos && !location.starts_with('/')) return parse_url(location);
    if (location.starts_with("//")) return parse_url((base.tls ? "https:" : "http:") + std::string(location));
    Url url = base;
    const std::string_view reference = location.substr(0, location.find('#'));
    const std::string path = base.target.substr(0, base.target.find('?'));
    if (reference.starts_with('/'))
        url.target = std::string(reference);
    else if (reference.starts_with('?') || reference.empty())
        url.target = path + std::string(reference);
    else
        url.target = path.substr(0, path.rfind('/') + 1) + std::string(reference);
    if (!is_target(url.target)) return invalid("the redirect contains spaces or control characters");
    return url;
}

} // namespace hone::net
