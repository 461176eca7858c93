#include "broker/wire/dial.h"

#include "base/text.h"

#include <algorithm>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace hone::broker {

namespace {

class SystemResolver final : public Resolver {
public:
    Result<std::vector<net::Endpoint>> resolve(const std::string& host, uint16_t port) override {
        return net::resolve(host, port);
    }
};

Result<Channel> connect_to(const net::Endpoint& endpoint, const Cancel& cancel, Deadline deadline) {
    Fd socket = TRY(net::start_connect(endpoint));
    const int descriptor = socket.get();
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    Channel channel(net::Socket(std::move(socket)), cancel);
    TRY(channel.wait(POLLOUT, deadline));
    TRY(net::connect_outcome(descriptor, endpoint.text));
    return channel;
}

} // namespace

bool UpstreamProxy::covers(const HostPort& target) const {
    return std::none_of(direct.begin(), direct.end(), [&](const std::string& name) {
        return target.host == name || (!target.is_address && std::string_view(target.host).ends_with("." + name));
    });
}

Result<std::optional<UpstreamProxy>> parse_upstream_proxy(std::string_view address, std::string_view direct) {
    if (trim(address).empty()) return std::optional<UpstreamProxy>{};
    constexpr std::string_view scheme = "http://";
    const auto wrong = [](std::string_view why) {
        return invalid("egress_proxy is not an address like http://proxy.example.com:3128: " + std::string(why));
    };
    std::string_view rest = trim(address);
    if (!rest.starts_with(scheme)) return wrong("it must begin with http://");
    rest.remove_prefix(scheme.size());
    while (rest.ends_with('/')) rest.remove_suffix(1);
    UpstreamProxy proxy;
    if (const size_t at = rest.rfind('@'); at != rest.npos) {
        auto user = percent_decode(rest.substr(0, at), false);
        if (!user.ok() || user.value().find(':') == std::string::npos) return wrong("before @ stands user:password");
        std::string encoded = to_base64(user.value());
        std::string value = "Basic ";
        value.reserve(value.size() + encoded.size());
        value += encoded;
        proxy.authorization = std::make_shared<const crypto::SecretBytes>(std::string_view(value));
        crypto::wipe(user.value());
        crypto::wipe(encoded);
        crypto::wipe(value);
        rest.remove_prefix(at + 1);
    }
    auto place = parse_host_port(rest, 0);
    if (!place.ok()) return wrong(place.error().message);
    proxy.place = std::move(place).value();
    for (const std::string_view part : split(direct, ',')) {
        std::string_view name = trim(part);
        while (name.starts_with('.') || name.starts_with("*.")) name.remove_prefix(1);
        if (name.empty()) continue;
        const bool has_colons = name.find(':') != name.npos;
        const auto host = parse_host_port(
            has_colons && !name.starts_with('[') ? "[" + std::string(name) + "]" : std::string(name), 1);
        if (!host.ok() || host.value().port != 1)
            return invalid("egress_no_proxy: \"" + std::string(truncate_utf8(name, 100)) +
                           "\" is not a host name or an address");
        proxy.direct.push_back(host.value().host);
    }
    return std::optional<UpstreamProxy>(std::move(proxy));
}

std::unique_ptr<Resolver> system_resolver() {
    return std::make_unique<SystemResolver>();
}

Dialer::Dialer(DialerOptions options, std::unique_ptr<Resolver> resolver, AddressCheck check,
               std::shared_ptr<const net::TlsContext> trust)
    : m_options(std::move(options)),
      m_resolver(std::move(resolver)),
      m_check(std::move(check)),
      m_trust(std::move(trust)) {}

Result<std::unique_ptr<Dialer>> Dialer::create(DialerOptions options, std::unique_ptr<Resolver> resolver,
                                               AddressCheck check) {
    auto trust = TRY(net::TlsContext::for_client_with_system_store(options.extra_ca_file));
    return std::unique_ptr<Dialer>(
        new Dialer(std::move(options), std::move(resolver), std::move(check), std::move(trust)));
}

// A name with one bad address is refused altogether: mixed addresses are how rebinding starts.
Result<> Dialer::check_addresses(const std::string& host, const std::vector<net::Endpoint>& endpoints, Reach reach,
                                 const DialLimits& limits) const {
    for (const net::Endpoint& endpoint : endpoints) {
        if (const auto why = m_check(endpoint, reach))
            return forbidden(host + " is at " + endpoint.text + " (" + std::string(*why) +
                             "): such addresses are always blocked");
        if (!limits.refuses) continue;
        if (const auto why = limits.refuses(endpoint)) return forbidden(host + " is at " + endpoint.text + ": " + *why);
    }
    return {};
}

