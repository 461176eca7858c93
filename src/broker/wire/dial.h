// From a host name to a connection that is safe to have: resolves once, checks the addresses, connects to a checked
// one, verifies TLS. Loopback, private, link-local, metadata, multicast and every range that hides an IPv4 address
// are refused, whatever the policy allows, and so are this machine's own addresses. Thread-safe.
#pragma once

#include "broker/wire/channel.h"
#include "broker/wire/http_head.h"
#include "crypto/secret_bytes.h"
#include "net/client/address_range.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

class Resolver {
public:
    virtual ~Resolver() = default;
    // Blocks; several threads may call it.
    virtual Result<std::vector<net::Endpoint>> resolve(const std::string& host, uint16_t port) = 0;
};
// The system's own.
std::unique_ptr<Resolver> system_resolver();

using net::is_own_address;
using net::Reach;
using net::refused_range;

// Decides about an address; the default is refused_range and is_own_address. Tests that need servers on loopback give
// another one; no setting does.
using AddressCheck = std::function<std::optional<std::string_view>(const net::Endpoint&, Reach)>;
AddressCheck default_address_check();

// Who chose the name of the host. The proxy of the installation can resolve a name to an address that this machine does
// not see, so only names that a person wrote down (a rule, a model skill, a repository) are ever sent to it.
enum class NamedBy { configuration, worker };

// Limits of a connection besides its range.
struct DialLimits {
    NamedBy named_by = NamedBy::configuration;
    // Why an address is refused; nothing when it is not. Empty: none is.
    std::function<std::optional<std::string>(const net::Endpoint&)> refuses{};
};

// A proxy that all connections of the broker go through, with CONNECT. Named by an installation owner, so it may be on
// any address. Names are resolved here, and the proxy connects to an address that was checked. A name of the
// configuration is sent to it when this machine cannot resolve the name, or when the proxy rejects the address with
// 403.
struct UpstreamProxy {
    HostPort place;
    std::shared_ptr<const crypto::SecretBytes> authorization{}; // value of Proxy-Authorization; null: none
    std::vector<std::string>
        direct{}; // hosts that are connected to directly: "corp.example" and every name below it, addresses
    bool covers(const HostPort& target) const;
};
// "http://user:password@proxy.corp.example:3128" and "corp.example,10.0.0.5": the settings egress_proxy and
// egress_no_proxy. An empty address: no proxy.
Result<std::optional<UpstreamProxy>> parse_upstream_proxy(std::string_view address, std::string_view direct);

struct DialerOptions {
    std::string extra_ca_file; // PEM, trusted in addition to the system's store; empty: none
    std::optional<UpstreamProxy> proxy{};
    Duration connect_timeout = std::chrono::seconds(10);
    Duration handshake_timeout = std::chrono::seconds(10);
};

struct Dialed {
    Channel channel;
    std::string address; // "140.82.112.6:443"
};

class Dialer {
public:
    static Result<std::unique_ptr<Dialer>> create(DialerOptions options,
                                                  std::unique_ptr<Resolver> resolver = system_resolver(),
                                                  AddressCheck check = default_address_check());

    // Errors: forbidden = every address is refused; unavailable = no such name, or no response; busy = too slow.
    Result<Dialed> dial(const HostPort& target, Reach reach, const Cancel& cancel, const DialLimits& limits = {}) const;
    // TLS as a client: the certificate must be valid and for `host`; ALPN http/1.1.
    Result<> secure(Channel& channel, const std::string& host) const;
    // Both.
    Result<Dialed> dial_tls(const HostPort& target, Reach reach, const Cancel& cancel,
                            const DialLimits& limits = {}) const;
    // The addresses of a name, unchecked.
    Result<std::vector<net::Endpoint>> resolve(const std::string& host, uint16_t port) const {
        return m_resolver->resolve(host, port);
    }

private:
    Dialer(DialerOptions options, std::unique_ptr<Resolver> resolver, AddressCheck check,
           std::shared_ptr<const net::TlsContext> trust);
    Result<> check_addresses(const std::string& host, const std::vector<net::Endpoint>& endpoints, Reach reach,
                             const DialLimits& limits) const;
    Result<Channel> connect_any(const std::string& host, const std::vector<net::Endpoint>& endpoints,
                                const Cancel& cancel, std::string& address) const;
    Result<Dialed> dial_through_proxy(const HostPort& target, Reach reach, const Cancel& cancel,
                                      const DialLimits& limits) const;
    // The status that the proxy responds with, and the tunnel when that is 200 to 299.
    struct ProxyResponse {
        int status = 0;
        std::optional<Channel> tunnel{};
    };
    Result<ProxyResponse> connect_through_proxy(const std::string& place, const Cancel& cancel) const;

    DialerOptions m_options;
    std::unique_ptr<Resolver> m_resolver;
    AddressCheck m_check;
    std::shared_ptr<const net::TlsContext> m_trust; // shared: sessions of it outlive nothing, but net hands it out so
};

} // namespace hone::broker
