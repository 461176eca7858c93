#include "broker/egress/explain.h"

#include "base/text.h"
#include "broker/wire/dial.h"
#include "net/http/http.h"
#include "net/socket.h"

#include <algorithm>

namespace hone::broker {

namespace {

struct Address {
    bool tls = true;
    bool websocket = false;
    std::string_view place; // host and port
    std::string path;       // with query
};

Result<Address> parse_address(std::string_view text) {
    const size_t mark = text.find("://");
    const std::string scheme = lowercase_ascii(text.substr(0, mark == std::string_view::npos ? 0 : mark));
    Address address;
    address.tls = scheme == "https" || scheme == "wss";
    address.websocket = scheme == "ws" || scheme == "wss";
    if (!address.tls && !address.websocket && scheme != "http")
        return invalid("a URL starts with https://, http://, wss:// or ws://");
    const std::string_view rest = text.substr(mark + 3);
    const size_t end = std::min(rest.find_first_of("/?#"), rest.size());
    address.place = rest.substr(0, end);
    const std::string_view path = rest.substr(end, rest.find('#') - std::min(end, rest.find('#')));
    address.path = path.starts_with('/') ? std::string(path) : "/" + std::string(path);
    return address;
}

// A name must be resolved first; an address can be checked immediately.
std::optional<std::string_view> refused_address(const HostPort& host) {
    if (!host.is_address) return std::nullopt;
    const auto endpoints = net::resolve(host.host, host.port);
    if (!endpoints.ok() || endpoints.value().empty()) return "not an address";
    return default_address_check()(endpoints.value().front(), Reach::public_only);
}

} // namespace

Result<Explanation> explain(const Policy& policy, std::string_view method, std::string_view url) {
    if (!net::is_token(method) || method.size() > 32) return invalid("the method is malformed");
    const Address address = TRY(parse_address(url));
    const HostPort host = TRY(parse_host_port(address.place, address.tls ? 443 : 80));
    const std::string path = address.path.substr(0, address.path.find('?'));
    for (const char c : path)
        if (c <= 0x20 || c >= 0x7f || c == '\\') return invalid("the path contains a character that is not allowed");
    const Verdict verdict = policy.decide({std::string(method), host, address.tls, path, address.websocket});
    Explanation told;
    told.method = std::string(method);
    told.url = std::string(address.tls ? "https://" : "http://") + host.header(address.tls ? 443 : 80) + path;
    told.allowed = verdict.allowed;
    told.rule = verdict.rule;
    told.reason = verdict.reason;
    told.inspected = !address.tls || verdict.terminate;
    // A tunnel that is forwarded unread is decided by its host alone.
    if (address.tls && !verdict.terminate) told.allowed = policy.decide_connect(host).allowed;
    if (const auto range = refused_address(host); range && told.allowed) {
        told.allowed = false;
        told.rule = "address";
        told.reason = host.host + " (" + std::string(*range) + "): such addresses are always blocked";
        return told;
    }
    if (verdict.allowed)
        for (const size_t index : verdict.credentials)
            told.secrets.push_back(policy.grant().credentials[index].secret_name);
    std::sort(told.secrets.begin(), told.secrets.end());
    told.secrets.erase(std::unique(told.secrets.begin(), told.secrets.end()), told.secrets.end());
    return told;
}

Result<skill::HostRule> parse_host_rule(std::string_view text) {
    const bool has_scheme = text.find("://") != std::string_view::npos;
    const std::string full = has_scheme ? std::string(text) : "https://" + std::string(text);
    const Address address = TRY(parse_address(full));
    const bool wildcard = address.place.starts_with("*.");
    const HostPort place =
        TRY(parse_host_port(wildcard ? address.place.substr(2) : address.place, address.tls ? 443 : 80));
    skill::HostRule rule;
    rule.host = (wildcard ? "*." : "") + place.host;
    rule.port = place.port;
    rule.tls = address.tls;
    rule.websocket = address.websocket;
    rule.path_prefix = address.path;
    if (rule.path_prefix.find('?') != std::string::npos) return invalid("a rule has no query");
    return rule;
}

} // namespace hone::broker