Result<Channel> Dialer::connect_any(const std::string& host, const std::vector<net::Endpoint>& endpoints,
                                    const Cancel& cancel, std::string& address) const {
    Error last = unavailable(host + " has no address");
    const Deadline deadline = Deadline::after(m_options.connect_timeout);
    for (const net::Endpoint& endpoint : endpoints) {
        auto channel = connect_to(endpoint, cancel, deadline);
        address = endpoint.text;
        if (channel.ok()) return channel;
        last = std::move(channel).error();
        if (cancel.fired() || deadline.passed()) break;
    }
    return last;
}

Result<Dialed> Dialer::dial(const HostPort& target, Reach reach, const Cancel& cancel, const DialLimits& limits) const {
    if (m_options.proxy && m_options.proxy->covers(target)) return dial_through_proxy(target, reach, cancel, limits);
    const auto endpoints = TRY(m_resolver->resolve(target.host, target.port));
    if (cancel.fired()) return conflict("the run has ended");
    TRY(check_addresses(target.host, endpoints, reach, limits));
    std::string address;
    Channel channel = TRY(connect_any(target.host, endpoints, cancel, address));
    return Dialed{std::move(channel), std::move(address)};
}

Result<Dialer::ProxyResponse> Dialer::connect_through_proxy(const std::string& place, const Cancel& cancel) const {
    const UpstreamProxy& proxy = *m_options.proxy;
    const auto endpoints = TRY(m_resolver->resolve(proxy.place.host, proxy.place.port));
    std::string address;
    Channel channel = TRY(connect_any("the upstream proxy " + proxy.place.host, endpoints, cancel, address));
    const Deadline deadline = Deadline::after(m_options.handshake_timeout);
    std::string request = "CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n";
    if (proxy.authorization) {
        request.reserve(request.size() + proxy.authorization->size() + 64);
        request.append("Proxy-Authorization: ").append(proxy.authorization->reveal()).append("\r\n");
    }
    request += "\r\n";
    const auto written = channel.write(request, deadline);
    crypto::wipe(request);
    TRY(written);
    const auto response = TRY(read_response(channel, "CONNECT", deadline));
    const std::string refused = "the upstream proxy " + proxy.place.text() + " does not connect to " + place;
    if (!response) return unavailable(refused + ": it closed the connection");
    if (response->status < 200 || response->status > 299) return ProxyResponse{response->status};
    if (!channel.buffer().empty()) return unavailable(refused + ": it sent bytes before the tunnel was open");
    return ProxyResponse{response->status, std::move(channel)};
}

Result<Dialed> Dialer::dial_through_proxy(const HostPort& target, Reach reach, const Cancel& cancel,
                                          const DialLimits& limits) const {
    const UpstreamProxy& proxy = *m_options.proxy;
    const auto own = m_resolver->resolve(target.host, target.port);
    if (own.ok()) TRY(check_addresses(target.host, own.value(), reach, limits));
    if (!own.ok() && target.is_address) return own.error();
    if (!own.ok() && limits.named_by == NamedBy::worker)
        return forbidden("this machine cannot resolve " + target.host +
                         ", and only names that a rule spells out are left to the upstream proxy to resolve");
    constexpr size_t most_addresses = 4;
    constexpr int rejected = 403, wants_credentials = 407;
    int status = 0;
    Error last = unavailable(target.host + " has no address");
    const auto ask = [&](const std::string& place) -> Result<std::optional<Dialed>> {
        if (cancel.fired()) return conflict("the run has ended");
        ProxyResponse answer = TRY(connect_through_proxy(place, cancel));
        status = answer.status;
        if (answer.tunnel)
            return std::optional<Dialed>(Dialed{std::move(*answer.tunnel), place + " through " + proxy.place.text()});
        last = unavailable("the upstream proxy " + proxy.place.text() + " does not connect to " + place +
                           ": it responded with " + std::to_string(status) +
                           (status == wants_credentials ? " (it needs other credentials in egress_proxy)" : ""));
        return std::optional<Dialed>();
    };
    for (size_t i = 0; own.ok() && i < std::min(own.value().size(), most_addresses); ++i) {
        auto dialed = TRY(ask(own.value()[i].text));
        if (dialed) return std::move(*dialed);
        if (status == rejected || status == wants_credentials) break;
    }
    const bool may_name = !target.is_address && limits.named_by == NamedBy::configuration;
    if (may_name && (!own.ok() || status == rejected)) {
        auto dialed = TRY(ask(target.text()));
        if (dialed) return std::move(*dialed);
    }
    return last;
}

Result<> Dialer::secure(Channel& channel, const std::string& host) const {
    auto session = TRY(m_trust->connect(channel.descriptor(), host));
    return channel.start_tls(std::move(session), Deadline::after(m_options.handshake_timeout));
}

Result<Dialed> Dialer::dial_tls(const HostPort& target, Reach reach, const Cancel& cancel,
                                const DialLimits& limits) const {
    Dialed dialed = TRY(dial(target, reach, cancel, limits));
    TRY(secure(dialed.channel, target.host));
    return dialed;
}

} // namespace hone::broker
