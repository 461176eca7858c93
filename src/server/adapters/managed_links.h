// run::ManagedLinks: requests to an agent provider with the key of a model skill, to addresses that the skill may
// reach; and the tools of the API, called at the server's own address with the key of a run. Thread-safe.
#pragma once

#include "broker/wire/dial.h"
#include "run/managed/managed_worker.h"
#include "secret/vault.h"

namespace hone::server {

struct ManagedLinkOptions {
    std::string extra_ca_file = {};
    std::string data_directory = {};
    std::string proxy = {}; // the settings egress_proxy and egress_no_proxy
    std::string without_proxy = {};
};

class VaultManagedLinks final : public run::ManagedLinks {
public:
    // `address`: where the API listens.
    VaultManagedLinks(secret::Vault& vault, const access::AuditLog& audit, std::string address,
                      ManagedLinkOptions options);

    std::unique_ptr<managed::Transport> transport(const access::SpaceId& space, const run::RunId& run,
                                                  const skill::ModelEndpoint& endpoint) override;
    std::unique_ptr<run::ToolCaller> tools(const std::string& run_key, Duration timeout) override;

private:
    friend class SkillTransport;
    // Sends to an address that was checked.
    Result<net::ClientResponse> send(net::ClientRequest& request, bool allow_private);

    secret::Vault& m_vault;
    const access::AuditLog& m_audit;
    const std::string m_address;
    const ManagedLinkOptions m_options;
    const std::unique_ptr<broker::Resolver> m_resolver;
    const broker::AddressCheck m_check;
    net::HttpClient m_http;
    net::HttpClient m_proxied_http;
    net::HttpClient m_own_http;
};

} // namespace hone::server
