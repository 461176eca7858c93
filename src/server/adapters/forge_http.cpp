#include "server/adapters/forge_http.h"

#include "base/file.h"
#include "base/text.h"
#include "broker/wire/authority.h"
#include "forge/credential.h"

namespace hone::server {

namespace {

net::ClientOptions forge_client_options(const std::string& extra_ca_file, const std::string& directory) {
    net::ClientOptions options;
    const auto extra = extra_ca_file.empty() ? Result<std::string>(std::string()) : read_file(extra_ca_file);
    if (extra.ok() && !extra.value().empty()) {
        const std::string bundle = directory + "/forge-authorities.pem";
        const auto written = write_file(bundle, broker::system_authorities() + "\n" + extra.value(), 0600);
        if (written.ok()) options.ca_file = bundle;
    }
    options.idle_connections = 0; // each request connects to an address that was checked for it
    return options;
}

// "Bearer {}" and the like; what follows Basic is encoded.
std::string header_value(const std::string& format, std::string_view secret) {
    std::string value = format.empty() ? "Bearer {}" : format;
    const size_t place = value.find("{}");
    if (place != std::string::npos) value.replace(place, 2, secret);
    if (value.starts_with("Basic ")) value = "Basic " + to_base64(std::string_view(value).substr(6));
    return value;
}

// A query can hold a token.
std::string path_of_target(const net::Url& url) {
    return url.target.substr(0, url.target.find('?'));
}

net::ClientOptions through(const std::string& proxy, net::ClientOptions options) {
    options.proxy = proxy;
    return options;
}

} // namespace

SkillForgeHttp::SkillForgeHttp(const access::AuditLog& audit, const skill::Skills& skills, secret::Vault& vault,
                               const std::string& extra_ca_file, const std::string& directory, const std::string& proxy,
                               const std::string& without_proxy)
    : m_audit(audit),
      m_skills(skills),
      m_vault(vault),
      m_resolver(broker::system_resolver()),
      m_check(broker::default_address_check()),
      m_proxy(proxy),
      m_without_proxy(without_proxy),
      m_http(forge_client_options(extra_ca_file, directory)),
      m_proxied_http(through(proxy, forge_client_options(extra_ca_file, directory))) {}

Result<> SkillForgeHttp::authorize(const forge::Remote& remote, const net::Url& url, net::ClientRequest& request) {
    if (remote.skill_id.empty()) return {};
    const std::vector<std::string> skills{remote.skill_id};
    const skill::Grant grant =
        TRY(m_skills.resolve(access::Caller::system(), remote.space, skills, skill::for_delivery()));
    const forge::Place place{url.host, url.port, path_of_target(url)};
    const skill::Credential* chosen = forge::choose_credential(grant, place, forge::ForgeUse::api, request.method);
    if (chosen == nullptr) return {};
    if (request.method != "GET" && request.method != "HEAD") TRY(forge::check_may_write(*chosen));
    TRY(m_audit.record(access::Caller::system(), {"forge_request",
                                                  remote.space,
                                                  remote.purpose,
                                                  {{"method", request.method},
                                                   {"target", url.host_and_port()},
                                                   {"path", std::string(truncate_utf8(place.path, 500))},
                                                   {"secrets", json::Array{chosen->secret_name}}}}));
    const crypto::SecretBytes secret = TRY(m_vault.open(remote.space, chosen->secret_id, remote.purpose));
    request.headers.push_back(
        {chosen->header.empty() ? "Authorization" : chosen->header, header_value(chosen->format, secret.reveal())});
    return {};
}

Result<bool> SkillForgeHttp::goes_through_proxy(const net::Url& url) const {
    const auto proxy = TRY(broker::parse_upstream_proxy(m_proxy, m_without_proxy));
    if (!proxy) return false;
    const std::string host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
    return proxy->covers(TRY(broker::parse_host_port(host, url.port)));
}

Result<net::ClientResponse> SkillForgeHttp::send_through_proxy(net::ClientRequest& request,
                                                               const std::vector<const net::Endpoint*>& allowed) {
    // Nothing was sent when the proxy did not open the tunnel.
    const auto has_no_tunnel = [](const Result<net::ClientResponse>& response) {
        return !response.ok() && response.error().message.find("refused a tunnel") != std::string::npos;
    };
    for (const net::Endpoint* endpoint : allowed) {
        request.connect_to = "tunnel:" + endpoint->text;
        auto response = m_proxied_http.send(request);
        if (!has_no_tunnel(response)) return response;
        if (response.error().message.ends_with(" 403")) break; // it knows hosts by their names
        if (endpoint == allowed.back()) return response;
    }
    request.connect_to.clear();
    return m_proxied_http.send(request);
}

Result<net::ClientResponse> SkillForgeHttp::send(const forge::Remote& remote, net::ClientRequest request) {
    const net::Url url = TRY(net::parse_url(request.url));
    if (!url.tls) return invalid("the address of a forge must begin with https://");
    const auto reach = remote.allow_private ? net::Reach::also_private : net::Reach::public_only;
    const bool by_proxy = TRY(goes_through_proxy(url));
    auto resolved = m_resolver->resolve(url.host, url.port);
    if (by_proxy && !resolved.ok()) { // a name that a person registered, and that only the proxy can resolve
        TRY(authorize(remote, url, request));
        request.max_redirects = 0;
        return send_through_proxy(request, {});
    }
    const auto endpoints = TRY(std::move(resolved));
    std::string_view why = "no address";
    std::vector<const net::Endpoint*> allowed;
    for (const net::Endpoint& endpoint : endpoints) {
        if (const auto refused = m_check(endpoint, reach))
            why = *refused;
        else
            allowed.push_back(&endpoint);
    }
    if (!allowed.empty()) TRY(authorize(remote, url, request));
    request.max_redirects = 0;
    if (by_proxy && !allowed.empty()) return send_through_proxy(request, allowed);
    for (const net::Endpoint* endpoint : allowed) {
        request.connect_to = endpoint->text;
        auto response = m_http.send(request);
        // Only a GET may be sent twice; after a refused connection nothing was sent.
        const bool next = endpoint != allowed.back() && !response.ok() && response.error().code == Code::unavailable &&
                          (request.method == "GET" || response.error().message.find("refused") != std::string::npos);
        if (!next) return response;
    }
    const Error refused = forbidden("the forge " + url.host + " cannot be reached from here: " + std::string(why) +
                                    " (a repository may allow private addresses)");
    TRY(m_audit.record(access::Caller::system(), {"forge_request_failed",
                                                  remote.space,
                                                  remote.purpose,
                                                  {{"method", request.method},
                                                   {"target", url.host_and_port()},
                                                   {"path", std::string(truncate_utf8(path_of_target(url), 500))},
                                                   {"reason", refused.message}}}));
    return refused;
}

} // namespace hone::server
