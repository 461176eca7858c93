#include "broker/wire/dial.h"

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

Result<Dialed> Dialer::dial(const HostPort& target, Reach reach, const Cancel& cancel) const {
    const auto endpoints = TRY(m_resolver->resolve(target.host, target.port));
    if (cancel.fired()) return conflict("the run has ended");
    // A name with one bad address is refused altogether: mixed answers are how rebinding begins.
    for (const net::Endpoint& endpoint : endpoints)
        if (const auto why = m_check(endpoint, reach))
            return forbidden(target.host + " is at " + endpoint.text + " (" + std::string(*why) +
                             "): such addresses are never dialled");
    Error last = unavailable(target.host + " has no address");
    const Deadline deadline = Deadline::after(m_options.connect_timeout);
    for (const net::Endpoint& endpoint : endpoints) {
        auto channel = connect_to(endpoint, cancel, deadline);
        if (channel.ok()) return Dialed{std::move(channel).value(), endpoint.text};
        last = std::move(channel).error();
        if (cancel.fired() || deadline.passed()) break;
    }
    return last;
}

Result<> Dialer::secure(Channel& channel, const std::string& host) const {
    auto session = TRY(m_trust->connect(channel.descriptor(), host));
    return channel.start_tls(std::move(session), Deadline::after(m_options.handshake_timeout));
}

Result<Dialed> Dialer::dial_tls(const HostPort& target, Reach reach, const Cancel& cancel) const {
    Dialed dialed = TRY(dial(target, reach, cancel));
    TRY(secure(dialed.channel, target.host));
    return dialed;
}

} // namespace hone::broker
